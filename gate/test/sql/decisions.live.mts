/** What the gate says in the cases that a person will meet: bad items, old answers, look-alikes, a record that forgot, setting rules. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { z } from 'zod';
import { paid } from '../support/work.mts';
import {
	claim,
	moveClock,
	outcomes,
	refused,
	settle,
	rows,
	setRules,
	record,
	startGateServer,
	value,
	type Answer,
	type Claimed,
	type Item,
} from '../support/server.mts';

const server = await startGateServer();
after(async () => await server.stop());
const database = await server.gate();
await moveClock(database);
const client = await database.connect('superuser');
let budgets = 0;

const Line = z.object({ line: z.string() });
/** The lines that a query selects. */
const lines = async (sql: string, values: unknown[]) =>
	(await rows(client, Line, sql, values)).map(({ line }) => line);
/** What claim says about each: its outcome and code, or that it is to be sent. */
const said = (items: Claimed['items']) =>
	items.map(({ outcome, code }) => (outcome === null ? 'send' : `${outcome} ${code}`));
const refs = ({ send }: Claimed) => send.map(({ reference }) => reference);

/** A budget of its own for a test, and what the gate does in it. */
async function newBudget(rules: object = {}) {
	const name = `budget ${++budgets}`;
	await setRules(client, name, rules);
	const hands = async (...items: unknown[]) => await claim(client, name, items);
	return {
		name,
		claim: hands,
		/** Claims, and tells what is said of each. */
		asks: async (...items: unknown[]) => said((await hands(...items)).items),
		/** Records these answers to what was claimed; tells the outcomes. */
		record: async (window: Pick<Claimed, 'claim' | 'items'>, ...answers: Answer[]) =>
			outcomes(await record(client, name, window, answers)),
		settle: async (reference: string, wasPaid: boolean, attempt?: number) =>
			await settle(client, name, reference, wasPaid, attempt),
		setRules: async (changes: object, caller?: string) =>
			await setRules(client, name, changes, caller),
		/** Writes these down as paid without the gate. */
		writeDown: async (items: Item[]) =>
			await value(
				client,
				z.array(z.object({ outcome: z.string(), message: z.string().nullable() })),
				"select items from etb_wallet.write_down_paid($1, $2, 'Abebe', 'paid by the node')",
				[name, JSON.stringify(items)],
			),
		/** The attempts that are open. */
		open: async () =>
			await lines(
				"select concat_ws(' ', reference, attempt, state) as line from etb_wallet.open_payments where budget = $1 order by 1",
				[name],
			),
		/** The history of a payment. */
		story: async (reference: string) => {
			const sql =
				'select event as line from etb_wallet.history where budget = $1 and reference = $2 order by id';
			return (await lines(sql, [name, reference])).join(' ');
		},
		/** How many lines the history has. */
		history: async () =>
			await value(
				client,
				z.number(),
				'select count(*)::int from etb_wallet.history where budget = $1',
				[name],
			),
		/** The sum that is spent or reserved today. */
		spent: async () =>
			await value(
				client,
				z.coerce.number(),
				`select coalesce((select amount_etb from etb_wallet.spent s where s.budget = r.budget and period = 'day' and scope = 'budget'
					and starts_on = (etb_wallet.clock() at time zone r.time_zone)::date), 0) from etb_wallet.rules r where budget = $1 and requested_by = ''`,
				[name],
			),
	};
}
const move = async (time: string) =>
	await client.query('update etb_wallet.test_clock set moved = moved + $1::interval', [time]);
const item = (reference: string, amountEtb: unknown = 10, toUserId = 'u'): Item => ({
	...{ reference, toUserId, amountEtb },
});
const unknown: Answer = { toUserId: 'u', outcome: 'unknown', message: 'No response' };
const notPaid: Answer = { toUserId: 'u', outcome: 'notPaid', message: 'Rejected' };
const paidAs = (txHash?: string): Answer => ({ toUserId: 'u', outcome: 'paid', txHash });

