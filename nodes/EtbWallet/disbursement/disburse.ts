/** Disbursement → Create: reads all payments of a run, checks them, claims and sends them, and tells how each ended. */
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { addHint } from '../../shared/n8n';
import type { Operation } from '../actions/operation';
import { aboveRunLimit, notCovered, readTreasury } from './checks';
import { afterStopMs, Ledger, marksOfPaid } from './ledger';
import { readOptions } from './options';
import { isFailed, isPayment, readPayment, type Payment, type Result, type Row } from './payment';
import {
	batchOf,
	isStopped,
	readRows,
	refuseInvalid,
	refuseRun,
	runOf,
	settingsOf,
	type Batch,
	type Run,
} from './rows';
import { lookAtAll, payAll } from './sending';
import { settle } from './settle';
import { hintAtPeopleTwice, notRecorded, resultOfState, settleSteps, tell } from './tell';

/**
 * Pays all items of a run. In a dry run it tries them, and with Mode on Settle Unknown it records what a person found out;
 * both send nothing. Everything is checked before the first payment.
 * @throws {NodeOperationError} unless the node continues on fail: lists what was paid, is unknown and was not attempted
 */
export const disburse: Operation['execute'] = async (context, read) => {
	const settings = await settingsOf(context, () => readOptions(context, read));
	const { account, options } = settings;
	if (options.mode === 'settle') return await settle(context, options);
	const run = runOf(context, options);
	const rows = readRows(run, (row) => readPayment(read, row, options.maxAmount));
	if (account === undefined)
		return await refuse(run, new Ledger(context, afterStopMs), settings.refused, rows);
	refuseInvalid(run, rows);
	const pending = rows.filter(isPending);
	if (isStopped(context) || pending.length === 0) return tell(context, options, rows);
	const batch = batchOf(
		run,
		account,
		(row) => `It may have been paid. ${settleSteps(row, options)}`,
	);
	const ledger = new Ledger(context, options.timeoutMs);
	const payable = rows.filter(isPayment).filter((row) => !isFailed(row));
	const refused =
		aboveRunLimit(payable, options.maxTotal) ?? (await uncovered(batch, ledger, pending));
	if (refused !== undefined) return await refuse(run, ledger, refused, rows);
	hintAtPeopleTwice(context, payable);
	await hintAtRecord(context, options.concurrency, ledger);
	if (options.mode === 'pay') await payAll(batch, ledger, pending);
	else await lookUp(batch, ledger, pending);
	return tell(context, options, rows);
};

const isPending = (row: Row): row is Payment => isPayment(row) && row.result === undefined;

/** Why nothing may be sent, if the treasury does not hold what is still to be paid. */
async function uncovered(
	batch: Batch,
	ledger: Ledger,
	pending: Payment[],
): Promise<Result | undefined> {
	if (!batch.options.checkBalance) return undefined;
	const balance = await readTreasury(batch);
	if (typeof balance !== 'string') return balance;
	const failure = notCovered(balance, pending);
	if (failure === undefined) return undefined;
	// A run that is done again after a crash needs only what is still to be paid.
	try {
		const states = await lookAtAll(ledger, pending, batch.options);
		return notCovered(
			balance,
			pending.filter((payment) => states.get(payment) === 'unused'),
		);
	} catch (error) {
		return notRecorded(error);
	}
}

/** Refuses the whole run. If the node continues on fail, each payment ends as the record says, if it knows it. */
async function refuse(
	run: Run,
	ledger: Ledger,
	refused: Result,
	rows: Row[],
): Promise<INodeExecutionData[]> {
	const pending = run.context.continueOnFail() ? rows.filter(isPending) : [];
	try {
		for (const [payment, state] of await lookAtAll(ledger, pending, run.options))
			if (state !== 'unused') payment.result = resultOfState(payment, state, run.options);
	} catch {
		// The database failed: each is told as refused.
	}
	return refuseRun(run, refused, rows);
}

/** Says what would become of each payment. Nothing is sent, and nothing is recorded. */
async function lookUp(batch: Batch, ledger: Ledger, payments: Payment[]): Promise<void> {
	try {
		const states = await lookAtAll(ledger, payments, batch.options);
		for (const payment of payments)
			batch.end(payment, resultOfState(payment, states.get(payment) ?? 'unused', batch.options));
	} catch (error) {
		for (const payment of payments) batch.end(payment, notRecorded(error));
	}
}

/** Above so many references each payment takes noticeably longer. */
const manyReferences = 100_000;

/** n8n reads and writes the whole record once for each window. Measured by `bench/`, at 100,000 references. */
const windowMsPerReference = 0.003;

/** Says of a record that is empty, or very long, what that means. */
async function hintAtRecord(
	context: IExecuteFunctions,
	concurrency: number,
	ledger: Ledger,
): Promise<void> {
	// Should the database fail, the payments tell it.
	const marks = await ledger.count().catch(() => undefined);
	if (marks === undefined) return;
	if (marks === 0) {
		addHint(
			context,
			'This node remembers no payments yet. If it is a copy, or was made anew, the other one may have paid these people.',
		);
	}
	const references = Math.floor(marks / marksOfPaid);
	if (references <= manyReferences) return;
	const costMs = Math.ceil((references * windowMsPerReference) / concurrency);
	addHint(
		context,
		`This node keeps about ${references} references, so each payment takes about ${costMs} ms longer. Raise Concurrency, pay through the pay gate, or, if your references carry the year, pay with a new workflow each year.`,
	);
}
