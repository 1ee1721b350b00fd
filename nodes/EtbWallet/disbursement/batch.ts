import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { asInvalidValue } from '../../shared/validation';
import { RetryMemory } from '../retryMemory';
import type { Run } from '../run';
import { errorItem } from '../run';
import { ledgerOf } from './ledger';
import { aboveRunLimit, notCovered, readBalance } from './limits';
import type { DisbursementOptions } from './options';
import { readOptions } from './options';
import type { Failure, Payment, Settlement } from './outcome';
import { identity, isFailed, outputItem } from './outcome';
import type { InvalidItem } from './payments';
import { readPayments } from './payments';
import { invalidItems, invalidItemsError, invalidRunError, report, stoppedError } from './report';
import type { Batch } from './sending';
import { notRecorded, sendAll, unusedOnes } from './sending';

/** What earlier tries of a node run sent, as they sent it: an expression may give another value this time. */
const memory = new RetryMemory<{ payment: Payment; settlement: Settlement }>();

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
		return refuse(context, error);
	}
	const sentBefore = memory.of(context);
	const settlements = new Map<number, Settlement>();
	for (const [itemIndex, { settlement }] of sentBefore) settlements.set(itemIndex, settlement);
	const { payments, invalid } = readPayments(run, options.maxAmountEtb, sentBefore);
	if (invalid.length > 0 && !continues && settlements.size === 0) {
		throw invalidItemsError(context.getNode(), invalid);
	}

	const signal = context.getExecutionCancelSignal();
	let failed = firstFailed(payments, settlements);
	const batch: Batch = {
		...run,
		options,
		ledger: ledgerOf(context),
		settlements,
		record(payment, settlement) {
			settlements.set(payment.itemIndex, settlement);
			// What was rejected may be sent again by "Retry On Fail"; everything else must not be.
			if (settlement.outcome !== 'notPaid')
				sentBefore.set(payment.itemIndex, { payment, settlement });
			if (isFailed(settlement)) failed ??= payment;
		},
		isStopping: () => signal?.aborted === true || (!continues && failed !== undefined),
	};

	const pending = payments.filter(({ itemIndex }) => !settlements.has(itemIndex));
	const refusal =
		invalid.length > 0 && !continues
			? { ...invalidItems(invalid), outcome: 'notPaid' as const }
			: await refusalOf(batch, payments, pending);
	if (refusal === undefined) {
		await sendAll(batch, pending);
	} else if (continues) {
		const { outcome, ...error } = refusal;
		for (const payment of pending) settlements.set(payment.itemIndex, { outcome, error });
	} else {
		throw stoppedError(context, refusal, report(payments, settlements));
	}

	const finalReport = report(payments, settlements, invalid.length);
	if (signal?.aborted === true) {
		// n8n keeps no output of a stopped node.
		context.logger.warn(`The execution was stopped. Payments: ${finalReport.summary}`, {
			...finalReport.lists,
		});
	}
	// A reference in doubt is passed on as a normal item: nobody must take it for paid.
	if (run.itemCount > 1 || 'unknown' in finalReport.lists)
		context.addExecutionHints({ message: finalReport.summary, location: 'outputPane' });
	// What is unknown is told before what is certain.
	const stoppedAt = continues
		? undefined
		: (firstFailed(payments, settlements, 'unknown') ?? firstFailed(payments, settlements));
	const settlement = stoppedAt && settlements.get(stoppedAt.itemIndex);
	if (stoppedAt !== undefined && settlement !== undefined && isFailed(settlement)) {
		const { itemIndex } = stoppedAt;
		const { outcome, error } = settlement;
		throw stoppedError(context, error, finalReport, { itemIndex, outcome });
	}
	return outputItems(payments, settlements, invalid);
}

/**
 * What cannot be used for the whole run, such as the credential or an option. Earlier tries of "Retry On Fail" may
 * have paid all the same: what they did is told.
 * @throws {NodeOperationError} unless the node continues on fail
 */
