/** What the gate says in the cases that a person will meet: bad items, old answers, look-alikes, a record that forgot, setting rules. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import type pg from 'pg';
import { z } from 'zod';
import { paid } from '../support/work.mts';
import {
	claim,
	moveClock,
	outcomes,
	settle,
	rows,
	setRules,
	record,
	startGateServer,
	value,
	type Answer,
	type Item,
} from '../support/server.mts';

const server = await startGateServer();
after(async () => await server.stop());
const database = await server.gate();
await moveClock(database);
const client = await database.connect('superuser');
let budgets = 0;

/** A budget of its own for a test. */
async function newBudget(rules: object = {}): Promise<string> {
	const name = `budget ${++budgets}`;
	await setRules(client, name, rules);
	return name;
}
const move = async (time: string) =>
	await client.query('update etb_wallet.test_clock set moved = moved + $1::interval', [time]);
const item = (reference: string, amountEtb: unknown = 10, toUserId = 'u'): Item => ({
	reference,
	toUserId,
	amountEtb,
});
const open = async (name: string) => {
	const sql =
		'select reference, attempt, state from etb_wallet.open_payments where budget = $1 order by 1, 2';
	const row = z.object({ reference: z.string(), attempt: z.number(), state: z.string() });
	return (await rows(client, row, sql, [name])).map((own) => Object.values(own));
};
const unknown: Answer = { toUserId: 'u', outcome: 'unknown', message: 'No answer' };
const notPaid: Answer = { toUserId: 'u', outcome: 'notPaid', message: 'Rejected' };
const paidAs = (txHash?: string): Answer => ({ toUserId: 'u', outcome: 'paid', txHash });
const refs = (items: Array<{ reference: string }>) => items.map(({ reference }) => reference);
/** What a claim of these tells of each. */
const claimed = async (name: string, items: Item[]) =>
	outcomes((await claim(client, name, items)).items);
/** What the history tells of a payment. */
const story = async (name: string, reference: string) => {
	const sql =
		'select event from etb_wallet.history where budget = $1 and reference = $2 order by id';
	const told = await rows(client, z.object({ event: z.string() }), sql, [name, reference]);
	return told.map(({ event }) => event);
};
const spentToday = async (name: string) =>
	await value(
		client,
		z.coerce.number(),
		`select coalesce((select amount_etb from etb_wallet.spent s where s.budget = r.budget and period = 'day' and scope = 'budget'
			and starts_on = (etb_wallet.clock() at time zone r.time_zone)::date), 0) from etb_wallet.rules r where budget = $1 and requested_by = ''`,
		[name],
	);

test('a bad item is not paid, with its reason, and the others are', async () => {
	const name = await newBudget();
	const long = 'x'.repeat(201);
	const bad: Array<[unknown, RegExp]> = [
		[{ toUserId: 'u', amountEtb: 1 }, /Reference is empty/],
		[{ reference: ' \u00a0\n', toUserId: 'u', amountEtb: 1 }, /Reference is empty/],
		[{ reference: {}, toUserId: 'u', amountEtb: 1 }, /Reference is {}, which is not text/],
		[{ reference: '\u200b\u2800 ', toUserId: 'u', amountEtb: 1 }, /Reference is empty/],
		[{ reference: 'a', amountEtb: 1 }, /no toUserId/],
		[{ reference: 'a', toUserId: null, amountEtb: 1 }, /no toUserId/],
		[{ reference: 'a', toUserId: 'u' }, /not a plain amount.*: empty/],
		...[0, -1, '-1', '1,000', '1e3', 'ten', '', '.5', '5.', '٣', true, [1], 1e21, 1e13].map(
			(amountEtb): [unknown, RegExp] => [
				{ reference: 'a', toUserId: 'u', amountEtb },
				/not a plain amount/,
			],
		),
		...['1.250', ' 0001250.500 ', 12.345, 0.000001, 0.1234567890123456].map(
			(amountEtb): [unknown, RegExp] => [
				{ reference: 'a', toUserId: 'u', amountEtb },
				/which has more than two decimals\. If its point stands between thousands, leave it out/,
			],
		),
		[{ reference: 'a', toUserId: 'u', amountEtb: '1234567890123456' }, /not a plain amount/],
		[{ reference: 'a', toUserId: 'u', amountEtb: `0.${'0'.repeat(2000)}1` }, /not a plain amount/],
		[
			{ reference: 'a', toUserId: 'u', amountEtb: 1, requestedBy: ['x'] },
			/requestedBy is not text/,
		],
		[{ reference: long, toUserId: 'u', amountEtb: 1 }, /longer than 200/],
		// (No index takes as much.)
		[
			{ reference: randomBytes(3_000).toString('base64'), toUserId: 'u', amountEtb: 1 },
			/longer than 200/,
		],
		[{ reference: 'a', toUserId: long, amountEtb: 1 }, /longer than 200/],
		[{ reference: 'a', toUserId: 'u', amountEtb: 1, requestedBy: long }, /longer than 200/],
		[null, /Reference is empty/],
		['text', /Reference is empty/],
		[[], /Reference is empty/],
		[{}, /Reference is empty/],
	];
	const mixed = bad.flatMap(([wrong], index) => [wrong, item(`good ${index}`)]);
	const window = await claim(client, name, mixed);
	assert.equal(window.items.length, mixed.length);
	for (const [index, [wrong, reason]] of bad.entries()) {
		const said = window.items[index * 2];
		assert.equal(said?.outcome, 'notPaid', JSON.stringify(wrong));
		assert.match(said?.message ?? '', reason, JSON.stringify(wrong));
	}
	assert.deepEqual(
		refs(window.send),
		bad.map((_, index) => `good ${index}`),
	);
	const told = await record(client, name, window, paid(window));
	assert.equal(told.filter(({ outcome }) => outcome === 'paid').length, bad.length);
	assert.equal(await spentToday(name), bad.length * 10);
});

