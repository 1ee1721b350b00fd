/** The amounts of a list. */
import { amountInEtb } from '../../shared/amount';
import { decimalText, formatEtb, rounded, type Decimal } from '../../shared/decimal';
import { InvalidValueError, invalid } from '../../shared/invalidValue';
import { isFormulaError, visibleText } from './cells';
import { dayNear } from './people';
import type { Remark } from './remarks';

export interface ListAmount {
	/** In ETB, with at most two decimals. */
	etb: Decimal;
	remarks: Remark[];
}

/** So many decimals that the sign can only be a decimal point: a calculated amount. */
const calculated = /^(?:\d+[.,]\d{4,}|(?:0|\d{4,})[.,]\d{3})$/;

/**
 * The amount in a cell. It is read as everywhere, but a calculated one with more than two decimals, which a spreadsheet
 * shows rounded, is rounded to two, half upwards.
 * @param field the heading, for errors
 * @throws {InvalidValueError}
 */
export function amountInCell(cell: unknown, now: Date, field: string): ListAmount {
	const written = typeof cell === 'number' ? cell : visibleText(cell).normalize('NFKC');
	if (written === '') {
		throw new InvalidValueError(
			`${field} is empty`,
			'Write the amount. If the cell has a formula, its value is missing: open the file in a spreadsheet, see that the formula gives a number, and save it.',
		);
	}
	if (typeof written === 'string' && isFormulaError(written))
		throw invalid(field, written, 'is an error of a formula', 'Correct the formula.');
	const isCalculated = typeof written === 'number' || calculated.test(written);
	const exact = isCalculated ? decimalText(numberOrPoint(written)) : undefined;
	const isRounded = exact !== undefined && /^\d+\.\d{3}/.test(exact);
	const amount = isRounded ? rounded(exact) : undefined;
	if (amount === '0') throw invalid(field, written, 'is below 0.01', 'Correct the amount.');
	const etb = amountInEtb(amount ?? written, field);
	const text = isRounded ? `${exact} was rounded to ${etb}.` : '';
	return {
		etb,
		remarks: [
			...(isRounded ? [{ code: 'rounded', text } as const] : []),
			...(typeof cell === 'number' ? changedInSheet(cell, etb, now) : []),
		],
	};
}

const numberOrPoint = (written: string | number): string | number =>
	typeof written === 'number' ? written : written.replace(',', '.');

/** A spreadsheet keeps days, times and percentages as numbers, and n8n reads those. */
function changedInSheet(cell: number, etb: Decimal, now: Date): Remark[] {
	const day = dayNear(cell, now);
	const other = day ?? (cell < 1 ? 'a time of day or a percentage' : undefined);
	if (other === undefined) return [];
	const text = `${formatEtb(etb)} is also what a spreadsheet keeps for ${other}: look at the cell.`;
	return [{ code: 'amountIsDay', text }];
}

/** In ETB: by so much each rounded amount can move the sum. */
const roundingOfEach = 0.005;

/**
 * Which amounts are the sum of all others, as in a row with a total. Of two amounts that are the same each is the sum of
 * the other one, so it takes at least two others.
 * @param amounts in ETB
 */
export function sumsOfOthers(amounts: readonly number[]): Set<number> {
	if (amounts.length < 3) return new Set();
	const total = amounts.reduce((sum, amount) => sum + amount, 0);
	// Adding numbers leaves far less than a tenth of a cent.
	const tolerance = roundingOfEach * amounts.length + 0.001;
	return new Set(amounts.filter((amount) => Math.abs(total - 2 * amount) <= tolerance));
}
