--------------------------------------------------------------------------------------------------------------- The gate

-- For the gate: decides each item of a window, in order, in one transaction, and hands out what is to be sent now.
-- p_items: [{reference, toUserId, amountEtb, requestedBy}]. p_clock: the caller's time now; without it the database's counts.
-- p_version: of the tables that the caller was made for. items: one for each item, in order: {decision, outcome, reference, toUserId, amountEtb,
-- txHash, reason}; outcome is null where it is still to be sent. send: what to send now, in order: {reference, toUserId, amountEtb, claim, notAfter,
-- execution}. claim: the proof that record asks for. not_after: nothing of it may be sent later than that, by the caller's clock. p_execution comes
-- back in send: the ETB Wallet node sends what its own execution claimed, and nothing else.
create or replace function etb_wallet.claim(
  p_budget text, p_items json, p_execution text default null, p_clock timestamptz default null, p_version integer default 1,
  out items jsonb, out send jsonb, out claim uuid, out not_after text
) language plpgsql volatile security definer set search_path = etb_wallet, pg_temp set enable_seqscan = off set jit = off as $f$
#variable_conflict use_column
declare
  v_version version;
  v_items jsonb[] := elements(p_items);
  v_claim uuid := gen_random_uuid();
  v_rules rules;
  v_now timestamptz;
  v_wait_until timestamptz;
  v_day date;
  v_not_after text;
  v_references text[] := array(select plain_text(i -> 'reference') from unnest(v_items) i);
  -- What this claim hands out: altogether, to each person and for each caller, by their numbers in it.
  v_claimed numeric := 0;
  v_claimed_to numeric[] := array_fill(0::numeric, array[cardinality(v_items)]);
  v_claimed_by numeric[] := v_claimed_to;
  v_item record;
  v_looks_like text;
  v_row payment;
  v_decision text; v_reason text; v_tx_hash text;
  v_told jsonb[] := '{}'; v_send jsonb[] := '{}';
  v_to text[] := '{}'; v_by text[] := '{}'; v_amounts numeric[] := '{}';
