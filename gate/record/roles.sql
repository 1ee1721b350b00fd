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
