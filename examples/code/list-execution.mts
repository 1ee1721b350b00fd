/** An execution of *Pay salaries from a file*: its list, the decision about it, and the rows by their end. */
import type { Outcome } from '../../nodes/EtbWallet/codes.ts';
import { declineChoice, paymentsSince } from './approval.mts';
import { hasOutcome, type PaymentRow, type RegisterRow } from './payment-row.mts';
import { otherCorrectionsOf, paidLessOf, withCorrections } from './paid-less.mts';
import type { PayrollExecution } from './payroll-execution.mts';
import { registerOf } from './register.mts';
import { registerUpdates, type RegisterUpdate } from './register-updates.mts';
import type { CheckListItem, User } from './workflow.mts';

export interface ListExecution extends PayrollExecution {
	uploadedBy?: User;
	filename: string;
	purpose: string;
	period: string;
	/** The reason why the list as a whole cannot be used. */
	error: CheckListItem['error'];
	notRead: string[];
	/**
	 * *notValid*: an approval that does not count. *outdated*: an answer that came after another payment to somebody who
	 * was ready.
	 */
	decision: 'approved' | 'declined' | 'notValid' | 'outdated' | undefined;
	/** Those other payments. */
	paymentsSinceCheck: RegisterRow[];
	isPaying: boolean;
	/** Whether the page asks for approval. */
	asksForApproval: boolean;
	ready: PaymentRow[];
	unknown: PaymentRow[];
	notPaid: PaymentRow[];
	paidBefore: PaymentRow[];
	/** Those of them who were paid less than the list has. */
	paidLess: PaymentRow[];
	/** Those who were paid a correction for this purpose, with another amount than the list has. */
	otherCorrections: PaymentRow[];
	/** Those who were paid by this execution. */
	paidNow: PaymentRow[];
	updates: RegisterUpdate[];
	/** The payments of the period, for any purpose. */
	paidForPeriod: RegisterRow[];
}

function decisionOf(
	{ submitted, mode }: PayrollExecution,
	since: RegisterRow[],
): ListExecution['decision'] {
	if (submitted.decision === undefined) return undefined;
	if (submitted.decision === declineChoice) return 'declined';
	if (mode === 'pay') return 'approved';
	return since.length > 0 ? 'outdated' : 'notValid';
}

/** A row of a list that was approved too late. */
const asUnsent = (row: PaymentRow): PaymentRow => ({
	...row,
	outcome: 'notPaid',
	reason:
		'Nobody of the list was paid, because a payment of somebody in it changed meanwhile. Is it still to be paid?',
});

export function listExecution(given: PayrollExecution): ListExecution {
	const { register, sentEmployeeKeys, upload } = given;
	const [firstRow] = given.checkedRows;
	const since = paymentsSince({
		dryRun: given.firstResults,
		before: given.registerBefore,
		now: given.registerNow,
	});
	const decision = decisionOf(given, since);
	const rows = given.results.map((row) =>
		decision === 'outdated' && hasOutcome('ready')(row) ? asUnsent(row) : row,
	);
	const execution = { ...given, results: rows };
	const results = rows.map((row) => withCorrections(row, register));
	const withOutcome = (outcome: Outcome) => results.filter(hasOutcome(outcome));
	const [first = {}] = results;
	const period = first.period ?? upload?.period ?? '';
	const ready = withOutcome('ready');
	const isPaying = sentEmployeeKeys.size > 0;
	return {
		...execution,
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
			ready.length > 0 && !isPaying && (!given.isAnswered || decision === 'notValid'),
		unknown: withOutcome('unknown'),
		notPaid: withOutcome('notPaid'),
		paidBefore: withOutcome('alreadyPaid'),
		paidLess: paidLessOf(results, register),
		otherCorrections: otherCorrectionsOf(results),
		paidNow: withOutcome('paid'),
		updates: registerUpdates(execution),
		paidForPeriod: register.rows.filter((row) => hasOutcome('paid')(row) && row.period === period),
	};
}
