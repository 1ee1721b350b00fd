/** Decimal numbers as exact text: reading, adding and comparing them. */

/** Decimal text in its shortest plain form, such as `1250.5`: no exponent, no leading or trailing zeros. */
export type Decimal = string;

/** The longest text that is read as a number, in characters. Reading a longer one would take too long. */
const maxTextLength = 1_000;

/** The number of significant digits that a JavaScript number keeps unchanged. */
const faithfulDigits = 15;

/** The largest error of one calculation, relative to its result. The error of 0.1 + 0.2 is smaller. */
const noiseOfOne = 2 * Number.EPSILON;

/** The largest error of a sum of up to 500 amounts, relative to the sum. */
const noiseOfSums = 250 * Number.EPSILON;

/** The largest error that rounding to two decimals removes. It is below 0.000001, so that six decimals stay. */
const maxNoise = 0.0000005;

/**
 * The decimal text of a number or numeric text, without the rounding error of binary calculations: 0.1 + 0.2
 * gives `0.3`.
 * @returns undefined when the value is not a plain decimal number, for example because of a thousands
 * separator or an exponent
 */
export function decimalText(value: unknown): Decimal | undefined {
	const text = typeof value === 'number' ? inDigits.format(withoutNoise(value)) : value;
	if (typeof text !== 'string' || text.length > maxTextLength) return undefined;
	const [, whole, fraction = ''] = /^(-?\d+)(?:\.(\d+))?$/.exec(text.trim()) ?? [];
	return whole === undefined ? undefined : unscaled(BigInt(whole + fraction), fraction.length);
}

/** Writes all digits of a number, without an exponent. */
const inDigits = new Intl.NumberFormat('en', { useGrouping: false, maximumSignificantDigits: 21 });

function withoutNoise(value: number): number {
	const hundredths = Number(value.toFixed(2));
	const noise = Math.min(Math.abs(value) * noiseOfSums, maxNoise);
	if (Math.abs(value - hundredths) <= noise) return hundredths;
	const faithful = Number(value.toPrecision(faithfulDigits));
	return Math.abs(value - faithful) <= Math.abs(value) * noiseOfOne ? faithful : value;
}

/**
 * The number that JSON writes as exactly this text.
 * @returns undefined when there is none, because the text has more than 15 digits or JSON would need an
 * exponent
 */
export function toExactNumber(text: Decimal): number | undefined {
	const value = Number(text);
	const isFaithful = Number(value.toPrecision(faithfulDigits)) === value;
	return isFaithful && String(value) === text ? value : undefined;
}

/** The value in units of 10^-places. */
function scaled(text: Decimal, places: number): bigint {
	const [whole = '', fraction = ''] = text.split('.');
	return BigInt(whole + fraction.padEnd(places, '0'));
}

const placesOf = (text: Decimal): number => text.split('.')[1]?.length ?? 0;

/** The decimal text of a value in units of 10^-places, without trailing zeros. */
function unscaled(value: bigint, places: number): Decimal {
	const digits = String(value < 0n ? -value : value).padStart(places + 1, '0');
	const point = digits.length - places;
	let length = digits.length;
	while (length > point && digits[length - 1] === '0') length--;
	const sign = value < 0n ? '-' : '';
	const whole = sign + digits.slice(0, point);
	return length === point ? whole : `${whole}.${digits.slice(point, length)}`;
}

export function sum(texts: Decimal[]): Decimal {
	const places = texts.reduce((most, text) => Math.max(most, placesOf(text)), 0);
	const total = texts.reduce((before, text) => before + scaled(text, places), 0n);
	return unscaled(total, places);
}

export function subtract(left: Decimal, right: Decimal): Decimal {
	const places = Math.max(placesOf(left), placesOf(right));
	return unscaled(scaled(left, places) - scaled(right, places), places);
}

export function isAbove(left: Decimal, right: Decimal): boolean {
	return subtract(right, left).startsWith('-');
}

/** Rounds an amount above zero to two decimals, half up, as a spreadsheet shows it. */
export function toHundredths(text: Decimal): Decimal {
	const places = Math.max(placesOf(text), 2);
	const unit = 10n ** BigInt(places - 2);
	const value = scaled(text, places);
	return unscaled((value + unit / 2n) / unit, 2);
}

/** An amount as people read it: `96,000.50 ETB`, without decimals when it is whole. */
export function formatEtb(text: Decimal): string {
	const [whole = '', fraction] = text.split('.');
	const wholeInGroups = whole.replace(/\B(?=(\d{3})+$)/g, ',');
	return `${fraction === undefined ? wholeInGroups : `${wholeInGroups}.${fraction.padEnd(2, '0')}`} ETB`;
}
