/** The marks of a record in n8n's database. No other file calls n8n's deduplication helper. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { unlessAborted } from '../time';

/** The texts that n8n keeps for a node or a workflow. n8n calls them entries. */
export interface Marks {
	/**
	 * Adds the marks that are not there. n8n has no way to ask for marks without adding them.
	 * @param most the number of marks that are kept in all, the newest; without it all are kept
	 * @returns the marks that were there before
	 */
	add(marks: string[], most?: number): Promise<ReadonlySet<string>>;
	remove(marks: string[]): Promise<void>;
	count(): Promise<number>;
	/** Removes all marks, and the row that holds them. */
	clear(): Promise<void>;
}

/**
 * Waits for a call of the database, because no answer comes over a lost connection.
 * @param timeoutMs in ms
 * @throws {Error} of the call, or when no answer comes in time
 */
export async function withTimeout<Answer>(
	call: Promise<Answer>,
	timeoutMs = 30_000,
): Promise<Answer> {
	return await unlessAborted(
		AbortSignal.timeout(timeoutMs),
		call,
		() => new Error('The database of n8n did not answer'),
	);
}

/** Without `maxEntries` n8n deletes no mark. A deleted mark would allow a second payment of its reference. */
const keepingAll = { mode: 'entries' } as const;

/**
 * n8n's deduplication helper (1.64 and newer) as four calls that end in any case. Each change reads one row
 * of the database as a whole, and writes it as a whole; `count` only reads. The first write of a row is an
 * insert, which is the lock of `lock.ts`. If n8n changes that: nothing keeps processes apart.
 * Noticed by: `test/live/queue/queue-payments.live.mts` and `test/live/n8n/trigger.live.mts`, after restarts.
 * @param scope the marks of this node, or of all nodes of the workflow
 * @param checkFirst throws when nothing may be written, or relied on, any more
 * @returns calls that throw the error of the database, or that it did not answer in time
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
			// n8n keeps a mark twice that a call names twice, and removes only one of them.
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
