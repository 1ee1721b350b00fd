/** Payments: how each item ends, by the sandbox's own books, and what the node tells about it. */
import fc from 'fast-check';
import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import type { Fault, PresetName } from '../../sandbox/faults.mts';
import { startSandbox, type ReceivedRequest } from '../../sandbox/sandbox.mts';
import { withShortTimeoutsFor } from '../../lab/engine/calls.mts';
import type { RunOptions, RunResult } from '../../lab/engine/engine.mts';
import { credentialFor, deduplicator, runNode } from '../../lab/engine/engine.mts';
import {
	answerOf,
	nodeId,
	outcomes,
	paidNames,
	payInEachTest,
	payments,
	sandbox,
	timePassesForEachLook,
} from '../../lab/engine/paying.mts';

payInEachTest();

interface PaymentItem extends IDataObject {
	userId: string;
	amount: number | string;
	name: string;
}

/** A user for each name, and an item that pays 10 ETB to each. */
function itemsFor(names: string[], changes: { amount?: number } = {}): PaymentItem[] {
	const known = new Set(sandbox.books.users().map(({ externalId }) => externalId));
	return names.map((name) => {
		if (!known.has(name)) sandbox.books.addUser({ externalId: name });
		return { userId: `etbw_${name}`, amount: 10, name, ...changes };
	});
}

const names = (count: number, from = 0): string[] =>
	Array.from({ length: count }, (_, index) => `u${from + index}`);

/** The same with the user's name as the reference. */
const referenced = (list: string[]): (PaymentItem & { ref: string })[] =>
	itemsFor(list).map((item) => ({ ...item, ref: `pay-${item.name}` }));

const fields: INodeParameters = {
	resource: 'disbursement',
	operation: 'create',
	toUserId: '={{ $json.userId }}',
	amountEtb: '={{ $json.amount }}',
};

interface PayOptions extends Partial<RunOptions> {
	options?: INodeParameters;
	fields?: INodeParameters;
}

/** Runs the node with its reference taken from `ref` when the items have one. */
async function pay(
	items: IDataObject[],
	{ options = {}, fields: changed = {}, ...run }: PayOptions = {},
): Promise<RunResult> {
	const reference: INodeParameters = items.some((item) => 'ref' in item)
		? { reference: '={{ $json.ref }}' }
		: {};
	return await runNode({
		credential: credentialFor(sandbox),
		parameters: { ...fields, ...reference, ...changed, options },
		items,
		nodeId,
		...run,
	});
}

const bodyOf = ({ body }: ReceivedRequest): Map<string, unknown> =>
	new Map(Object.entries(Object(body) as object));
const userOf = (request: ReceivedRequest): string =>
	String(bodyOf(request).get('toUserId')).replace('etbw_', '');
const sorted = (list: string[]): string[] => [...list].sort();

/** A fault for payments to these users, the first `times` times. */
function failFor(list: string[], fault: Fault | PresetName, times = Infinity): void {
	const left = new Map(list.map((name) => [name, times]));
	sandbox.faults.plan('POST /disburse', (request) => {
		const name = userOf(request);
		const count = left.get(name) ?? 0;
		left.set(name, count - 1);
		return count > 0 ? fault : undefined;
	});
}

const reply = (status: number, body: unknown, process: Fault['process'] = 'never'): Fault => ({
	process,
	answer: { status, body: JSON.stringify(body) },
});
const rejection = reply(422, { error: { message: 'The wallet is closed' } });
const errorData = (error: RunResult['error']): Record<string, unknown> =>
	Object(error?.context?.data) as Record<string, unknown>;
const rows = (data: unknown): unknown[] => (Array.isArray(data) ? (data as unknown[]) : []);

