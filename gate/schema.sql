-- The pay gate's record in PostgreSQL 13 or newer: which payment was handed out for sending, how it ended, and what may be spent.
--
-- Run it as a role that may create roles and schemas (it need not be a superuser), with psql -f, or as one query of n8n's Postgres node.
-- Run it again to update: it changes nothing that is up to date. It is one statement, so it happens as a whole or not at all.
--
-- n8n then uses a login that was granted etb_wallet_gate, and nothing else. A person's desk uses one with etb_wallet_desk, reports
-- etb_wallet_reader. Tables and functions belong to etb_wallet_owner, which cannot log in; what the others may do, the functions do for them.
--
-- All functions that decide take one lock, that of the account's row in `rules`: they happen one after the other, see what the one before
-- wrote (each statement of READ COMMITTED looks anew), and cannot lock each other out.
--
-- Those that are called often are PL/pgSQL, which keeps its plans; PostgreSQL plans functions in SQL anew at each call.
--
-- They run with enable_seqscan = off: a connection keeps the plan that it made while a table was empty, also when the table has grown; and
-- without jit, which can take longer to compile a plan than the plan takes to run a thousand times.
do $setup$
declare
  c_version constant integer := 1; -- of this file; raise it with each change of a table, and say below how to get there
  v_found integer;
  v_is_member boolean := true;
  v_role_before text := current_setting('role');
