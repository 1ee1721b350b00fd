/** Readers for values of fields, which an expression or an imported workflow can give. */
import { fieldError, InvalidValueError, isAbsent, show } from './invalidValue';

/**
 * Reads one of the choices that the editor offers.
 * @throws {InvalidValueError} for any other value, which an expression or an imported workflow can give
 */
export function readChoice<Choice extends string>(
	field: string,
	value: unknown,
	choices: readonly Choice[],
): Choice {
	const chosen = choices.find((choice) => choice === value);
	if (chosen !== undefined) return chosen;
	const others = choices.slice(0, -1).join(', ');
	throw new InvalidValueError(
		`${field} is ${show(value)}`,
		`Choose ${others} or ${choices.at(-1)}.`,
	);
}

/**
 * Reads a text, without white space around it. A whole number becomes text, because spreadsheets turn
 * identifiers into numbers.
 * @throws {InvalidValueError} for an empty value, or a value that is not text
 */
export function readText(field: string, value: unknown, remedy: string): string {
	const text = Number.isSafeInteger(value) ? String(value) : value;
	if (typeof text !== 'string') throw fieldError(field, value, 'is not text', remedy);
	if (text.trim() === '') throw new InvalidValueError(`${field} is ${show(value)}`, remedy);
	return text.trim();
}

/**
 * Reads true or false.
 * @throws {InvalidValueError} for any other value, because as false it would turn off a check
 */
export function readBoolean(field: string, value: unknown): boolean {
	const text = String(value).trim().toLowerCase();
	if (typeof value !== 'object' && (text === 'true' || text === 'false')) return text === 'true';
	// The error states the rule also for an empty value, for which `fieldError` leaves it out.
	throw new InvalidValueError(
		`${field} is ${show(value)}, which is neither true nor false`,
		'Turn the option on or off, give it an expression that is true or false, or remove it.',
	);
}

/** @throws {InvalidValueError} for a value that is no whole number from `least` to `most` */
export function readWholeNumber(
	field: string,
	value: unknown,
	least: number,
	most: number,
): number {
	const isNumber = typeof value === 'number' || typeof value === 'string';
	const count = isNumber && !isAbsent(value) ? Number(value) : NaN;
	if (Number.isInteger(count) && count >= least && count <= most) return count;
	const remedy = `Enter a whole number from ${least} to ${most}.`;
	throw fieldError(field, value, `is not a whole number from ${least} to ${most}`, remedy);
}
