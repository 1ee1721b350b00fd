/**
 * The fields that *Create* alone writes. Those of the input are always dropped, because workflows and n8n would take them for
 * results of the node. `__proto__` would give the item fields that are not its own.
 */
const ownFields: ReadonlySet<string> = new Set([
	...['__proto__', 'outcome', 'code', 'message', 'remedy', 'mode', 'reference', 'toUserId'],
	...['amountEtb', 'requestedAmountEtb', 'httpCode', 'txHash', 'paidAt', 'error'],
]);

/** The fields of an item that *Create* passes through. */
export const withoutOwnFields = <Value>(fields: Record<string, Value>): Record<string, Value> =>
	Object.fromEntries(Object.entries(fields).filter(([name]) => !ownFields.has(name)));
