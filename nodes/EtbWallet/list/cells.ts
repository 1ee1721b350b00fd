/** What is written in a cell of a list, whatever program wrote it. */
import { InvalidValueError, show } from '../../shared/invalidValue';
import { invisible } from '../../shared/lookalikes';

/** Nearly all cells, of which nothing is taken off. */
const plain = /^[\w.,/@+:#&()-]*(?: [\w.,/@+:#&()-]+)*$/;
/** One class, because the same character in two of them can be matched in ever more ways. */
const unseen = `[${invisible.source.slice(1, -1)}\\s]`;
/** A run begins where nothing unseen stands before it: tried from each of its characters, it would take their square. */
const unseenAtEnds = new RegExp(`^${unseen}+|(?<!${unseen})${unseen}+$`, 'gu');

/**
 * The text of a cell: decoded, with composed letters, one blank where there are several, without what nobody sees at its
 * ends, and without what marks a number as text in a spreadsheet (`="0042"`, `'0042`). Line breaks inside stay, because a
 * cell with several lines is refused.
 */
export function textOf(cell: unknown): string {
	if (cell === undefined || cell === null) return '';
	const given: unknown = cell instanceof Date ? cell.toJSON() : cell;
	const text = typeof given === 'object' ? JSON.stringify(given) : String(given as string | number);
	if (plain.test(text)) return text;
	return decoded(text)
		.normalize('NFC')
		.replace(unseenAtEnds, '')
		.replace(/^="(.*)"$/, '$1')
		.replace(/[^\S\r\n]+/g, ' ')
		.trim()
		.replace(/^['’](?=\d)/, '');
}

/** The text of a cell that people compare by eye: without what nobody sees. */
export const visibleText = (cell: unknown): string => textOf(cell).replace(invisible, '');

/** n8n gives the bytes of a CSV file without a mark of its encoding as one letter each: UTF-8, or that of old Windows. */
function decoded(text: string): string {
	if (!/[\u0080-\u00ff]/.test(text) || /[^\0-\u00ff]/.test(text)) return text;
	const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
	try {
		return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
	} catch {
		return new TextDecoder('windows-1252').decode(bytes);
	}
}

/** A cell as it leaves. */
export const asItCame = (cell: unknown): unknown =>
	typeof cell === 'string' ? decoded(cell) : cell;

/** What is written, without what programs and people write for nothing. */
export const withoutPlaceholder = (text: string): string =>
	/^(?:n\/?a|nan|none|null|nil|undefined|[-–—.?]+)$/i.test(text) ? '' : text;

/** Whether it is what spreadsheets write for a formula that fails, in each of their languages. */
export const isFormulaError = (text: unknown): boolean =>
	typeof text === 'string' && /^(?:#N\/[A-Z]|#NV|#[\p{L}_/]+0?[!?]|Err:\d+)$/iu.test(text);

const dayMs = 24 * 60 * 60 * 1000;
/** The day from which spreadsheets count. */
const firstDay = Date.UTC(1899, 11, 30);

/**
 * The day of last, this or next year that a spreadsheet keeps as this number; undefined for none. Whoever types 12-1 gets a
 * day of this year, which n8n reads as its number.
 */
export function dayNear(cell: unknown, now: Date): string | undefined {
	if (typeof cell !== 'number' || !Number.isInteger(cell) || cell < 1 || cell > 100_000)
		return undefined;
	const day = new Date(firstDay + cell * dayMs);
	const isNear = Math.abs(day.getUTCFullYear() - now.getUTCFullYear()) <= 1;
	return isNear ? day.toISOString().slice(0, 'YYYY-MM-DD'.length) : undefined;
}

/**
 * A file in another encoding loses letters. A quote without its partner swallows the rows below it, with the people in them.
 * @param row such as `Row 3 of the list`
 * @throws {InvalidValueError}
 */
export function requireReadable(cell: unknown, row: string, column: string): void {
	if (typeof cell !== 'string') return;
	// Controls but white space. The others, from U+0080 on, are bytes of UTF-8, which `decoded` reads.
	if (/[^\P{Cc}\s\x7f-\x9f]|\ufffd/u.test(cell)) {
		throw new InvalidValueError(
			`${row} has letters that cannot be read in ${column}: the file is in another encoding, such as UTF-16 without a mark that says so`,
			'Open the file in a spreadsheet and save it as .xlsx, or as "CSV UTF-8".',
		);
	}
	if (/[\r\n\u2028\u2029]/.test(textOf(cell))) {
		throw new InvalidValueError(
			`${row} has several lines in ${column}: ${show(textOf(cell))}`,
			'In a CSV file a quote " has no partner, so the rows below are missing: correct it. In a spreadsheet write it in one line.',
		);
	}
}
