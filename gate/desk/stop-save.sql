select json_build_object('paused', (etb_wallet.set_rules($1, jsonb_build_object('paused', $2::boolean), $3)).paused) as found
