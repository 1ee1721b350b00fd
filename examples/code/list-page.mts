/** The page of a list: the one that asks for approval, and the one at the end. */
import type { Warning } from './list-warnings.mts';
import type { ListExecution } from './list-execution.mts';
import {
	columnsNotRead,
	formLink,
	formPaths,
	heading,
	noPersons,
	pageField,
	section,
	uploadLink,
	type Part,
	type Title,
} from './page.mts';
import {
	amountOf,
	hasOutcome,
	hasRemark,
	isCorrection,
	isTitleOrTotal,
	isPaidByStatement,
	referenceOf,
	remarksWithout,
	type PaymentRow,
	type RegisterRow,
} from './payment-row.mts';
import { paidLessText } from './paid-less.mts';
import { nextCorrection, paidLastTime, rowOf } from './register.mts';
import { needsPerson, type RegisterUpdate } from './register-updates.mts';
import {
	peopleText,
	escapeHtml,
	forWhat,
	localTime,
	minuteOf,
	namesWithNumbers,
	formatSum,
} from './text.mts';
import type { User } from './workflow.mts';

const nameOf = (user?: User): string =>
	escapeHtml(user ? `${user.firstName} ${user.lastName} (${user.email})` : 'nobody');

const fileAndUploader = ({ filename, uploadedBy }: ListExecution): string =>
	`${escapeHtml(filename)}, uploaded by ${nameOf(uploadedBy)}`;

/** A title with its payments. */
type Group = [title: Title, rows: PaymentRow[], hasSum?: boolean];

/** The payments that the person who approves has to look at. A correction is judged by what was paid before. */
function rowsToLookAt(execution: ListExecution, warnings: Warning[]): PaymentRow[] {
	const { ready, register, period, paidForPeriod } = execution;
	const withOtherPayments = (row: PaymentRow): PaymentRow => {
		const paidForIt = paidForPeriod.filter(({ employeeKey }) => employeeKey === row.employeeKey);
		const recorded = paidForIt
			.filter(isPaidByStatement)
			.map(
				(each) =>
					` ${each.settledBy} recorded ${formatSum([each])} ETB for ${forWhat(each)} as paid, without a transaction.`,
			);
		const text = `Paid for ${period} before: ${formatSum(paidForIt)} ETB.${recorded.join('')}`;
		const others = (row.remarks ?? []).filter(({ code }) => code !== 'paidForPeriod');
		return { ...row, remarks: [...others, { code: 'paidForPeriod', text }] };
	};
	const warned = new Set(
		warnings.flatMap(({ rows, isLarge }) => (isLarge ? rows.map(({ line }) => line) : [])),
	);
	return (isCorrection(execution) ? ready.map(withOtherPayments) : ready)
		.filter(
			(row) =>
				remarksWithout(row, ['rounded', 'paidLately', 'sameAmountLately', 'sameName']).length > 0 ||
				(warned.has(row.line) && warned.size * 2 < ready.length) ||
				rowOf(register, row)?.settledBy,
		)
		.sort((one, other) => Number(warned.has(other.line)) - Number(warned.has(one.line)));
}

/** People who are set up for such lists, or were paid last time, and are not in this list. */
function absentPeople(execution: ListExecution): PaymentRow[] {
	const { register, results, period, purpose } = execution;
	// A correction is for few of them.
	if (isCorrection(execution)) return [];
	const ofPurpose = register.rows.filter((row) => row.purpose === purpose);
	const known = ofPurpose.filter(hasOutcome('paid'));
	const thisTime = ofPurpose.filter((row) => row.period === period && !hasOutcome('notPaid')(row));
	const persons = new Set([...results, ...thisTime].map(({ employeeKey }) => employeeKey));
	const ofFile = execution.people.filter(({ payroll }) => payroll === 'file');
	const expected = [
		...(purpose === 'salary' ? ofFile : []),
		...paidLastTime(register, { period, purpose }),
	].filter(({ employeeKey }) => employeeKey && !persons.has(employeeKey));
	const firstPaid = (key: RegisterRow['employeeKey']): string =>
		known
			.filter((row) => row.employeeKey === key)
			.map((row) => row.period ?? '')
			.sort()[0] ?? '';
	return [...new Map(expected.map((row) => [row.employeeKey, row])).values()].map((row) => {
		const first = firstPaid(row.employeeKey);
		const text = `The first payment was for ${first}.`;
		return first > period ? { ...row, remarks: [{ code: 'new', text }] } : row;
	});
}

