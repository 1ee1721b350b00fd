-- What a person at the desk says of payments: how one ended, and which were paid without the gate

-- Who does it, without blanks around the name. @throws when nobody is named
create or replace function person(p_by text) returns text language plpgsql immutable as $f$
begin
  if coalesce(btrim(p_by), '') = '' then
    raise exception 'Say who does it';
  end if;
  return left(btrim(p_by), 200);
end $f$;

-- For the desk: a person says what became of an attempt, the one that they asked the partner service about. "Not paid" only of what is unknown: then
-- it may be sent again. "Paid" also of what was taken for not paid, unless it was sent again since. Of a payment that is paid it only takes a
-- surprise off the list. @returns the state
create or replace function settle(p_budget text, p_reference text, p_attempt integer, p_was_paid boolean, p_by text, p_note text) returns text language plpgsql security definer as $f$
declare
  v_rules rules := lock_budget(p_budget);
  v_now timestamptz := clock();
  v_by text := person(p_by);
  v_state text := case when p_was_paid then 'paid' when not p_was_paid then 'notPaid' end;
  v_row payment;
begin
  select * into v_row from payment p where p.budget = p_budget and p.key = key_of(p_reference) and p.attempt = p_attempt;
  if v_row.key is null then
    raise exception 'The budget "%" has no payment with the reference "%" and the attempt %', p_budget, p_reference, coalesce(p_attempt::text, '(none given)');
  elsif v_state is null then
    raise exception 'Say whether it was paid';
  elsif v_row.state = 'paid' and not (p_was_paid and v_row.surprise is not null) then
    raise exception 'The payment "%" is paid, and stays paid', p_reference;
  elsif v_row.lease_until > v_now and (v_row.state = 'sending' or v_row.state = 'unknown' and not p_was_paid) then
    -- (The answer "unknown" may be of a copy of the execution that is still sending it.)
    raise exception 'The payment "%" may still be sent: settle it after %', p_reference, to_char(v_row.lease_until at time zone v_rules.time_zone, 'YYYY-MM-DD HH24:MI:SS');
  elsif v_row.state = 'notPaid' and exists (select from payment p where p.budget = p_budget and p.key = v_row.key and p.attempt > p_attempt) then
    raise exception 'The payment "%" was sent again since you looked: look again, and ask the partner service about that', p_reference;
  elsif v_row.state = 'notPaid' and not p_was_paid then
    raise exception 'The payment "%" is known as not paid already', p_reference;
  end if;
  if v_row.state = 'paid' then
    update payment p set surprise = null where p.budget = p_budget and p.key = v_row.key and p.attempt = p_attempt;
    perform write_down(v_now, v_row, 'saidSeen', null, v_by, p_note);
    return 'paid';
  end if;
  if (v_row.state = 'notPaid') = p_was_paid then
    perform reserve(p_budget, v_row.spent_on, array[v_row.to_user_id]::text[], array[v_row.requested_by]::text[],
      array[case when p_was_paid then v_row.amount_etb else -v_row.amount_etb end]);
  end if;
  update payment p set state = v_state, settled_by = v_by, reason = p_note, ended_at = v_now
  where p.budget = p_budget and p.key = v_row.key and p.attempt = p_attempt;
  perform write_down(v_now, v_row, case when p_was_paid then 'saidPaid' else 'saidNotPaid' end, null, v_by, p_note);
  return v_state;
end $f$;

-- For the desk: a person writes down what was paid without the gate, so that the gate pays nobody of the list: all that it would pay now.
-- p_items: [{reference, toUserId, amountEtb, txHash}]. It counts as spent only where the gate handed it out once.
-- items: each with its outcome, in order: written, alreadyPaid, or refused with the message.
create or replace function write_down_paid(p_budget text, p_items json, p_by text, p_note text, out items jsonb) language plpgsql security definer as $f$
#variable_conflict use_column
declare
  v_items jsonb[] := array(select jsonb_array_elements(p_items::jsonb));
  v_rules rules := lock_budget(p_budget);
  v_now timestamptz := clock();
  v_by text := person(p_by);
  v_item record;
  v_row payment;
  v_outcome text; v_message text;
  v_told jsonb[] := '{}';
begin
  for v_item in select r.* from unnest(v_items) with ordinality i (item, n), read_item(i.item) r order by i.n loop
    v_row := deciding_attempt(p_budget, v_item.key);
    v_outcome := 'refused'; v_message := v_item.problem;
    if v_message is not null then
      null;
    elsif is_of_another(v_row, v_item.to_user_id, v_item.amount_etb) then
      v_message := format('Its reference belongs to another payment: %s ETB to %s', v_row.amount_etb, v_row.to_user_id);
    elsif v_row.state = 'sending' and v_row.lease_until > v_now then
      v_message := 'The gate is sending it now';
    elsif v_row.state = 'paid' then
      v_outcome := 'alreadyPaid'; v_message := 'It is recorded as paid';
    elsif v_row.to_user_id = v_item.to_user_id and v_row.amount_etb = v_item.amount_etb then
      perform settle(p_budget, v_row.reference, v_row.attempt, true, v_by, p_note);
      update payment p set tx_hash = coalesce(p.tx_hash, v_item.tx_hash) where p.budget = p_budget and p.key = v_row.key and p.attempt = v_row.attempt;
      v_outcome := 'written';
    else
      insert into payment as p (budget, key, attempt, reference, to_user_id, amount_etb, state, requested_by, claimed_at, lease_until, ended_at, tx_hash, reason, settled_by)
      values (p_budget, v_item.key, coalesce(v_row.attempt, 0) + 1, coalesce(v_row.reference, v_item.reference), v_item.to_user_id, v_item.amount_etb, 'paid',
        v_item.requested_by, v_now, v_now, v_now, v_item.tx_hash, p_note, v_by)
      returning p.* into v_row;
      perform write_down(v_now, v_row, 'saidPaidBefore', null, v_by, p_note);
      v_outcome := 'written';
    end if;
    v_told := array_append(v_told, jsonb_build_object('outcome', v_outcome, 'message', v_message, 'reference', v_item.reference, 'toUserId', v_item.to_user_id,
      'amountEtb', v_item.amount_etb, 'txHash', coalesce(v_row.tx_hash, v_item.tx_hash)));
  end loop;
  items := to_jsonb(v_told);
end $f$;
