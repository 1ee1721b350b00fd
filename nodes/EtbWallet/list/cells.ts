/** Reads the cells of a list, whatever program wrote them. */
import { InvalidValueError, show } from '../../shared/invalidValue';
import { invisible } from '../../shared/lookalikes';

/** Nearly all cells, of which nothing is taken off. */
const plain = /^[\w.,/@+:#&()-]*(?: [\w.,/@+:#&()-]+)*$/;
/** One class, because the same character in two of them can be matched in ever more ways. */
const unseen = `[${invisible.source.slice(1, -1)}\\s]`;
/** A run begins where nothing unseen stands before it: tried from each of its characters, it would take their square. */
const unseenAtEnds = new RegExp(`^${unseen}+|(?<!${unseen})${unseen}+$`, 'gu');

/**
 * The text of a cell: with composed letters, one blank where there are several, without what nobody sees at its ends, and
 * without what marks a number as text in a spreadsheet (`="0042"`, `'0042`). Line breaks inside stay, because a cell with
 * several lines is refused.
 */
export function textOf(cell: unknown): string {
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

/** The text that people see in a cell; empty also for what programs and people write for nothing. */
export function valueIn(cell: unknown): string {
	const text = textOf(cell).replace(invisible, '');
	return /^(?:n\/?a|nan|none|null|nil|undefined|[-–—.?]+)$/i.test(text) ? '' : text;
}

/** n8n gives the bytes of a CSV file without a mark of its encoding as one letter each: UTF-8, or that of old Windows. */
export function decoded(cell: unknown): unknown {
	if (typeof cell !== 'string' || !/[\u0080-\u00ff]/.test(cell) || /[^\0-\u00ff]/.test(cell))
		return cell;
	const bytes = Uint8Array.from(cell, (letter) => letter.charCodeAt(0));
	try {
		return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
	} catch {
		return new TextDecoder('windows-1252').decode(bytes);
	}
}

/** Whether it is what spreadsheets write for a formula that fails, in each of their languages. */
export const isFormulaError = (text: string): boolean =>
	/^(?:#N\/[A-Z]|#NV|#[\p{L}_/]+0?[!?]|Err:\d+)$/iu.test(text);

const unreadable: Array<[found: RegExp, what: string, remedy: string]> = [
	[
		// Controls but white space.
		/[^\P{Cc}\s\x7f-\x9f]|\ufffd/u,
		'letters that cannot be read',
		'The file is in another encoding, such as UTF-16 without a mark that says so: open it in a spreadsheet and save it as .xlsx, or as "CSV UTF-8".',
	],
	[
		/[\r\n\u2028\u2029]/,
		'several lines',
		'In a CSV file a quote " has no partner, so the rows below, with the people in them, are missing: correct it. In a spreadsheet write it in one line.',
	],
];

/**
 * @param row such as `Row 3 of the list`
 * @throws {InvalidValueError}
 */
export function requireReadable(cell: unknown, row: string, column: string): void {
	const text = textOf(cell);
	for (const [found, what, remedy] of unreadable)
		if (found.test(text))
			throw new InvalidValueError(`${row} has ${what} in ${column}: ${show(text)}`, remedy);
}
