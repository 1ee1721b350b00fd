-- Who may do what

revoke all on schema etb_wallet from public, etb_wallet_gate, etb_wallet_desk;
revoke all on all tables in schema etb_wallet from public, etb_wallet_gate, etb_wallet_desk;
revoke all on all sequences in schema etb_wallet from public, etb_wallet_gate, etb_wallet_desk;
revoke all on all functions in schema etb_wallet from public, etb_wallet_gate, etb_wallet_desk;
grant execute on function claim, record to etb_wallet_gate;
grant execute on function settle, write_down_paid, set_rules to etb_wallet_desk;
-- (A view reads its tables as its owner, and calls functions as its reader.)
grant execute on function clock, key_of to etb_wallet_desk;
-- What runs with the owner's rights, whoever calls it and from where: a name in it, and in what it calls, is one of this schema.
for v_name in
  select oid::regprocedure::text from pg_proc where pronamespace = 'etb_wallet'::regnamespace and (prosecdef or prorettype = 'trigger'::regtype)
loop
  execute format('alter function %1$s set search_path = etb_wallet, pg_temp; alter function %1$s set enable_seqscan = off; alter function %1$s set jit = off', v_name);
end loop;
-- The sequence too: the desk's login makes the backup.
grant select on all tables in schema etb_wallet to etb_wallet_desk;
grant select on all sequences in schema etb_wallet to etb_wallet_desk;
-- The roles are of the whole server. A login may do what its role may in the databases where it was granted usage of the schema, and in no other:
-- a copy of another database brings the logins of that along, and they lose it.
for v_name in
  select r.rolname from pg_namespace n, aclexplode(n.nspacl) a join pg_roles r on r.oid = a.grantee
  where n.nspname = 'etb_wallet' and r.rolname ~ '^pay_(gate|desk)_' and substring(r.rolname from 10) not in (current_database(), md5(current_database()))
loop
  execute format('revoke all on schema etb_wallet from %I', v_name);
end loop;
