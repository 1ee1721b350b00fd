/** The files for people: result.xlsx, and the payments of a period. */
import { minuteOf } from './text.mts';
import { amountOf, hasOutcome, type PaymentRow } from './payment-row.mts';

const titles: Readonly<Record<string, string>> = {
	unknown: 'UNKNOWN',
	notPaid: 'Not paid',
	paid: 'Paid',
};

/** The cells of a payment, by heading. */
export function fileRow(row: PaymentRow): Record<string, unknown> {
	const cells = {
		Period: row.period,
		Purpose: row.purpose,
		Employee: row.employee,
		Name: row.name,
		Telephone: row.phone,
		Wallet: row.userId,
		'Amount (ETB)': row.requestedAmountEtb,
		'Paid (ETB)': hasOutcome('paid')(row) && amountOf(row),
		Result: titles[row.outcome ?? ''],
		'Time in Addis Ababa': !hasOutcome('notPaid')(row) && row.paidAt && minuteOf(row.paidAt),
		Transaction: row.txHash,
		'Approved by': row.approvedBy,
		'Settled by': row.settledBy,
		'Settled at': row.settledAt && minuteOf(row.settledAt),
		Reason: row.reason,
		Workflow: row.workflow,
		Reference: row.reference,
	};
	return Object.fromEntries(Object.entries(cells).map(([title, cell]) => [title, cell || '']));
}
