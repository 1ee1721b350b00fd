/**
 * *Page and rows* of `payroll-from-a-file.json`: the page that asks for approval, the one at the end, or *What is
 * open*. After the item with the page come the rows for the register, the people who are left, and the rows of the file.
 */
import { declineChoice } from './approval.mts';
import { fileRow } from './file-row.mts';
import { warningsAbout } from './list-warnings.mts';
import {
	failedListPage,
	questionPage,
	resultPage,
	rowsInFile,
	updatesToWrite,
} from './list-page.mts';
import { listExecution } from './list-execution.mts';
import { whatIsOpenItems } from './what-is-open.mts';
import { radio } from './page.mts';
import { itemsOfPaidLess } from './paid-less.mts';
import { hasRemark } from './payment-row.mts';
import { readExecution, type PayrollExecution } from './payroll-execution.mts';
import { itemsForWhatNext } from './register-updates.mts';
import { peopleText, formatSum } from './text.mts';

function itemsOfList(payrollExecution: PayrollExecution): object[] {
	const execution = listExecution(payrollExecution);
	const { asksForApproval, error, ready, purpose, period } = execution;
	const warnings = warningsAbout(execution);
	const isOnTop = ready.every(hasRemark('paidForPeriod'));
	const approve = `Approve: pay ${formatSum(ready)} ETB${isOnTop ? ' on top' : ''} to ${peopleText(ready)}, ${purpose}, ${period}`;
	// People tend to take the first choice, so after a large warning it is Decline.
	const hasLargeWarning = warnings.some(({ isLarge }) => isLarge);
	const decisions = hasLargeWarning ? [declineChoice, approve] : [approve, declineChoice];
	const page = error
		? failedListPage(execution)
		: asksForApproval
			? questionPage(execution, warnings)
			: resultPage(execution);
	const fields = [page, radio('decision', 'Your decision', decisions)];
	const written = updatesToWrite(execution);
	return [
		{ asks: asksForApproval, approve, fields, page: page.html },
		...itemsForWhatNext(written, execution),
		...(written.length > 0
			? itemsOfPaidLess([...execution.paidLess, ...execution.otherCorrections])
			: []),
		...rowsInFile(execution).map(fileRow),
	];
}

function itemsOfExecution(execution: PayrollExecution | undefined): object[] {
	if (execution === undefined) return [];
	return execution.isSettling ? whatIsOpenItems(execution) : itemsOfList(execution);
}

export const items = itemsOfExecution(readExecution()).map((json) => ({ json }));
