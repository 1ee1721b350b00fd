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

  -- @file: roles.sql

  -- @file: versions.sql

  -- @file: functions/reading.sql

  -- @file: functions/deciding.sql

  -- @file: functions/claim.sql

  -- @file: functions/record.sql

  -- @file: functions/confirm.sql

  -- @file: functions/settle.sql

  -- @file: functions/rules.sql

  -- @file: views.sql

  -- @file: rights.sql

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
