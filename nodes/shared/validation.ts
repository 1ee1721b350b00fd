import { decimalText, fromDecimal } from './decimal';

/** A value the user gave that cannot be used. The caller adds the item it belongs to. */
export class InvalidValueError extends Error {
	readonly remedy: string;

	/**
	 * @param problem names the field and what was found, such as `Amount (ETB) is "abc", which is not a number`
	 * @param remedy what to do about it
	 */
	constructor(problem: string, remedy: string, options?: ErrorOptions) {
		super(problem, options);
		this.name = 'InvalidValueError';
		this.remedy = remedy;
	}
}

/** Treats whatever reading a value threw, such as an expression error, as a value that cannot be used. */
export function asInvalidValue(error: unknown): InvalidValueError {
	if (error instanceof InvalidValueError) return error;
	const problem = error instanceof Error ? error.message : String(error);
	return new InvalidValueError(
		problem,
		'Check the expressions in the fields of the node, and its credential.',
		{
			cause: error,
		},
	);
}

const longestShown = 80;

/** Shows a value as the user would recognise it, shortened. */
export function show(value: unknown): string {
	if (value === undefined || value === null || value === '') return 'empty';
	const text = typeof value === 'number' ? String(value) : jsonOf(value);
	return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text;
}

/** The kind of value, for those that JSON has no text for, such as 10n. */
function jsonOf(value: unknown): string {
	try {
		return JSON.stringify(value) ?? typeof value;
	} catch {
		return typeof value;
	}
}

/**
 * Text without surrounding white space. Whole numbers are accepted because spreadsheets turn
 * identifiers into numbers.
 * @throws {InvalidValueError} when it is empty or not text
 */
export function requiredText(field: string, value: unknown, remedy: string): string {
	const text = Number.isSafeInteger(value) ? String(value) : value;
	if (typeof text !== 'string' || text.trim() === '') {
		throw new InvalidValueError(
			`${field} is ${show(value)}${typeof text === 'string' || value === undefined || value === null ? '' : ', which is not text'}`,
			remedy,
		);
	}
	return text.trim();
}

/** In ETB. JSON writes smaller numbers with an exponent, which not every reader of amounts expects. */
const leastAmount = 0.000001;

/**
 * An amount in ETB: above zero, at most 15 significant digits. Thousands separators are not guessed.
 * @throws {InvalidValueError}
 */
export function amountInEtb(value: unknown, field = 'Amount (ETB)'): number {
	const remedy =
		'Enter an amount in ETB above zero with a point for decimals, for example 1250.50.';
	const text = decimalText(value);
	if (text === undefined) {
		throw new InvalidValueError(
			`${field} is ${show(value)}${isAbsent(value) ? '' : ', which is not a plain number'}`,
			hasComma(value) ? commaRemedy : remedy,
		);
	}
	const amount = fromDecimal(text);
	if (text === '0' || text.startsWith('-'))
		throw new InvalidValueError(`${field} is ${show(value)}, which is not above zero`, remedy);
	if (Number(text) < leastAmount)
		throw new InvalidValueError(`${field} is ${show(value)}, which is below 0.000001`, remedy);
	if (amount === undefined) {
		throw new InvalidValueError(
			`${field} is ${show(value)}, which has more than 15 digits`,
			'Round the amount, for example with {{ $json.amount.toFixed(2) }}.',
		);
	}
	return amount;
}

/**
 * The platform fee in percent, 0 to 100 (service document §2).
 * @throws {InvalidValueError}
 */
export function feeInPercent(value: unknown): number {
	const remedy = 'Enter a number from 0 to 100 with a point for decimals, for example 0.25.';
	const text = decimalText(value);
	if (text === undefined) {
		throw new InvalidValueError(
			`Fee Percent is ${show(value)}${isAbsent(value) ? '' : ', which is not a number'}`,
			hasComma(value) ? commaRemedy : remedy,
		);
	}
	const percent = Number(text);
	if (percent < 0 || percent > 100) {
		throw new InvalidValueError(
			`Fee Percent is ${show(value)}, which is not between 0 and 100`,
			remedy,
		);
	}
	return percent;
}

const commaRemedy =
	'Write a point for decimals instead of a comma, such as 12.50, and nothing between thousands, such as 1250.';

function hasComma(value: unknown): boolean {
	return typeof value === 'string' && value.includes(',');
}

/** Whether a field was left empty, or an expression found nothing. */
export function isAbsent(value: unknown): boolean {
	return value === undefined || value === null || value === '';
}

/**
 * A telephone number in international format with a leading plus sign (service document §2).
 * @throws {InvalidValueError}
 */
export function internationalPhone(value: unknown): string {
	const remedy =
		'Enter the number in international format: a plus sign, the country code and 7 to 15 digits in all, without spaces, for example +251911234567.';
	const phone = typeof value === 'string' ? value.trim() : value;
	if (typeof phone !== 'string' || !/^\+[1-9]\d{6,14}$/.test(phone)) {
		throw new InvalidValueError(
			`Phone is ${show(value)}${isAbsent(value) ? '' : ', which is not an international telephone number'}`,
			remedy,
		);
	}
	return phone;
}

/**
 * An email address, or undefined when none is given: whether the service needs one is not shown.
 * @throws {InvalidValueError}
 */
export function optionalEmail(value: unknown): string | undefined {
	if (isAbsent(value)) return undefined;
	const email = typeof value === 'string' ? value.trim() : value;
	if (email === '') return undefined;
	if (typeof email !== 'string' || !/^[^\s@"<>()[\],;:\\]+@[^\s@.]+(\.[^\s@.]+)+$/.test(email)) {
		throw new InvalidValueError(
			`Email is ${show(value)}, which is not an email address`,
			'Enter an address such as abebe@example.com, or leave Email empty.',
		);
	}
	return email;
}
