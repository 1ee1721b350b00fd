-- Those that were ticked, or all that the page was about; they stay paid.
with w as (select $2::json as which),
done as materialized (
	select etb_wallet.confirm_by_hand($1, u.reference, u.attempt, $3, $4)
	from etb_wallet.unconfirmed_payments u, w
	where u.budget = $1 and (
		(u.reference, u.attempt) in (select x.reference, x.attempt from json_to_recordset(w.which -> 'payments') x (reference text, attempt integer))
		or u.ended_at <= (w.which ->> 'until')::timestamptz
	)
)
select json_build_object('count', (select count(*) from done)) as found
