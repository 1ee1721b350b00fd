--------------------------------------------------------------------------------------------------------------- The desk

-- Who does it, without blanks around the name. @throws when nobody is named
create or replace function etb_wallet.person(p_by text) returns text
language plpgsql immutable set search_path = etb_wallet, pg_temp as $f$
begin
  if coalesce(btrim(p_by), '') = '' then
    raise exception 'Say who does it';
  end if;
  return btrim(p_by);
end $f$;

-- The attempt that a person looks at. @throws when there is none
create or replace function etb_wallet.attempt_of(p_budget text, p_reference text, p_attempt integer) returns etb_wallet.payment
language plpgsql stable set search_path = etb_wallet, pg_temp as $f$
declare
  v_row payment;
begin
  select * into v_row from payment p where p.budget = p_budget and p.reference = p_reference and p.attempt = p_attempt;
  if not found then
    raise exception 'The budget "%" has no payment with the reference "%" and the attempt %', p_budget, p_reference, coalesce(p_attempt::text, '(none given)');
  end if;
  return v_row;
end $f$;

-- For the desk: a person says what became of an attempt, the one that they asked the partner service about. "Not paid" only of what is unknown: then
-- it may be sent again. "Paid" also of what was taken for not paid, unless it was sent again since. Of a payment that is paid it only takes a
-- surprise off the list. @returns the state
create or replace function etb_wallet.settle(p_budget text, p_reference text, p_attempt integer, p_was_paid boolean, p_by text, p_note text) returns text
language plpgsql volatile security definer set search_path = etb_wallet, pg_temp set enable_seqscan = off set jit = off as $f$
declare
  v_rules rules := lock_budget(p_budget);
  v_now timestamptz := clock();
  v_by text := person(p_by);
  v_row payment := attempt_of(p_budget, p_reference, p_attempt);
  v_state text := case when p_was_paid then 'paid' when not p_was_paid then 'notPaid' end;
  v_lease_until text := to_char(v_row.lease_until at time zone v_rules.time_zone, 'YYYY-MM-DD HH24:MI:SS');
begin
  if v_state is null then
    raise exception 'Say whether it was paid';
  elsif v_row.state = 'paid' and not (p_was_paid and v_row.surprise is not null) then
    raise exception 'The payment "%" is paid, and stays paid', p_reference;
  elsif v_row.state = 'sending' and v_row.lease_until > v_now then
    raise exception 'The payment "%" is being sent: wait until %', p_reference, v_lease_until;
  elsif not p_was_paid and v_row.state = 'unknown' and v_row.lease_until > v_now then
    -- The answer "unknown" may be of a copy of the execution that is still sending it.
    raise exception 'The payment "%" may still be sent: say that it was not paid after %', p_reference, v_lease_until;
  elsif v_row.state = 'notPaid' and exists (select from payment p where p.budget = p_budget and p.reference = p_reference and p.attempt > p_attempt) then
    raise exception 'The payment "%" was sent again since you looked: look again, and ask the partner service about that', p_reference;
  elsif v_row.state = 'notPaid' and not p_was_paid then
    raise exception 'The payment "%" is known as not paid already', p_reference;
  end if;
  if v_row.state = 'paid' then
    update payment p set surprise = null where p.budget = p_budget and p.reference = p_reference and p.attempt = p_attempt;
    perform write_down(v_now, v_row, 'saidSeen', null, v_by, p_note);
    return 'paid';
  end if;
  if (v_row.state = 'notPaid') = p_was_paid then
    perform reserve(p_budget, v_row.spent_on, array[v_row.to_user_id], array[v_row.requested_by],
      array[case when p_was_paid then v_row.amount_etb else -v_row.amount_etb end]);
  end if;
  update payment p set state = v_state, settled_by = v_by, reason = p_note, ended_at = v_now
  where p.budget = p_budget and p.reference = p_reference and p.attempt = p_attempt;
  perform write_down(v_now, v_row, case when p_was_paid then 'saidPaid' else 'saidNotPaid' end, null, v_by, p_note);
  return v_state;
end $f$;

