-- The record of the pay gate in PostgreSQL 13 or newer: which payment was handed out for sending, how it ended, and what may be spent.
--
-- The files of this folder run in their order, in one transaction: by psql -f ../schema.sql, or as the query of the workflow "Pay gate
-- set-up". So all of it happens, or nothing. The role that runs them may create roles and schemas, and need not be a superuser. They run again to
-- update, and change nothing that is up to date.
--
-- Tables and functions belong to etb_wallet_owner, which cannot log in. A login may do what etb_wallet_gate (for n8n) or etb_wallet_desk
-- (for a person) may. These roles are of the whole server; a login acts in the databases whose schema etb_wallet it was granted usage of.
--
-- Every function that decides takes one lock first: that of the budget's row in `rules`. So decisions happen one after the other, each sees
-- the result of the one before (each statement of READ COMMITTED looks anew), and no two are in a deadlock.
--
-- Functions that are called often are PL/pgSQL, which keeps its plans. They run with enable_seqscan = off, because a connection keeps the
-- plan that it made while a table was empty, and without jit, which can take longer to compile a plan than the plan takes to run.
--
-- The text is ASCII, because a database in another encoding would refuse the rest before this file can say so. A backslash stands in
-- E'...' only: elsewhere its meaning depends on standard_conforming_strings.

-- Every name below is one of PostgreSQL's own, or says its schema: a function "format" that somebody made in "public" never runs.
set local search_path = pg_catalog, pg_temp;
set local client_min_messages = warning;
-- The set-up gives up rather than holding up all payments while it waits for a transaction that somebody forgot.
set local lock_timeout = '30s';

-- The three roles of the whole server, and the two logins of this database. etb_wallet.given is the list of the workflow Pay gate set-up:
-- {budget, limits, callers: {name: limits}, person, newPasswords}; without it only the record is made.
do $roles$
declare
  v_given jsonb := nullif(current_setting('etb_wallet.given', true), '');
  v_told jsonb := '[]';
  v_name text;
  v_password text;
  v_wrong text;
  v_each record;
begin
  if replace(current_setting('search_path'), '"', '') <> 'pg_catalog, pg_temp' then
    raise exception 'These files run in one transaction' using hint = 'psql --file=schema.sql';
  elsif current_setting('server_version_num')::integer < 130000 then
    raise exception 'The pay gate needs PostgreSQL 13 or newer; this is %', current_setting('server_version');
  elsif getdatabaseencoding() <> 'UTF8' then
    raise exception 'The pay gate needs a database whose encoding is UTF8; this one is %', getdatabaseencoding();
  end if;
  -- Two who set up at once take turns.
  perform pg_advisory_xact_lock(hashtext('etb_wallet: setting up'));
  perform set_config('etb_wallet.role_before', current_setting('role'), true);

  for v_name in select r from unnest(array['etb_wallet_owner', 'etb_wallet_gate', 'etb_wallet_desk']) r where to_regrole(r) is null loop
    execute format('create role %I nologin', v_name);
  end loop;
  if exists (select from pg_roles where rolname = 'etb_wallet_owner' and (rolcanlogin or rolsuper or rolbypassrls)) then
    raise exception 'The role etb_wallet_owner must neither log in nor be a superuser: alter role etb_wallet_owner nologin nosuperuser nobypassrls';
  end if;
  -- The owner makes all that follows. The role that sets up is a member for as long as that takes.
  begin
    grant etb_wallet_owner to current_user;
  exception when insufficient_privilege then
    raise exception 'There is a role etb_wallet_owner, and "%" may not act for it: %', current_user, sqlerrm
      using hint = format('Set up as the role that made it, or a superuser allows it: grant etb_wallet_owner, etb_wallet_gate, etb_wallet_desk to %I with admin option', current_user);
  end;

  -- Each database has logins of its own. A login that is there keeps its password unless new ones are asked for; rights and settings that
  -- it lost are given again.
  if v_given is not null then
    select string_agg(l.value, ' and ') into v_wrong
    from (select v_given -> 'limits' as limits union all select value from jsonb_each(v_given -> 'callers')) o, jsonb_each_text(o.limits) l
    where l.value !~ '^[0-9]{1,15}([.][0-9]{1,2})?$';
    if v_wrong is not null then
      raise exception 'This is not an amount: %. In Your Budget write for example 10000 or 1250.50, or nothing for no limit', v_wrong;
    end if;
    -- The gate's login comes last: n8n fills the credential that was made last into an imported file, and a gate that cannot record must not pay.
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
      -- Settings that the server's defaults must not change: whose functions run, how text is read, what a transaction sees, and how long a
      -- forgotten transaction holds up the others.
      execute format('alter role %1$I login; alter role %1$I set search_path = pg_catalog, pg_temp; alter role %1$I set standard_conforming_strings = on;
        alter role %1$I set default_transaction_isolation = %2$L; alter role %1$I set default_transaction_read_only = off;
        alter role %1$I set statement_timeout = %3$L; alter role %1$I set lock_timeout = %4$L; alter role %1$I set idle_in_transaction_session_timeout = %3$L;
        alter role %1$I set synchronous_commit = on', v_name, 'read committed', '2min', '10s');
      v_told := v_told || jsonb_build_object('credential', v_each.credential, 'user', v_name, 'password', coalesce(v_password, 'as before: this login was there'));
    end loop;
  end if;
  perform set_config('etb_wallet.logins', v_told::text, true);

  -- A schema of somebody else could hold what runs with the rights of who sets up. (to_regclass would need a right on that schema.)
  if exists (select from pg_namespace where nspname = 'etb_wallet' and nspowner <> 'etb_wallet_owner'::regrole) then
    if exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'etb_wallet' and c.relname = 'payment') then
      raise exception 'This is a pay gate that was restored before the set-up had made its roles. Keep it: without it nobody knows who was paid'
        using hint = 'Set the gate up in an empty database of this server, and restore the backup there: docs/operating.md, "Backup". Pay nobody before that.';
    end if;
    raise exception 'There is a schema etb_wallet that this file did not make' using hint = 'Use another database.';
  end if;
