/** The rows of the register after an execution of a payroll. */
import { isChange } from '../../nodes/EtbWallet/list/remarks.ts';
import {
	hasOutcome,
	isPaidByStatement,
	isSettled,
	referenceOf,
	sureness,
	reasonOf,
	type PaymentRow,
	type RegisterRow,
} from './payment-row.mts';
import type { PayrollExecution } from './payroll-execution.mts';
import { copiesOf, rowOf } from './register.mts';
import { answerAbout } from './settling.mts';

/** The outcomes that the register stores as another one. */
const storedOutcomes: Readonly<Record<string, RegisterRow['outcome']>> = {
	alreadyPaid: 'paid',
	ready: 'notPaid',
};
const storedOutcome = ({ outcome }: PaymentRow): RegisterRow['outcome'] =>
	storedOutcomes[outcome ?? ''] ?? outcome;

/** Whether the statement *It was not paid* changed nothing in the node, because somebody had settled it there. */
export const wasSettledInNode = (
	result: PaymentRow,
	old: RegisterRow,
	{ submitted }: PayrollExecution,
): boolean =>
	result.code === 'ready' &&
	!hasOutcome('paid')(old) &&
	answerAbout(submitted, result) === 'notPaid';

/**
 * Whether a statement makes a payment unknown again, because it takes an earlier one back, or differs from it. That holds
 * also if only the register has the earlier one, because the node lost its record.
 */
export const isUnknownAgain = (
	result: PaymentRow,
	old: RegisterRow,
	{ isSettling, submitted }: PayrollExecution,
): boolean => {
	if (!isSettling || storedOutcome(result) === 'paid') return false;
	if (hasOutcome('paid')(old)) return isPaidByStatement(old);
	const isTakenBack = isSettled(old) && answerAbout(submitted, result) === 'takeBack';
	return isTakenBack || result.code === 'contradicted';
};

/** Whether the old reason stays, because the new one says only that it is still unknown. */
const keepsReason = (row: PaymentRow, old: RegisterRow): boolean =>
	row.isFromRegister === true || (row.code === 'inDoubt' && hasOutcome('unknown')(old));

function registeredReason(
	row: PaymentRow,
	old: RegisterRow,
	execution: PayrollExecution,
): RegisterRow['reason'] {
	// A problem names the workflow that left it unknown.
	if (keepsReason(row, old)) return row.problem || old.reason;
	if (isUnknownAgain(row, old, execution)) {
		const second = execution.submitted.user?.email;
		const answer = answerAbout(execution.submitted, row);
		const wasPaid = answer === 'takeBack' ? hasOutcome('paid')(old) : answer === 'notPaid';
		const [was, is] = wasPaid ? ['paid', 'not paid'] : ['not paid', 'paid'];
		// Otherwise only the node has the earlier statement.
		const isOld = hasOutcome(wasPaid ? 'paid' : 'notPaid')(old);
		const first = (isOld && old.settledBy) || 'Somebody';
		const differs =
			first === second || answer === 'takeBack' ? `${second} took that back` : `${second} as ${is}`;
		return `${first} recorded it as ${was}, and ${differs}. Ask the partner service once more`;
	}
	if (storedOutcome(row) !== 'paid') return reasonOf(row);
	const changes = (row.remarks ?? []).filter(isChange);
	const isFirstNotPaid = old.settledBy && !hasOutcome('paid')(old);
	// Only a list sends it, so an unknown row that was settled before was sent again.
	const isSentAgain = execution.isSettling ? hasOutcome('unknown')(old) : Boolean(row.txHash);
	const first = [
		isFirstNotPaid && `First recorded as not paid by ${old.settledBy}`,
		isFirstNotPaid && isSentAgain && 'If that was wrong, it was perhaps paid twice',
	].flatMap((text) => (text ? `${text}.` : []));
	return [...first, ...changes.map(({ text }) => text)].join(' ');
}

/**
 * Whether the register stays as it is. A list takes back neither that somebody was paid, nor that it is unknown, and a
 * statement that was refused changes nothing:
 *
 * the register has | stays after a list | stays after a statement
 * --- | --- | ---
 * paid | always | unless only a person said it, and the statement contradicts it or takes it back
 * unknown | if the result is not paid, or only still unknown | unless it is settled, was paid, or was freed in the node
 * notPaid | never, but only the reason is new if a person settled it (`updateFor`) | unless it is unknown again, or was sent again
 */
function staysAsItIs(row: PaymentRow, old: RegisterRow, execution: PayrollExecution): boolean {
	if (isUnknownAgain(row, old, execution) || wasSettledInNode(row, old, execution)) return false;
	if (keepsReason(row, old) || row.paid || hasOutcome('paid')(old)) return true;
	if (!execution.isSettling) return sureness(old) > sureness({ outcome: storedOutcome(row) });
	const codesOfChange = ['settledPaid', 'settledNotPaid', 'paidBefore'];
	// It was sent again after somebody had recorded it as not paid, and n8n died before it wrote the register.
	const isSentAgain = hasOutcome('unknown')(row) && hasOutcome('notPaid')(old);
	const changesRow = isSentAgain || codesOfChange.includes(row.code ?? '');
	return !changesRow;
}

function approverOf(
	row: PaymentRow,
	old: RegisterRow,
	execution: PayrollExecution,
): RegisterRow['approvedBy'] {
	if (execution.isSettling || hasOutcome('alreadyPaid')(row)) return old.approvedBy;
	return execution.sentEmployeeKeys.has(row.employeeKey) ? execution.submitted.user?.email : '';
}

