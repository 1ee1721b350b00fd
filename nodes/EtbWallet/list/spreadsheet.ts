/** Reads the cells of spreadsheets and CSV files, whatever program wrote them. */
import { InvalidValueError, assertValue, show } from '../../shared/invalidValue';
import { invisible } from '../../shared/normalizeText';
import { property } from '../../shared/unknownValues';

/** Matches nearly all cells. Their text needs no change. */
const plain = /^[\w.,/@+:#&()-]*(?: [\w.,/@+:#&()-]+)*$/;
/** It is one class, because a row of characters that are in two classes can be matched in too many ways. */
const unseen = `[${invisible.source.slice(1, -1)}\\s]`;
/** The lookbehind lets a match begin only at the first of several characters, so the time stays linear. */
const unseenAtEnds = new RegExp(`^${unseen}+|(?<!${unseen})${unseen}+$`, 'gu');

/**
 * The text of a cell, with composed letters and single blanks. Invisible characters at its ends are removed,
 * and the signs by which a spreadsheet marks a number as text (`="0042"`, `'0042`). Line breaks inside stay,
 * because a cell with several lines is an error.
 * @returns an empty text for an empty cell; JSON for an object
 */
export function cellText(cell: unknown): string {
	if (cell === undefined || cell === null) return '';
	const given: unknown = cell instanceof Date ? cell.toJSON() : cell;
	const text = typeof given === 'object' ? JSON.stringify(given) : String(given as string | number);
	if (plain.test(text)) return text;
	return text
		.normalize('NFC')
		.replace(unseenAtEnds, '')
		.replace(/^="(.*)"$/, '$1')
		.replace(/[^\S\r\n]+/g, ' ')
		.trim()
		.replace(/^['’](?=\d)/, '');
}

/**
 * The visible text of a cell.
 * @returns an empty text also for `n/a`, `null`, `-` and the like
 */
export function visibleText(cell: unknown): string {
	const text = cellText(cell).replace(invisible, '');
	return /^(?:n\/?a|nan|none|null|nil|undefined|[-–—.?]+)$/i.test(text) ? '' : text;
}

/**
 * The visible text of a field.
 * @returns an empty text for a row without the field
 */
export const visibleTextOf = (row: unknown, field: string): string =>
	visibleText(property(row, field));

/**
 * Decodes a text of a CSV file. If the file has no mark of its encoding, n8n makes one letter of each byte.
 * The bytes are then read as UTF-8, or as windows-1252 if they are not UTF-8. Any other cell is returned
 * unchanged.
 */
export function decodeCsv(cell: unknown): unknown {
	if (typeof cell !== 'string' || !/[\u0080-\u00ff]/.test(cell) || /[^\0-\u00ff]/.test(cell))
		return cell;
	const bytes = Uint8Array.from(cell, (letter) => letter.charCodeAt(0));
	try {
		return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
	} catch {
		return new TextDecoder('windows-1252').decode(bytes);
	}
}

/** Whether a text is the error that a spreadsheet shows for a formula, in any of its languages. */
export const isFormulaError = (text: string): boolean =>
	/^(?:#N\/[A-Z]|#NV|#[\p{L}_/]+0?[!?]|Err:\d+)$/iu.test(text);

const months =
	'jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?';
const date = new RegExp(
	`^(?:\\d{1,4}[-/ .](?:${months})(?:[-/ .]\\d{2,4})?|(?:${months})[-/ .]\\d{2,4}|\\d{4}-\\d{2}-\\d{2}(?:[T ].*)?|\\d{1,2}/\\d{1,2}/(?:\\d{2}|\\d{4}))$`,
	'i',
);

/** A number with an exponent, with thousands separators, or with more digits than a spreadsheet keeps. */
const changedNumber = /^\d+(?:[.,]\d+)?E[+-]\d+$|^-?\d+,\d+$|^\d{1,3}(?:,\d{3})+$|^\d{15}0+$/i;

/**
 * Whether a spreadsheet may have made the number in a cell from another number, or from a date.
 * @param number the number that was read from the cell
 */
export function isChangedNumber(cell: unknown, number: string): boolean {
	const isWhole = Number.isInteger(cell) && Number(cell) >= 0 && Number(cell) < 1e15;
	const isDate = cell instanceof Date || date.test(visibleText(cell));
	return (typeof cell === 'number' && !isWhole) || isDate || changedNumber.test(number);
}

/** A word for a total, in English and Amharic. */
const totalWords =
	'(?:grand|sub|page|net|gross|over ?all)?[- ]?(?:totals?|ttl)|sum|(?:አጠቃላይ|አ?ጠቅላላው?|ንዑስ)? ?ድም[ርሩ]|አጠቃላይ|አ?ጠቅላላው?';
const total = new RegExp(
	`^(?:${totalWords})(?![\\p{L}\\p{M}])|(?<![\\p{L}\\p{M}])(?:${totalWords})[\\s\\p{P}]*$`,
	'iu',
);
/** Whether a text is a total, by a word for it at its beginning or end. */
export const isTotal = (text: string): boolean => total.test(text);

/** An honorific. No total has one, so a person called Total Bekele can be listed as Ato Total Bekele. */
const honorific = /^(?:ato|w\/r[ot]|dr|አቶ|ወ\/ሮ|ወ\/ት)[. ]/iu;
export const hasHonorific = (name: string): boolean => honorific.test(name);

/**
 * The day that a spreadsheet keeps as this number, as it does for a typed `12-1`.
 * @returns `YYYY-MM-DD`; empty for a cell without a whole number, or a day that is not in the last, this or
 * the next year
 */
export function nearbyDay(cell: unknown, now: Date): string {
	const days = typeof cell === 'number' && Number.isInteger(cell) ? cell : NaN;
	// Spreadsheets count from 30 December 1899.
	const day = new Date(Date.UTC(1899, 11, 30 + days));
	const isNear = Math.abs(day.getUTCFullYear() - now.getUTCFullYear()) <= 1;
	return isNear ? day.toISOString().slice(0, 'YYYY-MM-DD'.length) : '';
}

/**
 * The letters by which a spreadsheet names a column: A to Z, AA …
 * @param index counted from 0
 */
export const columnLetters = (index: number): string =>
	(index < 26 ? '' : columnLetters(Math.floor(index / 26) - 1)) +
	String.fromCharCode(65 + (index % 26));

const misreadings: Array<[pattern: RegExp, what: string, remedy: string]> = [
	[
		// Control characters that are no white space.
		/[^\P{Cc}\s\x7f-\x9f]|\ufffd/u,
		'letters that cannot be read',
		'The file is in another encoding, such as UTF-16 without a mark that says so: open it in a spreadsheet and save it as .xlsx, or as "CSV UTF-8".',
	],
	[
		/[\r\n]/,
		'several lines',
		'In a CSV file a quote " has no partner, so the rows below, with the people in them, are missing: correct it. In a spreadsheet write it in one line.',
	],
];

/**
 * Throws for a cell that was not read as a person sees it.
 * @param row such as `Row 3 of the list`
 * @throws {InvalidValueError}
 */
export function assertReadable(cell: unknown, row: string, column: string): void {
	const text = cellText(cell);
	for (const [pattern, what, remedy] of misreadings)
		if (pattern.test(text))
			throw new InvalidValueError(`${row} has ${what} in ${column}: ${show(text)}`, remedy);
}

/**
 * Throws for a cell that people cannot compare by eye: no text, the error of a formula, or invisible letters.
 * @param forbidsInvisible whether any invisible character is an error, because the value is sent
 * @throws {InvalidValueError}
 */
export function assertComparable(cell: unknown, field: string, forbidsInvisible: boolean): void {
	const text = cellText(cell);
	const isText = !/^(?:object|boolean)$/.test(typeof (cell ?? '')) || cell instanceof Date;
	const hasUnseen =
		/[\p{Co}\p{Cn}]/u.test(text) || (forbidsInvisible && text.replace(invisible, '') !== text);
	// U+202E shows the letters and digits behind it in reverse order.
	const isTurned = typeof cell === 'string' && cell.includes('\u202e');
	assertValue(field, isText ? text : cell, [
		[!isText, 'is not text', 'Write it as text, or as a number.'],
		[isFormulaError(text), 'is an error of a formula', 'Correct the formula.'],
		[hasUnseen || isTurned, 'has a letter that nobody can see', 'Write it again by hand.'],
	]);
}
