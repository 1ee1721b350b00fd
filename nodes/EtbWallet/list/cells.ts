/** What is written in a cell of a list, whatever program wrote it. */
import { InvalidValueError, show } from '../../shared/invalidValue';
import { invisible } from '../../shared/lookalikes';

/** Most cells: what can be seen of ASCII, without anything to take off. */
const isPlain = (text: string): boolean => /^[\w.,/@+:#&()-]+(?: [\w.,/@+:#&()-]+)*$/.test(text);

const unseenAtEdges = new RegExp(
	`^(?:${invisible.source}|\\s)+|(?:${invisible.source}|\\s)+$`,
	'gu',
);

/**
 * The text of a cell: decoded, with composed letters, one blank where there are several, without what nobody sees at its
 * ends, and without what marks a number as text in a spreadsheet (`="0042"`, `'0042`). Line breaks inside stay, because a
 * cell with several lines is refused.
 */
export function textOf(cell: unknown): string {
	const text = plainText(cell);
	if (text === '' || isPlain(text)) return text;
	return decoded(text)
		.normalize('NFC')
		.replace(unseenAtEdges, '')
		.replace(/^="(.*)"$/, '$1')
		.replace(/[^\S\r\n]+/g, ' ')
		.trim()
		.replace(/^['’](?=\d)/, '');
}

/** The text of a cell that people compare by eye: without what nobody sees. */
export const visibleText = (cell: unknown): string => textOf(cell).replace(invisible, '');

function plainText(cell: unknown): string {
	if (typeof cell === 'string') return cell;
	if (cell === undefined || cell === null) return '';
	return typeof cell === 'object' ? JSON.stringify(cell) : String(cell as number | boolean);
}

/** n8n gives the bytes of a CSV file without a mark of its encoding as one letter each: UTF-8, or that of old Windows. */
export function decoded(text: string): string {
	if (!/[\u0080-\u00ff]/.test(text) || /[^\0-\u00ff]/.test(text)) return text;
	const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
	try {
		return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
	} catch {
		return new TextDecoder('windows-1252').decode(bytes);
	}
}

/** What programs write for a value that is not there. */
const placeholder = /^(?:n\/?a|nan|none|null|nil|undefined|[-–—.?]+)$/i;
/** What is written, without signs for nothing. */
export const withoutPlaceholder = (text: string): string => (placeholder.test(text) ? '' : text);

/** What spreadsheets write for a formula that fails, in each of their languages. */
export const isFormulaError = (text: string): boolean =>
	/^(?:#N\/[A-Z]|#NV|#[\p{L}_/]+0?[!?]|Err:\d+)$/iu.test(text);

/**
 * A file in another encoding loses letters; a quote without its partner swallows the rows below it, with the people in them.
 * @param place where the cell stands, such as `"name"`
 * @throws {InvalidValueError}
 */
export function requireReadable(cell: unknown, line: number, place: string): void {
	if (typeof cell !== 'string') return;
	if (/[\0\ufffd]/.test(cell)) {
		const why = cell.includes('\0') ? 'UTF-16 without a mark that says so' : 'another encoding';
		throw new InvalidValueError(
			`Row ${line} of the list has letters that cannot be read in ${place}: the file is in ${why}`,
			'Open the file in a spreadsheet and save it as .xlsx, or as "CSV UTF-8".',
		);
	}
	if (/[\r\n\u2028\u2029]/.test(textOf(cell))) {
		throw new InvalidValueError(
			`Row ${line} of the list has several lines in ${place}: ${show(textOf(cell))}`,
			'In a CSV file a quote " has no partner, so the rows below are missing: correct it. In a spreadsheet write it in one line.',
		);
	}
}
