/** Breaks the gate's SQL, one rule at a time, and sees the random lives notice. A mutation that lives is a hole in them. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { schemaFile, startGateServer, type GateServer } from './gate.mts';
import { allAtOnce, CONNECTIONS, oneAfterTheOther } from './sql/lives.mts';
import { stage } from './sql/budget-life.mts';

/** The same lives for all, so that what is caught stays caught. */
const SEED = 14;

const mutations: Array<{ breaks: string; finds: string; puts: string }> = [
	{
		breaks: 'callers of a budget do not take turns',
		finds: 'r.budget = p_budget for update;',
		puts: 'r.budget = p_budget;',
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
		breaks: 'a window ends what another one holds',
		finds: "p.reference = v_item ->> 'reference' and p.claim = p_claim;",
		puts: "p.reference = v_item ->> 'reference' order by p.attempt desc limit 1;",
	},
	{
		breaks: 'a late answer changes what a person settled',
		finds:
			"when v_row.settled_by is null and v_row.state = 'unknown' and v_outcome = 'paid' then v_outcome",
		puts: "when v_row.state in ('unknown', 'notPaid') and v_outcome = 'paid' then v_outcome",
	},
	{
		breaks: 'a late answer that it was paid is forgotten',
		finds: "and v_outcome = 'paid' then 'latePaid'",
		puts: "and v_outcome = 'paid' then 'lateAnswer'",
	},
	{
		breaks: 'a late answer that it may have been paid is forgotten',
		finds: "and v_row.answer is distinct from 'unknown' then 'lateUnknown'",
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
		finds: "(deciding_attempt(p_budget, p.reference)).state = 'paid' then 'paidTwice'",
		puts: "false then 'paidTwice'",
	},
	{
		breaks: 'what may have been paid is freed by a second answer',
		finds: 'and v_row.answer is null then v_outcome -- only its lease had ended',
		puts: 'then v_outcome',
	},
	{
		breaks: 'an earlier attempt that is paid does not count',
		finds:
			"order by array_position(array['paid', 'sending', 'unknown', 'notPaid'], p.state), p.attempt desc",
		puts: 'order by p.attempt desc',
	},
	{
		breaks: 'a person can settle an attempt after which it was sent again',
		finds: 'and p.attempt > p_attempt) then',
		puts: 'and false) then',
	},
	{
		breaks: 'what looks the same in a list is sent twice',
		finds: 'v_looks_like := coalesce(nullif(v_item.first_like_it, v_item.reference), (',
		puts: 'v_looks_like := coalesce(null, (',
	},
	{
		breaks: 'what looks the same in a later window is sent twice',
		finds: 'and p.execution = p_execution and p.reference <> v_item.reference limit 1',
		puts: 'and false limit 1',
	},
	{
		breaks: 'a reference can be used for another amount',
		finds:
			'if (v_row.to_user_id <> v_item.to_user_id or v_row.amount_etb <> v_item.amount_etb) and (',
		puts: 'if v_row.to_user_id <> v_item.to_user_id and (',
	},
	{
		breaks: 'the money of what was not paid is not given back',
		finds: "then 1 when v_event = 'notPaid' then -1 end",
		puts: 'then 1 end',
	},
	{
		breaks: 'a window does not count what it hands out itself',
		finds: 'v_claimed := v_claimed + v_item.amount_etb;',
		puts: 'null;',
	},
	{
		breaks: 'a window does not count what it hands out to one person',
		finds: 'v_claimed_to[v_item.person] := v_claimed_to[v_item.person] + v_item.amount_etb;',
		puts: 'null;',
	},
	{
		breaks: 'a window counts what it hands out for one caller with another',
		finds: 'dense_rank() over (order by r.requested_by) as caller',
		puts: '1 as caller',
	},
	{
		breaks: 'a budget is not used up to its last cent',
		finds: 'if v_spent + p_amount > v_limit.most then',
		puts: 'if v_spent + p_amount >= v_limit.most then',
	},
	{
		breaks: 'a day is one of UTC',
		finds: 'v_day := (v_now at time zone v_rules.time_zone)::date;',
		puts: "v_day := (v_now at time zone 'UTC')::date;",
	},
	{
		breaks: 'pausing does nothing',
		finds: 'if p_rules.paused then',
		puts: 'if false then',
	},
	{
		breaks: 'a person can say of what may still be sent that it was not paid',
		finds: "elsif not p_was_paid and v_row.state = 'unknown' and v_row.lease_until > v_now then",
		puts: 'elsif false then',
	},
	{
		breaks: 'a person can record what is being sent',
		finds: "elsif v_row.state = 'sending' and v_row.lease_until > v_now then\n      raise",
		puts: 'elsif false then\n      raise',
	},
	{
		breaks: 'an answer about another person counts',
		finds: "or v_answer ->> 'toUserId' is distinct from v_item ->> 'toUserId'",
		puts: '',
	},
	{
		breaks: 'a reference that a list names twice is sent twice',
		finds: 'elsif v_row.claim = v_claim then',
		puts: "elsif v_row.claim = v_claim then v_decision := 'send'; elsif false then",
	},
];

let server: GateServer;
let schema: string;

before(async () => {
	server = await startGateServer();
	schema = await readFile(schemaFile, 'utf8');
});
after(async () => await server.stop());

/** What the lives notice in a gate with this schema, or undefined. */
async function noticed(changed: string): Promise<string | undefined> {
	const life = await stage(await server.gate(changed), CONNECTIONS);
	try {
		await oneAfterTheOther(life, { lives: 150, seed: SEED });
		await allAtOnce(life, { lives: 40, seed: SEED });
		return undefined;
	} catch (error) {
		return error instanceof Error ? error.message : String(error);
	} finally {
		await life.end();
	}
}

for (const { breaks, finds, puts } of mutations) {
	test(`noticed: ${breaks}`, async (context) => {
		assert.equal(schema.split(finds).length, 2, `the SQL has this once: ${finds}`);
		const story = await noticed(schema.replace(finds, () => puts));
		assert.notEqual(story, undefined, 'the lives noticed nothing');
		context.diagnostic(story?.split('\n').slice(0, 3).join(' ') ?? '');
		if (process.env.GATE_STORIES === '1') console.log(story);
	});
}
