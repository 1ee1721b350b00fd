with r as (select * from etb_wallet.rules where budget = $1)
select json_build_object('has_budget', exists (select from r), 'paused', (select paused from r)) as found
