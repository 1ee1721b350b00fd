/** What a run tells: how many payments ended how and, in its error, each payment under its outcome. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { formatEtb, sum } from '../../shared/decimal';
import { InvalidValueError, asInvalidValue, cut } from '../../shared/invalidValue';
import { addHint, operationError } from '../../shared/n8n';
import { invalidValueError, type Failure } from '../../shared/service/failure';
import { answerOn, hasError, hasMessage, isUnknown, namesOf, paidOtherAmount } from './ending';
import type { Mode, Payment, Row, Run } from './run';
import { settledSummary } from './settled';

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
	/** Each payment under its outcome; those that the run did not get to under `notAttempted`. */
	lists: Record<string, ReportLine[]>;
}

/** The words for each outcome, in this order: in the summary, and above a list. */
const outcomes: Readonly<Record<string, { counted: string; title: string }>> = {
	paid: { counted: 'paid', title: 'Paid' },
	ready: { counted: 'ready', title: 'Ready' },
	alreadyPaid: { counted: 'already paid', title: 'Already paid' },
	notPaid: { counted: 'not paid', title: 'Not paid' },
	unknown: { counted: 'unknown', title: 'Unknown, check with the partner service' },
	notAttempted: { counted: 'not attempted', title: 'Not attempted' },
};

/** Tells of every payment of a run, also of those that were not attempted. */
export function reportOf(rows: Row[], mode: Mode): Report {
	const byOutcome = Map.groupBy(rows, ({ ending }) => ending?.outcome ?? 'notAttempted');
	const lists: Report['lists'] = Object.fromEntries(
		[...byOutcome].map(([outcome, own]) => [outcome, own.map(reportLine)]),
	);
	if (mode === 'settle') return { summary: settledSummary(rows), lists };
	const aim = mode === 'dryRun' ? 'ready' : 'paid';
	const counts = Object.entries(outcomes).flatMap(([outcome, { counted }]) => {
		const count = lists[outcome]?.length ?? 0;
		return count > 0 || outcome === aim ? [`${count} ${counted}`] : [];
	});
	const reached = byOutcome.get(aim) ?? [];
	const total = sum(reached.map(({ amount = '0' }) => amount));
	const others = reached.filter(paidOtherAmount).length;
	const remark =
		others === 0
			? ''
			: `. For ${others} of them the service names another amount: see amountEtb and requestedAmountEtb`;
	const aimed = mode === 'dryRun' ? 'Dry run: ' : '';
	return { summary: `${aimed}${counts.join(', ')}, total ${formatEtb(total)}${remark}`, lists };
}

/** Names people with more than one payment: it may be two invoices, or one payment in two rows. */
export function hintAtPeopleTwice(context: IExecuteFunctions, payments: Payment[]): void {
	const byPerson = Map.groupBy(payments, ({ toUserId }) => toUserId);
	const texts = [...byPerson].flatMap(([toUserId, own]) => {
		if (own.length === 1) return [];
		const total = formatEtb(sum(own.map(({ amount }) => amount)));
		const items = shortened(
			own.map(({ itemIndex }) => String(itemIndex)),
			', ',
		);
		return [`${cut(toUserId)} (${own.length} payments, ${total}: items ${items})`];
	});
	if (texts.length === 0) return;
	addHint(context, `People with more than one payment in this run: ${shortened(texts)}`);
}

/** A text names at most so many entries, and the number of the others. */
const longestList = 20;

function shortened(texts: string[], separator = '; '): string {
	const rest = texts.length - longestList;
	const shown = texts.slice(0, longestList).join(separator);
	return rest > 0 ? `${shown}${separator}and ${rest} more` : shown;
}

/** Where a log line comes from. */
export function placeOf(context: IExecuteFunctions): string {
	const { id, name } = context.getWorkflow();
	return `Workflow ${name ?? ''} (${id ?? 'not saved'}), node ${context.getNode().name}, execution ${context.getExecutionId()}`;
}

function reportLine(row: Row): ReportLine {
	const { itemIndex, toUserId, amount } = row;
	const txHash = answerOn(row)?.txHash;
	return {
		item: itemIndex,
		...namesOf(row),
		...(toUserId !== undefined && { toUserId: cut(toUserId) }),
		...(amount !== undefined && { amountEtb: Number(amount) }),
		...(typeof txHash === 'string' && { txHash: cut(txHash) }),
		...(hasError(row) && { reason: row.ending.error.message }),
	};
}

