/** The page *What is open*, and after the statements the page of the rows that were recorded. */
import type { Code } from '../../nodes/EtbWallet/codes.ts';
import {
	hasOutcome,
	isDisputed,
	isOnlyRecorded,
	reasonOf,
	type PaymentRow,
	type RegisterRow,
} from './payment-row.mts';
import {
	byPeriod,
	formLink,
	heading,
	pageField,
	radio,
	section,
	uploadLink,
	type Part,
} from './page.mts';
import type { PayrollRun } from './payroll-run.mts';
import { disputeText, openDisputes, rowOf } from './register.mts';
import {
	isContradicted,
	itemsForWhatNext,
	registerUpdates,
	wasFreedBefore,
} from './register-updates.mts';
import {
	choices,
	fieldOf,
	mistakeChoices,
	mistakeField,
	noMistake,
	statementAbout,
	type Asked,
} from './settling.mts';
import { escapeHtml, forWhat, minuteOf, namesWithNumbers, settledAt, formatSum } from './text.mts';
import { isOfOtherWorkflow, itemsOf } from './workflow.mts';

/** The fields of the page: one for each payment that is open, and one for a wrong record. */
function questions(asked: Asked) {
	const fields = asked.open.map((row) => {
		const label = `${row.name ?? row.userId}, ${formatSum([row])} ETB (${row.reference})`;
		return radio(fieldOf(row), label, Object.values(choices), choices.notKnown);
	});
	const records = mistakeChoices(asked);
	const mistake = {
		fieldType: 'dropdown',
		fieldName: mistakeField,
		fieldLabel: 'Is one of these records wrong?',
		defaultValue: noMistake,
		fieldOptions: { values: [noMistake, ...records].map((option) => ({ option })) },
	};
	return records.length > 0 ? [...fields, mistake] : fields;
}

/** The reason why a payment stays paid although somebody said *It was not paid*. HTML. */
function reasonItStaysPaid(result: PaymentRow, { register }: PayrollRun): string {
	const known: RegisterRow = rowOf(register, result) ?? {};
	// The register was read before another page that was sent at the same moment wrote into it.
	const paid = hasOutcome('paid')(known) ? known : {};
	const how = paid.settledBy
		? `${paid.settledBy} recorded it as paid at ${settledAt(paid)}`
		: paid.paidAt
			? `it was paid at ${minuteOf(paid.paidAt)}`
			: 'somebody else recorded it as paid';
	return `${namesWithNumbers([known])} (${escapeHtml(result.reference)}): you said that it was not paid, but ${escapeHtml(how)}. Ask the partner service again. If it was not paid, ${correctionLink(known)}`;
}

/** The code of a result. A statement that changed nothing, because it was given before, is recorded too. */
const codeOf = (result: PaymentRow, run: PayrollRun): Code | undefined =>
	wasFreedBefore(result, run) ? 'settledNotPaid' : result.code;

/** The reason why a statement is not recorded; empty if it is. */
function reasonNotRecorded(result: PaymentRow, run: PayrollRun): string {
	const { message = '', remedy = '' } = result;
	const code = codeOf(result, run);
	if (code === 'settledPaid' || code === 'settledNotPaid' || code === 'paidBefore') return '';
	// The steps of the node do not fit here, because the page leads to its form itself.
	return code === 'notSettled'
		? `${message}. Ask the partner service again, and answer on a fresh page`
		: `${message}. ${remedy}`;
}

