-- The clock, and the lock of a budget

-- The time now. It is the only clock of the gate: a test can put another in its place.
create or replace function clock() returns timestamptz language sql as $f$
  select clock_timestamp()
$f$;

-- Lets one transaction at a time decide for a budget, and gives its rules. @throws when there is no such budget, when the transaction would not see
-- what others wrote, or when somebody holds the lock too long, who is named
create or replace function lock_budget(p_budget text) returns rules language plpgsql set lock_timeout = '10s' as $f$
declare
  v_rules rules;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'The pay gate needs the isolation level READ COMMITTED, and this transaction is %', upper(current_setting('transaction_isolation'));
  end if;
  -- What is told must survive a crash, and the end of the main server, whatever the settings are. (It holds for the rest of the transaction.)
  if current_setting('synchronous_commit') not in ('on', 'remote_apply') then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  select * into v_rules from rules r where r.budget = p_budget and r.requested_by = '' for update;
  if not found then
    raise exception 'The pay gate has no rules for the budget "%", so nobody is paid', p_budget
      using hint = 'Run the workflow "Pay gate set-up", or save limits at the desk.';
  end if;
  return v_rules;
exception when lock_not_available then
  raise exception 'The pay gate waited 10 seconds for a connection that holds the budget "%": %', p_budget, coalesce((
    select string_agg(format('%s (login %s)', a.pid, a.usename), ', ') from pg_stat_activity a
    where a.pid <> pg_backend_pid() and not exists (select from pg_locks l where l.pid = a.pid and not l.granted)
      and exists (select from pg_locks l where l.pid = a.pid and l.relation = 'rules'::regclass and l.mode <> 'AccessShareLock')
      and exists (select from pg_locks l where l.pid = a.pid and l.locktype = 'transactionid') -- it wrote something; who only waited has none
  ), 'it has let go just now')
    using errcode = 'lock_not_available', hint = 'Somebody forgot a transaction that is open. An administrator ends it: select pg_terminate_backend(number)';
end $f$;