describe('outcomes', () => {
	const contradictions: [status: number, body: string, message: RegExp][] = [
		[200, '{"success":false,"success":true}', /without saying whether/],
		[200, '{"success":true,"data":{"success":false}}', /without saying whether/],
		[422, '{"success":true,"success":false}', /refused the request \(422\)/],
		[422, '{"success":"true"}', /refused the request \(422\)/],
		[422, '{"amountEtb":10,"txHash":"0xabc"}', /refused the request \(422\)/],
		[422, '{"result":{"succ\\u0065ss":true}}', /refused the request \(422\)/],
		[400, '{"result":{"success":true}}', /refused the request \(400\)/],
		[200, '{"success":false,"txHash":"0xabc"}', /without saying whether/],
		[422, '{"success":true}', /refused the request \(422\)/],
		[409, '{"success":true,"error":"dup","success":null}', /conflict \(409\)/],
		[429, '{"success":true,"success":false}', /too many requests \(429\)/],
		[400, '{"success":true,"amountEtb":NaN}', /refused the request \(400\)/],
		[500, '{"success":false}', /service failed \(500\)/],
	];
	const cases: [string, Fault | PresetName, string, RegExp][] = [
		[
			'a rejection',
			rejection,
			'notPaid',
			/refused the request \(422\)\. The service said: "The wallet is closed"/,
		],
		[
			'success: false',
			reply(200, { success: false, message: 'Not enough funds' }),
			'notPaid',
			/did not make the disbursement\. The service said: "Not enough funds"/,
		],
		['no success field', reply(202, { state: 'queued' }), 'unknown', /without saying whether/],
		[
			'success: false with a nested reason',
			reply(200, { success: false, error: { message: 'Not enough funds' } }),
			'notPaid',
			/did not make the disbursement\. The service said: "Not enough funds"/,
		],
		[
			'a conflict',
			reply(409, { message: 'Duplicate' }),
			'notPaid',
			/conflict \(409\)\. The service said: "Duplicate"/,
		],
		['success as text', reply(200, { success: 'true' }), 'unknown', /without saying whether/],
		['an array', reply(200, [{ success: true }]), 'unknown', /not a JSON object/],
		['204 without a body', { process: 'before-answer', answer: { status: 204 } }, 'unknown', /204/],
		['500 after paying', 'error500AfterPaying', 'unknown', /failed \(500\)/],
		...contradictions.map(([status, body, message]): (typeof cases)[number] => [
			`${status} with ${body}`,
			{ process: 'never', answer: { status, body } },
			'unknown',
			message,
		]),
		['a timeout of a proxy', reply(408, {}, 'before-answer'), 'unknown', /408/],
		['a client that a proxy gave up', reply(499, {}, 'before-answer'), 'unknown', /499/],
		['a cut body', 'cutBody', 'unknown', /closed before the answer was complete/],
	];
	test.each(cases)('%s', async (_what, fault, outcome, message) => {
		failFor(['u1'], fault);
		const result = await pay(itemsFor(names(3)), { onError: 'continueErrorOutput' });
		expect(outcomes(result.output)).toEqual(['paid', 'paid']);
		expect(result.errorOutput).toHaveLength(1);
		const [item] = result.errorOutput;
		expect(item?.json).toMatchObject({ name: 'u1', userId: 'etbw_u1' });
		expect(item && answerOf(item)).toMatchObject({
			outcome,
			toUserId: 'etbw_u1',
			amountEtb: 10,
			message: expect.stringMatching(message) as unknown,
			description: expect.stringMatching(/./) as unknown,
		});
		expect(payments()).toHaveLength(3);
	});

	test('a paid item carries the fields of the service, outcome, user and reference', async () => {
		const { output, hints } = await pay(referenced(names(2)));
		const [first] = sandbox.books.disbursements();
		expect(output[0]).toEqual({
			json: {
				success: true,
				amountEtb: 10,
				txHash: first?.txHash,
				outcome: 'paid',
				toUserId: 'etbw_u0',
				reference: 'pay-u0',
			},
			pairedItem: { item: 0 },
		});
		expect(hints).toEqual([
			'This node remembers no payments yet. If it is a copy, or was made anew, the other one may have paid these people.',
			'2 paid, total 20 ETB',
		]);
	});

	test('fields of the service take no place of fields that n8n and the pay gate act on', async () => {
		const answer = { success: true, txHash: '0x1', bank: 'b', mode: 'dryRun', reference: 'other' };
		const asked = { error: { outcome: 'notPaid' }, requestedAmountEtb: 1, ...answer };
		failFor(['u0'], reply(200, asked, 'before-answer'));
		const { output } = await pay(itemsFor(names(1)));
		expect(output[0]?.json).toEqual({
			success: true,
			txHash: '0x1',
			bank: 'b',
			outcome: 'paid',
			toUserId: 'etbw_u0',
			amountEtb: 10,
		});
	});

	test('another amount in the answer is shown beside the requested one', async () => {
		failFor(['u1'], reply(200, { success: true, amountEtb: 9.5, txHash: '0x1' }, 'before-answer'));
		const { output, hints } = await pay(itemsFor(names(2)));
		expect(output[0]?.json).not.toHaveProperty('requestedAmountEtb');
		expect(output[1]?.json).toMatchObject({
			outcome: 'paid',
			amountEtb: 9.5,
			requestedAmountEtb: 10,
		});
		expect(hints[0]).toMatch(/^2 paid, total 20 ETB\. For 1 of them .*requestedAmountEtb$/);
	});

	test.each([null, '', '10.00', 'ten', {}])(
		'an answer with the amount %j keeps the amount that was asked for',
		async (amountEtb) => {
			failFor(['u0'], reply(200, { success: true, amountEtb, txHash: '0x1' }, 'before-answer'));
			const { output } = await pay(itemsFor(['u0']));
			expect(output[0]?.json).toMatchObject({ outcome: 'paid', amountEtb: 10 });
			expect(output[0]?.json).not.toHaveProperty('requestedAmountEtb');
		},
	);

	test.each([
		[422, {}],
		[422, { onError: 'continueErrorOutput' as const }],
		[500, {}],
		[500, { onError: 'continueErrorOutput' as const }],
	])(
		'what was paid without a reference is to be left out when the rest is tried again (%i %j)',
		async (status, settings) => {
			failFor(['u2'], reply(status, { message: 'No' }));
			const { error, errorOutput } = await pay(itemsFor(names(3)), {
				options: { concurrency: 1 },
				...settings,
			});
			const [item] = errorOutput;
			const remedy = error?.description ?? (item && answerOf(item))?.description;
			expect(remedy).toContain(
				'Of the others of this run 2 were paid, or may be, and have no Reference: leave them out of another run.',
			);
		},
	);

	test('a reason that repeats a short API key does not show it', async () => {
		const other = await startSandbox({ apiKey: 'k-7x' });
		const blocked = reply(200, { success: false, message: 'Key k-7x is blocked' });
		other.faults.plan('POST /disburse', () => blocked);
		const { error, everything } = await pay(itemsFor(['u0']), { credential: credentialFor(other) });
		await other.stop();
		expect(error?.message).toContain('Key [hidden] is blocked');
		expect(everything).not.toContain('k-7x');
	});
});

