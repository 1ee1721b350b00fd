-- The pay gate's record in PostgreSQL 13 or newer: which payment was handed out for sending, how it ended, and what may be spent.
-- Made by `npm run gate` of the sources in gate/record: change those.
--
-- Run it as a role that may create roles and schemas (it need not be a superuser), with psql -f, or as one query of n8n's Postgres node.
-- Run it again to update: it changes nothing that is up to date. It is one statement, so it happens as a whole or not at all.
--
-- Tables and functions belong to etb_wallet_owner, which cannot log in. A login may do what etb_wallet_gate (for n8n), etb_wallet_desk (for a
-- person) or etb_wallet_reader (for reports) may, which are of the whole server, in the databases whose schema etb_wallet it was granted usage of.
--
-- All functions that decide take one lock, that of the budget's row in `rules`: they happen one after the other, see what the one before
-- wrote (each statement of READ COMMITTED looks anew), and cannot lock each other out.
--
-- Those that are called often are PL/pgSQL, which keeps its plans; PostgreSQL plans functions in SQL anew at each call.
-- They run with enable_seqscan = off: a connection keeps the plan that it made while a table was empty, also when the table has grown; and
-- without jit, which can take longer to compile a plan than the plan takes to run a thousand times.
--
-- No text here has a backslash in it, which would mean something else where standard_conforming_strings is off.
do $setup$
declare
  c_version constant integer := 1; -- the highest of tables/
  -- (The search path is set below. These types are looked up before: a domain "text" in "public" would be a trap.)
  v_role_before pg_catalog.text;
  v_is_member boolean := true;
  v_found integer;
  v_old pg_catalog.text;
  v_detail pg_catalog.text;
