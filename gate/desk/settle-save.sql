-- All that were ticked, or none.
with done as materialized (
	select x.n, x.reference, etb_wallet.settle($1, x.reference, x.attempt, $2::boolean, $3, $4) as state
	from json_to_recordset($5::json) x (n integer, reference text, attempt integer)
)
select json_build_object('was_paid', $2::boolean, 'done', (select json_agg(done order by n) from done)) as found
