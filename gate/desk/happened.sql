-- The newest first. Of payments that went as they should, handing out and confirming is left out.
with e as (
	select e.id, e.at at time zone r.time_zone as at, e.event, e.reference, e.amount_etb::text, e.to_user_id,
		coalesce(e.by_person, e.requested_by) as who, left(e.detail, 300) as detail
	from etb_wallet.history e join etb_wallet.rules r using (budget)
	where e.budget = $1 and e.event not in ('send', 'confirmed')
	order by e.id desc limit 200
)
select json_build_object('has_budget', exists (select from etb_wallet.rules where budget = $1),
	'events', (select json_agg(e order by id desc) from e)) as found
