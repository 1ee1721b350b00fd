/** The parts of the page *What is open* about statements: the payments that they settled, and why others were not. */
import type { Code } from '../../nodes/EtbWallet/codes.ts';
import { groupBy } from '../../nodes/shared/groupBy.ts';
import { formLink, heading, section, uploadLink, type Part } from './page.mts';
import {
	hasOutcome,
	isPerhapsTwice,
	isVoided,
	roundingEtb,
	reasonOf,
	type PaymentRow,
	type RegisterRow,
} from './payment-row.mts';
import type { PayrollExecution } from './payroll-execution.mts';
import {
	correctionsOf,
	missingForVoided,
	nextCorrection,
	registerOf,
	rowOf,
	type Register,
} from './register.mts';
import { changeOfPaid, isContradicted, wasFreedBefore } from './register-updates.mts';
import { statementAbout } from './settling.mts';
import { escapeHtml, formatSum, forWhat, minuteOf, namesWithNumbers, settledAt } from './text.mts';

/** The words for paying an amount that was not paid, with the link to the form. HTML. */
export function correctionLink(row: RegisterRow, register: Register): string {
	const { period } = row;
	const purpose = nextCorrection([row], register);
	return purpose === undefined || !period
		? 'pay the amount with the workflow Pay a user'
		: `pay the amount as a ${uploadLink({ period, purpose }, escapeHtml(`${purpose} for ${period}`))}`;
}

/** The words for the voided payments of a person in a period, as long as corrections are missing for them. HTML. */
function voidedText(voided: RegisterRow[], register: Register): string {
	const [first = {}] = voided;
	const missing = missingForVoided(first, register);
	const corrections = correctionsOf(first, register);
	const isUnknown = voided.some(({ requestedAmountEtb }) => !requestedAmountEtb);
	if (missing <= roundingEtb && (!isUnknown || corrections.length > 0)) return '';
	const payments = voided.map(({ requestedAmountEtb, ...row }) => {
		const sum = requestedAmountEtb ? formatSum([{ amountEtb: requestedAmountEtb }]) : 'unknown';
		return `${sum} ETB for ${escapeHtml(forWhat(row))} (${escapeHtml(row.reason)})`;
	});
	const link = correctionLink(first, register);
	const next =
		corrections.length > 0
			? `Corrections for ${escapeHtml(first.period)}: ${formatSum(corrections)} ETB, so ${formatSum([{ amountEtb: missing }])} ETB may be missing. If it is, ${link}`
			: `Still to be paid? Then ${link}`;
	return `Recorded as paid by mistake: ${namesWithNumbers([first])}, ${payments.join(', ')}. ${next}`;
}

/** The parts in red about statements of which somebody has to see the end. */
export function openStatementParts(rows: RegisterRow[]): Part[] {
	const register = registerOf(rows);
	const voided = groupBy(rows.filter(isVoided), (row) => `${row.employeeKey} ${row.period}`);
	const perhapsTwice = rows
		.filter(isPerhapsTwice)
		.map(
			(row) =>
				`Perhaps paid twice: ${namesWithNumbers([row])}, ${formatSum([row])} ETB for ${escapeHtml(forWhat(row))} (${escapeHtml(row.reason)}). Ask the partner service whether both were made, and ask for one back. Then choose it on the page What is open, under <i>Is one of these records wrong?</i>`,
		);
	return [...[...voided.values()].map((of) => voidedText(of, register)), ...perhapsTwice].map(
		(text) => text && `<h4>${text}.</h4>`,
	);
}

/** The reason why a payment stays paid although somebody said *It was not paid*. HTML. */
function reasonItStaysPaid(result: PaymentRow, { register, openPath }: PayrollExecution): string {
	const known: RegisterRow = rowOf(register, result) ?? {};
	// The register was read before another page that was sent at the same moment wrote into it.
	const paid = hasOutcome('paid')(known) ? known : {};
	const how = paid.settledBy
		? `${paid.settledBy} recorded it as paid at ${settledAt(paid)}`
		: paid.paidAt
			? `it was paid at ${minuteOf(paid.paidAt)}`
			: 'somebody else recorded it as paid';
	const next = paid.txHash
		? `with the transaction ${paid.txHash}. If it was not paid, ${correctionLink(known, register)}`
		: `If it was not paid, say on a fresh page ${formLink(openPath, 'What is open')} that this record is wrong`;
	return `${namesWithNumbers([known])} (${escapeHtml(result.reference)}): you said that it was not paid, but ${escapeHtml(how)}. Ask the partner service again${paid.txHash ? ', ' : '. '}${next}`;
}