/** The parts about the statements: the payments that were recorded, and the reasons why others were not. */
function recordedParts(rows: RegisterRow[], unknown: RegisterRow[], run: PayrollRun): Part[] {
	const { submitted, register, results } = run;
	const codes = new Map(results.map((result) => [result.reference, codeOf(result, run)]));
	const endedAs = (code: Code): RegisterRow[] =>
		rows.filter(({ reference }) => codes.get(reference) === code);
	const [paid, notPaid] = [endedAs('settledPaid'), endedAs('settledNotPaid')];
	const paidBefore = endedAs('paidBefore');
	const denied = results.filter(
		(result) => result.code === 'paidBefore' && statementAbout(submitted, result) === 'notPaid',
	);
	// An unknown payment that has a transaction by now was sent again.
	const sentAgain = paidBefore.filter(
		(row) => statementAbout(submitted, row) === 'paid' && rowOf(register, row)?.txHash,
	);
	const others = paidBefore.filter(
		(row) =>
			!sentAgain.includes(row) && !denied.some(({ reference }) => reference === row.reference),
	);
	const contradicting = new Set(
		results.filter((result) => isContradicted(result, run)).map(({ reference }) => reference),
	);
	const contradicted = rows.filter(
		(row) => hasOutcome('unknown')(row) && contradicting.has(row.reference),
	);
	const isTakenBack = (row: RegisterRow) => statementAbout(submitted, row) === 'takesBack';
	const unknownAgain: Array<[string, RegisterRow[]]> = [
		['It was recorded as not paid by mistake', contradicted.filter(isTakenBack)],
		['The answers differ', contradicted.filter((row) => !isTakenBack(row))],
	];
	const told = new Set(contradicted.map(({ reference }) => reference));
	const notRecorded = results.flatMap((result) => {
		if (told.has(result.reference)) return [];
		const reason = reasonNotRecorded(result, run).replace(/\.\s*$/, '');
		const { name = '' }: RegisterRow = rowOf(register, result) ?? {};
		return reason === '' ? [] : [`${name} (${result.reference}): ${reason}`];
	});
	const outdated = unknown
		.filter((row) => statementAbout(submitted, row) && !codes.has(row.reference))
		.map(
			({ name, reference }) =>
				`${name} (${reference}): it changed after the page was opened, so it may have been sent again. Ask the partner service, and answer on a fresh page`,
		);
	const [first = {}] = itemsOf(() => $('Pay salaries'));
	const isAnythingSaid = register.rows.some((row) => statementAbout(submitted, row));
	const reasonOfNothing = isAnythingSaid ? reasonOf(first) : 'Nothing was recorded';
	const isNothing =
		paid.length + notPaid.length + contradicted.length === 0 &&
		notRecorded.length + outdated.length === 0;
	return [
		section('Recorded as paid', paid, register),
		section('Recorded as not paid', notPaid, register),
		sentAgain.length > 0 &&
			`<h4>Perhaps paid twice: ${namesWithNumbers(sentAgain)}. After the page was opened, somebody recorded it as not paid, and it was sent again and paid. Ask the partner service whether both were made.</h4>`,
		...denied.map(
			(result) => `<h4>It stays recorded as paid: ${reasonItStaysPaid(result, run)}.</h4>`,
		),
		section('Paid before, and it stays paid', others, register),
		...unknownAgain.map(
			([reason, people]) =>
				people.length > 0 &&
				`<h4>${reason}, so it is unknown again: ${namesWithNumbers(people)}. Ask the partner service once more, and answer on a fresh page.</h4>`,
		),
		...[...notRecorded, ...outdated].map(
			(reason) => `<h4>Not recorded: ${escapeHtml(reason)}.</h4>`,
		),
		isNothing && reasonOfNothing && `<h3>${escapeHtml(reasonOfNothing)}.</h3>`,
		isNothing && unknown.length > 0 && `<h3>${heading('Still unknown', unknown)}</h3>`,
	];
}

/** The words for a correction, with the link to its form. HTML. */
const correctionLink = ({ period }: RegisterRow): string =>
	`pay the amount as a ${uploadLink({ period, purpose: 'correction' }, 'correction')}`;

/** The parts about payments of which two people said different things. */
function disputedParts(disputed: RegisterRow[]): Part[] {
	const [first] = disputed;
	if (first === undefined) return [];
	return [
		`<h4>${disputeText(disputed)}. Ask the partner service once more. If it was paid, record that here. If it was not paid, ${correctionLink(first)}.</h4>`,
		section('Recorded as paid, but in doubt', disputed),
	];
}

