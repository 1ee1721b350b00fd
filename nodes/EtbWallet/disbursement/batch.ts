import { NodeOperationError } from 'n8n-workflow';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { invalidValueError } from '../../shared/serviceError';
import { callService } from '../../shared/transport';
import type { RetryMemory } from '../retryMemory';
import { retryMemory } from '../retryMemory';
import type { Run } from '../run';
import { errorItem, failEachItem } from '../run';
import type { Claim, Ledger, ReferenceState } from './ledger';
import { ledgerOf } from './ledger';
import { aboveRunLimit, notCovered } from './limits';
import type { DisbursementOptions } from './options';
import { readOptions } from './options';
import type { Failure, Payment, Report, ReportLine, Settlement } from './outcome';
import { isFailed, outputItem, report, settle } from './outcome';
import type { InvalidItem } from './payments';
import { readPayments } from './payments';

/**
 * Pays all items of a run. Everything is checked before the first payment; nothing is sent twice; each item
 * ends as paid, notPaid or unknown.
 * @returns output items in input order
 * @throws {NodeOperationError} unless the node continues on fail: lists what was paid, is unknown and was not attempted
 */
export async function disburse(run: Run): Promise<INodeExecutionData[]> {
	const { context } = run;
	const continues = context.continueOnFail();
	let options: DisbursementOptions;
	try {
		options = readOptions(context);
	} catch (error) {
		return failEachItem(context, error, { outcome: 'notPaid' });
	}
	const { payments, invalid } = readPayments(run, options.maxAmountEtb);
	if (invalid.length > 0 && !continues) throw invalidItemsError(context, invalid);

	const memory = retryMemory<Settlement>(context, isSettlement);
	const settlements = recalled(payments, memory);
	const batch: Batch = {
		...run,
		options,
		memory,
		settlements,
		ledger: ledgerOf(context),
		// n8n would abort payments in flight, and how they end would never be known.
		context: withoutAbort(context),
		signal: context.getExecutionCancelSignal(),
		stopsOnFailure: !continues,
	};
	const pending = payments.filter(({ itemIndex }) => !settlements.has(itemIndex));
	const refusal = await refusalOf(batch, payments, pending);
	if (refusal !== undefined) {
		if (!continues) throw new NodeOperationError(context.getNode(), refusal.message, refusal);
		for (const { itemIndex } of pending) {
			settlements.set(itemIndex, { outcome: 'notPaid', error: refusal });
		}
	} else {
		await sendAll(batch, pending);
	}

	const finalReport = report(payments, settlements);
	if (run.itemCount > 1)
		context.addExecutionHints({ message: finalReport.summary, location: 'outputPane' });
	const failed = payments.find((payment) => {
		const settlement = settlements.get(payment.itemIndex);
		return settlement !== undefined && isFailed(settlement);
	});
	if (failed !== undefined && !continues)
		throw stoppedError(context, failed, settlements, finalReport);
	if (failed === undefined) memory?.forget();
	return outputItems(payments, settlements, invalid);
}

interface Batch extends Run {
	options: DisbursementOptions;
	memory: RetryMemory<Settlement> | undefined;
	/** How each item ended, by item index. */
	settlements: Map<number, Settlement>;
	ledger: Ledger;
	signal: AbortSignal | undefined;
	stopsOnFailure: boolean;
}

function isSettlement(value: unknown): value is Settlement {
	return typeof value === 'object' && value !== null && 'outcome' in value;
}

function recalled(
	payments: Payment[],
	memory: RetryMemory<Settlement> | undefined,
): Map<number, Settlement> {
	const settlements = new Map<number, Settlement>();
	for (const { itemIndex } of payments) {
		const settlement = memory?.recall(itemIndex);
		if (settlement !== undefined) settlements.set(itemIndex, settlement);
	}
	return settlements;
}

function withoutAbort(context: IExecuteFunctions): IExecuteFunctions {
	return Object.create(context, {
		getExecutionCancelSignal: { value: () => undefined },
	}) as IExecuteFunctions;
}