test('amounts, references and people are read as the node reads them', async () => {
	const name = await newBudget();
	const window = await claim(client, name, [
		item('noise', 0.1 + 0.2),
		item('zeros', '0001250.50'),
		item('exponent', 1e3),
		item('digits', 1234567890123.45),
		item('sum', 1e6 + 0.1 + 0.2),
		item('least', 0.01),
		{ reference: 20260301, toUserId: ' svc_1\n', amountEtb: ' 7 ' },
		item("o'brien {{ 1 }} \\ ü $1"),
	]);
	assert.deepEqual(
		window.send.map(({ reference, toUserId, amountEtb }) => [reference, toUserId, amountEtb]),
		[
			['noise', 'u', '0.3'],
			['zeros', 'u', '1250.5'],
			['exponent', 'u', '1000'],
			['digits', 'u', '1234567890123.45'],
			['sum', 'u', '1000000.3'],
			['least', 'u', '0.01'],
			['20260301', 'svc_1', '7'],
			["o'brien {{ 1 }} \\ ü $1", 'u', '10'],
		],
	);
});

test('a reference of another payment, and one that a list names twice, fail alone', async () => {
	const name = await newBudget();
	await claim(client, name, [item('a')]);
	const { items, send } = await claim(client, name, [
		item('a', 11),
		item('a', 10, 'v'),
		item('b'),
		item('b'),
		item('b', 11),
		item('c'),
		{ ...item('a', 11), requestedBy: 'mcp' },
	]);
	const expected = ['notPaid', 'notPaid', null, 'notPaid', 'notPaid', null, 'notPaid'];
	assert.deepEqual(outcomes(items), expected);
	assert.match(items[0]?.message ?? '', /belongs to another payment: 10 ETB to u/);
	// Another caller does not learn who got how much.
	assert.equal(
		items[6]?.message,
		'Its reference belongs to another payment: look for it at the desk',
	);
	assert.match(items[3]?.message ?? '', /twice/);
	assert.deepEqual(refs(send), ['b', 'c']);
});

