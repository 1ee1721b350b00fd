/** Payments: how each item ends, by the sandbox's own books, and what the node tells about it. */
import type { IDataObject, INodeParameters, NodeParameterValueType } from 'n8n-workflow';
import { maxConcurrency, maxTimeoutMs } from '../../nodes/EtbWallet/paying/optionBounds.ts';
import type { OptionName } from '../../nodes/EtbWallet/paying/options.ts';
import type { Fault, PresetName } from '../../sandbox/faults.mts';
import type { RunResult } from '../support/engine/engine.mts';
import { credentialFor, deduplicator, loadAnew, loadPackage } from '../support/engine/engine.mts';
import {
	codes,
	codesOf,
	dieSending,
	failFor,
	itemsFor,
	leaveUnknown,
	paidNames,
	pay,
	payInEachTest,
	payments,
	record,
	rejection,
	reply,
	sandbox,
} from '../support/engine/paying.mts';

payInEachTest();

const onError = 'continueErrorOutput';
const names = (count: number, from = 0): string[] =>
	Array.from({ length: count }, (_, index) => `u${index + from}`);
const people = (count: number, from = 0): IDataObject[] => itemsFor(...names(count, from));
const all = (count: number, code: string): string[] => Array<string>(count).fill(code);
const errorData = (error: RunResult['error']): Map<string, unknown> =>
	new Map(Object.entries(Object(error?.context?.data) as object));
const rows = (data: unknown): unknown[] => (Array.isArray(data) ? (data as unknown[]) : []);

describe('an item that was paid', () => {
	test('has outcome, code, reference, user, amount, hash and time, and the other fields of the response', async () => {
		const { output, hints } = await pay(people(2));
		const [first] = sandbox.books.disbursements();
		expect(output[0]).toEqual({
			json: {
				outcome: 'paid',
				code: 'paid',
				reference: 'pay-u0',
				toUserId: 'etbw_u0',
				amountEtb: 10,
				txHash: first?.txHash,
				success: true,
				paidAt: expect.stringMatching(/^\d{4}-.*Z$/) as unknown,
			},
			pairedItem: { item: 0 },
		});
		expect(hints.at(-1)).toBe('2 paid, total 20 ETB');
	});

	test('has the amount that the service names, beside the other one that was asked for', async () => {
		failFor(['b'], reply(200, { success: true, amountEtb: 9.5, txHash: '0x1' }, 'before-response'));
		const { output } = await pay(itemsFor('a', 'b'));
		expect(codes(output)).toEqual(['paid', 'otherAmount']);
		expect(output[0]?.json).not.toHaveProperty('requestedAmountEtb');
		expect(output[1]?.json).toMatchObject({ amountEtb: 9.5, requestedAmountEtb: 10 });
	});

	test.each([null, '', '10.00'])(
		'has its own amount when the response has %j',
		async (amountEtb) => {
			failFor(['a'], reply(200, { success: true, amountEtb, txHash: '0x1' }, 'before-response'));
			const { output } = await pay(itemsFor('a'));
			expect(output[0]?.json).toMatchObject({ code: 'paid', amountEtb: 10 });
			expect(output[0]?.json).not.toHaveProperty('requestedAmountEtb');
		},
	);
});

/** How an option can refuse a whole run of payments of 10 ETB: by a value that cannot be used, or as a limit. */
type OptionTest = {
	why: string;
	/** With this value it refuses a run of two, if the treasury has 15 ETB. */
	refusing: NodeParameterValueType;
} & (
	| { code: 'settings'; limit?: undefined }
	| { code: 'notCovered' | 'totalAboveMaximum'; limit: Limit }
);

interface Limit {
	/** With this value, or 20 ETB in the treasury, it allows two. */
	value: NodeParameterValueType;
	/** Whether payments made before count. */
	countsPaid: boolean;
}

const optionTests = {
	checkBalance: {
		why: 'the treasury does not cover it',
		code: 'notCovered',
		refusing: true,
		limit: { value: true, countsPaid: false },
	},
	concurrency: { why: 'nothing may be under way', code: 'settings', refusing: 0 },
	maxAmountEtb: { why: 'a maximum is empty', code: 'settings', refusing: '' },
	maxTotalEtb: {
		why: 'it is above its maximum',
		code: 'totalAboveMaximum',
		refusing: '15',
		limit: { value: '20', countsPaid: true },
	},
	timeout: { why: 'its timeout is in seconds', code: 'settings', refusing: 30 },
} satisfies Record<OptionName, OptionTest>;

const namedTests: [name: string, test: OptionTest][] = Object.entries(optionTests);

const refusals: { why: string; code: string; fields: INodeParameters }[] = [
	...namedTests.map(([name, { why, code, refusing }]) => ({
		why,
		code,
		fields: { options: { [name]: refusing } },
	})),
	{ why: 'there is no such mode', code: 'settings', fields: { mode: 'none' } },
];

const limits = namedTests.flatMap(([name, { code, limit }]) =>
	limit === undefined
		? []
		: [{ name, code, options: { [name]: limit.value }, countsPaid: limit.countsPaid }],
);

