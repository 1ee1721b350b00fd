/** The key of an employee number. */
import { normalizeText } from '../../shared/normalizeText';
import { mobileIn } from './phone';

/** Signs that only separate the parts of an employee number. */
const sign = '[-/\\\\._:# ]';
const signs = `${sign}+`;
// The lookbehind lets a match begin only at the first of several signs. Otherwise the time would grow with
// the square of their number.
const signsAtEdges = new RegExp(`^${signs}|(?<!${sign})${signs}$`, 'g');
const signsAtLetters = new RegExp(
	`(?<=[\\p{L}\\p{M}])${signs}(?=\\p{N})|(?<=\\p{N})${signs}(?=[\\p{L}\\p{M}])`,
	'gu',
);

/**
 * The key of an employee number, in capital letters. It is the text of `normalizeText` without signs and blanks at the
 * ends and between a letter and a digit (`E-701` is `e 701`), and without zeros before a number. A sign or blank
 * between two digits stays: `1-12` and `11-2` are two people. All ways to write one mobile number have the same form.
 * @returns an empty text for a number without letters and digits
 */
export function employeeKeyOf(employee: string): string {
	const normalized = normalizeText(employee);
	const withoutSigns = normalized
		.replace(signsAtEdges, '')
		.replace(signsAtLetters, '')
		.replace(/^0+(?=\d)/, '');
	return (mobileIn(normalized) ?? withoutSigns).toUpperCase();
}