test('a bad item is not paid, with its reason, and the others are', async () => {
	const budget = await newBudget();
	const long = 'x'.repeat(201);
	const withField = (field: string, ...values: unknown[]) =>
		values.map((own) => ({ ...item('a'), [field]: own }));
	const bad: Array<[RegExp, unknown[]]> = [
		[/Reference is empty/, [null, 'text', [], {}]],
		[/Reference is empty/, withField('reference', undefined, ' \u00a0\n', '\u200b\u2800 ')],
		[/Reference is {}, which is not text/, withField('reference', {})],
		// (No index takes as much as the second one.)
		[/longer than 200/, withField('reference', long, randomBytes(3_000).toString('base64'))],
		[/longer than 200/, [...withField('toUserId', long), ...withField('requestedBy', long)]],
		[/no toUserId/, withField('toUserId', undefined, null)],
		[/requestedBy is not text/, withField('requestedBy', ['x'])],
		[/not a plain amount.*: empty/, withField('amountEtb', undefined)],
		[
			/not a plain amount/,
			withField(
				'amountEtb',
				...[0, -1, '-1', '1,000', '1e3', 'ten', '', '.5', '5.', '٣', true, [1], 1e21, 1e13],
				...['1234567890123456', `0.${'0'.repeat(2000)}1`],
			),
		],
		[
			/which has more than two decimals\. If its point stands between thousands, leave it out/,
			withField('amountEtb', '1.250', ' 0001250.500 ', 12.345, 0.000001, 0.1234567890123456),
		],
	];
	const wrong = bad.flatMap(([reason, items]) => items.map((each) => ({ each, reason })));
	const mixed = wrong.flatMap(({ each }, index) => [each, item(`good ${index}`)]);
	const window = await budget.claim(...mixed);
	assert.equal(window.items.length, mixed.length);
	for (const [index, { each, reason }] of wrong.entries()) {
		const told = window.items[index * 2];
		assert.equal(told?.outcome, 'notPaid', JSON.stringify(each));
		assert.match(told?.message ?? '', reason, JSON.stringify(each));
	}
	const good = wrong.map((_, index) => `good ${index}`);
	assert.deepEqual(refs(window), good);
	const told = await budget.record(window, ...paid(window));
	assert.equal(told.filter((outcome) => outcome === 'paid').length, good.length);
	assert.equal(await budget.spent(), good.length * 10);
});

test('amounts, references and people are read as the node reads them', async () => {
	const budget = await newBudget();
	const { send } = await budget.claim(
		item('noise', 0.1 + 0.2),
		item('zeros', '0001250.50'),
		item('exponent', 1e3),
		item('digits', 1234567890123.45),
		item('sum', 1e6 + 0.1 + 0.2),
		item('least', 0.01),
		{ reference: 20260301, toUserId: ' svc_1\n', amountEtb: ' 7 ' },
		item("o'brien {{ 1 }} \\ ü $1"),
	);
	assert.deepEqual(
		send.map(({ reference, toUserId, amountEtb }) => [reference, toUserId, amountEtb].join('|')),
		[
			...['noise|u|0.3', 'zeros|u|1250.5', 'exponent|u|1000', 'digits|u|1234567890123.45'],
			...['sum|u|1000000.3', 'least|u|0.01', '20260301|svc_1|7'],
			"o'brien {{ 1 }} \\ ü $1|u|10",
		],
	);
});

test('a reference of another payment, and one that a list names twice, fail alone', async () => {
	const budget = await newBudget();
	await budget.claim(item('a'));
	const window = await budget.claim(
		...[item('a', 11), item('a', 10, 'v'), { ...item('a', 11), requestedBy: 'mcp' }],
		...[item('b'), item('b'), item('b', 11), item('c')],
	);
	const { items } = window;
	assert.deepEqual(said(items), [
		...Array<string>(3).fill('notPaid otherPayment'),
		...['send', 'notPaid sameReference', 'notPaid otherPayment', 'send'],
	]);
	assert.match(items[0]?.message ?? '', /belongs to another payment: 10 ETB to u/);
	// Another caller does not learn who got how much.
	const toOthers = 'Its reference belongs to another payment: look for it at the desk';
	assert.equal(items[2]?.message, toOthers);
	assert.match(items[4]?.message ?? '', /twice/);
	assert.deepEqual(refs(window), ['b', 'c']);
});

test('a list that is none, a budget without rules and another isolation level are errors that name what to do', async () => {
	const { name, asks } = await newBudget();
	const list = client.query("select etb_wallet.claim($1, '{}')", [name]);
	await refused(list, /cannot extract elements/);
	await refused(
		claim(client, 'nobody', [item('a')]),
		/no rules for the budget "nobody", so nobody is paid/,
		/Pay gate set-up/,
	);
	for (const level of ['repeatable read', 'serializable']) {
		await client.query(`begin isolation level ${level}`);
		await refused(asks(item('a')), /needs the isolation level READ COMMITTED/);
		await client.query('rollback');
	}
	assert.deepEqual(await asks(), []);
});

