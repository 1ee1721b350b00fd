-- What the desk reads

-- All attempts, with their state now: an attempt whose lease ended before its end was recorded is unknown
create or replace view payments as
  select p.budget, p.reference, p.attempt, p.to_user_id, p.amount_etb,
    case when p.state = 'sending' and p.lease_until <= clock() then 'unknown' else p.state end as state, p.surprise,
    p.tx_hash, p.reason, p.requested_by, p.execution, p.claimed_at, p.lease_until, p.spent_on, p.ended_at, p.settled_by, p.key
  from payment p;

-- The attempts that are in flight or that a person has to look at. state: inFlight; unknown; mayBePaidTwice: unknown, and another attempt is
-- paid; paidTwice and paidAfterAll: a surprise that nobody took note of yet
create or replace view open_payments as
  select p.budget, p.reference, p.attempt, p.to_user_id, p.amount_etb,
    case
      when p.surprise is not null then p.surprise
      when p.state = 'sending' and p.lease_until > clock() then 'inFlight'
      when exists (select from payment o where o.budget = p.budget and o.key = p.key and o.state = 'paid') then 'mayBePaidTwice'
      else 'unknown'
    end as state,
    p.reason, p.tx_hash, p.requested_by, p.execution, p.claimed_at, p.lease_until
  from payment p
  where p.state in ('sending', 'unknown') or p.surprise is not null;
