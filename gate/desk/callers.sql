with c as (
	select coalesce(nullif(requested_by, ''), '(no name)') as by_caller, paused, most_per_payment::text, most_per_day::text, most_per_month::text
	from etb_wallet.caller where budget = $1
)
select json_build_object(
	'has_budget', exists (select from etb_wallet.rules where budget = $1),
	'only_known', (select only_known_callers from etb_wallet.rules where budget = $1),
	'callers', (select json_agg(c order by by_caller) from c)
) as found