-- For the desk: a person writes down what was paid without the gate, so that the gate pays nobody of the list.
-- p_items: [{reference, toUserId, amountEtb, txHash}]. It counts as spent only where the gate handed it out once.
-- items: each with its outcome, in order: written, alreadyPaid, or refused with the reason.
create or replace function etb_wallet.write_down_paid(p_budget text, p_items json, p_by text, p_note text, out items jsonb)
language plpgsql volatile security definer set search_path = etb_wallet, pg_temp set enable_seqscan = off set jit = off as $f$
#variable_conflict use_column
declare
  v_items jsonb[] := elements(p_items);
  v_rules rules := lock_budget(p_budget);
  v_now timestamptz := clock();
  v_by text := person(p_by);
  v_item record;
  v_row payment;
  v_outcome text; v_reason text;
  v_told jsonb[] := '{}';
begin
  for v_item in select r.* from unnest(v_items) with ordinality i (item, n), read_item(i.item) r order by i.n loop
    v_row := deciding_attempt(p_budget, v_item.reference);
    v_outcome := 'refused'; v_reason := v_item.problem;
    if v_reason is not null then
      null;
    elsif v_row.to_user_id <> v_item.to_user_id or v_row.amount_etb <> v_item.amount_etb then
      v_reason := format('Its reference belongs to another payment: %s ETB to %s', v_row.amount_etb, v_row.to_user_id);
    elsif v_row.state = 'sending' and v_row.lease_until > v_now then
      v_reason := 'The gate is sending it now';
    elsif v_row.state = 'paid' then
      v_outcome := 'alreadyPaid'; v_reason := 'It is recorded as paid';
    elsif v_row.state is not null then
      perform settle(p_budget, v_row.reference, v_row.attempt, true, v_by, p_note);
      update payment p set tx_hash = coalesce(p.tx_hash, v_item.tx_hash) where p.budget = p_budget and p.reference = v_row.reference and p.attempt = v_row.attempt;
      v_outcome := 'written';
    else
      insert into payment as p (budget, reference, attempt, look, to_user_id, amount_etb, state, requested_by, claimed_at, lease_until, ended_at, tx_hash, reason, settled_by)
      values (p_budget, v_item.reference, 1, look_of(v_item.reference), v_item.to_user_id, v_item.amount_etb, 'paid', v_item.requested_by, v_now, v_now, v_now, v_item.tx_hash, p_note, v_by)
      returning p.* into v_row;
      perform write_down(v_now, v_row, 'saidPaidBefore', null, v_by, p_note);
      v_outcome := 'written';
    end if;
    v_told := array_append(v_told, jsonb_build_object('outcome', v_outcome, 'reason', v_reason, 'reference', v_item.reference, 'toUserId', v_item.to_user_id,
      'amountEtb', v_item.amount_etb, 'txHash', coalesce(v_row.tx_hash, v_item.tx_hash)));
  end loop;
  items := to_jsonb(v_told);
end $f$;

-- For the desk: a person says that a paid payment needs no event disburse.completed any more
create or replace function etb_wallet.confirm_by_hand(p_budget text, p_reference text, p_attempt integer, p_by text, p_note text) returns void
language plpgsql volatile security definer set search_path = etb_wallet, pg_temp set enable_seqscan = off set jit = off as $f$
declare
  v_rules rules := lock_budget(p_budget);
  v_now timestamptz := clock();
  v_by text := person(p_by);
  v_row payment := attempt_of(p_budget, p_reference, p_attempt);
begin
  if coalesce(btrim(p_note), '') = '' then
    raise exception 'Say why the payment "%" needs no confirmation', p_reference;
  elsif v_row.state <> 'paid' or v_row.confirmed_at is not null then
    raise exception 'The payment "%" does not wait for a confirmation', p_reference;
  end if;
  update payment p set confirmed_at = v_now, confirmed_by = v_by where p.budget = p_budget and p.reference = p_reference and p.attempt = p_attempt;
  perform write_down(v_now, v_row, 'saidConfirmed', null, v_by, p_note);
end $f$;
