/** The rule for a reference: what looks the same is the same. */
import { invalid, requiredText } from '../../shared/invalidValue';

/** In characters (code points), as in the pay gate. */
const longestReference = 200;

/** What nobody sees: controls, format characters, halves of surrogate pairs and fillers. */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/gu;
const blanks = /[\p{Z}\s]+/gu;
/** Every kind of dash, and the minus. */
const dashes = /[\p{Pd}\u2212\u02d7]/gu;
/** Quotes of every kind, single or double: a telephone writes others than a keyboard, and two single ones look like a double one. */
const quotes = /["'\u2018-\u201f\u02bc\u02b9\u02ba\u2032\u2033`\u00b4]+/gu;

/**
 * The key of a reference, by which it is remembered: references that look the same have the same. These do not count:
 * capital and small letters, kinds of dashes and quotes, what nobody sees, compatibility forms (Unicode's form NFKC, such as
 * full-width letters), and blanks, except that one stays between two digits: `1 12` and `11 2` are two payments. The pay gate
 * has the same rule in SQL. Empty when nothing of the reference can be seen.
 */
export const keyOf = (reference: string): string =>
	withoutCase(withoutBlanks(visible(reference)))
		.normalize('NFKC')
		.replace(quotes, "'");

const visible = (text: string): string =>
	text
		.replace(blanks, ' ')
		.replace(invisible, '')
		.replace(quotes, "'")
		.normalize('NFKC')
		.replace(dashes, '-')
		// Some signs become a blank and another one.
		.replace(blanks, ' ')
		.replace(invisible, '');

const withoutBlanks = (text: string): string =>
	text.trim().replace(/(?<!\p{Nd}) | (?!\p{Nd})/gu, '');

/** Three times: some letters have a capital or a small one that leads to a third one, such as ẞ, ß and SS. */
const withoutCase = (text: string): string => text.toLowerCase().toUpperCase().toLowerCase();

/**
 * Reads a reference. A whole number becomes text; white space around it goes, and inside it is one blank: a line break would
 * make two references of one in a list of them. @throws {InvalidValueError}
 */
export function requiredReference(value: unknown, field = 'Reference'): string {
	const remedy =
		'Write what this payment is for: the same whenever the same payment is asked for, and another one for each payment, such as payroll-2026-11-employee-1042.';
	const reference = requiredText(field, value, remedy).replace(/\s+/g, ' ');
	if (keyOf(reference) === '')
		throw invalid(field, reference, 'has no character that can be seen', remedy);
	if (Array.from(reference).length > longestReference) {
		const shorter = 'Write a shorter one, such as an invoice number.';
		throw invalid(field, reference, `is longer than ${longestReference} characters`, shorter);
	}
	return reference;
}
