-- The three roles of the whole server, the two logins of this database, and who sets up as a member of the owner

for v_name in select r from unnest(array['etb_wallet_owner', 'etb_wallet_gate', 'etb_wallet_desk']) r where to_regrole(r) is null loop
  execute format('create role %I nologin', v_name);
end loop;
if exists (select from pg_roles where rolname = 'etb_wallet_owner' and (rolcanlogin or rolsuper or rolbypassrls)) then
  raise exception 'The role etb_wallet_owner must neither log in nor be a superuser: alter role etb_wallet_owner nologin nosuperuser nobypassrls';
end if;

-- Roles are of the whole server, so each database has logins of its own. A login that is there keeps its password unless new ones
-- are asked for; rights and settings that it lost are given again.
if v_given is not null then
  select string_agg(l.value, ' and ') into v_wrong
  from (select v_given -> 'limits' as limits union all select value from jsonb_each(v_given -> 'callers')) o, jsonb_each_text(o.limits) l
  where l.value !~ '^[0-9]{1,15}([.][0-9]{1,2})?$';
  if v_wrong is not null then
    raise exception 'This is not an amount: %. In Your Budget write for example 10000 or 1250.50, or nothing for no limit', v_wrong;
  end if;
  -- (The gate's last: n8n fills the credential that was made last into what is imported, and a gate that cannot record must not pay.)
  for v_each in select * from (values ('Pay gate desk', 'pay_desk_', 'etb_wallet_desk'), ('Pay gate', 'pay_gate_', 'etb_wallet_gate')) l (credential, prefix, role) loop
    v_name := v_each.prefix || case when octet_length(current_database()) <= 54 then current_database() else md5(current_database()) end;
    v_password := null;
    if to_regrole(quote_ident(v_name)) is null then
      execute format('create role %I', v_name);
      v_password := '';
    end if;
    if v_password = '' or lower(v_given ->> 'newPasswords') = 'yes' then
      v_password := replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '');
      execute format('alter role %I password %L', v_name, v_password);
    end if;
    if not pg_has_role(v_name, v_each.role, 'usage') then
      execute format('grant %I to %I', v_each.role, v_name);
    end if;
    -- What the server's defaults must not change: whose functions run, how text is read, what a transaction sees, and how long one that
    -- somebody forgot holds up the others.
    execute format('alter role %1$I login; alter role %1$I set search_path = pg_catalog, pg_temp; alter role %1$I set standard_conforming_strings = on;
      alter role %1$I set default_transaction_isolation = %2$L; alter role %1$I set default_transaction_read_only = off;
      alter role %1$I set statement_timeout = %3$L; alter role %1$I set lock_timeout = %4$L; alter role %1$I set idle_in_transaction_session_timeout = %3$L;
      alter role %1$I set synchronous_commit = on', v_name, 'read committed', '2min', '10s');
    v_told := v_told || jsonb_build_object('credential', v_each.credential, 'user', v_name, 'password', coalesce(v_password, 'as before: this login was there'));
  end loop;
end if;

-- Everything below is made by the owner. Who sets up becomes a member for as long as that takes.
begin
  grant etb_wallet_owner to current_user;
exception when insufficient_privilege then
  raise exception 'There is a role etb_wallet_owner, and "%" may not act for it: %', current_user, sqlerrm
    using hint = format('Set up as the role that made it, or a superuser allows it: grant etb_wallet_owner, etb_wallet_gate, etb_wallet_desk to %I with admin option', current_user);
end;
