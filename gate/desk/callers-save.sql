-- Without changes it is taken off the list.
with done as materialized (select etb_wallet.set_caller($1, $2, nullif($3, 'null')::jsonb, $4))
select json_build_object('who', $2, 'changes', $3::json) as found from done
