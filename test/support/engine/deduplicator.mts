/** A replacement of n8n's database of processed entries. */
import type {
	DeduplicationHelperFunctions,
	DeduplicationScope,
	ICheckProcessedContextData,
	IDataDeduplicator,
} from 'n8n-workflow';

/** The key of a row: n8n keeps one for each node, and one for the workflow. */
const rowOf = (
	scope: DeduplicationScope,
	{ workflow, node }: ICheckProcessedContextData,
): string => (scope === 'node' ? `${workflow.id}:${node?.id}` : `${workflow.id}:`);

/**
 * n8n's own storage of processed entries, in memory, with the same race: a read, a pause, a write of all. As in
 * its database, a row can be inserted only once, and updating one that is gone does nothing.
 */
export class MemoryDeduplicator implements Omit<IDataDeduplicator, 'checkProcessedItemsAndRecord'> {
	readonly rows = new Map<string, string[]>();

	checkProcessedAndRecord: IDataDeduplicator['checkProcessedAndRecord'] = async (
		items,
		scope,
		context,
		{ maxEntries = Infinity },
	) => {
		const key = rowOf(scope, context);
		const found = this.rows.get(key);
		const known = new Set(found);
		await new Promise(setImmediate);
		const isKnown = (item: unknown): boolean => known.has(String(item));
		if (found === undefined && this.rows.has(key)) throw new Error('duplicate key');
		if (found === undefined || this.rows.has(key)) {
			// An entry that a call names twice is kept twice.
			const all = [...(found ?? []), ...items.filter((item) => !isKnown(item)).map(String)];
			this.rows.set(key, all.slice(Math.max(0, all.length - maxEntries)));
		}
		return { new: items.filter((item) => !isKnown(item)), processed: items.filter(isKnown) };
	};

	removeProcessed: IDataDeduplicator['removeProcessed'] = async (items, scope, context) => {
		const key = rowOf(scope, context);
		const entries = [...(this.rows.get(key) ?? [])];
		// It removes one of two equal entries.
		for (const item of items.map(String)) {
			const index = entries.indexOf(item);
			if (index !== -1) entries.splice(index, 1);
		}
		await new Promise(setImmediate);
		if (this.rows.has(key)) this.rows.set(key, entries);
	};

	clearAllProcessedItems: IDataDeduplicator['clearAllProcessedItems'] = async (scope, context) => {
		await Promise.resolve(this.rows.delete(rowOf(scope, context)));
	};

	getProcessedDataCount: IDataDeduplicator['getProcessedDataCount'] = async (scope, context) =>
		await Promise.resolve(this.rows.get(rowOf(scope, context))?.length ?? 0);
}

type Helpers = Omit<DeduplicationHelperFunctions, 'checkProcessedItemsAndRecord'>;

/** The helpers of a node for this database. @param before is called before each call; if it throws, the call fails */
export const helpersOf = (
	database: MemoryDeduplicator,
	about: ICheckProcessedContextData,
	before: (name: keyof Helpers) => void,
): Helpers => ({
	async checkProcessedAndRecord(items, scope, options) {
		before('checkProcessedAndRecord');
		return await database.checkProcessedAndRecord(items, scope, about, options);
	},
	async removeProcessed(items, scope, options) {
		before('removeProcessed');
		await database.removeProcessed(items, scope, about, options);
	},
	async clearAllProcessedItems(scope, options) {
		before('clearAllProcessedItems');
		await database.clearAllProcessedItems(scope, about, options);
	},
	async getProcessedDataCount(scope, options) {
		before('getProcessedDataCount');
		return await database.getProcessedDataCount(scope, about, options);
	},
});