/** What a run says that was refused before it did anything. */
export const nothingDone = (mode: Mode): 'Nothing was settled' | 'Nobody was paid' =>
	mode === 'settle' ? 'Nothing was settled' : 'Nobody was paid';

/** The error when one thing cannot be used, and nothing was sent. */
export function invalidRunError(
	{ context, options }: Run,
	error: unknown,
	itemIndex?: number,
): Error {
	const { message, remedy, cause } = asInvalidValue(error);
	const nothing = nothingDone(options.mode);
	const remark = message.startsWith(nothing) ? '' : `${nothing}. `;
	const nobody = new InvalidValueError(message, remark + remedy, { cause });
	return invalidValueError(context.getNode(), nobody, itemIndex);
}

/** All items that cannot be used in one text, so that a person can correct them in one go. */
export function listOfInvalid(invalid: ReadonlyMap<number, InvalidValueError>): Failure {
	const inOrder = [...invalid].sort(([one], [other]) => one - other);
	const lines = inOrder.map(
		([itemIndex, { message, remedy }]) => `Item ${itemIndex}: ${message}. ${remedy}`,
	);
	return {
		message: `${invalid.size === 1 ? '1 item' : `${invalid.size} items`} cannot be used`,
		description: shortened(lines, '<br/>'),
	};
}

/**
 * The one error of a run. It tells what was paid all the same; its data has every payment by outcome.
 * @param errorRow the payment that the error is about, if it is about one
 */
export function runError(
	{ context, options, protectionOf }: Run,
	failure: Failure,
	rows: Row[],
	errorRow?: Row,
): Error {
	const { summary, lists } = reportOf(rows, options.mode);
	const isStarted = rows.some(({ ending }) => ending !== undefined);
	// A run that is refused after an earlier try tells what that try sent.
	const tells = isStarted && (rows.length > 1 || errorRow === undefined);
	const outcome = errorRow?.ending?.outcome;
	const isAboutUnknown = errorRow !== undefined && outcome === 'unknown';
	const mayBePaid = ['paid', 'unknown', 'alreadyPaid'].some((ended) => ended in lists);
	const remarks = [
		outcome === 'notPaid' && !mayBePaid ? 'Nobody was paid.' : '',
		failure.description,
		isAboutUnknown && options.mode !== 'settle' ? protectionOf(errorRow) : '',
	];
	const description = [remarks.filter((remark) => remark !== '').join(' ')];
	if (!isAboutUnknown) {
		const before = rows.filter(hasMessage).filter(isUnknown);
		for (const [message, own] of Map.groupBy(before, ({ ending }) => ending.message))
			description.push(`Unknown, item ${own[0]?.itemIndex}: ${message}`);
	}
	if (tells) description.push(...listTexts(lists));
	// All of it in the message, because n8n tells an AI agent nothing else.
	let message = failure.message;
	if (isAboutUnknown) {
		const { toUserId = 'somebody', amount } = errorRow;
		const etb = amount === undefined ? '' : ` ${Number(amount)} ETB`;
		const others = (lists.unknown?.length ?? 1) - 1;
		const more = others === 0 ? '' : `, and the same of ${others} more`;
		message = `It is unknown whether ${cut(toUserId)} was paid${etb}${more}. ${message}`;
	}
	if (tells) message += `. This run: ${summary}`;
	if (errorRow !== undefined) message += ` [item ${errorRow.itemIndex}]`;
	return operationError(
		context.getNode(),
		message,
		description.join('<br/>'),
		errorRow?.itemIndex,
		{
			outcome: outcome ?? 'notAttempted',
			...(failure.httpCode !== undefined && { httpCode: failure.httpCode }),
			// If nothing was sent, the items themselves say as much.
			...(isStarted && lists),
		},
	);
}

/** A text for each list. */
export function listTexts(lists: Report['lists']): string[] {
	return Object.entries(outcomes).flatMap(([outcome, { title }]) => {
		const list = lists[outcome] ?? [];
		return list.length === 0 ? [] : [`${title}: ${shortened(list.map(describeLine))}`];
	});
}

function describeLine(line: ReportLine): string {
	const { item, reference, toUserId, amountEtb, txHash, reason } = line;
	const name = reference === undefined ? '' : ` ${reference}`;
	const person = toUserId ?? 'nobody';
	const amount = amountEtb === undefined ? '' : `, ${amountEtb} ETB`;
	const transaction = txHash === undefined ? '' : `, ${txHash}`;
	const why = reason === undefined ? '' : `: ${reason}`;
	return `item ${item}${name} (${person}${amount}${transaction})${why}`;
}
