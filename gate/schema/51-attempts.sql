-- The attempts of a payment, and the history of each

-- The attempt that says what a payment is: a paid one, else one that may be paid, else the last one; null when there is none
create or replace function deciding_attempt(p_budget text, p_key text) returns payment language plpgsql stable as $f$
declare
  v_row payment;
begin
  select * into v_row from payment p where p.budget = p_budget and p.key = p_key
  order by array_position(array['paid', 'sending', 'unknown', 'notPaid'], p.state::text), p.attempt desc limit 1;
  return v_row;
end $f$;

-- Whether a reference, with this deciding attempt, belongs to another payment than one of this amount to this person. Who was certainly not paid,
-- by the service's word and no person's, leaves it free: a wrong user ID can be corrected.
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
