/** What the gate says in the cases that a person will meet: bad items, old answers, waiting, events, setting rules. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type pg from 'pg';
import { z } from 'zod';
import {
	claim,
	moveClock,
	release,
	resolve,
	rows,
	setRules,
	settle,
	startGateServer,
	value,
	type Answer,
	type Claimed,
	type GateServer,
	type Item,
} from './gate.mts';

let server: GateServer;
let client: pg.Client;
let other: pg.Client;
let accounts = 0;

before(async () => {
	server = await startGateServer();
	const database = await server.gate();
	await moveClock(database);
	client = await database.connect('superuser');
	other = await database.connect('superuser');
});
after(async () => {
	await client.end();
	await other.end();
	await server.stop();
});

/** An account of its own for a test. */
async function account(rules: object = {}): Promise<string> {
	const name = `account ${++accounts}`;
	await setRules(client, name, { wait: '0', ...rules });
	return name;
}
const move = async (time: string) =>
	await client.query('update etb_wallet.test_clock set moved = moved + $1::interval', [time]);
const item = (reference: string, amountEtb: unknown = 10, toUserId = 'u'): Item => ({
	reference,
	toUserId,
	amountEtb,
});
const paid = (window: Claimed): Answer[] =>
	window.send.map(({ toUserId, reference }) => ({
		toUserId,
		outcome: 'paid',
		txHash: `0x${reference}`,
	}));
const outcomes = (told: Array<{ outcome: string | null }>) => told.map(({ outcome }) => outcome);
const spentToday = async (name: string) =>
	await value(
		client,
		z.coerce.number(),
		'select spent_today from etb_wallet.spending where account = $1',
		[name],
	);

test('a bad item is not paid, with its reason, and the others are', async () => {
	const name = await account();
	const long = 'x'.repeat(201);
	const bad: Array<[unknown, RegExp]> = [
		[{ reference: 'a\u0000', toUserId: 'u', amountEtb: 1 }, /cannot be read: .*\\u0000/],
		[{ reference: 'a', toUserId: '\ud800', amountEtb: 1 }, /cannot be read/],
		[{ toUserId: 'u', amountEtb: 1 }, /no reference/],
		[{ reference: ' \u00a0\n', toUserId: 'u', amountEtb: 1 }, /no reference/],
		[{ reference: {}, toUserId: 'u', amountEtb: 1 }, /no reference/],
		[{ reference: 'a', amountEtb: 1 }, /no toUserId/],
		[{ reference: 'a', toUserId: null, amountEtb: 1 }, /no toUserId/],
		[{ reference: 'a', toUserId: 'u' }, /not a plain amount.*: empty/],
		...[
			0,
			-1,
			'-1',
			'1,000',
			'1e3',
			'ten',
			'',
			'.5',
			'5.',
			'٣',
			true,
			[1],
			1e21,
			1e-7,
			0.1234567890123456,
		].map((amountEtb): [unknown, RegExp] => [
			{ reference: 'a', toUserId: 'u', amountEtb },
			/not a plain amount/,
		]),
		[{ reference: 'a', toUserId: 'u', amountEtb: '1234567890123456' }, /not a plain amount/],
		[{ reference: 'a', toUserId: 'u', amountEtb: `0.${'0'.repeat(2000)}1` }, /not a plain amount/],
		[
			{ reference: 'a', toUserId: 'u', amountEtb: 1, requestedBy: ['x'] },
			/requestedBy is not text/,
		],
		[{ reference: long, toUserId: 'u', amountEtb: 1 }, /longer than 200/],
		[{ reference: 'a', toUserId: long, amountEtb: 1 }, /longer than 200/],
		[{ reference: 'a', toUserId: 'u', amountEtb: 1, requestedBy: long }, /longer than 200/],
		[null, /no reference/],
		['text', /no reference/],
		[[], /no reference/],
		[{}, /no reference/],
	];
	const mixed = bad.flatMap(([wrong], index) => [wrong, item(`good ${index}`)]);
	const window = await claim(client, name, mixed);
	assert.equal(window.items.length, mixed.length);
	for (const [index, [wrong, reason]] of bad.entries()) {
		const said = window.items[index * 2];
		assert.equal(said?.outcome, 'notPaid', JSON.stringify(wrong));
		assert.match(said?.reason ?? '', reason, JSON.stringify(wrong));
	}
	assert.deepEqual(
		window.send.map(({ reference }) => reference),
		bad.map((_, index) => `good ${index}`),
	);
	const told = await settle(client, name, window, paid(window));
	assert.equal(told.filter(({ outcome }) => outcome === 'paid').length, bad.length);
	assert.equal(await spentToday(name), bad.length * 10);
});

