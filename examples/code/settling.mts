/**
 * The statements of the page *What is open*. `npm run examples` also writes `wasPaid` and `wasNotPaid` into the nodes
 * that settle.
 */
import { referenceKeyOf } from '../../nodes/shared/reference.ts';
import type { RegisterRow } from './payment-row.mts';
import type { Submitted } from './workflow.mts';

/** The payments that the page asks about. */
export interface Asked {
	unknown: RegisterRow[];
	/** Those of which somebody said that they were not paid, and that were not sent since. */
	saidNotPaid: RegisterRow[];
	/** Those of which somebody said that they were paid, and the service gave no transaction. */
	saidPaid: RegisterRow[];
	/** Those of which somebody said that such a record is wrong. */
	voided: RegisterRow[];
	/** The voided ones that have to be paid in another way. */
	openVoided: RegisterRow[];
	/** The voided ones of which nothing is missing any more. */
	closedVoided: RegisterRow[];
	/** Those of which somebody said that they were not paid, and that were sent again, and paid. */
	sentAgain: RegisterRow[];
	/** Those that were sent again, or paid in another way, although they may have been paid. */
	perhapsTwice: RegisterRow[];
	/** Those of them beside which no correction counts. */
	onlyOne: RegisterRow[];
}

/**
 * A statement of the form about a payment. `takesBack…`: an earlier one was wrong; `restores`: a voided one was paid;
 * `not…`: nothing is left to do.
 */
export type Statement =
	| 'paid'
	| 'notPaid'
	| 'takesBackPaid'
	| 'takesBackNotPaid'
	| 'restores'
	| 'notMissing'
	| 'isMissing'
	| 'notTwice';

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
/** The choices of that field: the words after the name and the reference, and the statement that they make. */
const mistakes: ReadonlyArray<[kind: keyof Asked, words: string, statement: Statement]> = [
	['saidNotPaid', 'recorded as not paid, but perhaps it was', 'takesBackNotPaid'],
	['sentAgain', 'recorded as not paid and paid again, but it was paid before', 'takesBackNotPaid'],
	['openVoided', 'recorded as not paid, and nothing is missing any more', 'notMissing'],
	['voided', 'recorded as not paid, but it was paid', 'restores'],
	['closedVoided', 'recorded as not paid, and it is still missing', 'isMissing'],
	['saidPaid', 'recorded as paid, but it was not', 'takesBackPaid'],
	['perhapsTwice', 'perhaps paid twice, but one came back', 'notTwice'],
	['onlyOne', 'perhaps paid twice, but only this one was made', 'notTwice'],
];
const choiceEnd = ({ reference }: RegisterRow, words: string): string =>
	` (${reference}): ${words}`;

/** The choice of that field about a payment. */
const choiceAbout = (submitted: Submitted, row: RegisterRow) =>
	mistakes.find(([, words]) => String(submitted[mistakeField]).endsWith(choiceEnd(row, words)));

/** The words of that choice. */
export const wordsAbout = (submitted: Submitted, row: RegisterRow): string =>
	choiceAbout(submitted, row)?.[1] ?? '';

export const mistakeChoices = (asked: Asked): string[] =>
	mistakes.flatMap(([kind, words]) =>
		asked[kind].map((row) => `${row.name ?? 'No name'}${choiceEnd(row, words)}`),
	);

/** The statement of the form about a payment, also that an earlier one was wrong. */
export function statementAbout(submitted: Submitted, row: RegisterRow): Statement | undefined {
	const choice = submitted[formFieldOf(row)];
	if (choice === choices.paid) return 'paid';
	if (choice === choices.notPaid) return 'notPaid';
	return choiceAbout(submitted, row)?.[2];
}

const statementsToNode: ReadonlyArray<Statement | undefined> = [
	'paid',
	'notPaid',
	'takesBackNotPaid',
];
/** Whether a statement changes only the register: the node that has a payment as paid never sends it. */
export const isForRegister = (statement: Statement | undefined): boolean =>
	statement !== undefined && !statementsToNode.includes(statement);

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
 * The field *Was Paid* of the node that settles. If a *not paid* is taken back, the payment is unknown again. Other
 * statements about a record change only the register.
 */
export const wasPaid = (
	submitted: Submitted,
	asked: Asked,
	before: RegisterRow[],
	now: RegisterRow[],
) => [
	...asked.unknown
		.filter((row) => statementAbout(submitted, row) === 'paid' && !isOutdated(row, before, now))
		.map(({ reference }) => reference),
	...[...asked.saidNotPaid, ...asked.sentAgain]
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