/** The code of a result. A statement that changed nothing, because it was given before, is recorded too. */
const codeOf = (result: PaymentRow, execution: PayrollExecution): Code | undefined =>
	wasFreedBefore(result, execution) ? 'settledNotPaid' : result.code;

/** The reason why a statement is not recorded; empty if it is. */
function reasonNotRecorded(result: PaymentRow, execution: PayrollExecution): string {
	const { message = '', remedy = '' } = result;
	const code = codeOf(result, execution);
	if (code === 'settledPaid' || code === 'settledNotPaid' || code === 'paidBefore') return '';
	// The steps of the node do not fit here, because the page leads to its form itself.
	return code === 'notSettled'
		? `${message}. Ask the partner service again, and answer on a fresh page`
		: `${message}. ${remedy}`;
}

/** The rows after some statements, by what became of each. */
interface StatementEnds {
	settledPaid: RegisterRow[];
	settledNotPaid: RegisterRow[];
	/** Those that stay paid, of which somebody said *It was not paid*. */
	denied: RegisterRow[];
	/** Those that somebody had recorded as not paid by mistake, and that were sent again. */
	perhapsTwice: RegisterRow[];
	/** Those of which somebody found out what became of both. */
	once: RegisterRow[];
	/** Those of which a record *paid* was taken back, and those of which that was taken back again. */
	voided: RegisterRow[];
	restored: RegisterRow[];
	/** Others that were paid before. */
	paidBefore: RegisterRow[];
	/** Those that are unknown again, because a *not paid* was taken back, or because two statements differ. */
	unknownAgain: RegisterRow[];
	differing: RegisterRow[];
	/** Those that changed after the page was opened, so that the node got no statement about them. */
	outdated: RegisterRow[];
	/** The others, with the reason why nothing was recorded. */
	notRecorded: string[];
}

function endsOf(
	rows: RegisterRow[],
	unknown: RegisterRow[],
	execution: PayrollExecution,
): StatementEnds {
	const { submitted, register, results } = execution;
	const byReference = new Map(results.map((result) => [result.reference, result]));
	const isSaid = (row: RegisterRow, wanted: ReturnType<typeof statementAbout>): boolean =>
		statementAbout(submitted, row) === wanted;
	const endedAs = (code: Code): RegisterRow[] =>
		rows.filter(({ reference }) => {
			const result = byReference.get(reference);
			return result !== undefined && codeOf(result, execution) === code;
		});
	const paidBefore = endedAs('paidBefore');
	const rowsWhere = (holds: (result: PaymentRow, old: RegisterRow) => boolean): RegisterRow[] =>
		rows.filter((row) => {
			const [result, old] = [byReference.get(row.reference), rowOf(register, row)];
			return result !== undefined && old !== undefined && holds(result, old);
		});
	const changedAs = (change: ReturnType<typeof changeOfPaid>): RegisterRow[] =>
		rowsWhere((result, old) => changeOfPaid(result, old, execution) === change);
	const [restored, once] = [changedAs('restored'), changedAs('once')];
	const voided = rowsWhere((result, old) => {
		const change = changeOfPaid(result, old, execution);
		return change === 'voided' || (change === undefined && isVoided(old));
	});
	// The register can lack the payment of one that was freed, sent again, and paid.
	const wasFreed = (old: RegisterRow): boolean =>
		hasOutcome('notPaid')(old) && Boolean(old.settledBy);
	const perhapsTwice = rowsWhere(
		(result, old) =>
			changeOfPaid(result, old, execution) === 'perhapsTwice' ||
			(result.code === 'paidBefore' && wasFreed(old) && isSaid(result, 'takesBackNotPaid')),
	);
	const denied = paidBefore.filter((row) => isSaid(row, 'notPaid') && !voided.includes(row));
	const endsElsewhere = new Set([...denied, ...perhapsTwice, ...once, ...voided, ...restored]);
	const contradicted = rows.filter((row) => {
		const result = byReference.get(row.reference);
		return result !== undefined && hasOutcome('unknown')(row) && isContradicted(result, execution);
	});
	const told = new Set(contradicted.map(({ reference }) => reference));
	return {
		settledPaid: endedAs('settledPaid').filter((row) => !endsElsewhere.has(row)),
		settledNotPaid: endedAs('settledNotPaid'),
		denied,
		perhapsTwice,
		once,
		voided,
		restored,
		paidBefore: paidBefore.filter((row) => !endsElsewhere.has(row)),
		unknownAgain: contradicted.filter((row) => isSaid(row, 'takesBackNotPaid')),
		differing: contradicted.filter((row) => !isSaid(row, 'takesBackNotPaid')),
		outdated: unknown.filter((row) => !isSaid(row, undefined) && !byReference.has(row.reference)),
		notRecorded: results.flatMap((result) => {
			const reason = told.has(result.reference) ? '' : reasonNotRecorded(result, execution);
			const { name = '' }: RegisterRow = rowOf(register, result) ?? {};
			return (reason && `${name} (${result.reference}): ${reason.replace(/\.\s*$/, '')}`) || [];
		}),
	};
}

