-- Without changes it is taken off the list. A name that is not known yet may be a mistake.
with known as materialized (
	select exists (select from etb_wallet.caller where budget = $1 and requested_by = $2)
		or exists (select from etb_wallet.spent where budget = $1 and scope = 'caller' and who = $2) as is_known
), done as materialized (select etb_wallet.set_caller($1, $2, nullif($3, 'null')::jsonb, $4))
select json_build_object('who', $2, 'changes', $3::json, 'is_known', is_known) as found from known, done
