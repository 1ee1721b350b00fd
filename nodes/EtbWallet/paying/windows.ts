/** Windows: payments that are asked for, or reserved, together. */
import type { Payment } from './entry';
import type { RunOptions } from './options';
import type { PaymentRecord, PaymentState } from './paymentRecord';

/** Cuts values into windows of `size`. */
export function windowsOf<Value>(size: number, values: Value[]): Value[][] {
	return Array.from({ length: Math.ceil(values.length / size) }, (_, index) =>
		values.slice(index * size, (index + 1) * size),
	);
}

/**
 * The states of payments. They are asked for in windows, because a question writes marks, and a crash then
 * leaves the marks of only one window.
 * @throws {Error} when n8n's database fails
 */
export async function askAllStates(
	record: PaymentRecord,
	payments: Payment[],
	{ concurrency }: RunOptions,
): Promise<ReadonlyMap<Payment, PaymentState>> {
	const states = new Map<Payment, PaymentState>();
	for (const window of windowsOf(concurrency, payments))
		for (const [payment, state] of await record.askStates(window)) states.set(payment, state);
	return states;
}
