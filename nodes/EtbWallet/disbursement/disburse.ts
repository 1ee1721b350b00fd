/** Disbursement → Create: reads all payments of a run, checks them, reserves and sends them, and reports how each ended. */
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { decimalText, formatEtb, isAbove, subtract, sum, type Decimal } from '../../shared/decimal';
import { addHint, isStopped } from '../../shared/n8n';
import { callService } from '../../shared/service/call';
import { balanceRequest } from '../../shared/service/request';
import type { Operation } from '../operation';
import { readOptions, type RunOptions } from './options';
import { isFailed, isPayment, readPayment, type Payment, type Result, type Row } from './payment';
import { marksOfPaid, PaymentRecord } from './paymentRecord';
import { loadSettings, readRows, runOf, reportRefused, throwIfInvalid, type Run } from './run';
import { payAll, statesOfAll } from './sending';
import { settle } from './settle';
import { hintAtPeopleTwice, notRecorded, resultOfState, settleSteps, reportRun } from './report';

/**
 * Pays all items of a run. In a dry run it tries them, and with Mode on Settle Unknown it records what a person found out;
 * both send nothing. Everything is checked before the first payment.
 * @throws {NodeOperationError} unless the node continues on fail: lists what was paid, is unknown and was not attempted
 */
export const disburse: Operation['execute'] = async (context, read) => {
	const settings = await loadSettings(context, () => readOptions(context, read));
	const { options } = settings;
	if (options.mode === 'settle') return await settle(context, options);
	const rows = readRows(context, (row) => readPayment(read, row, options.maxAmount));
	const record = new PaymentRecord(context, options.timeoutMs);
	const refuse = async (refused: Result): Promise<INodeExecutionData[]> => {
		if (context.continueOnFail()) await fillFromRecord(record, rows.filter(isPending), options);
		return reportRefused(context, options, refused, rows);
	};
	if (settings.refused !== undefined) return await refuse(settings.refused);
	throwIfInvalid(context, options, rows);
	const pending = rows.filter(isPending);
	if (isStopped(context) || pending.length === 0) return reportRun(context, options, rows);
	const run = runOf(context, settings, (row) => `It may have been paid. ${settleSteps(row)}`);
	const toBePaid = rows.filter(isPayment).filter((row) => !isFailed(row));
	const refused =
		aboveRunLimit(toBePaid, options.maxTotal) ?? (await uncovered(run, record, pending));
	if (refused !== undefined) return await refuse(refused);
	hintAtPeopleTwice(context, toBePaid);
	await hintAtRecord(context, record);
	if (options.mode === 'pay') await payAll(run, record, pending);
	else await dryRun(run, record, pending);
	return reportRun(context, options, rows);
};

const isPending = (row: Row): row is Payment => isPayment(row) && row.result === undefined;

/** Why the run may not start, if its sum is above the Maximum per Run in ETB. */
function aboveRunLimit(payments: Payment[], limit?: Decimal): Result | undefined {
	const total = totalOf(payments);
	if (limit === undefined || !isAbove(total, limit)) return undefined;
	return {
		code: 'aboveMaximum',
		message: `The payments of this run add up to ${formatEtb(total)}, which is ${formatEtb(subtract(total, limit))} above the Maximum per Run of ${formatEtb(limit)}`,
		remedy: 'Check the amounts, or raise the maximum under Options.',
	};
}

/** Why nothing may be sent, if the treasury does not hold what is still to be paid. */
async function uncovered(
	{ context, account, options }: Run,
	record: PaymentRecord,
	pending: Payment[],
): Promise<Result | undefined> {
	if (!options.checkBalance) return undefined;
	const limits = { timeoutMs: options.timeoutMs, stop: context.getExecutionCancelSignal() };
	const read = await callService(context, account, balanceRequest, limits);
	if (!read.ok) {
		const { message, remedy, httpCode } = read.failure;
		return notCovered(`The treasury balance could not be read: ${message}`, remedy, httpCode);
	}
	const balance = decimalText(read.output.treasuryBalance);
	if (balance === undefined) {
		return notCovered(
			'The service answered without a treasury balance',
			'Turn off Check Balance First under Options to pay without this check.',
		);
	}
	if (!isAbove(totalOf(pending), balance)) return undefined;
	try {
		// A run that is done again after a crash needs only what is still to be paid.
		const states = await statesOfAll(record, pending, options);
		const unused = pending.filter((payment) => states.get(payment) === 'unused');
		const total = totalOf(unused);
		if (!isAbove(total, balance)) return undefined;
		return notCovered(
			`The treasury holds ${formatEtb(balance)}, but this run needs ${formatEtb(total)}: ${formatEtb(subtract(total, balance))} are missing`,
			'Top up the treasury, or pay fewer items.',
		);
	} catch (error) {
		return notRecorded(error);
	}
}

const totalOf = (payments: Payment[]): Decimal => sum(payments.map(({ amount }) => amount));

const notCovered = (message: string, remedy: string, httpCode?: string): Result => ({
	...{ code: 'notCovered', message, remedy },
	...(httpCode !== undefined && { httpCode }),
});

/**
 * Gives payments of a refused run the result that the record has of them. Without it a register would get `notPaid` for people
 * who were paid earlier.
 */
async function fillFromRecord(
	record: PaymentRecord,
	pending: Payment[],
	options: RunOptions,
): Promise<void> {
	try {
		for (const [payment, state] of await statesOfAll(record, pending, options))
			if (state !== 'unused') payment.result = resultOfState(payment, state);
	} catch {
		// The database failed: each is reported as refused.
	}
}

/** Says what would become of each payment. Nothing is sent, and nothing is recorded. */
async function dryRun(run: Run, record: PaymentRecord, payments: Payment[]): Promise<void> {
	try {
		for (const [payment, state] of await statesOfAll(record, payments, run.options))
			run.end(payment, resultOfState(payment, state));
	} catch (error) {
		for (const payment of payments) run.end(payment, notRecorded(error));
	}
}

/** Above so many references each payment takes noticeably longer: n8n reads and writes the whole record for each window. */
const manyReferences = 100_000;

/** Says of a record that is empty, or very long, what that means. */
async function hintAtRecord(context: IExecuteFunctions, record: PaymentRecord): Promise<void> {
	// Should the database fail, the payments tell it.
	const marks = await record.count().catch(() => undefined);
	if (marks === 0) {
		addHint(
			context,
			'This node remembers no payments yet. If it is a copy, or was made anew, the other one may have paid these people.',
		);
	}
	const references = Math.floor((marks ?? 0) / marksOfPaid);
	if (references <= manyReferences) return;
	addHint(
		context,
		`This node keeps about ${references} references, so each payment takes longer. Raise Concurrency, or, if your references carry the year, pay with a new workflow each year.`,
	);
}