end $roles$;

create schema if not exists etb_wallet authorization etb_wallet_owner;
set local role etb_wallet_owner;
-- From here on a name is one of PostgreSQL's own, or of this schema, in which nobody else can make anything.
set local search_path = etb_wallet, pg_temp;
comment on schema etb_wallet is 'The pay gate of n8n-nodes-etb-wallet. Its files in gate/schema say what each column means.';

-- The record that is there has to be whole: a restore that was broken off would be filled up here, and would pay again.
do $whole$
declare
  c_newest constant integer := 2; -- The version of the tables in these files
  v_version integer;
  v_missing text;
begin
  if to_regclass('version') is not null then
    select max(v.version) into v_version from version v;
  end if;
  if v_version > c_newest then
    raise exception 'This database has version % of the pay gate, and these files are version %', v_version, c_newest using hint = 'Take the files from the newest release.';
  elsif v_version is null and exists (select from pg_class where relnamespace = 'etb_wallet'::regnamespace and relname in ('rules', 'payment', 'spent', 'history')) then
    v_missing := 'its version';
  elsif v_version is not null then
    select string_agg(n, ', ') into v_missing
    from unnest(array['version_pkey', 'rules_pkey', 'rules_budget_check', 'rules_requested_by_check', 'rules_lease_check', 'payment_pkey', 'payment_attempt_check',
      'payment_amount_etb_check', 'payment_state_check', 'payment_surprise_check', 'payment_answer_check', 'payment_open', 'payment_person', 'payment_transaction',
      'spent_pkey', 'spent_period_check', 'spent_scope_check', 'history_pkey', 'history_of_payment', 'only_added', 'never_removed', 'paid_for_ever']) n
    where not exists (select from pg_constraint where connamespace = 'etb_wallet'::regnamespace and conname = n)
      and not exists (select from pg_class where relnamespace = 'etb_wallet'::regnamespace and relkind = 'i' and relname = n)
      and not exists (select from pg_trigger t join pg_class c on c.oid = t.tgrelid where c.relnamespace = 'etb_wallet'::regnamespace and t.tgname = n and t.tgenabled in ('O', 'A'));
  end if;
  if v_missing is not null then
    raise exception 'The record of this pay gate is not whole. Missing: %', v_missing
      using hint = 'A restore was broken off, or somebody removed it. Restore the backup once more: docs/operating.md, "Backup". Pay nobody before that.';
  end if;
  if v_version = 1 then
    -- Their parameters are others now.
    drop function claim, read_item, objection;
  end if;
  perform set_config('etb_wallet.version_before', coalesce(v_version, 0)::text, true);
  perform set_config('etb_wallet.newest', c_newest::text, true);
end $whole$;
