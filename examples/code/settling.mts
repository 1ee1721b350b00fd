/**
 * The statements of the page *What is open*. `npm run examples` also writes `wasPaid` and `wasNotPaid` into the nodes
 * that settle.
 */
import { referenceKeyOf } from '../../nodes/shared/reference.ts';
import { isVoided, type RegisterRow } from './payment-row.mts';
import type { Submitted } from './workflow.mts';

/** The payments that the page asks about. */
export interface Asked {
	unknown: RegisterRow[];
	/** Those of which somebody said that they were not paid, and that were not sent since. */
	saidNotPaid: RegisterRow[];
	/** Those of which somebody said that they were paid, and the service gave no transaction. */
	saidPaid: RegisterRow[];
	/** Those of which somebody said that they were paid before they were sent again. */
	perhapsTwice: RegisterRow[];
}

/** The choices for a payment that is open. */
export const choices = {
	notKnown: 'Not known yet',
	paid: 'It was paid',
	notPaid: 'It was not paid',
};

/** The name of the field of a payment. A reference can have signs that a name cannot have. */
export const formFieldOf = ({ reference }: RegisterRow): string =>
	encodeURIComponent(reference ?? '');

/** The field for a payment that somebody recorded wrongly, and its choice for none. */
export const mistakeField = 'mistake';
export const noMistake = 'No';
const asPaid = ({ reference }: RegisterRow): string =>
	` (${reference}): recorded as paid, but it was not`;
const asNotPaid = ({ reference }: RegisterRow): string =>
	` (${reference}): recorded as not paid, but perhaps it was`;
const asVoided = ({ reference }: RegisterRow): string =>
	` (${reference}): recorded as paid by mistake, but it was paid`;
const asTwice = ({ reference }: RegisterRow): string =>
	` (${reference}): perhaps paid twice, and that is settled`;
/** The choices of that field for other payments. */
export const mistakeChoices = ({ saidNotPaid, saidPaid, perhapsTwice }: Asked): string[] => {
	const choicesOf = (rows: RegisterRow[], recordOf: (row: RegisterRow) => string): string[] =>
		rows.map((row) => `${row.name ?? 'No name'}${recordOf(row)}`);
	return [
		...choicesOf(saidNotPaid, (row) => (isVoided(row) ? asVoided(row) : asNotPaid(row))),
		...choicesOf(saidPaid, asPaid),
		...choicesOf(perhapsTwice, asTwice),
	];
};

/** The statement of the form about a payment, or that an earlier one was wrong. */
export function statementAbout(
	submitted: Submitted,
	row: RegisterRow,
): 'paid' | 'notPaid' | 'takesBackPaid' | 'takesBackNotPaid' | 'paidOnce' | undefined {
	const choice = submitted[formFieldOf(row)];
	if (choice === choices.paid) return 'paid';
	if (choice === choices.notPaid) return 'notPaid';
	const mistake = String(submitted[mistakeField]);
	if (mistake.endsWith(asNotPaid(row)) || mistake.endsWith(asVoided(row)))
		return 'takesBackNotPaid';
	if (mistake.endsWith(asTwice(row))) return 'paidOnce';
	return mistake.endsWith(asPaid(row)) ? 'takesBackPaid' : undefined;
}

/**
 * Whether a payment changed after the page was opened, and is not settled. It can have been sent again, and the person did
 * not ask about that.
 * @param before the register as the page had it @param now the register after the page was answered
 */
function isOutdated(
	{ reference }: RegisterRow,
	before: RegisterRow[],
	now: RegisterRow[],
): boolean {
	const versionOf = ({ id, updatedAt }: RegisterRow): string =>
		`${id} ${new Date(updatedAt ?? 0).getTime()}`;
	const shown = new Set(before.map(versionOf));
	const key = referenceKeyOf(reference ?? '');
	const current = now.filter((row) => referenceKeyOf(row.reference ?? '') === key);
	const hasClearOutcome = ({ outcome }: RegisterRow): boolean =>
		outcome === 'paid' || outcome === 'voided' || outcome === 'notPaid';
	return (
		current.length === 0 ||
		current.some((row) => !hasClearOutcome(row) && !shown.has(versionOf(row)))
	);
}

/**
 * The field *Was Paid* of the node that settles. If a *not paid* is taken back, the payment is unknown again. If a *paid*
 * is taken back, it stays paid in the node, which must never send it, and the register voids it.
 */
export const wasPaid = (
	submitted: Submitted,
	{ unknown, saidNotPaid, saidPaid, perhapsTwice }: Asked,
	before: RegisterRow[],
	now: RegisterRow[],
) => [
	...unknown
		.filter((row) => statementAbout(submitted, row) === 'paid' && !isOutdated(row, before, now))
		.map(({ reference }) => reference),
	...saidPaid
		.filter((row) => statementAbout(submitted, row) === 'takesBackPaid')
		.map(({ reference }) => reference),
	...perhapsTwice
		.filter((row) => statementAbout(submitted, row) === 'paidOnce')
		.map(({ reference }) => reference),
	...saidNotPaid
		.filter((row) => statementAbout(submitted, row) === 'takesBackNotPaid')
		.map(({ reference }) => ({ reference, takesBack: true })),
];

/** The field *Was Not Paid* of the node that settles: each payment with the time at which its row was written. */
export const wasNotPaid = (
	submitted: Submitted,
	{ unknown }: Asked,
	before: RegisterRow[],
	now: RegisterRow[],
) =>
	unknown
		.filter((row) => statementAbout(submitted, row) === 'notPaid' && !isOutdated(row, before, now))
		.map(({ reference, updatedAt }) => ({
			reference,
			sentAt: updatedAt && new Date(updatedAt).toISOString(),
		}));
