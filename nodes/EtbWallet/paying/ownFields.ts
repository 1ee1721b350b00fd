/**
 * The fields that only this node writes. The same fields of the input are dropped, because workflows and n8n
 * would read them as results of the node. `__proto__` would give the item inherited fields.
 */
const ownFields: ReadonlySet<string> = new Set([
	'__proto__',
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
]);

/** The fields of an item without those that only this node writes. */
export const withoutOwnFields = <Value>(fields: Record<string, Value>): Record<string, Value> =>
	Object.fromEntries(Object.entries(fields).filter(([name]) => !ownFields.has(name)));
