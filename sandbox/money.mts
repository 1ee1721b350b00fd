/**
 * Amounts of ETB are whole numbers of the smallest unit, because sums of floating point numbers would drift.
 * They have 18 decimals, as tokens on such chains have.
 */
const DECIMALS = 18;
const ONE_ETB = 10n ** BigInt(DECIMALS);
const DECIMAL_TEXT = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * The units (10^-18 ETB) of a decimal text in ETB, such as `12.5` or `1e3`.
 * @throws {RangeError} when the text is no decimal or is finer than one unit
 */
export function parseEtb(text: string): bigint {
	const [, sign = '', whole = '', fraction = '', exponent = '0'] = DECIMAL_TEXT.exec(text) ?? [];
	if (whole === '') throw new RangeError(`Not a decimal number: ${text}`);
	const shift = DECIMALS + Number(exponent) - fraction.length;
	const digits = whole + fraction;
	const dropped = shift < 0 ? digits.slice(shift) : '';
	if (/[1-9]/.test(dropped)) throw new RangeError(`More than ${DECIMALS} decimals: ${text}`);
	const units =
		shift < 0 ? BigInt(digits.slice(0, shift) || '0') : BigInt(digits) * 10n ** BigInt(shift);
	return sign === '-' ? -units : units;
}

/** The decimal text in ETB of an amount in units (10^-18 ETB), without trailing zeros. */
export function decimalOf(units: bigint): string {
	const size = units < 0n ? -units : units;
	const fraction = (size % ONE_ETB).toString().padStart(DECIMALS, '0').replace(/0+$/, '');
	return `${units < 0n ? '-' : ''}${size / ONE_ETB}${fraction === '' ? '' : `.${fraction}`}`;
}
