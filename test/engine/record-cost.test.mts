/** What references cost: how often ten windows of payments read or write the one row that n8n keeps for the node. */
import { deduplicator } from '../support/engine/engine.mts';
import { marksOfPaid } from '../../nodes/EtbWallet/disbursement/paymentRecord.ts';
import { itemsFor, pay, payInEachTest, record } from '../support/engine/paying.mts';

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

test('fresh payments cost one access a window, and payments that were made before three; the end of a run one', async () => {
	expect(await accesses()).toBe(25);
	expect(await accesses()).toBeLessThanOrEqual(63);
});

test('a paid reference has four marks when a run has ended, also if it was asked for again', async () => {
	const items = itemsFor('a', 'b', 'c');
	await pay(items, { options: { concurrency: 2 } });
	const marks = record();
	expect(marks).toHaveLength(marksOfPaid * items.length);
	await pay(items);
	await pay(items, { mode: 'dryRun' });
	await pay(items, { amountEtb: 11 }, { onError: 'continueErrorOutput' });
	await pay(items, { mode: 'settle', wasPaid: 'pay-a', wasNotPaid: 'pay-b' });
	expect(record()).toEqual(marks);
});
