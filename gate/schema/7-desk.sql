-- Settling and limits, for a person at the desk, and the pages of the desk.

-- The name of the person, without blanks around it. @throws when nobody is named
create or replace function person(p_by text) returns text language plpgsql immutable as $f$
begin
  if coalesce(btrim(p_by), '') = '' then
    raise exception 'Say who does it';
  end if;
  return left(btrim(p_by), 200);
end $f$;

-- The note in which a person says how they know it. @throws when there is none
create or replace function known_by(p_note text) returns text language plpgsql immutable as $f$
begin
  if coalesce(btrim(p_note), '') = '' then
    raise exception 'Say how you know it, such as a ticket number';
  end if;
  return p_note;
end $f$;

-- For the desk: a person says whether an attempt was paid, after asking the partner service about this attempt. "Not paid" is taken only of an attempt
-- that is unknown, whose payment may then be sent again. "Paid" is also taken of one that is notPaid, unless the payment was sent again since. For a
-- paid attempt, "paid" only takes its surprise off the list. @returns the state. @throws when the attempt does not allow the answer
create or replace function settle(p_budget text, p_reference text, p_attempt integer, p_was_paid boolean, p_by text, p_note text) returns text language plpgsql security definer as $f$
declare
  v_rules rules := lock_budget(p_budget);
  v_now timestamptz := clock();
  v_by text := person(p_by);
  v_state text := case when p_was_paid then 'paid' when not p_was_paid then 'notPaid' end;
  v_row payment;
begin
  select * into v_row from payment p where p.budget = p_budget and p.key = key_of(p_reference) and p.attempt = p_attempt;
  if v_row.key is null then
    raise exception 'The budget "%" has no payment with the reference "%" and the attempt %', p_budget, p_reference, coalesce(p_attempt::text, '(none given)');
  elsif v_state is null then
    raise exception 'Say whether it was paid';
  elsif v_row.state = 'paid' and not (p_was_paid and v_row.surprise is not null) then
    raise exception 'The payment "%" is paid, and stays paid', p_reference;
  elsif v_row.lease_until > v_now and (v_row.state = 'sending' or v_row.state = 'unknown' and not p_was_paid) then
    -- (The answer "unknown" may be of a copy of the execution that is still sending it.)
    raise exception 'The payment "%" may still be sent: settle it after %', p_reference, to_char(v_row.lease_until at time zone v_rules.time_zone, 'YYYY-MM-DD HH24:MI:SS');
  elsif v_row.state = 'notPaid' and exists (select from payment p where p.budget = p_budget and p.key = v_row.key and p.attempt > p_attempt) then
    raise exception 'The payment "%" was sent again since you looked: look again, and ask the partner service about that', p_reference;
  elsif v_row.state = 'notPaid' and not p_was_paid then
    raise exception 'The payment "%" is known as not paid already', p_reference;
  end if;
  perform known_by(p_note);
  if v_row.state = 'paid' then
    update payment p set surprise = null where p.budget = p_budget and p.key = v_row.key and p.attempt = p_attempt;
    perform write_down(v_now, v_row, 'saidSeen', null, v_by, p_note);
    return 'paid';
  end if;
  if (v_row.state = 'notPaid') = p_was_paid then
    perform reserve(p_budget, v_row.spent_on, array[v_row.to_user_id]::text[], array[v_row.requested_by]::text[],
      array[case when p_was_paid then v_row.amount_etb else -v_row.amount_etb end]);
  end if;
  update payment p set state = v_state, settled_by = v_by, reason = p_note, ended_at = v_now
  where p.budget = p_budget and p.key = v_row.key and p.attempt = p_attempt;
  perform write_down(v_now, v_row, case when p_was_paid then 'saidPaid' else 'saidNotPaid' end, null, v_by, p_note);
  return v_state;
end $f$;

-- For the desk: a person writes down what was paid without the gate, so that the gate pays nobody of the list. It takes each item that the gate would
-- pay now. p_items: [{reference, toUserId, amountEtb, txHash}]. An item counts as spent only if the gate once handed out the same payment.
-- items: each with its outcome, in order: written, alreadyPaid, or refused with the message.
create or replace function write_down_paid(p_budget text, p_items json, p_by text, p_note text, out items jsonb) language plpgsql security definer as $f$
#variable_conflict use_column
declare
  v_items jsonb[] := array(select jsonb_array_elements(p_items::jsonb));
  v_rules rules := lock_budget(p_budget);
  v_now timestamptz := clock();
  v_by text := person(p_by);
  v_item record;
  v_row payment;
  v_outcome text; v_message text;
  v_told jsonb[] := '{}';
