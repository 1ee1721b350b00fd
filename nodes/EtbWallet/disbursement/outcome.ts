import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { Decimal } from '../../shared/decimal';
import { decimalText } from '../../shared/decimal';
import type { Remedies } from '../../shared/serviceError';
import { reasonIn } from '../../shared/serviceError';
import type { ServiceResult } from '../../shared/transport';
import { errorItem } from '../run';

/** One disbursement that an item asks for. */
export interface Payment {
	itemIndex: number;
	toUserId: string;
	/** In ETB. */
	amountEtb: number;
	/** The same amount as exact text. */
	amount: Decimal;
	/** The user's own key for the payment. */
	reference?: string;
}

/** How a payment ended. `paid` and `notPaid` are certain; `unknown` means that it may have been made. */
export type Settlement =
	| { outcome: 'paid'; answer: IDataObject }
	| { outcome: 'notPaid' | 'unknown' | 'alreadyPaid'; error: Failure }
	/** Its reference was used before and nothing was sent. */
	| { outcome: 'alreadyPaid' | 'unknown'; skipped: string };

export interface Failure {
	message: string;
	/** What to do about it. */
	description: string;
	httpCode?: string;
}

export type FailedSettlement = Extract<Settlement, { error: Failure }>;

export function isFailed(settlement: Settlement): settlement is FailedSettlement {
	return 'error' in settlement;
}

const whatToCheck = 'Check the treasury balance, the amount and the user ID.';

/** What to do when the service refuses a payment. It does not say by which status too little money is refused. */
export const remedies: Remedies = {
	400: whatToCheck,
	402: whatToCheck,
	409: 'If an earlier payment may be the same, check with the partner service before sending it again.',
	422: whatToCheck,
};

/**
 * What the answer of the disburse endpoint means: only `success: true` is a payment (service document §2).
 * @param hide removes secrets from the service's reason
 */
export function settle(result: ServiceResult, hide: (text: string) => string): Settlement {
	if (!result.ok) {
		const { outcome, message, description, httpCode } = result.failure;
		return {
			outcome: outcome === 'unknown' ? 'unknown' : 'notPaid',
			error: { message, description, httpCode },
		};
	}
	const { success } = result.output;
	if (success === true) return { outcome: 'paid', answer: result.output };
	if (success === false) {
		const reason = reasonIn(JSON.stringify(result.output), hide);
		return {
			outcome: 'notPaid',
			error: {
				message: `The service did not make the disbursement${reason === '' ? '' : `: ${reason}`}`,
				description: whatToCheck,
			},
		};
	}
	return {
		outcome: 'unknown',
		error: {
			message: 'The service answered without saying whether the disbursement was made',
			description: 'It may have been done. Check with the partner service before sending it again.',
		},
	};
}

/** What tells a person which payment is meant. */
export function identity({ reference, toUserId }: Partial<Payment>): {
	reference?: string;
	toUserId?: string;
} {
	return {
		...(reference !== undefined && { reference }),
		...(toUserId !== undefined && { toUserId }),
	};
}

/** Whether the service says that it paid another amount, for example less a fee. */
export function paidOtherAmount(payment: Payment, settlement: Settlement | undefined): boolean {
	if (settlement === undefined || !('answer' in settlement)) return false;
	const amount = decimalText(settlement.answer.amountEtb);
	return amount !== undefined && amount !== payment.amount;
}

/** The output item of a payment: on the error output when it failed. */
export function outputItem(payment: Payment, settlement: Settlement): INodeExecutionData {
	const { itemIndex, amountEtb } = payment;
	// In this order, because the editor's table shows it so.
	const ours = { outcome: settlement.outcome, ...identity(payment) };
	if (isFailed(settlement))
		return errorItem({ ...ours, amountEtb, ...settlement.error }, itemIndex);
	const fields = 'answer' in settlement ? settlement.answer : { message: settlement.skipped };
	const isOther = paidOtherAmount(payment, settlement);
	return {
		json: {
			...ours,
			amountEtb,
			...(isOther && { requestedAmountEtb: amountEtb }),
			...fields,
			...ours,
			// Also if the service says no amount there.
			...(!isOther && { amountEtb }),
		},
		pairedItem: { item: itemIndex },
	};
}
