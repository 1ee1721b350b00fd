/** The results that the record decides, and that of a database that fails. */
import { show } from '../../shared/invalidValue';
import { messageOf } from '../../shared/unknownValues';
import type { Entry, EntryResult } from './entry';
import { inFlightMinutes } from './paymentMarks';
import type { PaymentState } from './paymentRecord';

/** The steps that settle an unknown payment, as *Settling* in docs/safe-payments.md explains them. */
export const settleSteps = ({ reference = '' }: Entry): string =>
	`Ask the partner service whether it was paid. Then, in the node that paid, set Mode to Settle Unknown, write ${reference} into Was Paid or Was Not Paid, choose Execute step, and set Mode back. If this workflow has a form for the answer, use that instead. Settling sends nothing.`;

/** The result of a payment that is not sent, by its state in the record. */
export function resultOfState(entry: Entry, state: PaymentState): EntryResult {
	const { reference } = entry;
	switch (state) {
		case 'unused':
			return { code: 'ready', message: 'Dry run: nothing was sent' };
		case 'paid':
			return {
				code: 'paidBefore',
				message: 'Paid or settled as paid before, not sent again',
				remedy: 'There is nothing to do, unless this is a new payment: that needs a new reference.',
			};
		case 'otherPayment':
			return {
				code: 'otherPayment',
				message: `Nothing was sent, because another person or amount was paid under this reference: ${show(reference)}`,
				remedy:
					'Is it the same payment? Then do not pay it again: also not to another user ID of the same person, and of another amount only the difference. Otherwise give it a reference of its own.',
			};
		case 'inFlight':
			return {
				code: 'inFlight',
				message: `Not sent: another execution is sending ${show(reference)}, or was cut off while it did`,
				remedy: `Look at that execution for how it ended. When this node has paid nobody for ${inFlightMinutes} minutes, run this one again: then it says what to do.`,
			};
		case 'inDoubt':
			return {
				code: 'inDoubt',
				message: `Not sent again: ${show(reference)} was sent before, and how that ended is not known`,
				remedy: settleSteps(entry),
			};
	}
}

/** The result of a payment when n8n's database fails. */
export const noRecordResult = (error: unknown): EntryResult => ({
	code: 'noRecord',
	message: 'The database of n8n failed, so nothing was sent',
	remedy: `Run the workflow again. If it then reports this reference as unknown, although it was not used before, this run did not send it. The database said: ${messageOf(error)}`,
});
