/** What references cost: how often ten windows of payments read or write the one row that n8n keeps for the node. */
import type { INodeParameters } from 'n8n-workflow';
import type { Sandbox } from '../../sandbox/sandbox.mts';
import { withoutPauses } from '../support/engine/calls.mts';
import { deduplicator } from '../support/engine/engine.mts';
import { pay, payInEachTest, sandbox } from '../support/engine/paying.mts';

const windows = 10;
const concurrency = 10;

payInEachTest();

const items = () =>
	Array.from({ length: windows * concurrency }, (_, index) => ({
		toUserId: `etbw_u${index}`,
		amountEtb: 1,
		reference: `r${index}`,
	}));

async function run(fields: INodeParameters = {}): Promise<void> {
	await pay(items(), { options: { concurrency }, ...fields }, { onError: 'continueErrorOutput' });
}

/** How often the row of the node is read or written: recording and removing do both. */
async function accesses(work: () => Promise<void>): Promise<number> {
	let count = 0;
	const counted = [
		['checkProcessedAndRecord', 2, 1],
		['removeProcessed', 2, 1],
		['getProcessedDataCount', 1, 0],
	] as const;
	for (const [method, each, scopeAt] of counted) {
		const call: (...given: never[]) => Promise<unknown> = deduplicator[method];
		jest.spyOn(deduplicator, method).mockImplementation((async (...given: never[]) => {
			if (given[scopeAt] === 'node') count += each;
			return await call(...given);
		}) as never);
	}
	await work();
	jest.restoreAllMocks();
	withoutPauses();
	return count;
}

beforeEach(() => {
	for (const { toUserId } of items())
		sandbox.books.addUser({ externalId: toUserId.replace('etbw_', '') });
});

/** Of each window, the first payment ends so. */
function oneInTen(fault: Parameters<Sandbox['faults']['next']>[1]): void {
	sandbox.faults.plan('POST /disburse', ({ bodyText }) =>
		/"etbw_u\d*0"/.test(bodyText) ? fault : undefined,
	);
}

test('fresh payments', async () => {
	expect(await accesses(run)).toBe(23);
});

test('payments that were made before', async () => {
	await run();
	expect(await accesses(run)).toBeLessThanOrEqual(61);
});

test('one payment in ten is refused', async () => {
	oneInTen({ process: 'never', answer: { status: 422, body: '{}' } });
	expect(await accesses(run)).toBeLessThanOrEqual(43);
});

test('one payment in ten ends unknown, and is asked for again', async () => {
	oneInTen('error500BeforePaying');
	expect(await accesses(run)).toBeLessThanOrEqual(63);
	sandbox.faults.clear();
	expect(await accesses(run)).toBeLessThanOrEqual(121);
});

test('dry runs', async () => {
	expect(await accesses(async () => await run({ mode: 'dryRun' }))).toBeLessThanOrEqual(61);
	await run();
	expect(await accesses(async () => await run({ mode: 'dryRun' }))).toBeLessThanOrEqual(61);
});

test.each(['paid', 'notPaid'])('a run that settles (%s)', async (finding) => {
	oneInTen('error500BeforePaying');
	await run();
	const settling = async (): Promise<void> => await run({ mode: 'settle', finding });
	expect(await accesses(settling)).toBeLessThanOrEqual(141);
});
