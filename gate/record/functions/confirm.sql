-- For the gate: marks what was paid as confirmed, when the event disburse.completed tells its txHash. An event that comes before its answer is kept.
-- @returns how many payments it confirmed now
create or replace function etb_wallet.confirm(p_budget text, p_tx_hash text) returns integer
language plpgsql volatile security definer set search_path = etb_wallet, pg_temp set enable_seqscan = off set jit = off as $f$
declare
  v_rules rules := lock_budget(p_budget);
  v_now timestamptz := clock();
  v_row payment;
  v_count integer := 0;
begin
  if coalesce(p_tx_hash, '') = '' then
    raise exception 'The event has no txHash, so nothing tells which payment it confirms';
  end if;
  insert into confirmation (budget, tx_hash, received_at) values (p_budget, p_tx_hash, v_now) on conflict do nothing;
  for v_row in
    update payment p set confirmed_at = v_now
    where p.budget = p_budget and p.tx_hash = p_tx_hash and p.state = 'paid' and p.confirmed_at is null
    returning p.*
  loop
    perform write_down(v_now, v_row, 'confirmed', null, null, p_tx_hash);
    v_count := v_count + 1;
  end loop;
  return v_count;
end $f$;
