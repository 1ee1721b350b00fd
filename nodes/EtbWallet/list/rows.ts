/** Reads the person and the amount of each row of a list, and the problems of the row. */
import { readAmount } from '../../shared/amount';
import { decimalText, toHundredths } from '../../shared/decimal';
import { asInvalidValue, assertValue, show } from '../../shared/invalidValue';
import { employeeKeyOf } from './employeeNumber';
import {
	visibleTextOf,
	isChangedNumber,
	hasHonorific,
	isTotal,
	nearbyDay,
	assertComparable,
	cellText,
	visibleText,
} from './spreadsheet';
import { checkedColumns, type CheckedColumn, type TextColumn } from './columns';
import type { HeadingOf, SourceRow } from './readList';
import { remark, remarkIf, type Remark } from './remarks';

/** A person of a list or a table, with the amount to pay or paid. A text that is not known is empty. */
export interface Person extends Record<TextColumn, string> {
	/** The key of the employee number; empty if it cannot be read. */
	employeeKey: string;
	/** The amount in ETB; undefined if it cannot be read. */
	amountEtb?: number;
	/** The amount before rounding, in ETB; undefined for an amount that is not rounded. */
	listedAmountEtb?: number;
}

/** The person of a row, without a key: `readEmployee` makes it, and can throw. */
export const personOf = (row: unknown): Person => ({
	employee: visibleTextOf(row, 'employee'),
	employeeKey: '',
	name: visibleTextOf(row, 'name'),
	phone: visibleTextOf(row, 'phone'),
	email: visibleTextOf(row, 'email'),
	userId: visibleTextOf(row, 'userId'),
});

type Reader = (cell: unknown, field: string, now: Date) => Partial<Person> & { remarks?: Remark[] };

/**
 * The readers of the columns that are checked. An invisible character is a problem in a
 * value that is sent, and in an amount.
 */
const readers: Readonly<Record<CheckedColumn, { forbidsInvisible: boolean; read: Reader }>> = {
	employee: { forbidsInvisible: false, read: readEmployee },
	name: { forbidsInvisible: false, read: readName },
	userId: { forbidsInvisible: true, read: () => ({}) },
	amountEtb: { forbidsInvisible: true, read: readAmountCell },
};

/** A row of the list, as far as it can be read. */
export interface ListRow extends SourceRow {
	/** `noPerson`: no employee number and no amount, such as a title or a signature. */
	kind: 'person' | 'total' | 'noPerson';
	person: Person;
	/** Sentences for the user. An empty text among them is no problem. */
	problems: readonly string[];
	remarks: readonly Remark[];
}

