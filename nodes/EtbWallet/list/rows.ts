/** Reads the rows of a list: the person and the amount of each, and its problems. */
import { amountInEtb } from '../../shared/amount';
import { decimalText, toHundredths } from '../../shared/decimal';
import { asInvalidValue, refuseIf, show } from '../../shared/invalidValue';
import { invisible, employeeKey } from '../../shared/lookalikes';
import { property } from '../../shared/unknownValues';
import { isFormulaError, textOf, valueIn } from './cells';
import type { Column, HeadingOf, SourceRow } from './headings';
import { remarkIf, type Remark } from './remarks';

/** A person, as a list or a table has them: empty texts for what is not known. */
export type Person = ReturnType<typeof personIn> & {
	amountEtb?: number;
	/** The amount before it was rounded, in ETB; undefined if it was not. */
	listedEtb?: number;
};

export function personIn(row: unknown) {
	const of = (column: string): string => valueIn(property(row, column));
	return {
		/** The employee number as it is written, and in the form that is compared; that is empty if it cannot be read. */
		...{ employee: of('employee'), key: '' },
		...{ name: of('name'), phone: of('phone'), email: of('email') },
		userId: of('userId'),
	};
}

type Reader = (cell: unknown, field: string, now: Date) => Partial<Person> & { remarks?: Remark[] };

/** The columns that are read. A mark that nobody sees is a problem where it would be sent, or change an amount. */
const readers: Array<{ column: Column; isSent: boolean; read: Reader }> = [
	{ column: 'employee', isSent: false, read: employeeIn },
	{ column: 'name', isSent: false, read: nameIn },
	{ column: 'userId', isSent: true, read: () => ({}) },
	{ column: 'amountEtb', isSent: true, read: amountInCell },
];

export type ReadRow = ReturnType<typeof readRow>;

/** Reads a row as far as it can be read, with its problems. */
export function readRow(source: SourceRow, now: Date, headingOf: HeadingOf) {
	const { cells, others, isTooLong } = source;
	const person: Person = personIn(cells);
	const kind = kindOf(source, person);
	const texts = [...Object.values(cells), ...Object.values(others)].map(textOf).filter(Boolean);
	const found = show(texts.find((text) => /\p{L}/u.test(text)) ?? texts[0]);
	const ofKind = {
		total: 'This row is a total. Delete it. If it is a person, write Ato or W/ro before the name.',
		nobody: `Beside ${found} there is no employee number and no amount. If it is a person, write both.`,
		person: isTooLong
			? 'There are more values than headings. In a CSV file put a value with a comma into quotes "…".'
			: '',
	};
	const problems = [ofKind[kind]];
	const remarks = kind === 'total' ? remarkIf('total') : [];
	for (const { column, isSent, read } of kind === 'person' ? readers : []) {
		try {
			const [cell, field] = [cells[column], headingOf(column)];
			requireLegible(cell, field, isSent);
			const { remarks: more = [], ...facts } = read(cell, field, now);
			Object.assign(person, facts);
			remarks.push(...more);
		} catch (error) {
			const { message, remedy } = asInvalidValue(error);
			problems.push(`${message}. ${remedy}`);
		}
	}
	return { ...source, kind, person, problems, remarks };
}

/** `nobody` is a row without an employee number and an amount, such as a title or a signature. */
function kindOf({ cells, others }: SourceRow, person: Person): 'person' | 'total' | 'nobody' {
	const { employee, name, phone, userId } = person;
	const amount = valueIn(cells.amountEtb);
	// A title may stand in the column of numbers. Formulas go on below the last person, and give zero.
	const isTitle = !/\p{N}/u.test(employee) && name + phone + userId === '';
	const isZero = Number(amount) === 0 && employee + name === '';
	if ((employee === '' || isTitle) && (amount === '' || isZero)) return 'nobody';
	const names = employee + name === '' ? Object.values(others).map(textOf) : [employee, name];
	return !title.test(name) && names.some((text) => withTotal.test(text)) ? 'total' : 'person';
}

/** A word for a total, in English and Amharic. */
const words =
	'(?:grand|sub|page|net|gross|over ?all)?[- ]?(?:totals?|ttl)|sum|(?:አጠቃላይ|አ?ጠቅላላው?|ንዑስ)? ?ድም[ርሩ]|አጠቃላይ|አ?ጠቅላላው?';
const withTotal = new RegExp(
	`^(?:${words})(?![\\p{L}\\p{M}])|(?<![\\p{L}\\p{M}])(?:${words})[\\s\\p{P}]*$`,
	'iu',
);
/** A title, which no total has: so a person called Total Bekele can be paid as Ato Total Bekele. */
const title = /^(?:ato|w\/r[ot]|dr|አቶ|ወ\/ሮ|ወ\/ት)[. ]/iu;

/** Rounded to an exponent, with signs between thousands, or of more digits than a spreadsheet keeps. */
const spreadsheetMangled = /^\d+(?:[.,]\d+)?E[+-]\d+$|^-?\d+,\d+$|^\d{1,3}(?:,\d{3})+$|^\d{15}0+$/i;

/** Texts that a spreadsheet writes for a value that it took for a date. */
const months =
	'jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?';
