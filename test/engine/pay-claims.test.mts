/**
 * Payments that the pay gate handed out: a claim pays once, in the execution that made it, in time, and nothing
 * else is said to be not paid.
 */
import { randomUUID } from 'node:crypto';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import type { NodeRun, RunResult } from '../support/engine/engine.mts';
import { credentialFor, runNode } from '../support/engine/engine.mts';
import { property } from '../../nodes/shared/unknownValues.ts';
import { resultIn, nodeId, codesOf, payInEachTest, sandbox } from '../support/engine/paying.mts';

let executions = 0;
let executionId: string;

payInEachTest();
beforeEach(() => {
	executionId = `gate-execution-${++executions}`;
});

const HALF_OF_THE_LEASE_MS = 450_000;
const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();

/** The claim of the gate for these people, 10 ETB each, under one claim. */
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

/** As the workflow of the pay gate calls the node, which leaves the fields of the gate at their defaults. */
async function pay(
	items: IDataObject[],
	run: Partial<NodeRun> = {},
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

const messageOf = ({ output: [first] }: RunResult): unknown => first && resultIn(first).message;
const payments = (): number => sandbox.books.disbursements().length;

test('what was handed out is paid, and a reference in it is not told', async () => {
	const result = await pay(handedOut(['a', 'b']));
	expect(codesOf(result)).toEqual(['paid', 'paid']);
	expect(result.output[0]?.json).not.toHaveProperty('reference');
	expect(payments()).toBe(2);
});

describe('a claim that was used is unknown, and nothing is sent', () => {
	const others: [string, Partial<NodeRun>][] = [
		['by the node', {}],
		['by another node of the execution', { nodeId: 'other' }],
		['by the node, to be tried out now', { mode: 'retry' }],
	];
	test.each(others)('%s', async (_who, changed) => {
		const items = handedOut(['a', 'b']);
		expect(codesOf(await pay(items))).toEqual(['paid', 'paid']);
		const late = items.map((item) => ({ ...item, notAfter: inMs(-1) }));
		for (const again of [items, late]) {
			const result = await pay(again, changed);
			expect(codesOf(result)).toEqual(['claimUsed', 'claimUsed']);
		}
		expect(payments()).toBe(2);
	});

	test('also those of its items that cannot be used now, and with a credential that is gone', async () => {
		const items = handedOut(['a', 'b']);
		await pay(items);
		const [first, second] = items;
		const bad = await pay([
			{ ...first, amountEtb: 'ten' },
			{ ...second, notAfter: '' },
		]);
		expect(codesOf(bad)).toEqual(['claimUsed', 'claimUsed']);
		const credential = credentialFor(sandbox, { apiKey: '' });
		expect(codesOf(await pay(items, { credential }))).toEqual(['claimUsed', 'claimUsed']);
		const never = await pay(items, {}, { options: { timeout: 0 } });
		expect(codesOf(never)).toEqual(['claimUsed', 'claimUsed']);
	});

	test('also one that could not be used at first', async () => {
		const claims = handedOut(['a']);
		expect(codesOf(await pay(claims.map((item) => ({ ...item, notAfter: '' }))))).toEqual([
			'invalid',
		]);
		expect(codesOf(await pay(claims))).toEqual(['claimUsed']);
	});

	test('also what a run refused because of its credential', async () => {
		const refused = handedOut(['b']);
		const credential = credentialFor(sandbox, { apiKey: '' });
		expect(codesOf(await pay(refused, { credential }))).toEqual(['settings']);
		expect(codesOf(await pay(refused))).toEqual(['claimUsed']);
		expect(payments()).toBe(0);
	});

	test('when it is written in another way', async () => {
		const items = handedOut(['a']);
		await pay(items);
		const shouted = items.map((item) => ({ ...item, claim: ` ${item.claim} `.toUpperCase() }));
		expect(codesOf(await pay(shouted))).toEqual(['claimUsed']);
		expect(payments()).toBe(1);
	});

	test('in two runs at once only one of them sends', async () => {
		const items = handedOut(['a', 'b']);
		const results = await Promise.all([pay(items), pay(items)]);
		expect(results.flatMap(codesOf).sort()).toEqual(['claimUsed', 'claimUsed', 'paid', 'paid']);
		expect(payments()).toBe(2);
	});

	test('without On Error the run stops, and says what protects it', async () => {
		const items = handedOut(['a']);
		await pay(items);
		const { error } = await pay([...items, ...handedOut(['b'])], { onError: undefined });
		expect(error?.message).toMatch(/^It is unknown whether etbw_a was paid 10 ETB\. Not sent/);
		expect(error?.description).toMatch(/Call the pay gate again/);
		// The other claim is good, and was paid.
		expect(payments()).toBe(2);
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
			expect(codesOf(result)).toEqual(['claimUsed']);
		}
		expect(payments()).toBe(0);
		if (theirs === 'wf1/other') {
			expect(codesOf(await pay(items, { executionId: 'other' }))).toEqual(['paid']);
		}
	});

	test('also with a credential that is gone', async () => {
		const credential = credentialFor(sandbox, { apiKey: '' });
		const items = handedOut(['a'], { execution: 'wf1/other' });
		expect(codesOf(await pay(items, { credential }))).toEqual(['claimUsed']);
	});
});

