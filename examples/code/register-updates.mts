/** The rows of the register after a run of a payroll. */
import { isChange } from '../../nodes/EtbWallet/list/remarks.ts';
import {
	hasOutcome,
	isOnlyRecorded,
	isVoided,
	referenceOf,
	sureness,
	reasonOf,
	type PaymentRow,
	type RegisterRow,
} from './payment-row.mts';
import type { PayrollRun } from './payroll-run.mts';
import { rowOf } from './register.mts';
import { statementAbout } from './settling.mts';
import { minuteOf } from './text.mts';

/** The outcomes that the register stores as another one. */
const storedOutcomes: Readonly<Record<string, RegisterRow['outcome']>> = {
	alreadyPaid: 'paid',
	ready: 'notPaid',
};
const storedOutcome = ({ outcome }: PaymentRow): RegisterRow['outcome'] =>
	storedOutcomes[outcome ?? ''] ?? outcome;

/** Whether the statement *It was not paid* changed nothing in the node, because somebody had settled it there. */
export const wasFreedBefore = (result: PaymentRow, { submitted }: PayrollRun): boolean =>
	result.code === 'ready' && statementAbout(submitted, result) === 'notPaid';

/** Whether one statement was that it was not paid, and another one that it was, so that it is unknown again. */
export const isContradicted = (
	result: PaymentRow,
	{ isSettling, submitted }: PayrollRun,
): boolean =>
	isSettling && result.code === 'notSettled' && statementAbout(submitted, result) !== 'notPaid';

/**
 * The amount of a payment that only a person recorded as paid, after somebody took that record back, or took that back
 * again; undefined if nobody did. The node has it as paid, because a payment that is free again could be sent twice.
 */
export function amountAfterTakingBack(
	result: PaymentRow,
	old: RegisterRow,
	{ isSettling, submitted }: PayrollRun,
): RegisterRow['amountEtb'] {
	const isPaidInNode = hasOutcome('paid')({ outcome: storedOutcome(result) });
	if (!isSettling || !isPaidInNode || !isOnlyRecorded(old)) return undefined;
	const statement = statementAbout(submitted, result);
	if (statement === 'takesBackPaid' && !isVoided(old)) return 0;
	if (statement === 'takesBackNotPaid' && isVoided(old)) return old.requestedAmountEtb ?? null;
	return undefined;
}

/** The first reason says more than that it is still unknown. */
const keepsReason = (row: PaymentRow, old: RegisterRow): boolean =>
	row.isFromRegister === true || (row.code === 'inDoubt' && hasOutcome('unknown')(old));

function registeredReason(
	row: PaymentRow,
	old: RegisterRow,
	run: PayrollRun,
): RegisterRow['reason'] {
	// A problem names the workflow that left it unknown.
	if (keepsReason(row, old)) return row.problem || old.reason;
	if (isContradicted(row, run)) {
		const [first, second] = [old.settledBy || 'Somebody', run.submitted.user?.email];
		const takesBack =
			first === second || statementAbout(run.submitted, row) === 'takesBackNotPaid'
				? `${second} took that back`
				: `${second} as paid`;
		return `${first} recorded it as not paid, and ${takesBack}. Ask the partner service once more`;
	}
	const amountEtb = amountAfterTakingBack(row, old, run);
	if (amountEtb !== undefined) {
		const said = amountEtb === 0 ? 'that this is wrong' : 'that it was paid after all';
		const more = `${run.submitted.user?.email} said at ${minuteOf(Date.now())} ${said}`;
		return [old.reason, more].filter(Boolean).join('. ');
	}
	if (storedOutcome(row) !== 'paid') return reasonOf(row);
	const changes = (row.remarks ?? []).filter(isChange);
	const firstSettler = !run.isSettling && hasOutcome('notPaid')(old) ? old.settledBy : '';
	const first = firstSettler ? [`First recorded as not paid by ${firstSettler}`] : [];
	return [...first, ...changes.map(({ text }) => text)].join(' ');
}

/**
 * Whether the register stays as it is. A list takes back neither that somebody was paid, nor that it is unknown, and a
 * statement that was refused changes nothing:
 *
 * the register has | stays after a list | stays after a statement
 * --- | --- | ---
 * paid | always | always, unless somebody takes back that a payment without a transaction was paid
 * unknown | if the result is not paid, or only still unknown | unless it is settled, was paid, or was freed in the node
 * notPaid | never | unless it is contradicted, or was sent again
 */
