/** An execution of a payroll: the results of its list, or of the statements on its page *What is open*. */
import { remarkIf } from '../../nodes/EtbWallet/list/remarks.ts';
import { normalizeText } from '../../nodes/shared/normalizeText.ts';
import {
	hasOutcome,
	isTitleOrTotal,
	type PaymentRow,
	type PeopleRow,
	type RegisterRow,
} from './payment-row.mts';
import { rowOf, registerOf, type Register } from './register.mts';
import {
	isOfOtherWorkflow,
	itemsOf,
	type CheckListItem,
	type Submitted,
	type Upload,
} from './workflow.mts';

/** The items and settings of the nodes of a payroll. A node that did not run has no items. */
interface NodeData {
	/** Whether it began with the form *What is open*. */
	isSettling: boolean;
	/** The number of pages that were shown before. */
	pagesBefore: number;
	/** The form *Ask* as it was sent last. */
	submitted: Submitted;
	isAnswered: boolean;
	upload: Upload | undefined;
	people: PeopleRow[];
	checkedRows: CheckListItem[];
	/** The rows of *Pay salaries* in its first run, which is dry if there is a page for an approval. */
	firstResults: PaymentRow[];
	/** Its rows in the last run. */
	lastResults: PaymentRow[];
	/** Its mode after the decision. */
	mode: string | undefined;
	/** The rows of the register before the page, and after its answer. */
	registerBefore: RegisterRow[];
	registerNow: RegisterRow[];
	payDay: number;
	/** The path of the form *What is open*. */
	openPath: string;
}

export interface PayrollExecution extends NodeData {
	/** The register as it was read last. */
	register: Register;
	/** The end of each row of the list, or of each reference that was settled. */
	results: PaymentRow[];
	/** The keys of the employee numbers of those who were sent. */
	sentEmployeeKeys: ReadonlySet<PaymentRow['employeeKey']>;
}

function readNodes(isSettling: boolean): NodeData {
	return {
		isSettling,
		pagesBefore: $runIndex,
		submitted: itemsOf(() => $('Ask')).at(-1) ?? {},
		isAnswered: $('Ask').isExecuted,
		upload: itemsOf(() => $('Upload a list'))[0],
		people: itemsOf(() => $('People')),
		checkedRows: itemsOf(() => $('Check List')),
		firstResults: itemsOf(() => $('Pay salaries'), 0),
		lastResults: itemsOf(() => $('Pay salaries')),
		mode: itemsOf(() => $('Decision')).at(-1)?.mode,
		registerBefore: itemsOf(() => $('Payments')),
		registerNow: itemsOf(() => $('Payments now')),
		payDay: $('Check List').params.payDay,
		openPath: $('What is open').params.options.path,
	};
}

/** Reads the execution from the nodes of the workflow; undefined before a list was checked. */
export function readExecution(): PayrollExecution | undefined {
	const isSettling = $('What is open').isExecuted;
	if (!isSettling && !$('Check List').isExecuted) return undefined;
	const nodes = readNodes(isSettling);
	const { lastResults, registerBefore, registerNow } = nodes;
	const register = registerOf(registerNow.length > 0 ? registerNow : registerBefore);
	const sent = lastResults.filter(({ mode }) => mode !== 'dryRun');
	const sentEmployeeKeys = new Set(sent.map((row) => row.employeeKey));
	const results = isSettling
		? lastResults.filter(({ reference }) => reference)
		: resultsOfList(nodes, register, sentEmployeeKeys);
	return { ...nodes, register, sentEmployeeKeys, results };
}

function resultsOfList(
	{ checkedRows, people, firstResults, lastResults, registerBefore, upload }: NodeData,
	register: Register,
	sent: PayrollExecution['sentEmployeeKeys'],
): PaymentRow[] {
	const rows = checkedRows.filter((row) => !isTitleOrTotal(row));
	const payrolls = new Map(people.map((one) => [one.employeeKey, one.payroll]));
	// The last run pays. The first one has the rows that the last one did not get. Of a list that is made of two
	// sheets, two rows can have one line, but no two that are ready have one employee number.
	const results = new Map([...firstResults, ...lastResults].map((row) => [row.employeeKey, row]));
	const before = registerOf(registerBefore);
	return rows.map((checked) => {
		const payroll = upload && payrolls.get(checked.employeeKey);
		const listed = beforeSending(checked, payroll, register);
		const result = checked.status === 'ready' ? results.get(checked.employeeKey) : undefined;
		const row = result === undefined ? listed : withResult(listed, result);
		return withSentAmount(
			// A payment that was paid before is not sent. Somebody can have taken it back while the page was open.
			sent.has(row.employeeKey) && row.code !== 'paidBefore'
				? row
				: asRegistered(row, before, register),
			register,
		);
	});
}

