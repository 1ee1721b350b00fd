-- The pay gate's record in PostgreSQL 13 or newer: which payment was handed out for sending, how it ended, and what may be spent.
--
-- Run it as a role that may create roles and schemas (it need not be a superuser), with psql -f, or as one query of n8n's Postgres node.
-- Run it again to update: it changes nothing that is up to date. It is one statement, so it happens as a whole or not at all.
--
-- Tables and functions belong to etb_wallet_owner, which cannot log in. A login may do what etb_wallet_gate (for n8n) or etb_wallet_desk (for a
-- person) may, which are of the whole server, in the databases whose schema etb_wallet it was granted usage of.
--
-- All functions that decide take one lock, that of the budget's row in `rules`: they happen one after the other, see what the one before
-- wrote (each statement of READ COMMITTED looks anew), and cannot lock each other out.
--
-- Those that are called often are PL/pgSQL, which keeps its plans; PostgreSQL plans functions in SQL anew at each call.
-- They run with enable_seqscan = off: a connection keeps the plan that it made while a table was empty, also when the table has grown; and
-- without jit, which can take longer to compile a plan than the plan takes to run a thousand times.
--
-- A backslash stands in E'...' only: in other text it means something else where standard_conforming_strings is off.
do $setup$
declare
  c_version constant integer := 1; -- the newest of the tables. `npm run build` writes it into pay-gate.json.
  c_release constant pg_catalog.text := '0.1.0'; -- the first release of n8n-nodes-etb-wallet that has it
  -- (The search path is set below. These types are looked up before: a domain "text" in "public" would be a trap.)
  -- What the workflow Pay gate set-up asks for: {budget, limits, callers: {name: limits}, person, newPasswords}. Null: only the record.
  v_given pg_catalog.jsonb;
  v_told pg_catalog.jsonb := '[]';
  v_name pg_catalog.text;
  v_password pg_catalog.text;
  v_wrong pg_catalog.text;
  v_each record;
  v_role_before pg_catalog.text;
  v_found integer;
begin
-- Every name below is one of PostgreSQL's own, or says its schema: what somebody else made, say a function "format" in "public", never runs.
perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
perform set_config('client_min_messages', 'warning', true);
v_given := nullif(current_setting('etb_wallet.given', true), '');
-- It gives up rather than holding up all payments while it waits for a transaction that somebody forgot.
perform set_config('lock_timeout', '30s', true);
v_role_before := current_setting('role');
if current_setting('server_version_num')::integer < 130000 then
  raise exception 'The pay gate needs PostgreSQL 13 or newer; this is %', current_setting('server_version');
elsif getdatabaseencoding() <> 'UTF8' then
  raise exception 'The pay gate needs a database whose encoding is UTF8; this one is %', getdatabaseencoding();
elsif length('→') <> 1 then
  raise exception 'This text came as %, and is UTF8', current_setting('client_encoding') using hint = 'set client_encoding to UTF8';
end if;
-- Two who set up at once take turns.
perform pg_advisory_xact_lock(hashtext('etb_wallet: setting up'));