function roundingPart({ ready }: ListExecution): Part {
	const rounded = ready.filter(({ listedAmountEtb }) => listedAmountEtb);
	if (rounded.length === 0) return '';
	const shown = rounded.slice(0, 5).map(({ name }) => escapeHtml(name));
	const names = shown.join(', ') + (rounded.length > 5 ? `, ${rounded.length - 5} more` : '');
	const difference = rounded.reduce(
		(total, { listedAmountEtb = 0, amountEtb }) => total + listedAmountEtb - (amountEtb ?? 0),
		0,
	);
	const change =
		Math.abs(difference) < 0.005
			? 'The sum stays the same.'
			: `Rounding makes the sum ${Math.abs(difference).toFixed(2)} ETB ${difference < 0 ? 'larger' : 'smaller'}.`;
	return `<p>Rounded amounts: ${rounded.length} (${names}). ${change}</p>`;
}

/** The advice for a further correction of the period for these people: each purpose pays a person once. */
function correctionAdvice({ register, period }: ListExecution, rows: PaymentRow[]): string {
	const next = nextCorrection(rows, register);
	return next === undefined
		? 'Pay the difference with the workflow Pay a user'
		: `Upload a list of these people alone, with the differences that are still to be paid, and the purpose ${uploadLink({ period, purpose: next }, next)}`;
}

/** The newest period that is due. */
const duePeriod = ({ payDay }: ListExecution): string =>
	localTime(Date.now())
		.minus({ days: payDay - 1 })
		.toFormat('yyyy-LL');

const isEarlier = (execution: ListExecution): boolean => execution.period < duePeriod(execution);

/** The advice for people who were paid less than the list has. */
function tooLittlePart(execution: ListExecution): Part {
	const { paidLess, period } = execution;
	if (paidLess.length === 0) return '';
	return `<p>${isEarlier(execution) ? `It is for ${escapeHtml(period)}, and too` : 'Too'} little was paid? ${correctionAdvice(execution, paidLess)}.</p>`;
}

/** The doubtful people among those who were paid before, because the list means somebody else or another payment. */
function paidBeforeParts(execution: ListExecution): Part[] {
	const renamed = execution.paidBefore.filter((row) => hasRemark('changedName')(row) && row.paid);
	const others = execution.otherCorrections.filter((row) => !renamed.includes(row));
	const amounts = others.map(
		(row) =>
			`${namesWithNumbers([row])}, ${formatSum([row.paid ?? {}])} ETB paid, ${formatSum([{ amountEtb: row.listedAmountEtb }])} ETB in this list`,
	);
	const asPaid = renamed.map(
		(row) => `${namesWithNumbers([row])} was paid as ${escapeHtml(row.paid?.name)}`,
	);
	return [
		renamed.length > 0 &&
			`<h4>Another name than when it was paid, and not paid again: ${asPaid.join(', ')}. If that is somebody else, give them an employee number of their own.</h4>`,
		others.length > 0 &&
			`<h4>A correction was paid before, with another amount, and not again: ${amounts.join('; ')}. Is the new amount a further correction, or only more than the first? ${correctionAdvice(execution, others)}.</h4>`,
	];
}