/** A row with the fields of a result. Its other fields can be any of the service's response. */
function withResult(listed: PaymentRow, result: PaymentRow): PaymentRow {
	const { outcome, code, message, remedy, mode, requestedAmountEtb, txHash, paidAt } = result;
	const { amountEtb = listed.amountEtb } = result;
	const payment = { amountEtb, requestedAmountEtb, txHash, paidAt };
	const row = { ...listed, ...payment, outcome, code, message, remedy, mode };
	// The register has lost this payment: it was paid, and the record of the node does not say which amount to whom.
	return code === 'otherPayment'
		? { ...row, outcome: 'unknown', amountEtb: null, listedAmountEtb: undefined }
		: row;
}

/**
 * A row of *Check List* before it was sent. A salary is paid by one payroll, and other purposes are paid from a file to
 * everybody.
 * @param payroll the payroll of the person in the table of people; undefined in the monthly payroll
 */
function beforeSending(
	row: CheckListItem,
	payroll: PeopleRow['payroll'],
	register: Register,
): PaymentRow {
	const current = rowOf(register, row) ?? {};
	const unknown = row.unknown ?? (hasOutcome('unknown')(current) ? current : undefined);
	if (row.status === 'problem' && unknown) {
		// The problem names another workflow. Of this one the register has the reason.
		const fromRegister = isOfOtherWorkflow(unknown) ? {} : { problem: '', reason: current.reason };
		const { reference } = unknown;
		return { ...row, ...fromRegister, reference, outcome: 'unknown', isFromRegister: true };
	}
	// Somebody can take it back while the page is open.
	const isTakenBack = row.paid && current.outcome && !hasOutcome('paid')(current);
	const isElsewhere = row.status === 'problem' && !row.toUserId && payroll !== 'file';
	const problem = `The salary of this person is paid by the payroll ${payroll}`;
	return {
		...row,
		...(isElsewhere && payroll && { problem }),
		...(isTakenBack && { paid: undefined, reference: row.paid?.reference }),
		outcome: row.paid && !isTakenBack ? 'alreadyPaid' : 'notPaid',
	};
}

/** n8n gives the time as a date, or as its text. */
const writtenAt = ({ updatedAt }: RegisterRow): number => new Date(updatedAt ?? 0).getTime();

/**
 * A page can wait for a day. A row that was not sent after the page takes its outcome from the register: it can be settled,
 * or paid by another list.
 */
function asRegistered(row: PaymentRow, before: Register, register: Register): PaymentRow {
	const current = rowOf(register, row);
	// The register can have the proof of a payment of which only the node knew.
	if (row.paid || (hasOutcome('alreadyPaid')(row) && !(current && hasOutcome('paid')(current))))
		return row;
	if (current === undefined) return row;
	// The texts of the row describe an unknown payment, so they are dropped.
	const texts = { problem: '', reason: '', message: '', remedy: '' };
	const known: PaymentRow = { ...row, ...texts, unknown: undefined };
	const isOtherName = normalizeText(current.name ?? '') !== normalizeText(row.name ?? '');
	const isChanged = writtenAt(current) !== writtenAt(rowOf(before, row) ?? {});
	if (isChanged && hasOutcome('paid')(current))
		return {
			...known,
			outcome: 'alreadyPaid',
			amountEtb: undefined,
			listedAmountEtb: row.listedAmountEtb ?? row.amountEtb ?? undefined,
			paid: current,
			remarks: remarkIf('changedName', isOtherName && `${current.name} when it was paid`),
			isPaidMeanwhile: true,
		};
	const isUnknown = hasOutcome('unknown');
	if (isUnknown(current) ? isUnknown(row) : !isUnknown(row) || !isChanged) return row;
	const { reference, outcome } = current;
	const settled = 'It was recorded as not paid while the page was open. Upload the list again';
	const reason = current.reason || (hasOutcome('notPaid')(current) ? settled : '');
	return { ...known, reference, outcome, reason, isFromRegister: true };
}

/** A payment that is unknown since an earlier list keeps the amount of that list. */
function withSentAmount(row: PaymentRow, register: Register): PaymentRow {
	const { outcome, requestedAmountEtb }: RegisterRow = rowOf(register, row) ?? {};
	if (row.outcome !== 'unknown' || outcome !== 'unknown' || requestedAmountEtb === row.amountEtb)
		return row;
	const inList = row.listedAmountEtb ?? row.amountEtb ?? undefined;
	return {
		...row,
		amountEtb: requestedAmountEtb,
		listedAmountEtb: requestedAmountEtb ? inList : undefined,
	};
}
