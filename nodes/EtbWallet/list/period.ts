/** The period that a list is for, and which one is due. */
import { InvalidValueError, show } from '../../shared/invalidValue';

/** A month, as `YYYY-MM`: the period that begins on the pay day of this month. */
export type Period = string;

/** Ethiopia's time, in milliseconds from UTC. It knows no daylight saving time. */
const offsetMs = 3 * 60 * 60 * 1000;
const dayMs = 24 * 60 * 60 * 1000;

/** How many months before the due period one may have begun. */
const maxMonthsBack = 12;

/**
 * The period that is due at a time. A period has the name of the month in which its pay day is: with pay day 25, `2026-10`
 * runs from 25 October 2026, 00:00 in Addis Ababa, to 24 November, 24:00. Whatever runs in that time pays it.
 * @param payDay 1 to 28
 */
export function duePeriod(now: Date, payDay: number): Period {
	const shifted = new Date(now.getTime() + offsetMs - (payDay - 1) * dayMs);
	return shifted.toISOString().slice(0, 7);
}

/** The period that is this many months before another one. */
function monthsBefore(period: Period, months: number): Period {
	const [year = 0, month = 0] = period.split('-').map(Number);
	return new Date(Date.UTC(year, month - 1 - months)).toISOString().slice(0, 7);
}

export interface PeriodFields {
	payDay: unknown;
	/** Empty for the period that is due. */
	period: unknown;
	now: Date;
	/**
	 * Whether a person chose the period for this run: else only the one that is due is taken, because one that was left
	 * there would end each later run in green, and nobody would be paid.
	 */
	isChosen: boolean;
	/** Whether n8n repeats an execution, of which nobody knows when it was meant: then the period has to be named. */
	isRetryExecution: boolean;
}

/**
 * The period of a run: the one that is named, or the one that is due.
 * @throws {InvalidValueError} if it cannot be read, has not begun, began more than a year before the due one, or is
 * another one than the due one and nobody chose it
 */
export function readPeriod(fields: PeriodFields): Period {
	const { payDay, now, isChosen, isRetryExecution } = fields;
	if (typeof payDay !== 'number' || !Number.isInteger(payDay) || payDay < 1 || payDay > 28) {
		throw new InvalidValueError(
			`Pay Day is ${show(payDay)}`,
			'Enter the day of the month from which on a period is paid, from 1 to 28.',
		);
	}
	const due = duePeriod(now, payDay);
	const named = typeof fields.period === 'string' ? fields.period.trim() : (fields.period ?? '');
	if (named === '') {
		if (!isRetryExecution) return due;
		throw new InvalidValueError(
			'Retry execution does not know which period was meant',
			'Start the workflow again instead. Who was paid is not paid again.',
		);
	}
	const ethiopian = typeof named === 'string' ? ethiopianYearIn(named, now) : undefined;
	if (ethiopian !== undefined) {
		throw new InvalidValueError(
			`Period is ${show(named)}, and ${ethiopian} is a year of the Ethiopian calendar`,
			`Write the month of the Gregorian calendar in which the pay day is, such as ${due}, which is due.`,
		);
	}
	if (typeof named !== 'string' || !/^\d{4}-(0[1-9]|1[0-2])$/.test(named)) {
		throw new InvalidValueError(`Period is ${show(named)}`, `Write it like ${due}, which is due.`);
	}
	if (named > due) {
		throw new InvalidValueError(
			`Period is ${named}, which has not begun: its pay day is ${named}-${String(payDay).padStart(2, '0')}`,
			`Due is ${due}: leave Period empty for it.`,
		);
	}
	if (named < monthsBefore(due, maxMonthsBack)) {
		throw new InvalidValueError(
			`Period is ${named}, which is more than a year ago`,
			`Due is ${due}: leave Period empty for it.`,
		);
	}
	if (named !== due && !isChosen) {
		throw new InvalidValueError(
			`Period is ${named}, and ${due} is due`,
			'Empty Period in this node, then publish the workflow again. For another period, open the workflow and choose Execute workflow.',
		);
	}
	return named;
}

/**
 * The year in a text that can only be one of the Ethiopian calendar, because it is 7 to 9 years behind; undefined for none.
 * Its months are no periods: they begin on other days, and there are 13.
 */
export function ethiopianYearIn(text: string, now: Date): number | undefined {
	const years = [...text.matchAll(/(?<!\d)20\d\d(?!\d)/g)].map(Number);
	return years.find((year) => [7, 8, 9].includes(now.getUTCFullYear() - year));
}

/** The period that a text names in any of the usual ways, such as 2026-09, 2026/9 or 2026-09-25; undefined if it names none. */
export function periodIn(text: string): Period | undefined {
	const [, year, month = ''] = /^(20\d\d) ?[-/._ ] ?(0?[1-9]|1[0-2])(?!\d)/.exec(text) ?? [];
	return year === undefined ? undefined : `${year}-${month.padStart(2, '0')}`;
}
