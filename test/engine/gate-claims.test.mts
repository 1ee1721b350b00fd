/** Payments that the pay gate handed out: a claim pays once, in the execution that made it, in time, and nothing else is said to be not paid. */
import { randomUUID } from 'node:crypto';
import type { IDataObject, INode, INodeParameters } from 'n8n-workflow';
import type { RunOptions, RunResult } from '../../lab/engine/engine.mts';
import { credentialFor, deduplicator, runNode, updatePackage } from '../../lab/engine/engine.mts';
import { answerOf, nodeId, outcomesOf, payInEachTest, sandbox } from '../../lab/engine/paying.mts';

let executions = 0;
let executionId: string;

payInEachTest();
beforeEach(() => {
	executionId = `gate-execution-${++executions}`;
});

const HALF_OF_THE_LEASE_MS = 450_000;
const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();

/** What the gate hands out for these people, 10 ETB each, under one claim. */
function handedOut(
	names: string[],
	changes: IDataObject = {},
): Array<IDataObject & { claim: string }> {
	const claim = randomUUID();
	return names.map((name) => ({
		reference: `pay-${name}`,
		toUserId: sandbox.books.addUser({ externalId: name }).id,
		amountEtb: '10',
		claim,
		notAfter: inMs(HALF_OF_THE_LEASE_MS),
		execution: `wf1/${executionId}`,
		...changes,
	}));
}

/** As gate/pay-gate.json calls the node, which leaves the fields of the gate at their defaults. */
async function pay(
	items: IDataObject[],
	run: Partial<RunOptions> = {},
	parameters: INodeParameters = {},
): Promise<RunResult> {
	return await runNode({
		credential: credentialFor(sandbox),
		parameters: { resource: 'disbursement', operation: 'payClaims', ...parameters },
		items,
		nodeId,
		executionId,
		onError: 'continueRegularOutput',
		...run,
	});
}

const messageOf = ({ output: [first] }: RunResult): unknown => first && answerOf(first).message;
const payments = (): number => sandbox.books.disbursements().length;
const USED = 'Not sent: its claim was used before, and it may have been sent then';

test('what was handed out is paid, and a reference in it is not told', async () => {
	const result = await pay(handedOut(['a', 'b']));
	expect(outcomesOf(result)).toEqual(['paid', 'paid']);
	expect(result.output[0]?.json).not.toHaveProperty('reference');
	expect(payments()).toBe(2);
});

describe('a claim that was used is unknown, and nothing is sent', () => {
	const others: [string, () => Promise<Partial<RunOptions>>][] = [
		['by the node', async () => await Promise.resolve({})],
		['by another node of the execution', async () => await Promise.resolve({ nodeId: 'other' })],
		[
			'by the node in another process',
			async () => {
				const node = await updatePackage();
				return { currentNode: () => node };
			},
		],
		['by the node, to be tried out now', async () => await Promise.resolve({ mode: 'retry' })],
	];
	test.each(others)('%s', async (_who, changed) => {
		const items = handedOut(['a', 'b']);
		expect(outcomesOf(await pay(items))).toEqual(['paid', 'paid']);
		const late = items.map((item) => ({ ...item, notAfter: inMs(-1) }));
		for (const again of [items, late]) {
			const result = await pay(again, await changed());
			expect(outcomesOf(result)).toEqual(['unknown', 'unknown']);
			expect(messageOf(result)).toBe(USED);
		}
		expect(payments()).toBe(2);
	});

	test('also those of its items that cannot be used now, and with a credential that is gone', async () => {
		const items = handedOut(['a', 'b']);
		await pay(items);
		const [first, second] = items;
		const bad = [
			{ ...first, amountEtb: 'ten' },
			{ ...second, notAfter: '' },
		];
		expect(outcomesOf(await pay(bad))).toEqual(['unknown', 'unknown']);
		const credential = credentialFor(sandbox, { apiKey: '' });
		expect(outcomesOf(await pay(items, { credential }))).toEqual(['unknown', 'unknown']);
		expect(outcomesOf(await pay(items, {}, { options: { timeout: 0 } }))).toEqual([
			'unknown',
			'unknown',
		]);
	});

	test('also what a run refused because of its credential', async () => {
		const refused = handedOut(['b']);
		const credential = credentialFor(sandbox, { apiKey: '' });
		expect(outcomesOf(await pay(refused, { credential }))).toEqual(['notPaid']);
		expect(outcomesOf(await pay(refused))).toEqual(['unknown']);
		expect(payments()).toBe(0);
	});

	test('when it is written in another way', async () => {
		const items = handedOut(['a']);
		await pay(items);
		const shouted = items.map((item) => ({
			...item,
			claim: ` ${item.claim} `.toUpperCase(),
		}));
		expect(outcomesOf(await pay(shouted))).toEqual(['unknown']);
		expect(payments()).toBe(1);
	});

	test('in two runs at once only one of them sends', async () => {
		const items = handedOut(['a', 'b']);
		const results = await Promise.all([pay(items), pay(items)]);
		expect(results.flatMap(outcomesOf).sort()).toEqual(['paid', 'paid', 'unknown', 'unknown']);
		expect(payments()).toBe(2);
	});

	test('without On Error the run stops, and says what protects it', async () => {
		const items = handedOut(['a']);
		await pay(items);
		const { error } = await pay([...items, ...handedOut(['b'])], { onError: undefined });
		expect(error?.message).toMatch(/^It is unknown whether etbw_a was paid 10 ETB\. Not sent/);
		expect(error?.description).toMatch(/The pay gate does not hand it out again/);
		expect(payments()).toBe(1);
	});
});

