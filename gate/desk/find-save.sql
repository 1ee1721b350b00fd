-- The newest 50 tries that fit, and the history when they are all of one reference.
with f as (
	select p.reference, p.attempt, p.amount_etb::text, p.to_user_id, p.state, p.claimed_at at time zone r.time_zone as sent_at,
		p.ended_at at time zone r.time_zone as ended_at, p.tx_hash, p.confirmed_at at time zone r.time_zone as confirmed_at,
		p.confirmed_by, p.requested_by, p.settled_by, p.reason as why, p.claimed_at
	from etb_wallet.payments p join etb_wallet.rules r using (budget)
	where p.budget = $1 and (starts_with(p.reference, $2) or p.to_user_id = $2 or p.tx_hash = $2)
	order by p.claimed_at desc limit 50
), h as (
	select e.id, e.at at time zone r.time_zone as at, e.event, e.attempt, coalesce(e.by_person, e.requested_by) as who, e.execution, e.detail
	from etb_wallet.history e join etb_wallet.rules r using (budget)
	where e.budget = $1 and e.reference = (select min(reference) from f having count(distinct reference) = 1)
	order by e.id desc limit 100
)
select json_build_object(
	'searched', $2, 'payments', (select json_agg(f order by claimed_at desc) from f), 'history', (select json_agg(h order by id) from h)
) as found