async function refusalOf(
	{ context, account, options, signal }: Batch,
	payments: Payment[],
	pending: Payment[],
): Promise<Failure | undefined> {
	const { maxTotalEtb, checkBalance } = options;
	const limited = maxTotalEtb === undefined ? undefined : aboveRunLimit(payments, maxTotalEtb);
	if (limited !== undefined || !checkBalance || pending.length === 0) return limited;
	return await notCovered(context, account, pending, signal);
}

function isStopping({ signal, stopsOnFailure, settlements }: Batch): boolean {
	return signal?.aborted === true || (stopsOnFailure && [...settlements.values()].some(isFailed));
}

/** Sends payments with bounded concurrency; those with references in windows, claimed just ahead of sending. */
async function sendAll(batch: Batch, payments: Payment[]): Promise<void> {
	const { concurrency } = batch.options;
	const usesReferences = payments.some(({ reference }) => reference !== undefined);
	const size = usesReferences ? concurrency : payments.length;
	for (let start = 0; start < payments.length && !isStopping(batch); start += size) {
		const window = payments.slice(start, start + size);
		await (usesReferences ? sendWindow(batch, window) : sendConcurrently(batch, window));
	}
}

async function sendConcurrently(batch: Batch, payments: Payment[]): Promise<void> {
	let next = 0;
	let stopping = isStopping(batch);
	const sendNext = async (): Promise<void> => {
		for (let payment = payments[next++]; payment && !stopping; payment = payments[next++]) {
			const settlement = settle(
				await callService(
					batch.context,
					batch.account,
					{
						method: 'POST',
						path: '/disburse',
						body: { toUserId: payment.toUserId, amountEtb: payment.amountEtb },
					},
					{ timeout: batch.options.timeout, signal: batch.signal },
				),
			);
			record(batch, payment, settlement);
			stopping ||= batch.signal?.aborted === true || (batch.stopsOnFailure && isFailed(settlement));
		}
	};
	await Promise.all(
		Array.from({ length: Math.min(batch.options.concurrency, payments.length) }, sendNext),
	);
}

function record(
	{ settlements, memory }: Batch,
	{ itemIndex }: Payment,
	settlement: Settlement,
): void {
	settlements.set(itemIndex, settlement);
	// What was rejected may be sent again by "Retry On Fail"; everything else must not be.
	if (settlement.outcome !== 'notPaid') memory?.remember(itemIndex, settlement);
}

async function sendWindow(batch: Batch, window: Payment[]): Promise<void> {
	const { ledger, options, context, settlements } = batch;
	const payAgain = options.ifReferenceUsed === 'payAgain';
	let claims: Map<string, Claim>;
	try {
		const references = window.flatMap(({ reference }) =>
			reference === undefined ? [] : [reference],
		);
		claims = new Map(
			(await ledger.claim(references, payAgain)).map((claim) => [claim.reference, claim]),
		);
	} catch (error) {
		const failure = notRecorded(error);
		for (const payment of window) record(batch, payment, { outcome: 'notPaid', error: failure });
		return;
	}
	const claimOf = ({ reference }: Payment): Claim | undefined =>
		reference === undefined ? undefined : claims.get(reference);
	const toSend: Payment[] = [];
	for (const payment of window) {
		const before = claimOf(payment)?.before ?? 'unused';
		if (before === 'unused' || payAgain) toSend.push(payment);
		else record(batch, payment, usedBefore(before, options.ifReferenceUsed === 'fail'));
	}
	await sendConcurrently(batch, toSend);

	const ended: { paid: Claim[]; notPaid: Claim[] } = { paid: [], notPaid: [] };
	for (const payment of toSend) {
		const claim = claimOf(payment);
		const outcome = settlements.get(payment.itemIndex)?.outcome ?? 'notPaid';
		if (claim !== undefined && (outcome === 'paid' || outcome === 'notPaid'))
			ended[outcome].push(claim);
	}
	try {
		await ledger.settle(ended);
	} catch (error) {
		// The references stay in doubt, which errs to the safe side; the outcomes of this run are known all the same.
		context.logger.warn('The outcome of payments could not be recorded by reference', {
			references: [...claims.keys()],
			reason: error instanceof Error ? error.message : String(error),
		});
	}
}

function notRecorded(error: unknown): Failure {
	return {
		message: 'The reference could not be recorded in the database of n8n, so nothing was sent',
		description: `Run the workflow again. The database said: ${error instanceof Error ? error.message : String(error)}`,
	};
}

