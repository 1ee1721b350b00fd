-- What is spent or reserved: payments that are being sent or unknown count.
with s as (select * from etb_wallet.spending where budget = $1),
p as (select p.scope, p.who as to_user_id, coalesce(nullif(p.who, ''), '(no name)') as by_caller, p.period, p.starts_on, p.amount_etb::text as spent, p.amount_etb from etb_wallet.spent p where p.budget = $1),
most as (
	select p.*, row_number() over (partition by p.scope order by p.amount_etb desc, p.to_user_id) as n
	from p, s where p.period = 'month' and p.starts_on = date_trunc('month', s.today)::date and p.amount_etb > 0
)
select json_build_object(
	'has_budget', exists (select from s),
	'paused', (select paused from s),
	'altogether', (select json_build_array(
		json_build_object('period', 'Today (' || today || ')', 'spent', spent_today::text, 'most', most_per_day::text, 'left', left_today::text),
		json_build_object('period', 'This month (' || to_char(today, 'YYYY-MM') || ')', 'spent', spent_this_month::text, 'most', most_per_month::text,
			'left', left_this_month::text)
	) from s),
	'callers', (select json_agg(most order by n) from most where scope = 'caller' and n <= 20),
	'recipients', (select json_agg(most order by n) from most where scope = 'recipient' and n <= 20),
	'days', (select json_agg(d order by starts_on desc) from (
		select * from p where scope = 'budget' and period = 'day' order by starts_on desc limit 31
	) d)
) as found