test('nothing may be sent after half of the lease, by the clock of who sends; a new lease is of what is claimed from then on', async () => {
	const budget = await newBudget({ lease: '1 hour' });
	const clock = 'select extract(epoch from etb_wallet.clock()) * 1000';
	const now = await value(client, z.coerce.number(), clock);
	const { not_after, send } = await claim(client, budget.name, [item('a')], 'workflow/7');
	assert.equal(send[0]?.notAfter, not_after);
	assert.equal(send[0]?.execution, 'workflow/7');
	assert.ok(Math.abs(Date.parse(not_after) - now - 30 * 60_000) < 10_000, not_after);
	await budget.setRules({ lease: '2 minutes' });
	const behind = await value(
		client,
		z.string(),
		'select not_after from etb_wallet.claim($1, $2, $3, $4)',
		[budget.name, JSON.stringify([item('b')]), '1', '2020-01-01T00:00:00.000Z'],
	);
	assert.equal(behind, '2020-01-01T00:01:00.000Z');
	await move('11 minutes');
	await refused(budget.settle('a', false), /may still be sent/);
	assert.equal(await budget.settle('b', false), 'notPaid');
});

test('what was claimed longer ago than its lease is unknown until its answer or a person settles it', async () => {
	const budget = await newBudget({ lease: '10 minutes' });
	const list = [item('a'), item('b'), item('c')];
	const window = await budget.claim(...list);
	await refused(budget.settle('a', true), /may still be sent: settle it after/);
	const shown = async () => {
		const sql =
			'select distinct state as line from etb_wallet.payments where budget = $1 order by 1';
		return [await lines(sql, [budget.name]), (await budget.open())[0]];
	};
	assert.deepEqual(await shown(), [['sending'], 'a 1 inFlight']);
	await move('11 minutes');
	// Also when nobody asks for it again.
	assert.deepEqual(await shown(), [['unknown'], 'a 1 unknown']);
	assert.deepEqual(await budget.asks(...list), Array(3).fill('unknown inDoubt'));
	assert.equal(await budget.spent(), 30);
	assert.equal(await budget.settle('b', true), 'paid');
	// The answers of the process that stood still come all the same.
	const told = await budget.record(window, notPaid, notPaid, paidAs('0xc'));
	assert.deepEqual(told, ['notPaid', 'alreadyPaid', 'paid']);
	const isPaid = 'alreadyPaid paidBefore';
	assert.deepEqual(await budget.asks(...list), ['send', isPaid, isPaid]);
	assert.equal(await budget.story('b'), 'send leaseEnded saidPaid lateAnswer');
});

test('a late answer "unknown" opens again what a person called not paid, once', async () => {
	const budget = await newBudget({ lease: '10 minutes', most_per_day: 15 });
	const window = await budget.claim(item('a'));
	await move('11 minutes');
	assert.equal(await budget.settle('a', false), 'notPaid');
	assert.equal(await budget.spent(), 0);
	const [told] = await record(client, budget.name, window, [unknown]);
	assert.equal(told?.outcome, 'unknown');
	const why = /^Abebe settled it as not paid\. Later another response came: unknown/;
	assert.match(told?.message ?? '', why);
	assert.deepEqual(await budget.open(), ['a 1 unknown']);
	assert.equal(await budget.spent(), 10);
	assert.deepEqual(await budget.asks(item('a')), ['unknown inDoubt']);
	const by = 'select settled_by from etb_wallet.payment where budget = $1';
	assert.equal(await value(client, z.null(), by, [budget.name]), null);
	// A person asks once more. The same answer, told again, is no news then.
	assert.equal(await budget.settle('a', false), 'notPaid');
	assert.deepEqual(await budget.record(window, unknown), ['notPaid']);
	assert.deepEqual(await budget.asks(item('a')), ['send']);
	assert.equal(await budget.story('a'), 'send saidNotPaid lateUnknown saidNotPaid send');
});

