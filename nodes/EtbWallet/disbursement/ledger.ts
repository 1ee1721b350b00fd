import type { IExecuteFunctions } from 'n8n-workflow';
import { exclusively } from './lock';
import type { Payment } from './outcome';

/**
 * What the ledger knows of a reference. `inFlight`: another execution in this process is sending it. `inDoubt`:
 * it was sent, or was about to be, and how that ended was not recorded. `otherPayment`: it was used for another
 * person or amount.
 */
export type ReferenceState = 'unused' | 'paid' | 'inDoubt' | 'inFlight' | 'otherPayment';

/** A payment with a reference. */
export type ReferencedPayment = Required<Pick<Payment, 'reference' | 'toUserId' | 'amount'>>;

/** A reference, with what was known of it before. */
export interface Claim {
	reference: string;
	before: ReferenceState;
	/** Whether it was taken for sending, and has to be settled. */
	taken: boolean;
	/** The marks that were made for it. */
	added: string[];
}

/** How a claimed payment ended; `notPaid` also when it was not sent. */
export interface Ended extends Claim {
	outcome: 'paid' | 'notPaid' | 'unknown';
}

/** No limit of entries: an entry that is dropped would let its reference be paid again. */
const options = { mode: 'entries' } as const;

/**
 * n8n offers only "record, and tell whether it was there", so each question also writes. The marks are chosen
 * so that a crash after any write errs to `inDoubt`: a reference in flight has all three, a paid one not that
 * of doubt, and settling a payment removes marks.
 */
const sentMark = (reference: string): string => `sent:${reference}`;
const doubtMark = (reference: string): string => `doubt:${reference}`;
const paymentMark = ({ reference, toUserId, amount }: ReferencedPayment): string =>
	`payment:${JSON.stringify([reference, toUserId, amount])}`;

/** References that this process is sending, by node. One execution must not settle what another has in flight. */
const inFlight = new Map<string, Set<string>>();

/** References of payments in n8n's database, kept for the node in its workflow, across executions and restarts. */
export interface Ledger {
	/**
	 * Marks references as in flight before they are sent: the unused ones, with `again` also those used before.
	 * @throws whatever n8n's database throws; then nothing may be sent
	 */
	claim(payments: ReferencedPayment[], again: boolean): Promise<Claim[]>;
	/**
	 * Records how the taken references ended; those with outcome `unknown` stay in doubt.
	 * @throws whatever n8n's database throws; then all of them stay in doubt
	 */
	settle(ended: Ended[]): Promise<void>;
}

export function ledgerOf(context: IExecuteFunctions): Ledger {
	const key = JSON.stringify([context.getWorkflow().id, context.getNode().id]);

	const remove = async (marks: string[]): Promise<void> => {
		if (marks.length > 0) await context.helpers.removeProcessed(marks, 'node', options);
	};

	async function claim(payments: ReferencedPayment[], again: boolean): Promise<Claim[]> {
		const flying = inFlight.get(key) ?? new Set<string>();
		const asked = payments.filter(({ reference }) => !flying.has(reference)).flatMap(marksOf);
		const found = new Set(asked.length === 0 ? [] : await record(asked));
		const claims = payments.map((payment): Claim => {
			const { reference } = payment;
			if (flying.has(reference)) return { reference, before: 'inFlight', taken: false, added: [] };
			const before = stateOf(payment, found);
			const added = marksOf(payment).filter((mark) => !found.has(mark));
			return { reference, before, taken: again || before === 'unused', added };
		});
		for (const { reference, taken } of claims) if (taken) flying.add(reference);
		if (flying.size > 0) inFlight.set(key, flying);
		const onlyRead = claims.filter(({ taken }) => !taken);
		try {
			await remove(onlyRead.flatMap(({ added }) => added));
		} catch (error) {
			// They will be reported as in doubt from now on, which errs to the safe side.
			warn(context, 'Asking for references left some of them in doubt', onlyRead, error);
		}
		return claims;
	}

	async function record(marks: string[]): Promise<unknown[]> {
		const { processed } = await context.helpers.checkProcessedAndRecord(marks, 'node', options);
		return processed;
	}

	function land(claims: Claim[]): void {
		const flying = inFlight.get(key);
		for (const { reference } of claims) flying?.delete(reference);
		if (flying?.size === 0) inFlight.delete(key);
	}

	return {
		async claim(payments, again) {
			let claims: Claim[] = [];
			let isCertain = false;
			try {
				await exclusively(context, async () => {
					claims = await claim(payments, again);
				});
				isCertain = true;
				return claims;
			} finally {
				if (!isCertain) land(claims.filter(({ taken }) => taken));
			}
		},
		async settle(ended) {
			try {
				await exclusively(context, async () => await remove(ended.flatMap(marksToRemove)));
			} finally {
				land(ended);
			}
		},
	};
}

function marksOf(payment: ReferencedPayment): string[] {
	const { reference } = payment;
	return [sentMark(reference), doubtMark(reference), paymentMark(payment)];
}

function stateOf(payment: ReferencedPayment, found: ReadonlySet<unknown>): ReferenceState {
	const isInDoubt = found.has(doubtMark(payment.reference));
	if (!isInDoubt && !found.has(sentMark(payment.reference))) return 'unused';
	if (!found.has(paymentMark(payment))) return 'otherPayment';
	return isInDoubt ? 'inDoubt' : 'paid';
}

function marksToRemove({ reference, added, outcome }: Ended): string[] {
	if (outcome === 'unknown') return [];
	// What was paid before stays paid, and in doubt what was in doubt, however another payment of it ended.
	return outcome === 'paid' ? [doubtMark(reference)] : added;
}

/** Leaves a trace in n8n's log of what no output can tell. */
export function warn(
	context: IExecuteFunctions,
	message: string,
	claims: Claim[],
	error: unknown,
): void {
	context.logger.warn(message, {
		references: claims.map(({ reference }) => reference),
		reason: error instanceof Error ? error.message : String(error),
	});
}
