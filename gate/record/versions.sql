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
  -- @file: tables/1.sql
  insert into etb_wallet.version (version, release) values (1, '0.1.0');
end if;
