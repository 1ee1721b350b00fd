-- What is paid for more than a day, and no event told; the newest first.
with u as (
	select row_number() over (order by u.ended_at desc, u.reference) as n, u.reference, u.attempt, u.amount_etb::text, u.to_user_id,
		u.ended_at at time zone r.time_zone as ended_at, u.tx_hash, u.requested_by
	from etb_wallet.unconfirmed_payments u join etb_wallet.rules r using (budget)
	where u.budget = $1
)
select json_build_object(
	'has_budget', exists (select from etb_wallet.rules where budget = $1),
	'count', (select count(*) from u),
	'until', (select max(u.ended_at) from etb_wallet.unconfirmed_payments u where u.budget = $1),
	'unconfirmed', (select json_agg(u order by n) from u where n <= 100)
) as found
