/** Disbursement → Create: reads the payments of a run, checks and sends them, and reports how each ended. */
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { decimalText, formatEtb, isAbove, subtract, sum, type Decimal } from '../../shared/decimal';
import { addHint, isStopped } from '../../shared/n8n';
import { messageOf } from '../../shared/unknownValues';
import { callService } from '../../shared/service/call';
import { balanceRequest } from '../../shared/service/request';
import { isUnusable } from '../codes';
import type { Operation } from '../operation';
import { readOptions, type RunOptions } from './options';
import {
	amountObjection,
	fillInPayment,
	firstUses,
	isFailed,
	isKeyed,
	isPayment,
	referenceObjection,
} from './entry';
import type { Entry, Payment, EntryResult } from './entry';
import { PaymentRecord, type PaymentState } from './paymentRecord';
import {
	assertUsable,
	createRun,
	loadAccountAndOptions,
	readEntries,
	unusableEntries,
	type Run,
} from './run';
import { payAll } from './sending';
import { settle } from './settle';
import { hintAtRepeatedUsers, reportRun, reportHalt } from './report';
import { noRecordResult, resultOfState, settleSteps } from './stateResults';

/**
 * Pays all items of a run. A dry run only checks them, and Mode on Settle Unknown records what a person found
 * out; both send nothing. Fields and limits are checked before the first payment, and the record is checked
 * window by window.
 * @throws {NodeOperationError} unless the node continues on fail. The error lists which payments were made, are
 * unknown, or were not attempted
 */
export const createDisbursement: Operation['execute'] = async (context, read) => {
	const loaded = await loadAccountAndOptions(context, () => readOptions(context, read));
	const { options } = loaded;
	if (options.mode === 'settle') return await settle(context, options);
	const fillIn = (entry: Entry): void => fillInPayment(read, entry);
	const entries = readEntries(context, fillIn, objectionFinder(options));
	const record = new PaymentRecord(context, options.timeoutMs);
	const haltRun = async (halt: EntryResult): Promise<INodeExecutionData[]> => {
		if (context.continueOnFail()) warn(context, await tellRecorded(record, entries, options));
		return reportHalt(context, options, halt, entries);
	};
	if (loaded.halt !== undefined) return await haltRun(loaded.halt);
	const acceptable = entries.filter(isPayment).filter((entry) => !isFailed(entry));
	const unusable = unusableEntries(entries).map((entry) => ({ ...entry }));
	const warning = await tellRecorded(record, unusableEntries(entries), options);
	assertUsable(context, options, unusable, entries, warning);
	warn(context, warning);
	const run = createRun(context, loaded, (entry) => `It may have been paid. ${settleSteps(entry)}`);
	const pending = entries.filter(isPending);
	if (isStopped(context) || pending.length === 0) return reportRun(context, options, entries);
	const halt =
		totalHalt(acceptable, options.maxTotalEtb) ?? (await coverageHalt(run, record, pending));
	if (halt !== undefined) return await haltRun(halt);
	hintAtRepeatedUsers(context, acceptable);
	await hintAtEmptyRecord(context, record);
	if (options.mode === 'pay') await payAll(run, record, pending);
	else await dryRunAll(run, record, pending);
	return reportRun(context, options, entries);
};

const objectionFinder =
	({ maxAmountEtb }: RunOptions) =>
	(entries: readonly Entry[]) => {
		const uses = firstUses(entries);
		return (entry: Entry): EntryResult | undefined =>
			amountObjection(entry, maxAmountEtb) ?? referenceObjection(entry, uses.get(entry.key ?? ''));
	};

/**
 * Whether an earlier run may have sent an entry: it has no result yet, or one of a field. Of an entry with the reference
 * of another one the record knows nothing, because it has one payment for each reference.
 */
const mayHaveBeenSentBefore = ({ result }: Entry): boolean =>
	result === undefined || (isUnusable(result.code) && result.code !== 'sameReference');

const isPending = (entry: Entry): entry is Payment =>
	isPayment(entry) && entry.result === undefined;

