/** What is written in a cell of a list, whatever program wrote it. */
import { invisible, withoutCase } from '../../shared/lookalikes';

/**
 * The text of a cell: decoded, with composed letters, one blank where there are several, and without what marks a number
 * as text in a spreadsheet (`="0042"`, `'0042`). Line breaks inside stay, because a cell with several lines is refused.
 */
export const textOf = (cell: unknown): string =>
	decoded(plainText(cell))
		.normalize('NFC')
		.replace(/^="(.*)"$/, '$1')
		.replace(/[^\S\r\n]+/g, ' ')
		.trim()
		.replace(/^['’](?=\d)/, '');

function plainText(cell: unknown): string {
	if (typeof cell === 'string') return cell;
	if (cell === undefined || cell === null) return '';
	return typeof cell === 'object' ? JSON.stringify(cell) : String(cell as number | boolean);
}

/** n8n gives the bytes of a CSV file without a mark of its encoding as one letter each: UTF-8, or that of old Windows. */
export function decoded(text: string): string {
	const codes = Array.from(text, (letter) => letter.codePointAt(0) ?? 0);
	if (!codes.some((code) => code > 0x7f) || codes.some((code) => code > 0xff)) return text;
	const bytes = Uint8Array.from(codes);
	try {
		return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
	} catch {
		return new TextDecoder('windows-1252').decode(bytes);
	}
}

/** What is compared to see whether two texts look the same: no case, no blanks, one form of each letter. */
export const folded = (text: string): string =>
	withoutCase(text.normalize('NFKC')).replace(/\s/g, '');

/** Whether something in a text cannot be seen, or looks as each program draws it: two texts that look the same would be different. */
export const hasInvisible = (text: string): boolean =>
	text.replace(invisible, '') !== text || /[\p{Co}\p{Cn}]/u.test(text);
