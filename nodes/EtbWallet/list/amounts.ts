/** The amounts of a list. */
import { amountInEtb } from '../../shared/amount';
import { decimalText, isAbove, rounded, subtract, sum, type Decimal } from '../../shared/decimal';
import { invalid } from '../../shared/invalidValue';
import { textOf } from './cells';

export interface ListAmount {
	/** In ETB, with at most two decimals. */
	etb: Decimal;
	/** What was done with what is written there; empty for nothing. */
	remark: string;
}

/** So many decimals that the sign can only be a decimal point: a calculated amount. */
const calculated = /^(?:\d+[.,]\d{4,}|(?:0|\d{4,})[.,]\d{3})$/;

/**
 * The amount in a cell. It is read as everywhere, but a calculated one with more than two decimals, which a spreadsheet
 * shows rounded, is rounded to two, half upwards.
 * @throws {InvalidValueError}
 */
export function amountInCell(cell: unknown): ListAmount {
	const field = 'amountEtb';
	const written = typeof cell === 'number' ? cell : textOf(cell);
	const isCalculated = typeof written === 'number' || calculated.test(written);
	const exact = isCalculated ? decimalText(numberOrPoint(written)) : undefined;
	if (exact === undefined || !/^\d+\.\d{3}/.test(exact))
		return { etb: amountInEtb(written, field), remark: '' };
	const amount = rounded(exact);
	if (amount === '0') throw invalid(field, written, 'is below 0.01', 'Correct the amount.');
	return { etb: amountInEtb(amount, field), remark: `${exact} was rounded to ${amount}.` };
}

const numberOrPoint = (written: string | number): string | number =>
	typeof written === 'number' ? written : written.replace(',', '.');

/** In ETB: by so much each rounded amount can move the sum. */
const roundingOfEach: Decimal = '0.005';

/**
 * Which amounts are the sum of all others, as in a row with a total. Of two amounts that are the same each is the sum of
 * the other one, so it takes at least two others.
 */
export function sumsOfOthers(amounts: readonly Decimal[]): Set<Decimal> {
	if (amounts.length < 3) return new Set();
	const total = sum([...amounts]);
	const tolerance = sum(amounts.map(() => roundingOfEach));
	return new Set(
		amounts.filter((amount) => {
			const twice = sum([amount, amount]);
			const difference = isAbove(total, twice) ? subtract(total, twice) : subtract(twice, total);
			return !isAbove(difference, tolerance);
		}),
	);
}
