/** The rule for a reference: what looks the same is the same. */
import { invalid, requiredText } from '../../shared/invalidValue';
import { dashes, invisible, withoutCase } from '../../shared/lookalikes';

/** In characters (code points), as in the pay gate. */
const maxReferenceLength = 200;

const blanks = /[\p{Z}\s]+/gu;
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
		// Again, because a small letter can be written as two, and bring back a quote.
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
	if (Array.from(reference).length > maxReferenceLength) {
		const shorter = 'Write a shorter one, such as an invoice number.';
		throw invalid(field, reference, `is longer than ${maxReferenceLength} characters`, shorter);
	}
	return reference;
}
