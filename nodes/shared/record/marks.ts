/** The marks of a record in n8n's database. No other file calls n8n's deduplication helper. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { unlessAborted } from '../time';

/** The texts that n8n keeps for a node or a workflow. n8n calls them entries. */
export interface Marks {
	/**
	 * Adds the marks that are not there. n8n has no way to ask for marks without adding them.
	 * @param most the largest number of marks to keep: the newest stay. Without it all are kept
	 * @returns the marks that were there before
	 */
	add(marks: string[], most?: number): Promise<ReadonlySet<string>>;
	remove(marks: string[]): Promise<void>;
	count(): Promise<number>;
	/** Removes all marks, and the row that holds them. */
	clear(): Promise<void>;
}

/**
 * Limits the wait for a call of the database, because over a lost connection no response ever comes.
 * @param timeoutMs in ms
 * @throws {Error} of the call, or when no response comes in time
 */
export async function withTimeout<Value>(call: Promise<Value>, timeoutMs = 30_000): Promise<Value> {
	return await unlessAborted(
		AbortSignal.timeout(timeoutMs),
		call,
		() => new Error('The database of n8n did not answer'),
	);
}

/** Without `maxEntries` n8n deletes no mark. A deleted mark would allow a second payment of its reference. */
const keepingAll = { mode: 'entries' } as const;

/**
 * n8n's deduplication helper as four calls that always end. Each change reads one row of the
 * database as a whole, and writes it as a whole; `count` only reads. The first write of a row is an insert,
 * which is the lock of `lock.ts`. If n8n changes that, two processes can write a record at once.
 * Noticed by: `test/live/queue/queue-payments.live.mts` and `test/live/n8n/trigger.live.mts`, after restarts.
 * @param scope the marks of this node, or of all nodes of the workflow
 * @param checkFirst is called before each change, and throws when nothing may be written any more
 * @returns calls that throw the error of the database, or an error if it does not answer in time
 */
export function marksOf(
	{ helpers }: IExecuteFunctions,
	scope: 'node' | 'workflow',
	checkFirst: () => void = () => undefined,
): Marks {
	return {
		async add(marks, most) {
			if (marks.length === 0) return new Set();
			checkFirst();
			const limited = most === undefined ? keepingAll : { ...keepingAll, maxEntries: most };
			// If a call names a mark twice, n8n stores it twice, and a removal takes only one of the two.
			const unique = [...new Set(marks)];
			const call = helpers.checkProcessedAndRecord(unique, scope, limited);
			return new Set((await withTimeout(call)).processed.map(String));
		},
		async remove(marks) {
			if (marks.length === 0) return;
			checkFirst();
			await withTimeout(helpers.removeProcessed(marks, scope, keepingAll));
		},
		count: async () => await withTimeout(helpers.getProcessedDataCount(scope, keepingAll)),
		clear: async () => await withTimeout(helpers.clearAllProcessedItems(scope, keepingAll)),
	};
}
