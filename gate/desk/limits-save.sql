-- Only what the person changed, so that two people who change different limits do not undo each other.
with done as materialized (select etb_wallet.set_rules($1, $2::jsonb, $3))
select json_build_object('changed', $2::json) as found from done
