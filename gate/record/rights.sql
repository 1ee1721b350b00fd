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
