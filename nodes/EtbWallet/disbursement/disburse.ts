/** Disbursement → Create: reads all payments of a run, checks them, claims and sends them, and tells how each ended. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { loadAccount, type Account } from '../../shared/account';
import { addHint, isRepeated, triesOf } from '../../shared/n8n';
import { entriesOf } from '../../shared/record/entries';
import { invalidValueFailure, type Failure } from '../../shared/service/failure';
import type { ParameterReader } from '../actions/mapping';
import type { Operation } from '../actions/operation';
import { answerOf, notRecorded } from './answers';
import { aboveRunLimit, notCovered, readOptions, readTreasury, usualOptions } from './checks';
import { afterStopMs, hasReference, Ledger, marksOfPaid, type ReferenceState } from './ledger';
import { paymentReader } from './payment';
import { hintAtPeopleTwice, nothingDone, runError } from './report';
import {
	batchOf,
	isPayable,
	isPending,
	isStopped,
	outcomeOfRefused,
	readRows,
	refuseAll,
	remarkOnUnprotected,
	tell,
	unlessInvalid,
} from './rows';
import type { Batch, Ending, Payment, Row, Run } from './run';
import { sendConcurrently } from './sending';
import { tellNothingSettled } from './settled';
import { lookAtAll, Windows } from './windows';

/**
 * Pays all items of a run. In a dry run it tries them, and with Mode on Settle Unknown it records findings; both send
 * nothing. Everything is checked before the first payment.
 * @throws {NodeOperationError} unless the node continues on fail: lists what was paid, is unknown and was not attempted
 */
export const disburse: Operation['execute'] = async (context, read) => {
	const run: Run = { context, options: usualOptions, endedBefore: triesOf(context), protectionOf };
	let account: Account;
	try {
		account = await loadAccount(context);
		run.options = readOptions(context, read);
	} catch (error) {
		return refuseAll(run, error, await knownRows(run, read));
	}
	const rows = readRows(run, paymentReader(context, read, run.options));
	if (isStopped(context)) return tell(run, rows);
	const batch = batchOf(run, account, rows);
	const ledger = new Ledger(context, run.options.timeoutMs);
	const pending = rows.filter(isPending);
	const refusal = await refusalOf(batch, ledger, pending);
	if (refusal === undefined) await work(batch, ledger, pending);
	else {
		if (!context.continueOnFail()) throw runError(run, refusal.error, rows);
		addHint(context, refusal.error.message);
		await tellUsed(run, ledger, pending);
		for (const row of pending) row.ending ??= refusal;
	}
	remarkOnUnprotected(rows);
	return tell(run, rows);
};

async function work(batch: Batch, ledger: Ledger, pending: Payment[]): Promise<void> {
	const { context, options, rows } = batch;
	if (options.mode === 'settle') {
		await new Windows(batch, ledger).settle(pending.filter(hasReference));
		tellNothingSettled(rows);
		return;
	}
	hintAtPeopleTwice(context, rows.filter(isPayable));
	if (options.mode === 'dryRun') return await lookUp(batch, ledger, pending);
	// An item whose finding is still there is not sent. Before the others, so that Stop Workflow sends nothing then.
	await lookUp(batch, ledger, pending.filter(hasOldFinding));
	const wanted = pending.filter((payment) => !hasOldFinding(payment));
	const others = wanted.filter((payment) => !hasReference(payment));
	await sendConcurrently(batch, others, batch.end);
	await new Windows(batch, ledger).pay(wanted.filter(hasReference));
}

const hasOldFinding = ({ oldFinding }: Row): boolean => oldFinding !== undefined;

/** Why nothing may be sent, with what that says about each payment. */
type Refusal = Extract<Ending, { error: Failure }>;

async function refusalOf(
	batch: Batch,
	ledger: Ledger,
	pending: Payment[],
): Promise<Refusal | undefined> {
	const { context, options, rows, endedBefore } = batch;
	if (pending.length === 0) return undefined;
	const isPaying = options.mode === 'pay';
	if (isPaying && isRepeated(context) && !pending.every(hasReference))
		return { outcome: 'unknown', error: unprotectedRepeat };
	let failure = cannotKeepReferences(context, pending);
	if (failure === undefined && options.mode !== 'dryRun' && pending.some(hasReference)) {
		try {
			const marks = await ledger.count();
			if (isRepeated(context) && (marks === 0 || begunForgetful.has(endedBefore))) {
				begunForgetful.add(endedBefore);
				return { outcome: 'unknown', error: forgottenRepeat };
			}
			hintAtRecord(batch, marks);
		} catch (error) {
			if (isRepeated(context)) return { outcome: 'unknown', error: notRecorded(error) };
		}
	}
	if (options.mode !== 'settle')
		failure ??=
			aboveRunLimit(rows.filter(isPayable), options.maxTotal) ??
			(await uncovered(batch, ledger, pending));
	if (failure === undefined) return undefined;
	const remark = endedBefore.size === 0 ? `${nothingDone(options.mode)}. ` : '';
	return {
		outcome: outcomeOfRefused(options.mode),
		error: { ...failure, description: remark + failure.description },
	};
}

