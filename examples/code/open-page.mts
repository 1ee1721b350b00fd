/** The page *What is open*, and after the statements the page of the rows that were recorded. */
import { hasOutcome, isDisputed, isOnlyRecorded, type RegisterRow } from './payment-row.mts';
import {
	byPeriod,
	formLink,
	formPaths,
	heading,
	pageField,
	radio,
	section,
	uploadLink,
	type Part,
} from './page.mts';
import type { PayrollRun } from './payroll-run.mts';
import { correctionsOf, disputeText, mayBeReplaced, type Register } from './register.mts';
import { itemsForWhatNext, registerUpdates } from './register-updates.mts';
import {
	choices,
	disputeChoices,
	fieldOf,
	mistakeChoices,
	mistakeField,
	noMistake,
	type Asked,
} from './settling.mts';
import { correctionLink, statementParts } from './statement-parts.mts';
import { escapeHtml, forWhat, namesWithNumbers, formatSum } from './text.mts';
import { isOfOtherWorkflow } from './workflow.mts';

/** The fields of the page: one for each payment that is open, and one for a wrong record. */
function questions(asked: Asked, register: Register) {
	const question = (row: RegisterRow, options: Readonly<Record<string, string>>) => {
		const label = `${row.name ?? row.userId}, ${formatSum([row])} ETB (${row.reference})`;
		return radio(fieldOf(row), label, Object.values(options), choices.notKnown);
	};
	const fields = [
		...asked.unknown.map((row) => question(row, choices)),
		...asked.disputed.map((row) => {
			const { replaced, ...others } = disputeChoices;
			return question(row, mayBeReplaced(row, register) ? { ...others, replaced } : others);
		}),
	];
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

/** The steps for a payment that is in doubt. HTML. */
function disputeAdvice(row: RegisterRow, register: Register): string {
	if (!mayBeReplaced(row, register))
		return `Was it paid? Record that here. Was it not paid? Then ${correctionLink(row, register)}, and afterwards record that here`;
	const sum = formatSum(correctionsOf(row, register));
	return `Corrections of ${sum} ETB were paid for ${escapeHtml(row.period)}. Was one of them in its place? Record that here. Was this one paid too? Then it was paid twice: record that it was paid, and ask for the correction back`;
}

/** The parts about payments that are recorded as paid, but in doubt. */
const disputedParts = (disputed: RegisterRow[], register: Register): Part[] => [
	...disputed.map(
		(row) =>
			`<h4>${disputeText([row])}. Ask the partner service once more. ${disputeAdvice(row, register)}.</h4>`,
	),
	section('Recorded as paid, but in doubt', disputed),
];

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
	const disputed = now.filter(isDisputed);
	const recorded = now.filter((row) => isOnlyRecorded(row) && !isDisputed(row));
	const asked: Asked = {
		unknown: unknown.filter(isOwn),
		disputed: disputed.filter(isOwn),
		recorded: recorded.filter(isOwn),
		freed: notPaid.filter(isOwn).filter(({ settledBy }) => settledBy),
	};
	const isFirst = $runIndex === 0;
	const { path } = $('What is open').params.options;
	const hasList = path === formPaths.openOfFile; // The monthly payroll has no list.
	const otherPath = hasList ? formPaths.openOfMonth : formPaths.openOfFile;
	const openParts: Part[] = [
		isFirst &&
			asked.unknown.length > 0 &&
			'<h4>UNKNOWN: it may have been paid, also where a reason says that it failed. Ask the partner service, with wallet, amount and time. Until you know, leave <i>Not known yet</i>.</h4>',
		unknown.length === 0 && '<p>Nothing is UNKNOWN.</p>',
		elsewhere.length > 0 &&
			`<h4>UNKNOWN, sent by another workflow: ${namesWithNumbers(elsewhere)}. Each row names the workflow. Record the answer there: if it is the other payroll, on ${formLink(otherPath, 'its page What is open')}, else in its node that pays, with <i>Mode</i> on <i>Settle Unknown</i>. Then run that workflow again, or upload its list again.</h4>`,
	];
	const openAgain =
		!isFirst &&
		asked.unknown.length + asked.disputed.length + mistakeChoices(asked).length > 0 &&
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
		...(isFirst ? [] : statementParts(rows, unknown, run)),
		...disputedParts(disputed, run.register),
		...openParts,
		openAgain,
		correct,
		...links,
		runAgain,
		...payments,
	);
	const fields = isFirst ? [shown, ...questions(asked, run.register)] : [shown];
	// The second page has no button: its time runs out, and then nothing is asked any more.
	const pages = $runIndex < 2 ? [{ asks: true, fields, asked }] : [];
	return [...pages, ...itemsForWhatNext(updates, run)];
}
