-- The functions that the gate calls after it has sent.

-- Reads the answer of the ETB Wallet node about one payment. outcome: paid or notPaid if the answer is certain and about this payment, else unknown.
-- paid: the other fields of a payment that was made, {amountEtb, requestedAmountEtb, paidAt}
create or replace function read_answer(
  p_item jsonb, p_answer jsonb, out outcome text, out code text, out tx_hash text, out message text, out paid jsonb
) language plpgsql immutable as $f$
declare
  -- With "On Error: Continue (using error output)" n8n puts the answer under error.
  v_answer jsonb := case when jsonb_typeof(p_answer -> 'error') = 'object' then p_answer || (p_answer -> 'error') else p_answer end;
begin
  -- (A dry run sent nothing.)
  outcome := case v_answer ->> 'outcome' when 'ready' then 'notPaid' else v_answer ->> 'outcome' end;
  if outcome in ('paid', 'notPaid', 'unknown') and v_answer ->> 'toUserId' = p_item ->> 'toUserId'
    and coalesce(v_answer ->> 'reference', p_item ->> 'reference') = p_item ->> 'reference'
  then
    code := coalesce(v_answer ->> 'code', outcome);
    tx_hash := nullif(left(v_answer ->> 'txHash', 200), ''); -- no index takes a longer text
    if outcome = 'paid' then
      paid := jsonb_strip_nulls(jsonb_build_object('amountEtb', v_answer -> 'amountEtb', 'requestedAmountEtb', v_answer -> 'requestedAmountEtb', 'paidAt', v_answer -> 'paidAt'));
    else
      message := nullif(concat_ws('. ', rtrim(v_answer ->> 'message', '. '), coalesce(v_answer ->> 'remedy', v_answer ->> 'description')), '');
    end if;
  else
    outcome := 'unknown'; code := 'unclear';
    message := 'The ETB Wallet node did not say how it ended. Ask the partner service, then settle it';
  end if;
end $f$;

-- The event of the history for the answer p_outcome about an attempt in the state p_state, where p_answer is the node's last answer (null: none).
-- Null: the answer is not new.
--
--   state    | last answer | paid       | notPaid    | unknown
--   sending  | none        | paid       | notPaid    | unknown
--   unknown  | none        | paid       | notPaid    | lateAnswer     Its lease ended
--   unknown  | unknown     | paid       | lateAnswer |
--   notPaid  | none        | latePaid   | lateAnswer | lateUnknown    A person settled it
--   notPaid  | notPaid     | latePaid   |            | lateUnknown
--   notPaid  | unknown     | latePaid   | lateAnswer |                A person settled it, and knew this answer
--   paid     | paid        |            | lateAnswer | lateAnswer
--   paid     | another one | lateAnswer | lateAnswer | lateAnswer     A person settled it. The answer that came before is not new
create or replace function event_of(p_state text, p_answer text, p_outcome text) returns text language plpgsql immutable as $f$
begin
  return case
    when p_state = 'sending' then p_outcome
    when p_state = 'unknown' and p_outcome = 'paid' then 'paid'
    when p_state = 'unknown' and p_outcome = 'notPaid' and p_answer is null then 'notPaid'
    when p_state = 'notPaid' and p_outcome = 'paid' then 'latePaid'
    when p_state = 'notPaid' and p_outcome = 'unknown' and p_answer is distinct from 'unknown' then 'lateUnknown'
    when p_answer is distinct from p_outcome then 'lateAnswer'
  end;
end $f$;

-- For the gate: records how the attempts of a claim ended. p_items: what claim gave as items. p_answers: what the ETB Wallet node gave for send, in
-- its order: one for each, also for errors. It ends only attempts that this claim handed out, and a paid one stays paid. A later answer "paid" or
-- "unknown" counts, also for an attempt that was recorded or settled as not paid. It can be repeated. items: each with its outcome, in order.
-- @throws when this record does not have the claim: then nothing at all is recorded
create or replace function record(
  p_budget text, p_claim uuid, p_items json, p_answers json, p_execution text default null, out items jsonb
) language plpgsql security definer as $f$
declare
  v_items jsonb[] := array(select jsonb_array_elements(p_items::jsonb));
  v_answers jsonb[] := array(select jsonb_array_elements(p_answers::jsonb));
  v_rules rules := lock_budget(p_budget);
  v_now timestamptz := clock();
  v_is_complete boolean := cardinality(v_answers) = (select count(*) from unnest(v_items) i where i ->> 'outcome' is null);
  v_sent integer := 0;
  v_item jsonb;
  v_key text;
  v_said record;
  v_row payment;
  v_event text; v_before text;
  v_asks boolean;
  v_sign integer;
  v_day date; v_to text[] := '{}'; v_by text[] := '{}'; v_amounts numeric[] := '{}';
  v_told jsonb[] := '{}';
