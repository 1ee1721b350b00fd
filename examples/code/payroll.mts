/** *Page and rows* of `payroll.json`: the page *What is open*, or the rows after the monthly payments. */
import { openPageItems } from './open-page.mts';
import { itemsOfPaidLess, paidLessOf } from './paid-less.mts';
import { hasRemark, type PaymentRow } from './payment-row.mts';
import { readRun, type PayrollRun } from './payroll-run.mts';
import { itemsForWhatNext, registerUpdates } from './register-updates.mts';

function itemsOfRun(run: PayrollRun | undefined): object[] {
	if (run === undefined) return [];
	if (run.isSettling) return openPageItems(run);
	const underpaid = paidLessOf(run.results, run.register);
	return [
		...itemsForWhatNext(registerUpdates(run), run),
		...itemsOfPaidLess(underpaid),
		...itemsOfRenamed(run.results.filter(({ paid }) => paid)),
	];
}

/** The items for *Somebody needs you* of people who were paid under another name: the number may be somebody else's. */
const itemsOfRenamed = (paidBefore: PaymentRow[]): object[] =>
	paidBefore.filter(hasRemark('changedName')).map((row) => ({
		name: row.name,
		requestedAmountEtb: row.listedAmountEtb,
		outcome: 'paid',
		reason: `It was paid as ${row.paid?.name}, and not again. If that is somebody else, give them an employee number of their own`,
		needsPerson: true,
	}));

export const items = itemsOfRun(readRun()).map((json) => ({ json }));
