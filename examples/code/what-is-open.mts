/** The page *What is open*, and after the statements the page of the rows that were recorded. */
import { hasOutcome, isSamePerson, isSettled, type RegisterRow } from './payment-row.mts';
import {
	byPeriod,
	formLink,
	formPaths,
	heading,
	pageField,
	radio,
	uploadLink,
	type Part,
} from './page.mts';
import type { PayrollExecution } from './payroll-execution.mts';
import { paidLastTime } from './register.mts';
import { itemsForWhatNext, registerUpdates } from './register-updates.mts';
import { choices, formFieldOf, takeBackChoice, takeBackField, type Asked } from './settling.mts';
import { statementParts } from './statement-parts.mts';
import { escapeHtml, forWhat, namesWithNumbers, formatSum } from './text.mts';
import { isOfOtherWorkflow } from './workflow.mts';

/** The fields of the page: one for each payment that is open, and one for records to take back. */
function questions(asked: Asked) {
	const fields = asked.unknown.map((row) => {
		const label = `${row.name ?? row.userId}, ${formatSum([row])} ETB (${row.reference})`;
		return radio(formFieldOf(row), label, Object.values(choices), choices.notKnown);
	});
	const takeBack = {
		fieldType: 'checkbox',
		fieldName: takeBackField,
		fieldLabel: 'Is one of these records wrong? Then it is unknown again.',
		fieldOptions: { values: asked.settled.map((row) => ({ option: takeBackChoice(row) })) },
	};
	return asked.settled.length > 0 ? [...fields, takeBack] : fields;
}

/** The items of the Code node of a payroll in which somebody opened *What is open*. */
export function whatIsOpenItems(execution: PayrollExecution) {
	const updates = registerUpdates(execution);
	const rows = updates.map(({ row }) => row);
	const changed = new Map(rows.map((row) => [row.reference, row]));
	const now = execution.register.rows.map((row) => changed.get(row.reference) ?? row);
	const unknown = now.filter(hasOutcome('unknown'));
	const elsewhere = unknown.filter(isOfOtherWorkflow);
	const isOwn = (row: RegisterRow): boolean => !isOfOtherWorkflow(row) && Boolean(row.reference);
	const notPaid = now.filter(hasOutcome('notPaid'));
	const asked: Asked = {
		unknown: unknown.filter(isOwn),
		settled: now.filter(isSettled).filter(isOwn),
	};
	const { openPath, pagesBefore } = execution;
	const isFirst = pagesBefore === 0;
	const hasList = openPath === formPaths.openOfFile; // The monthly payroll has no list.
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
		asked.unknown.length + asked.settled.length > 0 &&
		`<p>To record more, or to correct a record: ${formLink(openPath, 'What is open')}</p>`;
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
	const salaries = now.filter(({ purpose }) => purpose === 'salary');
	const period =
		salaries
			.map((row) => row.period ?? '')
			.sort()
			.at(-1) ?? '';
	const leftOut = paidLastTime(execution.register, { period, purpose: 'salary' }).filter(
		(row) => !salaries.some((each) => each.period === period && isSamePerson(each, row)),
	);
	const payments = byPeriod(
		now,
		execution.register,
		(title, paid) => `<p>${heading(title, paid)}</p>`,
	);
	const shown = pageField(
		...(isFirst ? [] : statementParts(rows, unknown, execution)),
		...openParts,
		openAgain,
		correct,
		...links,
		runAgain,
		leftOut.length > 0 &&
			`<p>In the salaries before, and not in those of ${escapeHtml(period)}: ${namesWithNumbers(leftOut)}.</p>`,
		...payments,
	);
	const fields = isFirst ? [shown, ...questions(asked)] : [shown];
	// The second page has no button: its time runs out, and then nothing is asked any more.
	const pages = pagesBefore < 2 ? [{ asks: true, fields, asked }] : [];
	return [...pages, ...itemsForWhatNext(updates, execution)];
}