begin
  foreach v_item in array v_items loop
    v_key := key_of(v_item ->> 'reference');
    v_asks := v_item ->> 'code' = 'inFlight';
    if v_item ->> 'outcome' is null then
      v_sent := v_sent + 1;
      v_said := read_answer(v_item, case when v_is_complete then v_answers[v_sent] end);
      select * into v_row from payment p where p.budget = p_budget and p.key = v_key and p.claim = p_claim order by p.attempt limit 1;
      if not found then
        raise exception 'This record did not hand out the payment "%": it was restored from a backup, or was behind when it took over. Nothing is recorded', v_item ->> 'reference'
          using hint = 'Write down first what was paid since: docs/operating.md, "After a restore".';
      end if;
      v_before := coalesce(v_row.settled_by || ' settled it', 'It was recorded') || ' as not paid';
      if v_said.outcome = 'paid' and v_row.state = 'paid' and v_said.tx_hash <> v_row.tx_hash and not exists (
        select from payment p where p.budget = p_budget and p.key = v_key and p.tx_hash = v_said.tx_hash
      ) then
        -- Another txHash is another payment. It gets an attempt of its own, which was not paid until now.
        v_before := 'This claim was paid before, as ' || v_row.tx_hash;
        v_row.attempt := (select max(p.attempt) + 1 from payment p where p.budget = p_budget and p.key = v_key);
        v_row.state := 'notPaid';
        insert into payment values (v_row.*);
      end if;
      v_event := event_of(v_row.state, v_row.answer, v_said.outcome);
      if v_event = 'lateAnswer' then
        -- The state stays. Only the answer is kept, and the txHash of a paid attempt that had none.
        perform write_down(v_now, v_row, v_event, p_execution, null, concat_ws(' ', v_said.outcome, v_said.tx_hash, v_said.message));
        update payment p set answer = v_said.outcome,
          tx_hash = case when p.state = 'paid' and v_said.outcome = 'paid' then coalesce(p.tx_hash, v_said.tx_hash) else p.tx_hash end
        where p.budget = p_budget and p.key = v_key and p.attempt = v_row.attempt;
      elsif v_event is not null then
        if v_event in ('latePaid', 'lateUnknown') then
          v_said.message := concat_ws(' ', format('%s. Later another response came: %s.', v_before, v_said.outcome), v_said.message);
        end if;
        -- Money that was given back counts as spent again; money that was not paid is given back. All attempts of a claim count for one day.
        v_sign := case when v_event in ('latePaid', 'lateUnknown') then 1 when v_event = 'notPaid' then -1 end;
        if v_sign is not null then
          v_day := v_row.spent_on;
          v_to := array_append(v_to, v_row.to_user_id::text); v_by := array_append(v_by, v_row.requested_by::text); v_amounts := array_append(v_amounts, v_sign * v_row.amount_etb);
        end if;
        update payment p set
          state = v_said.outcome, answer = v_said.outcome, tx_hash = v_said.tx_hash, reason = v_said.message, ended_at = v_now, settled_by = null,
          surprise = case
            when v_said.outcome = 'paid' and exists (select from payment o where o.budget = p_budget and o.key = v_key and o.state = 'paid') then 'paidTwice'
            when v_event = 'latePaid' then 'paidAfterAll'
          end
        where p.budget = p_budget and p.key = v_key and p.attempt = v_row.attempt;
        perform write_down(v_now, v_row, v_event, p_execution, null, coalesce(v_said.tx_hash, v_said.message));
      end if;
      v_item := v_item || jsonb_build_object('outcome', v_said.outcome, 'code', v_said.code, 'message', v_said.message, 'txHash', v_said.tx_hash) || coalesce(v_said.paid, '{}');
      v_asks := v_said.outcome <> 'paid' and (v_event is null or v_event = 'lateAnswer');
    end if;
    if v_asks then
      -- The payment may have changed: another claim ended while this window was sent, or another attempt decides.
      v_row := deciding_attempt(p_budget, v_key);
      v_item := v_item || jsonb_build_object('txHash', v_row.tx_hash) || case
        when v_row.state = 'paid' then jsonb_build_object('outcome', 'alreadyPaid', 'code', 'paidBefore', 'message', 'It was paid before, and is not sent again')
        when v_row.state = 'sending' then jsonb_build_object('outcome', 'unknown', 'code', 'inFlight', 'message', 'Another execution is sending it: run this again later')
        when v_row.state = v_item ->> 'outcome' and v_item ->> 'code' <> 'inFlight' then jsonb_build_object('message', coalesce(v_row.reason, v_item ->> 'message'))
        else jsonb_build_object('outcome', v_row.state, 'code', case v_row.state when 'unknown' then 'inDoubt' else 'refused' end, 'message', v_row.reason)
      end;
    end if;
    v_told := array_append(v_told, v_item);
  end loop;
  perform reserve(p_budget, v_day, v_to, v_by, v_amounts);
  items := to_jsonb(v_told);
end $f$;