export function refuse(context: IExecuteFunctions, error: unknown): INodeExecutionData[] {
	const sentBefore = memory.of(context);
	const { message, remedy: description } = asInvalidValue(error);
	if (context.continueOnFail()) {
		return context.getInputData().map((_, itemIndex) => {
			const { payment, settlement } = sentBefore.get(itemIndex) ?? {};
			return payment !== undefined && settlement !== undefined
				? outputItem(payment, settlement)
				: errorItem({ message, description, outcome: 'notPaid' }, itemIndex);
		});
	}
	if (sentBefore.size === 0) throw invalidRunError(context.getNode(), error);
	const sent = [...sentBefore.values()];
	const settlements = new Map(
		sent.map(({ payment, settlement }) => [payment.itemIndex, settlement]),
	);
	throw stoppedError(
		context,
		{ message, description },
		report(
			sent.map(({ payment }) => payment),
			settlements,
		),
	);
}

function firstFailed(
	payments: Payment[],
	settlements: ReadonlyMap<number, Settlement>,
	outcome?: Settlement['outcome'],
): Payment | undefined {
	return payments.find(({ itemIndex }) => {
		const settlement = settlements.get(itemIndex);
		return (
			settlement !== undefined &&
			isFailed(settlement) &&
			(outcome === undefined || settlement.outcome === outcome)
		);
	});
}

/** Why nothing may be sent, with what that says about each payment. */
interface Refusal extends Failure {
	outcome: 'notPaid' | 'unknown';
}

async function refusalOf(
	batch: Batch,
	payments: Payment[],
	pending: Payment[],
): Promise<Refusal | undefined> {
	const { context, options, settlements } = batch;
	if (pending.length === 0) return undefined;
	if (repeatsUnprotected(context, options, pending))
		return { ...unprotectedRepeat, outcome: 'unknown' };
	const failure = aboveRunLimit(payments, options.maxTotalEtb) ?? (await uncovered(batch, pending));
	if (failure === undefined) return undefined;
	const remark = settlements.size === 0 ? 'Nobody was paid. ' : '';
	return { ...failure, description: remark + failure.description, outcome: 'notPaid' };
}

/**
 * n8n's "Retry execution" starts a new execution with the items of the failed node. Without references nothing
 * tells those that were paid from the others.
 */
function repeatsUnprotected(
	context: IExecuteFunctions,
	{ ifReferenceUsed }: DisbursementOptions,
	pending: Payment[],
): boolean {
	return (
		context.getMode() === 'retry' &&
		(ifReferenceUsed === 'payAgain' || pending.some(({ reference }) => reference === undefined))
	);
}

const unprotectedRepeat: Failure = {
	message:
		'This execution is a retry of an earlier one, which may have made these payments, so none of them was sent',
	description:
		'Look at the earlier execution for what was paid, and start a new execution with the items that are still to be paid. With a Reference for each payment, and without Pay Again, a retry is safe.',
};

async function uncovered(batch: Batch, pending: Payment[]): Promise<Failure | undefined> {
	const { context, account, options } = batch;
	if (!options.checkBalance) return undefined;
	const balance = await readBalance(context, account, context.getExecutionCancelSignal());
	if (typeof balance !== 'string') return balance;
	const failure = notCovered(balance, pending);
	const skipsSome =
		options.ifReferenceUsed !== 'payAgain' &&
		pending.some(({ reference }) => reference !== undefined);
	if (failure === undefined || !skipsSome) return failure;
	// A run that goes on after a crash needs only what is still to be paid.
	try {
		return notCovered(balance, await unusedOnes(batch, pending));
	} catch (error) {
		return notRecorded(error);
	}
}

function outputItems(
	payments: Payment[],
	settlements: ReadonlyMap<number, Settlement>,
	invalid: InvalidItem[],
): INodeExecutionData[] {
	const byIndex = new Map<number, INodeExecutionData>();
	for (const { itemIndex, error, known } of invalid) {
		const { amountEtb } = known;
		const details = {
			message: error.message,
			description: error.remedy,
			outcome: 'notPaid',
			...identity(known),
			...(amountEtb !== undefined && { amountEtb }),
		};
		byIndex.set(itemIndex, errorItem(details, itemIndex));
	}
	for (const payment of payments) {
		const settlement = settlements.get(payment.itemIndex);
		if (settlement !== undefined) byIndex.set(payment.itemIndex, outputItem(payment, settlement));
	}
	return [...byIndex].sort(([left], [right]) => left - right).map(([, item]) => item);
}