test('amounts, references and people are read as the node reads them', async () => {
	const name = await account();
	const window = await claim(client, name, [
		item('noise', 0.1 + 0.2),
		item('zeros', '0001250.500'),
		item('exponent', 1e3),
		item('digits', 123456789012.345),
		item('least', 0.000001),
		{ reference: 20260301, toUserId: ' svc_1\n', amountEtb: ' 7 ' },
		item("o'brien {{ 1 }} \\ ü $1"),
	]);
	assert.deepEqual(
		window.send.map(({ reference, toUserId, amountEtb }) => [reference, toUserId, amountEtb]),
		[
			['noise', 'u', '0.3'],
			['zeros', 'u', '1250.5'],
			['exponent', 'u', '1000'],
			['digits', 'u', '123456789012.345'],
			['least', 'u', '0.000001'],
			['20260301', 'svc_1', '7'],
			["o'brien {{ 1 }} \\ ü $1", 'u', '10'],
		],
	);
});

test('a reference of another payment, and one that a list names twice, fail alone', async () => {
	const name = await account();
	await claim(client, name, [item('a')]);
	const { items, send } = await claim(client, name, [
		item('a', 11),
		item('a', 10, 'v'),
		item('b'),
		item('b'),
		item('b', 11),
		item('c'),
	]);
	assert.deepEqual(outcomes(items), ['notPaid', 'notPaid', null, 'notPaid', 'notPaid', null]);
	assert.match(items[0]?.reason ?? '', /belongs to another payment: 10 ETB to u/);
	assert.match(items[3]?.reason ?? '', /twice/);
	assert.deepEqual(
		send.map(({ reference }) => reference),
		['b', 'c'],
	);
});

test('a list that is none, an account without rules and another isolation level are errors that name what to do', async () => {
	const name = await account();
	await assert.rejects(
		client.query("select etb_wallet.claim($1, '{}')", [name]),
		/Not a list of items/,
	);
	await assert.rejects(
		client.query('select etb_wallet.claim($1, null)', [name]),
		/Not a list of items/,
	);
	await assert.rejects(claim(client, 'nobody', [item('a')]), (error: pg.DatabaseError) => {
		assert.match(error.message, /no rules for the account "nobody", so nobody is paid/);
		assert.match(error.hint ?? '', /select etb_wallet\.set_rules/);
		return true;
	});
	for (const level of ['repeatable read', 'serializable']) {
		await client.query(`begin isolation level ${level}`);
		await assert.rejects(
			claim(client, name, [item('a')]),
			/needs the isolation level READ COMMITTED/,
		);
		await client.query('rollback');
	}
	assert.deepEqual((await claim(client, name, [])).items, []);
});

test('nothing may be sent after half of the lease, by the clock of who sends', async () => {
	const name = await account({ lease: '10 minutes' });
	const now = await value(
		client,
		z.coerce.number(),
		'select extract(epoch from etb_wallet.clock()) * 1000',
	);
	const { not_after, send } = await claim(client, name, [item('a')], 'workflow/7');
	assert.equal(send[0]?.notAfter, not_after);
	assert.equal(send[0]?.execution, 'workflow/7');
	assert.ok(Math.abs(Date.parse(not_after) - now - 5 * 60_000) < 10_000, not_after);
	const behind = '2020-01-01T00:00:00.000Z';
	const [row] = await rows(
		client,
		z.object({ not_after: z.string() }),
		'select not_after from etb_wallet.claim($1, $2, $3, $4)',
		[name, JSON.stringify([item('b')]), '1', behind],
	);
	assert.equal(row?.not_after, '2020-01-01T00:05:00.000Z');
});