test('a late answer "paid" counts as spent, is never sent again, and somebody is told', async () => {
	const budget = await newBudget({ lease: '10 minutes', most_per_day: 15 });
	const window = await budget.claim(item('a'));
	await move('11 minutes');
	await budget.settle('a', false);
	assert.deepEqual(await budget.record(window, paidAs('0xlate')), ['paid']);
	assert.equal(await budget.spent(), 10);
	const { items } = await budget.claim(item('a'), item('b'));
	assert.deepEqual(said(items), ['alreadyPaid paidBefore', 'notPaid aboveLimit']);
	assert.equal(items[0]?.txHash, '0xlate');
	assert.deepEqual(await budget.open(), ['a 1 paidAfterAll']);
	await refused(budget.settle('a', false), /is paid, and stays paid/);
	assert.equal(await budget.settle('a', true), 'paid');
	await budget.record(window, paidAs('0xlate'));
	assert.deepEqual(await budget.open(), []);
	assert.equal(await budget.spent(), 10);
});

test('what is unknown may still be sent until its lease ends: only then can a person say that it was not paid', async () => {
	const budget = await newBudget({ lease: '10 minutes' });
	await budget.record(await budget.claim(item('a'), item('b')), unknown, unknown);
	await refused(budget.settle('a', false), /"a" may still be sent: settle it after 2026-/);
	assert.equal(await budget.settle('b', true), 'paid');
	await move('11 minutes');
	assert.equal(await budget.settle('a', false), 'notPaid');
});

/** A payment that was handed out, settled as not paid, and handed out again: both claims. */
async function sentTwice() {
	const budget = await newBudget({ lease: '10 minutes' });
	const first = await budget.claim(item('a'));
	await move('11 minutes');
	await budget.settle('a', false);
	return { budget, first, second: await budget.claim(item('a')) };
}

test('paid twice is said and counts twice, and a person takes note of it', async () => {
	const { budget, first, second } = await sentTwice();
	await budget.record(second, paidAs('0x2'));
	await budget.record(first, paidAs('0x1'));
	assert.deepEqual(await budget.open(), ['a 1 paidTwice']);
	assert.equal(await budget.spent(), 20);
	assert.equal(await budget.settle('a', true, 1), 'paid');
	assert.deepEqual(await budget.open(), []);
	assert.equal(await budget.spent(), 20);
});

test('an earlier attempt that is in doubt again may be a second payment, and is settled by itself', async () => {
	const { budget, first, second } = await sentTwice();
	await budget.record(second, paidAs('0x2'));
	await budget.record(first, unknown);
	assert.deepEqual(await budget.open(), ['a 1 mayBePaidTwice']);
	assert.deepEqual(await budget.asks(item('a')), ['alreadyPaid paidBefore']);
	assert.equal(await budget.settle('a', false, 1), 'notPaid');
	assert.deepEqual(await budget.open(), []);
	assert.equal(await budget.spent(), 10);
});

test('an earlier attempt that is paid after all counts for ever, also when a later one was not paid', async () => {
	const { budget, first, second } = await sentTwice();
	await budget.record(first, paidAs('0x1'));
	await budget.record(second, notPaid);
	const [again] = (await budget.claim(item('a'))).items;
	assert.deepEqual([again?.outcome, again?.txHash], ['alreadyPaid', '0x1']);
});

test('a finding about one attempt does not settle the next', async () => {
	const { budget, second } = await sentTwice();
	await budget.record(second, unknown);
	for (const wasPaid of [false, true])
		await refused(
			budget.settle('a', wasPaid, 1),
			/The payment "a" was sent again since you looked/,
		);
	assert.deepEqual(await budget.asks(item('a')), ['unknown inDoubt']);
	assert.equal(await budget.settle('a', true, 2), 'paid');
});

test('another txHash of a claim that is paid is a second payment: it is said once, and counts', async () => {
	const budget = await newBudget({ lease: '10 minutes', most_per_day: 25 });
	const window = await budget.claim(item('a'));
	for (const txHash of ['0x1', '0x2', '0x1', undefined, '0x2'])
		assert.deepEqual(await budget.record(window, paidAs(txHash)), ['paid']);
	assert.deepEqual(await budget.open(), ['a 2 paidTwice']);
	const why = 'select reason as line from etb_wallet.open_payments where budget = $1';
	assert.deepEqual(await lines(why, [budget.name]), [
		'This claim was paid before, as 0x1. Later another response came: paid.',
	]);
	assert.equal(await budget.spent(), 20);
	assert.deepEqual(await budget.asks(item('b')), ['notPaid aboveLimit']);
	assert.equal(await budget.settle('a', true), 'paid');
	await budget.record(window, paidAs('0x2'));
	assert.deepEqual(await budget.open(), []);
	assert.equal(await budget.story('a'), 'send paid latePaid saidSeen');
});

