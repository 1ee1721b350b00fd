---------------------------------------------------------------------------------------------------------------- Views

-- All attempts, with their state now: an attempt whose lease ended before its end was recorded is unknown
create or replace view etb_wallet.payments as
  select p.budget, p.reference, p.attempt, p.to_user_id, p.amount_etb,
    case when p.state = 'sending' and p.lease_until <= etb_wallet.clock() then 'unknown' else p.state end as state, p.surprise,
    p.tx_hash, p.reason, p.requested_by, p.execution, p.claimed_at, p.lease_until, p.spent_on, p.ended_at, p.settled_by, p.confirmed_at, p.confirmed_by
  from etb_wallet.payment p;

-- The attempts that are in flight or that a person has to look at. state: inFlight; unknown; mayBePaidTwice: unknown, and another attempt is
-- paid; paidTwice and paidAfterAll: a surprise that nobody took note of yet
create or replace view etb_wallet.open_payments as
  select p.budget, p.reference, p.attempt, a.attempts, p.to_user_id, p.amount_etb,
    case
      when p.surprise is not null then p.surprise
      when p.state = 'sending' and p.lease_until > etb_wallet.clock() then 'inFlight'
      when a.has_paid then 'mayBePaidTwice'
      else 'unknown'
    end as state,
    p.reason, p.tx_hash, p.requested_by, p.execution, p.claimed_at, p.lease_until
  from etb_wallet.payment p
  cross join lateral (
    select count(*) as attempts, bool_or(o.state = 'paid') as has_paid from etb_wallet.payment o where o.budget = p.budget and o.reference = p.reference
  ) a
  where p.state in ('sending', 'unknown') or p.surprise is not null;

-- What the service called paid more than a day ago, without an event disburse.completed since
create or replace view etb_wallet.unconfirmed_payments as
  select p.budget, p.reference, p.attempt, p.to_user_id, p.amount_etb, p.tx_hash, p.requested_by, p.execution, p.ended_at
  from etb_wallet.payment p
  where p.state = 'paid' and p.confirmed_at is null and p.settled_by is null and p.ended_at < etb_wallet.clock() - interval '1 day';

-- What is spent or reserved today and this month, and what is left
create or replace view etb_wallet.spending as
  select r.budget, t.today, coalesce(d.amount_etb, 0) as spent_today, r.most_per_day,
    case when r.most_per_day is not null then greatest(r.most_per_day - coalesce(d.amount_etb, 0), 0) end as left_today,
    coalesce(m.amount_etb, 0) as spent_this_month, r.most_per_month,
    case when r.most_per_month is not null then greatest(r.most_per_month - coalesce(m.amount_etb, 0), 0) end as left_this_month, r.paused
  from etb_wallet.rules r
  cross join lateral (select (etb_wallet.clock() at time zone r.time_zone)::date as today) t
  left join etb_wallet.spent d on d.budget = r.budget and d.scope = 'budget' and d.who = '' and d.period = 'day' and d.starts_on = t.today
  left join etb_wallet.spent m on m.budget = r.budget and m.scope = 'budget' and m.who = '' and m.period = 'month'
    and m.starts_on = date_trunc('month', t.today)::date;
