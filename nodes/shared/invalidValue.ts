/** Values of the user that cannot be used, and the way an error shows them. */
import { messageOf } from './unknownValues';

/** An error about a value of the user. The caller adds the item that the value belongs to. */
export class InvalidValueError extends Error {
	readonly remedy: string;

	/** @param message names the field and its value, such as `Amount (ETB) is "abc", which is not a number` */
	constructor(message: string, remedy: string, options?: ErrorOptions) {
		super(message, options);
		this.name = 'InvalidValueError';
		this.remedy = remedy;
	}
}

/**
 * Makes the error for a value of a field.
 * @param reason the reason, such as `is not https`; it is left out for an empty field
 */
export const fieldError = (
	field: string,
	value: unknown,
	reason: string,
	remedy: string,
): InvalidValueError =>
	new InvalidValueError(
		`${field} is ${show(value)}${isAbsent(value) ? '' : `, which ${reason}`}`,
		remedy,
	);

/**
 * Checks a value against several rules, in order.
 * @throws {InvalidValueError} for the first rule that the value breaks
 */
export function assertValue(
	field: string,
	value: unknown,
	rules: ReadonlyArray<[isBroken: boolean, reason: string, remedy: string]>,
): void {
	for (const [isBroken, reason, remedy] of rules)
		if (isBroken) throw fieldError(field, value, reason, remedy);
}

/** Turns any thrown error, such as that of an expression, into an `InvalidValueError`. */
export function asInvalidValue(error: unknown): InvalidValueError {
	if (error instanceof InvalidValueError) return error;
	return new InvalidValueError(
		messageOf(error),
		'Check the expressions in the fields of the node, and its credential.',
		{ cause: error },
	);
}

const maxShownLength = 80;

/** The value as the user would recognise it, shortened. A text and an object are shown as JSON. */
export function show(value: unknown): string {
	if (isAbsent(value)) return 'empty';
	const isNumber = typeof value === 'number' || typeof value === 'bigint';
	return truncate(isNumber ? String(value) : jsonOf(value));
}

/** The text as errors show it: only its beginning, if it is very long. */
export const truncate = (text: string): string =>
	text.length > maxShownLength ? `${text.slice(0, maxShownLength)}…` : text;

/** The JSON of a value, or its type if JSON has no text for it, such as for a symbol. */
function jsonOf(value: unknown): string {
	// The text is cut before it is quoted, because quoting a very long text would take long.
	if (typeof value === 'string') return JSON.stringify(value.slice(0, maxShownLength + 1));
	try {
		return JSON.stringify(value) ?? typeof value;
	} catch {
		return typeof value;
	}
}

/** Whether a field is empty, or an expression gave nothing. */
export function isAbsent(value: unknown): boolean {
	return value === undefined || value === null || value === '';
}
