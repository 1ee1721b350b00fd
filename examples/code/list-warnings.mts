/** The warnings about the rows of a list that will be paid, for the person who approves it. */
import { latelyDays, type RemarkCode } from '../../nodes/EtbWallet/list/remarks.ts';
import type { ListExecution } from './list-execution.mts';
import {
	amountOf,
	hasOutcome,
	hasRemark,
	isCorrection,
	isSamePerson,
	isPaidByStatement,
	rowsLikeOthers,
	type PaymentRow,
	type RegisterRow,
} from './payment-row.mts';
import { correctionsOf, rowOf } from './register.mts';
import { renamedText } from './page.mts';
import { peopleText, escapeHtml, namesWithNumbers, formatSum } from './text.mts';

export interface Warning {
	rows: PaymentRow[];
	/** A large warning stands on top of the page, and makes Decline the first choice. */
	isLarge: boolean;
	/** HTML. */
	text: string;
}

/** Whether an amount is at least double or half of the one before. */
export const isFarFrom = (before: number, amount: number): boolean =>
	amount >= 2 * before || amount * 2 <= before;

/** The median of some amounts, or of two in the middle the lower one; 0 if there is none. */
const medianOf = (amounts: number[]): number =>
	[...amounts].sort((one, other) => one - other)[Math.floor((amounts.length - 1) / 2)] ?? 0;

/**
 * Amounts that are far from the last one for this purpose, or for a first salary from the amount in the table of people.
 * Without any of them, ten times the median of the list is far. Corrections are all different.
 */
function veryDifferent(execution: ListExecution): Array<{ row: PaymentRow; before: string }> {
	if (isCorrection(execution)) return [];
	const people = new Map(execution.people.map((row) => [row.employeeKey, row.amountEtb]));
	const median = medianOf(execution.ready.map(amountOf));
	return execution.ready.flatMap((row) => {
		const { lastTime = {}, employeeKey, amountEtb } = row;
		const amount = amountEtb ?? 0;
		const last = amountOf(lastTime);
		const first = execution.purpose === 'salary' ? (people.get(employeeKey) ?? 0) : 0;
		const etb = (sum: number): string => `${formatSum([{ amountEtb: sum }])} ETB`;
		if (last > 0) return isFarFrom(last, amount) ? { row, before: `${etb(last)} last time` } : [];
		if (first > 0)
			return isFarFrom(first, amount)
				? { row, before: `${etb(first)} in the table of people` }
				: [];
		const isFar = amount >= 10 * median || median >= 10 * amount;
		return isFar ? { row, before: `others ${etb(median)}` } : [];
	});
}

/** It is as much as the salary, and comes on top of it. */
const is13thMonth = ({ purpose }: ListExecution): boolean => purpose === '13th month';

/** The number of months from the year 0 to a period. */
const monthOf = (period: string): number => {
	const [year = 0, month = 0] = period.split('-').map(Number);
	return 12 * year + month;
};

/** The payments for the purpose of the list in other periods, fewer than ten months before or after its own. */
const earlierInYear = ({ register, purpose, period }: ListExecution): RegisterRow[] =>
	register.rows.filter((row) => {
		const months = Math.abs(monthOf(row.period ?? '') - monthOf(period));
		return hasOutcome('paid')(row) && row.purpose === purpose && months > 0 && months < 10;
	});

const periodsOf = (rows: RegisterRow[]): string =>
	escapeHtml([...new Set(rows.map(({ period }) => period))].sort().join(', '));

function onTop(rows: PaymentRow[], execution: ListExecution, whom: string): string {
	const persons = new Set(rows.map(({ employeeKey }) => employeeKey));
	const others = execution.paidForPeriod.filter(
		(row) => row.purpose !== execution.purpose && persons.has(row.employeeKey),
	);
	const purposes = [...new Set(others.map(({ purpose }) => purpose))];
	if (is13thMonth(execution))
		return `Is this the 13th month, once a year? ${formatSum(rows)} ETB for ${whom}, on top of ${formatSum(others)} ETB for ${escapeHtml(execution.period)}`;
	const hint = isCorrection(execution) ? ' A correction is only what is still missing.' : '';
	const recorded = others.filter(isPaidByStatement);
	const doubt =
		recorded.length > 0
			? ` But of that, ${formatSum(recorded)} ETB was only recorded as paid by a person, without a transaction, see below: ask the partner service before you decide.`
			: '';
	return `Is this a second payment for ${escapeHtml(execution.period)}? It looks so for ${whom}: ${formatSum(rows)} ETB on top of ${formatSum(others)} ETB for ${escapeHtml(purposes.join(', '))}.${hint}${doubt}`;
}

