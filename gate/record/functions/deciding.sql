------------------------------------------------------------------------------------------------------- Parts of deciding

-- Takes the lock of a budget, and gives its rules. @throws when there is no such budget, when the transaction would not see what others wrote, or
-- when somebody holds the lock too long
create or replace function etb_wallet.take_lock(p_budget text) returns etb_wallet.rules
language plpgsql set search_path = etb_wallet, pg_temp set lock_timeout = '10s' as $f$
declare
  v_rules rules;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'The pay gate needs the isolation level READ COMMITTED, and this transaction is %', upper(current_setting('transaction_isolation'));
  end if;
  -- What is told must survive a crash, whatever the server's or the login's setting. (It holds for the rest of the transaction.)
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  select * into v_rules from rules r where r.budget = p_budget for update;
  if not found then
    raise exception 'The pay gate has no rules for the budget "%", so nobody is paid', p_budget
      using hint = 'Run the workflow "Pay gate set-up", or save limits at the desk.';
  end if;
  return v_rules;
end $f$;

-- Says who holds the lock of a budget, as an error
create or replace function etb_wallet.say_who_holds(p_budget text) returns void
language plpgsql set search_path = etb_wallet, pg_temp as $f$
declare
  v_holders text := (
    select string_agg(format('%s (login %s)', a.pid, a.usename), ', ') from pg_stat_activity a
    where a.pid <> pg_backend_pid() and not exists (select from pg_locks l where l.pid = a.pid and not l.granted)
      and exists (select from pg_locks l where l.pid = a.pid and l.relation = 'rules'::regclass and l.mode <> 'AccessShareLock')
      and exists (select from pg_locks l where l.pid = a.pid and l.locktype = 'transactionid') -- it wrote something; who only waited has none
  );
  -- A transaction that was prepared has no connection any more.
  v_prepared text := (
    select string_agg(format('prepared transaction %L (login %s)', x.gid, x.owner), ', ') from pg_prepared_xacts x
    join pg_locks t on t.transactionid = x.transaction and t.granted
    join pg_locks l on l.virtualtransaction = t.virtualtransaction and l.pid is null and l.relation = 'rules'::regclass
  );
begin
  raise exception 'The pay gate waited 10 seconds for a connection that holds the budget "%": %', p_budget,
    coalesce(v_prepared, v_holders, 'it has let go just now')
    using errcode = 'lock_not_available', hint = 'Somebody forgot a transaction that is open. An administrator ends it: '
      || case when v_prepared is null then 'select pg_terminate_backend(number)' else 'rollback prepared name' end;
end $f$;

-- Lets one transaction at a time decide for a budget, and gives its rules. (claim does without this block: the lock that it lets go while it waits
-- must be of the block that it leaves, else others wait for the end of its transaction.)
create or replace function etb_wallet.lock_budget(p_budget text) returns etb_wallet.rules
language plpgsql set search_path = etb_wallet, pg_temp as $f$
begin
  return take_lock(p_budget);
exception when lock_not_available then
  perform say_who_holds(p_budget);
end $f$;

-- The attempt that says what the payment with a reference is: a paid one, else one that may be paid, else the last one; null when there is none
create or replace function etb_wallet.deciding_attempt(p_budget text, p_reference text) returns etb_wallet.payment
language plpgsql stable set search_path = etb_wallet, pg_temp as $f$
declare
  v_row payment;
begin
  select * into v_row from payment p where p.budget = p_budget and p.reference = p_reference
  order by array_position(array['paid', 'sending', 'unknown', 'notPaid'], p.state), p.attempt desc limit 1;
  return v_row;
end $f$;

