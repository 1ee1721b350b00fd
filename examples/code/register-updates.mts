/** The rows of the register after an execution of a payroll. */
import { isChange } from '../../nodes/EtbWallet/list/remarks.ts';
import {
	hasOutcome,
	isOpenVoided,
	isPaidByStatement,
	isPerhapsTwice,
	isPaidOrVoided,
	isVoided,
	referenceOf,
	sureness,
	reasonOf,
	type PaymentRow,
	type RegisterRow,
} from './payment-row.mts';
import type { PayrollExecution } from './payroll-execution.mts';
import { copiesOf, rowOf } from './register.mts';
import { isForRegister, statementAbout, wordsAbout, type Statement } from './settling.mts';
import { minuteOf } from './text.mts';

/** The outcomes that the register stores as another one. */
const storedOutcomes: Readonly<Record<string, RegisterRow['outcome']>> = {
	alreadyPaid: 'paid',
	ready: 'notPaid',
};
const storedOutcome = ({ outcome }: PaymentRow): RegisterRow['outcome'] =>
	storedOutcomes[outcome ?? ''] ?? outcome;

/** Whether the statement *It was not paid* changed nothing in the node, because somebody had settled it there. */
export const wasSettledInNode = (result: PaymentRow, { submitted }: PayrollExecution): boolean =>
	result.code === 'ready' && statementAbout(submitted, result) === 'notPaid';

/** Whether one statement was that it was not paid, and another one that it was, so that it is unknown again. */
export const isContradicted = ({ code }: PaymentRow): boolean => code === 'contradicted';

/**
 * The change that a statement makes to a payment that stays paid. The node has it as paid for ever, because a payment that
 * is free again could be sent twice.
 *
 * - *voided*: only a person recorded it as paid, and says that this is wrong
 * - *restored*: a voided payment was paid after all
 * - *perhapsTwice*: it was sent again after somebody had recorded it as not paid, and that record was wrong
 * - *closed*: nothing is left to do: the amount of a voided payment is not missing any more, or it was not paid twice
 * - *reopened*: the amount of a voided payment is missing, although somebody closed it
 */
export type ChangeOfPaid = 'voided' | 'restored' | 'perhapsTwice' | 'closed' | 'reopened';

const isSaidPaid = (statement: Statement | undefined): boolean =>
	statement === 'paid' || statement === 'takesBackNotPaid';

/** The change of a result; undefined if there is none. */
export function changeOfPaid(
	result: PaymentRow,
	old: RegisterRow,
	{ isSettling, submitted }: PayrollExecution,
): ChangeOfPaid | undefined {
	if (!isSettling) return undefined;
	const statement = statementAbout(submitted, result);
	if (statement === 'takesBackPaid') return isPaidByStatement(old) ? 'voided' : undefined;
	if (statement === 'notMissing') return isOpenVoided(old) ? 'closed' : undefined;
	if (statement === 'isMissing')
		return isVoided(old) && !isOpenVoided(old) ? 'reopened' : undefined;
	if (statement === 'notTwice') return isPerhapsTwice(old) ? 'closed' : undefined;
	if (statement === 'restores') return isVoided(old) ? 'restored' : undefined;
	if (storedOutcome(result) !== 'paid') return undefined;
	if (isVoided(old)) return isSaidPaid(statement) ? 'restored' : undefined;
	// n8n can have died before the register had the payment that was sent again.
	const isSentAgain = old.txHash || (hasOutcome('notPaid')(old) && old.settledBy);
	return statement === 'takesBackNotPaid' && isSentAgain && !isPerhapsTwice(old)
		? 'perhapsTwice'
		: undefined;
}

/** The row of such a payment. */
function changedPaidRow(
	change: ChangeOfPaid,
	old: RegisterRow,
	{ submitted }: PayrollExecution,
): RegisterRow {
	const { settledBy, txHash, amountEtb, requestedAmountEtb } = old;
	const statements = {
		voided: 'that it was not paid',
		restored: 'that it was paid after all',
		perhapsTwice: 'that it was paid before this, so perhaps it was paid twice',
		closed: wordsAbout(submitted, old),
		reopened: 'that it is still missing',
	};
	const said = `${submitted.user?.email} said at ${minuteOf(Date.now())} ${statements[change]}`;
	const reason = [old.reason, said].filter(Boolean).join('. ');
	const changes: Record<ChangeOfPaid, RegisterRow> = {
		voided: {
			outcome: 'voided',
			amountEtb: null,
			requestedAmountEtb: amountEtb ?? requestedAmountEtb,
			leftToDo: 'missing',
		},
		restored: {
			outcome: 'paid',
			amountEtb: requestedAmountEtb ?? null,
			// It can have been paid in another way since.
			leftToDo: 'perhapsTwice',
		},
		perhapsTwice: {
			outcome: 'paid',
			amountEtb: amountEtb ?? requestedAmountEtb,
			settledBy: txHash ? settledBy : '',
			leftToDo: 'perhapsTwice',
		},
		closed: { leftToDo: 'nothing' },
		reopened: { leftToDo: 'missing' },
	};
	return { ...old, reason, ...changes[change] };
}

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
	if (isContradicted(row) && !isPaidOrVoided(old)) {
		const [first, second] = [old.settledBy || 'Somebody', execution.submitted.user?.email];
		const takesBack =
			first === second || statementAbout(execution.submitted, row) === 'takesBackNotPaid'
				? `${second} took that back`
				: `${second} as paid`;
		return `${first} recorded it as not paid, and ${takesBack}. Ask the partner service once more`;
	}
	if (storedOutcome(row) !== 'paid') return reasonOf(row);
	const changes = (row.remarks ?? []).filter(isChange);
	const firstSettler = hasOutcome('notPaid')(old) ? old.settledBy : '';
	const first = firstSettler ? [`First recorded as not paid by ${firstSettler}`] : [];
	return [...first, ...changes.map(({ text }) => text)].join(' ');
}