/** Fields that workflows and n8n act on. */
const ownFields = [
	...['outcome', 'code', 'message', 'remedy', 'mode', 'reference', 'toUserId', 'amountEtb'],
	...['requestedAmountEtb', 'httpCode', 'txHash', 'paidAt'],
];
const foreign: IDataObject = {
	...Object.fromEntries(ownFields.map((name) => [name, 'x'])),
	error: { outcome: 'x' },
};

describe('own fields', () => {
	test('are never those of a response, nor of its prototype', async () => {
		// A response with an error, another user, no amount or a state that is open is not believed.
		const believed = { error: undefined, toUserId: undefined, amountEtb: undefined };
		const body = JSON.stringify({
			...foreign,
			...believed,
			outcome: 'done',
			code: 'ok',
			txHash: '0x1',
			bank: 'b',
		});
		const response = `{"success":true,"__proto__":{"mode":"x"},"data":${body}}`;
		failFor(['a'], reply(200, response, 'before-response'));
		// Of one name, the field of the item counts, and not that of the response.
		const { output } = await pay(itemsFor('a').map((item) => ({ ...item, bank: 'x' })));
		const { json = {} } = output[0] ?? {};
		expect(Object.getPrototypeOf(json)).toBe(Object.prototype);
		expect(json).toEqual({
			outcome: 'paid',
			code: 'paid',
			reference: 'pay-a',
			toUserId: 'etbw_a',
			amountEtb: 10,
			success: true,
			txHash: '0x1',
			bank: 'x',
			paidAt: expect.stringMatching(/Z$/) as unknown,
		});
	});

	test.each([{}, { mode: 'dryRun' }])('are never those of the input (%j)', async (fields) => {
		const [item = {}] = itemsFor('a');
		const set = Object.entries(item).map(([name, value]) => [name, String(value)] as const);
		const parameters = { ...Object.fromEntries(set), ...fields };
		const items = [{ ...foreign, line: 7 }];
		for (const result of [await pay(items, parameters), await pay(items, parameters)]) {
			expect(JSON.stringify(result.output)).not.toMatch(/"x"/);
			expect(result.output[0]?.json).toMatchObject({ ...item, line: 7 });
		}
	});
});

describe('a reference', () => {
	test.each([
		['manual', '={{ $json.invoice }}', 1],
		['trigger', '={{ $json.invoice }}', 2],
		['webhook', '  ', 1],
		['manual', '\u200b\u3164', 1],
	] as const)(
		'that is missing (%s, %j, %i items) sends nothing',
		async (mode, reference, count) => {
			const { error } = await pay(people(count), { reference }, { mode });
			expect(`${error?.message} ${error?.description}`).toMatch(
				/Reference is .*Write what this payment is for.*such as payroll-/s,
			);
			const { errorOutput } = await pay(people(count), { reference }, { mode, onError });
			expect(codes(errorOutput)).toEqual(all(count, 'invalid'));
			expect(payments()).toEqual([]);
			expect(record()).toEqual([]);
		},
	);

	test('that is missing for one item fails that one alone, when the node continues', async () => {
		const [a = {}, b = {}] = itemsFor('a', 'b');
		const items = [a, { ...b, reference: '' }];
		expect((await pay(items)).error?.message).toMatch(/\[item 1\]$/);
		const refused = await pay(items, { options: { maxTotalEtb: '5' } }, { onError });
		expect(codesOf(refused)).toEqual(['totalAboveMaximum', 'invalid']);
		expect(payments()).toEqual([]);
		expect(codesOf(await pay(items, {}, { onError }))).toEqual(['paid', 'invalid']);
	});

	test.each([
		['pay-a', 'PAY-A'],
		['INV-1', ' inv \u2011 1\u200b'],
	])('%j looks like %j: one payment, in one run and across runs', async (one, other) => {
		const [item = {}] = itemsFor('a');
		const both = [
			{ ...item, reference: one },
			{ ...item, reference: other },
		];
		expect((await pay(both)).error?.message).toMatch(/\[item 1\]$/);
		expect(payments()).toEqual([]);
		expect(codesOf(await pay(both, {}, { onError }))).toEqual(['paid', 'sameReference']);
		expect(codesOf(await pay(both.slice(1)))).toEqual(['paidBefore']);
		const unreadable = both.map((each) => ({ ...each, amountEtb: 'ten' }));
		expect(codesOf(await pay(unreadable, {}, { onError }))).toEqual(['invalid', 'sameReference']);
		expect(paidNames()).toEqual(['a']);
	});

	test('is paid once, however often the workflow runs', async () => {
		await pay(people(3));
		const { output, hints } = await pay(people(5));
		expect(codes(output)).toEqual([...all(3, 'paidBefore'), 'paid', 'paid']);
		expect(output[0]?.json).toMatchObject({ ...people(1)[0] });
		expect(hints).toEqual(['2 paid, 3 already paid, total 20 ETB']);
		const { output: retried } = await pay(people(6), {}, { mode: 'retry' });
		expect(codes(retried)).toEqual([...all(5, 'paidBefore'), 'paid']);
		expect(paidNames()).toEqual(names(6));
	});

	test('that cannot be recorded is not sent', async () => {
		const broken = jest
			.spyOn(deduplicator, 'checkProcessedAndRecord')
			.mockRejectedValue(new Error('database is locked'));
		const { error } = await pay(people(3));
		expect(error?.description).toMatch(/database is locked/);
		expect(codesOf(await pay(people(3), {}, { onError }))).toEqual(all(3, 'noRecord'));
		expect(payments()).toEqual([]);
		broken.mockRestore();
		expect(codesOf(await pay(people(3)))).toEqual(all(3, 'paid'));
	});

	test('whose payment cannot be recorded afterwards is told as paid, and unknown from then on', async () => {
		const ask = deduplicator.checkProcessedAndRecord;
		const broken = jest.spyOn(deduplicator, 'checkProcessedAndRecord');
		broken.mockImplementation(async (items, ...more) => {
			if (items.some((item) => String(item).startsWith('paid:'))) throw new Error('gone');
			return await ask(items, ...more);
		});
		const { output, hints } = await pay(people(2));
		expect(codes(output)).toEqual(['paid', 'paid']);
		expect(hints.join()).toMatch(/How 2 payments ended may not be recorded/);
		broken.mockRestore();
		const again = codesOf(await pay(people(2), {}, { onError }));
		expect(again.filter((code) => code !== 'inDoubt' && code !== 'inFlight')).toEqual([]);
		expect(payments()).toHaveLength(2);
	});
});

