/** A set-up over what is there: a gate of version 1, keys of another server, a record that is not whole; and servers that cannot have one. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { setUpGate } from '../../start/database.mts';
import { gateFolder } from '../../start/workflows.mts';
import {
	claim,
	outcomes,
	record,
	refused,
	rows,
	schemaText,
	setRules,
	settle,
	startGateServer,
	value,
	type GateDatabase,
} from '../support/server.mts';
import { eventually } from '../../../test/support/lab.mts';
import { paid, payments } from '../support/work.mts';

const LIMITS = { most_per_day: 1000, most_per_payment: 100 };
const schema = await schemaText();
const version1 = gunzipSync(
	await readFile(join(gateFolder, 'test', 'fixtures', 'version-1.sql.gz')),
).toString();

const server = await startGateServer();
after(async () => await server.stop());
/** All that the catalog says of a gate: what a set-up of nothing makes, an update has to make too. */
async function shape(database: GateDatabase): Promise<unknown> {
	const client = await database.connect('superuser');
	const queries = [
		`select c.relname, c.relkind::text, c.relacl::text, a.attname, a.attnum, a.atttypid::regtype::text, a.attnotnull, pg_get_expr(d.adbin, d.adrelid) as preset
		from pg_class c join pg_attribute a on a.attrelid = c.oid left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
		where c.relnamespace = 'etb_wallet'::regnamespace and a.attnum > 0 order by 1, 5`,
		`select p.oid::regprocedure::text, p.prosrc, p.proconfig::text, p.proacl::text, p.prosecdef, p.provolatile::text from pg_proc p
		where pronamespace = 'etb_wallet'::regnamespace order by 1`,
		"select conname, pg_get_constraintdef(oid) from pg_constraint where connamespace = 'etb_wallet'::regnamespace order by 1",
		'select tgname, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal order by 1',
		"select viewname, definition from pg_views where schemaname = 'etb_wallet' order by 1",
	];
	return await Promise.all(queries.map(async (sql) => await rows(client, z.unknown(), sql)));
}

test('a gate of version 1 with payments in all states is updated: no row is lost, and it is as a new one', async () => {
	const old = await server.gate(version1);
	const client = await old.connect('superuser');
	await setRules(client, 'main', { most_per_recipient_per_day: 100, most_per_day: 1000 });
	await setRules(client, 'main', { most_per_day: 50 }, 'MCP');
	await setRules(client, 'main', { most_per_day: 20 }, 'mcp');
	const item = (reference: string, toUserId = reference, amountEtb = 10) => ({
		...{ reference, toUserId, amountEtb, requestedBy: 'MCP' },
	});
	const states = ['paid', 'notPaid', 'unknown', 'sending'];
	const list = states.map((state) => item(state));
	const window = await claim(client, 'main', list);
	const answers = states.map((state) => ({ toUserId: state, outcome: state, txHash: '0x1' }));
	const [ended, sending] = [window.items.slice(0, 3), window.items.slice(3)];
	await record(client, 'main', { ...window, items: ended }, answers.slice(0, 3));
	const spelled = await claim(client, 'main', [item('x', 'Almaz'), item('y', 'almaz')]);
	assert.equal(spelled.send.length, 2);
	const kept =
		'select budget, reference, attempt, state, claim, amount_etb from etb_wallet.payment order by 2, 3';
	const lines = 'select count(*) from etb_wallet.history';
	const everything = async () => [
		await rows(client, z.unknown(), kept),
		await rows(client, z.unknown(), lines),
	];
	const before = await everything();
	await client.query(schema);
	assert.deepEqual(await shape(old), await shape(await server.gate()));
	assert.deepEqual(await everything(), before);
	const again = await claim(
		client,
		'main',
		list.map((each) => ({ ...each, requestedBy: '' })),
	);
	assert.deepEqual(
		again.items.map(({ code }) => code),
		['paidBefore', null, 'inDoubt', 'inFlight'],
	);
	// A payment that was in flight is recorded; the stricter limit of the two callers holds; spellings count together.
	const late = { toUserId: 'sending', outcome: 'paid' };
	const told = await record(client, 'main', { ...window, items: sending }, [late]);
	assert.deepEqual(outcomes(told), ['paid']);
	const [caller, person] = (
		await claim(client, 'main', [item('c'), { ...item('d', '\u200bALMAZ', 85), requestedBy: '' }])
	).items;
	assert.deepEqual([caller?.code, person?.code], ['aboveLimit', 'aboveLimit']);
});