begin
  select * into v_version from version v order by v.version desc limit 1;
  if p_version is distinct from v_version.version then
    raise exception 'The workflow needs version % of the pay gate, and this database has version %', p_version, v_version.version
      using hint = case when p_version < v_version.version then format('Import pay-gate.json of release %s in the place of the old one, and publish it.', v_version.release)
        else 'Run gate-set-up.json of the release that the workflow is from.' end;
  end if;

  -- A reference that another claim is sending is waited for, without the lock: leaving the block by the exception lets it go. A waiting claim has
  -- handed out nothing yet, so nobody waits in a circle.
  select clock() + least(r.wait, r.lease) into v_wait_until from rules r where r.budget = p_budget;
  loop
    begin
      v_rules := take_lock(p_budget);
      v_now := clock();
      exit when v_now >= v_wait_until or not is_awaited(p_budget, v_references, v_now);
      raise sqlstate 'EW001';
    exception
      when sqlstate 'EW001' then null;
      when lock_not_available then perform say_who_holds(p_budget);
    end;
    while clock() < v_wait_until and is_awaited(p_budget, v_references, clock()) loop
      perform pg_sleep(0.05);
    end loop;
  end loop;

  v_day := (v_now at time zone v_rules.time_zone)::date;
  -- Half of the lease is left for a request that was begun at the last moment. By the caller's clock, which may be another.
  v_not_after := to_char((coalesce(p_clock, v_now) + v_rules.lease / 2) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

  for v_item in
    select r.*, dense_rank() over (order by r.to_user_id) as person, dense_rank() over (order by r.requested_by) as caller,
      first_value(r.reference) over (partition by case when r.problem is null then look_of(r.reference) end order by i.n) as first_like_it
    from unnest(v_items) with ordinality i (item, n), read_item(i.item) r order by i.n
  loop
    v_decision := 'notPaid'; v_reason := v_item.problem; v_tx_hash := null;
    if v_reason is null then
      v_row := deciding_attempt(p_budget, v_item.reference);
      -- Who was certainly not paid, by the service's word and no person's, leaves the reference free: a wrong user ID can be corrected.
      if (v_row.to_user_id <> v_item.to_user_id or v_row.amount_etb <> v_item.amount_etb) and (v_row.state <> 'notPaid' or exists (
        select from payment p where p.budget = p_budget and p.reference = v_item.reference and p.settled_by is not null
      )) then
        -- (An agent that guesses references does not learn who got how much.)
        v_reason := 'Its reference belongs to another payment: ' || case when v_row.requested_by = v_item.requested_by
          then format('%s ETB to %s', v_row.amount_etb, v_row.to_user_id) else 'look for it at the desk' end;
      elsif v_row.claim = v_claim then
        v_reason := 'The list names its reference twice: only the first one is sent';
      elsif v_row.state = 'paid' then
        v_decision := 'alreadyPaid'; v_tx_hash := v_row.tx_hash; v_reason := 'It was paid before, and is not sent again';
      elsif v_row.state = 'sending' and v_row.lease_until > v_now then
        v_decision := 'inFlight'; v_reason := 'Another execution is sending it';
      elsif v_row.state in ('sending', 'unknown') then
        v_decision := 'unknown'; v_tx_hash := v_row.tx_hash;
        v_reason := coalesce(v_row.reason, 'It was handed out for sending, and how that ended was never recorded. Ask the partner service, then settle it');
        if v_row.state = 'sending' then
          update payment p set state = 'unknown', reason = v_reason
          where p.budget = p_budget and p.reference = v_row.reference and p.attempt = v_row.attempt;
          perform write_down(v_now, v_row, 'leaseEnded', p_execution, null, null);
        end if;
      else
        -- New, or not paid last time. One that looks like another of the list, or of an earlier window of the same execution, is refused.
        v_looks_like := coalesce(nullif(v_item.first_like_it, v_item.reference), (
          select p.reference from payment p
          where p.budget = p_budget and p.look = look_of(v_item.reference) and p.execution = p_execution and p.reference <> v_item.reference limit 1
        ));
        v_reason := case when v_looks_like is null
          then objection(v_rules, v_item.to_user_id, v_item.requested_by, v_item.amount_etb, v_day, v_claimed, v_claimed_to[v_item.person], v_claimed_by[v_item.caller])
          else format('Reference is %s, which looks like %s of this list', to_json(left(v_item.reference, 60)), to_json(left(v_looks_like, 60))) end;
        v_decision := case when v_reason is null then 'send' else 'notPaid' end;
      end if;
    end if;

    if v_decision = 'send' then
      insert into payment as p (budget, reference, attempt, look, to_user_id, amount_etb, state, requested_by, claim, execution, claimed_at, lease_until, spent_on)
      values (p_budget, v_item.reference, coalesce((select max(o.attempt) from payment o where o.budget = p_budget and o.reference = v_item.reference), 0) + 1,
        look_of(v_item.reference), v_item.to_user_id, v_item.amount_etb, 'sending', v_item.requested_by, v_claim, p_execution, v_now, v_now + v_rules.lease, v_day)
      returning p.* into v_row;
      perform write_down(v_now, v_row, 'send', p_execution, null, null);
      v_claimed := v_claimed + v_item.amount_etb;
      v_claimed_to[v_item.person] := v_claimed_to[v_item.person] + v_item.amount_etb;
      v_claimed_by[v_item.caller] := v_claimed_by[v_item.caller] + v_item.amount_etb;
      v_to := array_append(v_to, v_item.to_user_id); v_by := array_append(v_by, v_item.requested_by); v_amounts := array_append(v_amounts, v_item.amount_etb);
      v_send := array_append(v_send, jsonb_build_object(
        'reference', v_item.reference, 'toUserId', v_item.to_user_id, 'amountEtb', v_item.amount_etb::text, 'claim', v_claim, 'notAfter', v_not_after,
        'execution', p_execution));
    elsif v_decision = 'notPaid' then
      insert into history (at, budget, event, reference, to_user_id, amount_etb, requested_by, claim, execution, detail)
      values (v_now, p_budget, 'refused', v_item.reference, v_item.to_user_id, v_item.amount_etb, v_item.requested_by, v_claim, p_execution, v_reason);
    end if;
    v_told := array_append(v_told, jsonb_build_object('decision', v_decision, 'outcome', nullif(v_decision, 'send'), 'txHash', v_tx_hash, 'reason', v_reason)
      || jsonb_strip_nulls(jsonb_build_object('reference', v_item.reference, 'toUserId', v_item.to_user_id, 'amountEtb', v_item.amount_etb)));
  end loop;

  perform reserve(p_budget, v_day, v_to, v_by, v_amounts);
  items := to_jsonb(v_told); send := to_jsonb(v_send); claim := v_claim; not_after := v_not_after;
end $f$;
