/** The fields that the node writes itself: an input column with such a name would be taken for what the node says. */

/**
 * What *Create* alone writes, also where it writes none: workflows, n8n and the pay gate act on them. `__proto__` would give
 * the item fields that are not its own.
 */
const ofPayments = [
	...['__proto__', 'outcome', 'code', 'message', 'remedy', 'mode', 'reference', 'toUserId'],
	...['amountEtb', 'requestedAmountEtb', 'httpCode', 'txHash', 'paidAt', 'error'],
] as const;

/** What *Check List* writes besides. A list that was checked before has these columns, and what they say is old. */
const ofLists = [
	...['status', 'line', 'employee', 'person', 'name', 'period', 'purpose', 'problem', 'remarks'],
	...['known', 'lastTime', 'paid', 'notRead'],
] as const;

const without =
	(names: ReadonlySet<string>) =>
	<Value>(fields: Record<string, Value>): Record<string, Value> =>
		Object.fromEntries(Object.entries(fields).filter(([name]) => !names.has(name)));

/** The fields of an item that *Create* passes through. */
export const withoutOwnFields = without(new Set(ofPayments));

/** The columns of a list that *Check List* passes through: none that this or a later node means as the state of a payment. */
export const withoutOwnColumns = without(new Set([...ofPayments, ...ofLists]));
