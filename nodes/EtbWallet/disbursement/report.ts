import type { IExecuteFunctions, INode } from 'n8n-workflow';
import { formatEtb, sum } from '../../shared/decimal';
import { invalidValueError, operationError } from '../../shared/serviceError';
import { InvalidValueError, asInvalidValue } from '../../shared/validation';
import type { Failure, Payment, Settlement } from './outcome';
import { identity, isFailed, paidOtherAmount } from './outcome';
import type { InvalidItem } from './payments';

/** One payment of a report. */
export interface ReportLine {
	item: number;
	reference?: string;
	toUserId?: string;
	amountEtb: number;
	txHash?: string;
	reason?: string;
}

/** All payments of a run by how they ended. */
export interface Report {
	/** Such as "48 paid, 1 not paid, 1 unknown, total 96,000 ETB". */
	summary: string;
	/** Each payment under its outcome, those that were not sent under `notAttempted`. */
	lists: Record<string, ReportLine[]>;
}

const outcomeTexts = {
	paid: 'paid',
	alreadyPaid: 'already paid',
	notPaid: 'not paid',
	unknown: 'unknown',
	notAttempted: 'not attempted',
} as const;

/** Reports every payment of a run, also those that were not attempted. */
export function report(
	payments: Payment[],
	settlements: ReadonlyMap<number, Settlement>,
	invalidCount = 0,
): Report {
	const byOutcome = new Map<string, Payment[]>();
	for (const payment of payments) {
		const outcome = settlements.get(payment.itemIndex)?.outcome ?? 'notAttempted';
		const list = byOutcome.get(outcome);
		if (list === undefined) byOutcome.set(outcome, [payment]);
		else list.push(payment);
	}
	const counts = Object.entries(outcomeTexts).flatMap(([outcome, text]) => {
		const count =
			(byOutcome.get(outcome)?.length ?? 0) + (outcome === 'notPaid' ? invalidCount : 0);
		return count > 0 || outcome === 'paid' ? [`${count} ${text}`] : [];
	});
	const paid = byOutcome.get('paid') ?? [];
	const others = paid.filter((payment) =>
		paidOtherAmount(payment, settlements.get(payment.itemIndex)),
	).length;
	const remark =
		others === 0
			? ''
			: `. For ${others} of them the service names another amount: see amountEtb and requestedAmountEtb`;
	return {
		summary: `${counts.join(', ')}, total ${formatEtb(sum(paid.map(({ amount }) => amount)))}${remark}`,
		lists: Object.fromEntries(
			[...byOutcome].map(([outcome, list]) => [
				outcome,
				list.map((payment) => reportLine(payment, settlements.get(payment.itemIndex))),
			]),
		),
	};
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

/** One thing that cannot be used, before anything was sent. */
export function invalidRunError(node: INode, error: unknown, itemIndex?: number): Error {
	const { message, remedy, cause } = asInvalidValue(error);
	const nobody = new InvalidValueError(message, `Nobody was paid. ${remedy}`, { cause });
	return invalidValueError(node, nobody, itemIndex);
}

/** Names every bad row, so that a spreadsheet can be corrected in one go. */
export function invalidItemsError(node: INode, invalid: InvalidItem[]): Error {
	const [first] = invalid;
	if (first !== undefined && invalid.length === 1) {
		return invalidRunError(node, first.error, first.itemIndex);
	}
	const { message, description } = invalidItems(invalid);
	return operationError(node, `Nobody was paid, because ${message}`, description);
}

/** The same as a reason. */
export function invalidItems(invalid: InvalidItem[]): Failure {
	const rows = invalid.map(
		({ itemIndex, error }) => `Item ${itemIndex}: ${error.message}. ${error.remedy}`,
	);
	return {
		message: `${invalid.length === 1 ? '1 item' : `${invalid.length} items`} cannot be used`,
		description: rows.join('<br/>'),
	};
}

/** Payments of one outcome that the text of an error names; the rest is in its data. */
const longestList = 20;

const listTitles: Readonly<Record<string, string>> = {
	paid: 'Paid',
	alreadyPaid: 'Already paid',
	notPaid: 'Not paid',
	unknown: 'Unknown, check with the partner service',
	notAttempted: 'Not attempted',
};

/**
 * The one error of a run that stopped: nothing that was paid is lost from view. Its data has every payment by
 * outcome.
 * @param failed the payment it stopped at, if it was one
 */
export function stoppedError(
	context: IExecuteFunctions,
	failure: Failure,
	{ summary, lists }: Report,
	failed?: { itemIndex: number; outcome: string },
): Error {
	const isBatch = Object.values(lists).flat().length > 1;
	const isStarted = Object.keys(lists).some((outcome) => outcome !== 'notAttempted');
	// Of a run that was refused after an earlier try, only what that sent is known.
	const tells = isStarted && (isBatch || failed === undefined);
	const inDoubt =
		failed?.outcome === 'unknown'
			? lists.unknown?.find(({ item }) => item === failed.itemIndex)
			: undefined;
	const description = [
		[
			...(failed?.outcome === 'notPaid' && !mayBePaid(lists) ? ['Nobody was paid.'] : []),
			failure.description,
			...(inDoubt ? [protection(inDoubt)] : []),
		].join(' '),
		...(tells ? listTexts(lists) : []),
	].join('<br/>');
	const error = operationError(
		context.getNode(),
		// All of it in the message, because n8n tells an AI agent nothing else.
		`${inDoubt ? `It is unknown whether ${inDoubt.toUserId} was paid ${inDoubt.amountEtb} ETB. ` : ''}${failure.message}${tells ? `. This run: ${summary}` : ''}${failed === undefined ? '' : ` [item ${failed.itemIndex}]`}`,
		description,
		failed?.itemIndex,
	);
	error.context.data = {
		outcome: failed?.outcome ?? 'notAttempted',
		...(failure.httpCode !== undefined && { httpCode: failure.httpCode }),
		...lists,
	};
	return error;
}

const mayBePaid = (lists: Report['lists']): boolean =>
	['paid', 'unknown', 'alreadyPaid'].some((outcome) => outcome in lists);

/** Whether another run would pay it again. */
function protection({ reference }: ReportLine): string {
	return reference === undefined
		? 'It has no Reference, so another run would pay it again.'
		: 'It has a Reference, so another run does not pay it again, unless If Reference Was Used is set to Pay Again.';
}

function listTexts(lists: Report['lists']): string[] {
	return Object.entries(listTitles).flatMap(([outcome, title]) => {
		const list = lists[outcome] ?? [];
		if (list.length === 0) return [];
		const rest = list.length - longestList;
		const shown = list.slice(0, longestList).map(describeLine).join('; ');
		return [`${title}: ${shown}${rest > 0 ? `; and ${rest} more, see the error details` : ''}`];
	});
}

function describeLine({ item, reference, toUserId, amountEtb, txHash }: ReportLine): string {
	const name = reference === undefined ? '' : ` ${reference}`;
	const transaction = txHash === undefined ? '' : `, ${txHash}`;
	return `item ${item}${name} (${toUserId}, ${amountEtb} ETB${transaction})`;
}
