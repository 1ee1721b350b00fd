/** Decimal numbers as exact text: reading, adding and comparing them. */

/** Decimal text in its shortest plain form, such as `1250.5`: no exponent, no leading or trailing zeros. */
export type Decimal = string;

/** In characters. A longer text is no number: it would take long to read. */
const maxTextLength = 1_000;

/** Digits that a number carries faithfully. */
const faithfulDigits = 15;

/** The noise that calculations with numbers leave, relative to the number: 0.1 + 0.2 is off by less. */
const noiseOfOne = 2 * Number.EPSILON;

/** Adding up to 500 amounts is off by less. */
const noiseOfSums = 250 * Number.EPSILON;

/** The largest distance for rounding to two decimals. It is below 0.000001, so six written decimals stay. */
const maxNoise = 0.0000005;

/**
 * The decimal text of a number or numeric text, without what calculations with binary numbers leave: 0.1 + 0.2 gives
 * `0.3`. Undefined when the value is not a plain decimal number; one with thousands separators is none.
 */
export function decimalText(value: unknown): Decimal | undefined {
	const text = typeof value === 'number' ? inDigits.format(withoutNoise(value)) : value;
	if (typeof text !== 'string' || text.length > maxTextLength) return undefined;
	const [, whole, fraction = ''] = /^(-?\d+)(?:\.(\d+))?$/.exec(text.trim()) ?? [];
	return whole === undefined ? undefined : unscaled(BigInt(whole + fraction), fraction.length);
}

/** Writes a number as JavaScript does, without an exponent. */
const inDigits = new Intl.NumberFormat('en', { useGrouping: false, maximumSignificantDigits: 21 });

function withoutNoise(value: number): number {
	const hundredths = Number(value.toFixed(2));
	const noise = Math.min(Math.abs(value) * noiseOfSums, maxNoise);
	if (Math.abs(value - hundredths) <= noise) return hundredths;
	const rounded = Number(value.toPrecision(faithfulDigits));
	return Math.abs(value - rounded) <= Math.abs(value) * noiseOfOne ? rounded : value;
}

/**
 * The number that JSON writes as this very text. Undefined when there is none: more than 15 digits, or so small or large
 * that JSON needs an exponent.
 */
export function fromDecimal(text: Decimal): number | undefined {
	const value = Number(text);
	const isFaithful = Number(value.toPrecision(faithfulDigits)) === value;
	return isFaithful && String(value) === text ? value : undefined;
}

/** As a whole number of 10^-places. */
function scaled(text: Decimal, places: number): bigint {
	const [whole = '', fraction = ''] = text.split('.');
	return BigInt(whole + fraction.padEnd(places, '0'));
}

const placesOf = (text: Decimal): number => text.split('.')[1]?.length ?? 0;

function unscaled(value: bigint, places: number): Decimal {
	const digits = String(value < 0n ? -value : value).padStart(places + 1, '0');
	const point = digits.length - places;
	let end = digits.length;
	while (end > point && digits[end - 1] === '0') end--;
	const sign = value < 0n ? '-' : '';
	const whole = sign + digits.slice(0, point);
	return end === point ? whole : `${whole}.${digits.slice(point, end)}`;
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

/** An amount above zero to two decimals, half up, as spreadsheets show it. */
export function rounded(text: Decimal): Decimal {
	const places = Math.max(placesOf(text), 2);
	const unit = 10n ** BigInt(places - 2);
	const value = scaled(text, places);
	return unscaled((value + unit / 2n) / unit, 2);
}

/** For people: `96,000.5 ETB`. */
export function formatEtb(text: Decimal): string {
	const [whole = '', fraction] = text.split('.');
	const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
	return `${fraction === undefined ? grouped : `${grouped}.${fraction}`} ETB`;
}