begin
  perform known_by(p_note);
  for v_item in select r.* from unnest(v_items) with ordinality i (item, n), read_item(i.item) r order by i.n loop
    v_row := deciding_attempt(p_budget, v_item.key);
    v_outcome := 'refused'; v_message := v_item.problem;
    if v_message is not null then
      null;
    elsif is_of_another(v_row, v_item.to_user_id, v_item.amount_etb) then
      v_message := format('Its reference belongs to another payment: %s ETB to %s', v_row.amount_etb, v_row.to_user_id);
    elsif v_row.state = 'sending' and v_row.lease_until > v_now then
      v_message := 'The gate is sending it now';
    elsif v_row.state = 'paid' then
      v_outcome := 'alreadyPaid'; v_message := 'It is recorded as paid';
    elsif v_row.to_user_id = v_item.to_user_id and v_row.amount_etb = v_item.amount_etb then
      perform settle(p_budget, v_row.reference, v_row.attempt, true, v_by, p_note);
      update payment p set tx_hash = coalesce(p.tx_hash, v_item.tx_hash) where p.budget = p_budget and p.key = v_row.key and p.attempt = v_row.attempt;
      v_outcome := 'written';
    else
      insert into payment as p (budget, key, attempt, reference, to_user_id, amount_etb, state, requested_by, claimed_at, lease_until, ended_at, tx_hash, reason, settled_by)
      values (p_budget, v_item.key, coalesce(v_row.attempt, 0) + 1, coalesce(v_row.reference, v_item.reference), v_item.to_user_id, v_item.amount_etb, 'paid',
        v_item.requested_by, v_now, v_now, v_now, v_item.tx_hash, p_note, v_by)
      returning p.* into v_row;
      perform write_down(v_now, v_row, 'saidPaidBefore', null, v_by, p_note);
      v_outcome := 'written';
    end if;
    v_told := array_append(v_told, jsonb_build_object('outcome', v_outcome, 'message', v_message, 'reference', v_item.reference, 'toUserId', v_item.to_user_id,
      'amountEtb', v_item.amount_etb, 'txHash', coalesce(v_row.tx_hash, v_item.tx_hash)));
  end loop;
  items := to_jsonb(v_told);
end $f$;

-- For the desk: changes the rules that p_changes names, of a budget or of one of its callers, and makes them if there are none. Null takes a limit away.
-- @returns all rules of the budget or the caller. @throws when a rule has another name, or a value that cannot be
create or replace function set_rules(p_budget text, p_changes jsonb, p_by text, p_requested_by text default '') returns rules language plpgsql security definer as $f$
declare
  v_by text := person(p_by);
  v_who text := coalesce(key_of(plain_text(to_jsonb(p_requested_by))), '');
  v_unknown text := (select string_agg(k, ', ') from jsonb_object_keys(p_changes) k where k not in ('paused', 'most_per_payment', 'most_per_day', 'most_per_month')
    and (v_who <> '' or k not in ('most_per_recipient_per_day', 'most_per_recipient_per_month', 'time_zone', 'lease')));
  v_rules rules;
begin
  if v_unknown is not null then
    raise exception 'There is no rule with this name: %', v_unknown;
  end if;
  -- (It looks first: the insert would wait for a transaction that changes the row, and not say for whom.)
  if v_who = '' and not exists (select from rules r where r.budget = p_budget and r.requested_by = '') then
    insert into rules (budget) values (p_budget) on conflict do nothing;
  end if;
  v_rules := lock_budget(p_budget);
  if v_who <> '' then
    insert into rules (budget, requested_by) values (p_budget, v_who) on conflict do nothing;
    select * into v_rules from rules r where r.budget = p_budget and r.requested_by = v_who;
  end if;
  v_rules := jsonb_populate_record(v_rules, p_changes);
  if v_rules.lease not between interval '2 minutes' and interval '1 day' then
    raise exception 'The lease is %, and must be from 2 minutes to 1 day: half of it has to be longer than a payment may take', v_rules.lease;
  elsif p_changes ? 'time_zone' and not exists (select from pg_timezone_names z where z.name = v_rules.time_zone) then
    raise exception 'There is no time zone "%": write one such as Africa/Addis_Ababa', v_rules.time_zone;
  end if;
  update rules r set paused = v_rules.paused, most_per_payment = v_rules.most_per_payment, most_per_day = v_rules.most_per_day,
    most_per_month = v_rules.most_per_month, most_per_recipient_per_day = v_rules.most_per_recipient_per_day,
    most_per_recipient_per_month = v_rules.most_per_recipient_per_month, time_zone = v_rules.time_zone, lease = v_rules.lease
  where r.budget = p_budget and r.requested_by = v_who;
  insert into history (at, budget, event, by_person, detail) values (clock(), p_budget, 'rules', v_by, concat_ws(': ', nullif(v_who, ''), p_changes));
  return v_rules;