test('what was reserved while the run was stopped is not sent, and a later run pays it', async () => {
	let stop = (): void => undefined;
	const ask = deduplicator.checkProcessedAndRecord;
	const watched = jest.spyOn(deduplicator, 'checkProcessedAndRecord');
	watched.mockImplementation(async (items, ...more) => {
		if (items.some((item) => String(item).startsWith('sent:'))) stop();
		return await ask(items, ...more);
	});
	await pay(people(2), {}, { started: (engine) => (stop = () => engine.cancel()) });
	watched.mockRestore();
	expect(payments()).toEqual([]);
	expect(codesOf(await pay(people(2)))).toEqual(['paid', 'paid']);
});

test('a payment that was refused for the moment is not sent again once the run was stopped', async () => {
	let stop = (): void => undefined;
	sandbox.faults.plan('POST /disburse', () => {
		// A later attempt would be paid.
		if (payments().length > 1) return undefined;
		setImmediate(stop);
		return 'tooManyRequests';
	});
	await pay(people(1), {}, { started: (engine) => (stop = () => engine.cancel()) });
	expect([payments().length, sandbox.books.disbursements()]).toEqual([1, []]);
});

test('what was paid before a change of the record that failed is recorded by the next change', async () => {
	const ask = deduplicator.checkProcessedAndRecord;
	const broken = jest.spyOn(deduplicator, 'checkProcessedAndRecord');
	let failures = 0;
	broken.mockImplementation(async (items, ...more) => {
		const isPaid = items.some((item) => String(item).startsWith('paid:'));
		if (isPaid && failures++ === 0) throw new Error('gone');
		return await ask(items, ...more);
	});
	const result = await pay(people(3), { options: { concurrency: 1 } }, { onError });
	expect(codesOf(result).sort()).toEqual(['noRecord', 'paid', 'paid']);
	broken.mockRestore();
	expect(codesOf(await pay(people(3), {}, { onError }))).toEqual([
		...['paidBefore', 'paid', 'paidBefore'],
	]);
});

describe('a database that fails to forget payments that were refused', () => {
	test.each([
		['at the end of the run', 10, 2, false],
		['between two batches', 1, 1, false],
		['between two batches, as the run is stopped', 1, 1, true],
	])('%s: it is told for each', async (_when, concurrency, count, isStopped) => {
		failFor(['u0', 'u1'], rejection, 2);
		let stop = (): void => undefined;
		const remove = deduplicator.removeProcessed;
		const broken = jest
			.spyOn(deduplicator, 'removeProcessed')
			.mockImplementation(async (items, ...more) => {
				if (!items.some((item) => String(item).startsWith('sent:')))
					return await remove(items, ...more);
				if (isStopped) stop();
				throw new Error('gone');
			});
		const { hints } = await pay(
			people(2),
			{ options: { concurrency } },
			{ onError, started: (engine) => (stop = () => engine.cancel()) },
		);
		broken.mockRestore();
		expect(hints.join()).toContain(`How ${count} payments ended may not be recorded`);
	});
});

