/** Disbursement → Create: reads the payments of a run, checks and sends them, and reports how each ended. */
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { decimalText, formatEtb, isAbove, subtract, sum, type Decimal } from '../../shared/decimal';
import { addHint, isStopped } from '../../shared/n8n';
import { messageOf } from '../../shared/unknownValues';
import { callService } from '../../shared/service/call';
import { balanceRequest } from '../../shared/service/request';
import { isBlockedByField } from '../codes';
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
import type { Entry, Payment, Result } from './entry';
import { PaymentRecord } from './paymentRecord';
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
import { askAllStates } from './windows';

/**
 * Pays all items of a run. A dry run only checks them, and Mode on Settle Unknown records what a person found
 * out; both send nothing. Fields and limits are checked before the first payment, and the record is checked
 * window by window.
 * @throws {NodeOperationError} unless the node continues on fail. The error lists which payments were made, are
 * unknown, or were not attempted
 */
export const createDisbursement: Operation['execute'] = async (context, read) => {
	const settings = await loadAccountAndOptions(context, () => readOptions(context, read));
	const { options } = settings;
	if (options.mode === 'settle') return await settle(context, options);
	const fillIn = (entry: Entry): void => fillInPayment(read, entry);
	const readItems = readEntries(context, fillIn, objectionFinder(options));
	const record = new PaymentRecord(context, options.timeoutMs);
	const haltRun = async (halt: Result, entries: Entry[]): Promise<INodeExecutionData[]> => {
		if (!context.continueOnFail()) return reportHalt(context, options, halt, entries);
		const { recorded, warning } = await askRecordedResults(context, record, entries, options);
		if (warning !== '') addHint(context, warning);
		return reportHalt(context, options, halt, entries, recorded);
	};
	if (settings.halt !== undefined) return await haltRun(settings.halt, readItems);
	const acceptable = readItems.filter(isPayment).filter((entry) => !isFailed(entry));
	const unusable = unusableEntries(readItems);
	const { recorded, warning } = await askRecordedResults(context, record, unusable, options);
	const entries = readItems.map(
		(entry): Entry => ({
			...entry,
			result: recorded.get(entry) ?? entry.result,
		}),
	);
	assertUsable(context, options, unusable, entries, warning);
	if (warning !== '') addHint(context, warning);
	const run = createRun(
		context,
		settings,
		(entry) => `It may have been paid. ${settleSteps(entry)}`,
	);
	const pending = entries.filter(isPending);
	if (isStopped(context) || pending.length === 0) return reportRun(context, options, entries);
	const halt =
		totalHalt(acceptable, options.maxTotalEtb) ?? (await coverageHalt(run, record, pending));
	if (halt !== undefined) return await haltRun(halt, entries);
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
		return (entry: Entry): Result | undefined =>
			amountObjection(entry, maxAmountEtb) ?? referenceObjection(entry, uses.get(entry.key ?? ''));
	};

/** Whether an entry has no result yet, or one of a field. Then its reference may have been sent by an earlier run. */
const mayHaveBeenSentBefore = ({ result }: Entry): boolean =>
	result === undefined || isBlockedByField(result.code);

const isPending = (entry: Entry): entry is Payment =>
	isPayment(entry) && entry.result === undefined;

/** The halt of a run whose sum is above the Maximum per Run in ETB; undefined if it may start. */
function totalHalt(payments: Payment[], limit?: Decimal): Result | undefined {
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
): Promise<Result | undefined> {
	if (!run.options.checkBalance) return undefined;
	const { balance, halt } = await loadBalance(run);
	if (halt !== undefined) return halt;
	if (!isAbove(totalOf(pending), balance)) return undefined;
	try {
		// A run that is repeated after a crash needs money only for the payments that were not sent yet.
		const states = await askAllStates(record, pending, run.options);
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
type Balance = { balance: Decimal; halt?: undefined } | { balance?: undefined; halt: Result };

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

const notCovered = (message: string, remedy: string, httpCode?: string): Result => ({
	code: 'notCovered',
	message,
	remedy,
	httpCode,
});

/** A dry run: each payment gets the result that the record gives it. Nothing is sent or recorded. */
async function dryRunAll(run: Run, record: PaymentRecord, pending: Payment[]): Promise<void> {
	try {
		for (const [payment, state] of await askAllStates(record, pending, run.options))
			run.setResult(payment, resultOfState(payment, state));
	} catch (error) {
		for (const payment of pending) run.setResult(payment, noRecordResult(error));
	}
}

/**
 * The results of those entries that were sent earlier, as the record has them. Without them a register would get
 * `notPaid` for people who were paid. If the database fails there are none, and a warning.
 */
async function askRecordedResults(
	context: IExecuteFunctions,
	record: PaymentRecord,
	entries: Entry[],
	options: RunOptions,
): Promise<{ recorded: ReadonlyMap<Entry, Result>; warning: string }> {
	const asked = entries.filter(isKeyed).filter(mayHaveBeenSentBefore);
	if (asked.length === 0 || isStopped(context)) return { recorded: new Map(), warning: '' };
	try {
		const states = [...(await askAllStates(record, asked, options))];
		// An entry without a person or an amount cannot be compared with the payment that was made, and two entries with
		// one reference may be two payments.
		const isComparable = (entry: Entry): boolean =>
			isPayment(entry) && entry.result?.code !== 'sameReference';
		const isRecorded = ([entry, state]: (typeof states)[number]): boolean =>
			state !== 'unused' && (state !== 'otherPayment' || isComparable(entry));
		const recorded = new Map(
			states.filter(isRecorded).map(([entry, state]) => [entry, resultOfState(entry, state)]),
		);
		return { recorded, warning: '' };
	} catch (error) {
		const warning = `The database of n8n did not tell who was paid before, so somebody who is reported as not paid may have been paid: ${messageOf(error)}`;
		return { recorded: new Map(), warning };
	}
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
