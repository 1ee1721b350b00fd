/** What references cost: how often ten windows of payments read or write the one row that n8n keeps for the node. */
import { deduplicator } from '../support/engine/engine.mts';
import { itemsFor, pay, payInEachTest } from '../support/engine/paying.mts';

payInEachTest();

const people = Array.from({ length: 100 }, (_, index) => `u${index}`);

/** Accesses to the row of the node in a run of ten windows: recording and removing read it and write it. */
async function accesses(): Promise<number> {
	let count = 0;
	const calls = [
		['checkProcessedAndRecord', 2, 1],
		['removeProcessed', 2, 1],
		['getProcessedDataCount', 1, 0],
	] as const;
	const spies = calls.map(([method, each, scopeAt]) => {
		const call: (...given: never[]) => Promise<unknown> = deduplicator[method];
		return jest.spyOn(deduplicator, method).mockImplementation((async (...given: never[]) => {
			if (given[scopeAt] === 'node') count += each;
			return await call(...given);
		}) as never);
	});
	await pay(itemsFor(...people), { options: { concurrency: 10 } });
	for (const spy of spies) spy.mockRestore();
	return count;
}

test('fresh payments cost one access a window, and payments that were made before three', async () => {
	expect(await accesses()).toBe(23);
	expect(await accesses()).toBeLessThanOrEqual(61);
});