/** Reads a row. It does not throw: what cannot be read is among its problems. */
export function readRow(source: SourceRow, now: Date, headingOf: HeadingOf): ListRow {
	const { cells, otherCells, isTooLong } = source;
	const person: Person = personOf(cells);
	const kind = kindOf(source, person);
	const texts = [...Object.values(cells), ...Object.values(otherCells)]
		.map(cellText)
		.filter(Boolean);
	const example = show(texts.find((text) => /\p{L}/u.test(text)) ?? texts[0]);
	const problemOfKind = {
		total: 'This row is a total. Delete it. If it is a person, write Ato or W/ro before the name.',
		noPerson: `Beside ${example} there is no employee number and no amount. If it is a person, write both.`,
		person: isTooLong
			? 'There are more values than headings. In a CSV file put a value with a comma into quotes "…".'
			: '',
	};
	const problems = [problemOfKind[kind]];
	const remarks = kind === 'total' ? [remark('total')] : [];
	const columnsToRead = kind === 'person' ? checkedColumns : [];
	for (const column of columnsToRead) {
		const { forbidsInvisible, read } = readers[column];
		try {
			const cell = cells[column];
			const field = headingOf(column);
			assertComparable(cell, field, forbidsInvisible);
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

/** Text beside which a name is a signature, such as `Prepared by:`. */
const labelOfSignature = /[:፡]\s*$|\bby$/i;

function kindOf(
	{ cells, otherCells, isSignature }: SourceRow,
	{ employee, name, phone, userId }: Person,
): ListRow['kind'] {
	const amount = visibleText(cells.amountEtb);
	// The column of employee numbers can hold the title of a section, such as *Finance*.
	const isLabel = name === '' || labelOfSignature.test(employee);
	const isTitle = isLabel && !/\p{N}/u.test(employee) && phone + userId === '';
	// Formulas below the last person give zero.
	const isZero = Number(amount) === 0 && employee + name === '';
	const hasNoEmployee = employee === '' || isTitle;
	const hasNoAmount = amount === '' || isZero;
	if (isSignature || (hasNoEmployee && hasNoAmount)) return 'noPerson';
	// A total without a name can have the word for it in any other cell.
	const allCells = [...Object.values(cells), ...Object.values(otherCells)];
	const names = employee + name === '' ? allCells.map(cellText) : [employee, name];
	return !hasHonorific(name) && names.some(isTotal) ? 'total' : 'person';
}

const countDigits = (text: string): number => text.replace(/\P{Nd}/gu, '').length;

/**
 * Reads the employee number in a cell, without the `.0` that programs write behind a number. The key of the
 * person is normalized, and part of the reference: `E-0701` and `e 0701` are both `E0701`.
 * @param field the name of the column in errors
 * @throws {InvalidValueError} for an empty cell, or a number that a spreadsheet changed
 */
export function readEmployee(cell: unknown, field: string, now: Date) {
	const written = visibleText(cell);
	const employee = written.replace(/^(\d+)[.,]0+$/, '$1');
	const employeeKey = employeeKeyOf(employee);
	assertValue(field, cellText(cell), [
		[
			isChangedNumber(cell, employee),
			'is what a spreadsheet made of a date or another number',
			'Format the column as Text, and write the number again, if need be with an apostrophe before it.',
		],
		[
			// Unicode's form NFKC turns signs such as ² into digits: E-1² would be E-12.
			countDigits(written) !== countDigits(written.normalize('NFKC')),
			'has a digit of another kind',
			'Write the number with usual digits, and what else it says in another column.',
		],
		[
			employeeKey === '',
			'is no number',
			'Write the employee number. If the row is nobody, delete it.',
		],
	]);
	const day = nearbyDay(cell, now);
	return {
		employee,
		employeeKey,
		remarks: remarkIf('numberIsDay', day && `${employee} is also ${day}`),
	};
}

/** @throws {InvalidValueError} for a text without a letter */
function readName(cell: unknown, field: string) {
	const name = visibleText(cell);
	assertValue(field, cellText(cell), [[!/\p{L}/u.test(name), 'has no letter', 'Write the name.']]);
	return { name };
}

/**
 * A calculated amount has so many digits that its separator can only be a decimal point. A comma behind one
 * to three digits is no decimal point, because `12,4000` may be a typing error in 124,000.
 */
const calculated = /^(?:\d+\.\d{4,}|(?:0|\d{4,})[.,]\d{3,})$/;

/**
 * Reads the amount in a cell, in ETB. A calculated amount is rounded to two decimals, half up, as a
 * spreadsheet shows it.
 * @throws {InvalidValueError} for an amount that is missing, below 0.01, or can mean two amounts
 */
function readAmountCell(cell: unknown, field: string, now: Date) {
	const written = typeof cell === 'number' ? cell : cellText(cell);
	const isCalculated = typeof written === 'number' || calculated.test(written);
	const point = typeof written === 'number' ? written : written.replace(',', '.');
	const exact = isCalculated ? (decimalText(point) ?? '') : '';
	const isRounded = /^\d+\.\d{3}/.test(exact);
	assertValue(field, written, [
		[
			written === '',
			'is missing',
			'Write the amount. If the cell has a formula, its value is missing: open the file in a spreadsheet, see that the formula gives a number, and save it.',
		],
		[isRounded && toHundredths(exact) === '0', 'is below 0.01', 'Correct the amount.'],
	]);
	const etb = readAmount(field, isRounded ? toHundredths(exact) : written);
	// A spreadsheet keeps days, times and percentages as numbers, and n8n reads those.
	const other = nearbyDay(cell, now) || (Number(cell) < 1 ? 'a time of day, or a percentage' : '');
	const isChanged = typeof cell === 'number' && other !== '';
	return {
		amountEtb: Number(etb),
		...(isRounded && { listedAmountEtb: Number(exact) }),
		remarks: [
			...remarkIf('rounded', isRounded && `${exact} to ${etb}`),
			...remarkIf('amountIsDay', isChanged && `${etb} is also ${other}`),
		],
	};
}