test('what was claimed longer ago than its lease is unknown until its answer or a person settles it', async () => {
	const name = await account({ lease: '10 minutes' });
	const list = [item('a'), item('b'), item('c')];
	const window = await claim(client, name, list);
	await assert.rejects(resolve(client, name, 'a', true), /is being sent: wait until/);
	await move('11 minutes');
	assert.deepEqual(outcomes((await claim(client, name, list)).items), [
		'unknown',
		'unknown',
		'unknown',
	]);
	assert.equal(await spentToday(name), 30);
	assert.equal(await resolve(client, name, 'a', false), 'notPaid');
	assert.equal(await resolve(client, name, 'b', true), 'paid');
	assert.equal(await spentToday(name), 20);
	// The answers of the process that stood still come all the same.
	const told = await settle(client, name, window, [
		{ toUserId: 'u', outcome: 'paid', txHash: '0xlate' },
		{ toUserId: 'u', outcome: 'notPaid', message: 'Rejected' },
		{ toUserId: 'u', outcome: 'paid', txHash: '0xc' },
	]);
	assert.deepEqual(outcomes(told), ['paid', 'alreadyPaid', 'paid']);
	const state = z.object({ reference: z.string(), state: z.string(), late: z.string().nullable() });
	const sql = `select reference, state, late_payment as late from etb_wallet.payments where account = $1 order by 1`;
	assert.deepEqual(await rows(client, state, sql, [name]), [
		{ reference: 'a', state: 'notPaid', late: '0xlate' },
		{ reference: 'b', state: 'paid', late: null },
		{ reference: 'c', state: 'paid', late: null },
	]);
	// What a person called not paid and the service paid is not handed out again.
	const again = await claim(client, name, list);
	assert.deepEqual(outcomes(again.items), ['unknown', 'alreadyPaid', 'alreadyPaid']);
	assert.match(again.items[0]?.reason ?? '', /later the service's answer came that it is paid/);
	await assert.rejects(resolve(client, name, 'a', false), /can only be settled as paid/);
	assert.equal(await resolve(client, name, 'a', true), 'paid');
	assert.equal(await spentToday(name), 30);
	const late = await rows(
		client,
		z.object({ detail: z.string() }),
		"select detail from etb_wallet.events where account = $1 and event = 'lateAnswer' order by id",
		[name],
	);
	assert.deepEqual(
		late.map(({ detail }) => detail),
		['paid 0xlate', 'notPaid Rejected'],
	);
});

test('what is unknown may still be sent until its lease ends: only then can a person say that it was not paid', async () => {
	const name = await account({ lease: '10 minutes' });
	const window = await claim(client, name, [item('a'), item('b')]);
	const unknown = { toUserId: 'u', outcome: 'unknown' };
	await settle(client, name, window, [unknown, unknown]);
	await assert.rejects(
		resolve(client, name, 'a', false),
		/"a" may still be sent: say that it was not paid after 2026-/,
	);
	assert.equal(await resolve(client, name, 'b', true), 'paid');
	await move('11 minutes');
	assert.equal(await resolve(client, name, 'a', false), 'notPaid');
});

test('paid twice is said, and a person takes note of it', async () => {
	const name = await account({ lease: '10 minutes' });
	const first = await claim(client, name, [item('a')]);
	await move('11 minutes');
	await resolve(client, name, 'a', false);
	const second = await claim(client, name, [item('a')]);
	await settle(client, name, second, [{ toUserId: 'u', outcome: 'paid', txHash: '0x2' }]);
	await settle(client, name, first, [{ toUserId: 'u', outcome: 'paid', txHash: '0x1' }]);
	const open = z.object({ state: z.string(), late_payment: z.string() });
	const sql = 'select state, late_payment from etb_wallet.open_payments where account = $1';
	assert.deepEqual(await rows(client, open, sql, [name]), [
		{ state: 'paidTwice', late_payment: '0x1' },
	]);
	assert.equal(await resolve(client, name, 'a', true), 'paid');
	assert.deepEqual(await rows(client, open, sql, [name]), []);
});

test('a word about one attempt does not settle the next', async () => {
	const name = await account({ lease: '10 minutes' });
	const send = async () => {
		const window = await claim(client, name, [item('a')]);
		await settle(client, name, window, [{ toUserId: 'u', outcome: 'unknown' }]);
	};
	await send();
	await move('11 minutes');
	assert.equal(await resolve(client, name, 'a', false, 1), 'notPaid');
	await send();
	for (const wasPaid of [false, true])
		await assert.rejects(
			resolve(client, name, 'a', wasPaid, 1),
			/The payment "a" was sent again since you looked, at 2026-03-30 12:/,
		);
	assert.deepEqual(outcomes((await claim(client, name, [item('a')])).items), ['unknown']);
	assert.equal(await resolve(client, name, 'a', true, 2), 'paid');
});

test('answers that do not fit what was handed out are unknown', async () => {
	const name = await account();
	const answers: Answer[][] = [
		[],
		[
			{ toUserId: 'u', outcome: 'paid' },
			{ toUserId: 'u', outcome: 'paid' },
		],
		[{ toUserId: 'v', outcome: 'paid' }],
		[{ outcome: 'paid' }],
		[{ toUserId: 'u', outcome: 'alreadyPaid' }],
		[{ toUserId: 'u', reference: 'another', outcome: 'paid' }],
		[{ toUserId: 'u', outcome: 'paid', txHash: '0x\u0000' }],
		[{}],
	];
	for (const [index, given] of answers.entries()) {
		const window = await claim(client, name, [item(`a${index}`)]);
		assert.deepEqual(
			outcomes(await settle(client, name, window, given)),
			['unknown'],
			JSON.stringify(given),
		);
		// And that is no word to send it again.
		await settle(client, name, window, [{ toUserId: 'u', outcome: 'notPaid' }]);
		await release(client, name, window);
		assert.deepEqual(outcomes((await claim(client, name, [item(`a${index}`)])).items), ['unknown']);
	}
});

test('a node that refuses its whole run, or only tried it out, sent nothing', async () => {
	const name = await account();
	const list = [item('a'), item('b', 10, 'v')];
	const refused = (toUserId: string): Answer => ({
		error: { outcome: 'notPaid', toUserId, message: 'The credential is gone' },
	});
	const refusal = await claim(client, name, list);
	const told = await settle(client, name, refusal, [refused('u'), refused('v')]);
	assert.deepEqual(outcomes(told), ['notPaid', 'notPaid']);
	assert.equal(await spentToday(name), 0);
	const dryRun = await claim(client, name, list);
	const ready = await settle(client, name, dryRun, [
		{ toUserId: 'u', outcome: 'ready', message: 'Dry run: nothing was sent' },
		{ toUserId: 'v', outcome: 'ready', message: 'Dry run: nothing was sent' },
	]);
	assert.deepEqual(outcomes(ready), ['notPaid', 'notPaid']);
	assert.equal(ready[0]?.reason, 'Dry run: nothing was sent');
	assert.equal(await spentToday(name), 0);
	// One that names nobody is no word about anybody.
	const next = await claim(client, name, list);
	const nameless = { error: { outcome: 'notPaid', message: 'The credential is gone' } };
	const mixed = await settle(client, name, next, [nameless, { toUserId: 'v', outcome: 'notPaid' }]);
	assert.deepEqual(outcomes(mixed), ['unknown', 'notPaid']);
});

test('settle and release can be repeated', async () => {
	const name = await account();
	const window = await claim(client, name, [item('a'), item('b')]);
	const answers: Answer[] = [
		{ toUserId: 'u', outcome: 'paid', txHash: '0x1' },
		{ error: { toUserId: 'u', outcome: 'notPaid', message: 'Closed' } },
	];
	const told = await settle(client, name, window, answers);
	const count = 'select count(*) from etb_wallet.history where account = $1';
	const lines = await value(client, z.string(), count, [name]);
	assert.deepEqual(await settle(client, name, window, answers), told);
	assert.equal(await value(client, z.string(), count, [name]), lines);
	assert.equal(await spentToday(name), 10);
	const released = await claim(client, name, [item('b'), item('c')]);
	assert.match(
		(await release(client, name, released))[0]?.reason ?? '',
		/Nothing was sent: the credential is gone/,
	);
	assert.deepEqual(outcomes(await release(client, name, released)), ['notPaid', 'notPaid']);
	assert.equal(await spentToday(name), 10);
	assert.equal((await claim(client, name, [item('b'), item('c')])).send.length, 2);
});

test('a reference that another is sending is waited for, and not longer than the rules say', async () => {
	const name = await account({ wait: '30 seconds' });
	const window = await claim(client, name, [item('a')]);
	const waiting = claim(other, name, [item('a'), item('b')]);
	// It holds no lock while it waits.
	await settle(client, name, window, paid(window));
	const { items, send } = await waiting;
	assert.deepEqual(outcomes(items), ['alreadyPaid', null]);
	assert.equal(items[0]?.txHash, '0xa');
	assert.equal(send.length, 1);
	await setRules(client, name, { wait: '50 milliseconds' });
	assert.deepEqual(outcomes((await claim(other, name, [item('b'), item('c')])).items), [
		'inFlight',
		null,
	]);
});

test('what is in flight when a window is claimed is told as it ended when the window is settled', async () => {
	const name = await account();
	const first = await claim(client, name, [item('a')]);
	const second = await claim(client, name, [item('a'), item('b')]);
	await settle(client, name, first, paid(first));
	const told = await settle(client, name, second, paid(second));
	assert.deepEqual(
		told.map(({ outcome, txHash }) => [outcome, txHash]),
		[
			['alreadyPaid', '0xa'],
			['paid', '0xb'],
		],
	);
});

test('an event confirms a payment, also when it comes before the answer', async () => {
	const name = await account();
	const window = await claim(
		client,
		name,
		['a', 'b', 'c'].map((reference) => item(reference)),
	);
	const confirm = async (txHash: string) =>
		await value(client, z.number(), 'select etb_wallet.confirm($1, $2)', [name, txHash]);
	assert.equal(await confirm('0xa'), 0);
	await settle(client, name, window, paid(window));
	assert.equal(await confirm('0xb'), 1);
	assert.equal(await confirm('0xb'), 0);
	await assert.rejects(client.query('select etb_wallet.confirm($1, null)', [name]), /no txHash/);
	const sql = 'select reference from etb_wallet.unconfirmed_payments where account = $1';
	const reference = z.object({ reference: z.string() });
	assert.deepEqual(await rows(client, reference, sql, [name]), []);
	await move('25 hours');
	assert.deepEqual(await rows(client, reference, sql, [name]), [{ reference: 'c' }]);
});

test('rules that cannot be are refused, and what changes them is written down', async () => {
	const name = await account();
	for (const [rules, refusal] of [
		[{ most_per_dya: 1 }, /no rule with this name: most_per_dya/],
		[{ account: 'x' }, /no rule with this name: account/],
		[{ most_per_day: -1 }, /most_etb/],
		[{ most_per_day: 'NaN' }, /most_etb/],
		[{ most_per_day: 'lots' }, /numeric/],
		[{ time_zone: 'Addis' }, /time zone/],
		[{ lease: '1 second' }, /from 2 minutes to 1 day/],
		[{ wait: '-1 second' }, /wait/],
	] as const) {
		await assert.rejects(setRules(client, name, rules), refusal, JSON.stringify(rules));
	}
	await assert.rejects(
		client.query("select etb_wallet.set_rules($1, '{}', ' ')", [name]),
		/Say who/,
	);
	await assert.rejects(
		client.query("select etb_wallet.resolve($1, 'a', true, '', '')", [name]),
		/Say who/,
	);
	await assert.rejects(
		client.query("select etb_wallet.resolve($1, 'a', null, 'me', '')", [name]),
		/Say whether/,
	);
	await assert.rejects(resolve(client, name, 'a', true), /no payment with the reference "a"/);
	await assert.rejects(
		client.query("select etb_wallet.set_caller($1, 'x', '{\"most_per_year\": 1}', 'me')", [name]),
		/no rule of a caller with this name/,
	);
	await setRules(client, name, { most_per_day: 15 });
	assert.equal((await claim(client, name, [item('a'), item('b')])).send.length, 1);
	await setRules(client, name, { most_per_day: null });
	assert.equal((await claim(client, name, [item('b')])).send.length, 1);
	const changes = z.object({ by_person: z.string(), detail: z.string() });
	assert.deepEqual(
		await rows(
			client,
			changes,
			"select by_person, detail from etb_wallet.events where account = $1 and event = 'rules' order by id offset 1",
			[name],
		),
		[
			{ by_person: 'Abebe', detail: '{"most_per_day": 15}' },
			{ by_person: 'Abebe', detail: '{"most_per_day": null}' },
		],
	);
});

test('a setting applies to what is claimed, not to what was claimed before', async () => {
	const name = await account({ lease: '1 hour' });
	await claim(client, name, [item('a')]);
	await setRules(client, name, { lease: '2 minutes' });
	await move('11 minutes');
	await assert.rejects(resolve(client, name, 'a', false), /is being sent/);
});
