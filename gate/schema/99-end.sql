-- The first limits, and the end: who sets up is who they were before

-- A budget and a caller that are there keep their limits.
if v_given is not null then
  execute (select format('grant usage on schema etb_wallet to %s', string_agg(quote_ident(l ->> 'user'), ', ')) from jsonb_array_elements(v_told) l);
  for v_each in select '' as who, v_given -> 'limits' as limits union all select * from jsonb_each(v_given -> 'callers') loop
    if not exists (select from rules r where r.budget = v_given ->> 'budget' and r.requested_by = v_each.who) then
      perform set_rules(v_given ->> 'budget', v_each.limits, v_given ->> 'person', v_each.who);
    end if;
  end loop;
  perform set_config('etb_wallet.told', (select jsonb_build_object('logins', v_told, 'rules', to_jsonb(r), 'payments', (select count(*) from payment))
    from rules r where r.budget = v_given ->> 'budget' and r.requested_by = '')::text, true);
end if;

perform set_config('role', v_role_before, true);
revoke etb_wallet_owner from current_user;
end $setup$;
