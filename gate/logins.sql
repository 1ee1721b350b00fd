-- Makes the two logins of this database, and the first limits. What is there stays: a budget and a caller keep their rules, a login its password
-- unless new ones are asked for. Rights and settings that a login lost are given again.
-- Its value is {budget, limits, callers: {name: limits}, person, newPasswords}
set transaction isolation level read committed;
set local search_path = pg_catalog, pg_temp;
set local etb_wallet.given = $1;
do $do$
declare
  v_given jsonb := current_setting('etb_wallet.given');
  v_budget text := v_given ->> 'budget';
  v_role_before text := current_setting('role');
  v_is_member boolean := true;
  v_login record;
  v_name text;
  v_password text;
  v_told jsonb := '[]';
  v_wrong text;
  v_caller record;
begin
  select string_agg(l.value, ' and ') into v_wrong
  from (select v_given -> 'limits' as limits union all select value from jsonb_each(v_given -> 'callers')) o, jsonb_each_text(o.limits) l
  where l.value !~ '^[0-9]{1,15}([.][0-9]{1,2})?$';
  if v_wrong is not null then
    raise exception 'This is not an amount: %. In Your Budget write for example 10000 or 1250.50, or nothing for no limit', v_wrong;
  end if;
  -- Roles are of the whole server, so each database has logins of its own.
  for v_login in select * from (values ('Pay gate', 'pay_gate_', 'etb_wallet_gate'), ('Pay gate desk', 'pay_desk_', 'etb_wallet_desk')) l (credential, prefix, role) loop
    v_name := v_login.prefix || case when octet_length(current_database()) <= 54 then current_database() else md5(current_database()) end;
    if to_regrole(quote_ident(v_name)) is null then
      execute format('create role %I', v_name);
      v_password := '';
    end if;
    if v_password = '' or lower(v_given ->> 'newPasswords') = 'yes' then
      v_password := replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '');
      execute format('alter role %I password %L', v_name, v_password);
    end if;
    if not pg_has_role(v_name, v_login.role, 'usage') then
      execute format('grant %I to %I', v_login.role, v_name);
    end if;
    -- What the server's defaults must not change: whose functions run, how text is read, what a transaction sees, and how long one that
    -- somebody forgot holds up the others.
    execute format('alter role %1$I login; alter role %1$I set search_path = pg_catalog, pg_temp; alter role %1$I set standard_conforming_strings = on;
      alter role %1$I set default_transaction_isolation = %2$L; alter role %1$I set default_transaction_read_only = off;
      alter role %1$I set statement_timeout = %3$L; alter role %1$I set lock_timeout = %4$L; alter role %1$I set idle_in_transaction_session_timeout = %3$L;
      alter role %1$I set synchronous_commit = on', v_name, 'read committed', '2min', '10s');
    v_told := v_told || jsonb_build_object('credential', v_login.credential, 'user', v_name, 'password', coalesce(v_password, 'as before: this login was there'));
    v_password := null;
  end loop;

  -- Schema and rules are the owner's. Who sets up and is no superuser becomes a member for as long as that takes.
  begin
    set local role etb_wallet_owner;
  exception when insufficient_privilege then
    v_is_member := false;
  end;
  perform set_config('role', v_role_before, true);
  if not v_is_member then
    grant etb_wallet_owner to current_user;
  end if;
  set local role etb_wallet_owner;
  execute (select format('grant usage on schema etb_wallet to %s', string_agg(quote_ident(l ->> 'user'), ', ')) from jsonb_array_elements(v_told) l);
  if not exists (select from etb_wallet.rules r where r.budget = v_budget) then
    perform etb_wallet.set_rules(v_budget, v_given -> 'limits', v_given ->> 'person');
  end if;
  for v_caller in select * from jsonb_each(v_given -> 'callers') loop
    if not exists (select from etb_wallet.caller c where c.budget = v_budget and c.requested_by = v_caller.key) then
      perform etb_wallet.set_caller(v_budget, v_caller.key, v_caller.value, v_given ->> 'person');
    end if;
  end loop;
  perform set_config('etb_wallet.told', (select jsonb_build_object('logins', v_told, 'rules', to_jsonb(r), 'payments', (select count(*) from etb_wallet.payment))
    from etb_wallet.rules r where r.budget = v_budget)::text, true);
  perform set_config('role', v_role_before, true);
  if not v_is_member then
    revoke etb_wallet_owner from current_user;
  end if;
end $do$;
select l.credential as "Credential to make", current_database() as "Database", l."user" as "User", l.password as "Password",
  t.told -> 'payments' as "Payments in the record", coalesce(t.told -> 'rules' ->> 'most_per_day', 'no limit') as "Most per day",
  coalesce(t.told -> 'rules' ->> 'most_per_payment', 'no limit') as "Most per payment"
from (select current_setting('etb_wallet.told')::jsonb as told) t, jsonb_to_recordset(t.told -> 'logins') l (credential text, "user" text, password text);
