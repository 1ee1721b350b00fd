/** Windows: payments that are asked for, or reserved, together. */
import type { KeyedEntry } from './entry';
import type { RunOptions } from './options';
import type { PaymentRecord, PaymentState } from './paymentRecord';

/** Cuts values into windows of `size`. */
export function windowsOf<Value>(size: number, values: Value[]): Value[][] {
	return Array.from({ length: Math.ceil(values.length / size) }, (_, index) =>
		values.slice(index * size, (index + 1) * size),
	);
}

/**
 * The states of entries. They are asked for in windows, because a question writes marks, and a crash then
 * leaves the marks of only one window.
 * @throws {Error} when n8n's database fails
 */
export async function askAllStates<Each extends KeyedEntry>(
	record: PaymentRecord,
	entries: Each[],
	{ concurrency }: RunOptions,
): Promise<ReadonlyMap<Each, PaymentState>> {
	const states = new Map<Each, PaymentState>();
	for (const window of windowsOf(concurrency, entries))
		for (const [entry, state] of await record.askStates(window)) states.set(entry, state);
	return states;
}
