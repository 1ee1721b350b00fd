-- The query of the workflow "Pay gate set-up": makes the record, the two logins and the first limits that were asked for, and shows what it made.
set transaction isolation level read committed;
set local etb_wallet.given = $1;
\ir schema/*.sql
-- (The search path is that of the schema, until the transaction ends.)
select l.credential as "Credential to make", current_database() as "Database", l."user" as "User", l.password as "Password",
  t.told -> 'payments' as "Payments in the record", coalesce(t.told -> 'rules' ->> 'most_per_day', 'no limit') as "Most per day",
  coalesce(t.told -> 'rules' ->> 'most_per_payment', 'no limit') as "Most per payment"
from (select current_setting('etb_wallet.told')::jsonb as told) t, jsonb_to_recordset(t.told -> 'logins') l (credential text, "user" text, password text);
