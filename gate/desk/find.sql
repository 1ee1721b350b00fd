select json_build_object('has_budget', exists (select from etb_wallet.rules where budget = $1)) as found
