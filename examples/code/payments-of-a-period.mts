/** *One row for each payment* of `payments-of-a-period.json`. The first item has the page, and each has a row of the file. */
import { fileRow } from './file-row.mts';
import { hasOutcome, isPaidByStatement } from './payment-row.mts';
import { byPeriod, heading, pageField } from './page.mts';
import { registerOf } from './register.mts';
import { forWhat } from './text.mts';
import { itemsOf } from './workflow.mts';

const [asked] = itemsOf(() => $('Which period?'));
const register = registerOf(itemsOf(() => $('Payments')));
// An n8n that does not know the login leaves the form open.
const rows = register.rows.filter(
	(row) => asked?.user?.id && (row.period || forWhat({})) === asked.period,
);
const paid = rows.filter(hasOutcome('paid'));
const recorded = paid.filter(isPaidByStatement);
const isMixed = new Set(paid.map(forWhat)).size > 1;
const { html } = pageField(
	rows.length === 0 && 'There is no payment of this period.',
	isMixed && `<h2>${heading('Paid in all', paid)}</h2>`,
	recorded.length > 0 &&
		`<p>${heading('Of these only recorded as paid by a person, without a transaction', recorded)}.</p>`,
	rows.some(hasOutcome('unknown')) &&
		'<p>Is somebody UNKNOWN settled already? If that was in the node of a workflow, run the workflow again: then it stands here.</p>',
	...byPeriod(rows, register),
);
const [first = {}, ...others] = rows;
export const items = [
	{ page: html, file: fileRow(first) },
	...others.map((row) => ({ file: fileRow(row) })),
].map((json) => ({ json }));
