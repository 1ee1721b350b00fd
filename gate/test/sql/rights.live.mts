/** The rights of each role: the gate only pays, the desk settles and sets rules, and reads. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { z } from 'zod';
import {
	claim,
	outcomes,
	settle,
	rows,
	setRules,
	record,
	refused,
	startGateServer,
} from '../support/server.mts';

const server = await startGateServer();
after(async () => await server.stop());
const database = await server.gate();
const gate = await database.connect('gate');
const desk = await database.connect('desk');
const owner = await database.connect('superuser');

const items = ['a', 'b', 'c'].map((reference) => ({ reference, toUserId: 'u', amountEtb: 1 }));

test('each role does its own work', async () => {
	await setRules(desk, 'main', { most_per_day: 100 });
	const window = await claim(gate, 'main', items.slice(0, 2));
	const answers = [
		{ toUserId: 'u', outcome: 'paid', txHash: '0x1' },
		{ toUserId: 'u', outcome: 'unknown' },
	];
	const told = await record(gate, 'main', window, answers);
	assert.deepEqual(outcomes(told), ['paid', 'unknown']);
	const other = await claim(gate, 'main', items.slice(2));
	await record(gate, 'main', other, [{ toUserId: 'u', outcome: 'notPaid' }]);
	assert.equal(await settle(desk, 'main', 'b', true), 'paid');
	await setRules(desk, 'main', { paused: true }, 'agent');
	const view = z.object({ reference: z.string(), state: z.string() });
	const payments = 'select reference, state from etb_wallet.payments order by reference';
	assert.deepEqual(await rows(desk, view, payments), [
		{ reference: 'a', state: 'paid' },
		{ reference: 'b', state: 'paid' },
		{ reference: 'c', state: 'notPaid' },
	]);
});

const namesIn = async (sql: string, values: unknown[] = []): Promise<string[]> =>
	(await rows(owner, z.object({ name: z.string() }), sql, values)).map(({ name }) => name);

async function rightsOf(role: string) {
	// Everything that can be read or called in the schema.
	const relations = await namesIn(
		`select oid::regclass::text as name from pg_class where relnamespace = 'etb_wallet'::regnamespace and relkind in ('r', 'v', 'S')`,
	);
	const functions = await namesIn(
		`select oid::regprocedure::text as name from pg_proc where pronamespace = 'etb_wallet'::regnamespace`,
	);
	assert.ok(relations.length >= 8 && functions.length > 15);
	const allowed = async (names: string[], has: string, right: string) => {
		const sql = `select n as name from unnest($1::text[]) n where ${has}($2, n, $3) order by 1`;
		const found = await namesIn(sql, [names, role, right]);
		return found.map((name) => name.replace('etb_wallet.', '').replace(/\(.*/, ''));
	};
	const tables = relations.filter((name) => !name.endsWith('_seq'));
	const written: string[] = [];
	for (const right of ['insert', 'update', 'delete', 'truncate', 'references', 'trigger'])
		written.push(...(await allowed(tables, 'has_table_privilege', right)));
	return {
		reads: await allowed(tables, 'has_table_privilege', 'select'),
		writes: written,
		calls: await allowed(functions, 'has_function_privilege', 'execute'),
	};
}

const RELATIONS = 'budget_now history open_payments payment payments rules spent version';
const CALLS =
	'clock desk_callers desk_find desk_lately desk_limits desk_open desk_set desk_settle desk_spent key_of needs_attention set_rules settle write_down_paid';

test('nobody has a right that is not named here', async () => {
	assert.deepEqual(await rightsOf('etb_wallet_gate'), {
		reads: [],
		writes: [],
		calls: ['claim', 'record'],
	});
	assert.deepEqual(await rightsOf('etb_wallet_desk'), {
		reads: RELATIONS.split(' '),
		writes: [],
		calls: CALLS.split(' '),
	});
	await owner.query('create role stranger login');
	assert.deepEqual(await rightsOf('stranger'), { reads: [], writes: [], calls: [] });
});

test('no login becomes another role, changes a function or makes a table', async () => {
	for (const client of [gate, desk])
		for (const sql of [
			'create table etb_wallet.mine ()',
			'set role etb_wallet_owner',
			`set role etb_wallet_${client === gate ? 'desk' : 'gate'}`,
			'alter function etb_wallet.claim(text, json, text, timestamptz, integer, json) reset all',
			'drop schema etb_wallet cascade',
			// By a view that PostgreSQL could write through.
			"update etb_wallet.payments set to_user_id = 'me'",
		])
			await refused(client.query(sql), /permission denied|must be (owner|member)/);
	await refused(desk.query("select nextval('etb_wallet.history_id_seq')"), /permission denied/);
});

test('objects of a caller do not slip into the functions', async () => {
	// A temporary table of a name that the functions use is looked for last.
	await gate.query('create temporary table payment (budget text, reference text)');
	await gate.query('create temporary table rules (budget text)');
	await gate.query('set search_path = pg_temp, public');
	const { items: told } = await claim(gate, 'main', [
		{ reference: 'a', toUserId: 'u', amountEtb: 1 },
	]);
	assert.equal(told[0]?.outcome, 'alreadyPaid');
});

test('even the owner of the tables cannot undo what is paid, remove a payment or change the history', async () => {
	for (const [why, ...changes] of [
		[
			/what is paid stays paid/,
			"update etb_wallet.payment set state = 'notPaid' where reference = 'a'",
		],
		[
			/keeps every payment/,
			"update etb_wallet.payment set amount_etb = 2 where reference = 'b'",
			"update etb_wallet.payment set to_user_id = 'me' where reference = 'b'",
			"delete from etb_wallet.payment where reference = 'b'",
			'truncate etb_wallet.payment',
		],
		[
			/is only added to/,
			"update etb_wallet.history set event = 'paid'",
			'delete from etb_wallet.history',
			'truncate etb_wallet.history',
		],
	] as const)
		for (const sql of changes) await refused(owner.query(sql), why);
});
