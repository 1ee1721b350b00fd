/** A run of a payroll: the results of its list, or of the statements on its page *What is open*. */
import { remarkIf } from '../../nodes/EtbWallet/list/remarks.ts';
import { normalizeText } from '../../nodes/shared/normalizeText.ts';
import {
	hasOutcome,
	isVoided,
	isTitleOrTotal,
	type PaymentRow,
	type PeopleRow,
	type RegisterRow,
} from './payment-row.mts';
import { loadRegister, rowOf, registerOf, type Register } from './register.mts';
import { isOfOtherWorkflow, itemsOf, type Submitted, type CheckedItem } from './workflow.mts';

export interface PayrollRun {
	isSettling: boolean;
	/** The form *Ask* as it was sent last. */
	submitted: Submitted;
	register: Register;
	/** The end of each row of the list, or of each reference that was settled. */
	results: PaymentRow[];
	/** The keys of the employee numbers of those who were sent. */
	sentEmployeeKeys: ReadonlySet<PaymentRow['employeeKey']>;
}

/** Reads the run from the nodes of the workflow; undefined before a list was checked. */
export function readRun(): PayrollRun | undefined {
	const isSettling = $('What is open').isExecuted;
	if (!isSettling && !$('Check List').isExecuted) return undefined;
	const payResults = itemsOf(() => $('Pay salaries'));
	const register = loadRegister();
	const sent = new Set(
		payResults.filter(({ mode }) => mode !== 'dryRun').map((row) => row.employeeKey),
	);
	const withReference = payResults.filter(({ reference }) => reference);
	return {
		isSettling,
		register,
		sentEmployeeKeys: sent,
		submitted: itemsOf(() => $('Ask')).at(-1) ?? {},
		results: isSettling ? withReference : resultsOfList(register, sent),
	};
}

function resultsOfList(register: Register, sent: PayrollRun['sentEmployeeKeys']): PaymentRow[] {
	const rows = itemsOf(() => $('Check List')).filter((row) => !isTitleOrTotal(row));
	const payrolls = new Map(itemsOf(() => $('People')).map((one) => [one.employeeKey, one.payroll]));
	// The second run pays. The first one has the rows that the second one did not get. Of a list that is made of two
	// sheets, two rows can have one line, but no two that are ready have one employee number.
	const paying = [...itemsOf(() => $('Pay salaries'), 0), ...itemsOf(() => $('Pay salaries'))];
	const results = new Map(paying.map((row) => [row.employeeKey, row]));
	const before = registerOf(itemsOf(() => $('Payments')));
	return rows.map((checked) => {
		const listed = beforeSending(checked, payrolls.get(checked.employeeKey), register);
		const result = checked.status === 'ready' ? results.get(checked.employeeKey) : undefined;
		const row = result === undefined ? listed : withResult(listed, result);
		return withSentAmount(
			sent.has(row.employeeKey) ? row : asRegistered(row, before, register),
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
 * @param payroll the payroll of the person in the table of people
 */
function beforeSending(
	row: CheckedItem,
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
	const hasList = itemsOf(() => $('Upload a list')).length > 0;
	const isElsewhere = hasList && row.status === 'problem' && !row.toUserId && payroll !== 'file';
	const problem = `The salary of this person is paid by the payroll ${payroll}`;
	return {
		...row,
		...(isElsewhere && payroll && { problem }),
		...(row.paid && isVoided(current) && { paid: { ...row.paid, amountEtb: 0 } }),
		outcome: row.paid ? 'alreadyPaid' : 'notPaid',
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
	const isPaid = hasOutcome('paid');
	// The register can have the proof of a payment of which only the node knew.
	if (row.paid || (hasOutcome('alreadyPaid')(row) && !(current && isPaid(current)))) return row;
	if (current === undefined) return row;
	// The texts of the row describe an unknown payment, so they are dropped.
	const texts = { problem: '', reason: '', message: '', remedy: '' };
	const known: PaymentRow = { ...row, ...texts, unknown: undefined };
	const isOtherName = normalizeText(current.name ?? '') !== normalizeText(row.name ?? '');
	const isChanged = writtenAt(current) !== writtenAt(rowOf(before, row) ?? {});
	if (isChanged && isPaid(current))
		return {
			...known,
			outcome: 'alreadyPaid',
			paid: current,
			remarks: remarkIf('changedName', isOtherName && `${current.name} when it was paid`),
			isPaidMeanwhile: true,
		};
	const isUnknown = hasOutcome('unknown');
	if (isUnknown(current) ? isUnknown(row) : !isUnknown(row) || !isChanged) return row;
	const { reference, outcome } = current;
	const settled =
		'It was recorded as not paid while the page was open, which did not show it as ready';
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
