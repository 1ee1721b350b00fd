-- The payments under the keys of this server, the rights, the first limits, and the end: the role that set up is the one that it was before.

do $keys$
declare
  c_release constant text := '0.1.0'; -- The first release of n8n-nodes-etb-wallet that has these tables
  c_server constant integer := current_setting('server_version_num')::integer / 10000;
  v_before constant integer := current_setting('etb_wallet.version_before')::integer;
  v_newest constant integer := current_setting('etb_wallet.newest')::integer;
  v_row payment;
begin
  -- Another server has another version of Unicode, and another release other characters. The keys are made anew, so that a paid reference is found.
  -- References that became the same share the key, each attempt under a number of its own: together they are paid if one of them is.
  if exists (select from payment p where p.key <> key_of(p.reference)) then
    perform from rules for update;
    for v_row in select * from payment p where p.key <> key_of(p.reference) order by p.budget, p.key, p.attempt loop
      update payment p set key = key_of(p.reference),
        attempt = (select coalesce(max(o.attempt), 0) + 1 from payment o where o.budget = v_row.budget and o.key = key_of(v_row.reference))
      where p.budget = v_row.budget and p.key = v_row.key and p.attempt = v_row.attempt;
      perform write_down(clock(), v_row, 'newKey', null, null, 'Its key was ' || v_row.key);
    end loop;
  end if;
  -- Version 1 counted each spelling of a person and of a caller for itself.
  if v_before = 1 then
    with old as (delete from spent where scope <> 'budget' returning *)
    insert into spent (budget, period, starts_on, scope, who, amount_etb, name)
    select budget, period, starts_on, scope, key_of(who), sum(amount_etb), min(who) from old group by budget, period, starts_on, scope, key_of(who);
    with old as (delete from rules where requested_by <> '' returning *)
    insert into rules (budget, requested_by, paused, most_per_payment, most_per_day, most_per_month)
    select budget, key_of(requested_by), bool_or(paused), min(most_per_payment), min(most_per_day), min(most_per_month) from old
    where key_of(requested_by) <> '' group by budget, key_of(requested_by);
  end if;
  if v_before < v_newest then
    insert into version (version, release, server) values (v_newest, c_release, c_server);
  end if;
  update version v set server = c_server where v.version = v_newest and v.server is distinct from c_server;
end $keys$;

revoke all on schema etb_wallet from public, etb_wallet_gate, etb_wallet_desk;
revoke all on all tables in schema etb_wallet from public, etb_wallet_gate, etb_wallet_desk;
revoke all on all sequences in schema etb_wallet from public, etb_wallet_gate, etb_wallet_desk;
revoke all on all functions in schema etb_wallet from public, etb_wallet_gate, etb_wallet_desk;
grant execute on function claim, record to etb_wallet_gate;
grant execute on function settle, write_down_paid, set_rules, needs_attention, desk_open, desk_settle, desk_spent, desk_find, desk_limits, desk_callers, desk_set,
  desk_lately to etb_wallet_desk;
-- (A view reads its tables as its owner, and calls functions as its reader.)
grant execute on function clock, key_of to etb_wallet_desk;
-- The sequence too: the desk's login makes the backup.
grant select on all tables in schema etb_wallet to etb_wallet_desk;
grant select on all sequences in schema etb_wallet to etb_wallet_desk;

do $end$
declare
  v_given jsonb := nullif(current_setting('etb_wallet.given', true), '');
  v_logins jsonb := current_setting('etb_wallet.logins');
  v_each record;
  v_name text;
begin
  -- A function that runs with the owner's rights finds names in this schema first, whoever calls it and from where.
  for v_name in
    select oid::regprocedure::text from pg_proc where pronamespace = 'etb_wallet'::regnamespace and (prosecdef or prorettype = 'trigger'::regtype)
  loop
    execute format('alter function %1$s set search_path = etb_wallet, pg_temp; alter function %1$s set enable_seqscan = off; alter function %1$s set jit = off', v_name);
  end loop;
  -- The roles are of the whole server. A login may do what its role may in the databases where it was granted usage of the schema, and in no other:
  -- a copy of another database has the logins of that one, and they lose the usage.
  for v_name in
    select r.rolname from pg_namespace n, aclexplode(n.nspacl) a join pg_roles r on r.oid = a.grantee
    where n.nspname = 'etb_wallet' and r.rolname ~ '^pay_(gate|desk)_' and substring(r.rolname from 10) not in (current_database(), md5(current_database()))
  loop
    execute format('revoke all on schema etb_wallet from %I', v_name);
  end loop;

  -- A budget and a caller that are there keep their limits.
  if v_given is not null then
    execute (select format('grant usage on schema etb_wallet to %s', string_agg(quote_ident(l ->> 'user'), ', ')) from jsonb_array_elements(v_logins) l);
    for v_each in select '' as who, v_given -> 'limits' as limits union all select * from jsonb_each(v_given -> 'callers') loop
      if not exists (select from rules r where r.budget = v_given ->> 'budget' and r.requested_by = key_of(v_each.who)) then
        perform set_rules(v_given ->> 'budget', v_each.limits, v_given ->> 'person', v_each.who);
      end if;
    end loop;
    perform set_config('etb_wallet.told', (select jsonb_build_object('logins', v_logins, 'rules', to_jsonb(r), 'payments', (select count(*) from payment))
      from rules r where r.budget = v_given ->> 'budget' and r.requested_by = '')::text, true);
  end if;

  perform set_config('role', current_setting('etb_wallet.role_before'), true);
  revoke etb_wallet_owner from current_user;
end $end$;
