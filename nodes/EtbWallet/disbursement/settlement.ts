/** How a payment ended, what that rests on, and the item that tells it. */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { decimalText } from '../../shared/decimal';
import { errorItem } from '../../shared/n8n';
import type { ServiceResult } from '../../shared/service/call';
import type { Failure, Remedies } from '../../shared/service/failure';
import { unknownRemedy } from '../../shared/service/failure';
import { quoted, reasonIn } from '../../shared/service/reason';
import { successIn, tellsOfSuccess } from '../../shared/service/success';
import type { Mode } from './checks';
import type { Asked } from './payment';

/** `paid` and `notPaid` are certain; `unknown` means that it may have been made; `ready` that a run with Pay would send it. */
export type Settlement =
	| { outcome: 'paid'; answer: IDataObject }
	| { outcome: 'notPaid' | 'unknown' | 'alreadyPaid'; error: Failure }
	/** Nothing was sent. `settled`: what a person's finding changed; `newlyPaid` was not known before. */
	| {
			outcome: 'alreadyPaid' | 'unknown' | 'ready';
			message: string;
			settled?: 'paid' | 'notPaid' | 'newlyPaid';
	  };

/** A row of a run: what its item asks for, and how that ended once it did. */
export interface Row extends Asked {
	settlement?: Settlement;
}

const whatToCheck = 'Check the treasury balance, the amount and the user ID.';

/** What to do when the service rejects a payment. It does not say with which status it does so for too little money. */
export const rejectionRemedies: Remedies = {
	400: whatToCheck,
	402: whatToCheck,
	409: 'If an earlier payment may be the same, check with the partner service before sending it again.',
	422: whatToCheck,
};

const notMade = { problem: 'The service did not make the disbursement' };

/**
 * What the answer of the disburse endpoint means: only `success: true` is a payment (service document §2).
 * @param hide removes secrets from the service's reason
 */
export function settlementOf(result: ServiceResult, hide: (text: string) => string): Settlement {
	if (!result.ok) {
		const { outcome, ...error } = result.failure;
		return { outcome: outcome === 'unknown' ? 'unknown' : 'notPaid', error };
	}
	const success = successIn(result);
	if (success === 'yes') return { outcome: 'paid', answer: result.output };
	if (success === 'no' && !tellsOfSuccess(result)) {
		const message = notMade.problem + quoted(reasonIn(result, hide));
		return { outcome: 'notPaid', error: { message, description: whatToCheck } };
	}
	return {
		outcome: 'unknown',
		error: {
			message: 'The service answered without saying whether the disbursement was made',
			description: unknownRemedy,
		},
	};
}

/** Whether the service says that it paid another amount, for example less a fee. */
export function paidOtherAmount({ amount, settlement }: Row): boolean {
	if (settlement === undefined || !('answer' in settlement)) return false;
	const answered = decimalText(settlement.answer.amountEtb);
	return answered !== undefined && answered !== amount;
}

/** What tells a person which payment is meant. */
export function namesOf({ reference, toUserId }: Asked): Pick<Asked, 'reference' | 'toUserId'> {
	return {
		...(reference !== undefined && { reference }),
		...(toUserId !== undefined && { toUserId }),
	};
}

/** The output item of a row that ended: on the error output when it failed. It names a mode that pays nobody. */
export function outputItem(row: Row & { settlement: Settlement }, mode: Mode): INodeExecutionData {
	const { itemIndex, amount, settlement } = row;
	const amountEtb = amount === undefined ? undefined : Number(amount);
	const ours = {
		outcome: settlement.outcome,
		...(mode !== 'pay' && { mode }),
		...namesOf(row),
	};
	if ('error' in settlement) {
		const { error } = settlement;
		return errorItem({ ...ours, ...(amount !== undefined && { amountEtb }), ...error }, itemIndex);
	}
	// The editor's table shows the columns in this order.
	const json: IDataObject = { ...ours, amountEtb };
	if (paidOtherAmount(row)) json.requestedAmountEtb = amountEtb;
	const answer = 'answer' in settlement ? settlement.answer : { message: settlement.message };
	for (const [name, value] of Object.entries(answer)) if (!(name in ours)) json[name] = value;
	// The service may give no amount, or one that cannot be read.
	if (!paidOtherAmount(row)) json.amountEtb = amountEtb;
	return { json, pairedItem: { item: itemIndex } };
}
