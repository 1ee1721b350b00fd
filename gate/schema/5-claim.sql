-- The function that the gate calls before it sends.
--
-- Free to change: the messages of items, the limits (4-limits.sql), and the reasons to refuse an item (read_item in 2-items.sql). Not the words of the
-- errors of claim and lock_budget: the node What to Do of pay-gate.json finds the remedy by them. In the message of a limit ", of which" stays, too.
--
-- Each of these has to stay, or a person is paid twice or above a limit:
--   * lock_budget comes before the clock and before any payment or sum is read. Without the lock, another claim may be deciding the same payment.
--   * The attempts of an item are read at its turn, because an item before it in the list can have the same reference.
--   * An item is handed out only if none of its attempts is paid, sending or unknown, and its reference belongs to no other payment: the branches
--     before objection refuse the rest.
--   * v_claimed, v_claimed_to and v_claimed_by grow with each item that is handed out, because the sums get the money only after the loop.
--   * The row of the attempt, its line in the history and its sums are written in the transaction that hands it out.
--   * not_after leaves half of the lease, so that a payment that begins at the last moment ends before a person may settle it as not paid.
--   * Items without an outcome, and send, have the same order: record gives them the answers by it.
--
-- A new code means notPaid, and goes into the history as a refusal, unless it stands in the case of outcome and in the condition of the history, at the
-- end of the loop. record, pay-gate.json and people's workflows go by the codes and field names; the ETB Wallet node goes by the fields of send.

-- For the gate: decides each item of a window, in order, in one transaction, and hands out those that are to be sent now.
-- p_items: [{reference, toUserId, amountEtb, requestedBy}]. p_clock: the caller's time now; null: the database's. p_version: the version of the tables
-- that the caller was made for; null: any. p_modes: a list of the modes of the whole call. One that is not "pay" refuses all items, because its workflow
-- expects that nobody is paid. p_execution: comes back in send. The ETB Wallet node sends claims of its own execution, and nothing else.
-- items: one for each item, in order: {outcome, code, message, reference, toUserId, amountEtb, txHash}; outcome and code are null where it is still to
-- be sent. send: [{reference, toUserId, amountEtb, claim, notAfter, execution}], in order, amountEtb as a text. claim: record ends attempts of this
-- claim only. not_after: the time, by the caller's clock, after which nothing of the claim may be sent.
-- @throws when the caller or the server has another version than the record, and as lock_budget does
create or replace function claim(
  p_budget text, p_items json, p_execution text default null, p_clock timestamptz default null, p_version integer default null, p_modes json default null,
  out items jsonb, out send jsonb, out claim uuid, out not_after text
) language plpgsql security definer as $f$
#variable_conflict use_column
declare
  v_version version;
  v_mode text := (select m::text from json_array_elements(p_modes) m where m::text <> '"pay"' limit 1);
  v_items jsonb[] := array(select jsonb_array_elements(p_items::jsonb));
  v_claim uuid := gen_random_uuid();
  v_rules rules;
  v_now timestamptz;
  v_day date;
  v_not_after text;
  -- The money that this claim has handed out so far: altogether, to each person (by n_person) and for each caller (by n_caller).
  v_claimed numeric := 0;
  v_claimed_to numeric[] := array_fill(0::numeric, array[cardinality(v_items)]);
  v_claimed_by numeric[] := v_claimed_to;
  v_item record;
  v_row payment;
  v_code text; v_message text; v_tx_hash text;
  v_told jsonb[] := '{}'; v_send jsonb[] := '{}';
  v_to text[] := '{}'; v_by text[] := '{}'; v_amounts numeric[] := '{}';
