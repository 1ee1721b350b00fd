/** What a run tells: how many ended how, and, when it stopped, each payment under its outcome. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { formatEtb, sum } from '../../shared/decimal';
import { InvalidValueError, asInvalidValue } from '../../shared/invalidValue';
import { operationError } from '../../shared/n8n';
import type { Failure } from '../../shared/service/failure';
import { invalidValueError } from '../../shared/service/failure';
import { hasGate } from './gateClaims';
import type { Row } from './settlement';
import { namesOf, paidOtherAmount } from './settlement';

interface ReportLine {
	item: number;
	reference?: string;
	toUserId?: string;
	amountEtb?: number;
	txHash?: string;
	reason?: string;
}

interface Report {
	/** Such as "48 paid, 1 not paid, 1 unknown, total 96,000 ETB". */
	summary: string;
	/** Each payment under its outcome, those that were not sent under `notAttempted`. */
	lists: Record<string, ReportLine[]>;
}

/** What is told of each outcome, in this order: in the summary, and above a list. */
const outcomes: Readonly<Record<string, { counted: string; title: string }>> = {
	paid: { counted: 'paid', title: 'Paid' },
	ready: { counted: 'ready', title: 'Ready' },
	alreadyPaid: { counted: 'already paid', title: 'Already paid' },
	notPaid: { counted: 'not paid', title: 'Not paid' },
	unknown: { counted: 'unknown', title: 'Unknown, check with the partner service' },
	notAttempted: { counted: 'not attempted', title: 'Not attempted' },
};

/** Reports every payment of a run, also those that were not attempted. */
export function report(rows: Row[], isDryRun = false): Report {
	const outcomeOf = ({ settlement }: Row): string => settlement?.outcome ?? 'notAttempted';
	const rowsWith = (outcome: string): Row[] => rows.filter((row) => outcomeOf(row) === outcome);
	const aim = isDryRun ? 'ready' : 'paid';
	const counts = Object.entries(outcomes).flatMap(([outcome, { counted }]) => {
		const count = rowsWith(outcome).length;
		return count > 0 || outcome === aim ? [`${count} ${counted}`] : [];
	});
	const reached = rowsWith(aim);
	const total = sum(reached.map(({ amount = '0' }) => amount));
	const others = reached.filter(paidOtherAmount).length;
	const remark =
		others === 0
			? ''
			: `. For ${others} of them the service names another amount: see amountEtb and requestedAmountEtb`;
	return {
		summary: `${isDryRun ? 'Dry run: ' : ''}${counts.join(', ')}, total ${formatEtb(total)}${remark}`,
		lists: Object.fromEntries(
			[...new Set(rows.map(outcomeOf))].map((outcome) => [
				outcome,
				rowsWith(outcome).map(reportLine),
			]),
		),
	};
}

function reportLine(row: Row): ReportLine {
	const { itemIndex, amount, settlement } = row;
	const txHash =
		settlement !== undefined && 'answer' in settlement ? settlement.answer.txHash : undefined;
	return {
		item: itemIndex,
		...namesOf(row),
		...(amount !== undefined && { amountEtb: Number(amount) }),
		...(typeof txHash === 'string' && { txHash }),
		...(settlement !== undefined && 'error' in settlement && { reason: settlement.error.message }),
	};
}

/** One thing that cannot be used, before anything was sent. */
export function invalidRunError(
	context: IExecuteFunctions,
	error: unknown,
	itemIndex?: number,
): Error {
	const { message, remedy, cause } = asInvalidValue(error);
	const nobody = new InvalidValueError(message, `Nobody was paid. ${remedy}`, { cause });
	return invalidValueError(context.getNode(), nobody, itemIndex);
}

export interface InvalidRow {
	itemIndex: number;
	error: InvalidValueError;
}

/** Every bad row in one text, so that a spreadsheet can be corrected in one go. */
export function listOfInvalid(invalid: InvalidRow[]): Failure {
	const lines = invalid.map(
		({ itemIndex, error }) => `Item ${itemIndex}: ${error.message}. ${error.remedy}`,
	);
	return {
		message: `${invalid.length === 1 ? '1 item' : `${invalid.length} items`} cannot be used`,
		description: lines.join('<br/>'),
	};
}

/** Payments of one outcome that the text of an error names; the rest is in its data. */
const longestList = 20;

/**
 * The one error of a run that stopped: nothing that was paid is lost from view. Its data has every payment by
 * outcome.
 * @param stoppedAt the payment it stopped at, if it was one
 */
export function stoppedError(
	context: IExecuteFunctions,
	failure: Failure,
	{ summary, lists }: Report,
	stoppedAt?: Row,
): Error {
	const isBatch = Object.values(lists).flat().length > 1;
	const isStarted = Object.keys(lists).some((outcome) => outcome !== 'notAttempted');
	// A run that is refused after an earlier try has no payment it stopped at, and tells what that try sent.
	const tells = isStarted && (isBatch || stoppedAt === undefined);
	const outcome = stoppedAt?.settlement?.outcome;
	const isInDoubt = stoppedAt !== undefined && outcome === 'unknown';
	const mayBePaid = ['paid', 'unknown', 'alreadyPaid'].some((ended) => ended in lists);
	const remarks = [
		outcome === 'notPaid' && !mayBePaid ? 'Nobody was paid.' : '',
		failure.description,
		isInDoubt ? protectionOf(stoppedAt, hasGate(context)) : '',
	];
	const description = [remarks.filter((remark) => remark !== '').join(' ')];
	if (tells) description.push(...listTexts(lists));
	// All of it in the message, because n8n tells an AI agent nothing else.
	let message = failure.message;
	if (isInDoubt)
		message = `It is unknown whether ${stoppedAt.toUserId} was paid ${Number(stoppedAt.amount)} ETB. ${message}`;
	if (tells) message += `. This run: ${summary}`;
	if (stoppedAt !== undefined) message += ` [item ${stoppedAt.itemIndex}]`;
	return operationError(
		context.getNode(),
		message,
		description.join('<br/>'),
		stoppedAt?.itemIndex,
		{
			outcome: outcome ?? 'notAttempted',
			...(failure.httpCode !== undefined && { httpCode: failure.httpCode }),
			...lists,
		},
	);
}

/** Whether another run would pay it again. */
function protectionOf({ reference }: Row, isWithGate: boolean): string {
	if (isWithGate) return 'The pay gate does not hand it out again before a person has settled it.';
	return reference === undefined
		? 'It has no Reference, so another run would pay it again.'
		: 'It has a Reference, so another run does not pay it again, unless If Outcome Is Unknown is set to It Was Not Paid.';
}

function listTexts(lists: Report['lists']): string[] {
	return Object.entries(outcomes).flatMap(([outcome, { title }]) => {
		const list = lists[outcome] ?? [];
		if (list.length === 0) return [];
		const rest = list.length - longestList;
		const shown = list.slice(0, longestList).map(describeLine).join('; ');
		return [`${title}: ${shown}${rest > 0 ? `; and ${rest} more, see the error details` : ''}`];
	});
}

function describeLine({ item, reference, toUserId, amountEtb, txHash }: ReportLine): string {
	const name = reference === undefined ? '' : ` ${reference}`;
	const person = toUserId ?? 'nobody';
	const amount = amountEtb === undefined ? '' : `, ${amountEtb} ETB`;
	const transaction = txHash === undefined ? '' : `, ${txHash}`;
	return `item ${item}${name} (${person}${amount}${transaction})`;
}