begin
  -- Every name below is one of PostgreSQL's own, or says its schema: what somebody else made, say a function "format" in "public", never runs.
  perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
  perform set_config('client_min_messages', 'warning', true);
  -- It gives up rather than holding up all payments while it waits for a transaction that somebody forgot.
  perform set_config('lock_timeout', '30s', true);
  v_role_before := current_setting('role');
  if current_setting('server_version_num')::integer < 130000 then
    raise exception 'The pay gate needs PostgreSQL 13 or newer; this is %', current_setting('server_version');
  end if;
  if getdatabaseencoding() <> 'UTF8' then
    raise exception 'The pay gate needs a database whose encoding is UTF8; this one is %', getdatabaseencoding();
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
    comment on role etb_wallet_gate is 'Pays through the pay gate: may call claim, record and confirm. For the login of n8n''s Postgres credential.';
  end if;
  if not exists (select from pg_roles where rolname = 'etb_wallet_desk') then
    create role etb_wallet_desk nologin;
    comment on role etb_wallet_desk is 'A person''s desk: may settle what is unknown, change rules, and read everything.';
  end if;
  if not exists (select from pg_roles where rolname = 'etb_wallet_reader') then
    create role etb_wallet_reader nologin;
    comment on role etb_wallet_reader is 'Reads the pay gate''s record. May write nothing.';
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

  -------------------------------------------------------------------------------------------------------------- Versions

  -- A schema of somebody else could hold what runs with the rights of who sets up.
  if exists (select from pg_namespace where nspname = 'etb_wallet' and nspowner <> 'etb_wallet_owner'::regrole) then
    raise exception 'There is a schema etb_wallet that this file did not make' using hint = 'Rename it (alter schema etb_wallet rename to …), or use another database.';
  end if;
  create schema if not exists etb_wallet authorization etb_wallet_owner;
  set local role etb_wallet_owner;
  comment on schema etb_wallet is 'The pay gate: the one record of payments that all workflows share, and what may be spent. Made by gate/schema.sql of n8n-nodes-etb-wallet.';
  create table if not exists etb_wallet.version (
    version integer primary key,
    release text not null,
    installed_at timestamptz not null default clock_timestamp()
  );
  comment on table etb_wallet.version is 'Which versions of gate/schema.sql this database has had';
  comment on column etb_wallet.version.version is 'The highest one holds';
  comment on column etb_wallet.version.release is 'The release of n8n-nodes-etb-wallet that brought it';
  comment on column etb_wallet.version.installed_at is 'When it was installed';
  select coalesce(max(version), 0) into v_found from etb_wallet.version;
  if v_found > c_version then
    raise exception 'This database has version % of the pay gate, and this file is version %', v_found, c_version using hint = 'Take gate/schema.sql from the newest release.';
  end if;
  if v_found < c_version then
    -- Functions and views are made anew below; their parameters and columns may be others now. What the tables' guards call stays.
    begin
      select string_agg(oid::regclass::text, ', ') into v_old from pg_class
      where relnamespace = 'etb_wallet'::regnamespace and relkind = 'v' and relowner = 'etb_wallet_owner'::regrole;
      execute coalesce('drop view ' || v_old, 'select');
      select string_agg(oid::regprocedure::text, ', ') into v_old from pg_proc
      where pronamespace = 'etb_wallet'::regnamespace and prorettype <> 'trigger'::regtype and proowner = 'etb_wallet_owner'::regrole;
      execute coalesce('drop function ' || v_old, 'select');
    exception when dependent_objects_still_exist then
      get stacked diagnostics v_detail = pg_exception_detail;
      raise exception 'Something of your own uses the views of the pay gate, which change: %', v_detail
        using hint = 'Keep its definition (pg_get_viewdef), drop it, set up, and make it again.';
    end;
  end if;
  if v_found < 1 then
    -- Version 1 of the tables. Once it is released it never changes: the next version is a file of its own, which alters these tables. The build makes a comment in the database of each `--`
    -- at the end of a column, and of those above a table.

    create domain etb_wallet.most_etb as numeric check (value >= 0 and value < 1e21); -- (NaN is above all numbers: it would be no limit.)
    comment on domain etb_wallet.most_etb is 'A limit in ETB; null is no limit';

    -- One row for each budget, under which workflows pay. A budget without a row pays nobody. Changed by set_rules.
    create table etb_wallet.rules (
      budget text primary key check (length(budget) between 1 and 100), -- The name that workflows give it, such as main
      paused boolean not null default false, -- Nothing new is handed out while true; what was handed out ends
      only_known_recipients boolean not null default false, -- Whether only those in recipient are paid
      only_known_callers boolean not null default false, -- Whether only those in caller may ask, by the name that they give themselves
      most_per_payment etb_wallet.most_etb, -- In ETB
      most_per_recipient_per_day etb_wallet.most_etb, -- In ETB, for one person and calendar day
      most_per_recipient_per_month etb_wallet.most_etb, -- In ETB, for one person and calendar month
      most_per_day etb_wallet.most_etb, -- In ETB, for all in one calendar day
      most_per_month etb_wallet.most_etb, -- In ETB, for all in one calendar month
      time_zone text not null default 'Africa/Addis_Ababa', -- Where a day begins and ends
      lease interval not null default '15 minutes' check (lease > interval '0'), -- How long a window has to be sent and recorded. Afterwards what was not recorded is unknown. Nothing is sent after half of it.
      wait interval not null default '10 seconds' check (wait between interval '0' and interval '1 minute') -- How long a claim waits for references that another claim is sending
    );

    -- Known recipients. Changed by set_recipient.
    create table etb_wallet.recipient (
      budget text, -- The budget that they belong to
      to_user_id text check (length(to_user_id) between 1 and 200), -- The ID that User → Create returned
      primary key (budget, to_user_id)
    );

    -- Rules of one caller, besides those of the budget. Changed by set_caller.
    create table etb_wallet.caller (
      budget text, -- The budget that it belongs to
      requested_by text check (length(requested_by) <= 200), -- The name that the caller gives itself, which nothing proves; empty: those that give none
      paused boolean not null default false, -- Nothing new is handed out for this caller while true
      most_per_payment etb_wallet.most_etb, -- In ETB
      most_per_day etb_wallet.most_etb, -- In ETB, for all its payments in one calendar day
      most_per_month etb_wallet.most_etb, -- In ETB, for all its payments in one calendar month
      primary key (budget, requested_by)
    );

    -- Each attempt to make a payment: one row for each time that it was handed out. Never removed; its person and amount stay; paid is for ever.
    create table etb_wallet.payment (
      budget text not null, -- The budget that pays
      reference text not null, -- The caller's own key of the payment
      attempt integer not null check (attempt > 0), -- 1 for the first one. There is a next one only after all before it were not paid.
      look text not null, -- The reference without case, blanks and compatibility forms: references with the same look are not of one list
      to_user_id text not null, -- Who gets the money: the same in all attempts
      amount_etb numeric not null check (amount_etb > 0), -- How much, in ETB: the same in all attempts
      state text not null check (state in ('sending', 'paid', 'notPaid', 'unknown')), -- sending: handed out, its end not recorded yet (after lease_until: unknown). unknown: may have been paid; a person settles it.
      surprise text check (surprise in ('paidTwice', 'paidAfterAll')), -- What a person should know. paidTwice: another attempt is paid too. paidAfterAll: the answer came after a person, or an earlier answer, had said that it was not paid.
      requested_by text not null, -- The name that the caller gave itself, or empty
      claim uuid, -- The claim that handed it out. Only who knows it can end it. Null: a person wrote it down as paid.
      execution text, -- The execution of n8n that claimed it
      claimed_at timestamptz not null, -- When it was handed out or written down
      lease_until timestamptz not null, -- Until when its end has to be recorded
      spent_on date, -- The day that its money counts for. Null: it was paid without the gate, and counts for none.
      answer text check (answer in ('paid', 'notPaid', 'unknown')), -- What the ETB Wallet node answered last, if it did
      ended_at timestamptz, -- When its end was recorded, or a person settled it
      tx_hash text, -- What the service gave for it
      reason text, -- Why it is not paid or unknown, or the note of the person who settled it
      settled_by text, -- The person who settled it
      confirmed_at timestamptz, -- When the event disburse.completed came for it, or a person said that it needs none
      confirmed_by text, -- That person
      -- (No two indexes begin alike: a plan made for an empty table takes any that begins with what is asked for, and keeps it.)
      primary key (reference, budget, attempt)
    );
    -- What is in flight, to be settled, or to be looked at
    create index payment_open on etb_wallet.payment (budget, claimed_at) where state in ('sending', 'unknown') or surprise is not null;
    -- References that look the same
    create index payment_look on etb_wallet.payment (look, budget);
    -- What is paid and waits for its event
    create index payment_unconfirmed on etb_wallet.payment (budget, tx_hash) where state = 'paid' and confirmed_at is null;

    -- What is spent or reserved: the sums of the attempts that are sending, paid or unknown
    create table etb_wallet.spent (
      budget text, -- The budget that pays
      scope text check (scope in ('budget', 'recipient', 'caller')), -- Whose sum it is: of the budget, of one recipient, of one caller
      who text, -- The recipient's toUserId or the caller's requestedBy; empty for the budget
      period text check (period in ('day', 'month')), -- A calendar day or month in the budget's time zone
      starts_on date, -- The first day of the period
      amount_etb numeric not null, -- In ETB
      primary key (budget, scope, who, period, starts_on)
    ) with (fillfactor = 60);

    -- Each txHash that an event disburse.completed told, also when it came before the answer to the payment
    create table etb_wallet.confirmation (
      budget text, -- The budget whose event it was
      tx_hash text check (length(tx_hash) between 1 and 200), -- As the event told it
      received_at timestamptz not null, -- When it came first
      primary key (budget, tx_hash)
    );

    -- Everything that was decided, told and said. Only added to.
    create table etb_wallet.history (
      id bigint generated always as identity primary key, -- In the order in which it happened, for one budget
      at timestamptz not null, -- When
      budget text not null, -- The budget
      event text not null, -- send, refused; paid, notPaid, unknown; latePaid, lateUnknown, lateAnswer; leaseEnded; saidPaid, saidNotPaid, saidSeen, saidPaidBefore, saidConfirmed; confirmed; rules, recipient, caller
      reference text, -- The payment's reference
      attempt integer, -- Which attempt it is about
      to_user_id text, -- Who gets the money
      amount_etb numeric, -- How much, in ETB
      requested_by text, -- The name that the caller gave itself
      claim uuid, -- The claim that handed it out
      execution text, -- The execution of n8n that did it
      by_person text, -- The person who did it
      detail text -- The reason, txHash, note or change
    );
    -- The story of one payment
    create index history_of_payment on etb_wallet.history (budget, reference, id);

    -- Says what a table does not allow
    create function etb_wallet.refuse_change() returns trigger
    language plpgsql set search_path = etb_wallet, pg_temp as $f$
    begin
      raise exception 'etb_wallet.% (%) %', tg_table_name, tg_op,
        case tg_table_name
          when 'history' then 'is only added to'
          else 'keeps every payment, with its person and its amount, and what is paid stays paid'
        end;
    end $f$;

    create trigger only_added before update or delete or truncate on etb_wallet.history
      for each statement execute function etb_wallet.refuse_change();
    comment on trigger only_added on etb_wallet.history is 'Refuses every change and removal';
    create trigger never_removed before delete or truncate on etb_wallet.payment
      for each statement execute function etb_wallet.refuse_change();
    comment on trigger never_removed on etb_wallet.payment is 'Refuses every removal';
    create trigger paid_for_ever before update on etb_wallet.payment
      for each row when (
        (old.state = 'paid' and new.state <> 'paid')
        or old.budget <> new.budget or old.reference <> new.reference or old.attempt <> new.attempt
        or old.to_user_id <> new.to_user_id or old.amount_etb <> new.amount_etb or old.claim is distinct from new.claim
      ) execute function etb_wallet.refuse_change();
    comment on trigger paid_for_ever on etb_wallet.payment is 'Refuses what would make a paid payment payable again, or give it another person, amount or claim';
    comment on table etb_wallet.rules is 'One row for each budget, under which workflows pay. A budget without a row pays nobody. Changed by set_rules.';
    comment on table etb_wallet.recipient is 'Known recipients. Changed by set_recipient.';
    comment on table etb_wallet.caller is 'Rules of one caller, besides those of the budget. Changed by set_caller.';
    comment on table etb_wallet.payment is 'Each attempt to make a payment: one row for each time that it was handed out. Never removed; its person and amount stay; paid is for ever.';
    comment on index etb_wallet.payment_open is 'What is in flight, to be settled, or to be looked at';
    comment on index etb_wallet.payment_look is 'References that look the same';
    comment on index etb_wallet.payment_unconfirmed is 'What is paid and waits for its event';
    comment on table etb_wallet.spent is 'What is spent or reserved: the sums of the attempts that are sending, paid or unknown';
    comment on table etb_wallet.confirmation is 'Each txHash that an event disburse.completed told, also when it came before the answer to the payment';
    comment on table etb_wallet.history is 'Everything that was decided, told and said. Only added to.';
    comment on index etb_wallet.history_of_payment is 'The story of one payment';
    comment on function etb_wallet.refuse_change is 'Says what a table does not allow';
    comment on column etb_wallet.rules.budget is 'The name that workflows give it, such as main';
    comment on column etb_wallet.rules.paused is 'Nothing new is handed out while true; what was handed out ends';
    comment on column etb_wallet.rules.only_known_recipients is 'Whether only those in recipient are paid';
    comment on column etb_wallet.rules.only_known_callers is 'Whether only those in caller may ask, by the name that they give themselves';
    comment on column etb_wallet.rules.most_per_payment is 'In ETB';
    comment on column etb_wallet.rules.most_per_recipient_per_day is 'In ETB, for one person and calendar day';
    comment on column etb_wallet.rules.most_per_recipient_per_month is 'In ETB, for one person and calendar month';
    comment on column etb_wallet.rules.most_per_day is 'In ETB, for all in one calendar day';
    comment on column etb_wallet.rules.most_per_month is 'In ETB, for all in one calendar month';
    comment on column etb_wallet.rules.time_zone is 'Where a day begins and ends';
    comment on column etb_wallet.rules.lease is 'How long a window has to be sent and recorded. Afterwards what was not recorded is unknown. Nothing is sent after half of it.';
    comment on column etb_wallet.rules.wait is 'How long a claim waits for references that another claim is sending';
    comment on column etb_wallet.recipient.budget is 'The budget that they belong to';
    comment on column etb_wallet.recipient.to_user_id is 'The ID that User → Create returned';
    comment on column etb_wallet.caller.budget is 'The budget that it belongs to';
    comment on column etb_wallet.caller.requested_by is 'The name that the caller gives itself, which nothing proves; empty: those that give none';
    comment on column etb_wallet.caller.paused is 'Nothing new is handed out for this caller while true';
    comment on column etb_wallet.caller.most_per_payment is 'In ETB';
    comment on column etb_wallet.caller.most_per_day is 'In ETB, for all its payments in one calendar day';
    comment on column etb_wallet.caller.most_per_month is 'In ETB, for all its payments in one calendar month';
    comment on column etb_wallet.payment.budget is 'The budget that pays';
    comment on column etb_wallet.payment.reference is 'The caller''s own key of the payment';
    comment on column etb_wallet.payment.attempt is '1 for the first one. There is a next one only after all before it were not paid.';
    comment on column etb_wallet.payment.look is 'The reference without case, blanks and compatibility forms: references with the same look are not of one list';
    comment on column etb_wallet.payment.to_user_id is 'Who gets the money: the same in all attempts';
    comment on column etb_wallet.payment.amount_etb is 'How much, in ETB: the same in all attempts';
    comment on column etb_wallet.payment.state is 'sending: handed out, its end not recorded yet (after lease_until: unknown). unknown: may have been paid; a person settles it.';
    comment on column etb_wallet.payment.surprise is 'What a person should know. paidTwice: another attempt is paid too. paidAfterAll: the answer came after a person, or an earlier answer, had said that it was not paid.';
    comment on column etb_wallet.payment.requested_by is 'The name that the caller gave itself, or empty';
    comment on column etb_wallet.payment.claim is 'The claim that handed it out. Only who knows it can end it. Null: a person wrote it down as paid.';
    comment on column etb_wallet.payment.execution is 'The execution of n8n that claimed it';
    comment on column etb_wallet.payment.claimed_at is 'When it was handed out or written down';
    comment on column etb_wallet.payment.lease_until is 'Until when its end has to be recorded';
    comment on column etb_wallet.payment.spent_on is 'The day that its money counts for. Null: it was paid without the gate, and counts for none.';
    comment on column etb_wallet.payment.answer is 'What the ETB Wallet node answered last, if it did';
    comment on column etb_wallet.payment.ended_at is 'When its end was recorded, or a person settled it';
    comment on column etb_wallet.payment.tx_hash is 'What the service gave for it';
    comment on column etb_wallet.payment.reason is 'Why it is not paid or unknown, or the note of the person who settled it';
    comment on column etb_wallet.payment.settled_by is 'The person who settled it';
    comment on column etb_wallet.payment.confirmed_at is 'When the event disburse.completed came for it, or a person said that it needs none';
    comment on column etb_wallet.payment.confirmed_by is 'That person';
    comment on column etb_wallet.spent.budget is 'The budget that pays';
    comment on column etb_wallet.spent.scope is 'Whose sum it is: of the budget, of one recipient, of one caller';
    comment on column etb_wallet.spent.who is 'The recipient''s toUserId or the caller''s requestedBy; empty for the budget';
    comment on column etb_wallet.spent.period is 'A calendar day or month in the budget''s time zone';
    comment on column etb_wallet.spent.starts_on is 'The first day of the period';
    comment on column etb_wallet.spent.amount_etb is 'In ETB';
    comment on column etb_wallet.confirmation.budget is 'The budget whose event it was';
    comment on column etb_wallet.confirmation.tx_hash is 'As the event told it';
    comment on column etb_wallet.confirmation.received_at is 'When it came first';
    comment on column etb_wallet.history.id is 'In the order in which it happened, for one budget';
    comment on column etb_wallet.history.at is 'When';
    comment on column etb_wallet.history.budget is 'The budget';
    comment on column etb_wallet.history.event is 'send, refused; paid, notPaid, unknown; latePaid, lateUnknown, lateAnswer; leaseEnded; saidPaid, saidNotPaid, saidSeen, saidPaidBefore, saidConfirmed; confirmed; rules, recipient, caller';
    comment on column etb_wallet.history.reference is 'The payment''s reference';
    comment on column etb_wallet.history.attempt is 'Which attempt it is about';
    comment on column etb_wallet.history.to_user_id is 'Who gets the money';
    comment on column etb_wallet.history.amount_etb is 'How much, in ETB';
    comment on column etb_wallet.history.requested_by is 'The name that the caller gave itself';
    comment on column etb_wallet.history.claim is 'The claim that handed it out';
    comment on column etb_wallet.history.execution is 'The execution of n8n that did it';
    comment on column etb_wallet.history.by_person is 'The person who did it';
    comment on column etb_wallet.history.detail is 'The reason, txHash, note or change';
    insert into etb_wallet.version (version, release) values (1, '0.1.0');
  end if;

  ---------------------------------------------------------------------------------------------------- Reading what comes

  -- The time now. It is the only clock of the gate: a test can put another in its place.
  create or replace function etb_wallet.clock() returns timestamptz
  language sql volatile set search_path = etb_wallet, pg_temp as $f$
    select clock_timestamp()
  $f$;

  -- The elements of a list. Those that PostgreSQL cannot read, such as a text with U+0000, are null, and the others are not hurt.
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

  -- Text without white space around it, or null. Spreadsheets turn identifiers into numbers, so whole numbers are text too.
  create or replace function etb_wallet.plain_text(p_value jsonb) returns text
  language plpgsql immutable set search_path = etb_wallet, pg_temp as $f$
  begin
    return case jsonb_typeof(p_value)
      when 'string' then nullif(btrim(p_value #>> '{}', E' \t\n\r\f\u000b\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff'), '')
      when 'number' then case when p_value #>> '{}' ~ '^-?[0-9]{1,15}$' then p_value #>> '{}' end
    end;
  end $f$;

  -- How many digits of a number count: 1200.50 has 4
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

  -- Why a reference is not taken, in the words of the ETB Wallet node, or null: what looks the same has to be the same.
  create or replace function etb_wallet.problem_of_reference(p_reference text) returns text
  language plpgsql immutable set search_path = etb_wallet, pg_temp as $f$
  declare
    v_shown text := to_json(left(p_reference, 60))::text;
    v_found text;
  begin
    if p_reference is null then
      return 'Reference is empty: give each payment a text of its own';
    elsif length(p_reference) > 200 then
      return format('Reference is %s, which is longer than 200 characters', v_shown);
    elsif p_reference ~ '^[ -~]*$' then
      return null;
    end if;
    v_found := substring(p_reference from E'[\u0001-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]');
    if v_found is not null then
      return format('Reference is %s, which has an invisible character (U+%s)', v_shown, upper(lpad(to_hex(ascii(v_found)), greatest(4, length(to_hex(ascii(v_found)))), '0')));
    end if;
    v_found := substring(p_reference from E'[\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]');
    if v_found is not null then
      return format('Reference is %s, which has a blank that is not a plain one (U+%s)', v_shown, upper(lpad(to_hex(ascii(v_found)), greatest(4, length(to_hex(ascii(v_found)))), '0')));
    elsif normalize(p_reference, nfc) <> p_reference then
      return format('Reference is %s, which is not in Unicode''s composed form', v_shown);
    end if;
    return null;
  end $f$;

  -- References with the same look differ only in case, blanks or compatibility forms, such as ２ and 2.
  -- (The locale C knows no case but that of ASCII, so ICU's is asked where PostgreSQL has it.)
  execute format($execute$
    create or replace function etb_wallet.look_of(p_reference text) returns text
    language plpgsql immutable set search_path = etb_wallet, pg_temp as $f$
    begin
      return replace(lower(normalize(p_reference, nfkc) %s), ' ', '');
    end $f$
  $execute$, (select 'collate pg_catalog."und-x-icu"' from pg_collation where collname = 'und-x-icu' and collnamespace = 'pg_catalog'::regnamespace));
  comment on function etb_wallet.look_of is 'References with the same look differ only in case, blanks or compatibility forms';

  -- The fields of an item of a list, and why it is not taken, or null
  create or replace function etb_wallet.read_item(
    p_item jsonb, out reference text, out to_user_id text, out amount_etb numeric, out requested_by text, out tx_hash text, out problem text
  ) language plpgsql immutable set search_path = etb_wallet, pg_temp as $f$
  begin
    reference := plain_text(p_item -> 'reference');
    to_user_id := plain_text(p_item -> 'toUserId');
    amount_etb := plain_amount(p_item -> 'amountEtb');
    requested_by := coalesce(plain_text(p_item -> 'requestedBy'), '');
    tx_hash := plain_text(p_item -> 'txHash');
    problem := case
      when p_item is null then 'It cannot be read: it holds a character that PostgreSQL does not keep, such as U+0000'
      when problem_of_reference(reference) is not null then problem_of_reference(reference)
      when to_user_id is null then 'It has no toUserId: the ID that User → Create returned'
      when amount_etb is null then format('Its amountEtb is not a plain amount, such as 1250.50: %s', left(coalesce(p_item ->> 'amountEtb', 'empty'), 40))
      -- It is sent as a text, of which the node takes no third decimal, not even a zero: 1.250 may be one thousand.
      when scale(amount_etb) > 2 or (jsonb_typeof(p_item -> 'amountEtb') = 'string' and p_item ->> 'amountEtb' ~ '[.][0-9]{3}') then
        format('Its amountEtb is %s, which has more than two decimals. If its point stands between thousands, leave it out, such as 1250. Otherwise round to two decimals, such as 1250.50', to_json(left(p_item ->> 'amountEtb', 40)))
      when requested_by = '' and jsonb_typeof(p_item -> 'requestedBy') not in ('null', 'string') then 'Its requestedBy is not text'
      when greatest(length(to_user_id), length(requested_by), length(tx_hash)) > 200 then 'Its toUserId, requestedBy or txHash is longer than 200 characters'
    end;
  end $f$;
  comment on function etb_wallet.clock is 'The time now. It is the only clock of the gate: a test can put another in its place.';
  comment on function etb_wallet.elements is 'The elements of a list. Those that PostgreSQL cannot read, such as a text with U+0000, are null, and the others are not hurt.';
  comment on function etb_wallet.plain_text is 'Text without white space around it, or null. Spreadsheets turn identifiers into numbers, so whole numbers are text too.';
  comment on function etb_wallet.digits is 'How many digits of a number count: 1200.50 has 4';
  comment on function etb_wallet.plain_amount is 'An amount as the ETB Wallet node reads it, so that what is recorded is what is sent: above zero, at most 15 digits; what a calculation adds to a number (0.30000000000000004) goes. Null is: not a plain amount.';
  comment on function etb_wallet.problem_of_reference is 'Why a reference is not taken, in the words of the ETB Wallet node, or null: what looks the same has to be the same.';
  comment on function etb_wallet.read_item is 'The fields of an item of a list, and why it is not taken, or null';

  ------------------------------------------------------------------------------------------------------- Parts of deciding

  -- Takes the lock of a budget, and gives its rules. @throws when there is no such budget, when the transaction would not see what others wrote, or
  -- when somebody holds the lock too long
  create or replace function etb_wallet.take_lock(p_budget text) returns etb_wallet.rules
  language plpgsql set search_path = etb_wallet, pg_temp set lock_timeout = '10s' as $f$
  declare
    v_rules rules;
  begin
    if current_setting('transaction_isolation') <> 'read committed' then
      raise exception 'The pay gate needs the isolation level READ COMMITTED, and this transaction is %', upper(current_setting('transaction_isolation'));
    end if;
    -- What is told must survive a crash, whatever the server's or the login's setting. (It holds for the rest of the transaction.)
    if current_setting('synchronous_commit') = 'off' then
      perform set_config('synchronous_commit', 'on', true);
    end if;
    select * into v_rules from rules r where r.budget = p_budget for update;
    if not found then
      raise exception 'The pay gate has no rules for the budget "%", so nobody is paid', p_budget
        using hint = 'Run the workflow "Pay gate set-up", or save limits at the desk.';
    end if;
    return v_rules;
  end $f$;

  -- Says who holds the lock of a budget, as an error
  create or replace function etb_wallet.say_who_holds(p_budget text) returns void
  language plpgsql set search_path = etb_wallet, pg_temp as $f$
  declare
    v_holders text := (
      select string_agg(format('%s (login %s)', a.pid, a.usename), ', ') from pg_stat_activity a
      where a.pid <> pg_backend_pid() and not exists (select from pg_locks l where l.pid = a.pid and not l.granted)
        and exists (select from pg_locks l where l.pid = a.pid and l.relation = 'rules'::regclass and l.mode <> 'AccessShareLock')
        and exists (select from pg_locks l where l.pid = a.pid and l.locktype = 'transactionid') -- it wrote something; who only waited has none
    );
    -- A transaction that was prepared has no connection any more.
    v_prepared text := (
      select string_agg(format('prepared transaction %L (login %s)', x.gid, x.owner), ', ') from pg_prepared_xacts x
      join pg_locks t on t.transactionid = x.transaction and t.granted
      join pg_locks l on l.virtualtransaction = t.virtualtransaction and l.pid is null and l.relation = 'rules'::regclass
    );
  begin
    raise exception 'The pay gate waited 10 seconds for a connection that holds the budget "%": %', p_budget,
      coalesce(v_prepared, v_holders, 'it has let go just now')
      using errcode = 'lock_not_available', hint = 'Somebody forgot a transaction that is open. An administrator ends it: '
        || case when v_prepared is null then 'select pg_terminate_backend(number)' else 'rollback prepared name' end;
  end $f$;

  -- Lets one transaction at a time decide for a budget, and gives its rules. (claim does without this block: the lock that it lets go while it waits
  -- must be of the block that it leaves, else others wait for the end of its transaction.)
  create or replace function etb_wallet.lock_budget(p_budget text) returns etb_wallet.rules
  language plpgsql set search_path = etb_wallet, pg_temp as $f$
  begin
    return take_lock(p_budget);
  exception when lock_not_available then
    perform say_who_holds(p_budget);
  end $f$;

  -- The attempt that says what the payment with a reference is: a paid one, else one that may be paid, else the last one; null when there is none
  create or replace function etb_wallet.deciding_attempt(p_budget text, p_reference text) returns etb_wallet.payment
  language plpgsql stable set search_path = etb_wallet, pg_temp as $f$
  declare
    v_row payment;
  begin
    select * into v_row from payment p where p.budget = p_budget and p.reference = p_reference
    order by array_position(array['paid', 'sending', 'unknown', 'notPaid'], p.state), p.attempt desc limit 1;
    return v_row;
  end $f$;

  -- Whether another claim is sending one of these references
  create or replace function etb_wallet.is_awaited(p_budget text, p_references text[], p_now timestamptz) returns boolean
  language plpgsql stable set search_path = etb_wallet, pg_temp as $f$
  begin
    -- (offset 0: each reference is looked up by the primary key, whatever the planner thinks of the tables' sizes)
    return exists (
      select from unnest(p_references) w (reference)
      cross join lateral (
        select p.state, p.lease_until from payment p where p.budget = p_budget and p.reference = w.reference offset 0
      ) p
      where p.state = 'sending' and p.lease_until > p_now
    );
  end $f$;

  -- Adds to what is spent or reserved, for the budget, each person and each caller; with amounts below zero money is given back
  create or replace function etb_wallet.reserve(p_budget text, p_day date, p_to text[], p_by text[], p_amounts numeric[]) returns void
  language plpgsql volatile set search_path = etb_wallet, pg_temp as $f$
  begin
    insert into spent as s (budget, scope, who, period, starts_on, amount_etb)
    select p_budget, x.scope, x.who, y.period, y.starts_on, sum(t.amount_etb)
    from unnest(p_to, p_by, p_amounts) t (to_user_id, requested_by, amount_etb)
    cross join lateral (values ('budget', ''), ('recipient', t.to_user_id), ('caller', t.requested_by)) x (scope, who)
    cross join (values ('day', p_day), ('month', date_trunc('month', p_day)::date)) y (period, starts_on)
    group by x.scope, x.who, y.period, y.starts_on
    on conflict (budget, scope, who, period, starts_on) do update set amount_etb = s.amount_etb + excluded.amount_etb;
  end $f$;

  -- Why the rules do not allow a payment, or null. p_claimed, p_claimed_to, p_claimed_by: what this claim hands out already, altogether, to this
  -- person and for this caller.
  create or replace function etb_wallet.objection(
    p_rules etb_wallet.rules, p_to_user_id text, p_requested_by text, p_amount numeric, p_day date,
    p_claimed numeric, p_claimed_to numeric, p_claimed_by numeric
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
    if p_rules.only_known_recipients and not exists (select from recipient k where k.budget = p_rules.budget and k.to_user_id = p_to_user_id) then
      return 'The recipient is not on the list of known recipients';
    end if;
    select * into v_caller from caller c where c.budget = p_rules.budget and c.requested_by = p_requested_by;
    if p_rules.only_known_callers and not found then
      return format('The caller "%s" (requestedBy) is not on the list of known callers', p_requested_by);
    end if;
    if v_caller.paused then
      return format('Payments of the caller "%s" are paused', p_requested_by);
    end if;
    for v_limit in
      select * from (values
        ('budget', '', null, p_rules.most_per_payment, 'for one payment', 0),
        ('caller', p_requested_by, null, v_caller.most_per_payment, 'for one payment of this caller', 0),
        ('recipient', p_to_user_id, 'day', p_rules.most_per_recipient_per_day, 'for one recipient and day', p_claimed_to),
        ('recipient', p_to_user_id, 'month', p_rules.most_per_recipient_per_month, 'for one recipient and month', p_claimed_to),
        ('caller', p_requested_by, 'day', v_caller.most_per_day, 'for this caller and day', p_claimed_by),
        ('caller', p_requested_by, 'month', v_caller.most_per_month, 'for this caller and month', p_claimed_by),
        ('budget', '', 'day', p_rules.most_per_day, 'for one day', p_claimed),
        ('budget', '', 'month', p_rules.most_per_month, 'for one month', p_claimed)
      ) l (scope, who, period, most, words, claimed)
      where l.most is not null
    loop
      if v_limit.period is null then
        if p_amount > v_limit.most then
          return format('Above the most %s, %s ETB', v_limit.words, v_limit.most);
        end if;
      else
        v_spent := v_limit.claimed + coalesce((
          select s.amount_etb from spent s
          where s.budget = p_rules.budget and s.scope = v_limit.scope and s.who = v_limit.who and s.period = v_limit.period
            and s.starts_on = date_trunc(v_limit.period, p_day)::date
        ), 0);
        if v_spent + p_amount > v_limit.most then
          return format('Above the most %s, %s ETB, of which %s are spent or reserved', v_limit.words, v_limit.most, v_spent);
        end if;
      end if;
    end loop;
    return null;
  end $f$;

  -- Adds a line about an attempt to the history
  create or replace function etb_wallet.write_down(
    p_at timestamptz, p_payment etb_wallet.payment, p_event text, p_execution text, p_by_person text, p_detail text
  ) returns void
  language plpgsql volatile set search_path = etb_wallet, pg_temp as $f$
  begin
    insert into history (at, budget, event, reference, attempt, to_user_id, amount_etb, requested_by, claim, execution, by_person, detail)
    values (p_at, p_payment.budget, p_event, p_payment.reference, p_payment.attempt, p_payment.to_user_id, p_payment.amount_etb, p_payment.requested_by,
      p_payment.claim, p_execution, p_by_person, p_detail);
  end $f$;
  comment on function etb_wallet.take_lock is 'Takes the lock of a budget, and gives its rules. @throws when there is no such budget, when the transaction would not see what others wrote, or when somebody holds the lock too long';
  comment on function etb_wallet.say_who_holds is 'Says who holds the lock of a budget, as an error';
  comment on function etb_wallet.lock_budget is 'Lets one transaction at a time decide for a budget, and gives its rules. (claim does without this block: the lock that it lets go while it waits must be of the block that it leaves, else others wait for the end of its transaction.)';
  comment on function etb_wallet.deciding_attempt is 'The attempt that says what the payment with a reference is: a paid one, else one that may be paid, else the last one; null when there is none';
  comment on function etb_wallet.is_awaited is 'Whether another claim is sending one of these references';
  comment on function etb_wallet.reserve is 'Adds to what is spent or reserved, for the budget, each person and each caller; with amounts below zero money is given back';
  comment on function etb_wallet.objection is 'Why the rules do not allow a payment, or null. p_claimed, p_claimed_to, p_claimed_by: what this claim hands out already, altogether, to this person and for this caller.';
  comment on function etb_wallet.write_down is 'Adds a line about an attempt to the history';

  --------------------------------------------------------------------------------------------------------------- The gate

  -- For the gate: decides each item of a window, in order, in one transaction, and hands out what is to be sent now.
  -- p_items: [{reference, toUserId, amountEtb, requestedBy}]. p_clock: the caller's time now; without it the database's counts.
  -- p_version: of the tables that the caller was made for. items: one for each item, in order: {decision, outcome, reference, toUserId, amountEtb,
  -- txHash, reason}; outcome is null where it is still to be sent. send: what to send now, in order: {reference, toUserId, amountEtb, claim, notAfter,
  -- execution}. claim: the proof that record asks for. not_after: nothing of it may be sent later than that, by the caller's clock. p_execution comes
  -- back in send: the ETB Wallet node sends what its own execution claimed, and nothing else.
  create or replace function etb_wallet.claim(
    p_budget text, p_items json, p_execution text default null, p_clock timestamptz default null, p_version integer default 1,
    out items jsonb, out send jsonb, out claim uuid, out not_after text
  ) language plpgsql volatile security definer set search_path = etb_wallet, pg_temp set enable_seqscan = off set jit = off as $f$
  #variable_conflict use_column
  declare
    v_version version;
    v_items jsonb[] := elements(p_items);
    v_claim uuid := gen_random_uuid();
    v_rules rules;
    v_now timestamptz;
    v_wait_until timestamptz;
    v_day date;
    v_not_after text;
    v_references text[] := array(select plain_text(i -> 'reference') from unnest(v_items) i);
    -- What this claim hands out: altogether, to each person and for each caller, by their numbers in it.
    v_claimed numeric := 0;
    v_claimed_to numeric[] := array_fill(0::numeric, array[cardinality(v_items)]);
    v_claimed_by numeric[] := v_claimed_to;
    v_item record;
    v_looks_like text;
    v_row payment;
    v_decision text; v_reason text; v_tx_hash text;
    v_told jsonb[] := '{}'; v_send jsonb[] := '{}';
    v_to text[] := '{}'; v_by text[] := '{}'; v_amounts numeric[] := '{}';
  begin
    select * into v_version from version v order by v.version desc limit 1;
    if p_version is distinct from v_version.version then
      raise exception 'The workflow needs version % of the pay gate, and this database has version %', p_version, v_version.version
        using hint = case when p_version < v_version.version then format('Import pay-gate.json of release %s in the place of the old one, and publish it.', v_version.release)
          else 'Run gate-set-up.json of the release that the workflow is from.' end;
    end if;

    -- A reference that another claim is sending is waited for, without the lock: leaving the block by the exception lets it go. A waiting claim has
    -- handed out nothing yet, so nobody waits in a circle.
    select clock() + least(r.wait, r.lease) into v_wait_until from rules r where r.budget = p_budget;
    loop
      begin
        v_rules := take_lock(p_budget);
        v_now := clock();
        exit when v_now >= v_wait_until or not is_awaited(p_budget, v_references, v_now);
        raise sqlstate 'EW001';
      exception
        when sqlstate 'EW001' then null;
        when lock_not_available then perform say_who_holds(p_budget);
      end;
      while clock() < v_wait_until and is_awaited(p_budget, v_references, clock()) loop
        perform pg_sleep(0.05);
      end loop;
    end loop;

    v_day := (v_now at time zone v_rules.time_zone)::date;
    -- Half of the lease is left for a request that was begun at the last moment. By the caller's clock, which may be another.
    v_not_after := to_char((coalesce(p_clock, v_now) + v_rules.lease / 2) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

    for v_item in
      select r.*, dense_rank() over (order by r.to_user_id) as person, dense_rank() over (order by r.requested_by) as caller,
        first_value(r.reference) over (partition by case when r.problem is null then look_of(r.reference) end order by i.n) as first_like_it
      from unnest(v_items) with ordinality i (item, n), read_item(i.item) r order by i.n
    loop
      v_decision := 'notPaid'; v_reason := v_item.problem; v_tx_hash := null;
      if v_reason is null then
        v_row := deciding_attempt(p_budget, v_item.reference);
        -- Who was certainly not paid, by the service's word and no person's, leaves the reference free: a wrong user ID can be corrected.
        if (v_row.to_user_id <> v_item.to_user_id or v_row.amount_etb <> v_item.amount_etb) and (v_row.state <> 'notPaid' or exists (
          select from payment p where p.budget = p_budget and p.reference = v_item.reference and p.settled_by is not null
        )) then
          -- (An agent that guesses references does not learn who got how much.)
          v_reason := 'Its reference belongs to another payment: ' || case when v_row.requested_by = v_item.requested_by
            then format('%s ETB to %s', v_row.amount_etb, v_row.to_user_id) else 'look for it at the desk' end;
        elsif v_row.claim = v_claim then
          v_reason := 'The list names its reference twice: only the first one is sent';
        elsif v_row.state = 'paid' then
          v_decision := 'alreadyPaid'; v_tx_hash := v_row.tx_hash; v_reason := 'It was paid before, and is not sent again';
        elsif v_row.state = 'sending' and v_row.lease_until > v_now then
          v_decision := 'inFlight'; v_reason := 'Another execution is sending it';
        elsif v_row.state in ('sending', 'unknown') then
          v_decision := 'unknown'; v_tx_hash := v_row.tx_hash;
          v_reason := coalesce(v_row.reason, 'It was handed out for sending, and how that ended was never recorded. Ask the partner service, then settle it');
          if v_row.state = 'sending' then
            update payment p set state = 'unknown', reason = v_reason
            where p.budget = p_budget and p.reference = v_row.reference and p.attempt = v_row.attempt;
            perform write_down(v_now, v_row, 'leaseEnded', p_execution, null, null);
          end if;
        else
          -- New, or not paid last time. One that looks like another of the list, or of an earlier window of the same execution, is refused.
          v_looks_like := coalesce(nullif(v_item.first_like_it, v_item.reference), (
            select p.reference from payment p
            where p.budget = p_budget and p.look = look_of(v_item.reference) and p.execution = p_execution and p.reference <> v_item.reference limit 1
          ));
          v_reason := case when v_looks_like is null
            then objection(v_rules, v_item.to_user_id, v_item.requested_by, v_item.amount_etb, v_day, v_claimed, v_claimed_to[v_item.person], v_claimed_by[v_item.caller])
            else format('Reference is %s, which looks like %s of this list', to_json(left(v_item.reference, 60)), to_json(left(v_looks_like, 60))) end;
          v_decision := case when v_reason is null then 'send' else 'notPaid' end;
        end if;
      end if;

      if v_decision = 'send' then
        insert into payment as p (budget, reference, attempt, look, to_user_id, amount_etb, state, requested_by, claim, execution, claimed_at, lease_until, spent_on)
        values (p_budget, v_item.reference, coalesce((select max(o.attempt) from payment o where o.budget = p_budget and o.reference = v_item.reference), 0) + 1,
          look_of(v_item.reference), v_item.to_user_id, v_item.amount_etb, 'sending', v_item.requested_by, v_claim, p_execution, v_now, v_now + v_rules.lease, v_day)
        returning p.* into v_row;
        perform write_down(v_now, v_row, 'send', p_execution, null, null);
        v_claimed := v_claimed + v_item.amount_etb;
        v_claimed_to[v_item.person] := v_claimed_to[v_item.person] + v_item.amount_etb;
        v_claimed_by[v_item.caller] := v_claimed_by[v_item.caller] + v_item.amount_etb;
        v_to := array_append(v_to, v_item.to_user_id); v_by := array_append(v_by, v_item.requested_by); v_amounts := array_append(v_amounts, v_item.amount_etb);
        v_send := array_append(v_send, jsonb_build_object(
          'reference', v_item.reference, 'toUserId', v_item.to_user_id, 'amountEtb', v_item.amount_etb::text, 'claim', v_claim, 'notAfter', v_not_after,
          'execution', p_execution));
      elsif v_decision = 'notPaid' then
        insert into history (at, budget, event, reference, to_user_id, amount_etb, requested_by, claim, execution, detail)
        values (v_now, p_budget, 'refused', v_item.reference, v_item.to_user_id, v_item.amount_etb, v_item.requested_by, v_claim, p_execution, v_reason);
      end if;
      v_told := array_append(v_told, jsonb_build_object('decision', v_decision, 'outcome', nullif(v_decision, 'send'), 'txHash', v_tx_hash, 'reason', v_reason)
        || jsonb_strip_nulls(jsonb_build_object('reference', v_item.reference, 'toUserId', v_item.to_user_id, 'amountEtb', v_item.amount_etb)));
    end loop;

    perform reserve(p_budget, v_day, v_to, v_by, v_amounts);
    items := to_jsonb(v_told); send := to_jsonb(v_send); claim := v_claim; not_after := v_not_after;
  end $f$;
  comment on function etb_wallet.claim is 'For the gate: decides each item of a window, in order, in one transaction, and hands out what is to be sent now. p_items: [{reference, toUserId, amountEtb, requestedBy}]. p_clock: the caller''s time now; without it the database''s counts. p_version: of the tables that the caller was made for. items: one for each item, in order: {decision, outcome, reference, toUserId, amountEtb, txHash, reason}; outcome is null where it is still to be sent. send: what to send now, in order: {reference, toUserId, amountEtb, claim, notAfter, execution}. claim: the proof that record asks for. not_after: nothing of it may be sent later than that, by the caller''s clock. p_execution comes back in send: the ETB Wallet node sends what its own execution claimed, and nothing else.';

  -- For the gate: records how the attempts of a claim ended. p_items: what claim gave as items. p_answers: what the ETB Wallet node gave for send, in
  -- its order: one for each, also for errors. It ends only what this claim handed out, and never changes what is paid. What was not
  -- paid, also in the words of a person, it opens again when a later answer says paid or unknown. It can be repeated. items: each with its outcome, in order.
  create or replace function etb_wallet.record(
    p_budget text, p_claim uuid, p_items json, p_answers json, p_execution text default null, out items jsonb
  ) language plpgsql volatile security definer set search_path = etb_wallet, pg_temp set enable_seqscan = off set jit = off as $f$
  declare
    v_items jsonb[] := elements(p_items);
    v_answers jsonb[] := elements(p_answers);
    v_rules rules := lock_budget(p_budget);
    v_now timestamptz := clock();
    v_is_complete boolean;
    v_sent integer := 0;
    v_item jsonb; v_answer jsonb;
    v_row payment;
    v_event text; v_outcome text; v_tx_hash text; v_reason text; v_before text;
    v_sign integer;
    v_day date; v_to text[] := '{}'; v_by text[] := '{}'; v_amounts numeric[] := '{}';
    v_told jsonb[] := '{}';
  begin
    -- With "On Error: Continue" n8n puts the node's answer under error.
    v_answers := array(select case when jsonb_typeof(a -> 'error') = 'object' then a || (a -> 'error') else a end from unnest(v_answers) a);
    v_is_complete := cardinality(v_answers) = (select count(*) from unnest(v_items) i where i ->> 'decision' = 'send');
    foreach v_item in array v_items loop
      v_outcome := v_item ->> 'decision'; v_tx_hash := v_item ->> 'txHash'; v_reason := v_item ->> 'reason';

      if v_outcome = 'send' then
        v_sent := v_sent + 1;
        v_answer := v_answers[v_sent];
        -- A dry run sent nothing.
        v_outcome := case v_answer ->> 'outcome' when 'ready' then 'notPaid' else v_answer ->> 'outcome' end;
        v_tx_hash := nullif(left(v_answer ->> 'txHash', 200), ''); -- what is longer no index takes
        v_reason := case when v_outcome <> 'paid' then nullif(concat_ws('. ', rtrim(v_answer ->> 'message', '. '), v_answer ->> 'description'), '') end;
        -- What the node did not say clearly, about this payment, is unknown.
        if not v_is_complete or v_outcome is null or v_outcome not in ('paid', 'notPaid', 'unknown')
          or v_answer ->> 'toUserId' is distinct from v_item ->> 'toUserId'
          or coalesce(v_answer ->> 'reference', v_item ->> 'reference') is distinct from v_item ->> 'reference'
        then
          v_outcome := 'unknown'; v_tx_hash := null;
          v_reason := 'The ETB Wallet node did not say how it ended. Ask the partner service, then settle it';
        end if;

        select * into v_row from payment p where p.budget = p_budget and p.reference = v_item ->> 'reference' and p.claim = p_claim order by p.attempt limit 1;
        v_before := coalesce(v_row.settled_by || ' settled it', 'It was recorded') || ' as not paid';
        if v_outcome = 'paid' and v_row.state = 'paid' and v_tx_hash <> v_row.tx_hash and not exists (
          select from payment p where p.budget = p_budget and p.reference = v_row.reference and p.tx_hash = v_tx_hash
        ) then
          -- Another txHash is another payment. It gets an attempt of its own, which was not paid until now.
          v_before := 'This claim was paid before, as ' || v_row.tx_hash;
          v_row.attempt := (select max(p.attempt) + 1 from payment p where p.budget = p_budget and p.reference = v_row.reference);
          v_row.state := 'notPaid'; v_row.confirmed_by := null;
          insert into payment values (v_row.*);
        end if;
        v_event := case
          when v_row.state = 'sending' then v_outcome
          when v_row.settled_by is null and v_row.state = 'unknown' and v_outcome = 'paid' then v_outcome
          when v_row.settled_by is null and v_row.state = 'unknown' and v_outcome = 'notPaid' and v_row.answer is null then v_outcome -- only its lease had ended
          when v_row.state = 'notPaid' and v_outcome = 'paid' then 'latePaid'
          -- (An answer that was recorded before a person settled it is no news.)
          when v_row.state = 'notPaid' and v_outcome = 'unknown' and v_row.answer is distinct from 'unknown' then 'lateUnknown'
          when v_row.answer is distinct from v_outcome then 'lateAnswer'
        end;
        if v_event = 'lateAnswer' then
          -- It changes nothing, but that a txHash is kept. (Without v_row: no claim of this record handed it out.)
          insert into history (at, budget, event, reference, attempt, to_user_id, amount_etb, claim, execution, detail)
          values (v_now, p_budget, v_event, v_item ->> 'reference', v_row.attempt, v_item ->> 'toUserId', plain_amount(v_item -> 'amountEtb'), p_claim, p_execution,
            concat_ws(' ', v_outcome, v_tx_hash, v_reason));
          update payment p set answer = v_outcome, tx_hash = case when p.state = 'paid' and v_outcome = 'paid' then coalesce(p.tx_hash, v_tx_hash) else p.tx_hash end
          where p.budget = p_budget and p.reference = v_row.reference and p.attempt = v_row.attempt;
        elsif v_event is not null then
          if v_event in ('latePaid', 'lateUnknown') then
            v_reason := concat_ws(' ', format('%s. Later another answer came: %s.', v_before, v_outcome), v_reason);
          end if;
          -- What was given back counts as spent again; what was not paid is given back. All of one claim is of one day.
          v_sign := case when v_event in ('latePaid', 'lateUnknown') then 1 when v_event = 'notPaid' then -1 end;
          if v_sign is not null then
            v_day := v_row.spent_on;
            v_to := array_append(v_to, v_row.to_user_id); v_by := array_append(v_by, v_row.requested_by); v_amounts := array_append(v_amounts, v_sign * v_row.amount_etb);
          end if;
          update payment p set
            state = v_outcome, answer = v_outcome, tx_hash = v_tx_hash, reason = v_reason, ended_at = v_now, settled_by = null,
            surprise = case
              when v_outcome = 'paid' and (deciding_attempt(p_budget, p.reference)).state = 'paid' then 'paidTwice'
              when v_event = 'latePaid' then 'paidAfterAll'
            end,
            confirmed_at = (select c.received_at from confirmation c where v_outcome = 'paid' and c.budget = p_budget and c.tx_hash = v_tx_hash)
          where p.budget = p_budget and p.reference = v_row.reference and p.attempt = v_row.attempt;
          perform write_down(v_now, v_row, v_event, p_execution, null, coalesce(v_tx_hash, v_reason));
        end if;
        if v_outcome <> 'paid' and (v_event is null or v_event = 'lateAnswer') then
          -- What the payment is, by this or another attempt.
          v_row := deciding_attempt(p_budget, v_item ->> 'reference');
          v_outcome := case v_row.state when 'paid' then 'alreadyPaid' when 'sending' then 'inFlight' else coalesce(v_row.state, v_outcome) end;
          v_tx_hash := v_row.tx_hash; v_reason := coalesce(v_row.reason, v_reason);
        end if;
      elsif v_outcome = 'inFlight' then
        v_row := deciding_attempt(p_budget, v_item ->> 'reference');
        if v_row.state <> 'sending' then
          -- It ended while this window was sent.
          v_outcome := case v_row.state when 'paid' then 'alreadyPaid' else v_row.state end;
          v_tx_hash := v_row.tx_hash;
          v_reason := case v_row.state when 'paid' then 'Another execution paid it just now' else v_row.reason end;
        end if;
      end if;
      v_told := array_append(v_told, v_item || jsonb_build_object('outcome', v_outcome, 'txHash', v_tx_hash, 'reason', v_reason));
    end loop;
    perform reserve(p_budget, v_day, v_to, v_by, v_amounts);
    items := to_jsonb(v_told);
  end $f$;
  comment on function etb_wallet.record is 'For the gate: records how the attempts of a claim ended. p_items: what claim gave as items. p_answers: what the ETB Wallet node gave for send, in its order: one for each, also for errors. It ends only what this claim handed out, and never changes what is paid. What was not paid, also in the words of a person, it opens again when a later answer says paid or unknown. It can be repeated. items: each with its outcome, in order.';

  -- For the gate: marks what was paid as confirmed, when the event disburse.completed tells its txHash. An event that comes before its answer is kept.
  -- @returns how many payments it confirmed now
  create or replace function etb_wallet.confirm(p_budget text, p_tx_hash text) returns integer
  language plpgsql volatile security definer set search_path = etb_wallet, pg_temp set enable_seqscan = off set jit = off as $f$
  declare
    v_rules rules := lock_budget(p_budget);
    v_now timestamptz := clock();
    v_row payment;
    v_count integer := 0;
  begin
    if coalesce(p_tx_hash, '') = '' then
      raise exception 'The event has no txHash, so nothing tells which payment it confirms';
    end if;
    insert into confirmation (budget, tx_hash, received_at) values (p_budget, p_tx_hash, v_now) on conflict do nothing;
    for v_row in
      update payment p set confirmed_at = v_now
      where p.budget = p_budget and p.tx_hash = p_tx_hash and p.state = 'paid' and p.confirmed_at is null
      returning p.*
    loop
      perform write_down(v_now, v_row, 'confirmed', null, null, p_tx_hash);
      v_count := v_count + 1;
    end loop;
    return v_count;
  end $f$;
  comment on function etb_wallet.confirm is 'For the gate: marks what was paid as confirmed, when the event disburse.completed tells its txHash. An event that comes before its answer is kept. @returns how many payments it confirmed now';

  --------------------------------------------------------------------------------------------------------------- The desk

  -- Who does it, without blanks around the name. @throws when nobody is named
  create or replace function etb_wallet.person(p_by text) returns text
  language plpgsql immutable set search_path = etb_wallet, pg_temp as $f$
  begin
    if coalesce(btrim(p_by), '') = '' then
      raise exception 'Say who does it';
    end if;
    return btrim(p_by);
  end $f$;

  -- The attempt that a person looks at. @throws when there is none
  create or replace function etb_wallet.attempt_of(p_budget text, p_reference text, p_attempt integer) returns etb_wallet.payment
  language plpgsql stable set search_path = etb_wallet, pg_temp as $f$
  declare
    v_row payment;
  begin
    select * into v_row from payment p where p.budget = p_budget and p.reference = p_reference and p.attempt = p_attempt;
    if not found then
      raise exception 'The budget "%" has no payment with the reference "%" and the attempt %', p_budget, p_reference, coalesce(p_attempt::text, '(none given)');
    end if;
    return v_row;
  end $f$;

  -- For the desk: a person says what became of an attempt, the one that they asked the partner service about. "Not paid" only of what is unknown: then
  -- it may be sent again. "Paid" also of what was taken for not paid, unless it was sent again since. Of a payment that is paid it only takes a
  -- surprise off the list. @returns the state
  create or replace function etb_wallet.settle(p_budget text, p_reference text, p_attempt integer, p_was_paid boolean, p_by text, p_note text) returns text
  language plpgsql volatile security definer set search_path = etb_wallet, pg_temp set enable_seqscan = off set jit = off as $f$
  declare
    v_rules rules := lock_budget(p_budget);
    v_now timestamptz := clock();
    v_by text := person(p_by);
    v_row payment := attempt_of(p_budget, p_reference, p_attempt);
    v_state text := case when p_was_paid then 'paid' when not p_was_paid then 'notPaid' end;
    v_lease_until text := to_char(v_row.lease_until at time zone v_rules.time_zone, 'YYYY-MM-DD HH24:MI:SS');
  begin
    if v_state is null then
      raise exception 'Say whether it was paid';
    elsif v_row.state = 'paid' and not (p_was_paid and v_row.surprise is not null) then
      raise exception 'The payment "%" is paid, and stays paid', p_reference;
    elsif v_row.state = 'sending' and v_row.lease_until > v_now then
      raise exception 'The payment "%" is being sent: wait until %', p_reference, v_lease_until;
    elsif not p_was_paid and v_row.state = 'unknown' and v_row.lease_until > v_now then
      -- The answer "unknown" may be of a copy of the execution that is still sending it.
      raise exception 'The payment "%" may still be sent: say that it was not paid after %', p_reference, v_lease_until;
    elsif v_row.state = 'notPaid' and exists (select from payment p where p.budget = p_budget and p.reference = p_reference and p.attempt > p_attempt) then
      raise exception 'The payment "%" was sent again since you looked: look again, and ask the partner service about that', p_reference;
    elsif v_row.state = 'notPaid' and not p_was_paid then
      raise exception 'The payment "%" is known as not paid already', p_reference;
    end if;
    if v_row.state = 'paid' then
      update payment p set surprise = null where p.budget = p_budget and p.reference = p_reference and p.attempt = p_attempt;
      perform write_down(v_now, v_row, 'saidSeen', null, v_by, p_note);
      return 'paid';
    end if;
    if (v_row.state = 'notPaid') = p_was_paid then
      perform reserve(p_budget, v_row.spent_on, array[v_row.to_user_id], array[v_row.requested_by],
        array[case when p_was_paid then v_row.amount_etb else -v_row.amount_etb end]);
    end if;
    update payment p set state = v_state, settled_by = v_by, reason = p_note, ended_at = v_now
    where p.budget = p_budget and p.reference = p_reference and p.attempt = p_attempt;
    perform write_down(v_now, v_row, case when p_was_paid then 'saidPaid' else 'saidNotPaid' end, null, v_by, p_note);
    return v_state;
  end $f$;

  -- For the desk: a person writes down what was paid without the gate, so that the gate pays nobody of the list.
  -- p_items: [{reference, toUserId, amountEtb, txHash}]. It counts as spent only where the gate handed it out once.
  -- items: each with its outcome, in order: written, alreadyPaid, or refused with the reason.
  create or replace function etb_wallet.write_down_paid(p_budget text, p_items json, p_by text, p_note text, out items jsonb)
  language plpgsql volatile security definer set search_path = etb_wallet, pg_temp set enable_seqscan = off set jit = off as $f$
  #variable_conflict use_column
  declare
    v_items jsonb[] := elements(p_items);
    v_rules rules := lock_budget(p_budget);
    v_now timestamptz := clock();
    v_by text := person(p_by);
    v_item record;
    v_row payment;
    v_outcome text; v_reason text;
    v_told jsonb[] := '{}';
  begin
    for v_item in select r.* from unnest(v_items) with ordinality i (item, n), read_item(i.item) r order by i.n loop
      v_row := deciding_attempt(p_budget, v_item.reference);
      v_outcome := 'refused'; v_reason := v_item.problem;
      if v_reason is not null then
        null;
      elsif v_row.to_user_id <> v_item.to_user_id or v_row.amount_etb <> v_item.amount_etb then
        v_reason := format('Its reference belongs to another payment: %s ETB to %s', v_row.amount_etb, v_row.to_user_id);
      elsif v_row.state = 'sending' and v_row.lease_until > v_now then
        v_reason := 'The gate is sending it now';
      elsif v_row.state = 'paid' then
        v_outcome := 'alreadyPaid'; v_reason := 'It is recorded as paid';
      elsif v_row.state is not null then
        perform settle(p_budget, v_row.reference, v_row.attempt, true, v_by, p_note);
        update payment p set tx_hash = coalesce(p.tx_hash, v_item.tx_hash) where p.budget = p_budget and p.reference = v_row.reference and p.attempt = v_row.attempt;
        v_outcome := 'written';
      else
        insert into payment as p (budget, reference, attempt, look, to_user_id, amount_etb, state, requested_by, claimed_at, lease_until, ended_at, tx_hash, reason, settled_by)
        values (p_budget, v_item.reference, 1, look_of(v_item.reference), v_item.to_user_id, v_item.amount_etb, 'paid', v_item.requested_by, v_now, v_now, v_now, v_item.tx_hash, p_note, v_by)
        returning p.* into v_row;
        perform write_down(v_now, v_row, 'saidPaidBefore', null, v_by, p_note);
        v_outcome := 'written';
      end if;
      v_told := array_append(v_told, jsonb_build_object('outcome', v_outcome, 'reason', v_reason, 'reference', v_item.reference, 'toUserId', v_item.to_user_id,
        'amountEtb', v_item.amount_etb, 'txHash', coalesce(v_row.tx_hash, v_item.tx_hash)));
    end loop;
    items := to_jsonb(v_told);
  end $f$;

  -- For the desk: a person says that a paid payment needs no event disburse.completed any more
  create or replace function etb_wallet.confirm_by_hand(p_budget text, p_reference text, p_attempt integer, p_by text, p_note text) returns void
  language plpgsql volatile security definer set search_path = etb_wallet, pg_temp set enable_seqscan = off set jit = off as $f$
  declare
    v_rules rules := lock_budget(p_budget);
    v_now timestamptz := clock();
    v_by text := person(p_by);
    v_row payment := attempt_of(p_budget, p_reference, p_attempt);
  begin
    if coalesce(btrim(p_note), '') = '' then
      raise exception 'Say why the payment "%" needs no confirmation', p_reference;
    elsif v_row.state <> 'paid' or v_row.confirmed_at is not null then
      raise exception 'The payment "%" does not wait for a confirmation', p_reference;
    end if;
    update payment p set confirmed_at = v_now, confirmed_by = v_by where p.budget = p_budget and p.reference = p_reference and p.attempt = p_attempt;
    perform write_down(v_now, v_row, 'saidConfirmed', null, v_by, p_note);
  end $f$;
  comment on function etb_wallet.person is 'Who does it, without blanks around the name. @throws when nobody is named';
  comment on function etb_wallet.attempt_of is 'The attempt that a person looks at. @throws when there is none';
  comment on function etb_wallet.settle is 'For the desk: a person says what became of an attempt, the one that they asked the partner service about. "Not paid" only of what is unknown: then it may be sent again. "Paid" also of what was taken for not paid, unless it was sent again since. Of a payment that is paid it only takes a surprise off the list. @returns the state';
  comment on function etb_wallet.write_down_paid is 'For the desk: a person writes down what was paid without the gate, so that the gate pays nobody of the list. p_items: [{reference, toUserId, amountEtb, txHash}]. It counts as spent only where the gate handed it out once. items: each with its outcome, in order: written, alreadyPaid, or refused with the reason.';
  comment on function etb_wallet.confirm_by_hand is 'For the desk: a person says that a paid payment needs no event disburse.completed any more';

  -- Refuses changes of rules that do not exist. p_rules: all that there are
  create or replace function etb_wallet.check_names(p_changes jsonb, p_rules jsonb) returns void
  language plpgsql immutable set search_path = etb_wallet, pg_temp as $f$
  declare
    v_unknown text := (select string_agg(k, ', ') from jsonb_object_keys(p_changes) k where not p_rules ? k or k in ('budget', 'requested_by'));
  begin
    if v_unknown is not null then
      raise exception 'There is no rule with this name: %', v_unknown;
    end if;
  end $f$;

  -- For the desk: changes the rules that are named, and sets a budget up that has none. Null takes a limit away. @returns all rules of the budget
  create or replace function etb_wallet.set_rules(p_budget text, p_changes jsonb, p_by text) returns etb_wallet.rules
  language plpgsql volatile security definer set search_path = etb_wallet, pg_temp set enable_seqscan = off set jit = off as $f$
  declare
    v_by text := person(p_by);
    v_rules rules;
  begin
    -- (It looks first: the insert would wait for a transaction that changes the row, and not say for whom.)
    if not exists (select from rules r where r.budget = p_budget) then
      insert into rules (budget) values (p_budget) on conflict do nothing;
    end if;
    v_rules := lock_budget(p_budget);
    perform check_names(p_changes, to_jsonb(v_rules));
    v_rules := jsonb_populate_record(v_rules, p_changes);
    if v_rules.lease not between interval '2 minutes' and interval '1 day' then
      raise exception 'The lease is %, and must be from 2 minutes to 1 day: half of it has to be longer than a payment may take', v_rules.lease;
    end if;
    perform clock() at time zone v_rules.time_zone; -- an unknown one is an error
    update rules r set
      paused = v_rules.paused, only_known_recipients = v_rules.only_known_recipients, only_known_callers = v_rules.only_known_callers,
      most_per_payment = v_rules.most_per_payment, most_per_recipient_per_day = v_rules.most_per_recipient_per_day,
      most_per_recipient_per_month = v_rules.most_per_recipient_per_month, most_per_day = v_rules.most_per_day,
      most_per_month = v_rules.most_per_month, time_zone = v_rules.time_zone, lease = v_rules.lease, wait = v_rules.wait
    where r.budget = p_budget;
    insert into history (at, budget, event, by_person, detail) values (clock(), p_budget, 'rules', v_by, p_changes::text);
    return v_rules;
  end $f$;

  -- For the desk: puts a person on the list of known recipients, or takes one off
  create or replace function etb_wallet.set_recipient(p_budget text, p_to_user_id text, p_known boolean, p_by text) returns void
  language plpgsql volatile security definer set search_path = etb_wallet, pg_temp set enable_seqscan = off set jit = off as $f$
  declare
    v_rules rules := lock_budget(p_budget);
    v_by text := person(p_by);
    v_to_user_id text := plain_text(to_jsonb(p_to_user_id));
  begin
    if v_to_user_id is null or p_known is null then
      raise exception 'Say which toUserId, and whether it is known';
    end if;
    if p_known then
      insert into recipient (budget, to_user_id) values (p_budget, v_to_user_id) on conflict do nothing;
    else
      delete from recipient k where k.budget = p_budget and k.to_user_id = v_to_user_id;
    end if;
    insert into history (at, budget, event, to_user_id, by_person, detail)
    values (clock(), p_budget, 'recipient', v_to_user_id, v_by, case when p_known then 'known' else 'not known' end);
  end $f$;

  -- For the desk: changes the rules of one caller, by the name that it gives itself (requestedBy; '' is: none), which nothing proves. p_changes null
  -- takes it off the list.
  create or replace function etb_wallet.set_caller(p_budget text, p_requested_by text, p_changes jsonb, p_by text) returns void
  language plpgsql volatile security definer set search_path = etb_wallet, pg_temp set enable_seqscan = off set jit = off as $f$
  declare
    v_rules rules := lock_budget(p_budget);
    v_by text := person(p_by);
    v_requested_by text := coalesce(plain_text(to_jsonb(p_requested_by)), '');
    v_caller caller;
  begin
    if p_changes is null then
      delete from caller c where c.budget = p_budget and c.requested_by = v_requested_by;
    else
      insert into caller (budget, requested_by) values (p_budget, v_requested_by) on conflict do nothing;
      select * into v_caller from caller c where c.budget = p_budget and c.requested_by = v_requested_by;
      perform check_names(p_changes, to_jsonb(v_caller));
      v_caller := jsonb_populate_record(v_caller, p_changes);
      update caller c set paused = v_caller.paused, most_per_payment = v_caller.most_per_payment, most_per_day = v_caller.most_per_day,
        most_per_month = v_caller.most_per_month
      where c.budget = p_budget and c.requested_by = v_requested_by;
    end if;
    insert into history (at, budget, event, requested_by, by_person, detail)
    values (clock(), p_budget, 'caller', v_requested_by, v_by, coalesce(p_changes::text, 'taken off the list'));
  end $f$;
  comment on function etb_wallet.check_names is 'Refuses changes of rules that do not exist. p_rules: all that there are';
  comment on function etb_wallet.set_rules is 'For the desk: changes the rules that are named, and sets a budget up that has none. Null takes a limit away. @returns all rules of the budget';
  comment on function etb_wallet.set_recipient is 'For the desk: puts a person on the list of known recipients, or takes one off';
  comment on function etb_wallet.set_caller is 'For the desk: changes the rules of one caller, by the name that it gives itself (requestedBy; '''' is: none), which nothing proves. p_changes null takes it off the list.';

  ---------------------------------------------------------------------------------------------------------------- Views

  -- All attempts, with their state now: an attempt whose lease ended before its end was recorded is unknown
  create or replace view etb_wallet.payments as
    select p.budget, p.reference, p.attempt, p.to_user_id, p.amount_etb,
      case when p.state = 'sending' and p.lease_until <= etb_wallet.clock() then 'unknown' else p.state end as state, p.surprise,
      p.tx_hash, p.reason, p.requested_by, p.execution, p.claimed_at, p.lease_until, p.spent_on, p.ended_at, p.settled_by, p.confirmed_at, p.confirmed_by
    from etb_wallet.payment p;

  -- The attempts that are in flight or that a person has to look at. state: inFlight; unknown; mayBePaidTwice: unknown, and another attempt is
  -- paid; paidTwice and paidAfterAll: a surprise that nobody took note of yet
  create or replace view etb_wallet.open_payments as
    select p.budget, p.reference, p.attempt, a.attempts, p.to_user_id, p.amount_etb,
      case
        when p.surprise is not null then p.surprise
        when p.state = 'sending' and p.lease_until > etb_wallet.clock() then 'inFlight'
        when a.has_paid then 'mayBePaidTwice'
        else 'unknown'
      end as state,
      p.reason, p.tx_hash, p.requested_by, p.execution, p.claimed_at, p.lease_until
    from etb_wallet.payment p
    cross join lateral (
      select count(*) as attempts, bool_or(o.state = 'paid') as has_paid from etb_wallet.payment o where o.budget = p.budget and o.reference = p.reference
    ) a
    where p.state in ('sending', 'unknown') or p.surprise is not null;

  -- What the service called paid more than a day ago, without an event disburse.completed since
  create or replace view etb_wallet.unconfirmed_payments as
    select p.budget, p.reference, p.attempt, p.to_user_id, p.amount_etb, p.tx_hash, p.requested_by, p.execution, p.ended_at
    from etb_wallet.payment p
    where p.state = 'paid' and p.confirmed_at is null and p.settled_by is null and p.ended_at < etb_wallet.clock() - interval '1 day';

  -- What is spent or reserved today and this month, and what is left
  create or replace view etb_wallet.spending as
    select r.budget, t.today, coalesce(d.amount_etb, 0) as spent_today, r.most_per_day,
      case when r.most_per_day is not null then greatest(r.most_per_day - coalesce(d.amount_etb, 0), 0) end as left_today,
      coalesce(m.amount_etb, 0) as spent_this_month, r.most_per_month,
      case when r.most_per_month is not null then greatest(r.most_per_month - coalesce(m.amount_etb, 0), 0) end as left_this_month, r.paused
    from etb_wallet.rules r
    cross join lateral (select (etb_wallet.clock() at time zone r.time_zone)::date as today) t
    left join etb_wallet.spent d on d.budget = r.budget and d.scope = 'budget' and d.who = '' and d.period = 'day' and d.starts_on = t.today
    left join etb_wallet.spent m on m.budget = r.budget and m.scope = 'budget' and m.who = '' and m.period = 'month'
      and m.starts_on = date_trunc('month', t.today)::date;
  comment on view etb_wallet.payments is 'All attempts, with their state now: an attempt whose lease ended before its end was recorded is unknown';
  comment on view etb_wallet.open_payments is 'The attempts that are in flight or that a person has to look at. state: inFlight; unknown; mayBePaidTwice: unknown, and another attempt is paid; paidTwice and paidAfterAll: a surprise that nobody took note of yet';
  comment on view etb_wallet.unconfirmed_payments is 'What the service called paid more than a day ago, without an event disburse.completed since';
  comment on view etb_wallet.spending is 'What is spent or reserved today and this month, and what is left';

  --------------------------------------------------------------------------------------------------------------- Rights

  revoke all on schema etb_wallet from public, etb_wallet_gate, etb_wallet_desk, etb_wallet_reader;
  revoke all on all tables in schema etb_wallet from public, etb_wallet_gate, etb_wallet_desk, etb_wallet_reader;
  revoke all on all sequences in schema etb_wallet from public, etb_wallet_gate, etb_wallet_desk, etb_wallet_reader;
  revoke all on all functions in schema etb_wallet from public, etb_wallet_gate, etb_wallet_desk, etb_wallet_reader;
  grant execute on function etb_wallet.claim, etb_wallet.record, etb_wallet.confirm to etb_wallet_gate;
  grant execute on function
    etb_wallet.settle, etb_wallet.write_down_paid, etb_wallet.confirm_by_hand, etb_wallet.set_rules, etb_wallet.set_recipient, etb_wallet.set_caller
    to etb_wallet_desk;
  -- (A view reads its tables as its owner, and calls functions as its reader.)
  grant execute on function etb_wallet.clock to etb_wallet_desk, etb_wallet_reader;
  grant select on all tables in schema etb_wallet to etb_wallet_desk, etb_wallet_reader;
  -- The roles are of the whole server. A login may do what its role may in the databases where it was granted usage of the schema, and in no other:
  -- a copy of another database brings the logins of that along, and they lose it.
  for v_old in
    select r.rolname from pg_namespace n, aclexplode(n.nspacl) a join pg_roles r on r.oid = a.grantee
    where n.nspname = 'etb_wallet' and r.rolname ~ '^pay_(gate|desk)_' and substring(r.rolname from 10) not in (current_database(), md5(current_database()))
  loop
    execute format('revoke all on schema etb_wallet from %I', v_old);
  end loop;

  perform set_config('role', v_role_before, true);
  if not v_is_member then
    revoke etb_wallet_owner from current_user;
  end if;
exception when lock_not_available then
  perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true); -- what was set above is undone
  select string_agg(format('%s (login %s)', a.pid, a.usename), ', ') into v_old from pg_stat_activity a
  where a.pid <> pg_backend_pid() and a.datname = current_database() and exists (
    select from pg_locks l left join pg_class c on c.oid = l.relation
    where l.pid = a.pid and l.granted and (l.locktype = 'advisory' or c.relnamespace = to_regnamespace('etb_wallet'))
  );
  raise exception 'The set-up waited 30 seconds for another connection: %', coalesce(v_old, 'it has let go just now')
    using hint = 'Close it, or let an administrator end it: select pg_terminate_backend(number)';
end $setup$;
