/** Periods of a list, and the period that is due. */
import { InvalidValueError, isAbsent, assertValue, show } from '../../shared/invalidValue';

/** A month, as `YYYY-MM`: the period that begins on the pay day of this month. */
export type Period = string;

export const dayMs = 24 * 60 * 60 * 1000;

/**
 * A time in Addis Ababa as `YYYY-MM-DDTHH:mm…`. The city has no daylight saving time.
 * @param ms the time since 1970, in ms
 */
export const addisAbabaTime = (ms: number): string =>
	new Date(ms + 3 * 60 * 60 * 1000).toISOString();

/**
 * The period that is due at a time. A period has the name of the month of its pay day: with pay day 25,
 * `2026-10` lasts from 25 October 2026, 00:00 in Addis Ababa, to 24 November, 24:00. A run in this time pays
 * this period.
 * @param payDay 1 to 28
 */
export const duePeriod = (now: Date, payDay: number): Period =>
	addisAbabaTime(now.getTime() - (payDay - 1) * dayMs).slice(0, 'YYYY-MM'.length);

interface PeriodFields {
	payDay: unknown;
	/** Empty for the period that is due. */
	period: unknown;
	now: Date;
	/**
	 * Whether a person chose the period for this run. Otherwise only the due period is accepted, because with
	 * a forgotten value each later run would succeed without paying anybody.
	 */
	isChosen: boolean;
	/** Whether n8n repeats an execution. Its original time is unknown, so the field has to name the period. */
	isRetryExecution: boolean;
}

/**
 * The period of a run: the one in the field Period, or the one that is due.
 * @throws {InvalidValueError} for a period that cannot be read, has not begun, began more than a year before
 * the due one, or is not due and was not chosen by a person
 */
export function readPeriod(fields: PeriodFields): Period {
	const { payDay, period, now } = fields;
	if (typeof payDay !== 'number' || !Number.isInteger(payDay) || payDay < 1 || payDay > 28) {
		throw new InvalidValueError(
			`Pay Day is ${show(payDay)}`,
			'Enter the day of the month from which on a period is paid, from 1 to 28.',
		);
	}
	const due = duePeriod(now, payDay);
	const named = typeof period === 'string' ? period.trim() : period;
	if (isAbsent(named)) {
		if (!fields.isRetryExecution) return due;
		throw new InvalidValueError(
			'Retry execution does not know which period was meant',
			'Start the workflow again instead. Nobody already paid is paid again.',
		);
	}
	const text = typeof named === 'string' ? named : '';
	const calendar = ethiopianYearRemark(text, now);
	const yearBefore = `${Number(due.slice(0, 4)) - 1}${due.slice(4)}`;
	assertValue('Period', named, [
		[
			!/^\d{4}-(0[1-9]|1[0-2])$/.test(text) || calendar !== '',
			`is no month of the Gregorian calendar${calendar}`,
			`Write the month in which the pay day is, such as ${due}, which is due.`,
		],
		[
			text > due || text < yearBefore,
			'has not begun, or is more than a year ago',
			`Due is ${due}: leave Period empty for it.`,
		],
		[
			text !== due && !fields.isChosen,
			`is not due: ${due} is`,
			'Empty Period in this node, then publish the workflow again. For another period, open the workflow and choose Execute workflow.',
		],
	]);
	return text;
}

/**
 * The remark for a text with a year of the Ethiopian calendar, which is 7 to 9 years behind; empty for any
 * other text. Ethiopian months are no periods: they begin on other days, and there are 13.
 */
export function ethiopianYearRemark(text: string, now: Date): string {
	const years = [...text.matchAll(/(?<!\d)20\d\d(?!\d)/g)].map(Number);
	const year = years.find((each) => [7, 8, 9].includes(now.getUTCFullYear() - each));
	return year === undefined ? '' : ` (${year} is a year of the Ethiopian calendar)`;
}

/** The period that a text names, such as 2026-09, 2026/9 or 2026-09-25; undefined for none. */
export function periodIn(text: string): Period | undefined {
	const [, year, month = ''] = /^(20\d\d) ?[-/._ ] ?(0?[1-9]|1[0-2])(?!\d)/.exec(text) ?? [];
	return year === undefined ? undefined : `${year}-${month.padStart(2, '0')}`;
}
