/**
 * The answers of the page *What is open*. `npm run examples` also writes `wasPaid` and `wasNotPaid` into the nodes
 * that settle, so this file imports nothing but types.
 */
import type { RegisterRow } from './payment-row.mts';
import type { Answers } from './workflow.mts';

/** The choices for a payment that is unknown. */
export const choices = {
	notKnown: 'Not known yet',
	paid: 'It was paid',
	notPaid: 'It was not paid',
};

/** The names of the two fields of a payment. A reference can have signs that a name cannot have. */
export const fieldOf = (reference: string): string => encodeURIComponent(reference);
export const transactionFieldOf = (reference: string): string => `tx ${fieldOf(reference)}`;

/** The answer about a payment; undefined if the page did not ask about it. */
export const choiceFor = (answers: Answers, reference: string): unknown =>
	answers[fieldOf(reference)];

/** Blanks, quotation marks and invisible characters around a text that was copied. */
const aroundCopied = /^[\s"'`“”‘’«»\u200b-\u200f\ufeff]+|[\s"'`“”‘’«»\u200b-\u200f\ufeff]+$/g;

/** The transaction that a person typed; empty if there is none. */
export function transactionFor(answers: Answers, reference: string): string {
	const typed = answers[transactionFieldOf(reference)];
	return typeof typed === 'string' ? typed.replace(aroundCopied, '') : '';
}

/** The references that the page asked about. */
export const referencesIn = (answers: Answers): string[] =>
	Object.keys(answers)
		.filter((name) => name.startsWith('tx '))
		.map((name) => decodeURIComponent(name.slice('tx '.length)));

/**
 * The reason why an answer is not recorded; empty if it is recorded.
 * @param payments the register as the page showed it
 */
export function problemOfAnswer(
	reference: string,
	answers: Answers,
	payments: RegisterRow[],
): string {
	if (transactionFor(answers, reference) === '') return '';
	const choice = choiceFor(answers, reference);
	if (choice === choices.notPaid)
		return `You named a transaction, so it seems to be paid. Look whose transaction it is: choose "${choices.paid}", or name none`;
	if (choice !== choices.paid)
		return `You named its transaction, and did not choose "${choices.paid}"`;
	const problem = problemOfTransaction(reference, answers, payments);
	return problem === '' ? '' : `${problem}. Give the whole transaction of this payment, or none`;
}

/** The reason why a text cannot be the transaction of this payment; empty if it can. */
function problemOfTransaction(
	reference: string,
	answers: Answers,
	payments: RegisterRow[],
): string {
	const typed = transactionFor(answers, reference);
	if (!/^[\w.:-]{20,}$/.test(typed)) return `"${typed}" is no whole transaction`;
	// A beginning of another transaction is one that was cut off.
	const isBegunBy = (transaction: string): boolean =>
		transaction.trim().toLowerCase().startsWith(typed.toLowerCase());
	const owner = payments.find((row) => row.reference !== reference && isBegunBy(row.txHash ?? ''));
	if (owner)
		return `That is the transaction of ${owner.name || 'another payment'} (${owner.reference})`;
	const lengths = payments.map(({ txHash }) => (txHash ?? '').trim().length).filter(Boolean);
	if (lengths.length > 0 && typed.length < Math.min(...lengths))
		return `"${typed}" is shorter than all other transactions`;
	if (lengths.length > 0 && typed.length > Math.max(...lengths))
		return `"${typed}" is longer than all other transactions`;
	const isTwice = referencesIn(answers).some(
		(other) => other !== reference && isBegunBy(transactionFor(answers, other)),
	);
	return isTwice ? 'The same transaction was given for two payments' : '';
}

/**
 * The unknown payments with an answer that is recorded. The register can have several rows of a reference: any of
 * them names the payment that the page showed as unknown.
 * @param contradicts whether the answer counts whatever its transaction is
 */
const answeredWith = (
	choice: string,
	answers: Answers,
	payments: RegisterRow[],
	contradicts: (reference: string) => boolean = () => false,
) => {
	const unknown = payments.filter(({ outcome }) => outcome === 'unknown');
	const byReference = new Map(unknown.map((row) => [row.reference ?? '', row]));
	return [...byReference].filter(
		([reference]) =>
			choiceFor(answers, reference) === choice &&
			(problemOfAnswer(reference, answers, payments) === '' || contradicts(reference)),
	);
};

/**
 * The field *Was Paid* of the node that settles.
 * @param now the register after the answers. If somebody recorded a payment as not paid while the page was open, the
 * answer makes it unknown again, also with a transaction that cannot be right: else the next list would pay it
 */
export const wasPaid = (
	answers: Answers,
	payments: RegisterRow[],
	now: RegisterRow[] = [],
): string[] => {
	const isFreed = (reference: string): boolean =>
		now.some((row) => row.reference === reference && row.outcome === 'notPaid' && row.settledBy);
	return answeredWith(choices.paid, answers, payments, isFreed).map(([reference]) => reference);
};

/** The field *Was Not Paid* of the node that settles: each payment with the time at which it was sent. */
export const wasNotPaid = (answers: Answers, payments: RegisterRow[]) =>
	answeredWith(choices.notPaid, answers, payments).map(([reference, { updatedAt }]) => ({
		reference,
		sentAt: updatedAt && new Date(updatedAt).toISOString(),
	}));
