/** *Page and rows* of `payroll.json`: the page *What is open*, or the rows after the monthly payments. */
import { openPageItems } from './open-page.mts';
import { readRun, type PayrollRun } from './payroll-run.mts';
import { itemsForWhatNext, registerRows } from './register-changes.mts';
import { unpaidOf } from './register.mts';
import { sum } from './text.mts';

/** People who were paid before, and less than the table of people has by now: somebody has to look at them too. */
const paidLess = ({ results, register }: PayrollRun) =>
	results
		.filter((row) => row.paid && unpaidOf(row, register) > 0.005)
		.map(({ name, listedEtb, paid = {} }) => ({
			name,
			askedEtb: listedEtb,
			outcome: 'paid',
			reason: `${sum([paid])} ETB was paid before the table had more. Pay the difference with Pay salaries from a file, as a correction`,
			isLeft: true,
		}));

function itemsAfter(run: PayrollRun | undefined): object[] {
	if (run === undefined) return [];
	if (run.isSettling) return openPageItems(run);
	return [...itemsForWhatNext(registerRows(run), run), ...paidLess(run)];
}

export const items = itemsAfter(readRun()).map((json) => ({ json }));