/** Without references nobody can tell which of them were paid before. */
const unprotectedRepeat: Failure = {
	message:
		'This execution is a retry of an earlier one, which may have made these payments, so none of them was sent',
	description:
		'Look at the earlier execution for what was paid, and start a new execution with the items that are still to be paid. With a Reference for each payment a retry is safe.',
};

/**
 * Repeated runs that began with an empty record, by the object that all tries of a run share. They stay refused: what
 * another execution records between two tries says nothing about the payments of this one.
 */
const begunForgetful = new WeakSet<object>();

const forgottenRepeat: Failure = {
	message:
		'This execution is a retry of an earlier one, and this node remembers no payments, so none of them was sent',
	description:
		'The node may have been made anew since, and the one before it may have paid these people. Look at the earlier execution for what was paid, and start a new execution with the items that are still to be paid.',
};

function cannotKeepReferences(context: IExecuteFunctions, pending: Payment[]): Failure | undefined {
	if (!pending.some(hasReference)) return undefined;
	try {
		entriesOf(context, 'node');
		return undefined;
	} catch (error) {
		return invalidValueFailure(error);
	}
}

async function uncovered(
	batch: Batch,
	ledger: Ledger,
	pending: Payment[],
): Promise<Failure | undefined> {
	if (!batch.options.checkBalance) return undefined;
	const balance = await readTreasury(batch);
	if (typeof balance !== 'string') return balance;
	const failure = notCovered(balance, pending);
	if (failure === undefined) return undefined;
	// A run that is done again after a crash needs only what is still to be paid.
	try {
		const states = await lookAtAll(batch, ledger, pending);
		return notCovered(
			balance,
			pending.filter((payment) => isUnused(states.get(payment)) && !hasOldFinding(payment)),
		);
	} catch (error) {
		return notRecorded(error);
	}
}

/** Whether a payment would be sent: one without a reference has no state. */
const isUnused = (state: ReferenceState = 'unused'): boolean => state === 'unused';

/** Lets each payment of a refused run end as the record says, if it knows it. */
async function tellUsed(run: Run, ledger: Ledger, pending: Payment[]): Promise<void> {
	try {
		for (const [payment, state] of await lookAtAll(run, ledger, pending))
			if (!isUnused(state)) payment.ending = answerOf(payment, state, run.options);
	} catch {
		// The database failed: the caller tells each as refused.
	}
}

/** All items, as far as they can be read without options. If the node continues on fail, with what the record says. */
async function knownRows(run: Run, read: ParameterReader): Promise<Row[]> {
	const { context, options, endedBefore } = run;
	const readPayment = paymentReader(context, read, options);
	const rows = context.getInputData().map((_, itemIndex): Row => {
		const row: Row = { itemIndex };
		unlessInvalid(() => readPayment(row));
		return row;
	});
	const pending = rows.filter(isPending).filter(({ itemIndex }) => !endedBefore.has(itemIndex));
	if (context.continueOnFail()) await tellUsed(run, new Ledger(context, afterStopMs), pending);
	return rows;
}

/** Says what would become of each payment. Nothing is sent, and nothing is recorded. */
async function lookUp(batch: Batch, ledger: Ledger, payments: Payment[]): Promise<void> {
	const { options } = batch;
	try {
		const states = await lookAtAll(batch, ledger, payments);
		if (options.mode === 'dryRun' && states.size > 0 && [...states.values()].every(isUnused))
			hintAtRecord(batch, await ledger.count());
		for (const payment of payments)
			batch.end(payment, answerOf(payment, states.get(payment) ?? 'unused', options));
	} catch (error) {
		for (const payment of payments)
			batch.end(payment, { outcome: 'notPaid', error: notRecorded(error) });
	}
}

/** Above so many references each payment takes noticeably longer. */
const manyReferences = 100_000;

/** n8n reads and writes the whole record once for each window. Measured by `bench/`, at 100,000 references. */
const windowMsPerReference = 0.003;

/** @param marks how many the record has */
function hintAtRecord({ context, options }: Run, marks: number): void {
	if (marks === 0) {
		addHint(
			context,
			'This node remembers no payments yet. If it is a copy, or was made anew, the other one may have paid these people.',
		);
	}
	const references = Math.floor(marks / marksOfPaid);
	if (references <= manyReferences) return;
	const costMs = Math.ceil((references * windowMsPerReference) / options.concurrency);
	addHint(
		context,
		`This node keeps about ${references} references, so each payment takes about ${costMs} ms longer. Raise Concurrency, pay through the pay gate, or, if your references carry the year, pay with a new workflow each year.`,
	);
}

/** What a person is told of an unknown payment. */
function protectionOf({ reference }: Row): string {
	return reference === undefined
		? 'It has no Reference, so another run would pay it again.'
		: 'It has a Reference, so another run does not pay it again before a person has settled it.';
}
