import type { IExecuteFunctions } from 'n8n-workflow';

/**
 * What the ledger knows of a reference. `inDoubt`: it was sent, or was about to be, and how that ended was
 * not recorded.
 */
export type ReferenceState = 'unused' | 'paid' | 'inDoubt';

/** A reference taken for sending, with what was known of it before. */
export interface Claim {
	reference: string;
	before: ReferenceState;
}

/** No limit of entries: an entry that is dropped would let its reference be paid again. */
const options = { mode: 'entries' } as const;

/**
 * n8n offers only "record, and tell whether it was there", so each question also writes. The marks are chosen
 * so that a crash after any write errs to `inDoubt`: a reference in flight has both marks, a paid one only
 * the first, and settling a payment removes marks.
 */
const sentMark = (reference: string): string => `sent:${reference}`;
const doubtMark = (reference: string): string => `doubt:${reference}`;

/** The last ledger access of each node in this process; n8n's read and write of the record are not atomic. */
const queues = new Map<string, Promise<unknown>>();

/** References of payments in n8n's database, kept for the node in its workflow, across executions and restarts. */
export interface Ledger {
	/**
	 * Marks references as in flight before they are sent. Those used before keep their state, unless `again`.
	 * @throws whatever n8n's database throws; then nothing may be sent
	 */
	claim(references: string[], again: boolean): Promise<Claim[]>;
	/** Records how claimed references ended; those in neither list stay in doubt. */
	settle(ended: { paid: Claim[]; notPaid: Claim[] }): Promise<void>;
}

export function ledgerOf(context: IExecuteFunctions): Ledger {
	const queue = JSON.stringify([context.getWorkflow().id, context.getNode().id]);

	async function exclusively<Result>(access: () => Promise<Result>): Promise<Result> {
		const previous = queues.get(queue);
		const current = (async () => {
			await previous?.catch(() => undefined);
			return await access();
		})();
		queues.set(queue, current);
		try {
			return await current;
		} finally {
			if (queues.get(queue) === current) queues.delete(queue);
		}
	}

	const remove = async (marks: string[]): Promise<void> => {
		if (marks.length > 0) await context.helpers.removeProcessed(marks, 'node', options);
	};

	return {
		claim: async (references, again) =>
			await exclusively(async () => {
				const marks = references.flatMap((reference) => [
					sentMark(reference),
					doubtMark(reference),
				]);
				if (marks.length === 0) return [];
				const { processed } = await context.helpers.checkProcessedAndRecord(marks, 'node', options);
				const found = new Set(processed);
				const claims = references.map((reference): Claim => {
					const sent = found.has(sentMark(reference));
					const doubt = found.has(doubtMark(reference));
					return { reference, before: doubt ? 'inDoubt' : sent ? 'paid' : 'unused' };
				});
				const untouched = again ? [] : claims.filter(({ before }) => before === 'paid');
				await remove(untouched.map(({ reference }) => doubtMark(reference)));
				return claims;
			}),
		settle: async ({ paid, notPaid }) => {
			const marks = [
				...paid.map(({ reference }) => doubtMark(reference)),
				...notPaid.flatMap(({ reference, before }) => {
					if (before === 'unused') return [sentMark(reference), doubtMark(reference)];
					return before === 'paid' ? [doubtMark(reference)] : [];
				}),
			];
			await exclusively(async () => await remove(marks));
		},
	};
}
