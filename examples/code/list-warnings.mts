/** The warnings about the rows of a list that will be paid, for the person who approves it. */
import type { RemarkCode } from '../../nodes/EtbWallet/list/remarks.ts';
import type { ListRun } from './list-run.mts';
import {
	amountOf,
	hasRemark,
	isCorrection,
	likeOthers,
	remarksWith,
	type PaymentRow,
} from './payment-row.mts';
import { registered } from './register.mts';
import { peopleText, escapeHtml, namesWithNumbers, formatSum } from './text.mts';
import { itemsOf } from './workflow.mts';

interface Warning {
	rows: PaymentRow[];
	/** A large warning stands on top of the page, and makes Decline the first choice. */
	isLarge: boolean;
	/** HTML. */
	text: string;
}

/** Whether an amount is at least double or half of the one before. */
function isFarFrom(before: number, amount: number): boolean {
	return before > 0 && (amount >= 2 * before || amount * 2 <= before);
}

/** Salaries that are far from the last one, or before the first payment from the amount in the table of people. */
function veryDifferent({ ready, purpose }: ListRun): PaymentRow[] {
	if (purpose !== 'salary') return [];
	const people = new Map(itemsOf(() => $('People')).map((row) => [row.employeeKey, row.amountEtb]));
	return ready.filter(({ lastTime, employeeKey, amountEtb }) => {
		const before = lastTime === undefined ? people.get(employeeKey) : amountOf(lastTime);
		return isFarFrom(before ?? 0, amountEtb ?? 0);
	});
}

function onTop(rows: PaymentRow[], run: ListRun, whom: string): string {
	const persons = new Set(rows.map(({ employeeKey }) => employeeKey));
	const others = run.paidForPeriod.filter(
		(row) => row.purpose !== run.purpose && persons.has(row.employeeKey),
	);
	if (run.purpose === '13th-month')
		return `A 13th month of ${formatSum(rows)} ETB for ${whom}, on top of ${formatSum(others)} ETB for ${escapeHtml(run.period)}`;
	const hint = isCorrection(run) ? ' A correction is only what is still missing.' : '';
	return `Is this a second payment for ${escapeHtml(run.period)}? It looks so for ${whom}: ${formatSum(rows)} ETB on top of ${formatSum(others)} ETB for another purpose.${hint}`;
}

/** The warnings about a list, the most important first. */
export function warningsAbout(run: ListRun): Warning[] {
	const { ready, register } = run;
	const withRemark = (code: RemarkCode) => ready.filter(hasRemark(code));
	// One person of many is a warning about that person, and most of them are one about the list.
	const isMost = ({ length }: PaymentRow[]): boolean => length * 2 >= ready.length;
	const ofThese = ({ length }: PaymentRow[]): string => `${length} of ${peopleText(ready)}`;
	const whom = (rows: PaymentRow[]): string =>
		isMost(rows) && rows.length > 3 ? ofThese(rows) : namesWithNumbers(rows);
	// It is as much as the salary, and comes on top of it.
	const is13thMonth = run.purpose === '13th-month';
	const [otherUnknown, paidForPeriod] = [withRemark('otherUnknown'), withRemark('paidForPeriod')];
	// A 13th month is as much as the salary, which was paid lately too.
	const codesOfLately: RemarkCode[] = is13thMonth
		? ['paidLately']
		: ['paidLately', 'sameAmountLately'];
	const paidLately = ready.filter((row) => remarksWith(row, codesOfLately).length > 0);
	const changedName = withRemark('changedName');
	const [twice, different] = [likeOthers(ready), veryDifferent(run)];
	const settled = ready.filter((row) => registered(register, row)?.settledBy);
	const warnings: Warning[] = [
		{
			rows: otherUnknown,
			isLarge: true,
			text: `UNKNOWN whether ${ofThese(otherUnknown)} got another payment, see below`,
		},
		{
			rows: paidForPeriod,
			isLarge: !is13thMonth && (isMost(paidForPeriod) || isCorrection(run)),
			text: onTop(paidForPeriod, run, whom(paidForPeriod)),
		},
		{
			rows: paidLately,
			isLarge: isMost(paidLately),
			text: `Paid in the last 10 days, the same amount or for the same purpose: ${whom(paidLately)}. Are month and purpose right?`,
		},
		{
			rows: twice,
			isLarge: true,
			text: `The same person under two numbers? ${namesWithNumbers(twice)}: see below`,
		},
		{
			rows: different,
			isLarge: true,
			text: `Very different from before: ${namesWithNumbers(different)}. Is the amount right? See below`,
		},
		{
			rows: changedName,
			isLarge: true,
			text: `Another name than before, see below: ${namesWithNumbers(changedName)}`,
		},
		{
			rows: settled,
			isLarge: false,
			text: `Recorded as not paid before, see below by whom: ${namesWithNumbers(settled)}`,
		},
	];
	return warnings.filter(({ rows }) => rows.length > 0);
}