describe('in time', () => {
	test('what comes too late is not paid', async () => {
		const items = [...handedOut(['a'], { notAfter: inMs(-1) }), ...handedOut(['b'])];
		expect(codesOf(await pay(items))).toEqual(['notReached', 'paid']);
		expect(payments()).toBe(1);
	});

	/** Sets both clocks ahead, that on the wall by `wall` times as much; nothing until the returned function is called. */
	function clocks(wall: number): () => void {
		const { now } = Date;
		const monotonic = performance.now.bind(performance);
		let passedMs = 0;
		jest.spyOn(Date, 'now').mockImplementation(() => now() + wall * passedMs);
		jest.spyOn(performance, 'now').mockImplementation(() => monotonic() + passedMs);
		return () => (passedMs = HALF_OF_THE_LEASE_MS);
	}

	test.each([
		['after the process stood still', 1],
		['although the clock is set back', -2],
	])('nothing more is sent %s', async (_when, wall) => {
		const pass = clocks(wall);
		sandbox.faults.plan('POST /disburse', () => {
			pass();
			return undefined;
		});
		const items = handedOut(['a', 'b', 'c', 'd']);
		const result = await pay(items, {}, { options: { concurrency: 1 } });
		expect(codesOf(result)).toEqual(['paid', 'notReached', 'notReached', 'notReached']);
		expect(payments()).toBe(1);
	});

	test('the tries of Retry On Fail share the time', async () => {
		const pass = clocks(-2);
		sandbox.faults.plan('POST /disburse', () => {
			pass();
			return { process: 'never', response: { status: 400, body: '{}' } };
		});
		const run = { retryOnFail: true, onError: 'continueErrorOutput' } as const;
		const result = await pay(handedOut(['a']), run);
		expect(codesOf(result)).toEqual(['notReached']);
		expect(sandbox.requests).toHaveLength(1);
	});

	test('a payment that begins late has the whole half of the lease for its response', async () => {
		const clock = jest.spyOn(Date, 'now');
		sandbox.faults.plan('POST /disburse', ({ body }) => {
			if (property(body, 'toUserId') === 'etbw_b')
				return { process: 'before-response', response: 'normal', delayMs: 2_200 };
			const later = Date.now() + 18_000;
			clock.mockReturnValue(later);
			return undefined;
		});
		const items = handedOut(['a', 'b'], { notAfter: inMs(20_000) });
		const result = await pay(items, {}, { options: { concurrency: 1 } });
		expect(codesOf(result)).toEqual(['paid', 'paid']);
	});

	test('a payment does not go on for longer than half of the lease', async () => {
		sandbox.faults.next('POST /disburse', 'timeoutAfterPaying');
		const result = await pay(handedOut(['a'], { notAfter: inMs(1_000) }));
		expect(codesOf(result)).toEqual(['noResponse']);
	});
});

test('a claim is still used after thousands of others', async () => {
	const [first = { claim: '' }] = handedOut(['a']);
	expect(codesOf(await pay([first]))).toEqual(['paid']);
	const others = Array.from({ length: 3_000 }, (_, index) => ({
		...first,
		claim: randomUUID(),
		reference: `other-${index}`,
		toUserId: '',
	}));
	await pay(others);
	expect(codesOf(await pay([first]))).toEqual(['claimUsed']);
});

test('stopping the execution stops sending within those in flight', async () => {
	let stop = (): void => undefined;
	sandbox.faults.plan('POST /disburse', () => {
		stop();
		return { process: 'before-response', response: 'normal', delayMs: 5 };
	});
	const names = Array.from({ length: 20 }, (_, index) => `u${index}`);
	await pay(
		handedOut(names),
		{ started: (engine) => (stop = () => engine.cancel()) },
		{ options: { concurrency: 2 } },
	);
	expect(sandbox.requests.length).toBeLessThanOrEqual(2);
	// A payment in flight ends after the execution has, and nothing follows it.
	expect(codesOf(await pay(handedOut(['last'])))).toEqual(['paid']);
	expect(sandbox.requests.length).toBeLessThanOrEqual(3);
});

