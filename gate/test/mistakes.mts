/**
 * Ways to break the gate's SQL, one rule each, as text that stands once in `gate/schema/`. Each has to be noticed:
 * gate/test/mutations.mts.
 */
import type { Mutation } from '../../test/support/mutation.mts';

/** The test file of gate/test/sql that has to fail; without a name it is decisions. */
type TestFile =
	| 'backup'
	| 'cost'
	| 'crash'
	| 'decisions'
	| 'desk'
	| 'keys'
	| 'neighbourhood'
	| 'order'
	| 'race'
	| 'rights'
	| 'setup'
	| 'upgrade';

interface GateMutation extends Mutation {
	noticedBy?: TestFile;
}

/** By the file in which each stands. */
const mistakes: Record<string, Array<Omit<GateMutation, 'file'>>> = {
	'gate/schema/1-begin.sql': [
		{
			breaks: 'a record that is not whole is filled up, and pays again',
			finds: '  if v_missing is not null then',
			puts: '  if false then',
			noticedBy: 'upgrade',
		},
		{
			breaks: 'a record without its version is taken for a new one',
			finds: 'elsif v_version is null and exists (select from pg_class',
			puts: 'elsif false and exists (select from pg_class',
			noticedBy: 'upgrade',
		},
		{
			breaks: 'a type that somebody made is taken for a text of PostgreSQL in the set-up',
			finds: 'set local search_path = pg_catalog, pg_temp;',
			puts: 'do $x$ begin end $x$;',
			noticedBy: 'neighbourhood',
		},
		{
			breaks: 'the set-up calls functions that somebody made',
			finds: 'set local search_path = etb_wallet, pg_temp;\ncomment',
			puts: 'set local search_path = public, etb_wallet, pg_temp;\ncomment',
			noticedBy: 'neighbourhood',
		},
		{
			breaks: "a login of the gate has the server's defaults",
			finds: 'alter role %1$I set default_transaction_isolation = %2$L;',
			puts: '',
			noticedBy: 'neighbourhood',
		},
		{
			breaks: 'a schema of somebody else is taken over',
			finds:
				"if exists (select from pg_namespace where nspname = 'etb_wallet' and nspowner <> 'etb_wallet_owner'::regrole) then",
			puts: 'if false then',
			noticedBy: 'setup',
		},
		{
			breaks: 'somebody is told to forget a restored gate',
			finds:
				"if exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'etb_wallet' and c.relname = 'payment') then",
			puts: 'if false then',
			noticedBy: 'backup',
		},
	],
	'gate/schema/2-items.sql': [
		{
			breaks: 'what looks the same is sent twice',
			finds: 'return lower(p_reference collate "C");',
			puts: 'return p_reference;',
		},
		{
			breaks: 'case outside of ASCII is another payment',
			finds: 'translate(lower(v_key collate "C"), c_capitals, c_small)',
			puts: 'lower(v_key collate "C")',
			noticedBy: 'keys',
		},
		{
			breaks: 'a blank between two digits does not count',
			finds: "format('(?<![%1$s]) | (?![%1$s])', c_digits)",
			puts: "' '",
			noticedBy: 'keys',
		},
		{
			breaks: 'an amount that may be a thousand is sent',
			finds: 'when scale(amount_etb) > 2 or (',
			puts: 'when false and (',
		},
	],
	'gate/schema/3-tables.sql': [
		{
			breaks: 'a payment can be given another key',
			finds: '(old.key <> new.key and new.key <> key_of(new.reference))',
			puts: 'false',
			noticedBy: 'upgrade',
		},
		{
			breaks: 'the owner of the tables undoes what is paid',
			finds: "(old.state = 'paid' and new.state <> 'paid')",
			puts: 'false',
			noticedBy: 'rights',
		},
		{
			breaks: 'the history can be changed',
			finds: 'create trigger only_added before update or delete or truncate on history',
			puts: 'create trigger only_added before truncate on history',
			noticedBy: 'rights',
		},
		{
			breaks: 'a key is as the language of the database sorts it',
			finds: 'create domain exact as text collate "C";',
			puts: 'create domain exact as text;',
			noticedBy: 'order',
		},
	],
	'gate/schema/4-limits.sql': [
		{
			breaks: 'somebody gets twice the limit by another spelling',
			finds: "('recipient', key_of(t.to_user_id), t.to_user_id)",
			puts: "('recipient', t.to_user_id, t.to_user_id)",
		},
		{
			breaks: 'callers of a budget do not take turns',
			finds: "r.budget = p_budget and r.requested_by = '' for update;",
			puts: "r.budget = p_budget and r.requested_by = '';",
			noticedBy: 'race',
		},
		{
			breaks: 'nobody is told who forgot a transaction',
			finds: "), 'it has let go just now')",
			puts: " where false), 'it has let go just now')",
			noticedBy: 'neighbourhood',
		},
		{
			breaks: 'what was told does not survive a crash',
			finds: "if current_setting('synchronous_commit') not in ('on', 'remote_apply') then",
			puts: 'if false then',
			noticedBy: 'crash',
		},
		{
			breaks: 'a transaction that does not see what others wrote decides',
			finds: "if current_setting('transaction_isolation') <> 'read committed' then",
			puts: 'if false then',
		},
		{
			breaks: 'an earlier attempt that is paid does not count',
			finds:
				"order by array_position(array['paid', 'sending', 'unknown', 'notPaid'], p.state::text), p.attempt desc",
			puts: 'order by p.attempt desc',
		},
		{
			breaks: 'a reference can be used for another amount',
			finds: 'return (p_row.to_user_id <> p_to_user_id or p_row.amount_etb <> p_amount) and (',
			puts: 'return p_row.to_user_id <> p_to_user_id and (',
		},
		{
			breaks: 'what was refused belongs to another person even after a person settled it',
			finds:
				'select from payment p where p.budget = p_row.budget and p.key = p_row.key and p.settled_by is not null',
			puts: 'select where false',
		},
		{
			breaks: 'a budget is not used up to its last cent',
			finds: 'if coalesce(v_spent, 0) + p_amount > v_limit.most then',
			puts: 'if coalesce(v_spent, 0) + p_amount >= v_limit.most then',
		},
		{
			breaks: 'pausing does nothing',
			finds: 'if p_rules.paused then',
			puts: 'if false then',
		},
		{
			breaks: 'a caller that is paused is paid',
			finds: 'elsif v_caller.paused then',
			puts: 'elsif false then',
		},
	],
	'gate/schema/5-claim.sql': [
		{
			breaks: 'a dry run pays',
			finds: 'if v_mode is not null then',
			puts: 'if false then',
		},
		{
			breaks: 'a record of another server pays',
			finds:
				"elsif v_version.server is distinct from current_setting('server_version_num')::integer / 10000 then",
			puts: 'elsif false then',
			noticedBy: 'upgrade',
		},
		{
			breaks: 'items without a reference fill the history',
			finds: 'where n.reference is not null and not exists (',
			puts: 'where not exists (',
		},
		{
			breaks: 'what was claimed longer ago than its lease is free',
			finds: "elsif v_row.state in ('sending', 'unknown') then",
			puts: "elsif v_row.state = 'unknown' then",
		},
		{
			breaks: 'what is unknown is free',
			finds: "elsif v_row.state in ('sending', 'unknown') then",
			puts: "elsif v_row.state = 'sending' then",
		},
		{
			breaks: 'each payment of a claim asks for all before it',
			finds: 'v_claimed, v_claimed_to[v_item.n_person], v_claimed_by[v_item.n_caller])',
			puts: 'v_claimed, (select coalesce(sum(t.a), 0) from unnest(v_to, v_amounts) t (w, a) where t.w = v_item.to_user_id), (select coalesce(sum(t.a), 0) from unnest(v_by, v_amounts) t (w, a) where t.w = v_item.requested_by))',
			noticedBy: 'cost',
		},
		{
			breaks: 'a window does not count what it hands out itself',
			finds: 'v_claimed := v_claimed + v_item.amount_etb;',
			puts: 'null;',
		},
		{
			breaks: 'a window does not count what it hands out to one person',
			finds: 'v_claimed_to[v_item.n_person] := v_claimed_to[v_item.n_person] + v_item.amount_etb;',
			puts: 'null;',
		},
		{
			breaks: 'a window counts what it hands out for one caller with another',
			finds: 'dense_rank() over (order by r.caller) as n_caller',
			puts: '1 as n_caller',
		},
		{
			breaks: 'a day is one of UTC',
			finds: 'v_day := (v_now at time zone v_rules.time_zone)::date;',
			puts: "v_day := (v_now at time zone 'UTC')::date;",
		},
		{
			breaks: 'a reference that a list names twice is sent twice',
			finds: 'elsif v_row.claim = v_claim then',
			puts: 'elsif v_row.claim = v_claim then null;\n      elsif false then',
		},
		{
			breaks: 'a workflow of another version pays',
			finds: 'if v_version.version is null or p_version <> v_version.version then',
			puts: 'if false then',
			noticedBy: 'setup',
		},
		{
			breaks: 'a long reference hurts the others of its list',
			finds: 'left(coalesce(v_row.reference, v_item.reference), 200) as reference',
			puts: 'coalesce(v_row.reference, v_item.reference) as reference',
		},
		{
			breaks: 'what is refused again and again fills the history',
			finds: "where h.event = 'refused' and h.at >",
			puts: 'where false and h.at >',
		},
	],
	'gate/schema/6-record.sql': [
		{
			breaks: 'an answer about another person counts',
			finds: "and v_answer ->> 'toUserId' = p_item ->> 'toUserId'",
			puts: '',
		},
		{
			breaks: 'a window ends what another one holds',
			finds: 'p.key = v_key and p.claim = p_claim order by p.attempt limit 1;',
			puts: 'p.key = v_key order by p.attempt desc limit 1;',
		},
		{
			breaks: 'a late answer changes what a person settled',
			finds: "when p_state = 'unknown' and p_outcome = 'paid' then 'paid'",
			puts: "when p_state in ('unknown', 'notPaid') and p_outcome = 'paid' then 'paid'",
		},
		{
			breaks: 'a late answer that it was paid is forgotten',
			finds: "and p_outcome = 'paid' then 'latePaid'",
			puts: "and p_outcome = 'paid' then 'lateAnswer'",
		},
		{
			breaks: 'a late answer that it may have been paid is forgotten',
			finds: "and p_answer is distinct from 'unknown' then 'lateUnknown'",
			puts: 'and false then null',
		},
		{
			breaks: 'what was paid late does not count as spent',
			finds:
				"when v_event in ('latePaid', 'lateUnknown') then 1 when v_event = 'notPaid' then -1 end",
			puts: "when v_event = 'notPaid' then -1 end",
		},
		{
			breaks: 'nobody is told that a payment was made twice',
			finds:
				"exists (select from payment o where o.budget = p_budget and o.key = v_key and o.state = 'paid') then 'paidTwice'",
			puts: "false then 'paidTwice'",
		},
		{
			breaks: 'a second payment of one claim is forgotten',
			finds:
				"if v_said.outcome = 'paid' and v_row.state = 'paid' and v_said.tx_hash <> v_row.tx_hash and not exists (",
			puts: 'if false and not exists (',
		},
		{
			breaks: 'what may have been paid is freed by a second answer',
			finds: "and p_answer is null then 'notPaid'",
			puts: "then 'notPaid'",
		},
		{
			breaks: 'the money of what was not paid is not given back',
			finds: "then 1 when v_event = 'notPaid' then -1 end",
			puts: 'then 1 end',
		},
		{
			breaks: 'an answer that a person knew opens again what they settled',
			finds: "and p_outcome = 'unknown' and p_answer is distinct from 'unknown' then 'lateUnknown'",
			puts: "and p_outcome = 'unknown' then 'lateUnknown'",
		},
		{
			breaks: 'what is opened again is still settled by a person',
			finds: 'reason = v_said.message, ended_at = v_now, settled_by = null,',
			puts: 'reason = v_said.message, ended_at = v_now,',
		},
		{
			breaks: 'nobody is told that a payment was made after all',
			finds: "when v_event = 'latePaid' then 'paidAfterAll'",
			puts: "when false then 'paidAfterAll'",
		},
		{
			breaks: 'a claim that this record does not have is told as paid',
			finds: "if not found then\n        raise exception 'This record did not hand out",
			puts: "if false then\n        raise exception 'This record did not hand out",
		},
	],
	'gate/schema/7-desk.sql': [
		{
			breaks: 'an exact reference is not found among very many',
			finds:
				'(select p.* from payments p where p.budget = p_budget and p.key = v_key order by p.attempt desc limit 50)',
			puts: '(select p.* from payments p where false)',
			noticedBy: 'desk',
		},
		{
			breaks: 'the morning is silent about what is unknown',
			finds: "('unknown', 4, 'unknown')",
			puts: "('nothing', 4, 'unknown')",
			noticedBy: 'desk',
		},
		{
			breaks: 'nobody says how they know it',
			finds: "if coalesce(btrim(p_note), '') = '' then",
			puts: 'if false then',
		},
		{
			breaks: 'a person can settle an attempt after which it was sent again',
			finds: 'and p.attempt > p_attempt) then',
			puts: 'and false) then',
		},
		{
			breaks: 'a person can say of what may still be sent that it was not paid',
			finds: "(v_row.state = 'sending' or v_row.state = 'unknown' and not p_was_paid)",
			puts: "v_row.state = 'sending'",
		},
		{
			breaks: 'a person can record what is being sent',
			finds: "(v_row.state = 'sending' or v_row.state = 'unknown' and not p_was_paid)",
			puts: "(v_row.state = 'unknown' and not p_was_paid)",
		},
		{
			breaks: 'a person writes down what the gate is sending',
			finds:
				"elsif v_row.state = 'sending' and v_row.lease_until > v_now then\n      v_message := 'The gate is sending it now';",
			puts: "elsif false then\n      v_message := 'The gate is sending it now';",
		},
		{
			breaks: 'a person\'s "paid" does not count as spent again',
			finds: 'array[case when p_was_paid then v_row.amount_etb else -v_row.amount_etb end]',
			puts: 'array[-v_row.amount_etb]',
		},
		{
			breaks: 'what the gate would pay cannot be written down as paid',
			finds:
				'elsif is_of_another(v_row, v_item.to_user_id, v_item.amount_etb) then\n      v_message',
			puts: 'elsif v_row.to_user_id <> v_item.to_user_id or v_row.amount_etb <> v_item.amount_etb then\n      v_message',
		},
		{
			breaks: 'a person writes down another amount for a reference',
			finds:
				'elsif is_of_another(v_row, v_item.to_user_id, v_item.amount_etb) then\n      v_message',
			puts: 'elsif false then\n      v_message',
		},
		{
			breaks: 'a lease is too short for a payment',
			finds: "if v_rules.lease not between interval '2 minutes' and interval '1 day' then",
			puts: 'if false then',
		},
		{
			breaks: 'what is handed out and was never recorded is shown as being sent',
			finds: "when p.state = 'sending' and p.lease_until > clock() then 'inFlight'",
			puts: "when p.state = 'sending' then 'inFlight'",
		},
		{
			breaks: 'nobody is told that what is unknown may be paid twice',
			finds:
				"when exists (select from payment o where o.budget = p.budget and o.key = p.key and o.state = 'paid') then 'mayBePaidTwice'",
			puts: "when false then 'mayBePaidTwice'",
		},
		{
			breaks: 'a payment whose lease ended is found as being sent',
			finds:
				"case when p.state = 'sending' and p.lease_until <= clock() then 'unknown' else p.state end",
			puts: 'p.state',
		},
	],
	'gate/schema/8-end.sql': [
		{
			breaks: 'what another server wrote under another key is paid again',
			finds: 'if exists (select from payment p where p.key <> key_of(p.reference)) then',
			puts: 'if false then',
			noticedBy: 'upgrade',
		},
		{
			breaks: 'a login may act in every database of the server',
			finds: 'revoke all on schema etb_wallet from public, etb_wallet_gate, etb_wallet_desk;',
			puts: 'grant usage on schema etb_wallet to public;',
			noticedBy: 'neighbourhood',
		},
		{
			breaks: 'everybody may read the payments',
			finds: 'grant select on all tables in schema etb_wallet to etb_wallet_desk;',
			puts: 'grant select on all tables in schema etb_wallet to etb_wallet_desk, etb_wallet_gate;',
			noticedBy: 'rights',
		},
		{
			breaks: 'the login of the desk cannot make a backup',
			finds: 'grant select on all sequences in schema etb_wallet to etb_wallet_desk;',
			puts: '',
			noticedBy: 'backup',
		},
		{
			breaks: 'a name in a function is found wherever somebody put it',
			finds: 'alter function %1$s set search_path = etb_wallet, pg_temp;',
			puts: '',
			noticedBy: 'setup',
		},
		{
			breaks: "a temporary table stands for one of the gate's",
			finds: 'alter function %1$s set search_path = etb_wallet, pg_temp;',
			puts: 'alter function %1$s set search_path = pg_temp, etb_wallet;',
			noticedBy: 'rights',
		},
		{
			breaks: 'who set up stays a member of the owner',
			finds: 'revoke etb_wallet_owner from current_user;\n',
			puts: '',
			noticedBy: 'setup',
		},
	],
};

export const mutations: GateMutation[] = Object.entries(mistakes).flatMap(([file, those]) =>
	those.map((mutation) => ({ ...mutation, file })),
);