end $f$;

-- All attempts, with their state now: an attempt whose lease ended before its end was recorded is unknown
create or replace view payments as
  select p.budget, p.reference, p.attempt, p.to_user_id, p.amount_etb,
    case when p.state = 'sending' and p.lease_until <= clock() then 'unknown' else p.state end as state, p.surprise,
    p.tx_hash, p.reason, p.requested_by, p.execution, p.claimed_at, p.lease_until, p.spent_on, p.ended_at, p.settled_by, p.key
  from payment p;

-- The attempts that are in flight or that a person has to look at. state: inFlight; unknown; mayBePaidTwice: unknown, and another attempt is
-- paid; paidTwice and paidAfterAll: a surprise that nobody took note of yet
create or replace view open_payments as
  select p.budget, p.reference, p.attempt, p.to_user_id, p.amount_etb,
    case
      when p.surprise is not null then p.surprise
      when p.state = 'sending' and p.lease_until > clock() then 'inFlight'
      when exists (select from payment o where o.budget = p.budget and o.key = p.key and o.state = 'paid') then 'mayBePaidTwice'
      else 'unknown'
    end as state,
    p.reason, p.tx_hash, p.requested_by, p.execution, p.claimed_at, p.lease_until
  from payment p
  where p.state in ('sending', 'unknown') or p.surprise is not null;

-- The pages of the desk, each as one JSON value. `has_budget` is false before there are limits. Times are those of the budget's time zone.

-- The budget's own rules, and the day there. Nothing when there is no such budget.
create or replace view budget_now as
  select r.*, (clock() at time zone r.time_zone)::date as today from rules r where r.requested_by = '';

-- Payments that may have been made, or were made twice, in the order in which a person should look at them, and those that are being sent
create or replace function desk_open(p_budget text) returns json stable language plpgsql security definer as $f$
begin
  return (
    with o as materialized (
      select row_number() over (order by o.state = 'inFlight', o.state = 'unknown', o.claimed_at, o.reference, o.attempt) as n,
        o.reference, o.amount_etb::text, o.to_user_id, o.claimed_at at time zone b.time_zone as sent_at, o.state, o.requested_by, o.attempt, o.execution, o.tx_hash,
        coalesce(o.reason, case o.state when 'unknown' then 'Nothing told how it ended' end) as why, o.lease_until at time zone b.time_zone as ends_at
      from open_payments o join budget_now b using (budget) where o.budget = p_budget
    )
    select json_build_object('has_budget', exists (select from budget_now where budget = p_budget),
      'counts', (select json_object_agg(state, count) from (select state, count(*) from o group by state) c),
      'open', (select json_agg(o order by n) from o where state <> 'inFlight' and n <= 100),
      'in_flight', (select json_agg(o order by n) from (select * from o where state = 'inFlight' order by n limit 50) o))
  );
end $f$;

-- A person settles several payments with the same answer: all of them, or none. p_which: [{n, reference, attempt}]
create or replace function desk_settle(p_budget text, p_was_paid boolean, p_by text, p_note text, p_which json) returns json language plpgsql security definer as $f$
declare
  v_done json;
begin
  with done as materialized (
    select x.n, x.reference, settle(p_budget, x.reference, x.attempt, p_was_paid, p_by, p_note) as state
    from json_to_recordset(p_which) x (n integer, reference text, attempt integer)
  )
  select json_agg(done order by n) into v_done from done;
  return json_build_object('was_paid', p_was_paid, 'done', v_done);
end $f$;

-- The money that is spent or reserved
create or replace function desk_spent(p_budget text) returns json stable language plpgsql security definer as $f$
declare
  v_now budget_now;
