-- What looks the same is the same: the key of a reference is what keyOf of the ETB Wallet node makes of it. Capital and small letters, kinds of dashes and
-- quotes, what nobody sees and compatibility forms do not count, nor do blanks, except one between two digits.

-- The characters come from characters.json, by their names there: what the database takes for a letter or a digit depends on the server and its
-- libraries, and may change under the data. (In the form NFKD an accent is a character of its own, so the letters are few.)
create or replace function key_of(p_reference text) returns text language plpgsql immutable as $f$
declare
  c_invisible constant text := :'invisible';
  c_blanks constant text := :'blanks';
  c_quotes constant text := :'quotes';
  c_dashes constant text := :'dashes';
  c_digits constant text := :'digits';
  c_capitals constant text := :'capitals';
  c_small constant text := :'small';
  v_key text;
begin
  if p_reference ~ '^[!#-&(-_a-~]*$' then
    return lower(p_reference collate "C");
  end if;
  v_key := regexp_replace(p_reference, format('[%s]', c_invisible), '', 'g');
  v_key := regexp_replace(v_key, format('[%s]+', c_blanks), ' ', 'g');
  v_key := normalize(regexp_replace(v_key, format('[%s]', c_quotes), '''', 'g'), nfkd);
  v_key := regexp_replace(v_key, format('[%s]', c_dashes), '-', 'g');
  v_key := regexp_replace(btrim(v_key), format('(?<![%1$s]) | (?![%1$s])', c_digits), '', 'g');
  v_key := translate(lower(v_key collate "C"), c_capitals, c_small);
  v_key := normalize(regexp_replace(v_key, '[ßẞ]', 'ss', 'g'), nfkc);
  return regexp_replace(v_key, format('[%s]+', c_quotes), '''', 'g'); -- Two single quotes look like a double one
end $f$;
