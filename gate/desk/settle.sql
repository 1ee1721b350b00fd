-- What may have been paid, or was paid twice, in the order in which it should be looked at, and what is being sent.
with o as (
	select row_number() over (order by o.state = 'inFlight', o.state = 'unknown', o.claimed_at, o.reference, o.attempt) as n,
		o.reference, o.amount_etb::text, o.to_user_id, o.claimed_at at time zone r.time_zone as sent_at, o.state, o.requested_by,
		o.attempt, o.execution, o.tx_hash, coalesce(o.reason, case o.state when 'unknown' then 'Nothing told how it ended' end) as why, o.lease_until at time zone r.time_zone as ends_at
	from etb_wallet.open_payments o join etb_wallet.rules r using (budget)
	where o.budget = $1
)
select json_build_object(
	'has_budget', exists (select from etb_wallet.rules where budget = $1),
	'counts', (select json_object_agg(state, count) from (select state, count(*) from o group by state) c),
	'open', (select json_agg(o order by n) from o where state <> 'inFlight' and n <= 100),
	'in_flight', (select json_agg(o order by n) from (select * from o where state = 'inFlight' order by n limit 50) o)
) as found
