/** Values from the user that cannot be used, and how an error shows them. */
import { messageOf } from './unknownValues';

/** A value of the user that cannot be used. The caller adds which item it belongs to. */
export class InvalidValueError extends Error {
	readonly remedy: string;

	/** @param problem names the field and what was found, such as `Amount (ETB) is "abc", which is not a number` */
	constructor(problem: string, remedy: string, options?: ErrorOptions) {
		super(problem, options);
		this.name = 'InvalidValueError';
		this.remedy = remedy;
	}
}

/** @param why such as `is not https`: not said of a field that is empty */
export const invalid = (
	field: string,
	value: unknown,
	why: string,
	remedy: string,
): InvalidValueError =>
	new InvalidValueError(
		`${field} is ${show(value)}${isAbsent(value) ? '' : `, which ${why}`}`,
		remedy,
	);

/** @throws {InvalidValueError} for the first refusal that holds */
export function refuseIf(
	field: string,
	value: unknown,
	refusals: ReadonlyArray<[isRefused: boolean, why: string, remedy: string]>,
): void {
	for (const [isRefused, why, remedy] of refusals)
		if (isRefused) throw invalid(field, value, why, remedy);
}

/** Whatever reading a value threw, such as an error of an expression, as a value that cannot be used. */
export function asInvalidValue(error: unknown): InvalidValueError {
	if (error instanceof InvalidValueError) return error;
	return new InvalidValueError(
		messageOf(error),
		'Check the expressions in the fields of the node, and its credential.',
		{ cause: error },
	);
}

const maxShownLength = 80;

/** A value as the user would recognise it, shortened. */
export function show(value: unknown): string {
	if (isAbsent(value)) return 'empty';
	const isNumber = typeof value === 'number' || typeof value === 'bigint';
	return cut(isNumber ? String(value) : jsonOf(value));
}

/** A text as errors show it: its beginning, if it is very long. */
export const cut = (text: string): string =>
	text.length > maxShownLength ? `${text.slice(0, maxShownLength)}…` : text;

/** JSON has no text for some values, such as a symbol: then their kind. */
function jsonOf(value: unknown): string {
	// Quoting a very long text only to cut it would take long.
	if (typeof value === 'string') return JSON.stringify(value.slice(0, maxShownLength + 1));
	try {
		return JSON.stringify(value) ?? typeof value;
	} catch {
		return typeof value;
	}
}

/** One of the choices that the editor offers. @throws {InvalidValueError} when an expression or an imported workflow gives another */
export function requiredChoice<Choice extends string>(
	field: 'Mode' | 'Type',
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

/** Whether a field was left empty, or an expression found nothing. */
export function isAbsent(value: unknown): boolean {
	return value === undefined || value === null || value === '';
}

/**
 * Text without white space around it. A whole number becomes text, because spreadsheets turn identifiers into numbers.
 * @throws {InvalidValueError} when it is empty or not text
 */
export function requiredText(field: string, value: unknown, remedy: string): string {
	const text = Number.isSafeInteger(value) ? String(value) : value;
	if (typeof text !== 'string') throw invalid(field, value, 'is not text', remedy);
	if (text.trim() === '') throw new InvalidValueError(`${field} is ${show(value)}`, remedy);
	return text.trim();
}