describe('a reference', () => {
	test('whose payment cannot be recorded afterwards is told as paid, with what a later run will say', async () => {
		const record = deduplicator.checkProcessedAndRecord;
		jest
			.spyOn(deduplicator, 'checkProcessedAndRecord')
			.mockImplementation(async (items, ...more) => {
				if (items.some((item) => String(item).startsWith('paid:'))) throw new Error('gone');
				return await record(items, ...more);
			});
		const { output, hints } = await pay(referenced(names(2)));
		jest.restoreAllMocks();
		expect(outcomes(output)).toEqual(['paid', 'paid']);
		expect(hints).toContain(
			'How 2 payments ended could not be recorded, so a later run tells them as unknown. Settle them then by what this run tells.',
		);
	});

	test('is paid once, however often the workflow runs', async () => {
		await pay(referenced(names(3)));
		const { output, hints } = await pay(referenced(names(5)));
		expect(outcomes(output)).toEqual(['alreadyPaid', 'alreadyPaid', 'alreadyPaid', 'paid', 'paid']);
		expect(output[0]?.json).toMatchObject({
			reference: 'pay-u0',
			toUserId: 'etbw_u0',
			amountEtb: 10,
			message: 'Paid or settled as paid before, not sent again',
		});
		expect(hints).toEqual(['2 paid, 3 already paid, total 20 ETB']);
		expect(paidNames()).toEqual(names(5));
	});

	test('is free again after a rejection', async () => {
		failFor(['u1'], rejection, 1);
		const first = await pay(referenced(names(3)), { onError: 'continueErrorOutput' });
		expect(outcomes(first.errorOutput)).toEqual(['notPaid']);
		const second = await pay(referenced(names(3)));
		expect(outcomes(second.output)).toEqual(['alreadyPaid', 'paid', 'alreadyPaid']);
		expect(paidNames()).toEqual(names(3));
	});

	test.each(['error500AfterPaying', 'error500BeforePaying'] as const)(
		'stays unknown after %s',
		async (fault) => {
			failFor(['u1'], fault, 1);
			await pay(referenced(names(3)), { onError: 'continueErrorOutput' });
			for (let run = 0; run < 2; run++) {
				const { output } = await pay(referenced(names(3)));
				expect(outcomes(output)).toEqual(['alreadyPaid', 'unknown', 'alreadyPaid']);
				expect(output[1]?.json.message).toMatch(
					/^Not sent again: it was sent before, and how that ended is not known, or it was refused after it had been settled\. Ask the partner service .* set Mode to Settle Unknown .* Execute step with the same items/,
				);
			}
			expect(payments()).toHaveLength(3);
		},
	);

	test('that was used fails the item when asked to', async () => {
		failFor(['u1'], 'error500BeforePaying', 1);
		await pay(referenced(names(2)), { onError: 'continueErrorOutput' });
		const options = { ifReferenceUsed: 'fail' };
		const { errorOutput, output } = await pay(referenced(names(3)), {
			options,
			onError: 'continueErrorOutput',
		});
		expect(outcomes(errorOutput)).toEqual(['alreadyPaid', 'unknown']);
		expect(outcomes(output)).toEqual(['paid']);
		const stopped = await pay(referenced(names(4)), { options });
		expect(stopped.error?.message).toMatch(/Not sent again: .*"pay-u1"\. This run/);
		expect(stopped.error?.description).toContain('Already paid: item 0 pay-u0');
		const again = await pay(referenced(['u0']), { options });
		expect(again.error?.message).toBe(
			'Paid or settled as paid before, not sent again: "pay-u0" [item 0]',
		);
		expect(paidNames()).toEqual(['u0', 'u2']);
	});

	test.each([['defineBelow'], ['autoMapInputData']])(
		'that is missing for some items is refused (%s)',
		async (mappingMode) => {
			const items = itemsFor(names(3)).map(({ userId, amount }, index) => ({
				toUserId: userId,
				amountEtb: amount,
				reference: index === 1 ? '' : `r${index}`,
			}));
			const { error } = await pay(items, {
				fields: {
					mappingMode,
					...(mappingMode === 'defineBelow' && {
						toUserId: '={{ $json.toUserId }}',
						amountEtb: '={{ $json.amountEtb }}',
						reference: '={{ $json.reference }}',
					}),
				},
			});
			expect(error?.message).toBe('Reference is empty [item 1]');
			expect(payments()).toEqual([]);
		},
	);

	test('that is empty for every item is refused when it comes from an expression', async () => {
		const { error } = await pay(itemsFor(names(2)), {
			fields: { reference: '={{ $json.invoice }}' },
		});
		expect(error?.message).toBe('Nobody was paid, because 2 items cannot be used');
		expect(payments()).toEqual([]);
	});

	test('has at most 200 characters', async () => {
		const most = '\u{1F4B8}'.repeat(200);
		const payable = (ref: string) => referenced(['u0']).map((item) => ({ ...item, ref }));
		const { error } = await pay(payable(`${most}x`));
		expect(error?.message).toMatch(/^Reference is ".*, which is longer than 200 characters/u);
		expect(payments()).toEqual([]);
		const { output } = await pay(payable(most));
		expect(output[0]?.json.outcome).toBe('paid');
	});

	test('that two items share pays nobody, or only the first when the node continues', async () => {
		const items = [...referenced(names(2)), ...referenced(['u0'])];
		const { error } = await pay(items);
		expect(error?.message).toBe('Reference is "pay-u0", which item 0 has too [item 2]');
		expect(error?.description).toMatch(
			/^Nobody was paid\. The same payment\? Then remove this row\./,
		);
		expect(payments()).toEqual([]);
		const continued = await pay(items, { onError: 'continueErrorOutput' });
		expect(outcomes(continued.output)).toEqual(['paid', 'paid']);
		expect(continued.errorOutput.map(answerOf)).toMatchObject([
			{ outcome: 'notPaid', reference: 'pay-u0', toUserId: 'etbw_u0', amountEtb: 10 },
		]);
	});

	test('is not sent when it cannot be recorded', async () => {
		const broken = jest
			.spyOn(deduplicator, 'checkProcessedAndRecord')
			.mockRejectedValue(new Error('database is locked'));
		const { error } = await pay(referenced(names(3)));
		expect(error?.message).toMatch(/could not be recorded in the database of n8n/);
		expect(error?.description).toMatch(/database is locked/);
		expect(payments()).toEqual([]);
		broken.mockRestore();
		expect(outcomes((await pay(referenced(names(3)))).output)).toEqual(Array(3).fill('paid'));
	});

	test('stays in doubt when its end cannot be recorded, and the run says how it ended', async () => {
		const record = deduplicator.checkProcessedAndRecord;
		const broken = jest
			.spyOn(deduplicator, 'checkProcessedAndRecord')
			.mockImplementation(async (items, scope, ...more) => {
				const isEnd = items.some((item) => String(item).startsWith('paid:payment'));
				if (isEnd) throw new Error('database is locked');
				return await record(items, scope, ...more);
			});
		expect(outcomes((await pay(referenced(names(2)))).output)).toEqual(['paid', 'paid']);
		broken.mockRestore();
		timePassesForEachLook('node', 3_600_000);
		const second = await pay(referenced(names(2)));
		expect(outcomes(second.output)).toEqual(['unknown', 'unknown']);
		expect((await pay(referenced(['u0']))).hints).toEqual([expect.stringContaining('1 unknown')]);
		expect(payments()).toHaveLength(2);
	});

	test.each([
		['person', 'u1', 10],
		['amount', 'u0', 11],
	])(
		'that was used for another %s is an error, and stays what it was',
		async (_what, name, amount) => {
			const other = { ...itemsFor([name], { amount })[0], ref: 'pay-u0' };
			await pay(referenced(['u0']));
			for (let round = 0; round < 2; round++) {
				const { error } = await pay([other]);
				expect(error?.message).toMatch(
					/^Nothing was sent, because another person or amount was paid under this reference: "pay-u0"/,
				);
				const { errorOutput } = await pay([other], { onError: 'continueErrorOutput' });
				expect(errorOutput.map(answerOf)).toMatchObject([{ outcome: 'notPaid' }]);
			}
			expect(outcomes((await pay(referenced(['u0']))).output)).toEqual(['alreadyPaid']);
			expect(paidNames()).toEqual(['u0']);
			expect(payments()).toHaveLength(1);
		},
	);

	test('has its own ledger in each node', async () => {
		await pay(referenced(['u0']));
		await pay(referenced(['u0']), { nodeId: `${nodeId}-other` });
		expect(paidNames()).toEqual(['u0', 'u0']);
	});

	test('is paid once by executions at the same time', async () => {
		for (let round = 0; round < 100; round++) {
			const left = referenced(names(8, round * 100));
			const right = referenced(names(8, round * 100 + 2));
			const run = { nodeId: `race-${round}`, options: { concurrency: 3 } };
			const results = await Promise.all([pay(left, run), pay(right, run)]);
			expect(results.flatMap(({ output }) => output)).toHaveLength(16);
			expect(results.map(({ error }) => error)).toEqual([undefined, undefined]);
		}
		const paid = paidNames();
		expect(paid).toHaveLength(1000);
		expect(new Set(paid).size).toBe(1000);
	}, 120_000);

	test('in flight in another execution is waited for', async () => {
		sandbox.setLatency(60);
		const both = await Promise.all([pay(referenced(names(3))), pay(referenced(names(3)))]);
		expect(sorted(both.flatMap(({ output }) => outcomes(output)).map(String))).toEqual([
			...Array<string>(3).fill('alreadyPaid'),
			...Array<string>(3).fill('paid'),
		]);
		expect(paidNames()).toEqual(names(3));
	});

	test('in flight that is refused is sent by the execution that waited for it', async () => {
		sandbox.setLatency(60);
		failFor(['u0'], rejection, 1);
		const onError = 'continueErrorOutput';
		const both = await Promise.all([
			pay(referenced(['u0']), { onError }),
			pay(referenced(['u0']), { onError }),
		]);
		const all = both.flatMap(({ output, errorOutput }) => outcomes([...output, ...errorOutput]));
		expect(sorted(all.map(String))).toEqual(['notPaid', 'paid']);
		expect(paidNames()).toEqual(['u0']);
	});
});

describe('limits', () => {
	test('a payment above the maximum pays nobody and is named', async () => {
		const items = [...itemsFor(names(3)), ...itemsFor(['u3'], { amount: 10.01 })];
		const { error } = await pay(items, {
			options: { maxAmountEtb: 10 },
		});
		expect(error?.message).toBe(
			'Amount (ETB) is 10.01, which is above the Maximum per Payment of 10 [item 3]',
		);
		expect(payments()).toEqual([]);
	});

	test('a run above its maximum pays nobody and says by how much', async () => {
		const items = itemsFor(names(3), { amount: 0.1 });
		const { error } = await pay(items, { options: { maxTotalEtb: 0.25 } });
		expect(error?.message).toBe(
			'The payments of this run add up to 0.3 ETB, which is 0.05 ETB above the Maximum per Run of 0.25 ETB',
		);
		expect(error?.description).toMatch(/^Nobody was paid\./);
		expect(payments()).toEqual([]);
		const exact = await pay(items, { options: { maxTotalEtb: 0.3 } });
		expect(outcomes(exact.output)).toEqual(['paid', 'paid', 'paid']);
	});

	test('what is above the maximum per payment does not count towards that of the run', async () => {
		const items = [...itemsFor(names(2)), ...itemsFor(['u2'], { amount: 1000 })];
		const { output, errorOutput } = await pay(items, {
			options: { maxAmountEtb: 100, maxTotalEtb: 25 },
			onError: 'continueErrorOutput',
		});
		expect(outcomes(output)).toEqual(['paid', 'paid']);
		expect(outcomes(errorOutput)).toEqual(['notPaid']);
		expect(paidNames()).toEqual(names(2));
	});

	test('a run that the treasury does not cover pays nobody and says what is missing', async () => {
		sandbox.books.setTreasuryBalance(29.5);
		const options = { checkBalance: true };
		const { error } = await pay(itemsFor(names(3)), { options });
		expect(error?.message).toBe(
			'The treasury holds 29.5 ETB, but this run needs 30 ETB: 0.5 ETB are missing',
		);
		expect(error?.description).toMatch(/^Nobody was paid\. Top up the treasury/);
		const continued = await pay(itemsFor(names(3)), { options, onError: 'continueErrorOutput' });
		expect(outcomes(continued.errorOutput)).toEqual(Array(3).fill('notPaid'));
		expect(payments()).toEqual([]);
		sandbox.books.setTreasuryBalance(30);
		expect(outcomes((await pay(itemsFor(names(3)), { options })).output)).toHaveLength(3);
	});

	test('a run that goes on needs only what is still to be paid', async () => {
		sandbox.books.setTreasuryBalance(60);
		await pay(referenced(names(4)));
		const options = { checkBalance: true, concurrency: 3 };
		const { output, error } = await pay(referenced(names(6)), { options });
		expect(error).toBeUndefined();
		expect(outcomes(output)).toEqual([...Array<string>(4).fill('alreadyPaid'), 'paid', 'paid']);
		const { error: missing } = await pay(referenced(names(8)), { options });
		expect(missing?.message).toMatch(/holds 0 ETB, but this run needs 20 ETB: 20 ETB are missing/);
		sandbox.books.setTreasuryBalance(20);
		const { output: rest } = await pay(referenced(names(8)), { options });
		expect(outcomes(rest).slice(6)).toEqual(['paid', 'paid']);
		expect(paidNames()).toEqual(names(8));
	});

	test.each([
		[
			{},
			'The treasury balance could not be read: The service answered 200 with no treasuryBalance in its body',
		],
		[{ treasuryBalance: 'much' }, 'The service answered without a treasury balance'],
	])('a balance of %j cannot be read, and pays nobody', async (data, message) => {
		sandbox.faults.next('GET /balance', reply(200, { data }), 1);
		const { error } = await pay(itemsFor(names(2)), { options: { checkBalance: true } });
		expect(error?.message).toBe(message);
		expect(payments()).toEqual([]);
	});

	test('every bad row is named, and nobody is paid', async () => {
		const bad = new Map<number, IDataObject>([
			[1, { amount: '1,000' }],
			[3, { userId: '' }],
			[4, { amount: -1 }],
		]);
		const items = itemsFor(names(5)).map((item, index) => ({ ...item, ...bad.get(index) }));
		const { error } = await pay(items);
		expect(error?.message).toBe('Nobody was paid, because 3 items cannot be used');
		for (const row of [
			/Item 1: Amount \(ETB\) is "1,000"/,
			/Item 3: To User ID is empty/,
			/Item 4: Amount \(ETB\) is -1/,
		]) {
			expect(error?.description).toMatch(row);
		}
		expect(payments()).toEqual([]);
	});
});

describe('Map Automatically', () => {
	test('takes the fields of each item as they are', async () => {
		const items = itemsFor(names(3)).map(({ userId }, index) => ({
			toUserId: userId,
			amountEtb: index === 0 ? '10.50' : index + 1,
			reference: 1000 + index,
		}));
		const { output } = await pay(items, { fields: { mappingMode: 'autoMapInputData' } });
		expect(output.map(({ json }) => json.reference)).toEqual(['1000', '1001', '1002']);
		expect(payments().map((request) => bodyOf(request).get('amountEtb'))).toEqual([10.5, 2, 3]);
		const again = await pay(items, { fields: { mappingMode: 'autoMapInputData' } });
		expect(outcomes(again.output)).toEqual(Array(3).fill('alreadyPaid'));
	});

	test('takes no other column for a field', async () => {
		const items = itemsFor(names(1)).map(({ userId }) => ({
			toUserId: userId,
			amountEtb: 10,
			reference2: 'something else',
		}));
		const { output } = await pay(items, { fields: { mappingMode: 'autoMapInputData' } });
		expect(outcomes(output)).toEqual(['paid']);
		expect(output[0]?.json).not.toHaveProperty('reference');
	});

	test.each([
		['Reference', 'reference'],
		['to user id', 'toUserId'],
	])('pays nobody when a column is called %s', async (column, field) => {
		const items = itemsFor(names(2)).map(({ userId, name }) => {
			const { [field]: value, ...others }: IDataObject = {
				toUserId: userId,
				amountEtb: 10,
				reference: `pay-${name}`,
			};
			return { ...others, [field]: name === 'u0' ? '' : undefined, [column]: value };
		});
		const mapping = { fields: { mappingMode: 'autoMapInputData' } };
		const { error } = await pay(items, mapping);
		expect(error?.message).toBe('Nobody was paid, because 2 items cannot be used');
		expect(error?.description).toContain(
			`Item 1: The item has "${column}" where this node takes "${field}". Rename`,
		);
		const { errorOutput } = await pay(items, { ...mapping, onError: 'continueErrorOutput' });
		expect(outcomes(errorOutput)).toEqual(['notPaid', 'notPaid']);
		expect(payments()).toEqual([]);
	});
});

describe('a run that stops', () => {
	test.each(['eperm', 'EHOSTUNREACH'])(
		'tells all of it, also when the service mentions %s, which n8n takes for an error code',
		async (word) => {
			failFor(['u1'], reply(400, { message: `No housing (${word})` }));
			const options = { concurrency: 1 };
			const { error } = await pay(itemsFor(names(3)), { options });
			expect(error?.message).toBe(
				`The service refused the request (400). The service said: "No housing (${word})". This run: 1 paid, 1 not paid, 1 not attempted, total 10 ETB [item 1]`,
			);
			const alone = await pay(itemsFor(['u1']));
			expect(alone.error?.message).toBe(
				`The service refused the request (400). The service said: "No housing (${word})" [item 0]`,
			);
		},
	);

	test('lists what was paid, is unknown and was not attempted, all of it in the error data', async () => {
		failFor(['u29'], 'error500AfterPaying');
		const { error, output } = await pay(referenced(names(60)), { options: { concurrency: 5 } });
		expect(output).toEqual([]);
		expect(error?.message).toMatch(
			/^It is unknown whether etbw_u29 was paid 10 ETB\. The service failed \(500\).*\. This run: 29 paid, 1 unknown, 30 not attempted, total 290 ETB \[item 29\]$/,
		);
		const [first] = sandbox.books.disbursements();
		expect(error?.description).toContain(`item 0 pay-u0 (etbw_u0, 10 ETB, ${first?.txHash})`);
		expect(error?.description).toMatch(
			/^It may have been paid\. Ask the partner service .* Then set Mode to Settle Unknown .*\. It has a Reference, so another run does not pay it again before a person has settled it/,
		);
		expect(error?.description).toContain('and 9 more');
		expect(error?.description).toContain('Unknown, check with the partner service: item 29');
		const data = errorData(error);
		expect(rows(data.paid)).toHaveLength(29);
		expect(rows(data.notAttempted)).toHaveLength(30);
		expect(data).toMatchObject({
			outcome: 'unknown',
			httpCode: '500',
			unknown: [{ item: 29, reference: 'pay-u29', toUserId: 'etbw_u29', amountEtb: 10 }],
		});
		const hashes = new Set(sandbox.books.disbursements().map(({ txHash }) => txHash));
		for (const line of rows(data.paid)) {
			expect(hashes).toContain(new Map(Object.entries(Object(line) as object)).get('txHash'));
		}
		expect(paidNames()).toHaveLength(30);
	});

	test('names what is unknown before what was refused', async () => {
		sandbox.faults.plan('POST /disburse', (request) =>
			userOf(request) === 'u0' ? rejection : 'error500AfterPaying',
		);
		const { error } = await pay(itemsFor(names(2)));
		expect(error?.message).toMatch(
			/^It is unknown whether etbw_u1 was paid 10 ETB\. .*This run: 0 paid, 1 not paid, 1 unknown.*\[item 1\]$/,
		);
		expect(error?.description).toContain('Not paid: item 0 (etbw_u0, 10 ETB)');
	});

	test('lets those in flight end, and starts no other', async () => {
		failFor(['u2'], rejection);
		sandbox.setLatency(20);
		const { error } = await pay(itemsFor(names(40)), { options: { concurrency: 4 } });
		const sent = payments().length;
		expect(sent).toBeLessThanOrEqual(6);
		expect(rows(errorData(error).paid)).toHaveLength(sent - 1);
		expect(paidNames()).toHaveLength(sent - 1);
	});
});

describe('On Error', () => {
	test.each(['continueErrorOutput', 'continueRegularOutput'] as const)(
		'%s: each item is paired with its own source',
		async (onError) => {
			const faults = new Map<string, Fault | PresetName>([
				['u1', rejection],
				['u3', 'error500AfterPaying'],
				['u5', rejection],
			]);
			sandbox.faults.plan('POST /disburse', (request) => faults.get(userOf(request)));
			const result = await pay(referenced(names(7)), { onError, options: { concurrency: 3 } });
			const isError = ({ json }: INodeExecutionData): boolean => 'error' in json;
			const items = onError === 'continueErrorOutput' ? result.errorOutput : result.output;
			expect(result.error).toBeUndefined();
			expect(items.filter(isError).map((item) => [item.pairedItem, answerOf(item)])).toMatchObject(
				[1, 3, 5].map((item) => [
					{ item },
					{
						outcome: item === 3 ? 'unknown' : 'notPaid',
						reference: `pay-u${item}`,
						toUserId: `etbw_u${item}`,
						amountEtb: 10,
					},
				]),
			);
			const good = result.output.filter((item) => !isError(item));
			expect(good.map(({ pairedItem, json }) => [pairedItem, json.toUserId])).toEqual(
				[0, 2, 4, 6].map((item) => [{ item }, `etbw_u${item}`]),
			);
			if (onError === 'continueErrorOutput') {
				expect(result.errorOutput.map(({ json }) => json.name)).toEqual(['u1', 'u3', 'u5']);
			} else {
				expect(result.output.map(({ pairedItem }) => pairedItem)).toEqual(
					[0, 1, 2, 3, 4, 5, 6].map((item) => ({ item })),
				);
			}
			expect(result.hints.at(-1)).toBe('4 paid, 2 not paid, 1 unknown, total 40 ETB');
		},
	);

	test.each([1, 2, 7, 10, 64, 100])(
		'order and pairs hold at concurrency %i',
		async (concurrency) => {
			sandbox.faults.plan('POST /disburse', (request) => ({
				process: 'before-answer',
				answer: 'normal',
				delayMs: Number(userOf(request).slice(1)) % 3,
			}));
			const list = names(130);
			for (const items of [itemsFor(list), referenced(list)]) {
				const { output } = await pay(items, { options: { concurrency } });
				expect(output.map(({ pairedItem, json }) => [pairedItem, json.toUserId])).toEqual(
					list.map((name, item) => [{ item }, `etbw_${name}`]),
				);
			}
		},
		30_000,
	);
});

describe('Retry On Fail', () => {
	test('goes on where it stopped: nobody is paid twice', async () => {
		failFor(['u30'], rejection, 2);
		const { output, error } = await pay(itemsFor(names(50)), { retryOnFail: true, maxTries: 3 });
		expect(error).toBeUndefined();
		expect(outcomes(output)).toEqual(Array(50).fill('paid'));
		expect(output.map(({ json }) => json.toUserId)).toEqual(
			names(50).map((name) => `etbw_${name}`),
		);
		expect(paidNames()).toEqual(sorted(names(50)));
		expect(payments()).toHaveLength(52);
	});

	test('that gives up lists what all its tries paid', async () => {
		failFor(['u3'], rejection);
		const { error } = await pay(itemsFor(names(8)), {
			retryOnFail: true,
			maxTries: 2,
			options: { concurrency: 2 },
		});
		const paid = rows(errorData(error).paid);
		expect(paid).toHaveLength(sandbox.books.disbursements().length);
		expect(paid.length).toBeGreaterThanOrEqual(3);
	});

	describe('whose credential fails at the second try', () => {
		/** The payment to `rejected` is refused, and one that reaches the service spoils the credential. */
		const spoil = async (
			list: string[],
			rejected: string,
			onError?: RunOptions['onError'],
		): Promise<RunResult> => {
			const credential = credentialFor(sandbox);
			sandbox.faults.plan('POST /disburse', (request) => {
				credential.apiKey = '';
				return userOf(request) === rejected ? rejection : undefined;
			});
			return await pay(itemsFor(list), {
				credential,
				retryOnFail: true,
				maxTries: 2,
				options: { concurrency: 1 },
				onError,
			});
		};

		test.each([2, 3])('lists what the first paid, of %i items', async (count) => {
			const { error } = await spoil(names(count), `u${count - 1}`);
			expect(error?.message).toMatch(/^API Key is empty\. This run: \d paid/);
			expect(error?.description).toMatch(
				/^Enter the API key.*<br\/>Paid: item 0 \(etbw_u0, 10 ETB/,
			);
			expect(rows(errorData(error).paid)).toHaveLength(count - 1);
			expect(sandbox.books.disbursements()).toHaveLength(count - 1);
		});

		test('says of each item how it ended', async () => {
			const { output, errorOutput } = await spoil(names(2), 'u0', 'continueErrorOutput');
			expect(outcomes(output)).toEqual(['paid']);
			expect(outcomes(errorOutput)).toEqual(['notPaid']);
			expect(errorOutput[0] && answerOf(errorOutput[0]).message).toBe('API Key is empty');
		});
	});

	test('never sends again what is unknown', async () => {
		failFor(['u0'], 'error500AfterPaying');
		for (const onError of ['continueErrorOutput', undefined] as const) {
			sandbox.requests.length = 0;
			const result = await pay(itemsFor(names(1)), { retryOnFail: true, onError });
			expect(payments()).toHaveLength(1);
			expect(
				result.error?.message ?? answerOf(result.errorOutput[0] ?? { json: {} }).outcome,
			).toMatch(/failed \(500\)|unknown/);
		}
	});

	test('reports what was sent, not what an expression gives later', async () => {
		failFor(['u1'], rejection, 1);
		const { output } = await pay(itemsFor(names(2)), {
			retryOnFail: true,
			options: { concurrency: 1 },
			fields: { reference: '={{ $now.toMillis() }}-{{ $itemIndex }}' },
		});
		expect(outcomes(output)).toEqual(['paid', 'paid']);
		const marks = deduplicator.rows.get(`wf1:${nodeId}`) ?? [];
		expect(marks.filter((mark) => mark.startsWith('sent:'))).toEqual(
			output.map(
				({ json: { reference } }) => `sent:${typeof reference === 'string' ? reference : ''}`,
			),
		);
		expect(paidNames()).toEqual(['u0', 'u1']);
	});

	test('keeps to what was paid when an expression gives its reference to another item', async () => {
		sandbox.faults.plan('POST /disburse', (request) => {
			if (userOf(request) === 'u0') return rejection;
			// From now on, both items ask for the reference of the one that is paid.
			jest.spyOn(Math, 'random').mockReturnValue(0.9);
			return undefined;
		});
		const { output } = await pay(itemsFor(names(2)), {
			retryOnFail: true,
			maxTries: 2,
			onError: 'continueRegularOutput',
			options: { concurrency: 1 },
			fields: { reference: "={{ Math.random() < 0.5 ? 'pay-' + $json.name : 'pay-u1' }}" },
		});
		expect(output.map((item) => answerOf(item).message ?? item.json.outcome)).toEqual([
			'Reference is "pay-u1", which item 1 has too',
			'paid',
		]);
	});

	test('that meets a treasury without cover still lists what was paid', async () => {
		sandbox.books.setTreasuryBalance(20);
		failFor(['u1'], rejection, 1);
		sandbox.faults.plan('GET /balance', () =>
			payments().length > 0 ? reply(200, { data: { treasuryBalance: 1 } }) : undefined,
		);
		const { error } = await pay(itemsFor(names(2)), {
			retryOnFail: true,
			options: { checkBalance: true, concurrency: 1 },
		});
		expect(error?.message).toMatch(
			/^The treasury holds 1 ETB.*1 paid, 1 not attempted, total 10 ETB$/,
		);
		expect(rows(errorData(error).paid)).toHaveLength(1);
	});

	test('in one execution leaves another with the same items alone', async () => {
		const items = itemsFor(names(2));
		failFor(['u1'], rejection, 3);
		await pay(items, { retryOnFail: true, maxTries: 3 });
		await pay(items, { retryOnFail: true, maxTries: 3 });
		expect(paidNames()).toEqual(['u0', 'u0', 'u1']);
	});
});

describe('a retried execution', () => {
	test('sends nothing that has no reference', async () => {
		const { error } = await pay(itemsFor(names(2)), { mode: 'retry' });
		expect(error?.message).toMatch(/^This execution is a retry of an earlier one/);
		const { errorOutput } = await pay(itemsFor(names(2)), {
			mode: 'retry',
			onError: 'continueErrorOutput',
		});
		expect(outcomes(errorOutput)).toEqual(['unknown', 'unknown']);
		expect(payments()).toEqual([]);
	});

	test('sends nothing that has no reference, also in a sub-workflow of it', async () => {
		const { error } = await pay(itemsFor(names(2)), { calledIn: 'retry' });
		expect(error?.message).toMatch(/^This execution is a retry of an earlier one/);
		expect(payments()).toEqual([]);
	});

	test('goes on with references', async () => {
		failFor(['u2'], 'error500AfterPaying', 1);
		await pay(referenced(names(3)), { onError: 'continueErrorOutput' });
		const { output } = await pay(referenced([...names(3), 'new']), { mode: 'retry' });
		expect(outcomes(output)).toEqual(['alreadyPaid', 'alreadyPaid', 'unknown', 'paid']);
		expect(paidNames().filter((name) => name.startsWith('u'))).toEqual(names(3));
	});

	test('pays nobody when the node remembers no payments: it may have been made anew', async () => {
		await pay(referenced(names(2)));
		const anew = { nodeId: `${nodeId}-anew`, mode: 'retry' } as const;
		const { error } = await pay(referenced(names(2)), anew);
		expect(error?.message).toMatch(
			/a retry of an earlier one, and this node remembers no payments/,
		);
		const { errorOutput } = await pay(referenced(names(2)), {
			...anew,
			onError: 'continueErrorOutput',
		});
		expect(outcomes(errorOutput)).toEqual(['unknown', 'unknown']);
		expect(payments()).toHaveLength(2);
	});
});

describe('stopping the execution', () => {
	test.each([
		['with references', referenced],
		['without references', itemsFor],
	])('stops sending within those in flight, %s', async (kind, itemsOf) => {
		const concurrency = 4;
		let stop = (): void => undefined;
		let sentAtStop = 0;
		sandbox.faults.plan('POST /disburse', () => {
			if (payments().length === 6) {
				sentAtStop = 6;
				stop();
			}
			return { process: 'before-answer', answer: 'normal', delayMs: 5 };
		});
		await pay(itemsOf(names(60)), {
			options: { concurrency },
			retryOnFail: true,
			started: (engine) => (stop = () => engine.cancel()),
		});
		expect(sentAtStop).toBe(6);
		// What was in flight ends after the execution has: a run behind it in the same ledger shows that it did.
		sandbox.faults.clear();
		await pay(referenced(['last']));
		await pay(itemsFor(['last']));
		const sent = payments().filter((request) => userOf(request) !== 'last').length;
		expect(sent).toBeGreaterThanOrEqual(6);
		expect(sent).toBeLessThanOrEqual(6 + concurrency - 1);
		if (kind === 'without references') return;
		const { output } = await pay(referenced(names(60)));
		expect(new Set(outcomes(output))).toEqual(new Set(['alreadyPaid', 'paid']));
		expect(paidNames().filter((name) => name !== 'last')).toEqual(sorted(names(60)));
	});
});

describe('amounts', () => {
	const amountInBody = ({ bodyText }: ReceivedRequest): string | undefined =>
		/"amountEtb":([^,}]+)/.exec(bodyText)?.[1];

	/** Decimal texts of up to 15 digits in plain form, with at most so many decimals. */
	const amountText = (decimals: number): fc.Arbitrary<string> =>
		fc
			.tuple(
				fc.bigInt({ min: 1n, max: 999_999_999_999_999n }),
				fc.integer({ min: 0, max: decimals }),
			)
			.map(([digits, places]) => {
				const padded = String(digits).padStart(places + 1, '0');
				return places === 0
					? padded
					: `${padded.slice(0, -places)}.${padded.slice(-places)}`.replace(/\.?0+$/, '');
			});
	const amount = fc.oneof(
		fc.tuple(amountText(2), fc.constant(false)),
		fc.tuple(amountText(6), fc.constant(true)),
	);

	test('every accepted amount is sent as its decimal text', async () => {
		sandbox.books.setTreasuryBalance(1e21);
		const [item] = itemsFor(['u0']);
		await fc.assert(
			fc.asyncProperty(fc.array(amount, { minLength: 1, maxLength: 50 }), async (amounts) => {
				sandbox.requests.length = 0;
				const items = amounts.map(([text, asNumber]) => ({
					toUserId: item?.userId,
					amountEtb: asNumber ? Number(text) : text,
				}));
				const { error } = await pay(items, {
					fields: { mappingMode: 'autoMapInputData' },
					options: { concurrency: 1 },
				});
				expect(error).toBeUndefined();
				expect(payments().map(amountInBody)).toEqual(amounts.map(([text]) => text));
			}),
			{ numRuns: 30 },
		);
		const booked = sandbox.books.disbursements().slice(-payments().length);
		expect(booked.map(({ amountText: text }) => text)).toEqual(payments().map(amountInBody));
	});

	test.each(['maxAmountEtb', 'maxTotalEtb'])(
		'a limit (%s) that may be a thousand is refused',
		async (name) => {
			const { error } = await pay(itemsFor(['u0']), { options: { [name]: '5.000' } });
			expect(error?.message).toMatch(
				/^Maximum per .* is "5\.000", which has more than two decimals/,
			);
			expect(payments()).toEqual([]);
		},
	);

	test('sums from expressions go out without binary noise', async () => {
		for (const [expression, text] of [
			['={{ 0.1 + 0.2 }}', '0.3'],
			['={{ 1.1 * 3 }}', '3.3'],
			['={{ 4.35 * 100 }}', '435'],
			['={{ "1250.50" }}', '1250.5'],
			['={{ 1e3 }}', '1000'],
		]) {
			sandbox.requests.length = 0;
			await pay(itemsFor(['u0']), { fields: { amountEtb: expression } });
			expect(payments().map(amountInBody)).toEqual([text]);
		}
	});
});

test('a timeout is unknown, and another payment is not delayed by it', async () => {
	withShortTimeoutsFor('timeoutAfterPaying');
	failFor(['u0'], 'timeoutAfterPaying');
	const { output, errorOutput } = await pay(itemsFor(names(4)), {
		onError: 'continueErrorOutput',
		options: { timeout: 1500 },
	});
	expect([outcomes(errorOutput), outcomes(output)]).toEqual([
		['unknown'],
		['paid', 'paid', 'paid'],
	]);
	expect(paidNames()).toEqual(names(4));
});
