-- What is spent or reserved, and whether a limit allows more

-- Adds to what is spent or reserved, for the budget, each person and each caller; with amounts below zero money is given back
create or replace function reserve(p_budget text, p_day date, p_to text[], p_by text[], p_amounts numeric[]) returns void language plpgsql as $f$
begin
  insert into spent as s (budget, period, starts_on, scope, who, amount_etb)
  select p_budget, y.period, y.starts_on, x.scope, x.who, sum(t.amount_etb)
  from unnest(p_to, p_by, p_amounts) t (to_user_id, requested_by, amount_etb)
  cross join lateral (values ('budget', ''), ('recipient', t.to_user_id), ('caller', t.requested_by)) x (scope, who)
  cross join (values ('day', p_day), ('month', date_trunc('month', p_day)::date)) y (period, starts_on)
  group by x.scope, x.who, y.period, y.starts_on
  on conflict (budget, period, starts_on, scope, who) do update set amount_etb = s.amount_etb + excluded.amount_etb;
end $f$;

-- Why the rules do not allow a payment, as a code and a message; both are null if they do. p_claimed, p_claimed_to, p_claimed_by: what this claim
-- hands out already, altogether, to this person and for this caller.
create or replace function objection(
  p_rules rules, p_to_user_id text, p_requested_by text, p_amount numeric, p_day date,
  p_claimed numeric, p_claimed_to numeric, p_claimed_by numeric, out code text, out message text
) language plpgsql stable as $f$
declare
  v_caller rules;
  v_limit record;
  v_spent numeric;
begin
  select * into v_caller from rules r where r.budget = p_rules.budget and r.requested_by = p_requested_by and p_requested_by <> '';
  if p_rules.paused then
    code := 'paused'; message := 'Payments are paused';
  elsif v_caller.paused then
    code := 'paused'; message := format('Payments of the caller "%s" are paused', p_requested_by);
  end if;
  for v_limit in
    select * from (values
      ('budget', '', null, p_rules.most_per_payment, 'for one payment', 0),
      ('caller', p_requested_by, null, v_caller.most_per_payment, 'for one payment of this caller', 0),
      ('recipient', p_to_user_id, 'day', p_rules.most_per_recipient_per_day, 'for one recipient and day', p_claimed_to),
      ('recipient', p_to_user_id, 'month', p_rules.most_per_recipient_per_month, 'for one recipient and month', p_claimed_to),
      ('caller', p_requested_by, 'day', v_caller.most_per_day, 'for this caller and day', p_claimed_by),
      ('caller', p_requested_by, 'month', v_caller.most_per_month, 'for this caller and month', p_claimed_by),
      ('budget', '', 'day', p_rules.most_per_day, 'for one day', p_claimed),
      ('budget', '', 'month', p_rules.most_per_month, 'for one month', p_claimed)
    ) l (scope, who, period, most, words, claimed)
    where l.most is not null and code is null
  loop
    v_spent := null;
    if v_limit.period is not null then
      v_spent := v_limit.claimed + coalesce((
        select s.amount_etb from spent s
        where s.budget = p_rules.budget and s.scope = v_limit.scope and s.who = v_limit.who and s.period = v_limit.period
          and s.starts_on = date_trunc(v_limit.period, p_day)::date
      ), 0);
    end if;
    if coalesce(v_spent, 0) + p_amount > v_limit.most then
      code := 'aboveLimit';
      message := format('Above the most %s, %s ETB', v_limit.words, v_limit.most) || coalesce(', of which ' || v_spent || ' are spent or reserved', '');
      return;
    end if;
  end loop;
end $f$;
