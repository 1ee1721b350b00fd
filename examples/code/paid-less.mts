/** People who were paid before, and less than the list has now. Somebody has to pay them the difference. */
import {
	hasOtherAmount,
	isCorrection,
	onePerPayment,
	roundingEtb,
	sumOf,
	type PaymentRow,
} from './payment-row.mts';
import { correctionsOf, type Register } from './register.mts';
import { formatSum } from './text.mts';

/**
 * The amount that is missing, in ETB; zero or less if nothing is. The register does not say for which purpose a
 * correction was, so it counts for the salary.
 */
function missingEtb(row: PaymentRow, register: Register): number {
	if (typeof row.paid?.amountEtb !== 'number') return 0;
	const listedEtb = row.listedAmountEtb ?? 0;
	const correctionEtb = row.purpose === 'salary' ? sumOf(correctionsOf(row, register)) : 0;
	return listedEtb - row.paid.amountEtb - correctionEtb;
}

/** Those who were paid less. A correction with another amount can be a further one: nobody can tell. */
export const paidLessOf = (results: PaymentRow[], register: Register): PaymentRow[] =>
	onePerPayment(
		results.filter((row) => !isCorrection(row) && missingEtb(row, register) > roundingEtb),
	);

/** Those who were paid a correction of this purpose, with another amount than the list has. */
export const otherCorrectionsOf = (results: PaymentRow[]): PaymentRow[] =>
	results.filter(
		(row) => isCorrection(row) && row.paid !== undefined && hasOtherAmount(row, row.paid),
	);

/** A row that was paid before with another amount, with a remark about the corrections of its period. */
export function withCorrections(row: PaymentRow, register: Register): PaymentRow {
	const corrections = correctionsOf(row, register);
	if (!row.paid || isCorrection(row) || corrections.length === 0) return row;
	const hint = row.purpose === 'salary' ? ' They count for the salary.' : '';
	const text = `Corrections for this period: ${formatSum(corrections)} ETB.${hint}`;
	return { ...row, remarks: [...(row.remarks ?? []), { code: 'paidForPeriod', text }] };
}

/** The words for people who were paid less, with the sum that is missing. */
export function paidLessText(rows: PaymentRow[], register: Register): string {
	const missing = rows.map((row) => ({ amountEtb: missingEtb(row, register) }));
	return `Paid less than the list has, ${formatSum(missing)} ETB less`;
}

/** The items for *Somebody needs you*. */
export const itemsOfPaidLess = (rows: PaymentRow[]) =>
	rows.map((row) => ({
		name: row.name,
		requestedAmountEtb: row.listedAmountEtb,
		outcome: 'paid',
		reason: `${formatSum([row.paid ?? {}])} ETB was paid, and the list has another amount. ${
			isCorrection(row)
				? 'A further correction has a purpose of its own, such as correction 2'
				: 'Pay the difference with Pay salaries from a file, as a correction'
		}`,
		needsPerson: true,
	}));