/** The parts on top of the page that asks for approval. */
function questionParts(
	execution: ListExecution,
	warnings: Warning[],
	toLookAt: PaymentRow[],
	absent: PaymentRow[],
): Part[] {
	const { ready, unknown, notPaid, purpose, period } = execution;
	return [
		execution.decision === 'notValid' &&
			(execution.submitted.user?.id === execution.uploadedBy?.id
				? '<h4>Who uploaded this list tried to approve it. Somebody else has to.</h4>'
				: '<h4>The list changed after the page that you answered. Please look again.</h4>'),
		...warnings.map(({ isLarge, text }) => isLarge && `<h2><em>${text}</em></h2>`),
		`<h2>${formatSum(ready)} ETB for ${peopleText(ready)}: ${escapeHtml(purpose)}, ${escapeHtml(period)}</h2>`,
		...warnings.map(({ isLarge, text }) => !isLarge && `<h4>${text}</h4>`),
		unknown.length > 0 && `<h4>${heading({ red: 'UNKNOWN, see below' }, unknown)}</h4>`,
		notPaid.length > 0 && `<h4>${heading('Will not be paid, see below', notPaid)}</h4>`,
		absent.length > 0 &&
			purpose === 'salary' &&
			`<h4>Not in this list, see below: ${peopleText(absent)}</h4>`,
		execution.paidLess.length > 0 &&
			`<h4>${heading({ red: `${paidLessText(execution.paidLess, execution.register)}, see below` }, execution.paidLess, false)}</h4>`,
		...paidBeforeParts(execution),
		`<p>${fileAndUploader(execution)}. Checked at ${minuteOf(Date.now())}. Somebody else has to approve it: send them the address of this page.</p>`,
		section('Will be paid, look at these', toLookAt, execution.register),
		roundingPart(execution),
	];
}

/** The reason why an approval paid nobody, if people of the list got another payment since it was checked. */
function outdatedPart(
	{ decision, notPaid, paymentsSinceCheck }: ListExecution,
	uploadAgain: string,
): Part {
	if (decision !== 'outdated') return '';
	const payments = paymentsSinceCheck.map((row) => {
		const sum = amountOf(row) ? `${formatSum([row])} ETB ` : '';
		const how = hasOutcome('unknown')(row) ? 'UNKNOWN, ' : '';
		return `${namesWithNumbers([row])}: ${how}${sum}for ${escapeHtml(forWhat(row))}`;
	});
	return `<h2><em>Nobody was paid by this list. Since it was checked, people in it got a payment, or may have got it, or a record of one changed: ${payments.join('; ')}. ${notPaid.length > 0 ? `Is anything of this list still to be paid? Then ${uploadAgain}.` : ''}</em></h2>`;
}

/** The parts on top of the page at the end. */
function resultParts(execution: ListExecution, headings: string[], uploadAgain: string): Part[] {
	const { submitted, decision, isPaying, notPaid, period, purpose, ready, register, updates } =
		execution;
	const decided = `${isPaying ? 'approved' : decision === 'outdated' ? 'approved too late' : 'declined'} by ${nameOf(submitted.user)}`;
	const unasked = ready.length > 0 ? 'not approved in time' : 'nothing to approve';
	// Of a late approval the headline says what to do.
	const isNext = decision !== 'declined' && decision !== 'outdated';
	const stillUnpaid = isNext ? [...notPaid, ...ready] : [];
	const numberless = decision === 'declined' ? [] : notPaid.filter((row) => !referenceOf(row));
	// The rows of the period that another list left.
	const own = new Set(updates.map(({ row }) => row.reference));
	const leftByOthers = register.rows.filter(
		(row) => row.period === period && !hasOutcome('paid')(row) && !own.has(row.reference),
	);
	return [
		outdatedPart(execution, uploadAgain),
		`<h2>${[escapeHtml(forWhat({ purpose, period })), ...headings].join('.<br>')}</h2>`,
		...paidBeforeParts(execution),
		`<p>${fileAndUploader(execution)}, ${isPaying || decision ? decided : unasked}.</p>`,
		execution.unknown.length > 0 &&
			`<p>Do not pay who is UNKNOWN another way. Ask the partner service, and record what it says in ${formLink(formPaths.openOfFile, 'What is open')}.</p>`,
		stillUnpaid.some(hasOutcome('notPaid')) &&
			'<p>Read below why somebody was not paid, and correct that first.</p>',
		stillUnpaid.length > 0 && `<p>${uploadAgain}: it pays who was not paid.</p>`,
		decision === 'declined' &&
			`<p>Was it declined because of a mistake? Correct it. ${uploadAgain}.</p>`,
		numberless.length > 0 &&
			`<p>Without an employee number, so only on this page and in its file: ${namesWithNumbers(numberless)}.</p>`,
		leftByOthers.length > 0 &&
			`<p>Beside this list, not paid or UNKNOWN for ${escapeHtml(period)}: ${peopleText(leftByOthers)}, see ${formLink(formPaths.openOfFile, 'What is open')}.</p>`,
		// n8n does not show the page of an execution that ended red again.
		updatesToWrite(execution).some(({ row }) => needsPerson(row, execution)) &&
			`<p>This page opens once. Later see the published workflow ${formLink(formPaths.payments, 'Payments of a period')}.</p>`,
	];
}

