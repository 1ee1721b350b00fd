import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { Decimal } from '../../shared/decimal';
import { formatEtb, sum } from '../../shared/decimal';
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
	description: string;
	httpCode?: string;
}

export type FailedSettlement = Extract<Settlement, { error: Failure }>;

export function isFailed(settlement: Settlement): settlement is FailedSettlement {
	return 'error' in settlement;
}

/** What the answer of the disburse endpoint means: only `success: true` is a payment (service document §2). */
export function settle(result: ServiceResult): Settlement {
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
		const reason = result.output.message ?? result.output.error;
		return {
			outcome: 'notPaid',
			error: {
				message: `The service did not make the disbursement${typeof reason === 'string' ? `: ${reason}` : ''}`,
				description: 'Check the user ID, the amount and the treasury balance.',
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

function identity({ reference, toUserId }: Payment): { reference?: string; toUserId: string } {
	return { ...(reference !== undefined && { reference }), toUserId };
}

/** The output item of a payment: on the error output when it failed. */
export function outputItem(payment: Payment, settlement: Settlement): INodeExecutionData {
	const { itemIndex, amountEtb } = payment;
	if (isFailed(settlement)) {
		const { outcome, error } = settlement;
		return errorItem({ ...error, outcome, ...identity(payment), amountEtb }, itemIndex);
	}
	const { outcome } = settlement;
	const fields =
		'answer' in settlement ? settlement.answer : { amountEtb, message: settlement.skipped };
	return {
		json: { ...fields, outcome, ...identity(payment) },
		pairedItem: { item: itemIndex },
	};
}

const outcomeTexts = {
	paid: 'paid',
	alreadyPaid: 'already paid',
	notPaid: 'not paid',
	unknown: 'unknown',
} as const;

/** One payment of a report. */
export interface ReportLine {
	item: number;
	reference?: string;
	toUserId: string;
	amountEtb: number;
	txHash?: string;
	reason?: string;
}

function reportLine(payment: Payment, settlement: Settlement | undefined): ReportLine {
	const txHash =
		settlement !== undefined && 'answer' in settlement ? settlement.answer.txHash : undefined;
	return {
		item: payment.itemIndex,
		...identity(payment),
		amountEtb: payment.amountEtb,
		...(typeof txHash === 'string' && { txHash }),
		...(settlement !== undefined && isFailed(settlement) && { reason: settlement.error.message }),
	};
}

/** All payments of a run by how they ended. */
export interface Report {
	/** Such as "48 paid, 1 not paid, 1 unknown, total 96,000 ETB". */
	summary: string;
	/** Each payment under its outcome. */
	lists: Record<string, ReportLine[]>;
}

/** Reports every payment of a run, also those that were not attempted. */
export function report(payments: Payment[], settlements: Map<number, Settlement>): Report {
	const byOutcome = new Map<string, Payment[]>();
	for (const payment of payments) {
		const outcome = settlements.get(payment.itemIndex)?.outcome ?? 'notAttempted';
		byOutcome.set(outcome, [...(byOutcome.get(outcome) ?? []), payment]);
	}
	const texts = { ...outcomeTexts, notAttempted: 'not attempted' };
	const counts = Object.entries(texts).flatMap(([outcome, text]) => {
		const count = byOutcome.get(outcome)?.length ?? 0;
		return count > 0 || outcome === 'paid' ? [`${count} ${text}`] : [];
	});
	const total = sum((byOutcome.get('paid') ?? []).map(({ amount }) => amount));
	return {
		summary: `${counts.join(', ')}, total ${formatEtb(total)}`,
		lists: Object.fromEntries(
			[...byOutcome].map(([outcome, list]) => [
				outcome,
				list.map((payment) => reportLine(payment, settlements.get(payment.itemIndex))),
			]),
		),
	};
}