/** The items of the Code node of a payroll in which somebody opened *What is open*. */
export function openPageItems(run: PayrollRun) {
	const updates = registerUpdates(run);
	const rows = updates.map(({ row }) => row);
	const changed = new Map(rows.map((row) => [row.reference, row]));
	const now = run.register.rows.map((row) => changed.get(row.reference) ?? row);
	const unknown = now.filter(hasOutcome('unknown'));
	const elsewhere = unknown.filter(isOfOtherWorkflow);
	const isOwn = (row: RegisterRow): boolean => !isOfOtherWorkflow(row) && Boolean(row.reference);
	const notPaid = now.filter(hasOutcome('notPaid'));
	const disputed = openDisputes(now, run.register);
	const recorded = now.filter((row) => isOnlyRecorded(row) && !isDisputed(row));
	const asked: Asked = {
		open: [...unknown, ...disputed].filter(isOwn),
		recorded: recorded.filter(isOwn),
		freed: notPaid.filter(isOwn).filter(({ settledBy }) => settledBy),
	};
	const isFirst = $runIndex === 0;
	const { path } = $('What is open').params.options;
	const hasList = path === 'etb-file-open'; // The monthly payroll has no list.
	const otherPath = hasList ? 'etb-payroll-open' : 'etb-file-open';
	const openParts: Part[] = [
		isFirst &&
			unknown.some(isOwn) &&
			'<h4>UNKNOWN: it may have been paid, also where a reason says that it failed. Ask the partner service, with wallet, amount and time. Until you know, leave <i>Not known yet</i>.</h4>',
		unknown.length === 0 && '<p>Nothing is UNKNOWN.</p>',
		elsewhere.length > 0 &&
			`<h4>UNKNOWN, sent by another workflow: ${namesWithNumbers(elsewhere)}. Each row names the workflow. Record the answer there: if it is the other payroll, on ${formLink(otherPath, 'its page What is open')}, else in its node that pays, with <i>Mode</i> on <i>Settle Unknown</i>. Then run that workflow again, or upload its list again.</h4>`,
	];
	const openAgain =
		!isFirst &&
		asked.open.length + mistakeChoices(asked).length > 0 &&
		`<p>To record more, or to correct a record: ${formLink(path, 'What is open')}</p>`;
	const [unpaidElsewhere, unpaidHere] = [notPaid.filter(isOfOtherWorkflow), notPaid.filter(isOwn)];
	const unpaid = new Map(unpaidHere.map((row) => [forWhat(row), row]));
	const links = [...unpaid]
		.filter(([, row]) => hasList && row.purpose)
		.map(
			([name, row]) => `<p>${uploadLink(row, `Upload the list of ${escapeHtml(name)} again`)}</p>`,
		);
	const howToPay = hasList
		? 'Then upload the list again.'
		: 'Then the next run of this workflow pays them, if the period is due. For an older period, write it as Period in the node Check List, run the workflow, and empty the field again.';
	const correct =
		unpaidHere.length > 0 &&
		`<p>Not paid by this workflow: correct the reason below, if there is one. ${howToPay} If the row was a mistake, such as a wrong month, do nothing: it only stays in this list.</p>`;
	const runAgain =
		unpaidElsewhere.length > 0 &&
		`<p>Not paid by another workflow: ${namesWithNumbers(unpaidElsewhere)}. Correct the reason below, and then run that workflow again, or upload its list.</p>`;
	const payments = byPeriod(now, run.register, (title, paid) => `<p>${heading(title, paid)}</p>`);
	const shown = pageField(
		...(isFirst ? [] : recordedParts(rows, unknown, run)),
		...disputedParts(disputed),
		...openParts,
		openAgain,
		correct,
		...links,
		runAgain,
		...payments,
	);
	const fields = isFirst ? [shown, ...questions(asked)] : [shown];
	// The second page has no button: its time runs out, and then nothing is asked any more.
	const pages = $runIndex < 2 ? [{ asks: true, fields, asked }] : [];
	return [...pages, ...itemsForWhatNext(updates, run)];
}