/** The rows that the execution writes: none before the decision, and none of a list that nobody approved. */
export const updatesToWrite = ({
	asksForApproval,
	ready,
	isPaying,
	updates,
}: ListExecution): RegisterUpdate[] =>
	asksForApproval || (ready.length > 0 && !isPaying) ? [] : updates;

/** The rows of the file: none before the decision. */
export function rowsInFile({ asksForApproval, decision, isPaying, ready, updates }: ListExecution) {
	if (asksForApproval) return [];
	const reasonOfNobody = decision === 'declined' ? 'Declined' : 'Nobody approved it';
	const isNobodySent = ready.length > 0 && !isPaying;
	const ids = updates.map(({ row }) => row.id);
	// Two rows of a list can be of one payment.
	const payments = updates.filter(({ row: { id } }, index) => !id || ids.indexOf(id) === index);
	const rows = payments.map(({ row }) =>
		isNobodySent && hasOutcome('notPaid')(row)
			? { ...row, reason: row.reason || reasonOfNobody }
			: row,
	);
	return rows.length > 0 ? rows : [{ reason: 'Nothing was sent' }];
}

/** The parts on top of both pages: perhaps the list is for an earlier period by mistake, and who was paid meanwhile. */
function firstParts(execution: ListExecution): Part[] {
	const { asksForApproval, decision, isPaying, paidBefore, period, purpose, ready, unknown } =
		execution;
	const due = duePeriod(execution);
	const upload = uploadLink({ period: due, purpose }, `Upload it for ${due}`);
	const wrongPeriod = `This is for ${escapeHtml(period)}. ${due} is due. Was this list for ${due}? ${upload}`;
	// An unknown payment was sent for this period, so the period is right.
	const isPeriodAsked = asksForApproval || unknown.length === 0;
	const meanwhile = paidBefore.filter(({ isPaidMeanwhile }) => isPaidMeanwhile);
	return [
		isEarlier(execution) &&
			!isCorrection(execution) &&
			!isPaying &&
			decision !== 'outdated' &&
			isPeriodAsked &&
			(ready.length > 0 ? `<h4>${wrongPeriod}</h4>` : `<h2><em>${wrongPeriod}</em></h2>`),
		meanwhile.length > 0 &&
			`<h4>Paid or settled as paid meanwhile: ${namesWithNumbers(meanwhile)}</h4>`,
	];
}

const unknownGroup = ({ unknown }: ListExecution): Group => [{ red: 'UNKNOWN' }, unknown];

const paidBeforeGroups = ({ paidBefore, paidLess, register }: ListExecution): Group[] => [
	[{ red: paidLessText(paidLess, register) }, paidLess, false],
	['Paid before, not again', paidBefore.filter((row) => !paidLess.includes(row))],
];