describe('before anybody is paid', () => {
	test('every item that cannot be used is named', async () => {
		const items = people(5).map((item, index) => ({
			...item,
			...[{}, { amountEtb: '1,000' }, {}, { toUserId: '' }, { amountEtb: -1 }][index],
		}));
		const { error } = await pay(items);
		expect(error?.message).toBe('3 items cannot be used. Nobody was paid');
		expect(error?.description).toMatch(/Item 1: Amount .*Item 3: To User ID .*Item 4: Amount /s);
		expect(payments()).toEqual([]);
	});

	test('a payment above the maximum is named, and does not count towards that of the run', async () => {
		const items = [...people(2), { ...people(1, 2)[0], amountEtb: 10.01 }];
		const options = { maxAmountEtb: 10, maxTotalEtb: 25 };
		const { error } = await pay(items, { options });
		expect(error?.message).toMatch(
			/^Amount \(ETB\) is 10\.01, which is above .* of 10 \[item 2\]$/,
		);
		expect(payments()).toEqual([]);
		const result = await pay(items, { options }, { onError });
		expect(codesOf(result)).toEqual(['paid', 'paid', 'aboveMaximum']);
	});

	test.each(limits)(
		'$name allows what reaches it, in each mode',
		async ({ code, options, countsPaid }) => {
			for (const mode of ['dryRun', 'pay']) {
				sandbox.books.setTreasuryBalance(20);
				const run = async (count: number) =>
					codesOf(await pay(people(count), { options, mode }, { onError }));
				expect(await run(3)).toEqual(all(3, code));
				expect(payments()).toEqual([]);
				expect(await run(2)).toEqual(all(2, mode === 'pay' ? 'paid' : 'ready'));
			}
			sandbox.books.setTreasuryBalance(20);
			const more = codesOf(await pay(people(4), { options }, { onError }));
			expect(more).toEqual([...all(2, 'paidBefore'), ...all(2, countsPaid ? code : 'paid')]);
		},
	);

	test.each(limits)(
		'$name pays nobody when the record cannot be read',
		async ({ code, options }) => {
			sandbox.books.setTreasuryBalance(20);
			const broken = jest
				.spyOn(deduplicator, 'checkProcessedAndRecord')
				.mockRejectedValue(new Error('gone'));
			const told = codesOf(await pay(people(3), { options }, { onError }));
			broken.mockRestore();
			expect([code, 'noRecord']).toEqual(expect.arrayContaining(told));
			expect(payments()).toEqual([]);
		},
	);

	test('the treasury need not cover what is unknown', async () => {
		await leaveUnknown(itemsFor('a'), ['a']);
		sandbox.books.setTreasuryBalance(20);
		const fields = { options: { checkBalance: true } };
		const { output, errorOutput } = await pay(itemsFor('a', 'b', 'c'), fields, { onError });
		expect(codes(output)).toEqual(['paid', 'paid']);
		expect(codes(errorOutput)).toEqual(['inDoubt']);
	});

	test('a balance that is no number pays nobody', async () => {
		sandbox.faults.plan('GET /balance', () => reply(200, { data: { treasuryBalance: 'much' } }));
		const fields = { options: { checkBalance: true } };
		expect(codesOf(await pay(people(2), fields, { onError }))).toEqual(all(2, 'notCovered'));
	});

	test.each([
		['maxTotalEtb', 'totalAboveMaximum'],
		['maxAmountEtb', 'aboveMaximum'],
	])(
		'because of %s, while the database fails: it is said that somebody may be paid',
		async (limit, code) => {
			await pay(people(1));
			const broken = jest
				.spyOn(deduplicator, 'checkProcessedAndRecord')
				.mockRejectedValue(new Error('database is locked'));
			const result = await pay(people(2), { options: { [limit]: '1' } }, { onError });
			broken.mockRestore();
			expect(codesOf(result)).toEqual(all(2, code));
			expect(result.hints.join()).toMatch(/may have been paid: .*database is locked/);
		},
	);

	test.each(refusals)('because $why: each is told as the record knows it', async (refusal) => {
		const { code, fields } = refusal;
		const before = itemsFor('used', 'unknown', 'other');
		await leaveUnknown(before, ['unknown'], 'error500AfterPaying');
		const marksBefore = record();
		sandbox.books.setTreasuryBalance(15);
		const [used = {}, unknown = {}, other = {}] = before;
		const run = [used, unknown, { ...other, amountEtb: 11 }, ...itemsFor('new', 'next')];
		const sent = payments().length;
		const { output, errorOutput } = await pay(run, fields, { onError });
		expect(codes(output)).toEqual(['paidBefore']);
		expect(codes(errorOutput)).toEqual(['inDoubt', 'otherPayment', code, code]);
		expect((await pay(run, fields)).error).toBeDefined();
		expect(payments()).toHaveLength(sent);
		expect(record()).toEqual(marksBefore);
	});
});