describe('a claim of another execution is unknown', () => {
	test.each([
		['of this workflow', 'wf1/other'],
		['of a workflow that it was copied from', 'wf0/'],
	])('%s, and stays usable for that one', async (_whose, execution) => {
		const theirs = execution.endsWith('/') ? `${execution}${executionId}` : execution;
		const items = handedOut(['a'], { execution: theirs });
		for (const changes of [{}, { notAfter: inMs(-1) }, { claim: '' }, { amountEtb: '' }]) {
			const result = await pay(items.map((item) => ({ ...item, ...changes })));
			expect(outcomesOf(result)).toEqual(['unknown']);
			expect(messageOf(result)).toBe(
				`Not sent: it was claimed by another execution ("${theirs}"), which may have sent it`,
			);
		}
		expect(payments()).toBe(0);
		if (theirs === 'wf1/other') {
			expect(outcomesOf(await pay(items, { executionId: 'other' }))).toEqual(['paid']);
		}
	});

	test('also with a credential that is gone', async () => {
		const credential = credentialFor(sandbox, { apiKey: '' });
		const items = handedOut(['a'], { execution: 'wf1/other' });
		expect(outcomesOf(await pay(items, { credential }))).toEqual(['unknown']);
	});
});

describe('in time', () => {
	test('what comes too late is not paid', async () => {
		const items = [...handedOut(['a'], { notAfter: inMs(-1) }), ...handedOut(['b'])];
		expect(outcomesOf(await pay(items))).toEqual(['notPaid', 'paid']);
		expect(payments()).toBe(1);
	});

	/** Lets the process stand still while the service answers the first of four payments, one after the other. */
	async function standingStill(clocks: () => void): Promise<RunResult> {
		const items = handedOut(['a', 'b', 'c', 'd']);
		sandbox.faults.plan('POST /disburse', () => {
			clocks();
			return undefined;
		});
		return await pay(items, {}, { options: { concurrency: 1 } });
	}

	test('a process that stood still sends no more', async () => {
		const { now } = Date;
		let passedMs = 0;
		jest.spyOn(Date, 'now').mockImplementation(() => now() + passedMs);
		const result = await standingStill(() => (passedMs = HALF_OF_THE_LEASE_MS));
		expect(outcomesOf(result)).toEqual(['paid', 'notPaid', 'notPaid', 'notPaid']);
		expect(payments()).toBe(1);
	});

	test('a clock that is set back gives no more time', async () => {
		const { now } = Date;
		const monotonic = performance.now.bind(performance);
		let passedMs = 0;
		jest.spyOn(Date, 'now').mockImplementation(() => now() - 2 * passedMs);
		jest.spyOn(performance, 'now').mockImplementation(() => monotonic() + passedMs);
		const result = await standingStill(() => (passedMs = HALF_OF_THE_LEASE_MS));
		expect(outcomesOf(result)).toEqual(['paid', 'notPaid', 'notPaid', 'notPaid']);
	});

	test('the tries of Retry On Fail share the time', async () => {
		const { now } = Date;
		const monotonic = performance.now.bind(performance);
		let passedMs = 0;
		jest.spyOn(Date, 'now').mockImplementation(() => now() - 2 * passedMs);
		jest.spyOn(performance, 'now').mockImplementation(() => monotonic() + passedMs);
		sandbox.faults.plan('POST /disburse', () => {
			passedMs = HALF_OF_THE_LEASE_MS;
			return { process: 'never', answer: { status: 400, body: '{}' } };
		});
		const result = await pay(handedOut(['a']), { retryOnFail: true });
		expect(outcomesOf(result)).toEqual(['notPaid']);
		expect(sandbox.requests).toHaveLength(1);
	});

	test('a payment does not go on for longer than half of the lease', async () => {
		sandbox.faults.next('POST /disburse', 'timeoutAfterPaying');
		const result = await pay(handedOut(['a'], { notAfter: inMs(1_000) }));
		expect(outcomesOf(result)).toEqual(['unknown']);
	});
});

