/**
 * The cost of references: the marks that n8n keeps for them, and how often a run reads or writes the row that
 * holds them.
 */
import { deduplicator } from '../support/engine/engine.mts';
import { itemsFor, pay, payInEachTest, record, timePasses } from '../support/engine/paying.mts';

payInEachTest();

const people = Array.from({ length: 100 }, (_, index) => `u${index}`);

/** In ms. After so long no reservation counts any more. */
const laterMs = 10 * 60_000;

/**
 * A run of ten batches: its accesses to the row of the node (recording and removing read it and write it), and
 * its removals.
 */
async function costOf(): Promise<{ accesses: number; removals: number }> {
	const cost = { accesses: 0, removals: 0 };
	const calls = [
		['checkProcessedAndRecord', 2, 1],
		['removeProcessed', 2, 1],
		['getProcessedDataCount', 1, 0],
	] as const;
	const spies = calls.map(([method, each, scopeAt]) => {
		const call: (...given: never[]) => Promise<unknown> = deduplicator[method];
		return jest.spyOn(deduplicator, method).mockImplementation((async (...given: never[]) => {
			if (given[scopeAt] === 'node') {
				cost.accesses += each;
				if (method === 'removeProcessed') cost.removals++;
			}
			return await call(...given);
		}) as never);
	});
	await pay(itemsFor(...people), { options: { concurrency: 10 } });
	for (const spy of spies) spy.mockRestore();
	return cost;
}

test('fresh payments cost one access a batch and one at the end, and remove nothing; those that were made before, four', async () => {
	expect(await costOf()).toEqual({ accesses: 23, removals: 0 });
	timePasses(laterMs);
	expect((await costOf()).accesses).toBeLessThanOrEqual(81);
});

const isShared = (mark: string): boolean => /^busy:\d+:\d+$/.test(mark);

test('a paid reference keeps four marks, also if it is asked for again, and the node at most sixteen for each slot of time in which it pays', async () => {
	const items = itemsFor(...people);
	await pay(items, { options: { concurrency: 10 } });
	const marks = record();
	expect(marks.filter((mark) => !isShared(mark))).toHaveLength(4 * items.length);
	// The run may see the end of a slot.
	expect(marks.filter(isShared).length).toBeLessThanOrEqual(2 * 16);
	timePasses(laterMs);
	await pay(items);
	await pay(items, { mode: 'dryRun' });
	await pay(items, { amountEtb: 11 }, { onError: 'continueErrorOutput' });
	await pay(items, { mode: 'settle', wasPaid: 'pay-u0', wasNotPaid: 'pay-u1' });
	expect(record()).toEqual(marks);
});
