/** Disbursement → Create: reads all payments of a run, checks them, claims and sends them, and tells how each ended. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { loadAccount, type Account } from '../../shared/account';
import { addHint, triesOf } from '../../shared/n8n';
import { invalidValueFailure, type Failure } from '../../shared/service/failure';
import type { ParameterReader } from '../actions/mapping';
import type { Operation } from '../actions/operation';
import { answerOf, notRecorded } from './answers';
import type { RunOptions } from './checks';
import { aboveRunLimit, notCovered, readBalance, readOptions, usualOptions } from './checks';
import { afterStopMs, ledgerOf, marksOfPaid, type Ledger, type ReferenceState } from './ledger';
import { paymentReader, type PartialPayment, type Payment } from './payment';
import { hintAtPeopleTwice, runError, tellNothingSettled } from './report';
import type { PayableRow, Start } from './rows';
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
import { sendConcurrently } from './sending';
import type { Row, Ending } from './ending';
import { hasReference, lookAtAll, Windows, type ReferencedBatch } from './windows';

/**
 * Pays all items of a run. In a dry run it tries them, and with Mode on Settle Unknown it records findings; both send
 * nothing. Everything is checked before the first payment.
 * @throws {NodeOperationError} unless the node continues on fail: lists what was paid, is unknown and was not attempted
 */
export const disburse: Operation['execute'] = async (context, read) => {
	const start: Start = { context, mode: 'pay', sentBefore: triesOf(context), protectionOf };
	let account: Account;
	let options: RunOptions;
	try {
		account = await loadAccount(context);
		options = readOptions(context, read);
		start.mode = options.mode;
	} catch (error) {
		return refuseAll(start, error, await knownRows(start, read));
	}
	const rows = readRows(start, paymentReader({ context, read }, options));
	if (isStopped(context)) return tell(start, rows);
	let ledger: Ledger | undefined;
	const batch: ReferencedBatch = {
		...batchOf(start, account, options, rows),
		options,
		ledger: () => (ledger ??= ledgerOf(context, options.timeoutMs)),
	};
	const pending = rows.filter(isPending);
	const refusal = await refusalOf(batch, start, rows, pending);
	if (refusal === undefined) await work(batch, rows, pending);
	else {
		if (!context.continueOnFail()) throw runError(start, refusal.error, rows);
		addHint(context, refusal.error.message);
		await tellUsed(batch, pending);
		for (const row of pending) row.ending ??= refusal;
	}
	remarkOnUnprotected(rows);
	return tell(start, rows);
};

async function work(batch: ReferencedBatch, rows: Row[], pending: PayableRow[]): Promise<void> {
	const { context, options } = batch;
	const referenced = pending.filter(hasReference);
	if (options.mode === 'settle') {
		await new Windows(batch).settle(referenced);
		tellNothingSettled(rows);
		return;
	}
	hintAtPeopleTwice(context, rows.filter(isPayable));
	if (options.mode === 'dryRun') return await tryOut(batch, pending);
	await sendConcurrently(
		batch,
		pending.filter((payment) => !hasReference(payment)),
		batch.end,
	);
	if (referenced.length > 0) await new Windows(batch).pay(referenced);
}

/** Why nothing may be sent, with what that says about each payment. */
type Refusal = Extract<Ending, { error: Failure }>;

async function refusalOf(
	batch: ReferencedBatch,
	{ sentBefore }: Start,
	rows: Row[],
	pending: PayableRow[],
): Promise<Refusal | undefined> {
	const { context, options } = batch;
	if (pending.length === 0) return undefined;
	const isPaying = options.mode === 'pay';
	if (isPaying && isRepeated(context) && !pending.every(hasReference))
		return { outcome: 'unknown', error: unprotectedRepeat };
	let failure = cannotKeepReferences(batch, pending);
	if (failure === undefined && isPaying && pending.some(hasReference)) {
		try {
			const marks = await batch.ledger().count();
			if (isRepeated(context) && (marks === 0 || begunForgetful.has(sentBefore))) {
				begunForgetful.add(sentBefore);
				return { outcome: 'unknown', error: forgottenRepeat };
			}
			hintAtRecord(batch, marks);
		} catch (error) {
			if (isRepeated(context)) return { outcome: 'unknown', error: notRecorded(error) };
		}
	}
	if (options.mode !== 'settle')
		failure ??=
			aboveRunLimit(rows.filter(isPayable), options.maxTotal) ?? (await uncovered(batch, pending));
	if (failure === undefined) return undefined;
	const remark = sentBefore.size === 0 ? 'Nobody was paid. ' : '';
	return {
		outcome: outcomeOfRefused(options.mode),
		error: { ...failure, description: remark + failure.description },
	};
}