test('a claim that this record does not have is an error, and nothing is recorded or told as paid', async () => {
	const budget = await newBudget();
	const window = await budget.claim(item('a'), item('b'));
	await refused(
		budget.record({ ...window, claim: crypto.randomUUID() }, paidAs('0xfake'), unknown),
		/did not hand out the payment "a": it was restored from a backup/,
		/After a restore/,
	);
	assert.equal(await budget.story('a'), 'send');
	assert.equal(await budget.spent(), 20);
});

test('references that look the same are the same, in one list and in every later one', async () => {
	const budget = await newBudget();
	const window = await budget.claim(
		...['INV-1', 'inv 1', 'ＩＮＶ‑1', 'i\u200bnv\u00ad−1'].map((each) => item(each)),
		...['Straße', 'STRASSE', 'café', 'Café'].map((each) => item(each)),
	);
	assert.deepEqual(refs(window), ['INV-1', 'inv 1', 'Straße', 'café']);
	assert.equal(window.items[2]?.code, 'sameReference');
	await budget.record(window, ...paid(window));
	const later = ['inv-1', 'INV— 1', 'INV1', 'strasse', 'CAFÉ'].map((each) => item(each));
	assert.deepEqual(
		(await budget.claim(...later)).items.map(({ code, txHash }) => `${code} ${txHash}`),
		['0xINV-1', '0xINV-1', '0xinv 1', '0xStraße', '0xcafé'].map((hash) => `paidBefore ${hash}`),
	);
	// Another amount belongs to another payment, whoever writes it how.
	assert.deepEqual(await budget.asks(item('inv-1', 11)), ['notPaid otherPayment']);
});

test('a payment keeps the reference that it had at first; a person and an answer find it by any that looks the same', async () => {
	const budget = await newBudget({ lease: '10 minutes' });
	await budget.record(await budget.claim(item('Pay A')), notPaid);
	const second = await budget.claim(item('PAY A'));
	assert.deepEqual(refs(second), ['PAY A']);
	await budget.record(second, unknown);
	await move('11 minutes');
	assert.deepEqual(await budget.open(), ['Pay A 2 unknown']);
	assert.equal(await budget.settle('pay a', false, 2), 'notPaid');
	assert.equal(await budget.story('Pay A'), 'send notPaid send unknown saidNotPaid');
});

test('what is refused again and again for the same reason is written down once, and never without a reference', async () => {
	const budget = await newBudget({ most_per_day: 25 });
	const nameless = Array.from({ length: 25 }, (_, index) => ({ ...item('', 1, `u${index}`) }));
	const list = [item('a', 20), item('b', 20), item('bad', '1,000'), ...nameless];
	const first = await budget.claim(...list);
	await budget.record(first, ...paid(first));
	const before = await budget.history();
	for (let again = 0; again < 3; again++) await budget.claim(...list);
	assert.equal(await budget.history(), before);
	assert.deepEqual([await budget.story('b'), await budget.story('bad')], ['refused', 'refused']);
	// Another reason, and the same one after it was sent meanwhile, are news.
	await budget.setRules({ paused: true });
	assert.deepEqual(await budget.asks(item('b', 20)), ['notPaid paused']);
	await budget.setRules({ paused: false, most_per_day: 100 });
	await budget.record(await budget.claim(item('b', 20)), notPaid);
	await budget.setRules({ paused: true });
	for (let again = 0; again < 2; again++) await budget.claim(item('b', 20));
	assert.equal(await budget.story('b'), 'refused refused send notPaid refused');
});

test('what the service refused can be corrected or written down for another person, but not once a person settled its reference', async () => {
	const budget = await newBudget();
	const wrong = [item('a', 10, 'wrong'), item('b', 10, 'wrong'), item('c', 10, 'wrong')];
	await budget.record(
		await budget.claim(...wrong),
		{ error: { outcome: 'notPaid', toUserId: 'wrong', message: 'No such user' } },
		{ toUserId: 'wrong', outcome: 'notPaid', message: 'No such user' },
		{ toUserId: 'wrong', outcome: 'unknown', message: '?' },
	);
	await move('1 hour');
	await budget.settle('c', false);
	const window = await budget.claim(item('a', 12, 'right'), item('c', 10, 'right'));
	assert.deepEqual(said(window.items), ['send', 'notPaid otherPayment']);
	assert.match(window.items[1]?.message ?? '', /belongs to another payment: 10 ETB to wrong/);
	// From now on it is this payment's.
	const [back] = (await budget.claim(item('a', 10, 'wrong'))).items;
	assert.match(back?.message ?? '', /belongs to another payment: 12 ETB to right/);
	const told = await budget.writeDown([item('b', 10, 'right'), item('c', 10, 'right')]);
	assert.deepEqual(outcomes(told), ['written', 'refused']);
	assert.deepEqual(await budget.asks(item('b', 10, 'right')), ['alreadyPaid paidBefore']);
	assert.equal(await budget.story('b'), 'send notPaid saidPaidBefore');
	assert.equal(await budget.spent(), 12);
});

