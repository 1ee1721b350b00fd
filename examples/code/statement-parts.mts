/** The parts of the page *What is open* about statements: the payments that they settled, and why others were not. */
import { groupBy } from '../../nodes/shared/groupBy.ts';
import { formLink, heading, section, type Part } from './page.mts';
import { wasSentAgain, type PaymentRow, type RegisterRow } from './payment-row.mts';
import type { PayrollExecution } from './payroll-execution.mts';
import { rowOf } from './register.mts';
import { isUnknownAgain, wasSettledInNode } from './register-updates.mts';
import { isOutdated, answerAbout } from './settling.mts';
import { escapeHtml, namesWithNumbers } from './text.mts';

/**
 * The end of a statement:
 *
 * - *settledPaid*, *settledNotPaid*: it was unknown
 * - *paidBefore*: it was paid already
 * - *sentAgain*: it was paid already, by a second sending after a *not paid* that was perhaps wrong
 * - *takenBack*, *contradicted*: it is unknown again, because this statement takes another one back, or differs from it
 * - *notRecorded*: nothing changed, for a reason that the result tells
 */
type StatementEnd =
	| 'settledPaid'
	| 'settledNotPaid'
	| 'paidBefore'
	| 'sentAgain'
	| 'takenBack'
	| 'contradicted'
	| 'notRecorded';

/** @param old the row of the register before the statement */
function endOf(result: PaymentRow, old: RegisterRow, execution: PayrollExecution): StatementEnd {
	const isTakenBack = answerAbout(execution.submitted, result) === 'takeBack';
	if (isUnknownAgain(result, old, execution)) return isTakenBack ? 'takenBack' : 'contradicted';
	if (wasSettledInNode(result, old, execution)) return 'settledNotPaid';
	if (result.code === 'settledPaid' || result.code === 'settledNotPaid') return result.code;
	if (result.code !== 'paidBefore') return 'notRecorded';
	return isTakenBack && (wasSentAgain(old) || old.outcome === 'notPaid')
		? 'sentAgain'
		: 'paidBefore';
}

/** The reason why a statement is not recorded. */
function reasonNotRecorded({ code, message = '', remedy = '' }: PaymentRow): string {
	// The steps of the node do not fit here, because the page leads to its form itself.
	const next =
		code === 'notSettled' ? 'Ask the partner service again, and answer on a fresh page' : remedy;
	return `${message}. ${next}`.replace(/\.\s*$/, '');
}

/** @param rows the rows of the results, as they are now @param unknown all rows that are unknown now */
export function statementParts(
	rows: RegisterRow[],
	unknown: RegisterRow[],
	execution: PayrollExecution,
): Part[] {
	const { submitted, register, lastResults, results, registerBefore, registerNow, openPath } =
		execution;
	const statements = results.map((result, index) => ({ result, row: rows[index] ?? {} }));
	const ends = groupBy(statements, ({ result }) =>
		endOf(result, rowOf(register, result) ?? {}, execution),
	);
	const rowsOf = (end: StatementEnd): RegisterRow[] => (ends.get(end) ?? []).map(({ row }) => row);
	// Somebody had recorded it as not paid, and then it was sent again.
	const perhapsPaidTwice = (ends.get('settledPaid') ?? [])
		.filter(({ result }) => {
			const old = rowOf(register, result) ?? {};
			return old.outcome === 'unknown' && old.settledBy;
		})
		.map(({ row }) => row);
	const people = (before: string, of: RegisterRow[], after: string): Part =>
		of.length > 0 && `<h4>${before}: ${namesWithNumbers(of)}. ${after}.</h4>`;
	const askAgain = `Ask the partner service once more, and ${formLink(openPath, 'answer on a fresh page')}`;
	const isAnswered = new Set(rows.map(({ reference }) => reference));
	// A node that could settle nothing gives one item, without a reference. It got no statement that was outdated.
	const failure = lastResults.find(({ reference }) => !reference);
	const withoutResult = register.rows.filter(
		(row) => answerAbout(submitted, row) !== undefined && !isAnswered.has(row.reference),
	);
	const changed =
		'it changed after the page was opened. Ask the partner service, and answer on a fresh page';
	const notRecorded = [
		...(ends.get('notRecorded') ?? []).map(
			({ result, row }) => `${row.name} (${row.reference}): ${reasonNotRecorded(result)}`,
		),
		...withoutResult.map((row) => {
			const isFailure = failure !== undefined && !isOutdated(row, registerBefore, registerNow);
			return `${row.name} (${row.reference}): ${isFailure ? reasonNotRecorded(failure) : changed}`;
		}),
	];
	const isNothing = ends.size === 0 && withoutResult.length === 0;
	return [
		section('Recorded as paid', rowsOf('settledPaid'), register),
		section('Recorded as not paid', rowsOf('settledNotPaid'), register),
		people(
			'The next list or run pays',
			rowsOf('settledNotPaid'),
			`Is one of them perhaps paid? Then take that back on ${formLink(openPath, 'a fresh page')}`,
		),
		section('Paid before, and it stays paid', rowsOf('paidBefore'), register),
		people(
			'Sent again since, and paid',
			[...rowsOf('sentAgain'), ...perhapsPaidTwice],
			'Was it paid before too? Then ask the partner service for one of the two back',
		),
		people('The record is taken back, so it is unknown again', rowsOf('takenBack'), askAgain),
		people('The answers differ, so it is unknown again', rowsOf('contradicted'), askAgain),
		...notRecorded.map((reason) => `<h4>Not recorded: ${escapeHtml(reason)}.</h4>`),
		isNothing && '<h3>Nothing was recorded.</h3>',
		isNothing && unknown.length > 0 && `<h3>${heading('Still unknown', unknown)}</h3>`,
	];
}
