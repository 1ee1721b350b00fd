/** The entries that n8n keeps for a node in its database, behind four calls that always end. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { unlessAborted } from '../../../shared/elapsed';
import { entriesHelpersOf } from '../../../shared/n8n';

export interface Entries {
	/**
	 * Adds what is not there yet. It is the only way to ask, so each question also writes.
	 * @param most how many are kept in all, the newest; without it none is dropped
	 * @returns what was there
	 */
	record(entries: string[], most?: number): Promise<ReadonlySet<unknown>>;
	remove(entries: string[]): Promise<void>;
	count(): Promise<number>;
	/** Removes all, and the row that held them. */
	clear(): Promise<void>;
}

/** A lost connection may never answer. */
const answerTimeoutMs = 30_000;

async function answered<Answer>(call: Promise<Answer>): Promise<Answer> {
	return await unlessAborted(
		AbortSignal.timeout(answerTimeoutMs),
		call,
		() => new Error('The database of n8n did not answer'),
	);
}

/** No limit of entries: one that is dropped would let its reference be paid again. */
const options = { mode: 'entries' } as const;

/**
 * @param scope whether they are the node's own, or those of all nodes of the workflow
 * @param refuse throws when nothing may be written or believed any more
 * @throws {InvalidValueError} when this n8n cannot keep entries; each call throws whatever the database does
 */
export function entriesOf(
	context: IExecuteFunctions,
	scope: 'node' | 'workflow',
	refuse: () => void = () => undefined,
): Entries {
	const helpers = entriesHelpersOf(context);
	return {
		async record(entries, most) {
			if (entries.length === 0) return new Set();
			refuse();
			const limited = most === undefined ? options : { ...options, maxEntries: most };
			const call = helpers.checkProcessedAndRecord(entries, scope, limited);
			return new Set((await answered(call)).processed);
		},
		async remove(entries) {
			if (entries.length === 0) return;
			refuse();
			await answered(helpers.removeProcessed(entries, scope, options));
		},
		count: async () => await answered(helpers.getProcessedDataCount(scope, options)),
		clear: async () => await answered(helpers.clearAllProcessedItems(scope, options)),
	};
}