const sections = (groups: Group[], { register }: ListExecution): Part[] =>
	groups.map(([title, rows, hasSum]) => section(title, rows, register, hasSum));

const absentTitle = (execution: ListExecution): string =>
	`Set up or paid last time, not in this list and not paid for ${forWhat(execution)}`;

/** The parts below the groups of both pages. */
const lastParts = (execution: ListExecution): Part[] => [
	execution.notPaid.some(({ code }) => code === 'aboveMaximum' || code === 'totalAboveMaximum') &&
		'<p>Options are in the node Pay salaries: ask who looks after n8n.</p>',
	tooLittlePart(execution),
	columnsNotRead(execution.notRead),
	noPersons(execution.checkedRows.filter(isTitleOrTotal)),
];

/** The page that asks for approval. */
export function questionPage(execution: ListExecution, warnings: Warning[]) {
	const { notPaid, period, purpose, ready, register, uploadedBy } = execution;
	const toLookAt = rowsToLookAt(execution, warnings);
	const absent = absentPeople(execution);
	const lines = new Set(toLookAt.map(({ line }) => line));
	const usual = ready.filter(({ line }) => !lines.has(line));
	const title = toLookAt.length > 0 ? 'The others who will be paid' : 'Will be paid';
	const groups: Group[] = [
		unknownGroup(execution),
		['Will not be paid', notPaid],
		...paidBeforeGroups(execution),
	];
	return pageField(
		...firstParts(execution),
		...questionParts(execution, warnings, toLookAt, absent),
		...sections(groups, execution),
		section(absentTitle(execution), absent, register, false),
		...lastParts(execution),
		section(title, usual, register),
		`<p>After the decision, ${formLink(formPaths.payments, 'Payments of a period')} shows who was paid, and ${formLink(formPaths.openOfFile, 'What is open')} who was not, or is UNKNOWN. Nobody of this list stands there? It was declined, or nobody approved it in time: ${uploadLink({ period, purpose }, 'upload the list again')}.</p><p>${nameOf(uploadedBy)} uploaded this list, and cannot approve it.</p>`,
	);
}

/** The page at the end of a list that could be checked. */
export function resultPage(execution: ListExecution) {
	const { decision, isPaying, notPaid, paidNow, period, purpose, ready } = execution;
	const absent = absentPeople(execution);
	const unsentTitle: Title =
		decision === 'declined' ? 'Declined' : { red: 'Not paid, because nobody approved it' };
	const paidGroup: Group = ['Paid', paidNow];
	const groups: Group[] = [
		unknownGroup(execution),
		paidGroup,
		[{ red: 'Not paid' }, isPaying ? [...notPaid, ...ready] : notPaid],
		[unsentTitle, isPaying ? [] : ready],
		...paidBeforeGroups(execution),
	];
	// Other payments are often for few people.
	const title = absentTitle(execution);
	const absentGroup: Group = [purpose === 'salary' ? { red: title } : title, absent, false];
	const headings = [...groups, absentGroup]
		.filter((group) => group === paidGroup || group[1].length > 0)
		.map((group) => heading(...group));
	const uploadAgain = uploadLink({ period, purpose }, 'Upload the list again');
	return pageField(
		...firstParts(execution),
		...resultParts(execution, headings, uploadAgain),
		...sections([...groups, absentGroup], execution),
		...lastParts(execution),
	);
}

/** The page of a list that cannot be used as a whole. */
export function failedListPage(execution: ListExecution) {
	const { error, period, purpose } = execution;
	// A period that is not due yet was a mistake. The form then takes the one that is due.
	const next = period > duePeriod(execution) ? '' : period;
	return pageField(
		'<h2>The list cannot be used: nothing was sent</h2>',
		`<p>${escapeHtml(error?.message)}. ${escapeHtml(error?.remedy)}</p>`,
		`<p>${uploadLink({ period: next, purpose }, 'Upload the list again')}</p>`,
	);
}
