import type { IExecuteFunctions } from 'n8n-workflow';

/**
 * What n8n's "Retry On Fail" must not repeat. That setting runs the whole node again with the same items;
 * without a memory it would do again what was done already. In process only, and gone with the node run.
 */
export class RetryMemory<Settled> {
	/**
	 * A node run and its tries share n8n's execute data and the objects of its items; names and numbers would
	 * not do: the calls of an AI tool share the execute data, and their tries differ in run index.
	 */
	private readonly runs = new WeakMap<object, WeakMap<object, Map<number, Settled>>>();

	/** What the tries of this node run settled, by item index. Entries that are added are kept for the next try. */
	of(context: IExecuteFunctions): Map<number, Settled> {
		const items = context.getInputData();
		const inRun = getOrAdd(
			this.runs,
			context.getExecuteData(),
			() => new WeakMap<object, Map<number, Settled>>(),
		);
		return getOrAdd(inRun, items[0]?.json ?? items, () => new Map<number, Settled>());
	}
}

function getOrAdd<Value>(map: WeakMap<object, Value>, key: object, make: () => Value): Value {
	const known = map.get(key);
	if (known !== undefined) return known;
	const made = make();
	map.set(key, made);
	return made;
}