test('a list that is none, a budget without rules and another isolation level are errors that name what to do', async () => {
	const name = await newBudget();
	await assert.rejects(
		client.query("select etb_wallet.claim($1, '{}')", [name]),
		/cannot extract elements/,
	);
	await assert.rejects(claim(client, 'nobody', [item('a')]), (error: pg.DatabaseError) => {
		assert.match(error.message, /no rules for the budget "nobody", so nobody is paid/);
		assert.match(error.hint ?? '', /Pay gate set-up/);
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
	const name = await newBudget({ lease: '10 minutes' });
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
	const name = await newBudget({ lease: '10 minutes' });
	const list = [item('a'), item('b'), item('c')];
	const window = await claim(client, name, list);
	await assert.rejects(settle(client, name, 'a', true), /may still be sent: settle it after/);
	await move('11 minutes');
	assert.deepEqual(await claimed(name, list), ['unknown', 'unknown', 'unknown']);
	assert.equal(await spentToday(name), 30);
	assert.equal(await settle(client, name, 'b', true), 'paid');
	// The answers of the process that stood still come all the same.
	const told = await record(client, name, window, [notPaid, notPaid, paidAs('0xc')]);
	assert.deepEqual(outcomes(told), ['notPaid', 'alreadyPaid', 'paid']);
	assert.deepEqual(await claimed(name, list), [null, 'alreadyPaid', 'alreadyPaid']);
	assert.deepEqual(await story(name, 'b'), ['send', 'leaseEnded', 'saidPaid', 'lateAnswer']);
});

test('the desk reads as unknown what was handed out and never recorded, also when nobody asks for it again', async () => {
	const name = await newBudget({ lease: '10 minutes' });
	await claim(client, name, [item('a')]);
	const state = async () =>
		await value(client, z.string(), 'select state from etb_wallet.payments where budget = $1', [
			name,
		]);
	assert.deepEqual(await open(name), [['a', 1, 'inFlight']]);
	assert.equal(await state(), 'sending');
	await move('11 minutes');
	assert.deepEqual(await open(name), [['a', 1, 'unknown']]);
	assert.equal(await state(), 'unknown');
});

test('a late answer "unknown" opens again what a person called not paid, once', async () => {
	const name = await newBudget({ lease: '10 minutes', most_per_day: 15 });
	const window = await claim(client, name, [item('a')]);
	await move('11 minutes');
	assert.equal(await settle(client, name, 'a', false), 'notPaid');
	assert.equal(await spentToday(name), 0);
	const [told] = await record(client, name, window, [unknown]);
	assert.equal(told?.outcome, 'unknown');
	assert.match(
		told?.message ?? '',
		/^Abebe settled it as not paid\. Later another answer came: unknown/,
	);
	assert.deepEqual(await open(name), [['a', 1, 'unknown']]);
	assert.equal(await spentToday(name), 10);
	assert.deepEqual(await claimed(name, [item('a')]), ['unknown']);
	const by = 'select settled_by from etb_wallet.payment where budget = $1';
	assert.equal(await value(client, z.null(), by, [name]), null);
	// A person asks once more. The same answer, told again, is no news then.
	assert.equal(await settle(client, name, 'a', false), 'notPaid');
	assert.deepEqual(outcomes(await record(client, name, window, [unknown])), ['notPaid']);
	assert.equal((await claim(client, name, [item('a')])).send.length, 1);
	assert.deepEqual(await story(name, 'a'), [
		...['send', 'saidNotPaid', 'lateUnknown', 'saidNotPaid', 'send'],
	]);
});

test('an answer "unknown" that the person knew when they settled it opens nothing', async () => {
	const name = await newBudget({ lease: '10 minutes' });
	const window = await claim(client, name, [item('a')]);
	await record(client, name, window, [unknown]);
	await move('11 minutes');
	await settle(client, name, 'a', false);
	assert.deepEqual(outcomes(await record(client, name, window, [unknown])), ['notPaid']);
	assert.deepEqual(await open(name), []);
});

test('a late answer "paid" counts as spent, is never sent again, and somebody is told', async () => {
	const name = await newBudget({ lease: '10 minutes', most_per_day: 15 });
	const window = await claim(client, name, [item('a')]);
	await move('11 minutes');
	await settle(client, name, 'a', false);
	const answers = [paidAs('0xlate')];
	assert.deepEqual(outcomes(await record(client, name, window, answers)), ['paid']);
	assert.equal(await spentToday(name), 10);
	const { items, send } = await claim(client, name, [item('a'), item('b')]);
	assert.deepEqual(outcomes(items), ['alreadyPaid', 'notPaid']);
	assert.equal(items[0]?.txHash, '0xlate');
	assert.equal(send.length, 0);
	assert.deepEqual(await open(name), [['a', 1, 'paidAfterAll']]);
	await assert.rejects(settle(client, name, 'a', false), /is paid, and stays paid/);
	assert.equal(await settle(client, name, 'a', true), 'paid');
	assert.deepEqual(await open(name), []);
	await record(client, name, window, answers);
	assert.deepEqual(await open(name), []);
	assert.equal(await spentToday(name), 10);
});

test('what is unknown may still be sent until its lease ends: only then can a person say that it was not paid', async () => {
	const name = await newBudget({ lease: '10 minutes' });
	const window = await claim(client, name, [item('a'), item('b')]);
	await record(client, name, window, [unknown, unknown]);
	await assert.rejects(
		settle(client, name, 'a', false),
		/"a" may still be sent: settle it after 2026-/,
	);
	assert.equal(await settle(client, name, 'b', true), 'paid');
	await move('11 minutes');
	assert.equal(await settle(client, name, 'a', false), 'notPaid');
});

test('paid twice is said and counts twice, and a person takes note of it', async () => {
	const name = await newBudget({ lease: '10 minutes' });
	const first = await claim(client, name, [item('a')]);
	await move('11 minutes');
	await settle(client, name, 'a', false);
	const second = await claim(client, name, [item('a')]);
	await record(client, name, second, [paidAs('0x2')]);
	await record(client, name, first, [paidAs('0x1')]);
	assert.deepEqual(await open(name), [['a', 1, 'paidTwice']]);
	assert.equal(await spentToday(name), 20);
	assert.equal(await settle(client, name, 'a', true, 1), 'paid');
	assert.deepEqual(await open(name), []);
	assert.equal(await spentToday(name), 20);
});

test('another txHash of a claim that is paid is a second payment: it is said once, and counts', async () => {
	const name = await newBudget({ lease: '10 minutes', most_per_day: 25 });
	const window = await claim(client, name, [item('a')]);
	for (const txHash of ['0x1', '0x2', '0x1', undefined, '0x2'])
		assert.deepEqual(outcomes(await record(client, name, window, [paidAs(txHash)])), ['paid']);
	assert.deepEqual(await open(name), [['a', 2, 'paidTwice']]);
	const why = 'select reason from etb_wallet.open_payments where budget = $1';
	assert.equal(
		await value(client, z.string(), why, [name]),
		'This claim was paid before, as 0x1. Later another answer came: paid.',
	);
	assert.equal(await spentToday(name), 20);
	assert.equal((await claim(client, name, [item('b')])).send.length, 0);
	assert.equal(await settle(client, name, 'a', true), 'paid');
	await record(client, name, window, [paidAs('0x2')]);
	assert.deepEqual(await open(name), []);
	assert.deepEqual(await story(name, 'a'), ['send', 'paid', 'latePaid', 'saidSeen']);
});

test('an earlier attempt that is in doubt again may be a second payment, and is settled by itself', async () => {
	const name = await newBudget({ lease: '10 minutes' });
	const first = await claim(client, name, [item('a')]);
	await move('11 minutes');
	await settle(client, name, 'a', false);
	const second = await claim(client, name, [item('a')]);
	await record(client, name, second, [paidAs('0x2')]);
	await record(client, name, first, [unknown]);
	assert.deepEqual(await open(name), [['a', 1, 'mayBePaidTwice']]);
	assert.deepEqual(await claimed(name, [item('a')]), ['alreadyPaid']);
	assert.equal(await settle(client, name, 'a', false, 1), 'notPaid');
	assert.deepEqual(await open(name), []);
	assert.equal(await spentToday(name), 10);
});

test('an earlier attempt that is paid after all counts for ever, also when a later one was not paid', async () => {
	const name = await newBudget({ lease: '10 minutes' });
	const first = await claim(client, name, [item('a')]);
	await move('11 minutes');
	await settle(client, name, 'a', false);
	const second = await claim(client, name, [item('a')]);
	await record(client, name, first, [paidAs('0x1')]);
	await record(client, name, second, [notPaid]);
	const [again] = (await claim(client, name, [item('a')])).items;
	assert.deepEqual([again?.outcome, again?.txHash], ['alreadyPaid', '0x1']);
});

test('a claim that this record does not have is an error, and nothing is recorded or told as paid', async () => {
	const name = await newBudget();
	const window = await claim(client, name, [item('a'), item('b')]);
	const invented = { ...window, claim: '00000000-0000-4000-8000-000000000000' };
	await assert.rejects(
		record(client, name, invented, [paidAs('0xfake'), unknown]),
		(error: pg.DatabaseError) => {
			assert.match(
				error.message,
				/did not hand out the payment "a": it was restored from a backup/,
			);
			assert.match(error.hint ?? '', /After a restore/);
			return true;
		},
	);
	assert.deepEqual(await story(name, 'a'), ['send']);
	assert.equal(await spentToday(name), 20);
});

test('a finding about one attempt does not settle the next', async () => {
	const name = await newBudget({ lease: '10 minutes' });
	const send = async () => {
		const window = await claim(client, name, [item('a')]);
		await record(client, name, window, [unknown]);
	};
	await send();
	await move('11 minutes');
	assert.equal(await settle(client, name, 'a', false, 1), 'notPaid');
	await send();
	for (const wasPaid of [false, true])
		await assert.rejects(
			settle(client, name, 'a', wasPaid, 1),
			/The payment "a" was sent again since you looked/,
		);
	assert.deepEqual(await claimed(name, [item('a')]), ['unknown']);
	assert.equal(await settle(client, name, 'a', true, 2), 'paid');
});

test('references that look the same are the same, in one list and in every later one', async () => {
	const name = await newBudget();
	const window = await claim(client, name, [
		...[item('INV-1'), item('inv 1'), item('ＩＮＶ‑1'), item('i​nv­−1')],
		...[item('Straße'), item('STRASSE'), item('café'), item('Café')],
	]);
	assert.deepEqual(refs(window.send), ['INV-1', 'inv 1', 'Straße', 'café']);
	assert.equal(window.items[2]?.code, 'sameReference');
	await record(client, name, window, paid(window));
	const later = ['inv-1', 'INV— 1', 'INV1', 'strasse', 'CAFÉ'].map((each) => item(each));
	const again = await claim(client, name, later, '2');
	assert.deepEqual(again.send, []);
	assert.deepEqual(
		again.items.map(({ code, txHash }) => [code, txHash]),
		['0xINV-1', '0xINV-1', '0xinv 1', '0xStraße', '0xcafé'].map((txHash) => ['paidBefore', txHash]),
	);
	// Another amount belongs to another payment, whoever writes it how.
	const [other] = (await claim(client, name, [item('ınv-1', 11), item('inv-1', 11)])).items.slice(
		1,
	);
	assert.equal(other?.code, 'otherPayment');
});

test('a payment keeps the reference that it had at first; a person and an answer find it by any that looks the same', async () => {
	const name = await newBudget({ lease: '10 minutes' });
	const first = await claim(client, name, [item('Pay A')]);
	await record(client, name, first, [notPaid]);
	const second = await claim(client, name, [item('PAY A')]);
	assert.deepEqual(refs(second.send), ['PAY A']);
	await record(client, name, second, [unknown]);
	await move('11 minutes');
	assert.deepEqual(await open(name), [['Pay A', 2, 'unknown']]);
	assert.equal(await settle(client, name, 'pay a', false, 2), 'notPaid');
	assert.deepEqual(await story(name, 'Pay A'), [
		...['send', 'notPaid', 'send', 'unknown', 'saidNotPaid'],
	]);
});

test('what is refused again and again for the same reason is written down once', async () => {
	const name = await newBudget({ most_per_day: 25 });
	const list = [
		item('a', 20),
		item('b', 20),
		item('bad', '1,000'),
		{ toUserId: 'u', amountEtb: 1 },
	];
	const first = await claim(client, name, list);
	await record(client, name, first, paid(first));
	const count = async () => (await story(name, 'b')).length + (await story(name, 'bad')).length;
	for (let again = 0; again < 3; again++) {
		await claim(client, name, list);
		assert.equal(await count(), 2);
	}
	const lines = 'select count(*)::int from etb_wallet.history where budget = $1';
	const before = await value(client, z.number(), lines, [name]);
	await claim(client, name, list);
	assert.equal(await value(client, z.number(), lines, [name]), before);
	// Another reason, and the same one after it was sent meanwhile, are news.
	await setRules(client, name, { paused: true });
	await claim(client, name, [item('b', 20)]);
	await setRules(client, name, { paused: false, most_per_day: 100 });
	const sent = await claim(client, name, [item('b', 20)]);
	await record(client, name, sent, [notPaid]);
	await setRules(client, name, { paused: true });
	for (let again = 0; again < 2; again++) await claim(client, name, [item('b', 20)]);
	assert.deepEqual(await story(name, 'b'), ['refused', 'refused', 'send', 'notPaid', 'refused']);
});

test('what the gate would pay can be written down as paid, also for another person than the service refused', async () => {
	const name = await newBudget();
	const wrong = await claim(client, name, [item('a', 950, 'wrong'), item('b', 950, 'wrong')]);
	await record(client, name, wrong, [
		{ toUserId: 'wrong', outcome: 'notPaid', message: 'No such user' },
		{ toUserId: 'wrong', outcome: 'unknown' },
	]);
	await move('1 hour');
	await settle(client, name, 'b', false);
	// Restored here. Corrected and paid afterwards: 'a' to the right one.
	const list = [{ ...item('a', 950, 'right'), txHash: '0x1' }, item('b', 950, 'right')];
	const told = await value(
		client,
		z.array(z.object({ outcome: z.string() })),
		'select items from etb_wallet.write_down_paid($1, $2, $3, $4)',
		[name, JSON.stringify(list), 'Abebe', 'paid after the backup'],
	);
	// What a person settled belongs to its person, for claim and here.
	assert.deepEqual(outcomes(told), ['written', 'refused']);
	assert.deepEqual(await claimed(name, list), ['alreadyPaid', 'notPaid']);
	assert.deepEqual(await story(name, 'a'), ['send', 'notPaid', 'saidPaidBefore']);
	assert.equal(await spentToday(name), 0);
});

test('a call with another mode than pay, an empty one too, hands out nothing, and one without a mode pays', async () => {
	const name = await newBudget();
	const asked = async (modes: unknown) =>
		await value(
			client,
			z.array(z.object({ outcome: z.string().nullable(), code: z.string().nullable() })),
			'select items from etb_wallet.claim($1, $2, $3, null, null, $4)',
			[name, JSON.stringify([item('a'), item('b')]), '1', modes],
		);
	for (const modes of [
		['dryRun'],
		[''],
		[null],
		['Pay'],
		['pay '],
		['pay', 'dryRun'],
		[['pay']],
		[0],
	]) {
		const refused = { outcome: 'notPaid', code: 'settings' };
		assert.deepEqual(await asked(JSON.stringify(modes)), [refused, refused], JSON.stringify(modes));
	}
	assert.equal(await spentToday(name), 0);
	for (const modes of [['pay'], [], null]) {
		const again = { outcome: null, code: null };
		const told = await asked(modes && JSON.stringify(modes));
		if (modes?.length === 1) assert.deepEqual(told, [again, again]);
		else
			assert.deepEqual(
				told.map(({ code }) => code),
				['inFlight', 'inFlight'],
			);
	}
});

test('user IDs and callers that look the same count as one for limits, each shown as it was written', async () => {
	const name = await newBudget({ most_per_recipient_per_day: 100 });
	const people = [
		'almaz',
		'almaz\u200b',
		'\u200ealmaz',
		'Almaz',
		'al\u00admaz',
		'\uff41lmaz',
		'\u0001almaz',
	];
	const window = await claim(
		client,
		name,
		people.map((who, index) => item(`p${index}`, 60, who)),
	);
	assert.deepEqual(
		window.items.map(({ code }) => code),
		[null, ...people.slice(1).map(() => 'aboveLimit')],
	);
	assert.deepEqual(refs((await claim(client, name, [item('p9', 40, 'ALMAZ')])).send), ['p9']);
	await client.query("select etb_wallet.set_rules($1, $2, 'Abebe', 'mcp')", [
		...[name, JSON.stringify({ most_per_day: 50 })],
	]);
	const callers = ['mcp', 'MCP', 'mcp\u200b', '\uff4dcp'].map((requestedBy, index) => ({
		...{ ...item(`c${index}`, 30, `u${index}`), requestedBy },
	}));
	assert.deepEqual(refs((await claim(client, name, callers)).send), ['c0']);
	await client.query("select etb_wallet.set_rules($1, $2, 'Abebe', 'M C P')", [
		...[name, JSON.stringify({ paused: true })],
	]);
	const [stopped] = (await claim(client, name, [{ ...item('c9', 1), requestedBy: 'mcp' }])).items;
	assert.equal(stopped?.code, 'paused');
	const shown = await rows(
		client,
		z.object({ who: z.string(), name: z.string() }),
		"select who, name from etb_wallet.spent where budget = $1 and scope <> 'budget' and period = 'day' and who <> '' order by 1",
		[name],
	);
	assert.deepEqual(shown, [
		...[
			{ who: 'almaz', name: 'almaz' },
			{ who: 'mcp', name: 'mcp' },
			{ who: 'u0', name: 'u0' },
		],
	]);
});

test('each caller and person of one window has a limit of its own, used up to the last cent', async () => {
	const name = await newBudget({ most_per_recipient_per_day: 10.5 });
	for (const caller of ['one', 'two'])
		await client.query("select etb_wallet.set_rules($1, $2, 'Abebe', $3)", [
			...[name, JSON.stringify({ most_per_day: 10.01 }), caller],
		]);
	const asked = [
		...[
			['a', 10.01, 'x', 'one'],
			['b', 0.01, 'y', 'one'],
			['c', 10.01, 'y', 'two'],
		],
		...[
			['d', 0.49, 'x', ''],
			['e', 0.01, 'x', ''],
		],
	] as const;
	const items = asked.map(([reference, amountEtb, toUserId, requestedBy]) => ({
		...{ reference, amountEtb, toUserId, requestedBy },
	}));
	assert.deepEqual(refs((await claim(client, name, items)).send), ['a', 'c', 'd']);
});

test("a day ends at midnight of the budget's time zone", async () => {
	const name = await newBudget({ most_per_day: 10 });
	const untilMidnight =
		"select extract(epoch from date_trunc('day', t) + interval '1 day' - t) from (select etb_wallet.clock() at time zone 'Africa/Addis_Ababa') c (t)";
	const seconds = await value(client, z.coerce.number(), untilMidnight);
	await move(`${Math.floor(seconds) - 1_800} seconds`);
	assert.deepEqual(await claimed(name, [item('a'), item('b')]), [null, 'notPaid']);
	await move('1 hour');
	assert.deepEqual(await claimed(name, [item('b'), item('c')]), [null, 'notPaid']);
});

test('items without a reference leave nothing in the history, however often they come', async () => {
	const name = await newBudget();
	const bad = Array.from({ length: 50 }, (_, index) => ({ toUserId: `u${index}`, amountEtb: 1 }));
	const lines = 'select count(*)::int from etb_wallet.history where budget = $1';
	const before = await value(client, z.number(), lines, [name]);
	for (let again = 0; again < 3; again++) await claim(client, name, bad);
	assert.equal(await value(client, z.number(), lines, [name]), before);
});

test('a person says how they know it', async () => {
	const name = await newBudget();
	const window = await claim(client, name, [item('a')]);
	await record(client, name, window, [unknown]);
	for (const note of [null, '', ' ']) {
		const list = JSON.stringify([item('b')]);
		const written = 'select etb_wallet.write_down_paid($1, $2, $3, $4)';
		await assert.rejects(client.query(written, [name, list, 'Abebe', note]), /Say how you know it/);
		const settled = "select etb_wallet.settle($1, 'a', 1, true, 'Abebe', $2)";
		await assert.rejects(client.query(settled, [name, note]), /Say how you know it/);
	}
	assert.deepEqual(await open(name), [['a', 1, 'unknown']]);
});

test('what an answer means for an attempt: the whole table', async () => {
	const table = {
		'sending null': 'paid notPaid unknown',
		'unknown null': 'paid notPaid lateAnswer',
		'unknown unknown': 'paid lateAnswer null',
		'notPaid null': 'latePaid lateAnswer lateUnknown',
		'notPaid notPaid': 'latePaid null lateUnknown',
		'notPaid unknown': 'latePaid lateAnswer null',
		'paid null': 'lateAnswer lateAnswer lateAnswer',
		'paid paid': 'null lateAnswer lateAnswer',
		'paid notPaid': 'lateAnswer null lateAnswer',
		'paid unknown': 'lateAnswer lateAnswer null',
	};
	for (const [before, expected] of Object.entries(table)) {
		const [state, answer] = before.split(' ');
		const sql =
			"select string_agg(coalesce(etb_wallet.event_of($1, nullif($2, 'null'), o), 'null'), ' ' order by n) from unnest(array['paid', 'notPaid', 'unknown']) with ordinality u (o, n)";
		assert.equal(await value(client, z.string(), sql, [state, answer]), expected, before);
	}
});

test('what was paid without the gate is written down, and the same list pays nobody', async () => {
	const name = await newBudget({ lease: '10 minutes', most_per_day: 100 });
	const doubtful = await claim(client, name, [item('unknown'), item('refused')]);
	const sending = await claim(client, name, [item('sending')]);
	await record(client, name, doubtful, [unknown, notPaid]);
	const list = [
		{ ...item('new'), txHash: '0x1' },
		...[item('unknown'), item('refused'), item('sending'), item('new', 11), item('new')],
		{ reference: 'bad' },
	];
	const told = await value(
		client,
		z.array(z.object({ outcome: z.string(), message: z.string().nullable() })),
		'select items from etb_wallet.write_down_paid($1, $2, $3, $4)',
		[name, JSON.stringify(list), 'Abebe', 'paid by the node'],
	);
	assert.deepEqual(outcomes(told), [
		'written',
		'written',
		'written',
		'refused',
		'refused',
		'alreadyPaid',
		'refused',
	]);
	assert.match(told[3]?.message ?? '', /sending it now/);
	assert.match(told[4]?.message ?? '', /belongs to another payment/);
	assert.match(told[6]?.message ?? '', /no toUserId/);
	// What the gate never handed out counts for no limit.
	assert.equal(await spentToday(name), 30);
	await record(client, name, sending, paid(sending));
	const again = await claim(client, name, list.slice(0, 4));
	assert.equal(again.send.length, 0);
	assert.deepEqual(
		again.items.map(({ outcome, txHash }) => [outcome, txHash]),
		[
			['alreadyPaid', '0x1'],
			['alreadyPaid', null],
			['alreadyPaid', null],
			['alreadyPaid', '0xsending'],
		],
	);
	assert.deepEqual(await story(name, 'new'), ['saidPaidBefore']);
});

test('a txHash that is longer than an index takes is cut, and the others of its claim are recorded', async () => {
	const name = await newBudget();
	const window = await claim(client, name, [item('a'), item('b')]);
	const long = randomBytes(3_000).toString('hex');
	const answers = [paidAs(long), paidAs('0xb')];
	for (let again = 0; again < 2; again++) {
		const told = await record(client, name, window, answers);
		assert.deepEqual(
			told.map(({ outcome, txHash }) => [outcome, txHash]),
			[
				['paid', long.slice(0, 200)],
				['paid', '0xb'],
			],
		);
	}
});

test('answers that do not fit what was handed out are unknown', async () => {
	const name = await newBudget();
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
		[{}],
	];
	for (const [index, given] of answers.entries()) {
		const window = await claim(client, name, [item(`a${index}`)]);
		assert.deepEqual(
			outcomes(await record(client, name, window, given)),
			['unknown'],
			JSON.stringify(given),
		);
		// And that is no word to send it again.
		await record(client, name, window, [notPaid]);
		assert.deepEqual(await claimed(name, [item(`a${index}`)]), ['unknown']);
	}
});

test('what the service refused can be corrected, but not once a person settled its reference', async () => {
	const name = await newBudget();
	const refusal: Answer = {
		error: { outcome: 'notPaid', toUserId: 'wrong', message: 'No such user' },
	};
	const first = await claim(client, name, [item('a', 10, 'wrong'), item('b', 10, 'wrong')]);
	await record(client, name, first, [
		refusal,
		{ toUserId: 'wrong', outcome: 'unknown', message: '?' },
	]);
	await move('1 hour');
	await settle(client, name, 'b', false);
	const { items, send } = await claim(client, name, [
		item('a', 12, 'right'),
		item('b', 10, 'right'),
	]);
	assert.deepEqual(outcomes(items), [null, 'notPaid']);
	assert.match(items[1]?.message ?? '', /belongs to another payment: 10 ETB to wrong/);
	assert.deepEqual(
		send.map(({ reference, toUserId }) => [reference, toUserId]),
		[['a', 'right']],
	);
	// From now on it is this payment's again.
	const third = await claim(client, name, [item('a', 10, 'wrong')]);
	assert.match(third.items[0]?.message ?? '', /belongs to another payment: 12 ETB to right/);
});

test('a node that refuses its whole run, or only tried it out, sent nothing', async () => {
	const name = await newBudget();
	const list = [item('a'), item('b', 10, 'v')];
	const refused = (toUserId: string): Answer => ({
		error: { outcome: 'notPaid', toUserId, message: 'The credential is gone' },
	});
	const refusal = await claim(client, name, list);
	const told = await record(client, name, refusal, [refused('u'), refused('v')]);
	assert.deepEqual(outcomes(told), ['notPaid', 'notPaid']);
	assert.equal(await spentToday(name), 0);
	const dryRun = await claim(client, name, list);
	const ready = await record(client, name, dryRun, [
		{ toUserId: 'u', outcome: 'ready', message: 'Dry run: nothing was sent' },
		{ toUserId: 'v', outcome: 'ready', message: 'Dry run: nothing was sent' },
	]);
	assert.deepEqual(outcomes(ready), ['notPaid', 'notPaid']);
	assert.equal(ready[0]?.message, 'Dry run: nothing was sent');
	assert.equal(await spentToday(name), 0);
	// One that names nobody is no word about anybody.
	const next = await claim(client, name, list);
	const nameless = { error: { outcome: 'notPaid', message: 'The credential is gone' } };
	const mixed = await record(client, name, next, [nameless, { toUserId: 'v', outcome: 'notPaid' }]);
	assert.deepEqual(outcomes(mixed), ['unknown', 'notPaid']);
});

test('record can be repeated', async () => {
	const name = await newBudget();
	const window = await claim(client, name, [item('a'), item('b')]);
	const answers: Answer[] = [
		{ toUserId: 'u', outcome: 'paid', txHash: '0x1' },
		{ error: { toUserId: 'u', outcome: 'notPaid', message: 'Closed' } },
	];
	const told = await record(client, name, window, answers);
	const count = 'select count(*) from etb_wallet.history where budget = $1';
	const lines = await value(client, z.string(), count, [name]);
	assert.deepEqual(await record(client, name, window, answers), told);
	assert.equal(await value(client, z.string(), count, [name]), lines);
	assert.equal(await spentToday(name), 10);
});

test('what is in flight is told so, and as it ended when the window is recorded', async () => {
	const name = await newBudget();
	const first = await claim(client, name, [item('a'), item('b'), item('c'), item('d')]);
	const second = await claim(client, name, [item('a'), item('b'), item('c'), item('d'), item('e')]);
	assert.deepEqual(
		second.items.map(({ outcome, code }) => [outcome, code]),
		[...Array<unknown>(4).fill(['unknown', 'inFlight']), [null, null]],
	);
	await record(client, name, { ...first, items: first.items.slice(0, 3) }, [
		...[paidAs('0xa'), notPaid, unknown],
	]);
	const told = await record(client, name, second, paid(second));
	assert.deepEqual(
		told.map(({ outcome, code, txHash }) => [outcome, code, txHash]),
		[
			['alreadyPaid', 'paidBefore', '0xa'],
			['notPaid', 'refused', null],
			['unknown', 'inDoubt', null],
			['unknown', 'inFlight', null],
			['paid', 'paid', '0xe'],
		],
	);
});

test('what the node said is told: its code, what to do, and what was paid', async () => {
	const name = await newBudget();
	const window = await claim(client, name, [item('a'), item('b')]);
	const amounts = { amountEtb: 9.5, requestedAmountEtb: 10, paidAt: '2026-11-03T10:00:00.000Z' };
	const told = await value(
		client,
		z.array(z.record(z.unknown())),
		'select * from etb_wallet.record($1, $2, $3, $4)',
		[
			...[name, window.claim, JSON.stringify(window.items)],
			JSON.stringify([
				{ ...paidAs('0xa'), code: 'otherAmount', ...amounts },
				{ toUserId: 'u', outcome: 'notPaid', code: 'refused', message: 'Closed.', remedy: 'Ask' },
			]),
		],
	);
	assert.deepEqual(told, [
		{
			...{ reference: 'a', toUserId: 'u', ...amounts, txHash: '0xa', message: null },
			...{ outcome: 'paid', code: 'otherAmount' },
		},
		{
			...{ reference: 'b', toUserId: 'u', amountEtb: 10, txHash: null, message: 'Closed. Ask' },
			...{ outcome: 'notPaid', code: 'refused' },
		},
	]);
});

test('rules that cannot be are refused, and what changes them is written down', async () => {
	const name = await newBudget();
	for (const [rules, refusal] of [
		[{ most_per_dya: 1 }, /no rule with this name: most_per_dya/],
		[{ budget: 'x' }, /no rule with this name: budget/],
		[{ most_per_day: -1 }, /most_etb/],
		[{ most_per_day: 'NaN' }, /most_etb/],
		[{ most_per_day: 'lots' }, /numeric/],
		[{ time_zone: 'Addis' }, /time zone/],
		// (PostgreSQL takes it for three hours west.)
		[{ time_zone: '+3' }, /time zone/],
		[{ lease: '1 second' }, /from 2 minutes to 1 day/],
	] as const) {
		await assert.rejects(setRules(client, name, rules), refusal, JSON.stringify(rules));
	}
	await assert.rejects(
		client.query("select etb_wallet.set_rules($1, '{}', ' ')", [name]),
		/Say who/,
	);
	await assert.rejects(
		client.query("select etb_wallet.settle($1, 'a', 1, true, '', '')", [name]),
		/Say who/,
	);
	await assert.rejects(settle(client, name, 'a', true), /no payment with the reference "a"/);
	await assert.rejects(
		client.query("select etb_wallet.set_rules($1, '{\"time_zone\": \"UTC\"}', 'me', 'x')", [name]),
		/no rule with this name: time_zone/,
	);
	await setRules(client, name, { most_per_day: 15 });
	assert.equal((await claim(client, name, [item('a'), item('b')])).send.length, 1);
	await setRules(client, name, { most_per_day: null });
	assert.equal((await claim(client, name, [item('b')])).send.length, 1);
	await assert.rejects(
		client.query("select etb_wallet.settle($1, 'b', 1, null, 'me', '')", [name]),
		/Say whether/,
	);
	const changes = z.object({ by_person: z.string(), detail: z.string() });
	assert.deepEqual(
		await rows(
			client,
			changes,
			"select by_person, detail from etb_wallet.history where budget = $1 and event = 'rules' order by id offset 1",
			[name],
		),
		[
			{ by_person: 'Abebe', detail: '{"most_per_day": 15}' },
			{ by_person: 'Abebe', detail: '{"most_per_day": null}' },
		],
	);
});

test('a setting applies to what is claimed, not to what was claimed before', async () => {
	const name = await newBudget({ lease: '1 hour' });
	await claim(client, name, [item('a')]);
	await setRules(client, name, { lease: '2 minutes' });
	await move('11 minutes');
	await assert.rejects(settle(client, name, 'a', false), /may still be sent/);
});
