/** Reads an amount of money from a field, an option or a list. */
import { decimalText, toExactNumber, isAbove, type Decimal } from './decimal';
import { fieldError } from './invalidValue';

/** The smallest amount, in ETB. JSON writes a smaller one with an exponent, which the service may not read. */
const minAmount: Decimal = '0.000001';

/** The longest text that is read as an amount, in characters. Reading a longer one would take too long. */
const maxTextLength = 100;

/** The currency before or after an amount, as people in Ethiopia write it. */
const currency = /^(?:ETB|Birr|Br\.?|ብር)\s*(?=[\d-])|(?<=\d)\s*(?:ETB|Birr|Br\.?|ብር)$/giu;

/** Digits without thousands separators, with or without decimals: `12400`, `12400.50`, `12400,50`. */
const withoutThousands = /^(?<whole>-?\d+)(?:[.,](?<decimals>\d+))?$/;

/**
 * Groups of three digits with the same separator between them, with or without decimals after a different
 * one: `12,400.50`, `12.400,50`, `12 400`, `1'234'567`. A separator can be an ordinary blank, or one of the
 * blanks that spreadsheets put between thousands.
 */
const withThousands =
	/^(?<whole>-?[1-9]\d{0,2}(?:(?<separator>[ \u00a0\u2007\u2009\u202f'’.,])\d{3})(?:\k<separator>\d{3})*)(?:(?!\k<separator>)[.,](?<decimals>\d+))?$/;

/**
 * Reads an amount in ETB. It has to be at least 0.000001, and have at most 15 significant digits.
 *
 * A number is read without the rounding error of binary calculations. A text may have any form that can mean
 * only one amount, at most two decimals, and the currency before or after it. A text that can mean two
 * amounts, such as `12,400` or `1.250`, is an error that names both.
 * @param field the name of the value in errors
 * @returns exact decimal text
 * @throws {InvalidValueError} that names the field, the value, and the way to write it
 */
export function readAmount(field: string, value: unknown): Decimal {
	const remedy = 'Enter an amount in ETB above zero, for example 1250.50.';
	const amount = decimalText(typeof value === 'string' ? readAmountText(value, field) : value);
	if (amount === undefined) throw fieldError(field, value, 'is not a plain number', remedy);
	if (amount === '0' || amount.startsWith('-'))
		throw fieldError(field, value, 'is not above zero', remedy);
	if (isAbove(minAmount, amount)) throw fieldError(field, value, 'is below 0.000001', remedy);
	if (toExactNumber(amount) === undefined) {
		const round = 'Round the amount, for example with {{ $json.amount.toFixed(2) }}.';
		throw fieldError(field, value, 'has more than 15 digits', round);
	}
	return amount;
}

interface Reading {
	whole: string;
	decimals: string;
}

/**
 * The amount that a text means, as plain decimal text; undefined for a text that is no amount.
 * @throws {InvalidValueError} for a text with two meanings
 */
function readAmountText(value: string, field: string): string | undefined {
	if (value.length > maxTextLength) return undefined;
	const text = value.trim().replace(currency, '');
	const [reading, other] = [withThousands, withoutThousands].flatMap((form) =>
		readingsIn(form, text),
	);
	if (reading === undefined) return undefined;
	if (other !== undefined) {
		const small = decimalText(withDecimals(other)) ?? '';
		throw fieldError(
			field,
			value,
			`can mean ${reading.whole} or ${small}`,
			`Write it with two decimals: ${reading.whole}.00 if it is ${reading.whole}.`,
		);
	}
	if (reading.decimals.length > 2) {
		throw fieldError(
			field,
			value,
			'has more than two decimals',
			'Round it to two, such as 1250.50.',
		);
	}
	return withDecimals(reading);
}

function readingsIn(form: RegExp, text: string): Reading[] {
	const { whole, decimals = '' } = form.exec(text)?.groups ?? {};
	return whole === undefined ? [] : [{ whole: whole.replace(/[^\d-]/g, ''), decimals }];
}

const withDecimals = ({ whole, decimals }: Reading): string =>
	decimals === '' ? whole : `${whole}.${decimals}`;
