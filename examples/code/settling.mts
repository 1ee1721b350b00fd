/**
 * The answers of the page *What is open*. `npm run examples` also writes `wasPaid`, `wasNotPaid` and `takeBack` into the
 * nodes that settle.
 */
import type { Answer } from '../../nodes/EtbWallet/paying/paymentRecord.ts';
import { registeredOutcome } from '../../nodes/EtbWallet/list/registeredOutcome.ts';
import { referenceKeyOf } from '../../nodes/shared/reference.ts';
import { hasOutcome, isSettled, type RegisterRow } from './payment-row.mts';
import { formatSum } from './text.mts';
import type { Submitted } from './workflow.mts';

/** The payments that the page asks about. */
export interface Asked {
	unknown: RegisterRow[];
	/** Those that a person settled, and that were not sent since. */
	settled: RegisterRow[];
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

/** The field for the payments that somebody settled, perhaps wrongly. */
export const takeBackField = 'takeBack';

const takeBackWords = {
	paid: 'recorded as paid, but perhaps it was not',
	notPaid: 'recorded as not paid, but perhaps it was',
};
const choiceEnd = ({ reference }: RegisterRow, words: string): string =>
	` (${reference}): ${words}`;

/** The choice of that field about a payment. */
export const takeBackChoice = (row: RegisterRow): string =>
	`${row.name ?? 'No name'}, ${formatSum([row])} ETB${choiceEnd(row, hasOutcome('paid')(row) ? takeBackWords.paid : takeBackWords.notPaid)}`;

/** The answer of the form about a payment. */
export function answerAbout(submitted: Submitted, row: RegisterRow): Answer | undefined {
	const choice = submitted[formFieldOf(row)];
	if (choice === choices.paid) return 'paid';
	if (choice === choices.notPaid) return 'notPaid';
	// The words are those of the row before the statement.
	const ends = Object.values(takeBackWords).map((words) => choiceEnd(row, words));
	const takenBack = [submitted[takeBackField]].flat().map(String);
	const isTakenBack = takenBack.some((each) => ends.some((end) => each.endsWith(end)));
	return isTakenBack ? 'takeBack' : undefined;
}

/**
 * Whether a payment changed after the page was opened, so that the statement is not about its present state. It can have
 * been sent again, and the person did not ask about that. Or it was settled, and somebody settled it the other way.
 * @param before the register as the page had it @param now the register after the page was answered
 */
export function isOutdated(
	{ reference }: RegisterRow,
	before: RegisterRow[],
	now: RegisterRow[],
): boolean {
	const versionOf = ({ id, updatedAt }: RegisterRow): string =>
		`${id} ${new Date(updatedAt ?? 0).getTime()}`;
	const shown = new Set(before.map(versionOf));
	const key = referenceKeyOf(reference ?? '');
	const hasKey = (row: RegisterRow): boolean => referenceKeyOf(row.reference ?? '') === key;
	const current = now.filter(hasKey);
	const outcomesOfSettled = (rows: RegisterRow[]) =>
		rows
			.filter(hasKey)
			.map((row) => ({ ...row, outcome: registeredOutcome(row.outcome ?? '') }))
			.filter(isSettled)
			.map(({ outcome }) => outcome);
	const wasSettled = outcomesOfSettled(before);
	const hasClearOutcome = ({ outcome }: RegisterRow): boolean =>
		outcome === 'paid' || outcome === 'notPaid';
	return (
		current.length === 0 ||
		current.some((row) => !hasClearOutcome(row) && !shown.has(versionOf(row))) ||
		(wasSettled.length > 0 &&
			outcomesOfSettled(now).some((outcome) => !wasSettled.includes(outcome)))
	);
}

/** The form as it was answered, the payments it asked about, and the register before the page and after its answer. */
type Given = [submitted: Submitted, asked: Asked, before: RegisterRow[], now: RegisterRow[]];

/** The rows with this answer that are not outdated. */
const rowsWith = (answer: Answer, [submitted, asked, before, now]: Given): RegisterRow[] =>
	(answer === 'takeBack' ? asked.settled : asked.unknown).filter(
		(row) => answerAbout(submitted, row) === answer && !isOutdated(row, before, now),
	);

/** The field *Was Paid* of the node that settles. */
export const wasPaid = (...given: Given) =>
	rowsWith('paid', given).map(({ reference }) => reference);

/** The field *Was Not Paid* of the node that settles: each payment with the time at which its row was written. */
export const wasNotPaid = (...given: Given) =>
	rowsWith('notPaid', given).map(({ reference, updatedAt }) => ({
		reference,
		sentAt: updatedAt && new Date(updatedAt).toISOString(),
	}));

/** The field *Take Back* of the node that settles. */
export const takeBack = (...given: Given) =>
	rowsWith('takeBack', given).map(({ reference }) => reference);
