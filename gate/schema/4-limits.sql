-- The clock, the lock of a budget, the attempts of a payment, and whether a limit allows more.

-- The time now. All decisions go by this clock, so a test can put another in its place.
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
  -- What was told must survive a crash and, where a synchronous standby is set up, the loss of the main server. (It holds for the rest of the
  -- transaction.)
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

-- The attempt that decides whether a payment may be sent: a paid one, else one that may be paid, else the last one; null when there is none
create or replace function deciding_attempt(p_budget text, p_key text) returns payment language plpgsql stable as $f$
declare
  v_row payment;
begin
  select * into v_row from payment p where p.budget = p_budget and p.key = p_key
  order by array_position(array['paid', 'sending', 'unknown', 'notPaid'], p.state::text), p.attempt desc limit 1;
  return v_row;
end $f$;

-- True when the reference of this deciding attempt belongs to another person or amount. A reference of which all attempts are notPaid, none by the
-- word of a person, is free for others: a wrong user ID can be corrected.
create or replace function is_of_another(p_row payment, p_to_user_id text, p_amount numeric) returns boolean language plpgsql stable as $f$
begin
  return (p_row.to_user_id <> p_to_user_id or p_row.amount_etb <> p_amount) and (p_row.state <> 'notPaid' or exists (
    select from payment p where p.budget = p_row.budget and p.key = p_row.key and p.settled_by is not null
  ));
end $f$;

-- Adds a line about an attempt to the history
create or replace function write_down(
  p_at timestamptz, p_payment payment, p_event text, p_execution text, p_by_person text, p_detail text
) returns void language plpgsql as $f$
begin
  insert into history (at, budget, event, reference, attempt, to_user_id, amount_etb, requested_by, claim, execution, by_person, detail)
  values (p_at, p_payment.budget, p_event, p_payment.reference, p_payment.attempt, p_payment.to_user_id, p_payment.amount_etb, p_payment.requested_by,
    p_payment.claim, p_execution, p_by_person, p_detail);
end $f$;

-- Adds to what is spent or reserved, for the budget, each person and each caller; with amounts below zero money is given back
create or replace function reserve(p_budget text, p_day date, p_to text[], p_by text[], p_amounts numeric[]) returns void language plpgsql as $f$
begin
  insert into spent as s (budget, period, starts_on, scope, who, amount_etb, name)
  select p_budget, y.period, y.starts_on, x.scope, x.who, sum(t.amount_etb), min(x.name)
  from unnest(p_to, p_by, p_amounts) t (to_user_id, requested_by, amount_etb)
  cross join lateral (values ('budget', '', ''), ('recipient', key_of(t.to_user_id), t.to_user_id), ('caller', key_of(t.requested_by), t.requested_by)) x (scope, who, name)
  cross join (values ('day', p_day), ('month', date_trunc('month', p_day)::date)) y (period, starts_on)
  group by x.scope, x.who, y.period, y.starts_on
  on conflict (budget, period, starts_on, scope, who) do update set amount_etb = s.amount_etb + excluded.amount_etb;
end $f$;

-- The reason why the rules do not allow a payment, as a code and a message; both are null if they do. p_person, p_caller: by their keys. p_claimed,
-- p_claimed_to, p_claimed_by: what this claim hands out already, altogether, to this person and for this caller.
create or replace function objection(
  p_rules rules, p_person text, p_caller text, p_amount numeric, p_day date,
  p_claimed numeric, p_claimed_to numeric, p_claimed_by numeric, out code text, out message text
) language plpgsql stable as $f$
declare
  v_caller rules;
  v_limit record;
  v_spent numeric;
begin
  select * into v_caller from rules r where r.budget = p_rules.budget and r.requested_by = p_caller and p_caller <> '';
  if p_rules.paused then
    code := 'paused'; message := 'Payments are paused';
  elsif v_caller.paused then
    code := 'paused'; message := format('Payments of the caller "%s" are paused', p_caller);
  end if;
  for v_limit in
    select * from (values
      ('budget', '', null, p_rules.most_per_payment, 'for one payment', 0),
      ('caller', p_caller, null, v_caller.most_per_payment, 'for one payment of this caller', 0),
      ('recipient', p_person, 'day', p_rules.most_per_recipient_per_day, 'for one recipient and day', p_claimed_to),
      ('recipient', p_person, 'month', p_rules.most_per_recipient_per_month, 'for one recipient and month', p_claimed_to),
      ('caller', p_caller, 'day', v_caller.most_per_day, 'for this caller and day', p_claimed_by),
      ('caller', p_caller, 'month', v_caller.most_per_month, 'for this caller and month', p_claimed_by),
      ('budget', '', 'day', p_rules.most_per_day, 'for one day', p_claimed),
      ('budget', '', 'month', p_rules.most_per_month, 'for one month', p_claimed)
    ) l (scope, who, period, most, words, claimed)
    where l.most is not null and code is null
  loop
    v_spent := null;
    if v_limit.period is not null then
      v_spent := v_limit.claimed + coalesce((
        select s.amount_etb from spent s
        where s.budget = p_rules.budget and s.scope = v_limit.scope and s.who = v_limit.who and s.period = v_limit.period
          and s.starts_on = date_trunc(v_limit.period, p_day)::date
      ), 0);
    end if;
    if coalesce(v_spent, 0) + p_amount > v_limit.most then
      code := 'aboveLimit';
      message := format('Above the most %s, %s ETB', v_limit.words, v_limit.most) || coalesce(', of which ' || v_spent || ' are spent or reserved', '');
      return;
    end if;
  end loop;
end $f$;
