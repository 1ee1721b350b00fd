/** People who were paid before, and less than the list has now. Somebody has to pay them the difference. */
import { amountOf, isCorrection, roundingEtb, type PaymentRow } from './payment-row.mts';
import { unpaidOf, type Register } from './register.mts';
import { formatSum } from './text.mts';

/** The amount that is missing, in ETB; zero or less if nothing is. */
function missingEtb(row: PaymentRow, register: Register): number {
	if (!row.paid) return 0;
	if (isCorrection(row)) return (row.listedEtb ?? 0) - amountOf(row.paid);
	return unpaidOf(row, register);
}

export const paidLess = (results: PaymentRow[], register: Register): PaymentRow[] =>
	results.filter((row) => missingEtb(row, register) > roundingEtb);

/** The title of such people on a page, with the sum that is missing. */
export function paidLessTitle(rows: PaymentRow[], register: Register): string {
	const missing = rows.map((row) => ({ amountEtb: missingEtb(row, register) }));
	return `Paid less than the list has, ${formatSum(missing)} ETB less`;
}

/** The items for *Somebody needs you*. */
export const itemsOfPaidLess = (rows: PaymentRow[]) =>
	rows.map(({ name, listedEtb, paid = {} }) => ({
		name,
		askedEtb: listedEtb,
		outcome: 'paid',
		reason: `${formatSum([paid])} ETB was paid, and now it should be more. Pay the difference with Pay salaries from a file, as a correction`,
		isLeft: true,
	}));
