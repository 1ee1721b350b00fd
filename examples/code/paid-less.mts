/** People who were paid before, and less than the list has now. Somebody has to pay them the difference. */
import { amountOf, type PaymentRow } from './payment-row.mts';
import { unpaidOf, type Register } from './register.mts';
import { formatSum } from './text.mts';

/** Half a cent: amounts with two decimals are inexact as numbers. */
const tolerance = 0.005;

export const paidLess = (results: PaymentRow[], register: Register): PaymentRow[] =>
	results.filter((row) => {
		if (!row.paid) return false;
		const isCorrection = row.purpose?.startsWith('correction');
		const unpaid = isCorrection
			? (row.listedEtb ?? 0) - amountOf(row.paid)
			: unpaidOf(row, register);
		return unpaid > tolerance;
	});

/** The items for *Somebody needs you*. */
export const itemsOfPaidLess = (rows: PaymentRow[]) =>
	rows.map(({ name, listedEtb, paid = {} }) => ({
		name,
		askedEtb: listedEtb,
		outcome: 'paid',
		reason: `${formatSum([paid])} ETB was paid, and now it should be more. Pay the difference with Pay salaries from a file, as a correction`,
		isLeft: true,
	}));
