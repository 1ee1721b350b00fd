/** Who the people of a list are. */
import { grouped } from '../../shared/grouped';
import { InvalidValueError, invalid, show } from '../../shared/invalidValue';
import { dashes } from '../../shared/lookalikes';
import { folded, hasInvisible, textOf } from './cells';

export interface Employee {
	/** As it is written, but without what a spreadsheet added: `51041.0` is 51041. */
	shown: string;
	/** In the form that is compared and that the reference has: `E-0701` and `e 0701` are both `E0701`. */
	key: string;
}

/** In letters. A reference may have 200. */
const maxNumberLength = 100;

const asText =
	'The spreadsheet changed it. Format the column as Text, and write the number again, if need be with an apostrophe before it.';

/** Rounded to an exponent, with decimals, with signs between thousands, or of more digits than a spreadsheet keeps. */
const isChanged = (text: string): boolean =>
	/^\d+(?:[.,]\d+)?E[+-]\d+$|^-?\d+[.,]\d+$|^\d{1,3}(?:,\d{3})+$|^\d{16,}$/i.test(text);

/** What spreadsheets write for what they take for a date. */
const months = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec';
const date = new RegExp(
	`^(?:\\d{1,4}[-/ .](?:${months})[a-z]*(?:[-/ .]\\d{2,4})?|(?:${months})[a-z]*[-/ .]\\d{2,4}|\\d{4}-\\d{2}-\\d{2}(?:[T ].*)?|\\d{1,2}/\\d{1,2}/(?:\\d{2}|\\d{4}))$`,
	'i',
);

/**
 * The employee number in a cell. It is the same without case, blanks, dashes and zeros before it; with `.0` behind it, as
 * programs write a number; and if it is an Ethiopian mobile number, in its local and its international form.
 * @param now a number that a spreadsheet has for a day of this year or the last one is refused, unless it is text
 * @throws {InvalidValueError} if it is empty, or what a spreadsheet made of a number or a date
 */
export function employeeIn(cell: unknown, now: Date, field = 'employee'): Employee {
	const written = textOf(cell);
	const shown = written.replace(/^(\d+)[.,]0+$/, '$1');
	if (cell instanceof Date || date.test(written)) throw invalid(field, cell, 'is a date', asText);
	if (isChanged(shown) || (typeof cell === 'number' && cell < 0))
		throw invalid(field, written, 'is what a spreadsheet made of another number', asText);
	if (typeof cell === 'number' && isDayNear(cell, now))
		throw invalid(field, cell, `is also the number of the date ${dayOf(cell)}`, asText);
	const key = employeeKeyOf(shown);
	if (key === '') {
		throw new InvalidValueError(
			`${field} is ${show(written)}`,
			'Write the employee number. If the row is nobody, delete it.',
		);
	}
	if (key.length > maxNumberLength)
		throw invalid(field, written, `is longer than ${maxNumberLength} letters`, 'Shorten it.');
	return { shown, key };
}

function employeeKeyOf(shown: string): string {
	const isPhone = /^[+\d\s().-]{9,}$/.test(shown);
	const plain = folded(isPhone ? shown.replace(/[().]/g, '') : shown)
		.replace(dashes, '')
		.replace(/^0+(?=\d)/, '');
	const [, mobile] = /^\+?251([79]\d{8})$/.exec(plain) ?? [];
	return (mobile ?? plain).toUpperCase();
}

const dayMs = 24 * 60 * 60 * 1000;
/** The day from which spreadsheets count. */
const firstDay = Date.UTC(1899, 11, 30);
const yearOf = (day: number): number => new Date(firstDay + day * dayMs).getUTCFullYear();
const dayOf = (day: number): string =>
	new Date(firstDay + day * dayMs).toISOString().slice(0, 'YYYY-MM-DD'.length);

/** Whoever types 12-1 gets a day of that year, which n8n reads as its number. */
function isDayNear(value: number, now: Date): boolean {
	if (!Number.isInteger(value) || value < 1 || value > 100_000) return false;
	return [0, 1].includes(now.getUTCFullYear() - yearOf(value));
}

/** Whether a row is a total by its word, in English or Amharic. */
export const isTotal = (employee: string, name: string): boolean =>
	[employee, name].some((text) =>
		/^(?:(?:grand|sub|page|net|overall)[ -]?)?(?:total|sum)s?(?![\p{L}\p{M}])|^(?:ጠቅላላ|አጠቃላይ|ድምር)(?![\p{L}\p{M}])/iu.test(
			text,
		),
	);

/** What is wrong with texts that others compare by eye; empty for nothing. */
export const invisibleProblem = (texts: Record<string, string>): string => {
	const found = Object.entries(texts).find(([, text]) => hasInvisible(text));
	return found === undefined
		? ''
		: `${found[0]} has a letter that nobody can see. Write it again by hand.`;
};

/** What nobody else in a list may have, in the form that is compared; empty texts do not count. */
const uniqueColumns = ['employee', 'userId', 'email'] as const;

export interface Identity extends Record<(typeof uniqueColumns)[number], string> {
	line: number;
}

/** For each row the problem that another one has the same employee number, user ID or email address; empty for none. */
export function doubleProblems(rows: readonly Identity[]): string[] {
	const columns = uniqueColumns.map((column) => ({
		column,
		rowsBy: grouped(rows, (row) => row[column]),
	}));
	return rows.map((row) => {
		for (const { column, rowsBy } of columns) {
			if (row[column] === '') continue;
			// Two rows can have the same line: two sheets may come in one list.
			const others = (rowsBy.get(row[column]) ?? []).filter((other) => other !== row);
			if (others.length === 0) continue;
			const lines = others.slice(0, 3).map(({ line }) => line);
			return `Row ${lines.join(', ')} has the same ${column}. Delete or correct one of them.`;
		}
		return '';
	});
}
