-- Refuses changes of rules that do not exist. p_rules: all that there are
create or replace function etb_wallet.check_names(p_changes jsonb, p_rules jsonb) returns void
language plpgsql immutable set search_path = etb_wallet, pg_temp as $f$
declare
  v_unknown text := (select string_agg(k, ', ') from jsonb_object_keys(p_changes) k where not p_rules ? k or k in ('budget', 'requested_by'));
begin
  if v_unknown is not null then
    raise exception 'There is no rule with this name: %', v_unknown;
  end if;
end $f$;

-- For the desk: changes the rules that are named, and sets a budget up that has none. Null takes a limit away. @returns all rules of the budget
create or replace function etb_wallet.set_rules(p_budget text, p_changes jsonb, p_by text) returns etb_wallet.rules
language plpgsql volatile security definer set search_path = etb_wallet, pg_temp set enable_seqscan = off set jit = off as $f$
declare
  v_by text := person(p_by);
  v_rules rules;
begin
  -- (It looks first: the insert would wait for a transaction that changes the row, and not say for whom.)
  if not exists (select from rules r where r.budget = p_budget) then
    insert into rules (budget) values (p_budget) on conflict do nothing;
  end if;
  v_rules := lock_budget(p_budget);
  perform check_names(p_changes, to_jsonb(v_rules));
  v_rules := jsonb_populate_record(v_rules, p_changes);
  if v_rules.lease not between interval '2 minutes' and interval '1 day' then
    raise exception 'The lease is %, and must be from 2 minutes to 1 day: half of it has to be longer than a payment may take', v_rules.lease;
  end if;
  perform clock() at time zone v_rules.time_zone; -- an unknown one is an error
  update rules r set
    paused = v_rules.paused, only_known_recipients = v_rules.only_known_recipients, only_known_callers = v_rules.only_known_callers,
    most_per_payment = v_rules.most_per_payment, most_per_recipient_per_day = v_rules.most_per_recipient_per_day,
    most_per_recipient_per_month = v_rules.most_per_recipient_per_month, most_per_day = v_rules.most_per_day,
    most_per_month = v_rules.most_per_month, time_zone = v_rules.time_zone, lease = v_rules.lease, wait = v_rules.wait
  where r.budget = p_budget;
  insert into history (at, budget, event, by_person, detail) values (clock(), p_budget, 'rules', v_by, p_changes::text);
  return v_rules;
end $f$;

-- For the desk: puts a person on the list of known recipients, or takes one off
create or replace function etb_wallet.set_recipient(p_budget text, p_to_user_id text, p_known boolean, p_by text) returns void
language plpgsql volatile security definer set search_path = etb_wallet, pg_temp set enable_seqscan = off set jit = off as $f$
declare
  v_rules rules := lock_budget(p_budget);
  v_by text := person(p_by);
  v_to_user_id text := plain_text(to_jsonb(p_to_user_id));
begin
  if v_to_user_id is null or p_known is null then
    raise exception 'Say which toUserId, and whether it is known';
  end if;
  if p_known then
    insert into recipient (budget, to_user_id) values (p_budget, v_to_user_id) on conflict do nothing;
  else
    delete from recipient k where k.budget = p_budget and k.to_user_id = v_to_user_id;
  end if;
  insert into history (at, budget, event, to_user_id, by_person, detail)
  values (clock(), p_budget, 'recipient', v_to_user_id, v_by, case when p_known then 'known' else 'not known' end);
end $f$;

-- For the desk: changes the rules of one caller, by the name that it gives itself (requestedBy; '' is: none), which nothing proves. p_changes null
-- takes it off the list.
create or replace function etb_wallet.set_caller(p_budget text, p_requested_by text, p_changes jsonb, p_by text) returns void
language plpgsql volatile security definer set search_path = etb_wallet, pg_temp set enable_seqscan = off set jit = off as $f$
declare
  v_rules rules := lock_budget(p_budget);
  v_by text := person(p_by);
  v_requested_by text := coalesce(plain_text(to_jsonb(p_requested_by)), '');
  v_caller caller;
begin
  if p_changes is null then
    delete from caller c where c.budget = p_budget and c.requested_by = v_requested_by;
  else
    insert into caller (budget, requested_by) values (p_budget, v_requested_by) on conflict do nothing;
    select * into v_caller from caller c where c.budget = p_budget and c.requested_by = v_requested_by;
    perform check_names(p_changes, to_jsonb(v_caller));
    v_caller := jsonb_populate_record(v_caller, p_changes);
    update caller c set paused = v_caller.paused, most_per_payment = v_caller.most_per_payment, most_per_day = v_caller.most_per_day,
      most_per_month = v_caller.most_per_month
    where c.budget = p_budget and c.requested_by = v_requested_by;
  end if;
  insert into history (at, budget, event, requested_by, by_person, detail)
  values (clock(), p_budget, 'caller', v_requested_by, v_by, coalesce(p_changes::text, 'taken off the list'));
end $f$;