begin
  perform set_config('client_min_messages', 'warning', true);
  if current_setting('server_version_num')::integer < 130000 then
    raise exception 'The pay gate needs PostgreSQL 13 or newer; this is %', current_setting('server_version');
  end if;
  if pg_catalog.getdatabaseencoding() <> 'UTF8' then
    raise exception 'The pay gate needs a database whose encoding is UTF8; this one is %', pg_catalog.getdatabaseencoding();
  end if;
  -- Two who set up at once take turns.
  perform pg_advisory_xact_lock(hashtext('etb_wallet: setting up'));

  ---------------------------------------------------------------------------------------------------------------- Roles

  if not exists (select from pg_roles where rolname = 'etb_wallet_owner') then
    create role etb_wallet_owner nologin;
    comment on role etb_wallet_owner is 'Owns the pay gate''s tables and functions. Nobody logs in as this role.';
  end if;
  if not exists (select from pg_roles where rolname = 'etb_wallet_gate') then
    create role etb_wallet_gate nologin;
    comment on role etb_wallet_gate is 'Pays through the pay gate: may call claim, settle, release and confirm. For the login of n8n''s Postgres credential.';
  end if;
  if not exists (select from pg_roles where rolname = 'etb_wallet_desk') then
    create role etb_wallet_desk nologin;
    comment on role etb_wallet_desk is 'A person''s desk: may settle what is unknown, change rules, and read everything.';
  end if;
  if not exists (select from pg_roles where rolname = 'etb_wallet_reader') then
    create role etb_wallet_reader nologin;
    comment on role etb_wallet_reader is 'Reads the pay gate''s views. May write nothing.';
  end if;
  if exists (select from pg_roles where rolname = 'etb_wallet_owner' and (rolcanlogin or rolsuper or rolbypassrls)) then
    raise exception 'The role etb_wallet_owner must neither log in nor be a superuser: alter role etb_wallet_owner nologin nosuperuser nobypassrls';
  end if;

  -- Everything below is made by the owner. Who sets up and is no superuser becomes a member for as long as that takes.
  begin
    set local role etb_wallet_owner;
  exception when insufficient_privilege then
    v_is_member := false;
  end;
  perform set_config('role', v_role_before, true);
  if not v_is_member then
    begin
      grant etb_wallet_owner to current_user;
    exception when insufficient_privilege then
      raise exception 'There is a role etb_wallet_owner, and "%" may not act for it: %', current_user, sqlerrm
        using hint = format('Set up as the role that made it, or a superuser allows it: grant etb_wallet_owner, etb_wallet_gate, etb_wallet_desk, etb_wallet_reader to %I with admin option', current_user);
    end;
  end if;

  -------------------------------------------------------------------------------------------------------------- Version

  if exists (select from pg_namespace where nspname = 'etb_wallet') then
    if not exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'etb_wallet' and c.relname = 'version') then
      raise exception 'There is a schema etb_wallet that this file did not make' using hint = 'Rename it (alter schema etb_wallet rename to …), or use another database.';
    end if;
  else
    create schema etb_wallet authorization etb_wallet_owner;
  end if;
  set local role etb_wallet_owner;
  create table if not exists etb_wallet.version (
    version integer primary key,
    installed_at timestamptz not null default clock_timestamp()
  );
  select max(version) into v_found from etb_wallet.version;
  if v_found > c_version then
    raise exception 'This database has version % of the pay gate, and this file is version %', v_found, c_version using hint = 'Take gate/schema.sql from the newest release.';
  elsif v_found < 1 then
    raise exception 'This database has version % of the pay gate, from which there is no way to version %', v_found, c_version using hint = 'Rename the schema etb_wallet, and set up again.';
  end if;
  -- Version 2 will go here: if v_found < 2 then alter table … end if;
  insert into etb_wallet.version (version) values (c_version) on conflict do nothing;

  --------------------------------------------------------------------------------------------------------------- Tables

  if not exists (select from pg_type t join pg_namespace n on n.oid = t.typnamespace where n.nspname = 'etb_wallet' and t.typname = 'most_etb') then
    -- (NaN is above all numbers: as a limit it would be none.)
    create domain etb_wallet.most_etb as numeric check (value >= 0 and value < 1e21);
  end if;

  create table if not exists etb_wallet.rules (
    account text primary key check (length(account) between 1 and 100),
    paused boolean not null default false,
    only_known_recipients boolean not null default false,
    only_known_callers boolean not null default false,
    most_per_payment etb_wallet.most_etb,
    most_per_recipient_per_day etb_wallet.most_etb,
    most_per_recipient_per_month etb_wallet.most_etb,
    most_per_day etb_wallet.most_etb,
    most_per_month etb_wallet.most_etb,
    time_zone text not null default 'Africa/Addis_Ababa',
    lease interval not null default '15 minutes' check (lease > interval '0'),
    wait interval not null default '10 seconds' check (wait >= interval '0')
  );

  create table if not exists etb_wallet.recipient (
    account text,
    to_user_id text check (length(to_user_id) between 1 and 200),
    primary key (account, to_user_id)
  );

  create table if not exists etb_wallet.caller (
    account text,
    requested_by text check (length(requested_by) <= 200),
    paused boolean not null default false,
    most_per_payment etb_wallet.most_etb,
    most_per_day etb_wallet.most_etb,
    most_per_month etb_wallet.most_etb,
    primary key (account, requested_by)
  );

  create table if not exists etb_wallet.payment (
    account text not null,
    reference text not null,
    to_user_id text not null,
    amount_etb numeric not null check (amount_etb > 0),
    state text not null check (state in ('sending', 'paid', 'notPaid', 'unknown')),
    requested_by text not null,
    claim uuid not null,
    attempt integer not null default 1,
    execution text,
    claimed_at timestamptz not null,
    lease_until timestamptz not null,
    spent_on date not null,
    ended_at timestamptz,
    tx_hash text,
    reason text,
    settled_by text,
    late_payment text,
    confirmed_at timestamptz,
    primary key (account, reference)
  );
  create index if not exists payment_open on etb_wallet.payment (account, claimed_at)
    where state in ('sending', 'unknown') or late_payment is not null;
  create index if not exists payment_unconfirmed on etb_wallet.payment (account, tx_hash)
    where state = 'paid' and confirmed_at is null;

  create table if not exists etb_wallet.spent (
    account text,
    scope text check (scope in ('account', 'recipient', 'caller')),
    who text,
    period text check (period in ('day', 'month')),
    starts_on date,
    amount_etb numeric not null,
    primary key (account, scope, who, period, starts_on)
  ) with (fillfactor = 60);

  create table if not exists etb_wallet.confirmation (
    account text,
    tx_hash text check (length(tx_hash) between 1 and 200),
    received_at timestamptz not null,
    primary key (account, tx_hash)
  );

  create table if not exists etb_wallet.history (
    id bigint generated always as identity primary key,
    at timestamptz not null,
    account text not null,
    event text not null,
    reference text,
    to_user_id text,
    amount_etb numeric,
    requested_by text,
    claim uuid,
    attempt integer,
    execution text,
    by_person text,
    detail text
  );

  ---------------------------------------------------------------------------------------------------- What never changes

  create or replace function etb_wallet.refuse_change() returns trigger
  language plpgsql set search_path = etb_wallet, pg_temp as $f$
  begin
    raise exception 'etb_wallet.% (%) %', tg_table_name, tg_op,
      case tg_table_name
        when 'history' then 'is only added to'
        else 'keeps every payment, with its person and its amount, and what is paid stays paid'
      end;
  end $f$;

  if not exists (select from pg_trigger where tgrelid = 'etb_wallet.history'::regclass and tgname = 'only_added') then
    create trigger only_added before update or delete or truncate on etb_wallet.history
      for each statement execute function etb_wallet.refuse_change();
  end if;
  if not exists (select from pg_trigger where tgrelid = 'etb_wallet.payment'::regclass and tgname = 'never_removed') then
    create trigger never_removed before delete or truncate on etb_wallet.payment
      for each statement execute function etb_wallet.refuse_change();
  end if;
  if not exists (select from pg_trigger where tgrelid = 'etb_wallet.payment'::regclass and tgname = 'paid_for_ever') then
    create trigger paid_for_ever before update on etb_wallet.payment
      for each row when (
        (old.state = 'paid' and new.state <> 'paid')
        or (old.account, old.reference, old.to_user_id, old.amount_etb) is distinct from (new.account, new.reference, new.to_user_id, new.amount_etb)
      ) execute function etb_wallet.refuse_change();
  end if;

  ---------------------------------------------------------------------------------------------------- Reading what comes

  -- The only clock of the gate: a test can put another in its place.
  create or replace function etb_wallet.clock() returns timestamptz
  language sql volatile set search_path = etb_wallet, pg_temp as $f$
    select clock_timestamp()
  $f$;

  -- The elements of a list. Those that PostgreSQL cannot read, such as a text with \u0000, are null, and the others are not hurt.
  create or replace function etb_wallet.elements(p_list json) returns jsonb[]
  language plpgsql immutable set search_path = etb_wallet, pg_temp as $f$
  declare
    v_elements jsonb[] := '{}';
    v_element json;
  begin
    if json_typeof(p_list) is distinct from 'array' then
      raise exception 'Not a list of items: %', left(coalesce(p_list::text, 'nothing'), 80);
    end if;
    begin
      return array(select jsonb_array_elements(p_list::jsonb));
    exception when others then null; -- one by one then
    end;
    for v_element in select json_array_elements(p_list) loop
      begin
        v_elements := array_append(v_elements, v_element::jsonb);
      exception when others then
        v_elements := array_append(v_elements, null);
      end;
    end loop;
    return v_elements;
  end $f$;

  -- Text without white space around it. Spreadsheets turn identifiers into numbers, so whole numbers are text too. Null is: none.
  create or replace function etb_wallet.plain_text(p_value jsonb) returns text
  language plpgsql immutable set search_path = etb_wallet, pg_temp as $f$
  begin
    return case jsonb_typeof(p_value)
      when 'string' then nullif(btrim(p_value #>> '{}', E' \t\n\r\f\u000b\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff'), '')
      when 'number' then case when p_value #>> '{}' ~ '^-?[0-9]{1,15}$' then p_value #>> '{}' end
    end;
  end $f$;

  -- How many digits of a number count: 1200.50 has 4.
  create or replace function etb_wallet.digits(p_number numeric) returns integer
  language plpgsql immutable set search_path = etb_wallet, pg_temp as $f$
  begin
    return length(btrim(replace(p_number::text, '.', ''), '0'));
  end $f$;

  -- An amount as the ETB Wallet node reads it, so that what is recorded is what is sent: above zero, at most 15 digits; what a calculation
  -- adds to a number (0.30000000000000004) goes. Null is: not a plain amount.
  create or replace function etb_wallet.plain_amount(p_value jsonb) returns numeric
  language plpgsql immutable set search_path = etb_wallet, pg_temp as $f$
  declare
    v_text text := p_value #>> '{}';
    v_amount numeric;
  begin
    if jsonb_typeof(p_value) = 'string' then
      v_text := plain_text(p_value);
      if length(v_text) > 1000 or v_text !~ '^[0-9]+([.][0-9]+)?$' then
        return null;
      end if;
    elsif jsonb_typeof(p_value) is distinct from 'number' or length(v_text) > 1000 then
      return null;
    end if;
    v_amount := trim_scale(v_text::numeric);
    if v_amount is null or v_amount < 0.000001 or v_amount >= 1e21 then
      return null;
    end if;
    if digits(v_amount) > 15 and jsonb_typeof(p_value) = 'number' then
      v_amount := trim_scale(round(v_amount, 14 - floor(log(v_amount))::integer));
      -- All 15 digits in use: then the rest may be meant.
      return case when digits(v_amount) < 15 then v_amount end;
    end if;
    return case when digits(v_amount) <= 15 then v_amount end;
  end $f$;

  ------------------------------------------------------------------------------------------------------- Parts of deciding

  -- One at a time for each account. @throws when there is no such account, or when the transaction would not see what others wrote.
  create or replace function etb_wallet.lock_account(p_account text) returns etb_wallet.rules
  language plpgsql set search_path = etb_wallet, pg_temp as $f$
  declare
    v_rules rules;
  begin
    if current_setting('transaction_isolation') <> 'read committed' then
      raise exception 'The pay gate needs the isolation level READ COMMITTED, and this transaction is %', upper(current_setting('transaction_isolation'));
    end if;
    select * into v_rules from rules r where r.account = p_account for update;
    if not found then
      raise exception 'The pay gate has no rules for the account "%", so nobody is paid', p_account
        using hint = 'A person of the desk sets it up: select etb_wallet.set_rules(''' || coalesce(p_account, 'main') || ''', ''{"most_per_day": 10000}'', ''your name'')';
    end if;
    return v_rules;
  end $f$;

  -- Whether another claim is sending one of these references.
  create or replace function etb_wallet.is_awaited(p_account text, p_references text[], p_now timestamptz) returns boolean
  language plpgsql stable set search_path = etb_wallet, pg_temp as $f$
  begin
    -- (offset 0: each reference is looked up by the primary key, whatever the planner thinks of the tables' sizes)
    return exists (
      select from unnest(p_references) w (reference)
      cross join lateral (
        select p.state, p.lease_until from payment p where p.account = p_account and p.reference = w.reference offset 0
      ) p
      where p.state = 'sending' and p.lease_until > p_now
    );
  end $f$;

  -- Adds to what is spent or reserved, for the account, each person and each caller; with amounts below zero money is given back.
  create or replace function etb_wallet.reserve(p_account text, p_day date, p_to text[], p_by text[], p_amounts numeric[]) returns void
  language plpgsql volatile set search_path = etb_wallet, pg_temp as $f$
  begin
    insert into spent as s (account, scope, who, period, starts_on, amount_etb)
    select p_account, x.scope, x.who, y.period, y.starts_on, sum(t.amount_etb)
    from unnest(p_to, p_by, p_amounts) t (to_user_id, requested_by, amount_etb)
    cross join lateral (values ('account', ''), ('recipient', t.to_user_id), ('caller', t.requested_by)) x (scope, who)
    cross join (values ('day', p_day), ('month', date_trunc('month', p_day)::date)) y (period, starts_on)
    group by x.scope, x.who, y.period, y.starts_on
    on conflict (account, scope, who, period, starts_on) do update set amount_etb = s.amount_etb + excluded.amount_etb;
  end $f$;

  -- Why the rules do not allow a payment; null when they do. p_to, p_by and p_amounts: what this claim hands out already.
  create or replace function etb_wallet.objection(
    p_rules etb_wallet.rules, p_to_user_id text, p_requested_by text, p_amount numeric, p_day date, p_to text[], p_by text[], p_amounts numeric[]
  ) returns text
  language plpgsql stable set search_path = etb_wallet, pg_temp as $f$
  declare
    v_caller caller;
    v_limit record;
    v_spent numeric;
  begin
    if p_rules.paused then
      return 'Payments are paused';
    end if;
    if p_rules.only_known_recipients and not exists (select from recipient k where k.account = p_rules.account and k.to_user_id = p_to_user_id) then
      return 'The recipient is not on the list of known recipients';
    end if;
    select * into v_caller from caller c where c.account = p_rules.account and c.requested_by = p_requested_by;
    if p_rules.only_known_callers and not found then
      return format('The caller "%s" (requestedBy) is not on the list of known callers', p_requested_by);
    end if;
    if v_caller.paused then
      return format('Payments of the caller "%s" are paused', p_requested_by);
    end if;
    for v_limit in
      select * from (values
        ('account', '', null, p_rules.most_per_payment, 'for one payment'),
        ('caller', p_requested_by, null, v_caller.most_per_payment, 'for one payment of this caller'),
        ('recipient', p_to_user_id, 'day', p_rules.most_per_recipient_per_day, 'for one recipient and day'),
        ('recipient', p_to_user_id, 'month', p_rules.most_per_recipient_per_month, 'for one recipient and month'),
        ('caller', p_requested_by, 'day', v_caller.most_per_day, 'for this caller and day'),
        ('caller', p_requested_by, 'month', v_caller.most_per_month, 'for this caller and month'),
        ('account', '', 'day', p_rules.most_per_day, 'for one day'),
        ('account', '', 'month', p_rules.most_per_month, 'for one month')
      ) l (scope, who, period, most, words)
      where l.most is not null
    loop
      if v_limit.period is null then
        if p_amount > v_limit.most then
          return format('Above the most %s, %s ETB', v_limit.words, v_limit.most);
        end if;
      else
        v_spent := coalesce((
          select s.amount_etb from spent s
          where s.account = p_rules.account and s.scope = v_limit.scope and s.who = v_limit.who and s.period = v_limit.period
            and s.starts_on = date_trunc(v_limit.period, p_day)::date
        ), 0) + coalesce((
          select sum(t.amount_etb) from unnest(p_to, p_by, p_amounts) t (to_user_id, requested_by, amount_etb)
          where case v_limit.scope when 'recipient' then t.to_user_id = v_limit.who when 'caller' then t.requested_by = v_limit.who else true end
        ), 0);
        if v_spent + p_amount > v_limit.most then
          return format('Above the most %s, %s ETB, of which %s are spent or reserved', v_limit.words, v_limit.most, v_spent);
        end if;
      end if;
    end loop;
    return null;
  end $f$;

  -- Adds a line about a payment.
  create or replace function etb_wallet.write_down(
    p_at timestamptz, p_payment etb_wallet.payment, p_event text, p_execution text, p_by_person text, p_detail text
  ) returns void
  language plpgsql volatile set search_path = etb_wallet, pg_temp as $f$
  begin
    insert into history (at, account, event, reference, to_user_id, amount_etb, requested_by, claim, attempt, execution, by_person, detail)
    values (p_at, p_payment.account, p_event, p_payment.reference, p_payment.to_user_id, p_payment.amount_etb, p_payment.requested_by,
      p_payment.claim, p_payment.attempt, p_execution, p_by_person, p_detail);
  end $f$;

  --------------------------------------------------------------------------------------------------------------- The gate

  -- Decides each item of a window, in order, in one transaction.
  -- p_items: [{reference, toUserId, amountEtb, requestedBy}]. p_clock: the caller's time now; without it the database's counts.
  -- items: one for each item, in order: {decision, outcome, reference, toUserId, amountEtb, txHash, reason}; outcome is null where it is still
  -- to be sent. send: what to send now, in order: {reference, toUserId, amountEtb, claim, notAfter, execution}. claim: the proof that settle and
  -- release ask for. not_after: nothing of it may be sent later than that, by the caller's clock. p_execution comes back in send: the ETB Wallet
  -- node sends what its own execution claimed, and nothing else.
  create or replace function etb_wallet.claim(
    p_account text, p_items json, p_execution text default null, p_clock timestamptz default null, p_version integer default 1,
    out items jsonb, out send jsonb, out claim uuid, out not_after text
  ) language plpgsql volatile security definer set search_path = etb_wallet, pg_temp set enable_seqscan = off set jit = off as $f$
  #variable_conflict use_column
  declare
    v_items jsonb[] := elements(p_items);
    v_claim uuid := gen_random_uuid();
    v_rules rules;
    v_now timestamptz;
    v_wait_until timestamptz;
    v_day date;
    v_not_after text;
    v_item jsonb;
    v_references text[] := '{}';
    v_index integer := 0;
    v_reference text; v_to_user_id text; v_requested_by text; v_amount numeric;
    v_row payment;
    v_known boolean;
    v_decision text; v_reason text; v_tx_hash text;
    v_told jsonb[] := '{}'; v_send jsonb[] := '{}';
    v_to text[] := '{}'; v_by text[] := '{}'; v_amounts numeric[] := '{}';
  begin
    if p_version <> (select max(v.version) from version v) then
      raise exception 'The workflow needs version % of the pay gate, and this database has version %', p_version, (select max(v.version) from version v)
        using hint = 'Use the workflow and gate/schema.sql of the same release.';
    end if;
    foreach v_item in array v_items loop
      v_references := array_append(v_references, plain_text(v_item -> 'reference'));
    end loop;

    -- A reference that another claim is sending is waited for, without the lock: leaving the block by the exception lets it go. Who waits has
    -- handed out nothing yet, so nobody waits in a circle.
    select clock() + least(r.wait, r.lease) into v_wait_until from rules r where r.account = p_account;
    loop
      begin
        v_rules := lock_account(p_account);
        v_now := clock();
        exit when v_now >= v_wait_until or not is_awaited(p_account, v_references, v_now);
        raise sqlstate 'EW001';
      exception when sqlstate 'EW001' then null;
      end;
      while clock() < v_wait_until and is_awaited(p_account, v_references, clock()) loop
        perform pg_sleep(0.05);
      end loop;
    end loop;

    v_day := (v_now at time zone v_rules.time_zone)::date;
    -- Half of the lease is left for a request that was begun at the last moment. By the caller's clock, which may be another.
    v_not_after := to_char((coalesce(p_clock, v_now) + v_rules.lease / 2) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

    foreach v_item in array v_items loop
      v_index := v_index + 1;
      v_reference := v_references[v_index];
      v_to_user_id := plain_text(v_item -> 'toUserId');
      v_requested_by := coalesce(plain_text(v_item -> 'requestedBy'), '');
      v_amount := plain_amount(v_item -> 'amountEtb');
      v_decision := 'notPaid'; v_reason := null; v_tx_hash := null; v_row := null;
      v_known := false;

      if v_item is null then
        v_reason := 'It cannot be read: it holds a character that PostgreSQL does not keep, such as \u0000';
      elsif v_reference is null then
        v_reason := 'It has no reference: give each payment a text of its own';
      elsif v_to_user_id is null then
        v_reason := 'It has no toUserId: the ID that User → Create returned';
      elsif v_amount is null then
        v_reason := format('Its amountEtb is not a plain amount, such as 1250.50: %s', left(coalesce(v_item ->> 'amountEtb', 'empty'), 40));
      elsif v_requested_by = '' and jsonb_typeof(v_item -> 'requestedBy') not in ('null', 'string') then
        v_reason := 'Its requestedBy is not text';
      elsif greatest(length(v_reference), length(v_to_user_id), length(v_requested_by)) > 200 then
        v_reason := 'Its reference, toUserId or requestedBy is longer than 200 characters';
      else
        select * into v_row from payment p where p.account = p_account and p.reference = v_reference;
        v_known := found;
        if v_known and (v_row.to_user_id <> v_to_user_id or v_row.amount_etb <> v_amount) then
          v_reason := format('Its reference belongs to another payment: %s ETB to %s', v_row.amount_etb, v_row.to_user_id);
        elsif v_row.claim = v_claim then
          v_reason := 'The list names its reference twice: only the first one is sent';
        elsif v_row.state = 'paid' then
          v_decision := 'alreadyPaid'; v_tx_hash := v_row.tx_hash; v_reason := 'It was paid before, and is not sent again';
        elsif v_row.state = 'sending' and v_row.lease_until > v_now then
          v_decision := 'inFlight'; v_reason := 'Another execution is sending it';
        elsif v_row.state in ('sending', 'unknown') then
          v_decision := 'unknown'; v_tx_hash := v_row.tx_hash;
          v_reason := coalesce(v_row.reason, 'It was handed out for sending, and how that ended was never told. Ask the partner service, then settle it');
          if v_row.state = 'sending' then
            update payment p set state = 'unknown', reason = v_reason where p.account = p_account and p.reference = v_reference;
            perform write_down(v_now, v_row, 'leaseEnded', p_execution, null, null);
          end if;
        elsif v_row.late_payment is not null then
          v_decision := 'unknown'; v_tx_hash := v_row.late_payment;
          v_reason := 'It was taken for not paid, and later the service''s answer came that it is paid. Ask the partner service, then settle it';
        else
          -- New, or not paid last time: the rules decide.
          v_reason := objection(v_rules, v_to_user_id, v_requested_by, v_amount, v_day, v_to, v_by, v_amounts);
          if v_reason is null then
            v_decision := 'send';
          end if;
        end if;
      end if;

      if v_decision = 'send' then
        insert into payment as p (account, reference, to_user_id, amount_etb, state, requested_by, claim, execution, claimed_at, lease_until, spent_on)
        values (p_account, v_reference, v_to_user_id, v_amount, 'sending', v_requested_by, v_claim, p_execution, v_now, v_now + v_rules.lease, v_day)
        on conflict (account, reference) do update set
          state = 'sending', requested_by = excluded.requested_by, claim = excluded.claim, attempt = p.attempt + 1, execution = excluded.execution,
          claimed_at = excluded.claimed_at, lease_until = excluded.lease_until, spent_on = excluded.spent_on,
          ended_at = null, tx_hash = null, reason = null, settled_by = null
        returning p.* into v_row;
        perform write_down(v_now, v_row, 'send', p_execution, null, null);
        v_to := array_append(v_to, v_to_user_id); v_by := array_append(v_by, v_requested_by); v_amounts := array_append(v_amounts, v_amount);
        v_send := array_append(v_send, jsonb_build_object(
          'reference', v_reference, 'toUserId', v_to_user_id, 'amountEtb', v_amount::text, 'claim', v_claim, 'notAfter', v_not_after,
          'execution', p_execution));
      elsif v_decision = 'notPaid' then
        insert into history (at, account, event, reference, to_user_id, amount_etb, requested_by, claim, execution, detail)
        values (v_now, p_account, 'refused', v_reference, v_to_user_id, v_amount, v_requested_by, v_claim, p_execution, v_reason);
      end if;
      v_told := array_append(v_told, jsonb_build_object('decision', v_decision, 'outcome', nullif(v_decision, 'send'), 'txHash', v_tx_hash, 'reason', v_reason)
        || jsonb_strip_nulls(jsonb_build_object('reference', v_reference, 'toUserId', v_to_user_id, 'amountEtb', v_amount)));
    end loop;

    perform reserve(p_account, v_day, v_to, v_by, v_amounts);
    items := to_jsonb(v_told); send := to_jsonb(v_send); claim := v_claim; not_after := v_not_after;
  end $f$;

  -- Ends what a claim began. p_items: what claim gave as items. p_answers: what the ETB Wallet node gave for send, in its order: one for each, also
  -- for errors. It ends only what this claim holds, and never changes what is paid or what a person settled. It can be repeated.
  -- items: each with its outcome, in order.
  create or replace function etb_wallet.settle(
    p_account text, p_claim uuid, p_items json, p_answers json, p_execution text default null, out items jsonb
  ) language plpgsql volatile security definer set search_path = etb_wallet, pg_temp set enable_seqscan = off set jit = off as $f$
  declare
    v_items jsonb[] := elements(p_items);
    v_answers jsonb[] := elements(p_answers);
    v_rules rules := lock_account(p_account);
    v_now timestamptz := clock();
    v_is_complete boolean;
    v_sent integer := 0;
    v_item jsonb; v_answer jsonb;
    v_row payment;
    v_outcome text; v_tx_hash text; v_reason text;
    v_told jsonb[] := '{}';
  begin
    -- With "On Error: Continue" n8n puts the node's answer under error.
    v_answers := array(select case when jsonb_typeof(a -> 'error') = 'object' then a || (a -> 'error') else a end from unnest(v_answers) a);
    v_is_complete := cardinality(v_answers) = (select count(*) from unnest(v_items) i where i ->> 'decision' = 'send');
    foreach v_item in array v_items loop
      v_outcome := v_item ->> 'decision'; v_tx_hash := v_item ->> 'txHash'; v_reason := v_item ->> 'reason';
      select * into v_row from payment p where p.account = p_account and p.reference = v_item ->> 'reference';

      if v_outcome = 'send' then
        v_sent := v_sent + 1;
        v_answer := v_answers[v_sent];
        -- A dry run sent nothing.
        v_outcome := case v_answer ->> 'outcome' when 'ready' then 'notPaid' else v_answer ->> 'outcome' end;
        v_tx_hash := nullif(v_answer ->> 'txHash', '');
        v_reason := case when v_outcome <> 'paid' then nullif(concat_ws('. ', rtrim(v_answer ->> 'message', '. '), v_answer ->> 'description'), '') end;
        -- What the node did not say clearly, about this payment, is unknown.
        if not v_is_complete or v_outcome is null or v_outcome not in ('paid', 'notPaid', 'unknown')
          or v_answer ->> 'toUserId' is distinct from v_item ->> 'toUserId'
          or coalesce(v_answer ->> 'reference', v_item ->> 'reference') is distinct from v_item ->> 'reference'
        then
          v_outcome := 'unknown'; v_tx_hash := null;
          v_reason := 'The ETB Wallet node did not say how it ended. Ask the partner service, then settle it';
        end if;

        if v_row.claim = p_claim and v_row.settled_by is null and (
          v_row.state = 'sending'
          or v_row.state = 'unknown' and v_outcome = 'paid'
          or v_row.state = 'unknown' and v_outcome = 'notPaid' and v_row.ended_at is null -- only its lease had ended
        ) then
          update payment p set
            state = v_outcome, tx_hash = v_tx_hash, reason = v_reason, ended_at = v_now,
            confirmed_at = (select c.received_at from confirmation c where v_outcome = 'paid' and c.account = p_account and c.tx_hash = v_tx_hash)
          where p.account = p_account and p.reference = v_row.reference;
          if v_outcome = 'notPaid' then
            perform reserve(p_account, v_row.spent_on, array[v_row.to_user_id], array[v_row.requested_by], array[-v_row.amount_etb]);
          end if;
          perform write_down(v_now, v_row, v_outcome, p_execution, null, coalesce(v_tx_hash, v_reason));
        elsif v_row.claim is distinct from p_claim or v_row.state <> v_outcome or v_row.settled_by is not null then
          -- Too late: a person settled it, or it was handed out again. The answer is written down.
          insert into history (at, account, event, reference, to_user_id, amount_etb, claim, execution, detail)
          values (v_now, p_account, 'lateAnswer', v_item ->> 'reference', v_item ->> 'toUserId', plain_amount(v_item -> 'amountEtb'), p_claim, p_execution,
            concat_ws(' ', v_outcome, v_tx_hash, v_reason));
          if v_outcome = 'paid' then
            -- Nobody is to send it again before a person has looked; if another claim paid it too, it was paid twice.
            update payment p set late_payment = coalesce(v_tx_hash, 'paid')
            where p.account = p_account and p.reference = v_row.reference and (p.state <> 'paid' or p.claim <> p_claim);
          else
            v_outcome := case v_row.state when 'paid' then 'alreadyPaid' when 'sending' then 'inFlight' else coalesce(v_row.state, v_outcome) end;
            v_tx_hash := v_row.tx_hash; v_reason := coalesce(v_row.reason, v_reason);
          end if;
        end if;
      elsif v_outcome = 'inFlight' and v_row.state in ('paid', 'notPaid', 'unknown') then
        -- It ended while this window was sent.
        v_outcome := case v_row.state when 'paid' then 'alreadyPaid' else v_row.state end;
        v_tx_hash := v_row.tx_hash;
        v_reason := case v_row.state when 'paid' then 'Another execution paid it just now' else v_row.reason end;
      end if;
      v_told := array_append(v_told, v_item || jsonb_build_object('outcome', v_outcome, 'txHash', v_tx_hash, 'reason', v_reason));
    end loop;
    items := to_jsonb(v_told);
  end $f$;

  -- For what a claim handed out and what certainly was not sent: it is not paid, and its money is given back. p_items: what claim gave as items.
  create or replace function etb_wallet.release(
    p_account text, p_claim uuid, p_items json, p_reason text, p_execution text default null, out items jsonb
  ) language sql volatile security definer set search_path = etb_wallet, pg_temp set enable_seqscan = off set jit = off as $f$
    select settle(p_account, p_claim, p_items, (
      select coalesce(json_agg(json_build_object('outcome', 'notPaid', 'toUserId', i ->> 'toUserId', 'message', 'Nothing was sent: ' || coalesce(p_reason, 'the caller said so'))), '[]')
      from unnest(elements(p_items)) i where i ->> 'decision' = 'send'
    ), p_execution)
  $f$;

  -- Marks what was paid as confirmed, when the event disburse.completed tells its txHash. An event that comes before its answer is kept.
  -- @returns how many payments it confirmed now
  create or replace function etb_wallet.confirm(p_account text, p_tx_hash text) returns integer
  language plpgsql volatile security definer set search_path = etb_wallet, pg_temp set enable_seqscan = off set jit = off as $f$
  declare
    v_rules rules := lock_account(p_account);
    v_now timestamptz := clock();
    v_row payment;
    v_count integer := 0;
  begin
    if coalesce(p_tx_hash, '') = '' then
      raise exception 'The event has no txHash, so nothing tells which payment it confirms';
    end if;
    insert into confirmation (account, tx_hash, received_at) values (p_account, p_tx_hash, v_now) on conflict do nothing;
    for v_row in
      update payment p set confirmed_at = v_now
      where p.account = p_account and p.tx_hash = p_tx_hash and p.state = 'paid' and p.confirmed_at is null
      returning p.*
    loop
      perform write_down(v_now, v_row, 'confirmed', null, null, p_tx_hash);
      v_count := v_count + 1;
    end loop;
    return v_count;
  end $f$;

  --------------------------------------------------------------------------------------------------------------- The desk

  -- A person's word. "Not paid" only about what is unknown: then it may be sent again. "Paid" also about what was taken for not paid, and to take
  -- note of what was paid twice. What is paid, or what the service ever said was paid, stays paid. p_attempt: which attempt the person asked about;
  -- a word about an earlier one says nothing about what was sent since. @returns the state
  create or replace function etb_wallet.resolve(
    p_account text, p_reference text, p_was_paid boolean, p_by text, p_note text, p_attempt integer default null
  ) returns text
  language plpgsql volatile security definer set search_path = etb_wallet, pg_temp set enable_seqscan = off set jit = off as $f$
  declare
    v_rules rules := lock_account(p_account);
    v_now timestamptz := clock();
    v_row payment;
    v_state text := case when p_was_paid then 'paid' when not p_was_paid then 'notPaid' end;
    v_was_reserved boolean;
  begin
    if v_state is null then
      raise exception 'Say whether it was paid';
    end if;
    if coalesce(btrim(p_by), '') = '' then
      raise exception 'Say who settles it';
    end if;
    select * into v_row from payment p where p.account = p_account and p.reference = p_reference;
    if not found then
      raise exception 'The account "%" has no payment with the reference "%"', p_account, p_reference;
    elsif v_row.state = 'paid' and not (p_was_paid and v_row.late_payment is not null) then
      raise exception 'The payment "%" is paid, and stays paid', p_reference;
    elsif v_row.attempt <> p_attempt then
      raise exception 'The payment "%" was sent again since you looked, at %: look again, and ask the partner service about that', p_reference,
        to_char(v_row.claimed_at at time zone v_rules.time_zone, 'YYYY-MM-DD HH24:MI:SS');
    elsif v_row.state = 'sending' and v_row.lease_until > v_now then
      raise exception 'The payment "%" is being sent: wait until %', p_reference, to_char(v_row.lease_until at time zone v_rules.time_zone, 'YYYY-MM-DD HH24:MI:SS');
    elsif not p_was_paid and v_row.state = 'unknown' and v_row.lease_until > v_now then
      -- Who told "unknown" may be a copy of the execution that is still sending it.
      raise exception 'The payment "%" may still be sent: say that it was not paid after %', p_reference, to_char(v_row.lease_until at time zone v_rules.time_zone, 'YYYY-MM-DD HH24:MI:SS');
    elsif not p_was_paid and v_row.late_payment is not null then
      raise exception 'The service''s answer that "%" was paid came late (%): it can only be settled as paid', p_reference, v_row.late_payment
        using hint = 'If it was not paid all the same, pay it under another reference.';
    elsif v_row.state = 'notPaid' and not p_was_paid then
      raise exception 'The payment "%" is known as not paid already', p_reference;
    end if;
    v_was_reserved := v_row.state <> 'notPaid';
    update payment p set
      state = v_state, settled_by = btrim(p_by), reason = p_note, ended_at = v_now, late_payment = null,
      tx_hash = case when p_was_paid then coalesce(p.tx_hash, nullif(p.late_payment, 'paid')) end
    where p.account = p_account and p.reference = p_reference;
    if v_was_reserved <> p_was_paid then
      perform reserve(p_account, v_row.spent_on, array[v_row.to_user_id], array[v_row.requested_by],
        array[case when p_was_paid then v_row.amount_etb else -v_row.amount_etb end]);
    end if;
    perform write_down(v_now, v_row, case when p_was_paid then 'saidPaid' else 'saidNotPaid' end, null, btrim(p_by), p_note);
    return v_state;
  end $f$;

  -- Changes the rules that are named, and sets an account up that has none. Null takes a limit away. @returns all rules of the account
  create or replace function etb_wallet.set_rules(p_account text, p_changes jsonb, p_by text) returns etb_wallet.rules
  language plpgsql volatile security definer set search_path = etb_wallet, pg_temp set enable_seqscan = off set jit = off as $f$
  declare
    v_rules rules;
    v_unknown text;
  begin
    if coalesce(btrim(p_by), '') = '' then
      raise exception 'Say who changes the rules';
    end if;
    select string_agg(k, ', ') into v_unknown from jsonb_object_keys(p_changes) k
    where k not in ('paused', 'only_known_recipients', 'only_known_callers', 'most_per_payment', 'most_per_recipient_per_day',
      'most_per_recipient_per_month', 'most_per_day', 'most_per_month', 'time_zone', 'lease', 'wait');
    if v_unknown is not null then
      raise exception 'There is no rule with this name: %', v_unknown;
    end if;
    insert into rules (account) values (p_account) on conflict do nothing;
    v_rules := jsonb_populate_record(lock_account(p_account), p_changes);
    if v_rules.lease not between interval '2 minutes' and interval '1 day' then
      raise exception 'The lease is %, and must be from 2 minutes to 1 day: half of it has to be longer than a payment may take', v_rules.lease;
    end if;
    perform clock() at time zone v_rules.time_zone; -- an unknown one is an error
    update rules r set
      paused = v_rules.paused, only_known_recipients = v_rules.only_known_recipients, only_known_callers = v_rules.only_known_callers,
      most_per_payment = v_rules.most_per_payment, most_per_recipient_per_day = v_rules.most_per_recipient_per_day,
      most_per_recipient_per_month = v_rules.most_per_recipient_per_month, most_per_day = v_rules.most_per_day,
      most_per_month = v_rules.most_per_month, time_zone = v_rules.time_zone, lease = v_rules.lease, wait = v_rules.wait
    where r.account = p_account;
    insert into history (at, account, event, by_person, detail) values (clock(), p_account, 'rules', btrim(p_by), p_changes::text);
    return v_rules;
  end $f$;

  -- Puts a person on the list of known recipients, or takes one off.
  create or replace function etb_wallet.set_recipient(p_account text, p_to_user_id text, p_known boolean, p_by text) returns void
  language plpgsql volatile security definer set search_path = etb_wallet, pg_temp set enable_seqscan = off set jit = off as $f$
  declare
    v_rules rules := lock_account(p_account);
    v_to_user_id text := plain_text(to_jsonb(p_to_user_id));
  begin
    if v_to_user_id is null or p_known is null or coalesce(btrim(p_by), '') = '' then
      raise exception 'Say which toUserId, whether it is known, and who says so';
    end if;
    if p_known then
      insert into recipient (account, to_user_id) values (p_account, v_to_user_id) on conflict do nothing;
    else
      delete from recipient k where k.account = p_account and k.to_user_id = v_to_user_id;
    end if;
    insert into history (at, account, event, to_user_id, by_person, detail)
    values (clock(), p_account, 'recipient', v_to_user_id, btrim(p_by), case when p_known then 'known' else 'not known' end);
  end $f$;

  -- Changes the rules of one caller, by the name that it gives itself (requestedBy; '' is: none), which nothing proves. p_changes null takes it
  -- off the list.
  create or replace function etb_wallet.set_caller(p_account text, p_requested_by text, p_changes jsonb, p_by text) returns void
  language plpgsql volatile security definer set search_path = etb_wallet, pg_temp set enable_seqscan = off set jit = off as $f$
  declare
    v_rules rules := lock_account(p_account);
    v_requested_by text := coalesce(plain_text(to_jsonb(p_requested_by)), '');
    v_caller caller;
    v_unknown text;
  begin
    if coalesce(btrim(p_by), '') = '' then
      raise exception 'Say who changes the rules of a caller';
    end if;
    select string_agg(k, ', ') into v_unknown from jsonb_object_keys(p_changes) k
    where k not in ('paused', 'most_per_payment', 'most_per_day', 'most_per_month');
    if v_unknown is not null then
      raise exception 'There is no rule of a caller with this name: %', v_unknown;
    end if;
    if p_changes is null then
      delete from caller c where c.account = p_account and c.requested_by = v_requested_by;
    else
      insert into caller (account, requested_by) values (p_account, v_requested_by) on conflict do nothing;
      select * into v_caller from caller c where c.account = p_account and c.requested_by = v_requested_by;
      v_caller := jsonb_populate_record(v_caller, p_changes);
      update caller c set paused = v_caller.paused, most_per_payment = v_caller.most_per_payment, most_per_day = v_caller.most_per_day,
        most_per_month = v_caller.most_per_month
      where c.account = p_account and c.requested_by = v_requested_by;
    end if;
    insert into history (at, account, event, requested_by, by_person, detail)
    values (clock(), p_account, 'caller', v_requested_by, btrim(p_by), coalesce(p_changes::text, 'taken off the list'));
  end $f$;

  ---------------------------------------------------------------------------------------------------------------- Views

  create or replace view etb_wallet.payments as
    select p.account, p.reference, p.to_user_id, p.amount_etb,
      case when p.state = 'sending' and p.lease_until <= etb_wallet.clock() then 'unknown' else p.state end as state,
      p.tx_hash, p.reason, p.requested_by, p.attempt, p.execution, p.claimed_at, p.lease_until, p.ended_at, p.settled_by, p.late_payment, p.confirmed_at
    from etb_wallet.payment p;

  create or replace view etb_wallet.open_payments as
    select p.account, p.reference, p.to_user_id, p.amount_etb,
      case
        when p.state = 'sending' and p.lease_until > etb_wallet.clock() then 'inFlight'
        when p.state = 'paid' then 'paidTwice'
        else 'unknown'
      end as state,
      p.reason, p.late_payment, p.requested_by, p.attempt, p.execution, p.claimed_at, p.lease_until
    from etb_wallet.payment p
    where p.state in ('sending', 'unknown') or p.late_payment is not null;

  create or replace view etb_wallet.unconfirmed_payments as
    select p.account, p.reference, p.to_user_id, p.amount_etb, p.tx_hash, p.requested_by, p.execution, p.ended_at
    from etb_wallet.payment p
    where p.state = 'paid' and p.confirmed_at is null and p.settled_by is null and p.ended_at < etb_wallet.clock() - interval '1 day';

  create or replace view etb_wallet.spending as
    select r.account, t.today, coalesce(d.amount_etb, 0) as spent_today, r.most_per_day,
      case when r.most_per_day is not null then greatest(r.most_per_day - coalesce(d.amount_etb, 0), 0) end as left_today,
      coalesce(m.amount_etb, 0) as spent_this_month, r.most_per_month,
      case when r.most_per_month is not null then greatest(r.most_per_month - coalesce(m.amount_etb, 0), 0) end as left_this_month, r.paused
    from etb_wallet.rules r
    cross join lateral (select (etb_wallet.clock() at time zone r.time_zone)::date as today) t
    left join etb_wallet.spent d on d.account = r.account and d.scope = 'account' and d.who = '' and d.period = 'day' and d.starts_on = t.today
    left join etb_wallet.spent m on m.account = r.account and m.scope = 'account' and m.who = '' and m.period = 'month'
      and m.starts_on = date_trunc('month', t.today)::date;

  create or replace view etb_wallet.spent_by_period as
    select s.account, s.scope, s.who, s.period, s.starts_on, s.amount_etb from etb_wallet.spent s;

  create or replace view etb_wallet.account_rules as
    select r.account, r.paused, r.only_known_recipients, r.only_known_callers, r.most_per_payment, r.most_per_recipient_per_day,
      r.most_per_recipient_per_month, r.most_per_day, r.most_per_month, r.time_zone, r.lease, r.wait
    from etb_wallet.rules r;

  create or replace view etb_wallet.known_recipients as
    select k.account, k.to_user_id from etb_wallet.recipient k;

  create or replace view etb_wallet.caller_rules as
    select c.account, c.requested_by, c.paused, c.most_per_payment, c.most_per_day, c.most_per_month from etb_wallet.caller c;

  create or replace view etb_wallet.events as
    select h.id, h.at, h.account, h.event, h.reference, h.to_user_id, h.amount_etb, h.requested_by, h.claim, h.attempt, h.execution, h.by_person, h.detail
    from etb_wallet.history h;

  create or replace view etb_wallet.installed_version as
    select max(v.version) as version, max(v.installed_at) as installed_at from etb_wallet.version v;

  --------------------------------------------------------------------------------------------------------------- Rights

  revoke all on schema etb_wallet from public, etb_wallet_gate, etb_wallet_desk, etb_wallet_reader;
  revoke all on all tables in schema etb_wallet from public, etb_wallet_gate, etb_wallet_desk, etb_wallet_reader;
  revoke all on all sequences in schema etb_wallet from public, etb_wallet_gate, etb_wallet_desk, etb_wallet_reader;
  revoke all on all functions in schema etb_wallet from public, etb_wallet_gate, etb_wallet_desk, etb_wallet_reader;
  grant usage on schema etb_wallet to etb_wallet_gate, etb_wallet_desk, etb_wallet_reader;
  grant execute on function
    etb_wallet.claim(text, json, text, timestamptz, integer),
    etb_wallet.settle(text, uuid, json, json, text),
    etb_wallet.release(text, uuid, json, text, text),
    etb_wallet.confirm(text, text)
    to etb_wallet_gate;
  grant execute on function
    etb_wallet.resolve(text, text, boolean, text, text, integer),
    etb_wallet.set_rules(text, jsonb, text),
    etb_wallet.set_recipient(text, text, boolean, text),
    etb_wallet.set_caller(text, text, jsonb, text)
    to etb_wallet_desk;
  -- (A view reads its tables as its owner, and calls functions as its reader.)
  grant execute on function etb_wallet.clock() to etb_wallet_desk, etb_wallet_reader;
  grant select on
    etb_wallet.payments, etb_wallet.open_payments, etb_wallet.unconfirmed_payments, etb_wallet.spending, etb_wallet.spent_by_period,
    etb_wallet.account_rules, etb_wallet.known_recipients, etb_wallet.caller_rules, etb_wallet.events
    to etb_wallet_desk, etb_wallet_reader;
  grant select on etb_wallet.installed_version to etb_wallet_gate, etb_wallet_desk, etb_wallet_reader;

  ------------------------------------------------------------------------------------------------------------- Comments

  comment on schema etb_wallet is 'The pay gate: the one record of payments that all workflows share, and what may be spent. Made by gate/schema.sql of n8n-nodes-etb-wallet.';
  comment on domain etb_wallet.most_etb is 'A limit in ETB; null is no limit';

  comment on table etb_wallet.version is 'Which versions of gate/schema.sql this database has had';
  comment on column etb_wallet.version.version is 'The highest one holds';
  comment on column etb_wallet.version.installed_at is 'When it was installed';

  comment on table etb_wallet.rules is 'One row for each account of the service. An account without a row pays nobody. Changed by set_rules.';
  comment on column etb_wallet.rules.account is 'The name that workflows give the account, such as main';
  comment on column etb_wallet.rules.paused is 'Nothing new is handed out while true; what was handed out ends';
  comment on column etb_wallet.rules.only_known_recipients is 'Whether only those in recipient are paid';
  comment on column etb_wallet.rules.only_known_callers is 'Whether only those in caller may ask, by the name that they give themselves';
  comment on column etb_wallet.rules.most_per_payment is 'In ETB';
  comment on column etb_wallet.rules.most_per_recipient_per_day is 'In ETB, for one person and calendar day';
  comment on column etb_wallet.rules.most_per_recipient_per_month is 'In ETB, for one person and calendar month';
  comment on column etb_wallet.rules.most_per_day is 'In ETB, for all in one calendar day';
  comment on column etb_wallet.rules.most_per_month is 'In ETB, for all in one calendar month';
  comment on column etb_wallet.rules.time_zone is 'Where a day begins and ends';
  comment on column etb_wallet.rules.lease is 'How long a window has to be sent and settled. Afterwards what was not settled is unknown. Nothing is sent after half of it.';
  comment on column etb_wallet.rules.wait is 'How long a claim waits for references that another claim is sending';

  comment on table etb_wallet.recipient is 'Known recipients. Changed by set_recipient.';
  comment on column etb_wallet.recipient.account is 'The account that they belong to';
  comment on column etb_wallet.recipient.to_user_id is 'The ID that User → Create returned';

  comment on table etb_wallet.caller is 'Rules of one caller, besides those of the account. Changed by set_caller.';
  comment on column etb_wallet.caller.account is 'The account that it belongs to';
  comment on column etb_wallet.caller.requested_by is 'The name that the caller gives itself, which nothing proves; empty: those that give none';
  comment on column etb_wallet.caller.paused is 'Nothing new is handed out for this caller while true';
  comment on column etb_wallet.caller.most_per_payment is 'In ETB';
  comment on column etb_wallet.caller.most_per_day is 'In ETB, for all its payments in one calendar day';
  comment on column etb_wallet.caller.most_per_month is 'In ETB, for all its payments in one calendar month';

  comment on table etb_wallet.payment is 'Each payment that was ever handed out for sending. Never removed; a reference keeps its person and amount; paid is for ever.';
  comment on column etb_wallet.payment.account is 'The account that pays';
  comment on column etb_wallet.payment.reference is 'The caller''s own key of the payment';
  comment on column etb_wallet.payment.to_user_id is 'Who gets the money';
  comment on column etb_wallet.payment.amount_etb is 'How much, in ETB';
  comment on column etb_wallet.payment.state is 'sending: handed out, its end not told yet (after lease_until: unknown). paid. notPaid: may be handed out again. unknown: may have been paid; a person settles it.';
  comment on column etb_wallet.payment.requested_by is 'The name that the caller gave itself, or empty';
  comment on column etb_wallet.payment.claim is 'Which claim handed it out last. Only who knows it can end it.';
  comment on column etb_wallet.payment.attempt is 'How often it was handed out';
  comment on column etb_wallet.payment.execution is 'The execution of n8n that claimed it';
  comment on column etb_wallet.payment.claimed_at is 'When it was handed out last';
  comment on column etb_wallet.payment.lease_until is 'Until when its end has to be told';
  comment on column etb_wallet.payment.spent_on is 'The day that its money is reserved or spent on';
  comment on column etb_wallet.payment.ended_at is 'When its end was told, or a person settled it';
  comment on column etb_wallet.payment.tx_hash is 'What the service gave for it';
  comment on column etb_wallet.payment.reason is 'Why it is not paid or unknown, or the note of the person who settled it';
  comment on column etb_wallet.payment.settled_by is 'The person who settled it';
  comment on column etb_wallet.payment.late_payment is 'The txHash of an answer that said paid after the record said otherwise, or the word paid. Nobody sends it again before a person has settled that.';
  comment on column etb_wallet.payment.confirmed_at is 'When the event disburse.completed came for it';
  comment on index etb_wallet.payment_open is 'What is in flight or to be settled';
  comment on index etb_wallet.payment_unconfirmed is 'What is paid and waits for its event';

  comment on table etb_wallet.spent is 'What is spent or reserved: the sum of the payments that are sending, paid or unknown';
  comment on column etb_wallet.spent.account is 'The account that pays';
  comment on column etb_wallet.spent.scope is 'Whose sum it is: of the account, of one recipient, of one caller';
  comment on column etb_wallet.spent.who is 'The recipient''s toUserId or the caller''s requestedBy; empty for the account';
  comment on column etb_wallet.spent.period is 'A calendar day or month in the account''s time zone';
  comment on column etb_wallet.spent.starts_on is 'The first day of the period';
  comment on column etb_wallet.spent.amount_etb is 'In ETB';

  comment on table etb_wallet.confirmation is 'Each txHash that an event disburse.completed told, also when it came before the answer to the payment';
  comment on column etb_wallet.confirmation.account is 'The account whose event it was';
  comment on column etb_wallet.confirmation.tx_hash is 'As the event told it';
  comment on column etb_wallet.confirmation.received_at is 'When it came first';

  comment on table etb_wallet.history is 'Everything that was decided, told and said. Only added to.';
  comment on column etb_wallet.history.id is 'In the order in which it happened, for one account';
  comment on column etb_wallet.history.at is 'When';
  comment on column etb_wallet.history.account is 'The account';
  comment on column etb_wallet.history.event is 'send, refused; paid, notPaid, unknown, lateAnswer; leaseEnded; saidPaid, saidNotPaid; confirmed; rules, recipient, caller';
  comment on column etb_wallet.history.reference is 'The payment''s reference';
  comment on column etb_wallet.history.to_user_id is 'Who gets the money';
  comment on column etb_wallet.history.amount_etb is 'How much, in ETB';
  comment on column etb_wallet.history.requested_by is 'The name that the caller gave itself';
  comment on column etb_wallet.history.claim is 'The claim that handed it out';
  comment on column etb_wallet.history.attempt is 'How often it had been handed out then';
  comment on column etb_wallet.history.execution is 'The execution of n8n that did it';
  comment on column etb_wallet.history.by_person is 'The person who did it';
  comment on column etb_wallet.history.detail is 'The reason, txHash, note or change';

  comment on trigger only_added on etb_wallet.history is 'Refuses every change and removal';
  comment on trigger never_removed on etb_wallet.payment is 'Refuses every removal';
  comment on trigger paid_for_ever on etb_wallet.payment is 'Refuses what would make a paid payment payable again, or give a reference another person or amount';

  comment on function etb_wallet.refuse_change() is 'Says what a table does not allow';
  comment on function etb_wallet.clock() is 'The time now';
  comment on function etb_wallet.elements(json) is 'The elements of a list; null for those that PostgreSQL cannot read';
  comment on function etb_wallet.plain_text(jsonb) is 'Text without white space around it, or null';
  comment on function etb_wallet.digits(numeric) is 'How many digits of a number count';
  comment on function etb_wallet.plain_amount(jsonb) is 'An amount as the ETB Wallet node reads it, or null';
  comment on function etb_wallet.lock_account(text) is 'Lets one transaction at a time decide for an account, and gives its rules';
  comment on function etb_wallet.is_awaited(text, text[], timestamptz) is 'Whether another claim is sending one of these references';
  comment on function etb_wallet.reserve(text, date, text[], text[], numeric[]) is 'Adds to what is spent or reserved';
  comment on function etb_wallet.objection(etb_wallet.rules, text, text, numeric, date, text[], text[], numeric[]) is 'Why the rules do not allow a payment, or null';
  comment on function etb_wallet.write_down(timestamptz, etb_wallet.payment, text, text, text, text) is 'Adds a line about a payment to the history';
  comment on function etb_wallet.claim(text, json, text, timestamptz, integer) is 'For the gate: decides each item of a window, and hands out what is to be sent now';
  comment on function etb_wallet.settle(text, uuid, json, json, text) is 'For the gate: ends what a claim began, with the answers of the ETB Wallet node';
  comment on function etb_wallet.release(text, uuid, json, text, text) is 'For the gate: ends what a claim began and what certainly was not sent';
  comment on function etb_wallet.confirm(text, text) is 'For the gate: marks as confirmed what an event disburse.completed tells';
  comment on function etb_wallet.resolve(text, text, boolean, text, text, integer) is 'For the desk: a person''s word about a payment';
  comment on function etb_wallet.set_rules(text, jsonb, text) is 'For the desk: changes rules of an account, or sets it up';
  comment on function etb_wallet.set_recipient(text, text, boolean, text) is 'For the desk: who is a known recipient';
  comment on function etb_wallet.set_caller(text, text, jsonb, text) is 'For the desk: rules of one caller, by its own word';

  comment on view etb_wallet.payments is 'All payments, with their state now';
  comment on view etb_wallet.open_payments is 'What is in flight, what a person has to settle (unknown), and what was paid twice';
  comment on view etb_wallet.unconfirmed_payments is 'What the service called paid more than a day ago, without an event disburse.completed since';
  comment on view etb_wallet.spending is 'What is spent or reserved today and this month, and what is left';
  comment on view etb_wallet.spent_by_period is 'What was spent or reserved in each day and month, by account, recipient and caller';
  comment on view etb_wallet.account_rules is 'The rules of each account';
  comment on view etb_wallet.known_recipients is 'Who is a known recipient';
  comment on view etb_wallet.caller_rules is 'The rules of each caller';
  comment on view etb_wallet.events is 'The history: everything that was decided, told and said';
  comment on view etb_wallet.installed_version is 'The version of the pay gate that this database has';

  -------------------------------------------------------------------------------------------------------------------- End

  perform set_config('role', v_role_before, true);
  if not v_is_member then
    revoke etb_wallet_owner from current_user;
  end if;
end $setup$;
