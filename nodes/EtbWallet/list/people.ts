/** Who the people of a list are. */
import { InvalidValueError, invalid, show } from '../../shared/invalidValue';
import { personOf } from '../../shared/lookalikes';
import { dayNear, textOf, visibleText, withoutPlaceholder } from './cells';
import { remark, type Remark } from './remarks';

export interface Employee {
	/** As it is written, but without what a spreadsheet added: `51041.0` is 51041. */
	employee: string;
	/** In the form that is compared and that the reference has: `E-0701` and `e 0701` are both `E0701`. */
	key: string;
	remarks: Remark[];
}

/** In letters. A reference may have 200. */
const maxNumberLength = 100;

const asText =
	'The spreadsheet changed it. Format the column as Text, and write the number again, if need be with an apostrophe before it.';

/** Rounded to an exponent, with signs between thousands, or of more digits than a spreadsheet keeps. */
const changed = /^\d+(?:[.,]\d+)?E[+-]\d+$|^-?\d+,\d+$|^\d{1,3}(?:,\d{3})+$|^\d{15}0+$/i;

/** What spreadsheets write for what they take for a date. */
const months = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec';
const date = new RegExp(
	`^(?:\\d{1,4}[-/ .](?:${months})[a-z]*(?:[-/ .]\\d{2,4})?|(?:${months})[a-z]*[-/ .]\\d{2,4}|\\d{4}-\\d{2}-\\d{2}(?:[T ].*)?|\\d{1,2}/\\d{1,2}/(?:\\d{2}|\\d{4}))$`,
	'i',
);

/** Whether Unicode's form NFKC makes a digit of a sign, such as ² or ①, so that E-1² would be E-12. Those of full width are digits. */
const becomesDigit = (character: string): boolean => {
	const form = character.normalize('NFKC');
	return form !== character && /\p{N}/u.test(form) && !/[\uff10-\uff19]/.test(character);
};

/**
 * The employee number in a cell: compared as `personOf` says, and without `.0` behind it, as programs write a number.
 * @param field the heading, for errors
 * @throws {InvalidValueError} if it is empty, has a digit of another kind, or is what a spreadsheet made of a number or a date
 */
export function employeeIn(cell: unknown, now: Date, field: string): Employee {
	const written = withoutPlaceholder(visibleText(cell));
	const digit = Array.from(written).find(becomesDigit);
	if (digit !== undefined) {
		const remedy = 'Write the number with usual digits, and what else it says in another column.';
		throw invalid(
			field,
			written,
			`has the character ${show(digit)}, which is no usual digit`,
			remedy,
		);
	}
	const employee = written.replace(/^(\d+)[.,]0+$/, '$1');
	if (cell instanceof Date || date.test(written)) throw invalid(field, cell, 'is a date', asText);
	const isOdd = typeof cell === 'number' && !(Number.isInteger(cell) && cell >= 0 && cell < 1e15);
	if (isOdd || changed.test(employee))
		throw invalid(field, written, 'is what a spreadsheet made of another number', asText);
	const key = personOf(employee);
	if (key === '') {
		const remedy = 'Write the employee number. If the row is nobody, delete it.';
		throw new InvalidValueError(`${field} is ${show(textOf(cell))}`, remedy);
	}
	if (key.length > maxNumberLength)
		throw invalid(field, written, `is longer than ${maxNumberLength} letters`, 'Shorten it.');
	const day = dayNear(cell, now);
	const isDay = day === undefined ? [] : [remark('numberIsDay', `${employee} is also ${day}`)];
	return { employee, key, remarks: isDay };
}

/** A word for a total, in English and Amharic. */
const words =
	'(?:grand|sub|page|net|gross|over ?all)?[- ]?(?:totals?|ttl)|sum|(?:አጠቃላይ|አ?ጠቅላላው?|ንዑስ)? ?ድም[ርሩ]|አጠቃላይ|አ?ጠቅላላው?';
const withTotal = new RegExp(
	`^(?:${words})(?![\\p{L}\\p{M}])|(?<![\\p{L}\\p{M}])(?:${words})[\\s\\p{P}]*$`,
	'iu',
);
/** A total's word that can be somebody's name: not if the next word says what is added up. */
const nameLikeTotal =
	/^(?:total|sum) (?!of|for|all|the|amount|pay|paid|sal|net|gross|empl|staff|people|person|etb|birr)\p{L}|\p{L} sum$/iu;

/**
 * Whether a row is a total by its word, at the beginning or the end of its number or name; `perhaps` for somebody with a
 * number who is called Total Bekele, and for a number such as TOTAL-014.
 */
export function isTotal(employee: string, name: string): boolean | 'perhaps' {
	const isNumbered = /\p{N}/u.test(employee);
	const isNamed = /^\p{L}/u.test(name) && !withTotal.test(name);
	if (withTotal.test(employee)) return isNumbered && isNamed ? 'perhaps' : true;
	if (!withTotal.test(name)) return false;
	return isNumbered && nameLikeTotal.test(name) ? 'perhaps' : true;
}
