with r as (select * from etb_wallet.rules where budget = $1)
select json_build_object(
	'has_budget', exists (select from r),
	'limits', (select json_build_object(
		'most_per_day', most_per_day::text, 'most_per_month', most_per_month::text, 'most_per_payment', most_per_payment::text,
		'most_per_recipient_per_day', most_per_recipient_per_day::text, 'most_per_recipient_per_month', most_per_recipient_per_month::text,
		'only_known_recipients', only_known_recipients::text, 'only_known_callers', only_known_callers::text
	) from r)
) as found