test('what was paid without the gate is written down, and the same list pays nobody', async () => {
	const budget = await newBudget({ lease: '10 minutes', most_per_day: 100 });
	const doubtful = await budget.claim(item('unknown'), item('refused'));
	const sending = await budget.claim(item('sending'));
	await budget.record(doubtful, unknown, notPaid);
	const list: Item[] = [
		{ ...item('new'), txHash: '0x1' },
		...[item('unknown'), item('refused'), item('sending'), item('new', 11), item('new')],
		{ reference: 'bad' },
	];
	const told = await budget.writeDown(list);
	assert.deepEqual(outcomes(told), [
		...['written', 'written', 'written', 'refused', 'refused', 'alreadyPaid', 'refused'],
	]);
	assert.match(told[3]?.message ?? '', /sending it now/);
	assert.match(told[4]?.message ?? '', /belongs to another payment/);
	assert.match(told[6]?.message ?? '', /no toUserId/);
	// A payment that the gate never handed out counts for no limit.
	assert.equal(await budget.spent(), 30);
	await budget.record(sending, ...paid(sending));
	assert.deepEqual(
		(await budget.claim(...list.slice(0, 4))).items.map(({ code, txHash }) => [code, txHash]),
		['0x1', null, null, '0xsending'].map((hash) => ['paidBefore', hash]),
	);
	assert.equal(await budget.story('new'), 'saidPaidBefore');
});

test('a call with another mode than pay, an empty one too, hands out nothing, and one without a mode pays', async () => {
	const { name, spent } = await newBudget();
	const asked = async (reference: string, modes: unknown) => {
		const sql =
			"select coalesce(i ->> 'code', 'send') as line from jsonb_array_elements((select items from etb_wallet.claim($1, $2, '1', null, null, $3))) i";
		const list = [item(`${reference} 1`), item(`${reference} 2`)];
		return await lines(sql, [name, JSON.stringify(list), modes && JSON.stringify(modes)]);
	};
	const others = [['dryRun'], [''], [null], ['Pay'], ['pay '], ['pay', 'dryRun'], [['pay']], [0]];
	for (const modes of others)
		assert.deepEqual(await asked('other', modes), Array(2).fill('settings'), JSON.stringify(modes));
	assert.equal(await spent(), 0);
	for (const modes of [['pay', 'pay'], [], null])
		assert.deepEqual(await asked(JSON.stringify(modes), modes), ['send', 'send']);
});

test('user IDs and callers that look the same count as one for limits, each shown as it was written', async () => {
	const budget = await newBudget({ most_per_recipient_per_day: 100 });
	const people = [
		...['almaz', 'almaz\u200b', '\u200ealmaz', 'Almaz'],
		...['al\u00admaz', '\uff41lmaz', '\u0001almaz'],
	];
	const asked = await budget.asks(...people.map((who, index) => item(`p${index}`, 60, who)));
	assert.deepEqual(asked, ['send', ...Array<string>(6).fill('notPaid aboveLimit')]);
	assert.deepEqual(await budget.asks(item('p9', 40, 'ALMAZ')), ['send']);
	await budget.setRules({ most_per_day: 50 }, 'mcp');
	const callers = ['mcp', 'MCP', 'mcp\u200b', '\uff4dcp'].map((requestedBy, index) => ({
		...{ ...item(`c${index}`, 30, `u${index}`), requestedBy },
	}));
	assert.deepEqual(refs(await budget.claim(...callers)), ['c0']);
	await budget.setRules({ paused: true }, 'M C P');
	const stopped = await budget.asks({ ...item('c9', 1), requestedBy: 'mcp' });
	assert.deepEqual(stopped, ['notPaid paused']);
	const shown =
		"select concat_ws(' ', who, name) as line from etb_wallet.spent where budget = $1 and scope <> 'budget' and period = 'day' and who <> '' order by 1";
	assert.deepEqual(await lines(shown, [budget.name]), ['almaz almaz', 'mcp mcp', 'u0 u0']);
});

