/** The rule for a reference, and the form in which it is compared. */
import { fieldError, requiredText } from '../../shared/invalidValue';
import { comparableText } from '../../shared/comparableText';

/** The longest reference, in characters (code points), as a database counts them. */
const maxReferenceLength = 200;

/** The key of a reference, by which it is remembered: texts that are the same for `comparableText` have the same. */
export const keyOf = comparableText;

/**
 * Reads a reference. A whole number becomes text; white space around it goes, and inside it is one blank: a
 * line break would make two references of one in a list of them.
 * @throws {InvalidValueError}
 */
export function requiredReference(value: unknown, field = 'Reference'): string {
	const remedy =
		'Write what this payment is for: the same whenever the same payment is asked for, and another one for each payment, such as payroll-2026-11-employee-1042.';
	const reference = requiredText(field, value, remedy).replace(/\s+/g, ' ');
	if (keyOf(reference) === '')
		throw fieldError(field, reference, 'has no character that can be seen', remedy);
	if (Array.from(reference).length > maxReferenceLength) {
		const shorter = 'Write a shorter one, such as an invoice number.';
		throw fieldError(field, reference, `is longer than ${maxReferenceLength} characters`, shorter);
	}
	return reference;
}
