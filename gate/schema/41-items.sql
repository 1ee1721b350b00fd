-- An item of a list that comes, as values of the record

-- Text without white space around it, or null. Spreadsheets turn identifiers into numbers, so whole numbers are text too.
create or replace function plain_text(p_value jsonb) returns text language plpgsql immutable as $f$
begin
  return case jsonb_typeof(p_value)
    when 'string' then nullif(btrim(p_value #>> '{}', :'blanks'), '')
    when 'number' then case when p_value #>> '{}' ~ '^-?[0-9]{1,15}$' then p_value #>> '{}' end
  end;
end $f$;

-- An amount in ETB, without what calculations with numbers leave behind (0.30000000000000004 is 0.3). Null is: not a plain amount.
create or replace function plain_amount(p_value jsonb) returns numeric language plpgsql immutable as $f$
declare
  v_is_text boolean := jsonb_typeof(p_value) = 'string';
  v_text text := case when v_is_text then plain_text(p_value) when jsonb_typeof(p_value) = 'number' then p_value #>> '{}' end;
  v_amount numeric;
begin
  if length(v_text) > 1000 or v_is_text and v_text !~ '^[0-9]+([.][0-9]+)?$' then
    return null;
  end if;
  v_amount := v_text::numeric;
  if not v_is_text and abs(v_amount - round(v_amount, 2)) < 0.0000005 then
    v_amount := round(v_amount, 2);
  end if;
  -- Above that, a number of n8n has no hundredths any more.
  return case when v_amount > 0 and v_amount < 1e13 then trim_scale(v_amount) end;
end $f$;

-- The fields of an item of a list, and why it is not taken, or null
create or replace function read_item(
  p_item jsonb, out reference text, out key text, out to_user_id text, out amount_etb numeric, out requested_by text, out tx_hash text, out problem text
) language plpgsql immutable as $f$
begin
  reference := plain_text(p_item -> 'reference');
  key := key_of(left(reference, 200));
  to_user_id := plain_text(p_item -> 'toUserId');
  amount_etb := plain_amount(p_item -> 'amountEtb');
  requested_by := coalesce(plain_text(p_item -> 'requestedBy'), '');
  tx_hash := plain_text(p_item -> 'txHash');
  problem := case
    when reference is null and jsonb_typeof(p_item -> 'reference') not in ('null', 'string') then format('Reference is %s, which is not text', left(p_item ->> 'reference', 60))
    when coalesce(key, '') = '' then 'Reference is empty: give each payment a text of its own'
    when length(reference) > 200 then format('Reference is %s, which is longer than 200 characters', to_json(left(reference, 60)))
    when to_user_id is null then 'It has no toUserId: the ID that User → Create returned'
    when amount_etb is null then format('Its amountEtb is not a plain amount, such as 1250.50: %s', left(coalesce(p_item ->> 'amountEtb', 'empty'), 40))
    -- It is sent as a text, of which the node takes no third decimal, not even a zero: 1.250 may be one thousand.
    when scale(amount_etb) > 2 or (jsonb_typeof(p_item -> 'amountEtb') = 'string' and p_item ->> 'amountEtb' ~ '[.][0-9]{3}') then
      format('Its amountEtb is %s, which has more than two decimals. If its point stands between thousands, leave it out, such as 1250. Otherwise round to two decimals, such as 1250.50', to_json(left(p_item ->> 'amountEtb', 40)))
    when requested_by = '' and jsonb_typeof(p_item -> 'requestedBy') not in ('null', 'string') then 'Its requestedBy is not text'
    when greatest(length(to_user_id), length(requested_by), length(tx_hash)) > 200 then 'Its toUserId, requestedBy or txHash is longer than 200 characters'
  end;
end $f$;