test('payments under a key that another server made get the key of this one, and stay what they are', async () => {
	const database = await server.gate();
	const client = await database.connect('superuser');
	await setRules(client, 'main', {});
	const list = payments('A', 4);
	const window = await claim(client, 'main', list);
	// As another Unicode would have written them; the guard is of no use against a superuser's insert.
	await client.query(`begin; set session_replication_role = replica;
		update etb_wallet.payment set key = 'old ' || key where key <> 'a-3'; reset session_replication_role`);
	const other = await claim(client, 'main', list.slice(2, 3));
	assert.equal(other.send.length, 1, 'the trap works');
	// The set-up waits for a claim that still makes keys as before.
	const setUp = (await database.connect('superuser')).query(schema);
	const waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock'";
	const isWaiting = async () => (await value(client, z.coerce.number(), waiting)) || undefined;
	await eventually('the set-up to wait', isWaiting);
	await client.query('commit');
	await setUp;
	assert.deepEqual((await claim(client, 'main', list)).send, []);
	const told = await record(client, 'main', window, paid(window));
	assert.deepEqual(outcomes(told), Array(4).fill('paid'));
	// A-2 was handed out twice meanwhile. Both stand under one key, and the second one is told.
	await record(client, 'main', other, [{ ...paid(other)[0], txHash: '0x2' }]);
	const open = await rows(
		client,
		z.unknown(),
		'select reference, attempt, state from etb_wallet.open_payments',
	);
	assert.deepEqual(open, [{ reference: 'A-2', attempt: 1, state: 'paidTwice' }]);
	assert.equal(await settle(client, 'main', 'A-2', true, 1), 'paid');
	for (const change of ["key = 'b'", 'attempt = 7'])
		await refused(
			client.query(`update etb_wallet.payment set ${change} where key = 'a-1'`),
			/keeps every payment/,
		);
});

test('a record that another server set up pays nobody until the set-up ran here', async () => {
	const database = await server.gate();
	const client = await database.connect('superuser');
	await setRules(client, 'main', {});
	await client.query('update etb_wallet.version set server = server - 1');
	const item = { reference: 'a', toUserId: 'u', amountEtb: 1 };
	await refused(
		claim(client, 'main', [item]),
		/was set up on PostgreSQL \d+, and this is .*: run the workflow "Pay gate set-up" again/,
	);
	await client.query(schema);
	assert.equal((await claim(client, 'main', [item])).send.length, 1);
});

test('a record that is not whole is refused', async () => {
	for (const [sql, missing] of [
		['delete from etb_wallet.version', /Missing: its version/],
		['drop trigger paid_for_ever on etb_wallet.payment', /Missing: paid_for_ever/],
		['alter table etb_wallet.history disable trigger only_added', /Missing: only_added/],
		['alter table etb_wallet.spent drop constraint spent_pkey', /Missing: spent_pkey/],
		['drop index etb_wallet.payment_open', /Missing: payment_open/],
		['drop table etb_wallet.payment cascade', /Missing: payment_pkey, /],
	] as const) {
		const database = await server.gate();
		const client = await database.connect('superuser');
		await setRules(client, 'main', {});
		await client.query(sql);
		await refused(
			client.query(schema),
			missing,
			/Restore the backup once more.*Pay nobody before that/,
		);
		if (sql.includes('version'))
			await refused(
				client.query("select * from etb_wallet.claim('main', '[]', null, null, 2)"),
				/needs version 2 of the pay gate/,
			);
	}
});

test('a second administrator is told how to be allowed, and then sets up', async (context) => {
	await server.gate();
	const database = await server.emptyDatabase();
	const superuser = await database.connect('superuser');
	await superuser.query('create role second login createrole');
	await superuser.query(`grant create on database ${database.database} to second`);
	const second = await database.connect('second');
	const major = await value(superuser, z.coerce.number(), 'show server_version_num');
	if (major >= 160000) {
		const grant = `grant etb_wallet_owner, etb_wallet_gate, etb_wallet_desk to second with admin option`;
		await refused(setUpGate(second, LIMITS, schema), /may not act for it/, new RegExp(grant));
		await second.query('rollback');
		await superuser.query(grant);
	}
	assert.equal((await setUpGate(second, LIMITS, schema)).length, 2);
	context.diagnostic(`PostgreSQL ${major}`);
});

test('a database that is not UTF8 gets a sentence', async () => {
	const latin1 = await server.emptyDatabase(
		'latin_1',
		"template template0 encoding 'LATIN1' locale 'C'",
	);
	const client = await latin1.connect('setup');
	await refused(
		client.query(schema),
		/needs a database whose encoding is UTF8; this one is LATIN1/,
	);
});