test('each caller and person of one window has a limit of its own, used up to the last cent', async () => {
	const budget = await newBudget({ most_per_recipient_per_day: 10.5 });
	for (const caller of ['one', 'two']) await budget.setRules({ most_per_day: 10.01 }, caller);
	const window = await budget.claim(
		{ ...item('a', 10.01, 'x'), requestedBy: 'one' },
		{ ...item('b', 0.01, 'y'), requestedBy: 'one' },
		{ ...item('c', 10.01, 'y'), requestedBy: 'two' },
		...[item('d', 0.49, 'x'), item('e', 0.01, 'x')],
	);
	assert.deepEqual(refs(window), ['a', 'c', 'd']);
});

test("a day ends at midnight of the budget's time zone", async () => {
	const budget = await newBudget({ most_per_day: 10 });
	const untilMidnight =
		"select extract(epoch from date_trunc('day', t) + interval '1 day' - t) from (select etb_wallet.clock() at time zone 'Africa/Addis_Ababa') c (t)";
	const seconds = await value(client, z.coerce.number(), untilMidnight);
	await move(`${Math.floor(seconds) - 1_800} seconds`);
	assert.deepEqual(await budget.asks(item('a'), item('b')), ['send', 'notPaid aboveLimit']);
	await move('1 hour');
	assert.deepEqual(await budget.asks(item('b'), item('c')), ['send', 'notPaid aboveLimit']);
});

test('a person says who they are and how they know it', async () => {
	const budget = await newBudget();
	await budget.record(await budget.claim(item('a')), unknown);
	for (const [by, note, why] of [
		...[null, '', ' '].map((note) => ['Abebe', note, /Say how you know it/] as const),
		...[null, '', ' '].map((by) => [by, 'ticket', /Say who/] as const),
	]) {
		const written = client.query('select etb_wallet.write_down_paid($1, $2, $3, $4)', [
			...[budget.name, JSON.stringify([item('b')]), by, note],
		]);
		await refused(written, why);
		const settled = "select etb_wallet.settle($1, 'a', 1, true, $2, $3)";
		await refused(client.query(settled, [budget.name, by, note]), why);
	}
	const settled = "select etb_wallet.settle($1, 'a', 1, null, 'me', 'ticket')";
	await refused(client.query(settled, [budget.name]), /Say whether/);
	await refused(budget.settle('b', true), /no payment with the reference "b"/);
	assert.deepEqual(await budget.open(), ['a 1 unknown']);
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
		const sql =
			"select coalesce(etb_wallet.event_of($1, nullif($2, 'null'), o), 'null') as line from unnest(array['paid', 'notPaid', 'unknown']) with ordinality u (o, n) order by n";
		assert.equal((await lines(sql, before.split(' '))).join(' '), expected, before);
	}
});

test('answers that do not fit what was handed out are unknown', async () => {
	const budget = await newBudget();
	const answers: Answer[][] = [
		...[[], [paidAs('0x1'), paidAs('0x1')], [{}]],
		...[[{ toUserId: 'v', outcome: 'paid' }], [{ outcome: 'paid' }]],
		[{ toUserId: 'u', outcome: 'alreadyPaid' }],
		[{ toUserId: 'u', reference: 'another', outcome: 'paid' }],
		[{ error: { outcome: 'notPaid', message: 'The credential is gone' } }],
	];
	for (const [index, given] of answers.entries()) {
		const window = await budget.claim(item(`a${index}`));
		assert.deepEqual(await budget.record(window, ...given), ['unknown'], JSON.stringify(given));
		// And that is no word to send it again.
		await budget.record(window, notPaid);
		assert.deepEqual(await budget.asks(item(`a${index}`)), ['unknown inDoubt']);
	}
});

test('a node that refuses its whole run, or only tried it out, sent nothing', async () => {
	const budget = await newBudget();
	const list = [item('a'), item('b', 10, 'v')];
	const each = (answer: Answer) => ['u', 'v'].map((toUserId) => ({ ...answer, toUserId }));
	const gone = { outcome: 'notPaid', message: 'The credential is gone' };
	for (const answers of [
		each(gone).map((error) => ({ error })),
		each({ outcome: 'ready', message: 'Dry run: nothing was sent' }),
	]) {
		const told = await budget.record(await budget.claim(...list), ...answers);
		assert.deepEqual(told, ['notPaid', 'notPaid']);
		assert.equal(await budget.spent(), 0);
	}
});

