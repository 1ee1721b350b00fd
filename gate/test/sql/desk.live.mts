/** The pages of the desk and the words of the morning, by their functions: what they find, and by which way among many payments. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { z } from 'zod';
import { fillGate } from '../support/fill.mts';
import {
	claim,
	endLeases,
	record,
	refused,
	rows,
	setRules,
	startGateServer,
	value,
} from '../support/server.mts';
import { paid, payments, scannedIn, stepsOf } from '../support/work.mts';

const server = await startGateServer();
after(async () => await server.stop());
const database = await server.gate();
const client = await database.connect('superuser');
const desk = await database.connect('desk');

const Found = z.object({
	payments: z.array(z.object({ reference: z.string(), attempt: z.number() })).nullable(),
	history: z.array(z.object({ event: z.string() })).nullable(),
});
const find = async (what: string) =>
	await value(desk, Found, "select etb_wallet.desk_find('main', $1)", [what]);

test('a payment is found by its exact reference among thousands that begin so, with its history', async () => {
	await setRules(client, 'main', {});
	const list = payments('payroll', 3000).map((each, index) => ({
		...each,
		toUserId: `u${index % 7}`,
	}));
	const window = await claim(client, 'main', list.reverse());
	await record(client, 'main', window, paid(window));
	// With statistics of other days the planner reads them in the order in which they lie. These came last.
	await desk.query('set enable_indexscan = off');
	for (const reference of ['payroll-7', 'Payroll - 2', 'payroll-1', 'payroll-299']) {
		const { payments, history } = await find(reference);
		assert.equal(payments?.[0]?.reference, reference.toLowerCase().replaceAll(' ', ''));
		assert.deepEqual(
			history?.map(({ event }) => event),
			['send', 'paid'],
		);
	}
	assert.equal((await find('payroll-')).payments?.length, 50);
	assert.equal((await find('u3')).payments?.length, 50);
	const byTransaction = await find('0xpayroll-77');
	assert.deepEqual(
		byTransaction.payments?.map(({ reference }) => reference),
		['payroll-77'],
	);
	assert.deepEqual(await find('nobody'), { payments: null, history: null });
	await desk.query('reset enable_indexscan');
});

test('each page goes by an index, also in a connection that began with empty tables', async () => {
	const many = await server.gate();
	const [early, other] = [await many.connect('superuser'), await many.connect('superuser')];
	await setRules(early, 'main', { most_per_day: 1e9 });
	const pages = ['open', 'spent', 'limits', 'callers', 'lately'].map(
		(page) => `select etb_wallet.desk_${page}('main')`,
	);
	pages.push(
		"select etb_wallet.desk_find('main', 'x')",
		"select * from etb_wallet.needs_attention('main')",
	);
	for (let warm = 0; warm < 7; warm++) for (const page of pages) await early.query(page);
	await fillGate(other, 20_000);
	for (const page of pages) {
		const steps = await stepsOf(early, async () => await early.query(page));
		assert.ok(steps.length > 0, page);
		const scanned = scannedIn(steps).filter((table) => table !== 'rules');
		assert.deepEqual(scanned, [], page);
	}
});

test('the morning says what needs a person, the worst first, and nothing when all is well', async () => {
	const name = 'morning';
	const attention = async () => {
		const sql = 'select what from etb_wallet.needs_attention($1)';
		return (await rows(desk, z.object({ what: z.string() }), sql, [name])).map(({ what }) => what);
	};
	assert.match((await attention()).join(), /no limits for the budget "morning"/);
	await setRules(client, name, { most_per_day: 150 });
	assert.deepEqual(await attention(), []);
	const item = (reference: string, amountEtb: number) => ({
		...{ reference, toUserId: 'u', amountEtb, requestedBy: 'payroll' },
	});
	const window = await claim(client, name, [item('a', 50), item('b', 20)]);
	assert.deepEqual(await attention(), []);
	const unknown = { toUserId: 'u', outcome: 'unknown' };
	await record(client, name, window, [{ toUserId: 'u', outcome: 'paid', txHash: '0x1' }, unknown]);
	assert.deepEqual(await attention(), ['1 unknown, 20 ETB: b']);
	await record(client, name, window, [{ toUserId: 'u', outcome: 'paid', txHash: '0x2' }, unknown]);
	await claim(client, name, [item('c', 10)]);
	await endLeases(client, 'sending');
	await setRules(client, name, { paused: true });
	await setRules(client, name, { paused: true, most_per_month: 80 }, 'Payroll');
	assert.deepEqual(await attention(), [
		...['1 PAID TWICE, 50 ETB: a', '2 unknown, 30 ETB: b, c', 'All payments are stopped'],
		...['The payments of payroll are stopped', 'day: 130 of 150 ETB are spent or reserved'],
		'month, the caller payroll: 130 of 80 ETB are spent or reserved',
	]);
});

test('several are settled together, or none', async () => {
	const name = 'together';
	await setRules(client, name, {});
	const items = payments(name, 2);
	await claim(client, name, items);
	const settle = async (...attempts: number[]) => {
		const which = items.map(({ reference }, index) => ({ reference, attempt: attempts[index] }));
		const settled = await value(
			desk,
			z.object({ done: z.array(z.object({ state: z.string() })) }),
			"select etb_wallet.desk_settle($1, false, 'me', 'ticket', $2)",
			[name, JSON.stringify(which.map((each, index) => ({ ...each, n: index + 1 })))],
		);
		return settled.done.map(({ state }) => state);
	};
	await endLeases(client, 'sending');
	await refused(settle(1, 2), /has no payment with the reference "together-1"/);
	const state = "select string_agg(state, ' ') from etb_wallet.payment where budget = $1";
	assert.equal(await value(client, z.string(), state, [name]), 'sending sending');
	assert.deepEqual(await settle(1, 1), ['notPaid', 'notPaid']);
});
