with done as materialized (
	select x.to_user_id, x.known, etb_wallet.set_recipient($1, x.to_user_id, x.known, $2)
	from json_to_recordset($3) x (to_user_id text, known boolean)
)
select json_build_object('done', (select json_agg(json_build_object('to_user_id', to_user_id, 'is_known', known) order by to_user_id) from done)) as found