describe('the record', () => {
	test('that cannot be written sends nothing, and Retry On Fail asks it again', async () => {
		const record = jest.spyOn(deduplicator, 'checkProcessedAndRecord');
		record.mockRejectedValue(new Error('disk full'));
		const items = handedOut(['a', 'b']);
		const result = await pay(items);
		expect(outcomesOf(result)).toEqual(['notPaid', 'notPaid']);
		expect(messageOf(result)).toBe(
			'The claim could not be recorded in the database of n8n, so nothing was sent',
		);
		expect(payments()).toBe(0);
		// Its claim was told not paid, so it is used up.
		record.mockRestore();
		expect(outcomesOf(await pay(items))).toEqual(['unknown', 'unknown']);

		const failing = jest.spyOn(deduplicator, 'checkProcessedAndRecord');
		for (let failures = 0; failures < 5; failures++)
			failing.mockRejectedValueOnce(new Error('disk full'));
		const tried = await pay(handedOut(['c']), { retryOnFail: true });
		expect(outcomesOf(tried)).toEqual(['paid']);
	});

	test('that cannot be written leaves a claim that was used unknown', async () => {
		const [first] = handedOut(['a']);
		await pay([first ?? {}]);
		jest.spyOn(deduplicator, 'checkProcessedAndRecord').mockRejectedValue(new Error('no database'));
		const both = await pay([first ?? {}, ...handedOut(['b'])]);
		expect(outcomesOf(both)).toEqual(['unknown', 'notPaid']);
		expect(payments()).toBe(1);
	});

	test('Retry On Fail goes on with the claims of its own run, and sends only what was refused', async () => {
		const refusal = { process: 'never', answer: { status: 400, body: '{}' } } as const;
		sandbox.faults.next('POST /disburse', refusal);
		const options = { retryOnFail: true, onError: undefined };
		const { output } = await pay(handedOut(['a', 'b']), options, { options: { concurrency: 2 } });
		expect(output.map(({ json }) => json.outcome)).toEqual(['paid', 'paid']);
		expect(payments()).toBe(2);
		expect(sandbox.requests).toHaveLength(3);
	});

	test('keeps the newest 5,000 claims, and no fewer references', async () => {
		const row = `wf1:${nodeId}`;
		const claims = Array.from({ length: 6_000 }, (_, index) => `claim:old ${index}`);
		deduplicator.rows.set(row, ['claim:first', ...claims]);
		const items = handedOut(['a']);
		expect(outcomesOf(await pay(items))).toEqual(['paid']);
		const kept = deduplicator.rows.get(row) ?? [];
		expect(kept).toHaveLength(5_000);
		expect(kept.at(-1)).toBe(`claim:${items[0]?.claim}`);
		const node = await updatePackage();
		expect(outcomesOf(await pay(items, { currentNode: () => node }))).toEqual(['unknown']);

		deduplicator.rows.delete(row);
		const referenced = { toUserId: items[0]?.toUserId, amountEtb: 10, reference: 'kept' };
		const asNode = {
			operation: 'create',
			toUserId: '={{ $json.toUserId }}',
			amountEtb: '={{ $json.amountEtb }}',
			reference: '={{ $json.reference }}',
		};
		expect(outcomesOf(await pay([referenced], {}, asNode))).toEqual(['paid']);
		deduplicator.rows.get(row)?.push(...claims);
		expect(outcomesOf(await pay(handedOut(['b'])))).toEqual(['paid']);
		expect(outcomesOf(await pay([referenced], {}, asNode))).toEqual(['alreadyPaid']);
	});
});