function staysAsItIs(row: PaymentRow, old: RegisterRow, run: PayrollRun): boolean {
	if (amountAfterTakingBack(row, old, run) !== undefined) return false;
	if (keepsReason(row, old) || row.paid || hasOutcome('paid')(old)) return true;
	if (!run.isSettling) return sureness(old) > sureness({ outcome: storedOutcome(row) });
	const codesOfChange = ['settledPaid', 'settledNotPaid', 'paidBefore'];
	// It was sent again after somebody had recorded it as not paid, and n8n died before it wrote the register.
	const isUnknownAgain = hasOutcome('unknown')(row) && hasOutcome('notPaid')(old);
	const changesRow = isUnknownAgain || codesOfChange.includes(row.code ?? '');
	return !changesRow && !isContradicted(row, run) && !wasFreedBefore(row, run);
}

function approverOf(row: PaymentRow, old: RegisterRow, run: PayrollRun): RegisterRow['approvedBy'] {
	if (run.isSettling || hasOutcome('alreadyPaid')(row)) return old.approvedBy;
	return run.sentEmployeeKeys.has(row.employeeKey) ? run.submitted.user?.email : '';
}

/** The value for `settledBy`: undefined keeps the name of somebody else, and empty removes it. */
function settlerOf(row: PaymentRow, old: RegisterRow, run: PayrollRun): string | undefined {
	if (amountAfterTakingBack(row, old, run) !== undefined) return old.settledBy ?? undefined;
	if (row.code === 'paidBefore') return undefined;
	return run.isSettling && !isContradicted(row, run) ? run.submitted.user?.email : '';
}

/**
 * The time for `paidAt` of a payment whose time nobody knows: that at which it was sent. It stays the same over all
 * statements.
 */
function timeOfSending(
	outcome: RegisterRow['outcome'],
	code: PaymentRow['code'],
	{ paidAt, updatedAt, requestedAmountEtb }: RegisterRow,
	{ isSettling }: PayrollRun,
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

function updateFor(result: PaymentRow, run: PayrollRun): RegisterUpdate {
	const reference = referenceOf(result);
	const known: RegisterRow = rowOf(run.register, result) ?? {};
	const { updatedAt, createdAt, ...old } = known;
	const [outcome, reason] = [storedOutcome(result), registeredReason(result, old, run)];
	if (staysAsItIs(result, old, run)) {
		// The row has the name of the list, and its reason the name at the time of the payment.
		const { name = old.name } = hasOutcome('paid')(old) ? result : {};
		const row = { ...old, name, reason: reason || old.reason, updatedAt };
		return { row, mustBeWritten: false };
	}
	const { amountEtb = old.requestedAmountEtb, requestedAmountEtb = amountEtb } = result;
	const merged = { ...old, ...result };
	const paidEtb = amountAfterTakingBack(result, old, run) ?? amountEtb;
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
		paidAt: result.paidAt ?? timeOfSending(outcome, result.code, known, run),
		amountEtb: outcome === 'paid' ? paidEtb : undefined,
		txHash: result.txHash,
		workflow: `${$workflow.name} (${$workflow.id})`,
		approvedBy: approverOf(result, old, run),
		settledBy: settlerOf(result, old, run),
	};
	// A row of a list that cannot be read has no reference.
	return { row, mustBeWritten: Boolean(reference) };
}

export const registerUpdates = (run: PayrollRun): RegisterUpdate[] =>
	run.results.map((result) => updateFor(result, run));

/** Whether a person has to do something about a payment. */
export const needsPerson = ({ outcome }: RegisterRow, { isSettling }: PayrollRun): boolean =>
	!isSettling && (outcome === 'notPaid' || outcome === 'unknown');

/**
 * The items for the node *What next?*, which sends an item to one output: a row that is written and needs a person
 * is two items. `createdAt` marks those to write, because the node of the table drops this column.
 */
export const itemsForWhatNext = (updates: RegisterUpdate[], run: PayrollRun) => [
	...updates
		.filter(({ mustBeWritten }) => mustBeWritten)
		.map(({ row }) => ({ ...row, createdAt: true as const })),
	...updates
		.filter(({ row }) => needsPerson(row, run))
		.map(({ row }) => ({ ...row, needsPerson: true })),
];