/** n8n's "Retry execution" starts a new execution with the items of the failed node. */
const isRepeated = (context: IExecuteFunctions): boolean => context.getMode() === 'retry';

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

function cannotKeepReferences(
	{ ledger }: ReferencedBatch,
	pending: Payment[],
): Failure | undefined {
	if (!pending.some(hasReference)) return undefined;
	try {
		ledger();
		return undefined;
	} catch (error) {
		return invalidValueFailure(error);
	}
}

async function uncovered(batch: ReferencedBatch, pending: Payment[]): Promise<Failure | undefined> {
	if (!batch.options.checkBalance) return undefined;
	const balance = await readBalance(batch, batch.options.timeoutMs);
	if (typeof balance !== 'string') return balance;
	const failure = notCovered(balance, pending);
	if (failure === undefined || !pending.some(hasReference)) return failure;
	// A run that is done again after a crash needs only what is still to be paid.
	try {
		const states = await lookAtAll(batch, pending);
		return notCovered(
			balance,
			pending.filter((payment) => isUnused(states.get(payment))),
		);
	} catch (error) {
		return notRecorded(error);
	}
}

/** Whether a payment would be sent: one without a reference has no state. */
const isUnused = (state: ReferenceState = 'unused'): boolean => state === 'unused';

/** Lets each payment of a refused run end as the record says, if it knows it. */
async function tellUsed(
	batch: Pick<ReferencedBatch, 'ledger' | 'options'>,
	pending: PayableRow[],
): Promise<void> {
	try {
		const states = await lookAtAll(batch, pending);
		for (const row of pending) {
			const state = states.get(row);
			if (row.reference !== undefined && state !== undefined && !isUnused(state))
				row.ending = answerOf(row.reference, state, batch.options);
		}
	} catch {
		// The database failed: the caller tells each as refused.
	}
}

/** All items, as far as they can be read without options. If the node continues on fail, with what the record says. */
async function knownRows({ context, sentBefore }: Start, read: ParameterReader): Promise<Row[]> {
	const readPayment = paymentReader({ context, read }, usualOptions);
	const rows = context.getInputData().map((_, itemIndex): Row => {
		const partial: PartialPayment = { itemIndex };
		unlessInvalid(() => readPayment(itemIndex, partial));
		return partial;
	});
	const pending = rows.filter(isPending).filter(({ itemIndex }) => !sentBefore.has(itemIndex));
	const ledger = (): Ledger => ledgerOf(context, afterStopMs);
	if (context.continueOnFail()) await tellUsed({ ledger, options: usualOptions }, pending);
	return rows;
}

/** A dry run: says what would become of each payment. Nothing is sent, and nothing is recorded. */
async function tryOut(batch: ReferencedBatch, pending: PayableRow[]): Promise<void> {
	let states = new Map<Payment, ReferenceState>();
	try {
		if (pending.some(hasReference)) {
			states = await lookAtAll(batch, pending);
			if ([...states.values()].every(isUnused)) hintAtRecord(batch, await batch.ledger().count());
		}
	} catch (error) {
		for (const row of pending) row.ending = { outcome: 'notPaid', error: notRecorded(error) };
		return;
	}
	for (const row of pending)
		row.ending = answerOf(row.reference ?? '', states.get(row) ?? 'unused', batch.options);
}

/** Above so many references each payment takes noticeably longer. */
const manyReferences = 100_000;

/** n8n reads and writes the whole record once for each window. Measured by `bench/`, at 100,000 references. */
const windowMsPerReference = 0.003;

/** @param marks how many the record has */
function hintAtRecord({ context, options }: ReferencedBatch, marks: number): void {
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
