/** The changes of the register after a run of a payroll. */
import { hasOutcome, sureness, whyNot, type PaymentRow, type RegisterRow } from './payment-row.mts';
import type { PayrollRun } from './payroll-run.mts';
import { registered } from './register.mts';
import { choiceFor, choices, transactionFor } from './settling.mts';

/** The outcomes that the register does not have. */
const kept: Readonly<Record<string, RegisterRow['outcome']>> = {
	alreadyPaid: 'paid',
	ready: 'notPaid',
};
const endOf = ({ outcome }: PaymentRow): RegisterRow['outcome'] => kept[outcome ?? ''] ?? outcome;

const hasCode = ({ code = 'ready' }: PaymentRow, ...codes: string[]): boolean =>
	codes.includes(code);
const wasSettled = (row: PaymentRow): boolean => hasCode(row, 'settledPaid', 'settledNotPaid');

/** Whether the node sends it again already, because somebody settled it there, as the answer says. */
export const isUnusedAsSaid = ({ code, reference }: PaymentRow, { answers }: PayrollRun): boolean =>
	code === 'ready' && choiceFor(answers, reference ?? '') === choices.notPaid;

/** Whether one person said that it was not paid and another one that it was, so the node has it in doubt again. */
const isContradicted = ({ code, reference }: PaymentRow, { isSettling, answers }: PayrollRun) =>
	isSettling && code === 'notSettled' && choiceFor(answers, reference ?? '') === choices.paid;

/** The first reason says more than that it is still unknown. */
const keepsReason = (row: PaymentRow, old: RegisterRow): boolean =>
	row.isAsNow === true || (row.code === 'inDoubt' && hasOutcome('unknown')(old));

function reasonOf(row: PaymentRow, old: RegisterRow, run: PayrollRun): RegisterRow['reason'] {
	if (keepsReason(row, old)) return old.reason;
	if (isContradicted(row, run))
		return `${old.settledBy || 'Somebody'} recorded it as not paid, and ${run.answers.user?.email} as paid. Ask the partner service once more`;
	if (endOf(row) !== 'paid') return whyNot(row);
	const changes = (row.remarks ?? []).filter(({ code }) => code.startsWith('changed'));
	const isPaidAfterAll = !run.isSettling && hasOutcome('notPaid')(old) && old.settledBy;
	const first = isPaidAfterAll ? [`First recorded as not paid by ${old.settledBy}`] : [];
	return [...first, ...changes.map(({ text }) => text)].join(' ');
}

/**
 * A list takes back neither that somebody was paid, nor that it is unknown. An answer that was refused changes
 * nothing.
 */
function staysAsItIs(row: PaymentRow, old: RegisterRow, run: PayrollRun): boolean {
	if (keepsReason(row, old) || hasOutcome('paid')(old)) return true;
	if (!run.isSettling) return sureness(old) > sureness({ outcome: endOf(row) });
	const isChange = wasSettled(row) || hasCode(row, 'paidBefore');
	return !isChange && !isContradicted(row, run) && !isUnusedAsSaid(row, run);
}

function approverOf(row: PaymentRow, old: RegisterRow, run: PayrollRun): RegisterRow['approvedBy'] {
	if (run.isSettling || hasOutcome('alreadyPaid')(row)) return old.approvedBy;
	return run.sent.has(row.line) ? run.answers.user?.email : '';
}

/** The answer of somebody else stays in the register. */
function settlerOf(row: PaymentRow, run: PayrollRun): string | undefined {
	if (row.code === 'paidBefore') return undefined;
	return run.isSettling && !isContradicted(row, run) ? run.answers.user?.email : '';
}

/** The row of the register for a result. One without `id` is new, and one with `updatedAt` is not written. */
function rowFor(result: PaymentRow, run: PayrollRun): RegisterRow {
	const { person, purpose, period } = result;
	const reference = result.reference ?? (person && `${purpose}-${period}-${person}`);
	const known: RegisterRow = registered(run.register, { reference }) ?? {};
	const { updatedAt, createdAt, ...old } = known;
	const [outcome, reason] = [endOf(result), reasonOf(result, old, run)];
	if (staysAsItIs(result, old, run)) return { ...old, reason: reason || old.reason, updatedAt };
	const { amountEtb = old.askedEtb, requestedAmountEtb: askedEtb = amountEtb } = result;
	const merged = { ...old, ...result };
	const sentAt = updatedAt && new Date(updatedAt).toISOString();
	const typed = result.code === 'settledPaid' ? transactionFor(run.answers, reference ?? '') : '';
	return {
		...old,
		reference,
		purpose: merged.purpose,
		period: merged.period,
		person: merged.person,
		employee: merged.employee,
		name: merged.name,
		outcome,
		reason,
		askedEtb,
		phone: merged.phone && String(merged.phone),
		userId: result.toUserId ?? old.userId,
		// Somebody can know that a payment was made, and not when: the time at which it was sent is nearest.
		paidAt: result.paidAt ?? (run.isSettling && outcome === 'paid' ? sentAt : undefined),
		amountEtb: outcome === 'paid' ? amountEtb : undefined,
		txHash: result.txHash ?? (typed || undefined),
		workflow: `${$workflow.name} (${$workflow.id})`,
		approvedBy: approverOf(result, old, run),
		settledBy: settlerOf(result, run),
	};
}

/** The register's row for each result, with its changes. */
export const registerRows = (run: PayrollRun): RegisterRow[] =>
	run.results.map((result) => rowFor(result, run));

/** Whether a person has to do something about it. */
export const isLeft = ({ outcome }: RegisterRow, { isSettling }: PayrollRun): boolean =>
	!isSettling && (outcome === 'notPaid' || outcome === 'unknown');

/**
 * The rows for the node *What next?*, which sends an item to one output: a row that is written and left is two
 * items. `createdAt` marks those to write, because the node of the table drops this column.
 */
export const itemsForWhatNext = (rows: RegisterRow[], run: PayrollRun) => [
	...rows
		.filter(({ reference, updatedAt }) => reference && updatedAt === undefined)
		.map((row) => ({ ...row, createdAt: true as const })),
	...rows.filter((row) => isLeft(row, run)).map((row) => ({ ...row, isLeft: true })),
];