begin
  select * into v_now from budget_now where budget = p_budget;
  return (
    with month as (
      select p.scope, p.name as to_user_id, coalesce(nullif(p.name, ''), '(no name)') as by_caller, p.amount_etb::text as spent, p.amount_etb
      from spent p where p.budget = p_budget and p.period = 'month' and p.starts_on = date_trunc('month', v_now.today)::date and p.amount_etb > 0
    )
    select json_build_object('has_budget', v_now.budget is not null, 'paused', v_now.paused,
      'altogether', (
        select json_agg(json_build_object('period', y.title, 'spent', coalesce(p.amount_etb, 0)::text, 'most', y.most::text,
          'left', (y.most - least(y.most, coalesce(p.amount_etb, 0)))::text) order by y.period)
        from (values ('day', v_now.today, v_now.most_per_day, 'Today (' || v_now.today || ')'),
          ('month', date_trunc('month', v_now.today)::date, v_now.most_per_month, 'This month (' || to_char(v_now.today, 'YYYY-MM') || ')')) y (period, starts_on, most, title)
        left join spent p on p.budget = p_budget and p.scope = 'budget' and p.period = y.period and p.starts_on = y.starts_on
      ),
      'callers', (select json_agg(m order by amount_etb desc) from (select * from month where scope = 'caller' order by amount_etb desc, to_user_id limit 20) m),
      'recipients', (select json_agg(m order by amount_etb desc) from (select * from month where scope = 'recipient' order by amount_etb desc, to_user_id limit 20) m),
      'days', (select json_agg(d order by starts_on desc) from (
        select p.starts_on, p.amount_etb::text as spent from spent p
        where p.budget = p_budget and p.period = 'day' and p.starts_on > v_now.today - 31 and p.starts_on <= v_now.today and p.scope = 'budget'
      ) d))
  );
end $f$;

-- Payments by their reference, the beginning of it, the person or the txHash: at most 50 attempts, first those of exactly this reference, then the
-- newest. The history is that of exactly this reference, or of the only one that was found.
create or replace function desk_find(p_budget text, p_what text) returns json stable language plpgsql security definer as $f$
declare
  v_key text := key_of(left(p_what, 200));
begin
  return (
    with f as materialized (
      (select p.* from payments p where p.budget = p_budget and p.key = v_key order by p.attempt desc limit 50)
      union (select * from (select p.* from payments p where p.budget = p_budget and p.key >= v_key collate "C" and p.key < (v_key || chr(1114109)) collate "C" limit 1000) p
        order by p.key limit 50)
      union (select p.* from payments p where p.budget = p_budget and p.to_user_id = p_what order by p.claimed_at desc limit 50)
      union (select p.* from payments p where p.budget = p_budget and p.tx_hash = p_what limit 50)
    ), t as (
      select row_number() over (order by f.key <> v_key, f.claimed_at desc, f.attempt desc) as n, f.reference, f.attempt, f.amount_etb::text, f.to_user_id, f.state,
        f.claimed_at at time zone b.time_zone as sent_at, f.ended_at at time zone b.time_zone as ended_at, f.tx_hash, f.requested_by, f.settled_by, f.reason as why
      from f join budget_now b using (budget)
    ), h as (
      select e.id, e.at at time zone b.time_zone as at, e.event, e.attempt, coalesce(e.by_person, e.requested_by) as who, e.execution, e.detail
      from history e join budget_now b using (budget)
      where e.budget = p_budget and e.reference = (
        select case when count(distinct reference) = 1 or bool_or(key = v_key) then (array_agg(reference order by key <> v_key))[1] end from f
      )
      order by e.id desc limit 100
    )
    select json_build_object('searched', p_what, 'payments', (select json_agg(t order by n) from t where n <= 50), 'history', (select json_agg(h order by id) from h))
  );
end $f$;

-- The limits of all together, and paused: true while payments are stopped
create or replace function desk_limits(p_budget text) returns json stable language plpgsql security definer as $f$
declare
  v_now budget_now;
begin
  select * into v_now from budget_now where budget = p_budget;
  return json_build_object('has_budget', v_now.budget is not null, 'paused', v_now.paused, 'limits', json_build_object(
    'most_per_day', v_now.most_per_day::text, 'most_per_month', v_now.most_per_month::text, 'most_per_payment', v_now.most_per_payment::text,
    'most_per_recipient_per_day', v_now.most_per_recipient_per_day::text, 'most_per_recipient_per_month', v_now.most_per_recipient_per_month::text));
