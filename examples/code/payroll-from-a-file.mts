/**
 * *Page and rows* of `payroll-from-a-file.json`: the page that asks for approval, the one at the end, or *What is
 * open*. After the item with the page come the rows for the register, the people who are left, and the rows of the file.
 */
import { declineChoice } from './approval.mts';
import { fileRow } from './file-row.mts';
import { warningsAbout } from './list-warnings.mts';
import { failedListPage, listPage, updatesToWrite, rowsInFile } from './list-page.mts';
import { listRun } from './list-run.mts';
import { openPageItems } from './open-page.mts';
import { radio } from './page.mts';
import { itemsOfPaidLess } from './paid-less.mts';
import { hasRemark } from './payment-row.mts';
import { readRun, type PayrollRun } from './payroll-run.mts';
import { itemsForWhatNext } from './register-updates.mts';
import { peopleText, formatSum } from './text.mts';

function itemsOfList(payrollRun: PayrollRun): object[] {
	const run = listRun(payrollRun);
	const { asksForApproval, error, ready, purpose, period } = run;
	const shown = listPage(run);
	const isOnTop = ready.every(hasRemark('paidForPeriod'));
	const approve = `Approve: pay ${formatSum(ready)} ETB${isOnTop ? ' on top' : ''} to ${peopleText(ready)}, ${purpose}, ${period}`;
	// People tend to take the first choice, so after a large warning it is Decline.
	const hasLargeWarning = warningsAbout(run).some(({ isLarge }) => isLarge);
	const decisions = hasLargeWarning ? [declineChoice, approve] : [approve, declineChoice];
	const fields = [shown, radio('decision', 'Your decision', decisions)];
	const written = updatesToWrite(run);
	return [
		{
			...{ asks: asksForApproval, approve, fields },
			page: (error ? failedListPage(run) : shown).html,
		},
		...itemsForWhatNext(written, run),
		...(written.length > 0 ? itemsOfPaidLess([...run.paidLess, ...run.otherCorrections]) : []),
		...rowsInFile(run).map(fileRow),
	];
}

function itemsOfRun(run: PayrollRun | undefined): object[] {
	if (run === undefined) return [];
	return run.isSettling ? openPageItems(run) : itemsOfList(run);
}

export const items = itemsOfRun(readRun()).map((json) => ({ json }));
