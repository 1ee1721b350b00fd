/**
 * The fields that only this node writes. The same fields of the input are dropped, because workflows and n8n
 * would read them as results of the node. `__proto__` would give the item inherited fields.
 */
const names = [
	'outcome',
	'code',
	'message',
	'remedy',
	'mode',
	'reference',
	'toUserId',
	'amountEtb',
	'requestedAmountEtb',
	'httpCode',
	'txHash',
	'paidAt',
	'error',
] as const;
const ownFields: ReadonlySet<string> = new Set(['__proto__', ...names]);

export type OwnField = (typeof names)[number];

/** The fields of an item without those that only this node writes. */
export const withoutOwnFields = <Value>(fields: Record<string, Value>): Record<string, Value> =>
	Object.fromEntries(Object.entries(fields).filter(([name]) => !ownFields.has(name)));
