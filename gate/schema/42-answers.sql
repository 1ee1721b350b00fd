-- The answer of the ETB Wallet node, as values of the record

-- What the ETB Wallet node said of a payment that it was to send: an outcome that is certain, or unknown.
-- paid: what it told besides, of a payment that was made: amountEtb, requestedAmountEtb, paidAt
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
    tx_hash := nullif(left(v_answer ->> 'txHash', 200), ''); -- what is longer no index takes
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
