-- The schema, and which version of the tables is in it. From here on all is made by the owner.

-- A schema of somebody else could hold what runs with the rights of who sets up.
if exists (select from pg_namespace where nspname = 'etb_wallet' and nspowner <> 'etb_wallet_owner'::regrole) then
  if to_regclass('etb_wallet.payment') is not null then
    raise exception 'This is a pay gate that was restored before the set-up had made its roles. Keep it: without it nobody knows who was paid'
      using hint = 'Set the gate up in an empty database of this server, and restore the backup there: docs/operating.md, "Backup". Pay nobody before that.';
  end if;
  raise exception 'There is a schema etb_wallet that this file did not make' using hint = 'Use another database.';
end if;
create schema if not exists etb_wallet authorization etb_wallet_owner;
set local role etb_wallet_owner;
-- From here on a name is one of PostgreSQL's own, or of this schema, in which nobody else can make anything.
perform set_config('search_path', 'etb_wallet, pg_temp', true);
comment on schema etb_wallet is 'The pay gate of n8n-nodes-etb-wallet. Its gate/schema.sql says what each column means.';
create table if not exists version (
  version integer primary key, -- The highest one holds
  release text not null, -- That brought it
  installed_at timestamptz not null default clock_timestamp()
);
select coalesce(max(version), 0) into v_found from version;
if v_found > c_version then
  raise exception 'This database has version % of the pay gate, and this file is version %', v_found, c_version using hint = 'Take gate/schema.sql from the newest release.';
end if;
if v_found < c_version then
  insert into version (version, release) values (c_version, c_release);
end if;
