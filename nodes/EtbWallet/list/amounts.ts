/** The amounts of a list. */
import { amountInEtb } from '../../shared/amount';
import { decimalText, rounded } from '../../shared/decimal';
import { InvalidValueError, invalid } from '../../shared/invalidValue';
import { dayNear, isFormulaError, textOf, visibleText } from './cells';
import { remark, type Remark } from './remarks';

/** So many decimals that the sign can only be a decimal point: a calculated amount. */
const calculated = /^(?:\d+[.,]\d{4,}|(?:0|\d{4,})[.,]\d{3})$/;

/**
 * Full-width digits and their signs as the usual ones. No other compatibility form, because it would become another number:
 * 5000¹ is not 50001.
 */
const withUsualDigits = (text: string): string =>
	text.replace(/[\uff0c\uff0e\uff10-\uff19]/g, (wide) => wide.normalize('NFKC'));

/**
 * The amount in a cell, in ETB, with at most two decimals. It is read as everywhere, but a calculated one with more than
 * two decimals, which a spreadsheet shows rounded, is rounded, half upwards.
 * @param field the heading, for errors
 * @throws {InvalidValueError}
 */
export function amountInCell(
	cell: unknown,
	now: Date,
	field: string,
): { amountEtb: number; remarks: Remark[] } {
	const written = typeof cell === 'number' ? cell : withUsualDigits(textOf(cell));
	if (written === '') {
		const remedy =
			'Write the amount. If the cell has a formula, its value is missing: open the file in a spreadsheet, see that the formula gives a number, and save it.';
		throw new InvalidValueError(`${field} is empty`, remedy);
	}
	// An override shows digits in another order, and something else may stand for a comma.
	if (
		typeof written === 'string' &&
		(visibleText(cell) !== textOf(cell) || /\u202e/.test(String(cell)))
	) {
		const remedy = 'Write the amount again by hand.';
		throw new InvalidValueError(`${field} has a sign that nobody can see`, remedy);
	}
	if (isFormulaError(written))
		throw invalid(field, written, 'is an error of a formula', 'Correct the formula.');
	const isCalculated = typeof written === 'number' || calculated.test(written);
	const point = typeof written === 'number' ? written : written.replace(',', '.');
	const exact = isCalculated ? (decimalText(point) ?? '') : '';
	const hasMore = /^\d+\.\d{3}/.test(exact);
	if (hasMore && rounded(exact) === '0')
		throw invalid(field, written, 'is below 0.01', 'Correct the amount.');
	const etb = amountInEtb(hasMore ? rounded(exact) : written, field);
	// A spreadsheet keeps days, times and percentages as numbers, and n8n reads those.
	const other = dayNear(cell, now) ?? (Number(cell) < 1 ? 'a time of day, or a percentage' : '');
	const isChanged = typeof cell === 'number' && other !== '';
	return {
		amountEtb: Number(etb),
		remarks: [
			...(hasMore ? [remark('rounded', `${exact} to ${etb}`)] : []),
			...(isChanged ? [remark('amountIsDay', `${etb} is also ${other}`)] : []),
		],
	};
}

/** In ETB: by so much each rounded amount can move the sum. */
const roundingOfEach = 0.005;

/**
 * Which amounts, in ETB, are the sum of all others, as in a row with a total. Of two amounts that are the same each is the
 * sum of the other one, so it takes at least two others.
 */
export function sumsOfOthers(amounts: readonly number[]): Set<number> {
	if (amounts.length < 3) return new Set();
	const total = amounts.reduce((sum, amount) => sum + amount, 0);
	// Adding numbers leaves far less than a tenth of a cent.
	const tolerance = roundingOfEach * amounts.length + 0.001;
	return new Set(amounts.filter((amount) => Math.abs(total - 2 * amount) <= tolerance));
}
