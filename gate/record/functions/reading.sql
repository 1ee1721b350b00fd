---------------------------------------------------------------------------------------------------- Reading what comes

-- The time now. It is the only clock of the gate: a test can put another in its place.
create or replace function etb_wallet.clock() returns timestamptz
language sql volatile set search_path = etb_wallet, pg_temp as $f$
  select clock_timestamp()
$f$;

-- The elements of a list. Those that PostgreSQL cannot read, such as a text with U+0000, are null, and the others are not hurt.
create or replace function etb_wallet.elements(p_list json) returns jsonb[]
language plpgsql immutable set search_path = etb_wallet, pg_temp as $f$
declare
  v_elements jsonb[] := '{}';
  v_element json;
begin
  if json_typeof(p_list) is distinct from 'array' then
    raise exception 'Not a list of items: %', left(coalesce(p_list::text, 'nothing'), 80);
  end if;
  begin
    return array(select jsonb_array_elements(p_list::jsonb));
  exception when others then null; -- one by one then
  end;
  for v_element in select json_array_elements(p_list) loop
    begin
      v_elements := array_append(v_elements, v_element::jsonb);
    exception when others then
      v_elements := array_append(v_elements, null);
    end;
  end loop;
  return v_elements;
end $f$;

-- Text without white space around it, or null. Spreadsheets turn identifiers into numbers, so whole numbers are text too.
create or replace function etb_wallet.plain_text(p_value jsonb) returns text
language plpgsql immutable set search_path = etb_wallet, pg_temp as $f$
begin
  return case jsonb_typeof(p_value)
    when 'string' then nullif(btrim(p_value #>> '{}', E' \t\n\r\f\u000b\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff'), '')
    when 'number' then case when p_value #>> '{}' ~ '^-?[0-9]{1,15}$' then p_value #>> '{}' end
  end;
end $f$;

-- How many digits of a number count: 1200.50 has 4
create or replace function etb_wallet.digits(p_number numeric) returns integer
language plpgsql immutable set search_path = etb_wallet, pg_temp as $f$
begin
  return length(btrim(replace(p_number::text, '.', ''), '0'));
end $f$;

-- An amount as the ETB Wallet node reads it, so that what is recorded is what is sent: above zero, at most 15 digits; what a calculation
-- adds to a number (0.30000000000000004) goes. Null is: not a plain amount.
create or replace function etb_wallet.plain_amount(p_value jsonb) returns numeric
language plpgsql immutable set search_path = etb_wallet, pg_temp as $f$
declare
  v_text text := p_value #>> '{}';
  v_amount numeric;
begin
  if jsonb_typeof(p_value) = 'string' then
    v_text := plain_text(p_value);
    if length(v_text) > 1000 or v_text !~ '^[0-9]+([.][0-9]+)?$' then
      return null;
    end if;
  elsif jsonb_typeof(p_value) is distinct from 'number' or length(v_text) > 1000 then
    return null;
  end if;
  v_amount := trim_scale(v_text::numeric);
  if v_amount is null or v_amount < 0.000001 or v_amount >= 1e21 then
    return null;
  end if;
  if digits(v_amount) > 15 and jsonb_typeof(p_value) = 'number' then
    v_amount := trim_scale(round(v_amount, 14 - floor(log(v_amount))::integer));
    -- All 15 digits in use: then the rest may be meant.
    return case when digits(v_amount) < 15 then v_amount end;
  end if;
  return case when digits(v_amount) <= 15 then v_amount end;
end $f$;

-- Why a reference is not taken, in the words of the ETB Wallet node, or null: what looks the same has to be the same.
create or replace function etb_wallet.problem_of_reference(p_reference text) returns text
language plpgsql immutable set search_path = etb_wallet, pg_temp as $f$
declare
  v_shown text := to_json(left(p_reference, 60))::text;
  v_found text;
begin
  if p_reference is null then
    return 'Reference is empty: give each payment a text of its own';
  elsif length(p_reference) > 200 then
    return format('Reference is %s, which is longer than 200 characters', v_shown);
  elsif p_reference ~ '^[ -~]*$' then
    return null;
  end if;
  v_found := substring(p_reference from E'[\u0001-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]');
  if v_found is not null then
    return format('Reference is %s, which has an invisible character (U+%s)', v_shown, upper(lpad(to_hex(ascii(v_found)), greatest(4, length(to_hex(ascii(v_found)))), '0')));
  end if;
  v_found := substring(p_reference from E'[\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]');
  if v_found is not null then
    return format('Reference is %s, which has a blank that is not a plain one (U+%s)', v_shown, upper(lpad(to_hex(ascii(v_found)), greatest(4, length(to_hex(ascii(v_found)))), '0')));
  elsif normalize(p_reference, nfc) <> p_reference then
    return format('Reference is %s, which is not in Unicode''s composed form', v_shown);
  end if;
  return null;
end $f$;

-- References with the same look differ only in case, blanks or compatibility forms, such as ２ and 2.
-- (The locale C knows no case but that of ASCII, so ICU's is asked where PostgreSQL has it.)
execute format($execute$
  create or replace function etb_wallet.look_of(p_reference text) returns text
  language plpgsql immutable set search_path = etb_wallet, pg_temp as $f$
  begin
    return replace(lower(normalize(p_reference, nfkc) %s), ' ', '');
  end $f$
$execute$, (select 'collate pg_catalog."und-x-icu"' from pg_collation where collname = 'und-x-icu' and collnamespace = 'pg_catalog'::regnamespace));
comment on function etb_wallet.look_of is 'References with the same look differ only in case, blanks or compatibility forms';

-- The fields of an item of a list, and why it is not taken, or null
create or replace function etb_wallet.read_item(
  p_item jsonb, out reference text, out to_user_id text, out amount_etb numeric, out requested_by text, out tx_hash text, out problem text
) language plpgsql immutable set search_path = etb_wallet, pg_temp as $f$
begin
  reference := plain_text(p_item -> 'reference');
  to_user_id := plain_text(p_item -> 'toUserId');
  amount_etb := plain_amount(p_item -> 'amountEtb');
  requested_by := coalesce(plain_text(p_item -> 'requestedBy'), '');
  tx_hash := plain_text(p_item -> 'txHash');
  problem := case
    when p_item is null then 'It cannot be read: it holds a character that PostgreSQL does not keep, such as U+0000'
    when problem_of_reference(reference) is not null then problem_of_reference(reference)
    when to_user_id is null then 'It has no toUserId: the ID that User → Create returned'
    when amount_etb is null then format('Its amountEtb is not a plain amount, such as 1250.50: %s', left(coalesce(p_item ->> 'amountEtb', 'empty'), 40))
    -- It is sent as a text, of which the node takes no third decimal, not even a zero: 1.250 may be one thousand.
    when scale(amount_etb) > 2 or (jsonb_typeof(p_item -> 'amountEtb') = 'string' and p_item ->> 'amountEtb' ~ '[.][0-9]{3}') then
      format('Its amountEtb is %s, which has more than two decimals. If its point stands between thousands, leave it out, such as 1250. Otherwise round to two decimals, such as 1250.50', to_json(left(p_item ->> 'amountEtb', 40)))
    when requested_by = '' and jsonb_typeof(p_item -> 'requestedBy') not in ('null', 'string') then 'Its requestedBy is not text'
    when greatest(length(to_user_id), length(requested_by), length(tx_hash)) > 200 then 'Its toUserId, requestedBy or txHash is longer than 200 characters'
  end;
end $f$;
