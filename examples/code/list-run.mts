/** A run of *Pay salaries from a file*: its list, the decision about it, and the rows by their end. */
import type { Outcome } from '../../nodes/EtbWallet/codes.ts';
import { declineChoice, paymentsSince } from './approval.mts';
import { hasOutcome, type PaymentRow, type RegisterRow } from './payment-row.mts';
import { otherCorrectionsOf, paidLessOf, withCorrections } from './paid-less.mts';
import type { PayrollRun } from './payroll-run.mts';
import { registerOf } from './register.mts';
import { registerUpdates, type RegisterUpdate } from './register-updates.mts';
import { itemsOf, type CheckedItem, type User } from './workflow.mts';

export interface ListRun extends PayrollRun {
	uploadedBy?: User;
	filename: string;
	purpose: string;
	period: string;
	/** The reason why the list as a whole cannot be used. */
	error: CheckedItem['error'];
	notRead: string[];
	/**
	 * *refused*: an approval that does not count. *outdated*: an answer that came after another payment to somebody who
	 * was ready.
	 */
	decision: 'approved' | 'declined' | 'refused' | 'outdated' | undefined;
	/** Those other payments. */
	paymentsSinceCheck: RegisterRow[];
	isPaying: boolean;
	/** Whether the page asks for approval. */
	asksForApproval: boolean;
	ready: PaymentRow[];
	unknown: PaymentRow[];
	notPaid: PaymentRow[];
	/** Those who were paid before. */
	paidBefore: PaymentRow[];
	/** Those of them who were paid less than the list has. */
	paidLess: PaymentRow[];
	/** Those of them whose correction for this purpose was paid with another amount. */
	otherCorrections: PaymentRow[];
	/** Those who were paid by this run. */
	paid: PaymentRow[];
	updates: RegisterUpdate[];
	/** The payments of the period, for any purpose, also those that were voided. */
	paidForPeriod: RegisterRow[];
}

function decisionOf({ submitted }: PayrollRun, since: RegisterRow[]): ListRun['decision'] {
	if (submitted.decision === undefined) return undefined;
	if (submitted.decision === declineChoice) return 'declined';
	if (itemsOf(() => $('Decision')).at(-1)?.mode === 'pay') return 'approved';
	return since.length > 0 ? 'outdated' : 'refused';
}

/** A person of a list of which nobody was paid, because its approval came after another payment. */
const unsent = (row: PaymentRow): PaymentRow => ({
	...row,
	outcome: 'notPaid',
	reason:
		'Nobody of the list was paid, because somebody in it got another payment meanwhile. Is it still to be paid?',
});

export function listRun(given: PayrollRun): ListRun {
	const [upload] = itemsOf(() => $('Upload a list'));
	const [firstRow] = itemsOf(() => $('Check List'));
	const { register, sentEmployeeKeys } = given;
	const since = paymentsSince({
		dryRun: itemsOf(() => $('Pay salaries'), 0),
		before: itemsOf(() => $('Payments')),
		now: itemsOf(() => $('Payments now')),
	});
	const decision = decisionOf(given, since);
	const ends = given.results.map((row) =>
		decision === 'outdated' && hasOutcome('ready')(row) ? unsent(row) : row,
	);
	const run = { ...given, results: ends };
	const results = ends.map((row) => withCorrections(row, register));
	const ended = (outcome: Outcome) => results.filter(hasOutcome(outcome));
	const [first = {}] = results;
	const period = first.period ?? upload?.period ?? '';
	const ready = ended('ready');
	const isPaying = sentEmployeeKeys.size > 0;
	return {
		...run,
		period,
		isPaying,
		ready,
		uploadedBy: upload?.user,
		filename: upload?.list?.filename ?? '',
		purpose: first.purpose ?? upload?.purpose ?? '',
		error: firstRow?.error,
		notRead: first.notRead ?? [],
		decision,
		paymentsSinceCheck: registerOf(since).rows,
		asksForApproval:
			ready.length > 0 && !isPaying && (!$('Ask').isExecuted || decision === 'refused'),
		unknown: ended('unknown'),
		notPaid: ended('notPaid'),
		paidBefore: ended('alreadyPaid'),
		paidLess: paidLessOf(results, register),
		otherCorrections: otherCorrectionsOf(results),
		paid: ended('paid'),
		updates: registerUpdates(run),
		paidForPeriod: register.rows.filter((row) => hasOutcome('paid')(row) && row.period === period),
	};
}
