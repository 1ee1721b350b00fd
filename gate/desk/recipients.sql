with k as (
	select k.to_user_id, coalesce(p.amount_etb, 0)::text as got
	from etb_wallet.recipient k
	left join etb_wallet.spending s on s.budget = k.budget
	left join etb_wallet.spent p on p.budget = k.budget and p.scope = 'recipient' and p.who = k.to_user_id
		and p.period = 'month' and p.starts_on = date_trunc('month', s.today)::date
	where k.budget = $1
)
select json_build_object(
	'has_budget', exists (select from etb_wallet.rules where budget = $1),
	'only_known', (select only_known_recipients from etb_wallet.rules where budget = $1),
	'count', (select count(*) from k),
	'known', (select json_agg(k order by to_user_id) from (select * from k order by to_user_id limit 200) k)
) as found