function usedBefore(before: Exclude<ReferenceState, 'unused'>, fails: boolean): Settlement {
	const outcome = before === 'paid' ? 'alreadyPaid' : 'unknown';
	const message =
		before === 'paid'
			? 'This reference was paid before. It was not sent again.'
			: 'This reference was sent before, and how that ended is not known. It was not sent again.';
	if (!fails) return { outcome, skipped: message };
	return {
		outcome,
		error: {
			message: message.replace(/\. It was.*$/, ', so it was not sent again'),
			description:
				before === 'paid'
					? 'Use a new reference for a new payment.'
					: 'Check with the partner service whether it was paid. If not, choose Pay Again under Options for this item.',
		},
	};
}

/** Names every bad row, so that a spreadsheet can be corrected in one go. */
function invalidItemsError(context: IExecuteFunctions, invalid: InvalidItem[]): Error {
	const [first] = invalid;
	if (first !== undefined && invalid.length === 1) {
		return invalidValueError(context.getNode(), first.error, first.itemIndex);
	}
	const rows = invalid.map(
		({ itemIndex, error }) => `Item ${itemIndex}: ${error.message}. ${error.remedy}`,
	);
	return new NodeOperationError(
		context.getNode(),
		`Nobody was paid, because ${invalid.length} items cannot be used`,
		{ description: rows.join('<br/>') },
	);
}

const longestList = 20;

/** The one error of a run that stopped: nothing that was paid is lost from view. */
function stoppedError(
	context: IExecuteFunctions,
	failed: Payment,
	settlements: Map<number, Settlement>,
	{ summary, lists }: Report,
): Error {
	const settlement = settlements.get(failed.itemIndex);
	const failure: Failure =
		settlement !== undefined && isFailed(settlement)
			? settlement.error
			: { message: 'The payment failed', description: '' };
	const text = Object.entries(lists)
		.filter(([outcome]) => outcome !== 'notPaid')
		.map(([outcome, list]) => {
			const shown = list.slice(0, longestList).map(describeLine);
			const rest = list.length - shown.length;
			return `${listTitles[outcome] ?? outcome}: ${shown.join('; ')}${rest > 0 ? `; and ${rest} more, listed under Error data` : ''}`;
		});
	const isBatch = Object.values(lists).flat().length > 1;
	const error = new NodeOperationError(
		context.getNode(),
		`${failure.message}${isBatch ? `. This run: ${summary}` : ''} [item ${failed.itemIndex}]`,
		{
			description: [failure.description, ...(isBatch ? text : [])].join('<br/>'),
			itemIndex: failed.itemIndex,
		},
	);
	error.context.data = {
		outcome: settlement?.outcome ?? 'notAttempted',
		...(failure.httpCode !== undefined && { httpCode: failure.httpCode }),
		...lists,
	};
	return error;
}

const listTitles: Readonly<Record<string, string>> = {
	paid: 'Paid',
	alreadyPaid: 'Already paid',
	unknown: 'Unknown, check with the partner service',
	notAttempted: 'Not attempted',
};

function describeLine({ item, reference, toUserId, amountEtb, txHash }: ReportLine): string {
	const name = reference === undefined ? '' : ` ${reference}`;
	const transaction = txHash === undefined ? '' : `, ${txHash}`;
	return `item ${item}${name} (${toUserId}, ${amountEtb} ETB${transaction})`;
}

function outputItems(
	payments: Payment[],
	settlements: Map<number, Settlement>,
	invalid: InvalidItem[],
): INodeExecutionData[] {
	const byIndex = new Map<number, INodeExecutionData>();
	for (const { itemIndex, error } of invalid) {
		byIndex.set(
			itemIndex,
			errorItem(
				{ message: error.message, description: error.remedy, outcome: 'notPaid' },
				itemIndex,
			),
		);
	}
	for (const payment of payments) {
		const settlement = settlements.get(payment.itemIndex);
		if (settlement !== undefined) byIndex.set(payment.itemIndex, outputItem(payment, settlement));
	}
	return [...byIndex].sort(([left], [right]) => left - right).map(([, item]) => item);
}