/** The warnings about a list, the most important first. */
export function warningsAbout(execution: ListExecution): Warning[] {
	const { ready, register } = execution;
	const withRemark = (code: RemarkCode) => ready.filter(hasRemark(code));
	// One person of many is a warning about that person, and most of them are one about the list.
	const isMost = ({ length }: PaymentRow[]): boolean => length * 2 >= ready.length;
	const ofThese = ({ length }: PaymentRow[]): string => `${length} of ${peopleText(ready)}`;
	const whom = (rows: PaymentRow[]): string =>
		isMost(rows) && rows.length > 3 ? ofThese(rows) : namesWithNumbers(rows);
	const [otherUnknown, alsoPaidForPeriod] = [
		withRemark('otherUnknown'),
		withRemark('paidForPeriod'),
	];
	// A 13th month is as much as the salary, which was paid lately too. There is one of them in a year.
	const is13th = is13thMonth(execution);
	const ofReady = (payments: RegisterRow[]): RegisterRow[] =>
		payments.filter((each) => ready.some((row) => isSamePerson(row, each)));
	const readyWith = (payments: RegisterRow[]): PaymentRow[] =>
		ready.filter((row) => payments.some((each) => isSamePerson(row, each)));
	const paid13th = is13th ? ofReady(earlierInYear(execution)) : [];
	const had13th = readyWith(paid13th);
	const paidLately = is13th ? [] : withRemark('paidLately');
	const sameAmount = is13th ? [] : withRemark('sameAmountLately');
	const changedName = withRemark('changedName');
	// A correction that is unknown is among the other payments that are unknown: nobody can say that somebody had it.
	const paidCorrections = (row: PaymentRow): RegisterRow[] =>
		correctionsOf(row, register).filter(hasOutcome('paid'));
	const corrected = isCorrection(execution)
		? ready.filter((row) => paidCorrections(row).length > 0)
		: [];
	const had =
		corrected.length > 3
			? `${whom(corrected)} had ${formatSum(corrected.flatMap(paidCorrections))} ETB`
			: corrected
					.map((row) => `${namesWithNumbers([row])} had ${formatSum(paidCorrections(row))} ETB`)
					.join(', ');
	const withoutPayment = isCorrection(execution)
		? ready.filter((row) => !execution.paidForPeriod.some((each) => isSamePerson(row, each)))
		: [];
	const [twice, different] = [rowsLikeOthers(ready), veryDifferent(execution)];
	const settled = ready.filter((row) => rowOf(register, row)?.settledBy);
	const warnings: Warning[] = [
		{
			rows: otherUnknown,
			isLarge: true,
			text: `UNKNOWN whether ${ofThese(otherUnknown)} got another payment, see below`,
		},
		{
			rows: alsoPaidForPeriod,
			isLarge: true,
			text: onTop(alsoPaidForPeriod, execution, whom(alsoPaidForPeriod)),
		},
		{
			rows: had13th,
			isLarge: true,
			text: `A second 13th month? ${whom(had13th)} had one before: ${formatSum(paid13th)} ETB for ${periodsOf(paid13th)}`,
		},
		{
			rows: corrected,
			isLarge: true,
			text: `A second correction for ${escapeHtml(execution.period)}? ${had} before. Is this on top of it?`,
		},
		{
			rows: withoutPayment,
			isLarge: true,
			text: `Is it a correction? Nothing was paid for ${escapeHtml(execution.period)} before to ${whom(withoutPayment)}. Is the month right, and the purpose?`,
		},
		{
			rows: paidLately,
			isLarge: isMost(paidLately),
			text: `Paid for the same purpose in the last ${latelyDays} days: ${whom(paidLately)}. Is the month right?`,
		},
		{
			rows: sameAmount,
			isLarge: isMost(sameAmount),
			text: `Paid the same amount for another purpose in the last ${latelyDays} days: ${whom(sameAmount)}. Is the purpose right?`,
		},
		{
			rows: twice,
			isLarge: true,
			text: `The same person under two numbers? ${namesWithNumbers(twice)}: see below`,
		},
		{
			rows: different.map(({ row }) => row),
			isLarge: true,
			text: `Very different: ${different.map(({ row, before }) => `${namesWithNumbers([row])} ${formatSum([row])} ETB (${before})`).join(', ')}. Is the amount right?`,
		},
		{
			rows: changedName,
			isLarge: true,
			text: renamedText(changedName),
		},
		{
			rows: settled,
			isLarge: false,
			text: `Recorded as not paid before, see below by whom: ${namesWithNumbers(settled)}`,
		},
	];
	return warnings.filter(({ rows }) => rows.length > 0);
}