describe('what cannot be used is refused like every other item', () => {
	test('an item that something repeated, both times', async () => {
		const [first = {}, second = {}] = handedOut(['a', 'b']);
		const result = await pay([first, second, { ...first }]);
		expect(outcomesOf(result)).toEqual(['notPaid', 'paid', 'notPaid']);
		expect(messageOf(result)).toBe('Another item is the same payment');
		expect(payments()).toBe(1);
	});

	test.each<[string, IDataObject]>([
		['with another field that differs', { phone: '1' }],
		['with its amount in another form', { amountEtb: 10 }],
		['with its reference in capitals', { reference: 'PAY-A' }],
		['with blanks in its reference', { reference: ' pay - a\n' }],
		['with its reference in full width', { reference: 'ｐay-a' }],
	])('also %s', async (_how, changes) => {
		const [first = {}] = handedOut(['a']);
		const result = await pay([first, { ...first, ...changes }]);
		expect(outcomesOf(result)).toEqual(['notPaid', 'notPaid']);
		expect(messageOf(result)).toBe('Another item is the same payment');
		expect(payments()).toBe(0);
	});

	test.each([
		['straße', 'STRASSE'],
		['ΟΔΟΣ', 'οδος'],
	])('also with its reference %s as %s', async (reference, other) => {
		const [first = {}] = handedOut(['a'], { reference });
		const result = await pay([first, { ...first, reference: other }]);
		expect(outcomesOf(result)).toEqual(['notPaid', 'notPaid']);
	});

	test('also with its reference as a number', async () => {
		const [first = {}] = handedOut(['a'], { reference: '1042' });
		expect(outcomesOf(await pay([first, { ...first, reference: 1042 }]))).toEqual([
			'notPaid',
			'notPaid',
		]);
		expect(payments()).toBe(0);
	});

	test.each([
		['has no reference', undefined, 'The item has no reference'],
		['has null for it', null, 'The item has no reference'],
		['has a character in it that nobody sees', 'pay-a\u200b', /invisible character \(U\+200B\)/],
	])('an item that %s: it could be another one once more', async (_what, reference, message) => {
		const [first = {}] = handedOut(['a']);
		const result = await pay([{ ...first, reference } as IDataObject, first]);
		expect(outcomesOf(result)).toEqual(['notPaid', 'paid']);
		expect(messageOf(result)).toMatch(message);
		expect(payments()).toBe(1);
	});

	test('all items, where the workflow has a second node that pays claims', async () => {
		const items = handedOut(['a', 'b']);
		const refused = await pay(items, {
			behind: { parameters: { resource: 'disbursement', operation: 'payClaims' } },
		});
		expect(outcomesOf(refused)).toEqual(['notPaid', 'notPaid']);
		expect(messageOf(refused)).toBe(
			'This workflow has two nodes that pay claims: "ETB Wallet" and "Behind"',
		);
		expect(payments()).toBe(0);
	});

	test('all that cannot be read, without an amount that is none', async () => {
		const items = handedOut(['a', 'b']);
		await pay(items);
		const bad = items.map((item) => ({ ...item, toUserId: '', amountEtb: '' }));
		const { error } = await pay(bad, { onError: undefined });
		expect(error?.message).toMatch(
			/^It is unknown whether somebody was paid, and the same of 1 more\. Not sent/,
		);
	});

	test.each<[string, Partial<INode>]>([
		['is turned off', { disabled: true }],
		['does something else', { parameters: { resource: 'balance', operation: 'get' } }],
		['does something else now', { parameters: { resource: 'balance', operation: 'payClaims' } }],
	])('not where the second node %s', async (_what, behind) => {
		expect(outcomesOf(await pay(handedOut(['a']), { behind }))).toEqual(['paid']);
	});

	test.each([
		['claim', '', /^Claim is empty/],
		['claim', undefined, /^Claim is empty/],
		['claim', 'pay-1', /^Claim is "pay-1", which is not a claim of the pay gate/],
		['claim', { id: 1 }, /^Claim is .*which is not text/],
		['notAfter', '', /^Not After is empty/],
		['notAfter', 'tomorrow', /^Not After is "tomorrow", which is not a time of the pay gate/],
		['notAfter', '2026-02-30T25:00:00Z', /which is not a time of the pay gate/],
		['notAfter', inMs(13 * 3_600_000), /which is not a time of the pay gate/],
		['execution', undefined, /^Claimed by Execution is empty/],
	])('%s %p', async (field, value, message) => {
		const [item] = handedOut(['a']);
		const [other] = handedOut(['b']);
		if (item === undefined || other === undefined) throw new Error('no items');
		const result = await pay([{ ...item, [field]: value } as IDataObject, other]);
		expect(outcomesOf(result)).toEqual(['notPaid', 'paid']);
		expect(messageOf(result)).toMatch(message);
		const stopped = await pay([{ ...item, [field]: value } as IDataObject, other], {
			onError: undefined,
			executionId: 'stopped',
		});
		expect(stopped.error).toBeDefined();
		expect(payments()).toBe(1);
	});
});

test('an evaluation of n8n sends nothing, and uses no claim up', async () => {
	const items = handedOut(['a']);
	expect(outcomesOf(await pay(items, { mode: 'evaluation' }))).toEqual(['ready']);
	expect(outcomesOf(await pay(items))).toEqual(['paid']);
	expect(payments()).toBe(1);
});

test('a run that is refused as a whole names whom it is about', async () => {
	const items = handedOut(['a', 'b']);
	const credential = credentialFor(sandbox, { apiKey: '' });
	const { output } = await pay(items, { credential });
	expect(output.map(answerOf)).toMatchObject(
		items.map(({ toUserId }) => ({ outcome: 'notPaid', toUserId, message: 'API Key is empty' })),
	);
});

test('n8n’s Retry execution pays what was handed out to it', async () => {
	expect(outcomesOf(await pay(handedOut(['a', 'b']), { mode: 'retry' }))).toEqual(['paid', 'paid']);
});