/** The halt of a run whose sum is above the Maximum per Run in ETB; undefined if it may start. */
function totalHalt(payments: Payment[], limit?: Decimal): EntryResult | undefined {
	const total = totalOf(payments);
	if (limit === undefined || !isAbove(total, limit)) return undefined;
	return {
		code: 'totalAboveMaximum',
		message: `The payments of this run add up to ${formatEtb(total)}, which is ${formatEtb(subtract(total, limit))} above the Maximum per Run of ${formatEtb(limit)}`,
		remedy: 'Check the amounts, or raise the maximum under Options.',
	};
}

/** The halt of a run if the treasury does not hold what is still to be paid; undefined if it may start. */
async function coverageHalt(
	run: Run,
	record: PaymentRecord,
	pending: Payment[],
): Promise<EntryResult | undefined> {
	if (!run.options.checkBalance) return undefined;
	const { balance, halt } = await loadBalance(run);
	if (halt !== undefined) return halt;
	if (!isAbove(totalOf(pending), balance)) return undefined;
	try {
		// A run that is repeated after a crash needs money only for the payments that were not sent yet.
		const states = await record.askStates(pending, run.options.concurrency);
		const unused = pending.filter((payment) => states.get(payment) === 'unused');
		const total = totalOf(unused);
		if (!isAbove(total, balance)) return undefined;
		return notCovered(
			`The treasury holds ${formatEtb(balance)}, but this run needs ${formatEtb(total)}: ${formatEtb(subtract(total, balance))} are missing`,
			'Top up the treasury, or pay fewer items.',
		);
	} catch (error) {
		return noRecordResult(error);
	}
}

/** The treasury balance in ETB, or the halt of the run if it cannot be read. */
type Balance = { balance: Decimal; halt?: undefined } | { balance?: undefined; halt: EntryResult };

async function loadBalance({ context, account, options }: Run): Promise<Balance> {
	const callOptions = { timeoutMs: options.timeoutMs, stop: context.getExecutionCancelSignal() };
	const called = await callService(context, account, balanceRequest, callOptions);
	if (!called.ok) {
		const { message, remedy, httpCode } = called.failure;
		const unread = `The treasury balance could not be read: ${message}`;
		return { halt: notCovered(unread, remedy, httpCode) };
	}
	const balance = decimalText(called.output.treasuryBalance);
	if (balance !== undefined) return { balance };
	return {
		halt: notCovered(
			'The service answered without a treasury balance',
			'Turn off Check Balance First under Options to pay without this check.',
		),
	};
}

const totalOf = (payments: Payment[]): Decimal => sum(payments.map(({ amount }) => amount));

const notCovered = (message: string, remedy: string, httpCode?: string): EntryResult => ({
	code: 'notCovered',
	message,
	remedy,
	httpCode,
});

/** A dry run: each payment gets the result that the record gives it. Nothing is sent or recorded. */
async function dryRunAll(run: Run, record: PaymentRecord, pending: Payment[]): Promise<void> {
	try {
		for (const [payment, state] of await record.askStates(pending, run.options.concurrency))
			run.setResult(payment, resultOfState(payment, state));
	} catch (error) {
		for (const payment of pending) run.setResult(payment, noRecordResult(error));
	}
}

/**
 * Gives those entries that were sent earlier the results that the record has of them. Without these a register would get
 * `notPaid` for people who were paid.
 * @returns a warning if the database fails
 */
async function tellRecorded(
	record: PaymentRecord,
	entries: Entry[],
	options: RunOptions,
): Promise<string | undefined> {
	const asked = entries.filter(isKeyed).filter(mayHaveBeenSentBefore);
	if (asked.length === 0) return undefined;
	try {
		for (const [entry, state] of await record.askStates(asked, options.concurrency))
			if (isTold(entry, state)) entry.result = resultOfState(entry, state);
	} catch (error) {
		return `The database of n8n did not tell who was paid before, so somebody who is reported as not paid may have been paid: ${messageOf(error)}`;
	}
	return undefined;
}

/**
 * Whether the record says more about an entry than its own result. An entry without a person or an amount cannot be
 * compared with the payment that was made.
 */
const isTold = (entry: Entry, state: PaymentState): boolean =>
	state !== 'unused' && (state !== 'otherPayment' || isPayment(entry));

function warn(context: IExecuteFunctions, warning: string | undefined): void {
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