describe('a run that stops', () => {
	test('does not stop for a payment that the record knows: all others are paid', async () => {
		const before = itemsFor('unknown', 'other');
		await leaveUnknown(before, ['unknown'], 'error500AfterPaying');
		const [unknown = {}, other = {}] = before;
		const inFlight = itemsFor('cut');
		await dieSending(inFlight);
		const already = payments().length;
		const known = [...inFlight, unknown, { ...other, amountEtb: 11 }];
		const { error } = await pay([...known, ...people(40)]);
		expect(error).toBeDefined();
		expect(payments()).toHaveLength(already + 40);
	});

	test('lists what was paid, is unknown and was not attempted, all of it in the error data', async () => {
		failFor(['u29'], 'error500AfterPaying');
		const { error, output } = await pay(people(51), { options: { concurrency: 5 } });
		expect(output).toEqual([]);
		const [first] = sandbox.books.disbursements();
		expect(error?.message).toMatch(
			/29 paid, 1 unknown, 21 not attempted, total 290 ETB \[item 29\]$/,
		);
		expect(error?.description).toContain(`item 0 pay-u0 (etbw_u0, 10 ETB, ${first?.txHash})`);
		expect(error?.description).toMatch(/and 9 more[^]*and 1 more/);
		const data = errorData(error);
		expect(rows(data.get('paid'))).toHaveLength(29);
		expect(rows(data.get('notAttempted'))).toHaveLength(21);
		expect(Object.fromEntries(data)).toMatchObject({
			outcome: 'unknown',
			code: 'unclear',
			httpCode: '500',
			unknown: [{ item: 29, reference: 'pay-u29', toUserId: 'etbw_u29', amountEtb: 10 }],
		});
		const hashes = sandbox.books.disbursements().map(({ txHash }) => ({ txHash }));
		expect(rows(data.get('paid'))).toMatchObject(hashes.slice(0, 29));
		expect(paidNames()).toHaveLength(30);
	});

	test('does not say that nobody was paid if somebody was paid before', async () => {
		await pay(people(1));
		failFor(['u1'], rejection, 1);
		const { error } = await pay(people(2));
		expect(error?.message).toBeDefined();
		expect(`${error?.message} ${error?.description}`).not.toContain('Nobody was paid');
	});

	test('names what is unknown before what was refused, and why each was refused', async () => {
		sandbox.faults.plan('POST /disburse', ({ bodyText }) =>
			bodyText.includes('"etbw_u0"') ? rejection : 'error500AfterPaying',
		);
		const { error } = await pay(people(3));
		expect(error?.message).toMatch(
			/^It is unknown whether etbw_u1 was paid 10 ETB, and the same of 1 more\./,
		);
		expect(error?.message).toMatch(/1 not paid, 2 unknown.*\[item 1\]$/);
		expect(error?.description).toMatch(/Not paid: item 0 pay-u0 \(.*The wallet is closed/);
	});

	test('lets those in flight end, and starts no other', async () => {
		failFor(['u2'], rejection);
		sandbox.setLatency(20);
		const { error } = await pay(people(40), { options: { concurrency: 4 } });
		const sent = payments().length;
		expect(sent).toBeLessThanOrEqual(6);
		expect(rows(errorData(error).get('paid'))).toHaveLength(sent - 1);
		expect(paidNames()).toHaveLength(sent - 1);
	});

	test.each(['eperm', 'EHOSTUNREACH'])(
		'tells all of it when the service mentions %s',
		async (word) => {
			// n8n takes it for an error code, and would put a text of its own in the message.
			failFor(['u1'], reply(400, { message: `No housing (${word})` }));
			const { error } = await pay(people(3), { options: { concurrency: 1 } });
			expect(error?.message).toMatch(new RegExp(`No housing \\(${word}\\)".*1 not attempted`));
		},
	);

	test('makes a short error, whatever it is about', async () => {
		const items = Array.from({ length: 50_000 }, (_, index) => ({
			toUserId: 'u',
			amountEtb: 10,
			reference: `r${index}`,
		}));
		const bad = items.map((item) => ({ ...item, toUserId: '' }));
		const name = 'x'.repeat(100_000);
		const long = reply(200, { success: true, txHash: '0'.repeat(500_000) }, 'before-response');
		sandbox.faults.plan('POST /disburse', ({ bodyText }) =>
			bodyText.includes('xxx') ? 'error500AfterPaying' : long,
		);
		for (const [run, fields] of [
			[bad, {}],
			[items, { options: { maxTotalEtb: '1' } }],
			[[...people(2), { ...itemsFor(name)[0], reference: 'r' }], {}],
		] as [IDataObject[], INodeParameters][]) {
			const { error } = await pay(run, fields);
			expect(error).toBeDefined();
			expect(JSON.stringify(error).length).toBeLessThan(10_000);
		}
	});
});

describe('On Error', () => {
	test('Continue: 50 items with each kind of failure are rows in order, with their input fields', async () => {
		const kinds = [
			...['paid', 'otherAmount', 'refused', 'unclear', 'noResponse', 'invalid', 'sameReference'],
			...['aboveMaximum', 'paidBefore', 'otherPayment', 'inDoubt', 'inFlight'],
		];
		const otherAmount = { success: true, amountEtb: 9, txHash: '0x1' };
		const items = Array.from({ length: 50 }, (_, line) => {
			const kind = kinds[line % kinds.length] ?? '';
			return { ...itemsFor(`${kind}-${line}`)[0], kind, line };
		});
		const of = (...wanted: string[]): typeof items =>
			items.filter(({ kind }) => wanted.includes(kind));
		const namesOf = (kind: string): string[] => of(kind).map(({ line }) => `${kind}-${line}`);
		await pay(of('paidBefore', 'otherPayment'));
		await leaveUnknown(of('inDoubt'), namesOf('inDoubt'));
		await dieSending(of('inFlight'), { options: { concurrency: 50 } });
		sandbox.faults.plan('POST /disburse', ({ bodyText }): Fault | PresetName | undefined => {
			if (bodyText.includes('otherAmount')) return reply(200, otherAmount, 'before-response');
			if (bodyText.includes('refused')) return rejection;
			if (bodyText.includes('unclear')) return 'error500AfterPaying';
			return bodyText.includes('noResponse') ? 'resetAfterPaying' : undefined;
		});
		const changes: Record<string, IDataObject> = {
			invalid: { amountEtb: '' },
			sameReference: { reference: 'pay-paid-0' },
			aboveMaximum: { amountEtb: 501 },
			otherPayment: { amountEtb: 11 },
		};
		const changed = items.map((item) => ({ ...item, ...changes[item.kind] }));
		const options = { maxAmountEtb: '500' };
		const { output, error } = await pay(changed, { options }, { onError: 'continueRegularOutput' });
		expect(error).toBeUndefined();
		expect(output.map(({ json }) => [json.line, json.code, json.kind])).toEqual(
			items.map(({ line, kind }) => [line, kind, kind]),
		);
		expect(output.map(({ pairedItem }) => pairedItem)).toEqual(
			items.map(({ line }) => ({ item: line })),
		);
		for (const { json } of output) {
			expect(json).not.toHaveProperty('error');
			const isPaid = json.outcome === 'paid';
			expect(Object.keys(json)).toEqual(
				expect.arrayContaining(isPaid ? ['paidAt'] : ['message', 'remedy']),
			);
			expect(Object.keys(json)).toEqual(expect.arrayContaining(['reference', 'toUserId']));
		}
	});
});

describe('a mode by expression', () => {
	test.each([
		"$json.reference === 'pay-a' ? 'pay' : 'dryRun'",
		"$parameter.reference === 'pay-a' ? 'pay' : 'dryRun'",
		"$parameter['reference'] === 'pay-a' ? 'pay' : 'dryRun'",
		"$itemIndex === 0 ? 'pay' : 'dryRun'",
	])('that gives another one for each item pays nobody: %s', async (mode) => {
		const { error } = await pay(itemsFor('a', 'b'), { mode: `={{ ${mode} }}` });
		expect(error?.message).toMatch(/Mode is "pay" for item 0, and "dryRun" for item 1/);
		expect(payments()).toEqual([]);
	});
});

describe('a row of Check List', () => {
	const rowOf = (name: string): IDataObject => ({
		...itemsFor(name)[0],
		...{ status: 'ready', purpose: 'salary', period: '2026-10', employeeKey: name },
		reference: `salary-2026-10-${name}`,
	});

	test.each([
		['the field Reference', {}, { reference: '={{ $json.reference }}-b' }],
		['a node between the two', { reference: 'bonus-a' }, {}],
	])('is not paid under a reference of %s', async (_where, more, fields) => {
		const rows = [{ ...rowOf('a'), ...more }];
		const { error } = await pay(rows, fields);
		expect(error?.message).toMatch(/salary-2026-10-a.*reference that Check List gave this row/);
		expect(payments()).toEqual([]);
		// An earlier payment is found under its own reference, so a register never gets *not paid* of it.
		await pay([rowOf('a')]);
		const told = await pay(rows, fields, { onError: 'continueRegularOutput' });
		expect(codesOf(told)).toEqual(['paidBefore']);
		expect(told.output[0]?.json).toMatchObject({ reference: 'salary-2026-10-a' });
		expect(paidNames()).toEqual(['a']);
	});

	test('that was paid before, by whichever workflow, is reported so, and is no failure', async () => {
		const row = { ...rowOf('a'), status: 'paidBefore', reference: undefined, amountEtb: undefined };
		for (const mode of ['pay', 'dryRun']) {
			const told = await pay([row], { mode });
			expect(told.error).toBeUndefined();
			expect(codesOf(told)).toEqual(['paidBefore']);
		}
		expect(payments()).toEqual([]);
	});

	test('keeps its reference also if a node in between made a number of the employee number', async () => {
		const row = { ...rowOf('1'), employeeKey: 1 };
		const { error } = await pay([row], { reference: '={{ $json.reference }}-b' });
		expect(error?.message).toContain('reference that Check List gave this row');
	});

	test.each(['problem', 'noPerson'])('that is %s is not paid', async (status) => {
		const row = { ...rowOf('a'), status, problem: 'It is unknown' };
		const { error } = await pay([row]);
		expect(`${error?.message} ${error?.description}`).toMatch(
			RegExp(`${status}.*It is unknown`, 's'),
		);
		expect(codesOf(await pay([row], {}, { onError }))).toEqual(['invalid']);
		expect(payments()).toEqual([]);
	});

	test.each([
		{ reference: ' SALARY-2026-10-a ' },
		{ status: 'done', reference: 'other' },
		{ status: 'problem', purpose: null },
		{ employeeKey: null, reference: 'other' },
	])(
		'is paid if only its spelling differs, and so is an item that is no such row: %j',
		async (more) => {
			expect(codesOf(await pay([{ ...rowOf('a'), ...more }]))).toEqual(['paid']);
		},
	);
});

describe('a payment that was sent before, and has a field that keeps it from being sent', () => {
	const small = (): IDataObject => ({ ...itemsFor('d')[0], amountEtb: 5 });
	const run = { onError: 'continueRegularOutput' } as const;
	/** Payments that were paid, that are unknown, and that were never sent, with another field. */
	async function sentBefore(more: IDataObject): Promise<IDataObject[]> {
		await pay(itemsFor('a'));
		await leaveUnknown(itemsFor('b'), ['b']);
		return itemsFor('a', 'b', 'c').map((item) => ({ ...item, ...more }));
	}

	test.each([
		['1000', 'paid'],
		['5', 'paid'],
		['1', 'totalAboveMaximum'],
	])(
		'is told as it ended if it is above the maximum, with %s for the run',
		async (maxTotalEtb, last) => {
			const options = { maxAmountEtb: '9', maxTotalEtb };
			const result = await pay([...(await sentBefore({})), small()], { options }, run);
			expect(codesOf(result)).toEqual(['paidBefore', 'inDoubt', 'aboveMaximum', last]);
		},
	);

	test('is told as unknown if its amount cannot be read, and as invalid if it may be another payment', async () => {
		const result = await pay([...(await sentBefore({ amountEtb: '?' })), small()], {}, run);
		expect(codesOf(result)).toEqual(['invalid', 'inDoubt', 'invalid', 'paid']);
	});

	test('is told as another one if an earlier item has its reference: the record has only one of them', async () => {
		const given = await sentBefore({});
		const other = given.map((item) => ({ ...item, toUserId: 'etbw_other' }));
		const mode = { mode: 'settle', wasPaid: 'pay-b' };
		await pay([{}], mode, { ...run, mode: 'manual' });
		const result = await pay([...given, ...other], {}, run);
		const same = all(3, 'sameReference');
		expect(codesOf(result)).toEqual(['paidBefore', 'paidBefore', 'paid', ...same]);
	});

	test.each([
		['it is above the maximum', {}, { options: { maxAmountEtb: '9' } }],
		['its amount cannot be read', { amountEtb: '?' }, {}],
	])(
		'keeps the others from being paid if %s, and the node stops on errors',
		async (_why, more, fields) => {
			const sent = payments().length;
			const given = await sentBefore(more);
			const before = payments().length;
			const { error } = await pay([...given, small()], fields);
			expect(payments().length).toBe(before);
			expect(before).toBeGreaterThan(sent);
			expect(rows(errorData(error).get('unknown'))).toMatchObject([{ reference: 'pay-b' }]);
			expect(`${error?.message} ${error?.description}`).toContain('Item 2');
		},
	);

	test('is told as another payment if the amount is another one, also above the maximum', async () => {
		await pay(itemsFor('a'));
		const [paid = {}] = itemsFor('a');
		const options = { maxAmountEtb: '9' };
		expect(codesOf(await pay([{ ...paid, amountEtb: 99 }], { options }, run))).toEqual([
			'otherPayment',
		]);
	});

	test.each([
		['a', 'alreadyPaid', 'paidBefore', /^Paid or settled as paid before.*above the Maximum/],
		['b', 'unknown', 'inDoubt', /^It is unknown whether etbw_b was paid.*above the Maximum/],
	])('alone is told as it ended in the error: %s', async (name, outcome, code, message) => {
		await sentBefore({});
		const { error } = await pay(itemsFor(name), { options: { maxAmountEtb: '9' } });
		expect(Object.fromEntries(errorData(error))).toMatchObject({ outcome, code });
		expect(error?.message).toMatch(message);
		expect(error?.message).not.toContain('Nobody was paid');
	});

	test('is named as perhaps paid in the error, if the database fails', async () => {
		const given = await sentBefore({});
		const broken = jest
			.spyOn(deduplicator, 'checkProcessedAndRecord')
			.mockRejectedValue(new Error('database is locked'));
		const { error } = await pay(given, { options: { maxAmountEtb: '9' } });
		broken.mockRestore();
		expect(error?.description).toMatch(/may have been paid: .*database is locked/);
	});
});

describe('Retry On Fail', () => {
	test('goes on where it stopped: nobody is paid twice, and each has its transaction', async () => {
		failFor(['u30'], rejection, 2);
		const { output } = await pay(people(50), {}, { retryOnFail: true, maxTries: 3 });
		expect(codes(output)).toEqual(all(50, 'paid'));
		const hashes = new Map(
			sandbox.books.disbursements().map((each) => [each.toUserId, each.txHash]),
		);
		expect(output.map(({ json }) => json.txHash)).toEqual(
			names(50).map((name) => hashes.get(`etbw_${name}`)),
		);
		expect(payments()).toHaveLength(52);
	});

	test.each([undefined, onError] as const)(
		'lists what was paid before the credential failed (%s)',
		async (each) => {
			const credential = credentialFor(sandbox);
			sandbox.faults.plan('POST /disburse', ({ bodyText }) => {
				credential.apiKey = '';
				return bodyText.includes(each === undefined ? 'etbw_u1' : 'etbw_u0')
					? rejection
					: undefined;
			});
			const run = { credential, retryOnFail: true, maxTries: 2, onError: each };
			const result = await pay(people(2), { options: { concurrency: 1 } }, run);
			expect(sandbox.books.disbursements()).toHaveLength(1);
			if (each === undefined) expect(rows(errorData(result.error).get('paid'))).toHaveLength(1);
			else expect(codesOf(result)).toEqual(['paid', 'settings']);
		},
	);

	test('reports what was sent, not what an expression gives later', async () => {
		failFor(['u1'], rejection, 1);
		const reference = '={{ $now.toMillis() }}-{{ $itemIndex }}';
		const fields = { reference, options: { concurrency: 1 } };
		const { output } = await pay(people(2), fields, { retryOnFail: true });
		expect(codes(output)).toEqual(['paid', 'paid']);
		const marks = output.map(({ json }) => `sent:${json.reference as string}`);
		expect(record().filter((mark) => mark.startsWith('sent:'))).toEqual(marks.sort());
	});

	test('keeps to what was paid when an expression gives its reference to another item', async () => {
		sandbox.faults.plan('POST /disburse', ({ bodyText }) => {
			if (bodyText.includes('etbw_a')) return rejection;
			// From now on, both items ask for the reference of the one that is paid.
			jest.spyOn(Math, 'random').mockReturnValue(0.9);
			return undefined;
		});
		const reference = "={{ Math.random() < 0.5 ? $json.reference : 'pay-b' }}";
		const fields = { reference, options: { concurrency: 1 } };
		const run = { retryOnFail: true, maxTries: 2, onError } as const;
		const result = await pay(itemsFor('a', 'b'), fields, run);
		expect(codesOf(result)).toEqual(['paid', 'sameReference']);
	});

	test.each([20, 15])('counts what an earlier try paid: a maximum of %i ETB then', async (then) => {
		const random = jest.spyOn(Math, 'random').mockReturnValue(0.1);
		let sent = 0;
		sandbox.faults.plan('POST /disburse', () => {
			if (++sent !== 2) return undefined;
			random.mockReturnValue(0.9);
			return rejection;
		});
		const items = people(2).map((item) => ({ ...item, toUserId: 'etbw_u0' }));
		const options = { concurrency: 1, maxTotalEtb: `={{ Math.random() < 0.5 ? 20 : ${then} }}` };
		const { error, hints } = await pay(items, { options }, { retryOnFail: true, maxTries: 2 });
		expect(errorData(error).get('code')).toBe(then < 20 ? 'totalAboveMaximum' : undefined);
		if (then === 20) expect(hints.join()).toContain('(2 payments');
	});

	test('of an updated package pays nobody again', async () => {
		let node = (await loadPackage()).types.get('n8n-nodes-etb-wallet.etbWallet');
		const updated = await loadAnew('EtbWallet');
		failFor(['u2'], rejection, 1);
		const currentNode = () => {
			const now = node ?? updated;
			if (payments().length > 0) node = updated;
			return now;
		};
		const run = { retryOnFail: true, maxTries: 2, currentNode };
		const result = await pay(people(3), { options: { concurrency: 1 } }, run);
		expect(codesOf(result)).toEqual(all(3, 'paid'));
		expect(node).toBe(updated);
		expect(payments()).toHaveLength(4);
	});
});

describe('hints', () => {
	const empty = /^This node remembered no payments before this run/;

	test('an empty record is said, in dry runs too, and only then', async () => {
		// The largest values of the options are allowed.
		const options = { concurrency: maxConcurrency, timeout: maxTimeoutMs };
		for (const mode of ['dryRun', 'pay'])
			expect((await pay(people(2), { mode, options })).hints[0]).toMatch(empty);
		for (const mode of ['dryRun', 'pay'])
			expect((await pay(people(3), { mode })).hints.join()).not.toMatch(empty);
	});

	test('people who are paid twice in a run are said, twenty of them', async () => {
		const all = [...people(25), ...people(25)];
		const twice = all.map((item, at) => ({ ...item, reference: `r${at}` }));
		const { hints } = await pay(twice, { mode: 'dryRun' });
		expect(hints.join('\n')).toMatch(
			/^People with more than one .*: etbw_u0 \(2 payments, 20 ETB: items 0, 25\); .*; and 5 more$/m,
		);
	});
});
