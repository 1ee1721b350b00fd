/**
 * The statements of the page *What is open*. `npm run examples` also writes `wasPaid` and `wasNotPaid` into the nodes
 * that settle, so this file imports nothing but types.
 */
import type { RegisterRow } from './payment-row.mts';
import type { Submitted } from './workflow.mts';

/** The payments that the page asks about. */
export interface Asked {
	unknown: RegisterRow[];
	/** Those that somebody recorded as not paid, and that were not sent since. */
	freed: RegisterRow[];
}

/** The choices for a payment that is unknown. */
export const choices = {
	notKnown: 'Not known yet',
	paid: 'It was paid',
	notPaid: 'It was not paid',
};

/** The name of the field of a payment. A reference can have signs that a name cannot have. */
export const fieldOf = ({ reference }: RegisterRow): string => encodeURIComponent(reference ?? '');

const isSaid = (submitted: Submitted, choice: string) => (row: RegisterRow) =>
	submitted[fieldOf(row)] === choice;

/** Whether the statement about a payment is *It was not paid*. */
export const isSaidNotPaid = (submitted: Submitted, row: RegisterRow): boolean =>
	isSaid(submitted, choices.notPaid)(row);

/** The field for a payment that somebody recorded as not paid by mistake, its choice for a payment, and that for none. */
export const mistakeField = 'mistake';
export const noMistake = 'Nobody';
export const mistakeChoice = ({ name, reference }: RegisterRow): string =>
	`${name ?? 'No name'} (${reference})`;

/** Whether the form has any statement. */
export const isAnythingSaid = ({ [mistakeField]: mistake = noMistake, ...fields }: Submitted) =>
	mistake !== noMistake ||
	Object.values(fields).some((value) => value === choices.paid || value === choices.notPaid);

/** The field *Was Paid* of the node that settles. The node makes a payment unknown again whose *not paid* is taken back. */
export const wasPaid = (submitted: Submitted, { unknown, freed }: Asked) => [
	...unknown.filter(isSaid(submitted, choices.paid)).map(({ reference }) => reference),
	...freed
		.filter((row) => submitted[mistakeField] === mistakeChoice(row))
		.map(({ reference }) => ({ reference, takesBack: true })),
];

/** The field *Was Not Paid* of the node that settles: each payment with the time at which it was sent. */
export const wasNotPaid = (submitted: Submitted, { unknown }: Asked) =>
	unknown.filter(isSaid(submitted, choices.notPaid)).map(({ reference, updatedAt }) => ({
		reference,
		sentAt: updatedAt && new Date(updatedAt).toISOString(),
	}));