/** The person who settled the payment, and the time; both are empty if nobody did. */
function settlerOf(
	row: PaymentRow,
	old: RegisterRow,
	execution: PayrollExecution,
): Pick<RegisterRow, 'settledBy' | 'settledAt'> {
	const answer = execution.isSettling ? answerAbout(execution.submitted, row) : undefined;
	// Somebody settled it in the node, or n8n died before the register had the payment.
	if (row.code === 'paidBefore' && answer !== 'paid')
		return { settledBy: 'the node', settledAt: '' };
	const isTakenBack = isUnknownAgain(row, old, execution);
	// The statement that it was not paid stays known, also if it is sent again.
	if (!execution.isSettling || (hasOutcome('unknown')(row) && !isTakenBack))
		return { settledBy: old.settledBy ?? '', settledAt: old.settledAt ?? '' };
	return isTakenBack
		? { settledBy: '', settledAt: '' }
		: { settledBy: execution.submitted.user?.email, settledAt: new Date().toISOString() };
}

/**
 * The time for `paidAt` of a payment whose time nobody knows: that at which it was sent. It stays the same over all
 * statements.
 */
function timeOfSending(
	outcome: RegisterRow['outcome'],
	code: PaymentRow['code'],
	{ paidAt, updatedAt, requestedAmountEtb }: RegisterRow,
	{ isSettling }: PayrollExecution,
): RegisterRow['paidAt'] {
	// Nothing was sent of another payment. Its time and its amount are not known.
	if (code === 'otherPayment' || (isSettling && !requestedAmountEtb)) return paidAt;
	if (!isSettling) return outcome === 'unknown' ? new Date().toISOString() : paidAt;
	// A row that a person wrote has no time: that at which it was written is nearest.
	const isWrittenByHand = !paidAt && outcome === 'paid' && updatedAt;
	return isWrittenByHand ? new Date(updatedAt).toISOString() : paidAt;
}

/** A row of the register for a result. One without `id` is new. */
export interface RegisterUpdate {
	row: RegisterRow;
	/** False if the register keeps the row as it is. */
	mustBeWritten: boolean;
}

function updateFor(result: PaymentRow, execution: PayrollExecution): RegisterUpdate {
	const reference = referenceOf(result);
	const known: RegisterRow = rowOf(execution.register, result) ?? {};
	const { updatedAt, createdAt, ...old } = known;
	const outcome = isUnknownAgain(result, old, execution) ? 'unknown' : storedOutcome(result);
	const reason = registeredReason(result, old, execution);
	if (staysAsItIs(result, old, execution)) {
		// The row has the name of the list, and its reason the name at the time of the payment.
		const { name = old.name } = hasOutcome('paid')(old) ? result : {};
		const row = { ...old, name, reason: reason || old.reason, updatedAt };
		return { row, mustBeWritten: false };
	}
	// Amount, wallet and time are those of the sending that a person settled, also if a list tried it since.
	if (!execution.isSettling && isSettled(old) && outcome === 'notPaid')
		return { row: { ...old, reason: reason || old.reason }, mustBeWritten: true };
	const listedEtb = result.listedAmountEtb ?? old.requestedAmountEtb ?? old.amountEtb ?? null;
	const { amountEtb = listedEtb, requestedAmountEtb = amountEtb } = result;
	const merged = { ...old, ...result };
	const row: RegisterRow = {
		...old,
		reference,
		purpose: merged.purpose,
		period: merged.period,
		employeeKey: merged.employeeKey,
		employee: merged.employee,
		name: merged.name,
		outcome,
		reason,
		requestedAmountEtb,
		phone: merged.phone && String(merged.phone),
		userId: result.toUserId ?? old.userId,
		paidAt: result.paidAt ?? timeOfSending(outcome, result.code, known, execution),
		amountEtb: outcome === 'paid' ? amountEtb : null,
		txHash: result.txHash,
		workflow: `${$workflow.name} (${$workflow.id})`,
		approvedBy: approverOf(result, old, execution),
		...settlerOf(result, old, execution),
	};
	// A row of a list that cannot be read has no reference.
	return { row, mustBeWritten: Boolean(reference) };
}

export const registerUpdates = (execution: PayrollExecution): RegisterUpdate[] =>
	execution.results.map((result) => updateFor(result, execution));

/** Whether a person has to do something about a payment. */
export const needsPerson = ({ outcome }: RegisterRow, { isSettling }: PayrollExecution): boolean =>
	!isSettling && (outcome === 'notPaid' || outcome === 'unknown');

/** The other rows of a payment that a statement made not paid, or unknown again. They would keep it unknown, or paid. */
const settledCopies = (
	row: RegisterRow,
	{ isSettling, register }: PayrollExecution,
): RegisterRow[] =>
	isSettling && !hasOutcome('paid')(row)
		? copiesOf(row, register).map(({ id }) => ({ ...row, id }))
		: [];

/**
 * The items for the node *What next?*, which sends an item to one output: a row that is written and needs a person
 * is two items. `createdAt` marks those to write, because the node of the table drops this column.
 */
export const itemsForWhatNext = (updates: RegisterUpdate[], execution: PayrollExecution) => [
	...updates
		.filter(({ mustBeWritten }) => mustBeWritten)
		.flatMap(({ row }) => [row, ...settledCopies(row, execution)])
		.map((row) => ({ ...row, createdAt: true as const })),
	...updates
		.filter(({ row }) => needsPerson(row, execution))
		.map(({ row }) => ({ ...row, needsPerson: true })),
];
