-- How a person at the desk changes the rules

-- For the desk: changes the rules that are named, of a budget or of one of its callers, and sets a budget up that has none. Null takes a limit away.
-- @returns all rules of the budget or the caller
create or replace function set_rules(p_budget text, p_changes jsonb, p_by text, p_requested_by text default '') returns rules language plpgsql security definer as $f$
declare
  v_by text := person(p_by);
  v_who text := coalesce(plain_text(to_jsonb(p_requested_by)), '');
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
