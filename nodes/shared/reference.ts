/** The rule for a reference, and its key. */
import { readText } from './fields';
import { fieldError } from './invalidValue';
import { normalizeText } from './normalizeText';

/** The longest reference, in characters (code points), as a database counts them. */
const maxReferenceLength = 200;

/** The key by which the record remembers a reference. */
export const referenceKeyOf = normalizeText;

/**
 * Reads a reference. A whole number becomes text. White space around it is removed, and inside it becomes one
 * blank, because in a list of references a line break would make two of one.
 * @throws {InvalidValueError}
 */
export function readReference(field: string, value: unknown): string {
	const remedy =
		'Write what this payment is for: the same whenever the same payment is asked for, and another one for each payment, such as payroll-2026-11-employee-1042.';
	const reference = readText(field, value, remedy).replace(/\s+/g, ' ');
	if (referenceKeyOf(reference) === '')
		throw fieldError(field, reference, 'has no character that can be seen', remedy);
	if (Array.from(reference).length > maxReferenceLength) {
		const shorter = 'Write a shorter one, such as an invoice number.';
		throw fieldError(field, reference, `is longer than ${maxReferenceLength} characters`, shorter);
	}
	return reference;
}
