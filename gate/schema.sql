-- The record alone, by a person: psql --file=schema.sql
\set ON_ERROR_STOP on
begin isolation level read committed;
\ir schema/1-begin.sql
\ir schema/2-items.sql
\ir schema/3-tables.sql
\ir schema/4-limits.sql
\ir schema/5-claim.sql
\ir schema/6-record.sql
\ir schema/7-desk.sql
\ir schema/8-end.sql
commit;
