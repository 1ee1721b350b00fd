/** The rule for a reference: what looks the same is the same. */
import { invalid, requiredText } from '../../shared/invalidValue';

/** In characters (code points), as in the pay gate. */
const longestReference = 200;

/** What nobody sees: white space, controls, format characters, halves of surrogate pairs and fillers. */
const invisible = /[\p{Z}\s\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Every kind of dash, and the minus. */
const dashes = /[\p{Pd}\u2212\u02d7]/gu;

/**
 * The key of a reference, by which it is remembered: references that look the same have the same. It is the reference in
 * Unicode's form NFKC, without case, with every kind of dash as `-`, without white space and what nobody sees. The pay gate
 * has the same rule in SQL. Empty when nothing of the reference can be seen.
 */
export const keyOf = (reference: string): string =>
	seen(reference)
		// First upper case: ß and SS are the same then.
		.toUpperCase()
		.toLowerCase()
		.normalize('NFKC')
		.replace(dashes, '-');

/** What is removed before and after: letters on both sides of it may combine, and some signs become a blank and another. */
const seen = (text: string): string =>
	text.replace(invisible, '').normalize('NFKC').replace(invisible, '');

/** Reads a reference. White space around it goes; a whole number becomes text. @throws {InvalidValueError} */
export function requiredReference(value: unknown, field = 'Reference'): string {
	const remedy =
		'Write what this payment is for: the same whenever the same payment is asked for, and another one for each payment, such as payroll-2026-11-employee-1042.';
	const reference = requiredText(field, value, remedy);
	if (keyOf(reference) === '')
		throw invalid(field, reference, 'has no character that can be seen', remedy);
	if (Array.from(reference).length > longestReference) {
		const shorter = 'Write a shorter one, such as an invoice number.';
		throw invalid(field, reference, `is longer than ${longestReference} characters`, shorter);
	}
	return reference;
}
