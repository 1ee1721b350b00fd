/**
 * The statements of the page *What is open*. `npm run examples` also writes `wasPaid` and `wasNotPaid` into the nodes
 * that settle, so this file imports nothing but types.
 */
import type { RegisterRow } from './payment-row.mts';
import type { Submitted } from './workflow.mts';

/** The choices for a payment that is unknown. */
export const choices = {
	notKnown: 'Not known yet',
	paid: 'It was paid',
	notPaid: 'It was not paid',
};

/** The name of the field of a payment. A reference can have signs that a name cannot have. */
export const fieldOf = (reference: string): string => encodeURIComponent(reference);

/** Whether the statement about a payment is *It was not paid*. */
export const isSaidNotPaid = (submitted: Submitted, { reference }: RegisterRow): boolean =>
	submitted[fieldOf(reference ?? '')] === choices.notPaid;

/** The field for a payment that somebody recorded as not paid by mistake, and its choice for a payment. */
export const mistakeField = 'mistake';
export const mistakeChoice = ({ name, reference }: RegisterRow): string =>
	`${name ?? 'No name'} (${reference})`;

/** The payments that somebody recorded as not paid, and that were not sent since. */
export const freed = (payments: RegisterRow[]): RegisterRow[] =>
	payments.filter(({ outcome, settledBy }) => outcome === 'notPaid' && settledBy);

/**
 * The unknown payments with a statement. The register can have several rows of a reference: any of them names the
 * payment that the page showed as unknown. An expression has no `keys()`: n8n replaces it by a function of its own.
 */
const statedAs = (choice: string, submitted: Submitted, payments: RegisterRow[]) => {
	const unknown = payments.filter(({ outcome }) => outcome === 'unknown');
	const byReference = new Map(unknown.map((row) => [row.reference ?? '', row]));
	return [...byReference].filter(([reference]) => submitted[fieldOf(reference)] === choice);
};

/**
 * The field *Was Paid* of the node that settles. The node makes a payment unknown again whose *not paid* is taken back.
 * @param payments the register as the page showed it
 */
export const wasPaid = (submitted: Submitted, payments: RegisterRow[]) => [
	...statedAs(choices.paid, submitted, payments).map(([reference]) => reference),
	...freed(payments)
		.filter((row) => submitted[mistakeField] === mistakeChoice(row))
		.map(({ reference }) => ({ reference, takesBack: true })),
];

/** The field *Was Not Paid* of the node that settles: each payment with the time at which it was sent. */
export const wasNotPaid = (submitted: Submitted, payments: RegisterRow[]) =>
	statedAs(choices.notPaid, submitted, payments).map(([reference, { updatedAt }]) => ({
		reference,
		sentAt: updatedAt && new Date(updatedAt).toISOString(),
	}));
