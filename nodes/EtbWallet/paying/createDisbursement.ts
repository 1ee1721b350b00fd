/** Disbursement → Create: reads the payments of a run, checks and sends them, and reports how each ended. */
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { addHint, isStopped } from '../../shared/n8n';
import { messageOf } from '../../shared/unknownValues';
import { isBlockedByItem } from '../codes';
import type { Operation } from '../operation';
import {
	fillInPayment,
	firstOfEachReference,
	needsAttention,
	isKeyed,
	isPayment,
	referenceObjection,
} from './entry';
import type { Entry, EntryResult, Payment } from './entry';
import { amountObjection, coverageHalt, totalHalt } from './limits';
import { readOptions, type RunOptions } from './options';
import { PaymentRecord, type PaymentState } from './paymentRecord';
import { hintAtRepeatedUsers, reportHalt, reportRun } from './report';
import {
	assertUsable,
	createRunTry,
	loadAccountAndOptions,
	readEntries,
	unusableEntries,
	type RecordedResults,
	type RunTry,
} from './run';
import { payAll } from './sending';
import { settle } from './settle';
import { noRecordResult, resultOfState, settleSteps } from './stateResults';

/**
 * Pays all items of a run. A dry run only checks them, and Mode on Settle Unknown records what a person found
 * out; both send nothing. Fields and limits are checked before the first payment, and the record is checked
 * batch by batch.
 * @throws {NodeOperationError} unless the node continues on fail. The error lists which payments were made, are
 * unknown, or were not attempted
 */
export const createDisbursement: Operation['execute'] = async (context, read) => {
	const loaded = await loadAccountAndOptions(context, () => readOptions(context, read));
	const { options } = loaded;
	if (options.mode === 'settle') return await settle(context, options);
	const items = context.getInputData();
	const fillIn = (entry: Entry): void => fillInPayment(read, entry, items[entry.itemIndex]?.json);
	const itemEntries = readEntries(context, fillIn, objectionFinderFor(options));
	const record = new PaymentRecord(context, options.timeoutMs);
	if (loaded.halt !== undefined)
		return await haltRun(context, options, record, loaded.halt, itemEntries);
	const recorded = await askRecorded(record, unusableEntries(itemEntries), options);
	assertUsable(context, options, itemEntries, recorded);
	hintAtFailedQuestion(context, recorded.warning);
	const entries = withRecorded(itemEntries, recorded);
	// An unusable entry counts for no maximum, also if it was paid before.
	const acceptable = itemEntries.filter(isPayment).filter((entry) => !needsAttention(entry));
	const run = createRunTry(
		context,
		loaded,
		(entry) => `It may have been paid. ${settleSteps(entry)}`,
	);
	const pending = entries.filter(isPending);
	if (isStopped(context) || pending.length === 0) return reportRun(context, options, entries);
	const halt =
		totalHalt(acceptable, options.maxTotalEtb) ?? (await coverageHalt(run, record, pending));
	if (halt !== undefined) return await haltRun(context, options, record, halt, entries);
	hintAtRepeatedUsers(context, acceptable);
	await hintAtEmptyRecord(context, record);
	if (options.mode === 'pay') await payAll(run, record, pending);
	else await dryRunAll(run, record, pending);
	return reportRun(context, options, entries);
};

const objectionFinderFor =
	({ maxAmountEtb }: RunOptions) =>
	(entries: readonly Entry[]) => {
		const uses = firstOfEachReference(entries);
		return (entry: Entry): EntryResult | undefined =>
			amountObjection(entry, maxAmountEtb) ??
			referenceObjection(entry, uses.get(entry.referenceKey ?? ''));
	};

/**
 * Whether an earlier run may have sent an entry: it has no result yet, or one of a field. Of an entry with the reference
 * of another one the record knows nothing, because it has one payment for each reference.
 */
const mayHaveBeenSentBefore = ({ result }: Entry): boolean =>
	result === undefined || (isBlockedByItem(result.code) && result.code !== 'sameReference');

const isPending = (entry: Entry): entry is Payment =>
	isPayment(entry) && entry.result === undefined;

/** A dry run: each payment gets the result that the record gives it. Nothing is sent or recorded. */
async function dryRunAll(run: RunTry, record: PaymentRecord, pending: Payment[]): Promise<void> {
	try {
		for (const [payment, state] of await record.askStates(pending, run.options.concurrency))
			run.setResult(payment, resultOfState(payment, state));
	} catch (error) {
		for (const payment of pending) run.setResult(payment, noRecordResult(error));
	}
}

/**
 * Halts a run. If the node continues on fail, each entry that was sent earlier is reported as the record has it.
 * @throws {NodeOperationError} unless the node continues on fail
 */
async function haltRun(
	context: IExecuteFunctions,
	options: RunOptions,
	record: PaymentRecord,
	halt: EntryResult,
	entries: Entry[],
): Promise<INodeExecutionData[]> {
	if (!context.continueOnFail()) return reportHalt(context, options, halt, entries);
	const recorded = await askRecorded(record, entries, options);
	hintAtFailedQuestion(context, recorded.warning);
	return reportHalt(context, options, halt, withRecorded(entries, recorded));
}

/**
 * Asks for the results of those entries that were sent earlier, as the record has them. Without them a register would get
 * `notPaid` for people who were paid.
 */
async function askRecorded(
	record: PaymentRecord,
	entries: Entry[],
	{ concurrency }: RunOptions,
): Promise<RecordedResults> {
	const asked = entries.filter(isKeyed).filter(mayHaveBeenSentBefore);
	if (asked.length === 0) return { results: new Map() };
	try {
		const states = [...(await record.askStates(asked, concurrency))];
		return {
			results: new Map(
				states
					.filter(([entry, state]) => isKnown(entry, state))
					.map(([entry, state]) => [entry, resultOfState(entry, state)]),
			),
		};
	} catch (error) {
		const warning = `The database of n8n did not tell who was paid before, so somebody who is reported as not paid may have been paid: ${messageOf(error)}`;
		return { results: new Map(), warning };
	}
}

/**
 * Whether the record knows how an entry ended. An entry without a person or an amount cannot be compared with the payment
 * that was made.
 */
const isKnown = (entry: Entry, state: PaymentState): boolean =>
	state !== 'unused' && (state !== 'otherPayment' || isPayment(entry));

/** The entries with the results of the record. Others stay the same objects, because `setResult` writes into them. */
const withRecorded = (entries: Entry[], { results }: RecordedResults): Entry[] =>
	entries.map((entry) => {
		const result = results.get(entry);
		return result === undefined ? entry : { ...entry, result };
	});

function hintAtFailedQuestion(context: IExecuteFunctions, warning: string | undefined): void {
	// The database does not answer a run that was stopped either.
	if (warning !== undefined && !isStopped(context)) addHint(context, warning);
}

/** Warns if the record is empty, because then it knows no earlier payments. */
async function hintAtEmptyRecord(context: IExecuteFunctions, record: PaymentRecord): Promise<void> {
	// A failure of the database is reported with the payments.
	if ((await record.count().catch(() => undefined)) !== 0) return;
	addHint(
		context,
		'This node remembered no payments before this run. If it is a copy, or was made anew, the other one may have paid these people.',
	);
}
