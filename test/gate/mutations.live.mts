/** Breaks the gate's SQL, one rule at a time, and sees the random lives notice. A mutation that lives is a hole in them. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { schemaFile, startGateServer, type GateServer } from './gate.mts';
import { allAtOnce, CONNECTIONS, oneAfterTheOther } from './lives.mts';
import { stage } from './account-life.mts';

/** The same lives for all, so that what is caught stays caught. */
const SEED = 14;

const mutations: Array<{ breaks: string; finds: string; puts: string }> = [
	{
		breaks: 'callers of an account do not take turns',
		finds: 'r.account = p_account for update;',
		puts: 'r.account = p_account;',
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
		finds: 'if v_row.claim = p_claim and v_row.settled_by is null and (',
		puts: 'if v_row.settled_by is null and (',
	},
	{
		breaks: 'a late answer changes what a person settled',
		finds: 'if v_row.claim = p_claim and v_row.settled_by is null and (',
		puts: "if v_row.claim = p_claim and (v_row.state = 'notPaid' or",
	},
	{
		breaks: 'a late answer that it was paid is forgotten',
		finds: "set late_payment = coalesce(v_tx_hash, 'paid')",
		puts: 'set late_payment = null',
	},
	{
		breaks: 'what may have been paid is freed by a second answer',
		finds: 'and v_row.ended_at is null -- only its lease had ended',
		puts: '',
	},
	{
		breaks: 'a reference can be used for another amount',
		finds: '(v_row.to_user_id <> v_to_user_id or v_row.amount_etb <> v_amount)',
		puts: 'v_row.to_user_id <> v_to_user_id',
	},
	{
		breaks: 'the money of what was not paid is not given back',
		finds: "if v_outcome = 'notPaid' then\n            perform reserve(",
		puts: 'if false then\n            perform reserve(',
	},
	{
		breaks: 'a window does not count what it hands out itself',
		finds: 'if v_spent + p_amount > v_limit.most then',
		puts: 'if v_spent - coalesce((select sum(a) from unnest(p_amounts) a), 0) + p_amount > v_limit.most then',
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
		breaks: 'a person can settle what is being sent',
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
