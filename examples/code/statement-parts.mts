/** The parts of the page *What is open* about statements: the payments that they settled, and why others were not. */
import { groupBy } from '../../nodes/shared/groupBy.ts';
import { formLink, heading, section, uploadLink, type Part } from './page.mts';
import {
	hasOutcome,
	isPerhapsTwice,
	isCorrection,
	isPaidByStatement,
	requestedOf,
	isOpenVoided,
	reasonOf,
	type PaymentRow,
	type RegisterRow,
} from './payment-row.mts';
import type { PayrollExecution } from './payroll-execution.mts';
import { correctionsOf, nextCorrection, registerOf, rowOf, type Register } from './register.mts';
import { statementAbout } from './settling.mts';
import { statementsByEnd, type StatementEnd } from './statement-ends.mts';
import {
	escapeHtml,
	formatSum,
	forWhat,
	minuteOf,
	namesWithNumbers,
	notPaidAfterAll,
	settledAt,
} from './text.mts';

/** The words for paying an amount that was not paid, with the link to the form. HTML. */
export function correctionLink(row: RegisterRow, register: Register): string {
	const { period } = row;
	const purpose = nextCorrection([row], register);
	return purpose === undefined || !period
		? 'pay the amount with the workflow Pay a user'
		: `pay the amount as a ${uploadLink({ period, purpose }, escapeHtml(`${purpose} for ${period}`))}`;
}

/** The words for the choice that ends a red line. HTML. */
const chooseThat = (words: string): string =>
	`choose that ${words}, on the page What is open, under <i>Is one of these records wrong?</i>`;

/** The last of the statements about a payment. HTML. */
const lastStatement = ({ reason }: RegisterRow): string =>
	escapeHtml((reason ?? '').split('. ').at(-1));

/** The words for the open voided payments of a person in a period. HTML. */
function openVoidedText(voided: RegisterRow[], register: Register): string {
	const [first = {}] = voided;
	// A voided correction was one more try to pay the others.
	const others = voided.filter((row) => !isCorrection(row));
	const missing = others.length > 0 ? others : voided;
	const payments = missing.map((row) => {
		const sum = row.requestedAmountEtb ? formatSum([requestedOf(row)]) : 'unknown';
		return `${sum} ETB for ${escapeHtml(forWhat(row))} (${lastStatement(row)})`;
	});
	const corrections = correctionsOf(first, register);
	const paid =
		corrections.length > 0
			? ` Corrections that were paid, or may have been, for ${escapeHtml(first.period)}: ${formatSum(corrections)} ETB.`
			: '';
	const end = `Was it paid since? Then ${chooseThat('nothing is missing any more')}.`;
	const pay = `Still to be paid? Then ${correctionLink(first, register)}.`;
	return `${notPaidAfterAll}: ${namesWithNumbers([first])}, ${payments.join(', ')}.${paid} ${corrections.length > 0 ? `${end} ${pay}` : `${pay} ${end}`}`;
}

/** The parts in red about statements of which somebody has to see the end. */
export function openStatementParts(rows: RegisterRow[]): Part[] {
	const register = registerOf(rows);
	const voided = groupBy(
		rows.filter(isOpenVoided),
		(row) => `${row.employeeKey || row.reference} ${row.period}`,
	);
	const perhapsTwice = rows
		.filter(isPerhapsTwice)
		.map(
			(row) =>
				`Perhaps paid twice: ${namesWithNumbers([row])}, ${formatSum([row])} ETB for ${escapeHtml(forWhat(row))} (${lastStatement(row)}). Was it also paid in another way? Ask the partner service whether both were made, and ask for one back. Then ${chooseThat('one came back, or how it ended')}.${isPaidByStatement(row) ? ' Was this one not made? Then choose that it was recorded as paid, but it was not.' : ''}`,
		);
	return [...[...voided.values()].map((of) => openVoidedText(of, register)), ...perhapsTwice].map(
		(text) => `<h4>${text}</h4>`,
	);
}

/** The reason why a payment stays paid although somebody said *It was not paid*. HTML. */
function reasonItStaysPaid(result: PaymentRow, { register, openPath }: PayrollExecution): string {
	const known: RegisterRow = rowOf(register, result) ?? {};
	// The register was read before another page that was sent at the same moment wrote into it.
	const paid = hasOutcome('paid')(known) ? known : {};
	const how = isPaidByStatement(paid)
		? `${paid.settledBy} recorded it as paid at ${settledAt(paid)}`
		: paid.paidAt
			? `it was paid at ${minuteOf(paid.paidAt)}`
			: 'somebody else recorded it as paid';
	const next = paid.txHash
		? `with the transaction ${paid.txHash}. If it was not paid, ${correctionLink(known, register)}`
		: `If it was not paid, say on a fresh page ${formLink(openPath, 'What is open')} that this record is wrong`;
	return `${namesWithNumbers([known])} (${escapeHtml(result.reference)}): you said that it was not paid, but ${escapeHtml(how)}. Ask the partner service again${paid.txHash ? ', ' : '. '}${next}`;
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
	const { submitted, register, lastResults } = execution;
	const ends = statementsByEnd(rows, execution);
	const rowsOf = (end: StatementEnd): RegisterRow[] => (ends.get(end) ?? []).map(({ row }) => row);
	const people = (before: string, of: RegisterRow[], after: string): Part =>
		of.length > 0 && `<h4>${before}: ${namesWithNumbers(of)}. ${after}.</h4>`;
	const askAgain = 'Ask the partner service once more, and answer on a fresh page';
	const isAnswered = new Set(rows.map(({ reference }) => reference));
	// The node got no statement about them.
	const outdated = unknown.filter(
		(row) => statementAbout(submitted, row) !== undefined && !isAnswered.has(row.reference),
	);
	const notRecorded = [
		...(ends.get('notRecorded') ?? []).map(
			({ result, row }) => `${row.name} (${row.reference}): ${reasonNotRecorded(result)}`,
		),
		...outdated.map(
			({ name, reference }) =>
				`${name} (${reference}): it changed after the page was opened, so it may have been sent again. Ask the partner service, and answer on a fresh page`,
		),
	];
	const isNothing = ends.size === 0 && outdated.length === 0;
	const isAnythingSaid = register.rows.some((row) => statementAbout(submitted, row));
	const [first = {}] = lastResults;
	const reasonOfNothing = isAnythingSaid ? reasonOf(first) : 'Nothing was recorded';
	return [
		section('Recorded as paid', rowsOf('settledPaid'), register),
		section(notPaidAfterAll, rowsOf('voided'), register, false),
		section('Recorded as not paid', rowsOf('settledNotPaid'), register),
		section('Nothing is left to do', rowsOf('closed'), register),
		people(
			'Perhaps paid twice',
			rowsOf('perhapsTwice'),
			'Ask the partner service whether both were made',
		),
		...(ends.get('denied') ?? []).map(
			({ result }) =>
				`<h4>It stays recorded as paid: ${reasonItStaysPaid(result, execution)}.</h4>`,
		),
		section('Paid before, and it stays paid', rowsOf('paidBefore'), register),
		people(
			'It was recorded as not paid by mistake, so it is unknown again',
			rowsOf('unknownAgain'),
			askAgain,
		),
		people('The answers differ, so it is unknown again', rowsOf('differing'), askAgain),
		...notRecorded.map((reason) => `<h4>Not recorded: ${escapeHtml(reason)}.</h4>`),
		isNothing && reasonOfNothing && `<h3>${escapeHtml(reasonOfNothing)}.</h3>`,
		isNothing && unknown.length > 0 && `<h3>${heading('Still unknown', unknown)}</h3>`,
	];
}