begin
  select * into v_version from version v order by v.version desc limit 1;
  if v_version.version is null or p_version <> v_version.version then
    raise exception 'The workflow needs version % of the pay gate, and this database has version %', p_version, v_version.version
      using hint = case when p_version < v_version.version then format('Import pay-gate.json of release %s in the place of the old one, and publish it.', v_version.release)
        else 'Run gate-set-up.json of the release that the workflow is from.' end;
  elsif v_version.server is distinct from current_setting('server_version_num')::integer / 10000 then
    -- Another version of Unicode makes other keys, and would not find who was paid.
    raise exception 'The record was set up on PostgreSQL %, and this is %: run the workflow "Pay gate set-up" again', coalesce(v_version.server::text, 'of another version'), current_setting('server_version');
  end if;

  v_rules := lock_budget(p_budget);
  v_now := clock();
  v_day := (v_now at time zone v_rules.time_zone)::date;
  -- The other half of the lease is left for a request that begins at the last moment. The time is the caller's, whose clock may differ from this one.
  v_not_after := to_char((coalesce(p_clock, v_now) + v_rules.lease / 2) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

  for v_item in
    select r.*, dense_rank() over (order by r.person) as n_person, dense_rank() over (order by r.caller) as n_caller
    from unnest(v_items) with ordinality i (item, n), read_item(i.item) r order by i.n
  loop
    v_row := null; v_code := null; v_message := null; v_tx_hash := null;
    if v_mode is not null then
      v_code := 'settings'; v_message := format('Mode is %s, and the pay gate only pays. Leave mode out, or write pay', left(v_mode, 60));
    elsif v_item.problem is not null then
      v_code := 'invalid'; v_message := v_item.problem;
    else
      v_row := deciding_attempt(p_budget, v_item.key);
      if is_of_another(v_row, v_item.to_user_id, v_item.amount_etb) then
        -- (An agent that guesses references does not learn who got how much.)
        v_code := 'otherPayment';
        v_message := 'Its reference belongs to another payment: ' || case when v_row.requested_by = v_item.requested_by
          then format('%s ETB to %s', v_row.amount_etb, v_row.to_user_id) else 'look for it at the desk' end;
      elsif v_row.claim = v_claim then
        v_code := 'sameReference';
        v_message := format('The list names its reference twice: only the first one is sent, %s', to_json(left(v_row.reference, 60)));
      elsif v_row.state = 'paid' then
        v_code := 'paidBefore'; v_tx_hash := v_row.tx_hash; v_message := 'It was paid before, and is not sent again';
      elsif v_row.state = 'sending' and v_row.lease_until > v_now then
        v_code := 'inFlight'; v_message := 'Another execution is sending it: run this again later';
      elsif v_row.state in ('sending', 'unknown') then
        v_code := 'inDoubt'; v_tx_hash := v_row.tx_hash;
        v_message := coalesce(v_row.reason, 'It was handed out for sending, and how that ended was never recorded. Ask the partner service, then settle it');
        if v_row.state = 'sending' then
          update payment p set state = 'unknown', reason = v_message
          where p.budget = p_budget and p.key = v_row.key and p.attempt = v_row.attempt;
          perform write_down(v_now, v_row, 'leaseEnded', p_execution, null, null);
        end if;
      else
        -- New, or not paid last time.
        select o.code, o.message into v_code, v_message from objection(v_rules, v_item.person, v_item.caller, v_item.amount_etb, v_day,
          v_claimed, v_claimed_to[v_item.n_person], v_claimed_by[v_item.n_caller]) o;
      end if;
    end if;

    if v_code is null then
      -- (All attempts are notPaid here, so v_row is the last one, or null. The payment keeps the reference that it had at first.)
      insert into payment as p (budget, key, attempt, reference, to_user_id, amount_etb, state, requested_by, claim, execution, claimed_at, lease_until, spent_on)
      values (p_budget, v_item.key, coalesce(v_row.attempt, 0) + 1, coalesce(v_row.reference, v_item.reference), v_item.to_user_id, v_item.amount_etb, 'sending',
        v_item.requested_by, v_claim, p_execution, v_now, v_now + v_rules.lease, v_day)
      returning p.* into v_row;
      perform write_down(v_now, v_row, 'send', p_execution, null, null);
      v_claimed := v_claimed + v_item.amount_etb;
      v_claimed_to[v_item.n_person] := v_claimed_to[v_item.n_person] + v_item.amount_etb;
      v_claimed_by[v_item.n_caller] := v_claimed_by[v_item.n_caller] + v_item.amount_etb;
      v_to := array_append(v_to, v_item.to_user_id); v_by := array_append(v_by, v_item.requested_by); v_amounts := array_append(v_amounts, v_item.amount_etb);
      v_send := array_append(v_send, jsonb_build_object(
        'reference', v_item.reference, 'toUserId', v_item.to_user_id, 'amountEtb', v_item.amount_etb::text, 'claim', v_claim, 'notAfter', v_not_after,
        'execution', p_execution));
    elsif v_code not in ('paidBefore', 'inFlight', 'inDoubt') then
      -- A refusal for the same reason as before is written down once: a payroll that is tried every minute while payments are paused would fill the
      -- disk. The sum behind ", of which" is left out of the comparison, because it changes with each payment. Without a reference nobody could find
      -- the line, so there is none.
      insert into history (at, budget, event, reference, to_user_id, amount_etb, requested_by, claim, execution, detail)
      select v_now, p_budget, 'refused', n.reference, left(v_item.to_user_id, 200), v_item.amount_etb, left(v_item.requested_by, 200), v_claim, p_execution, v_message
      from (select left(coalesce(v_row.reference, v_item.reference), 200) as reference) n
      where n.reference is not null and not exists (
        select from (select * from history h where h.budget = p_budget and h.reference = n.reference order by h.id desc limit 20) h
        where h.event = 'refused' and h.at > coalesce(v_row.ended_at, v_row.claimed_at, '-infinity')
          and h.to_user_id is not distinct from left(v_item.to_user_id, 200) and h.amount_etb is not distinct from v_item.amount_etb
          and h.requested_by is not distinct from left(v_item.requested_by, 200) and split_part(h.detail, ', of which', 1) = split_part(v_message, ', of which', 1)
      );
    end if;
    v_told := array_append(v_told, jsonb_build_object(
      'outcome', case when v_code = 'paidBefore' then 'alreadyPaid' when v_code in ('inFlight', 'inDoubt') then 'unknown' when v_code is not null then 'notPaid' end,
      'code', v_code, 'message', v_message, 'txHash', v_tx_hash
    ) || jsonb_strip_nulls(jsonb_build_object('reference', v_item.reference, 'toUserId', v_item.to_user_id, 'amountEtb', v_item.amount_etb)));
  end loop;

  perform reserve(p_budget, v_day, v_to, v_by, v_amounts);
  items := to_jsonb(v_told); send := to_jsonb(v_send); claim := v_claim; not_after := v_not_after;
end $f$;