/** @param rows the rows of the results, as they are now @param unknown all rows that are unknown now */
export function statementParts(
	rows: RegisterRow[],
	unknown: RegisterRow[],
	execution: PayrollExecution,
): Part[] {
	const { submitted, register, lastResults } = execution;
	const ends = endsOf(rows, unknown, execution);
	const isNothing = Object.values(ends).every(({ length }: { length: number }) => length === 0);
	const isAnythingSaid = register.rows.some((row) => statementAbout(submitted, row));
	const [first = {}] = lastResults;
	const reasonOfNothing = isAnythingSaid ? reasonOf(first) : 'Nothing was recorded';
	const isPaidCorrection = (each: RegisterRow): boolean =>
		hasOutcome('paid')(each) && !isVoided(each);
	const corrected = ends.restored.filter((row) =>
		correctionsOf(row, register).some(
			(each) => each.reference !== row.reference && isPaidCorrection(each),
		),
	);
	const unknownPart = (reason: string, people: RegisterRow[]): Part =>
		people.length > 0 &&
		`<h4>${reason}, so it is unknown again: ${namesWithNumbers(people)}. Ask the partner service once more, and answer on a fresh page.</h4>`;
	const outdated = ends.outdated.map(
		({ name, reference }) =>
			`${name} (${reference}): it changed after the page was opened, so it may have been sent again. Ask the partner service, and answer on a fresh page`,
	);
	return [
		section('Recorded as paid', [...ends.settledPaid, ...ends.restored], register),
		section('Recorded as paid by mistake', ends.voided, register, false),
		corrected.length > 0 &&
			`<h4>Perhaps paid twice: ${namesWithNumbers(corrected)}. A correction was paid for the same period. Was it in place of this payment? Then ask for one of them back.</h4>`,
		section('Recorded as not paid', ends.settledNotPaid, register),
		section('Settled: it was perhaps paid twice', ends.once, register),
		ends.perhapsTwice.length > 0 &&
			`<h4>Perhaps paid twice: ${namesWithNumbers(ends.perhapsTwice)}. It was recorded as not paid, sent again, and paid. Ask the partner service whether both were made.</h4>`,
		...ends.denied.map(
			(row) => `<h4>It stays recorded as paid: ${reasonItStaysPaid(row, execution)}.</h4>`,
		),
		section('Paid before, and it stays paid', ends.paidBefore, register),
		unknownPart('It was recorded as not paid by mistake', ends.unknownAgain),
		unknownPart('The answers differ', ends.differing),
		...[...ends.notRecorded, ...outdated].map(
			(reason) => `<h4>Not recorded: ${escapeHtml(reason)}.</h4>`,
		),
		isNothing && reasonOfNothing && `<h3>${escapeHtml(reasonOfNothing)}.</h3>`,
		isNothing && unknown.length > 0 && `<h3>${heading('Still unknown', unknown)}</h3>`,
	];
}