const date = new RegExp(
	`^(?:\\d{1,4}[-/ .](?:${months})(?:[-/ .]\\d{2,4})?|(?:${months})[-/ .]\\d{2,4}|\\d{4}-\\d{2}-\\d{2}(?:[T ].*)?|\\d{1,2}/\\d{1,2}/(?:\\d{2}|\\d{4}))$`,
	'i',
);

const countDigits = (text: string): number => text.replace(/\P{Nd}/gu, '').length;

/**
 * The employee number in a cell, without the `.0` that programs write behind a number; and the form that is compared and that
 * the reference has: `E-0701` and `e 0701` are both `E0701`.
 * @param field the heading, for errors
 * @throws {InvalidValueError}
 */
export function employeeIn(cell: unknown, field: string, now: Date) {
	const written = valueIn(cell);
	const employee = written.replace(/^(\d+)[.,]0+$/, '$1');
	const key = employeeKey(employee);
	const isOther = typeof cell === 'number' && !(Number.isInteger(cell) && cell >= 0 && cell < 1e15);
	const isDate = cell instanceof Date || date.test(written);
	refuseIf(field, textOf(cell), [
		[
			isOther || isDate || spreadsheetMangled.test(employee),
			'is what a spreadsheet made of a date or another number',
			'Format the column as Text, and write the number again, if need be with an apostrophe before it.',
		],
		[
			// In Unicode's form NFKC signs such as ² are digits, and E-1² would be E-12.
			countDigits(written) !== countDigits(written.normalize('NFKC')),
			'has a digit of another kind',
			'Write the number with usual digits, and what else it says in another column.',
		],
		[key === '', 'is no number', 'Write the employee number. If the row is nobody, delete it.'],
	]);
	const day = dayNear(cell, now);
	return { employee, key, remarks: remarkIf('numberIsDay', day && `${employee} is also ${day}`) };
}

/** @throws {InvalidValueError} if there is none */
function nameIn(cell: unknown, field: string) {
	const name = valueIn(cell);
	refuseIf(field, textOf(cell), [[!/\p{L}/u.test(name), 'has no letter', 'Write the name.']]);
	return { name };
}

/**
 * A calculated amount: so many digits that the sign can only be a decimal point. A comma behind one to three digits is none,
 * because `12,4000` may be a typing error in 124,000.
 */
const calculated = /^(?:\d+\.\d{4,}|(?:0|\d{4,})[.,]\d{3,})$/;

/** The amount in a cell, in ETB. A calculated one, which a spreadsheet shows rounded, is rounded to two decimals, half upwards. @throws {InvalidValueError} */
function amountInCell(cell: unknown, field: string, now: Date) {
	const written = typeof cell === 'number' ? cell : textOf(cell);
	const isCalculated = typeof written === 'number' || calculated.test(written);
	const point = typeof written === 'number' ? written : written.replace(',', '.');
	const exact = isCalculated ? (decimalText(point) ?? '') : '';
	const isRounded = /^\d+\.\d{3}/.test(exact);
	refuseIf(field, written, [
		[
			written === '',
			'is missing',
			'Write the amount. If the cell has a formula, its value is missing: open the file in a spreadsheet, see that the formula gives a number, and save it.',
		],
		[isRounded && toHundredths(exact) === '0', 'is below 0.01', 'Correct the amount.'],
	]);
	const etb = amountInEtb(isRounded ? toHundredths(exact) : written, field);
	// A spreadsheet keeps days, times and percentages as numbers, and n8n reads those.
	const other = dayNear(cell, now) || (Number(cell) < 1 ? 'a time of day, or a percentage' : '');
	const isChanged = typeof cell === 'number' && other !== '';
	return {
		amountEtb: Number(etb),
		...(isRounded && { listedEtb: Number(exact) }),
		remarks: [
			...remarkIf('rounded', isRounded && `${exact} to ${etb}`),
			...remarkIf('amountIsDay', isChanged && `${etb} is also ${other}`),
		],
	};
}

/** The day of last, this or next year that a spreadsheet keeps as this number, as it does for a typed 12-1; empty for none. */
function dayNear(cell: unknown, now: Date): string {
	const days = typeof cell === 'number' && Number.isInteger(cell) ? cell : NaN;
	// Spreadsheets count from this day.
	const day = new Date(Date.UTC(1899, 11, 30 + days));
	const isNear = Math.abs(day.getUTCFullYear() - now.getUTCFullYear()) <= 1;
	return isNear ? day.toISOString().slice(0, 'YYYY-MM-DD'.length) : '';
}

/**
 * @param isSentAsItIs whether the value is sent unchanged: then marks that nobody sees are refused too
 * @throws {InvalidValueError} for a text that people cannot compare by eye
 */
function requireLegible(cell: unknown, field: string, isSentAsItIs: boolean): void {
	const text = textOf(cell);
	const isText = !/^(?:object|boolean)$/.test(typeof (cell ?? '')) || cell instanceof Date;
	const isUnseen =
		/[\p{Co}\p{Cn}]/u.test(text) || (isSentAsItIs && text.replace(invisible, '') !== text);
	// An override shows letters and digits in another order.
	const isTurned = typeof cell === 'string' && cell.includes('\u202e');
	refuseIf(field, isText ? text : cell, [
		[!isText, 'is not text', 'Write it as text, or as a number.'],
		[isFormulaError(text), 'is an error of a formula', 'Correct the formula.'],
		[isUnseen || isTurned, 'has a letter that nobody can see', 'Write it again by hand.'],
	]);
}
