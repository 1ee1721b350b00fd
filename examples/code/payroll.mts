/** *Page and rows* of `payroll.json`: the page *What is open*, or the rows after the monthly payments. */
import { whatIsOpenItems } from './what-is-open.mts';
import { itemsOfPaidLess, paidLessOf } from './paid-less.mts';
import { hasRemark, type PaymentRow } from './payment-row.mts';
import { readExecution, type PayrollExecution } from './payroll-execution.mts';
import { itemsForWhatNext, registerUpdates } from './register-updates.mts';

function itemsOfExecution(execution: PayrollExecution | undefined): object[] {
	if (execution === undefined) return [];
	if (execution.isSettling) return whatIsOpenItems(execution);
	const underpaid = paidLessOf(execution.results, execution.register);
	return [
		...itemsForWhatNext(registerUpdates(execution), execution),
		...itemsOfPaidLess(underpaid),
		...itemsOfRenamed(execution.results.filter(({ paid }) => paid)),
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

export const items = itemsOfExecution(readExecution()).map((json) => ({ json }));
