/** How a payment ended, what that rests on, and the item that tells it. */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { decimalText } from '../../shared/decimal';
import { messageOf, show } from '../../shared/invalidValue';
import { errorItem, property } from '../../shared/n8n';
import type { ServiceResult } from '../../shared/service/call';
import type { Failure, Remedies } from '../../shared/service/failure';
import { unknownRemedy } from '../../shared/service/failure';
import { reasonIn } from '../../shared/service/reason';
import type { Asked } from './payment';
import type { Claim } from './ledger';

/** `paid` and `notPaid` are certain; `unknown` means that it may have been made; `ready` that a dry run would send it. */
export type Settlement =
	| { outcome: 'paid'; answer: IDataObject }
	| { outcome: 'notPaid' | 'unknown' | 'alreadyPaid'; error: Failure }
	/** Nothing was sent. */
	| { outcome: 'alreadyPaid' | 'unknown' | 'ready'; message: string };

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
	if (success === true) return { outcome: 'paid', answer: result.output };
	if (success === false) {
		const reason = reasonIn(result, hide);
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
			description: unknownRemedy,
		},
	};
}

/** What a body says of its success; undefined when it says nothing, or two things. */
function successIn({ body, text }: { body: unknown; text: string }): unknown {
	const said = [body, property(body, 'data')]
		.map((place) => property(place, 'success'))
		.filter((value) => value !== undefined);
	// Of a name that is there twice, reading JSON keeps the last.
	const plain = text.replace(/\\u00([0-9a-f]{2})/gi, (_escape, hex: string) =>
		String.fromCharCode(parseInt(hex, 16)),
	);
	const isRepeated = (plain.match(/"success"\s*:/g) ?? []).length > countOf('success', body);
	return !isRepeated && new Set(said).size === 1 ? said[0] : undefined;
}

function countOf(name: string, value: unknown): number {
	if (typeof value !== 'object' || value === null) return 0;
	return Object.entries(value).reduce(
		(count, [key, entry]) => count + (key === name ? 1 : 0) + countOf(name, entry),
		0,
	);
}

interface UsedReference {
	outcome: 'alreadyPaid' | 'unknown' | 'notPaid';
	message: string;
	remedy: string;
}

const wordRemedy =
	'Then run it once more with If Outcome Is Unknown under Options set to It Was Paid or It Was Not Paid.';

type FoundUsed = Exclude<Claim['found'], 'taken'> | 'wouldBePaidByWord';

const usedReferences: Readonly<Record<FoundUsed, UsedReference>> = {
	paid: {
		outcome: 'alreadyPaid',
		message: 'Paid before, not sent again',
		remedy: 'Use a new reference for a new payment.',
	},
	paidByWord: {
		outcome: 'alreadyPaid',
		message: 'Recorded as paid, nothing was sent',
		remedy: 'Remove If Outcome Is Unknown under Options again.',
	},
	wouldBePaidByWord: {
		outcome: 'alreadyPaid',
		message: 'Would be recorded as paid, nothing would be sent',
		remedy: 'Turn off Dry Run under Options to record it.',
	},
	inDoubt: {
		outcome: 'unknown',
		message: 'Not sent again: it was sent before, and how that ended is not known',
		remedy: `Ask the partner service whether it was paid. ${wordRemedy}`,
	},
	inFlight: {
		outcome: 'unknown',
		message:
			'Not sent: another execution is using this reference right now, or was cut off while it did',
		remedy:
			'Look at that execution for how it ended. A later run that is not a dry run waits for it, and tells what became of it.',
	},
	unclear: {
		outcome: 'unknown',
		message: 'Not sent: its reference was used, perhaps for another person or amount',
		remedy:
			'Ask the partner service whether it was paid. If it was not, pay it under a reference of its own.',
	},
	otherPayment: {
		outcome: 'notPaid',
		message: 'Nothing was sent, because another person or amount had this reference before',
		remedy:
			'The earlier payment stays as it was. Give each payment a reference of its own. If it is the same payment with another amount, ask the partner service what was paid.',
	},
};

/** @param fails whether a reference that was used before is an error */
export function usedBefore(reference: string, found: FoundUsed, fails: boolean): Settlement {
	const { outcome, message, remedy } = usedReferences[found];
	const isByWord = found === 'paidByWord' || found === 'wouldBePaidByWord';
	if (outcome === 'notPaid' || (fails && !isByWord))
		return {
			outcome,
			error: { message: `${message}: ${show(reference)}`, description: remedy },
		};
	return { outcome, message: outcome === 'unknown' ? `${message}. ${remedy}` : message };
}

/** How a payment that was sent ended; if that is unknown, with what to do about its reference. */
export function withWordRemedy(settlement: Settlement): Settlement {
	if (settlement.outcome !== 'unknown' || !('error' in settlement)) return settlement;
	const { error } = settlement;
	return { ...settlement, error: { ...error, description: `${error.description} ${wordRemedy}` } };
}

/** Why nothing is sent when n8n's database fails. */
export function notRecorded(error: unknown): Failure {
	return {
		message: 'The reference could not be recorded in the database of n8n, so nothing was sent',
		description: `Run the workflow again. If it then reports references as unknown that were not used before, this run did not send them. The database said: ${messageOf(error)}`,
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

/** The output item of a row that ended: on the error output when it failed. */
export function outputItem(row: Row & { settlement: Settlement }): INodeExecutionData {
	const { itemIndex, amount, settlement } = row;
	const amountEtb = amount === undefined ? undefined : Number(amount);
	const ours = { outcome: settlement.outcome, ...namesOf(row) };
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
