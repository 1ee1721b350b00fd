/** *Page and rows* of `payroll.json`: the page *What is open*, or the rows after the monthly payments. */
import { openPageItems } from './open-page.mts';
import { itemsOfPaidLess, paidLess } from './paid-less.mts';
import { readRun, type PayrollRun } from './payroll-run.mts';
import { itemsForWhatNext, registerChanges } from './register-changes.mts';

function itemsOfRun(run: PayrollRun | undefined): object[] {
	if (run === undefined) return [];
	if (run.isSettling) return openPageItems(run);
	const left = paidLess(run.results, run.register);
	return [...itemsForWhatNext(registerChanges(run), run), ...itemsOfPaidLess(left)];
}

export const items = itemsOfRun(readRun()).map((json) => ({ json }));