/**
 * Whether the register stays as it is. A list takes back neither that somebody was paid, nor that it is unknown, and a
 * statement that was refused changes nothing:
 *
 * the register has | stays after a list | stays after a statement
 * --- | --- | ---
 * paid | always | always
 * voided | if the result is *paid before*, or not paid | unless that statement was wrong
 * unknown | if the result is not paid, or only still unknown | unless it is settled, was paid, or was freed in the node
 * notPaid | if it changed while the page of the list was open | unless it is contradicted, or was sent again
 */
function staysAsItIs(row: PaymentRow, old: RegisterRow, execution: PayrollExecution): boolean {
	if (keepsReason(row, old) || row.paid || hasOutcome('paid')(old)) return true;
	if (execution.isSettling && isForRegister(statementAbout(execution.submitted, row))) return true;
	if (isVoided(old) && (execution.isSettling || row.code === 'paidBefore')) return true;
	if (!execution.isSettling) return sureness(old) > sureness({ outcome: storedOutcome(row) });
	const codesOfChange = ['settledPaid', 'settledNotPaid', 'paidBefore'];
	// It was sent again after somebody had recorded it as not paid, and n8n died before it wrote the register.
	const isUnknownAgain = hasOutcome('unknown')(row) && hasOutcome('notPaid')(old);
	const changesRow = isUnknownAgain || codesOfChange.includes(row.code ?? '');
	return !changesRow && !isContradicted(row) && !wasSettledInNode(row, execution);
}

function approverOf(
	row: PaymentRow,
	old: RegisterRow,
	execution: PayrollExecution,
): RegisterRow['approvedBy'] {
	if (execution.isSettling || hasOutcome('alreadyPaid')(row)) return old.approvedBy;
	return execution.sentEmployeeKeys.has(row.employeeKey) ? execution.submitted.user?.email : '';
}

/** The value for `settledBy`: undefined keeps the name of somebody else, and empty removes it. */
function settlerOf(
	row: PaymentRow,
	old: RegisterRow,
	execution: PayrollExecution,
): string | undefined {
	if (row.code === 'paidBefore') {
		const statement = execution.isSettling ? statementAbout(execution.submitted, row) : undefined;
		if (isSaidPaid(statement) && !hasOutcome('paid')(old)) return execution.submitted.user?.email;
		// Somebody had recorded it as not paid, but it was sent again, and paid.
		if (hasOutcome('notPaid')(old)) return '';
		// Somebody settled it in the node, or n8n died before the register had the payment.
		return statement !== undefined && hasOutcome('unknown')(old) ? 'the node' : undefined;
	}
	// The statement that it was not paid stays known of a payment that was sent again.
	if (row.txHash && hasOutcome('notPaid')(old)) return old.settledBy ?? '';
	return execution.isSettling && !isContradicted(row) ? execution.submitted.user?.email : '';
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
	if (paidAt || outcome !== 'paid' || !updatedAt) return paidAt;
	// A row of an earlier version has no time: that at which it was written is nearest.
	return new Date(updatedAt).toISOString();
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
	const change = changeOfPaid(result, old, execution);
	if (change !== undefined)
		return { row: changedPaidRow(change, old, execution), mustBeWritten: true };
	const [outcome, reason] = [storedOutcome(result), registeredReason(result, old, execution)];
	if (staysAsItIs(result, old, execution)) {
		// The row has the name of the list, and its reason the name at the time of the payment.
		const { name = old.name } = isPaidOrVoided(old) ? result : {};
		const row = { ...old, name, reason: reason || old.reason, updatedAt };
		return { row, mustBeWritten: false };
	}
	const listedEtb = result.listedAmountEtb ?? old.requestedAmountEtb;
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
		amountEtb: outcome === 'paid' ? amountEtb : undefined,
		txHash: result.txHash,
		workflow: `${$workflow.name} (${$workflow.id})`,
		approvedBy: approverOf(result, old, execution),
		settledBy: settlerOf(result, old, execution),
		leftToDo: '',
	};
	// A row of a list that cannot be read has no reference.
	return { row, mustBeWritten: Boolean(reference) };
}

export const registerUpdates = (execution: PayrollExecution): RegisterUpdate[] =>
	execution.results.map((result) => updateFor(result, execution));

/** Whether a person has to do something about a payment. */
export const needsPerson = ({ outcome }: RegisterRow, { isSettling }: PayrollExecution): boolean =>
	!isSettling && (outcome === 'notPaid' || outcome === 'unknown');

/** The other rows of a payment that was not paid. They would keep it unknown, or paid. */
const settledCopies = (row: RegisterRow, { register }: PayrollExecution): RegisterRow[] =>
	hasOutcome('notPaid')(row) || isVoided(row)
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