-- Whether another claim is sending one of these references
create or replace function etb_wallet.is_awaited(p_budget text, p_references text[], p_now timestamptz) returns boolean
language plpgsql stable set search_path = etb_wallet, pg_temp as $f$
begin
  -- (offset 0: each reference is looked up by the primary key, whatever the planner thinks of the tables' sizes)
  return exists (
    select from unnest(p_references) w (reference)
    cross join lateral (
      select p.state, p.lease_until from payment p where p.budget = p_budget and p.reference = w.reference offset 0
    ) p
    where p.state = 'sending' and p.lease_until > p_now
  );
end $f$;

-- Adds to what is spent or reserved, for the budget, each person and each caller; with amounts below zero money is given back
create or replace function etb_wallet.reserve(p_budget text, p_day date, p_to text[], p_by text[], p_amounts numeric[]) returns void
language plpgsql volatile set search_path = etb_wallet, pg_temp as $f$
begin
  insert into spent as s (budget, scope, who, period, starts_on, amount_etb)
  select p_budget, x.scope, x.who, y.period, y.starts_on, sum(t.amount_etb)
  from unnest(p_to, p_by, p_amounts) t (to_user_id, requested_by, amount_etb)
  cross join lateral (values ('budget', ''), ('recipient', t.to_user_id), ('caller', t.requested_by)) x (scope, who)
  cross join (values ('day', p_day), ('month', date_trunc('month', p_day)::date)) y (period, starts_on)
  group by x.scope, x.who, y.period, y.starts_on
  on conflict (budget, scope, who, period, starts_on) do update set amount_etb = s.amount_etb + excluded.amount_etb;
end $f$;

-- Why the rules do not allow a payment, or null. p_claimed, p_claimed_to, p_claimed_by: what this claim hands out already, altogether, to this
-- person and for this caller.
create or replace function etb_wallet.objection(
  p_rules etb_wallet.rules, p_to_user_id text, p_requested_by text, p_amount numeric, p_day date,
  p_claimed numeric, p_claimed_to numeric, p_claimed_by numeric
) returns text
language plpgsql stable set search_path = etb_wallet, pg_temp as $f$
declare
  v_caller caller;
  v_limit record;
  v_spent numeric;
begin
  if p_rules.paused then
    return 'Payments are paused';
  end if;
  if p_rules.only_known_recipients and not exists (select from recipient k where k.budget = p_rules.budget and k.to_user_id = p_to_user_id) then
    return 'The recipient is not on the list of known recipients';
  end if;
  select * into v_caller from caller c where c.budget = p_rules.budget and c.requested_by = p_requested_by;
  if p_rules.only_known_callers and not found then
    return format('The caller "%s" (requestedBy) is not on the list of known callers', p_requested_by);
  end if;
  if v_caller.paused then
    return format('Payments of the caller "%s" are paused', p_requested_by);
  end if;
  for v_limit in
    select * from (values
      ('budget', '', null, p_rules.most_per_payment, 'for one payment', 0),
      ('caller', p_requested_by, null, v_caller.most_per_payment, 'for one payment of this caller', 0),
      ('recipient', p_to_user_id, 'day', p_rules.most_per_recipient_per_day, 'for one recipient and day', p_claimed_to),
      ('recipient', p_to_user_id, 'month', p_rules.most_per_recipient_per_month, 'for one recipient and month', p_claimed_to),
      ('caller', p_requested_by, 'day', v_caller.most_per_day, 'for this caller and day', p_claimed_by),
      ('caller', p_requested_by, 'month', v_caller.most_per_month, 'for this caller and month', p_claimed_by),
      ('budget', '', 'day', p_rules.most_per_day, 'for one day', p_claimed),
      ('budget', '', 'month', p_rules.most_per_month, 'for one month', p_claimed)
    ) l (scope, who, period, most, words, claimed)
    where l.most is not null
  loop
    if v_limit.period is null then
      if p_amount > v_limit.most then
        return format('Above the most %s, %s ETB', v_limit.words, v_limit.most);
      end if;
    else
      v_spent := v_limit.claimed + coalesce((
        select s.amount_etb from spent s
        where s.budget = p_rules.budget and s.scope = v_limit.scope and s.who = v_limit.who and s.period = v_limit.period
          and s.starts_on = date_trunc(v_limit.period, p_day)::date
      ), 0);
      if v_spent + p_amount > v_limit.most then
        return format('Above the most %s, %s ETB, of which %s are spent or reserved', v_limit.words, v_limit.most, v_spent);
      end if;
    end if;
  end loop;
  return null;
end $f$;

-- Adds a line about an attempt to the history
create or replace function etb_wallet.write_down(
  p_at timestamptz, p_payment etb_wallet.payment, p_event text, p_execution text, p_by_person text, p_detail text
) returns void
language plpgsql volatile set search_path = etb_wallet, pg_temp as $f$
begin
  insert into history (at, budget, event, reference, attempt, to_user_id, amount_etb, requested_by, claim, execution, by_person, detail)
  values (p_at, p_payment.budget, p_event, p_payment.reference, p_payment.attempt, p_payment.to_user_id, p_payment.amount_etb, p_payment.requested_by,
    p_payment.claim, p_execution, p_by_person, p_detail);
end $f$;