test('Retry On Fail goes on with the claims of its own run, and sends only what was refused', async () => {
	const refusal = { process: 'never', response: { status: 400, body: '{}' } } as const;
	sandbox.faults.next('POST /disburse', refusal);
	const options = { retryOnFail: true, onError: undefined };
	const { output } = await pay(handedOut(['a', 'b']), options, { options: { concurrency: 2 } });
	expect(output.map(({ json }) => json.code)).toEqual(['paid', 'paid']);
	expect(payments()).toBe(2);
	expect(sandbox.requests).toHaveLength(3);
});

describe('what cannot be used is refused like every other item', () => {
	test.each<[string, string, unknown]>([
		['with blanks around it', 'pay-a', ' pay-a\n'],
		['with its reference as a number', '1042', 1042],
		['without a reference', 'pay-a', undefined],
	])('the whole run, for an item that something repeated %s', async (_how, reference, other) => {
		const [first = {}, second = {}] = handedOut(['a', 'b'], { reference });
		const items = [
			first,
			{ ...second, reference: 'pay-b' },
			{ ...first, reference: other } as IDataObject,
		];
		const result = await pay(items);
		expect(codesOf(result)).toEqual(['settings', 'settings', 'settings']);
		const { error } = await pay(handedOut(['c', 'd'], { reference }), { onError: undefined });
		expect(error?.message).toMatch(/Nobody was paid$/);
		expect(payments()).toBe(0);
		// They were told as not paid, so their claims are used up.
		expect(codesOf(await pay(items.slice(0, 2)))).toEqual(['claimUsed', 'claimUsed']);
	});

	test('one item with the reference of another in capitals, before anything is sent', async () => {
		const [first = {}, second = {}, third = {}] = handedOut(['a', 'b', 'c']);
		const result = await pay([first, { ...second, reference: 'PAY-A' }, third]);
		expect(codesOf(result)).toEqual(['paid', 'invalid', 'paid']);
		expect(payments()).toBe(2);
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

	test.each([
		['claim', undefined, /^Claim is empty/],
		['claim', 'pay-1', /^Claim is "pay-1", which is not a claim of the pay gate/],
		['claim', { id: 1 }, /^Claim is .*which is not text/],
		['notAfter', '', /^Not After is empty/],
		['notAfter', 'tomorrow', /^Not After is "tomorrow", which is not a time of the pay gate/],
		['notAfter', inMs(13 * 3_600_000), /which is not a time of the pay gate/],
		['execution', undefined, /^Claimed by Execution is empty/],
	])('%s %p', async (field, value, message) => {
		const [item] = handedOut(['a']);
		const [other] = handedOut(['b']);
		if (item === undefined || other === undefined) throw new Error('no items');
		const result = await pay([{ ...item, [field]: value } as IDataObject, other]);
		expect(codesOf(result)).toEqual(['invalid', 'paid']);
		expect(messageOf(result)).toMatch(message);
		const stopped = await pay([{ ...item, [field]: value } as IDataObject, other], {
			onError: undefined,
			executionId: 'stopped',
		});
		expect(stopped.error).toBeDefined();
		expect(payments()).toBe(1);
	});
});

test('an evaluation of n8n sends nothing, and a claim of another execution stays unknown', async () => {
	const items = handedOut(['a']);
	expect(codesOf(await pay(items, { mode: 'evaluation' }))).toEqual(['ready']);
	const pinned = items.map((item) => ({ ...item, execution: 'test/another' }));
	expect(codesOf(await pay(pinned, { mode: 'evaluation' }))).toEqual(['claimUsed']);
	expect(payments()).toBe(0);
});

test('a run that is refused as a whole names whom it is about', async () => {
	const items = handedOut(['a', 'b']);
	const credential = credentialFor(sandbox, { apiKey: '' });
	const { output } = await pay(items, { credential });
	expect(output.map(resultIn)).toMatchObject(
		items.map(({ toUserId }) => ({ code: 'settings', toUserId, amountEtb: 10 })),
	);
});

test('n8n’s Retry execution pays what was handed out to it', async () => {
	expect(codesOf(await pay(handedOut(['a', 'b']), { mode: 'retry' }))).toEqual(['paid', 'paid']);
});