test('what is in flight is told so, and as it ended when the window is recorded', async () => {
	const budget = await newBudget();
	const list = ['a', 'b', 'c', 'd'].map((reference) => item(reference));
	const first = await budget.claim(...list);
	const second = await budget.claim(...list, item('e'));
	assert.deepEqual(said(second.items), [...Array<string>(4).fill('unknown inFlight'), 'send']);
	await budget.record(
		{ ...first, items: first.items.slice(0, 3) },
		paidAs('0xa'),
		notPaid,
		unknown,
	);
	const told = await record(client, budget.name, second, paid(second));
	assert.deepEqual(
		told.map(({ outcome, code, txHash }) => [outcome, code, txHash].join(' ')),
		[
			...['alreadyPaid paidBefore 0xa', 'notPaid refused ', 'unknown inDoubt '],
			...['unknown inFlight ', 'paid paid 0xe'],
		],
	);
});

test('what the node said is told: its code, what to do, and what was paid; recording can be repeated', async () => {
	const budget = await newBudget();
	const window = await budget.claim(item('a'), item('b'));
	const amounts = { amountEtb: 9.5, requestedAmountEtb: 10, paidAt: '2026-11-03T10:00:00.000Z' };
	// (No index takes a txHash of this length: it is cut, and the other one is recorded.)
	const long = randomBytes(3_000).toString('hex');
	const answers = [
		{ ...paidAs(long), code: 'otherAmount', ...amounts },
		{ toUserId: 'u', outcome: 'notPaid', code: 'refused', message: 'Closed.', remedy: 'Ask' },
	];
	const expected = [
		{
			...{ reference: 'a', toUserId: 'u', ...amounts, txHash: long.slice(0, 200), message: null },
			...{ outcome: 'paid', code: 'otherAmount' },
		},
		{
			...{ reference: 'b', toUserId: 'u', amountEtb: 10, txHash: null, message: 'Closed. Ask' },
			...{ outcome: 'notPaid', code: 'refused' },
		},
	];
	const recorded = async () => {
		const sql = 'select * from etb_wallet.record($1, $2, $3, $4)';
		const items = JSON.stringify(window.items);
		const values = [budget.name, window.claim, items, JSON.stringify(answers)];
		assert.deepEqual(await value(client, z.unknown(), sql, values), expected);
		return [await budget.history(), await budget.spent()];
	};
	const first = await recorded();
	assert.deepEqual(await recorded(), first);
	assert.equal(first[1], 10);
});

test('rules that cannot be are refused, and what changes them is written down', async () => {
	const budget = await newBudget();
	const wrong: Array<[object, RegExp, string?]> = [
		[{ most_per_dya: 1 }, /no rule with this name: most_per_dya/],
		[{ budget: 'x' }, /no rule with this name: budget/],
		[{ time_zone: 'UTC' }, /no rule with this name: time_zone/, 'x'],
		[{ most_per_day: -1 }, /most_etb/],
		[{ most_per_day: 'NaN' }, /most_etb/],
		[{ most_per_day: 'lots' }, /numeric/],
		[{ time_zone: 'Addis' }, /time zone/],
		// (PostgreSQL takes it for three hours west.)
		[{ time_zone: '+3' }, /time zone/],
		[{ lease: '1 second' }, /from 2 minutes to 1 day/],
	];
	for (const [rules, why, caller] of wrong) await refused(budget.setRules(rules, caller), why);
	const nobody = "select etb_wallet.set_rules($1, '{}', ' ')";
	await refused(client.query(nobody, [budget.name]), /Say who/);
	await budget.setRules({ most_per_day: 15 });
	assert.deepEqual(await budget.asks(item('a'), item('b')), ['send', 'notPaid aboveLimit']);
	await budget.setRules({ most_per_day: null });
	assert.deepEqual(await budget.asks(item('b')), ['send']);
	const changes =
		"select concat_ws(' ', by_person, detail) as line from etb_wallet.history where budget = $1 and event = 'rules' order by id offset 1";
	assert.deepEqual(await lines(changes, [budget.name]), [
		...['Abebe {"most_per_day": 15}', 'Abebe {"most_per_day": null}'],
	]);
});
