-- For the gate: records how the attempts of a claim ended. p_items: what claim gave as items. p_answers: what the ETB Wallet node gave for send, in
-- its order: one for each, also for errors. It ends only what this claim handed out, and never changes what is paid. What was not
-- paid, also in the words of a person, it opens again when a later answer says paid or unknown. It can be repeated. items: each with its outcome, in order.
create or replace function etb_wallet.record(
  p_budget text, p_claim uuid, p_items json, p_answers json, p_execution text default null, out items jsonb
) language plpgsql volatile security definer set search_path = etb_wallet, pg_temp set enable_seqscan = off set jit = off as $f$
declare
  v_items jsonb[] := elements(p_items);
  v_answers jsonb[] := elements(p_answers);
  v_rules rules := lock_budget(p_budget);
  v_now timestamptz := clock();
  v_is_complete boolean;
  v_sent integer := 0;
  v_item jsonb; v_answer jsonb;
  v_row payment;
  v_event text; v_outcome text; v_tx_hash text; v_reason text; v_before text;
  v_sign integer;
  v_day date; v_to text[] := '{}'; v_by text[] := '{}'; v_amounts numeric[] := '{}';
  v_told jsonb[] := '{}';
begin
  -- With "On Error: Continue" n8n puts the node's answer under error.
  v_answers := array(select case when jsonb_typeof(a -> 'error') = 'object' then a || (a -> 'error') else a end from unnest(v_answers) a);
  v_is_complete := cardinality(v_answers) = (select count(*) from unnest(v_items) i where i ->> 'decision' = 'send');
  foreach v_item in array v_items loop
    v_outcome := v_item ->> 'decision'; v_tx_hash := v_item ->> 'txHash'; v_reason := v_item ->> 'reason';

    if v_outcome = 'send' then
      v_sent := v_sent + 1;
      v_answer := v_answers[v_sent];
      -- A dry run sent nothing.
      v_outcome := case v_answer ->> 'outcome' when 'ready' then 'notPaid' else v_answer ->> 'outcome' end;
      v_tx_hash := nullif(left(v_answer ->> 'txHash', 200), ''); -- what is longer no index takes
      v_reason := case when v_outcome <> 'paid' then nullif(concat_ws('. ', rtrim(v_answer ->> 'message', '. '), v_answer ->> 'description'), '') end;
      -- What the node did not say clearly, about this payment, is unknown.
      if not v_is_complete or v_outcome is null or v_outcome not in ('paid', 'notPaid', 'unknown')
        or v_answer ->> 'toUserId' is distinct from v_item ->> 'toUserId'
        or coalesce(v_answer ->> 'reference', v_item ->> 'reference') is distinct from v_item ->> 'reference'
      then
        v_outcome := 'unknown'; v_tx_hash := null;
        v_reason := 'The ETB Wallet node did not say how it ended. Ask the partner service, then settle it';
      end if;

      select * into v_row from payment p where p.budget = p_budget and p.reference = v_item ->> 'reference' and p.claim = p_claim order by p.attempt limit 1;
      v_before := coalesce(v_row.settled_by || ' settled it', 'It was recorded') || ' as not paid';
      if v_outcome = 'paid' and v_row.state = 'paid' and v_tx_hash <> v_row.tx_hash and not exists (
        select from payment p where p.budget = p_budget and p.reference = v_row.reference and p.tx_hash = v_tx_hash
      ) then
        -- Another txHash is another payment. It gets an attempt of its own, which was not paid until now.
        v_before := 'This claim was paid before, as ' || v_row.tx_hash;
        v_row.attempt := (select max(p.attempt) + 1 from payment p where p.budget = p_budget and p.reference = v_row.reference);
        v_row.state := 'notPaid'; v_row.confirmed_by := null;
        insert into payment values (v_row.*);
      end if;
      v_event := case
        when v_row.state = 'sending' then v_outcome
        when v_row.settled_by is null and v_row.state = 'unknown' and v_outcome = 'paid' then v_outcome
        when v_row.settled_by is null and v_row.state = 'unknown' and v_outcome = 'notPaid' and v_row.answer is null then v_outcome -- only its lease had ended
        when v_row.state = 'notPaid' and v_outcome = 'paid' then 'latePaid'
        -- (An answer that was recorded before a person settled it is no news.)
        when v_row.state = 'notPaid' and v_outcome = 'unknown' and v_row.answer is distinct from 'unknown' then 'lateUnknown'
        when v_row.answer is distinct from v_outcome then 'lateAnswer'
      end;
      if v_event = 'lateAnswer' then
        -- It changes nothing, but that a txHash is kept. (Without v_row: no claim of this record handed it out.)
        insert into history (at, budget, event, reference, attempt, to_user_id, amount_etb, claim, execution, detail)
        values (v_now, p_budget, v_event, v_item ->> 'reference', v_row.attempt, v_item ->> 'toUserId', plain_amount(v_item -> 'amountEtb'), p_claim, p_execution,
          concat_ws(' ', v_outcome, v_tx_hash, v_reason));
        update payment p set answer = v_outcome, tx_hash = case when p.state = 'paid' and v_outcome = 'paid' then coalesce(p.tx_hash, v_tx_hash) else p.tx_hash end
        where p.budget = p_budget and p.reference = v_row.reference and p.attempt = v_row.attempt;
      elsif v_event is not null then
        if v_event in ('latePaid', 'lateUnknown') then
          v_reason := concat_ws(' ', format('%s. Later another answer came: %s.', v_before, v_outcome), v_reason);
        end if;
        -- What was given back counts as spent again; what was not paid is given back. All of one claim is of one day.
        v_sign := case when v_event in ('latePaid', 'lateUnknown') then 1 when v_event = 'notPaid' then -1 end;
        if v_sign is not null then
          v_day := v_row.spent_on;
          v_to := array_append(v_to, v_row.to_user_id); v_by := array_append(v_by, v_row.requested_by); v_amounts := array_append(v_amounts, v_sign * v_row.amount_etb);
        end if;
        update payment p set
          state = v_outcome, answer = v_outcome, tx_hash = v_tx_hash, reason = v_reason, ended_at = v_now, settled_by = null,
          surprise = case
            when v_outcome = 'paid' and (deciding_attempt(p_budget, p.reference)).state = 'paid' then 'paidTwice'
            when v_event = 'latePaid' then 'paidAfterAll'
          end,
          confirmed_at = (select c.received_at from confirmation c where v_outcome = 'paid' and c.budget = p_budget and c.tx_hash = v_tx_hash)
        where p.budget = p_budget and p.reference = v_row.reference and p.attempt = v_row.attempt;
        perform write_down(v_now, v_row, v_event, p_execution, null, coalesce(v_tx_hash, v_reason));
      end if;
      if v_outcome <> 'paid' and (v_event is null or v_event = 'lateAnswer') then
        -- What the payment is, by this or another attempt.
        v_row := deciding_attempt(p_budget, v_item ->> 'reference');
        v_outcome := case v_row.state when 'paid' then 'alreadyPaid' when 'sending' then 'inFlight' else coalesce(v_row.state, v_outcome) end;
        v_tx_hash := v_row.tx_hash; v_reason := coalesce(v_row.reason, v_reason);
      end if;
    elsif v_outcome = 'inFlight' then
      v_row := deciding_attempt(p_budget, v_item ->> 'reference');
      if v_row.state <> 'sending' then
        -- It ended while this window was sent.
        v_outcome := case v_row.state when 'paid' then 'alreadyPaid' else v_row.state end;
        v_tx_hash := v_row.tx_hash;
        v_reason := case v_row.state when 'paid' then 'Another execution paid it just now' else v_row.reason end;
      end if;
    end if;
    v_told := array_append(v_told, v_item || jsonb_build_object('outcome', v_outcome, 'txHash', v_tx_hash, 'reason', v_reason));
  end loop;
  perform reserve(p_budget, v_day, v_to, v_by, v_amounts);
  items := to_jsonb(v_told);
end $f$;