end $f$;

-- The callers that have limits of their own
create or replace function desk_callers(p_budget text) returns json stable language plpgsql security definer as $f$
begin
  return json_build_object('has_budget', exists (select from budget_now where budget = p_budget), 'callers', (
    select json_agg(json_build_object('by_caller', r.requested_by, 'payments', case when r.paused then 'stopped' else 'allowed' end, 'most_per_payment', r.most_per_payment::text,
      'most_per_day', r.most_per_day::text, 'most_per_month', r.most_per_month::text) order by r.requested_by)
    from rules r where r.budget = p_budget and r.requested_by <> ''));
end $f$;

-- A person changes limits, of all together or of one caller. is_known: whether that caller paid or had limits before, as its name may be a mistake
create or replace function desk_set(p_budget text, p_changes json, p_by text, p_requested_by text default '') returns json language plpgsql security definer as $f$
declare
  v_key text := key_of(left(p_requested_by, 200));
  v_is_known boolean := exists (select from rules r where r.budget = p_budget and r.requested_by = v_key)
    or exists (select from spent s where s.budget = p_budget and s.period = 'month' and s.starts_on > current_date - 100 and s.scope = 'caller' and s.who = v_key);
begin
  return json_build_object('changed', p_changes, 'who', p_requested_by, 'is_known', v_is_known, 'paused', (set_rules(p_budget, p_changes::jsonb, p_by, p_requested_by)).paused);
end $f$;

-- The newest of the history. Handing out is left out
create or replace function desk_lately(p_budget text) returns json stable language plpgsql security definer as $f$
begin
  return (
    with e as (
      select e.id, e.at at time zone b.time_zone as at, e.event, e.reference, e.amount_etb::text, e.to_user_id, coalesce(e.by_person, e.requested_by) as who, left(e.detail, 300) as detail
      from history e join budget_now b using (budget) where e.budget = p_budget and e.event <> 'send' order by e.id desc limit 200
    )
    select json_build_object('has_budget', exists (select from budget_now where budget = p_budget), 'events', (select json_agg(e order by id desc) from e))
  );
end $f$;

-- For the workflow "Pay gate: every morning": what a person should look at, in words, the worst first. Nothing when all is well
create or replace function needs_attention(p_budget text) returns table (what text) stable language plpgsql security definer as $f$
#variable_conflict use_column
declare
  v_now budget_now;
begin
  select * into v_now from budget_now where budget = p_budget;
  if v_now.budget is null then
    return query select format('The gate has no limits for the budget "%s", so it pays nobody', p_budget);
  end if;
  return query
  select format('%s %s, %s ETB: %s', count(*), w.words, sum(o.amount_etb), left(string_agg(o.reference, ', ' order by o.claimed_at, o.reference), 300))
  from open_payments o join (values ('paidTwice', 1, 'PAID TWICE'), ('mayBePaidTwice', 2, 'may be paid twice'), ('paidAfterAll', 3, 'paid after all, and settled as not paid'),
    ('unknown', 4, 'unknown')) w (state, n, words) using (state)
  where o.budget = p_budget group by w.n, w.words order by w.n;
  return query
  select case when r.requested_by = '' then 'All payments are stopped' else format('The payments of %s are stopped', r.requested_by) end
  from rules r where r.budget = p_budget and r.paused order by r.requested_by;
  return query
  select format('%s: %s of %s ETB are spent or reserved', case when l.who = '' then l.period else format('%s, the caller %s', l.period, l.who) end, s.amount_etb, l.most)
  from (
    select y.period, case y.period when 'day' then v_now.today else date_trunc('month', v_now.today)::date end as starts_on,
      case r.requested_by when '' then 'budget' else 'caller' end as scope, r.requested_by as who, case y.period when 'day' then r.most_per_day else r.most_per_month end as most
    from rules r, (values ('day'), ('month')) y (period) where r.budget = p_budget
  ) l join spent s on s.budget = p_budget and s.period = l.period and s.starts_on = l.starts_on and s.scope = l.scope and s.who = l.who
  where s.amount_etb > 0 and s.amount_etb >= 0.8 * l.most order by l.who, l.period;
end $f$;
