/** Disbursement → Create: reads all payments of a run, checks them, claims and sends them, and tells how each ended. */
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { loadAccount } from '../../shared/account';
import { InvalidValueError, asInvalidValue, show } from '../../shared/invalidValue';
import { addHint, operationError, triesOf } from '../../shared/n8n';
import type { Failure } from '../../shared/service/failure';
import { invalidValueFailure } from '../../shared/service/failure';
import type { ParameterReader } from '../actions/mapping';
import type { Operation, Run } from '../actions/operation';
import type { RunOptions } from './checks';
import { aboveRunLimit, notCovered, readBalance, readOptions } from './checks';
import type { GateClaims } from './gateClaims';
import { hasGate, useClaims } from './gateClaims';
import type { Asked, Payment } from './payment';
import { paymentReader, readToUserId } from './payment';
import type { Ledger, ReferenceState } from './ledger';
import { ledgerOf, marksOfPaid } from './ledger';
import { countWords, hasReference, lookAtAll, ReferencedSending } from './referencedSending';
import type { InvalidRow } from './report';
import { invalidRunError, listOfInvalid, report, stoppedError } from './report';
import type { Batch } from './sending';
import { sendConcurrently } from './sending';
import type { Row, Settlement } from './settlement';
import { notRecorded, outputItem, usedBefore } from './settlement';

/**
 * What earlier tries of a node run sent, as they sent it: an expression may give another value this time. An earlier
 * version of this package may have written it, so its form stays.
 */
type SentBefore = Map<number, { payment: Payment; settlement: Settlement }>;

/**
 * Pays all items of a run. Everything is checked before the first payment; nothing is sent twice; each item
 * ends as paid, notPaid or unknown.
 * @returns output items in input order
 * @throws {NodeOperationError} unless the node continues on fail: lists what was paid, is unknown and was not attempted
 */
export const disburse: Operation['execute'] = async (context, read) => {
	const sentBefore: SentBefore = triesOf(context);
	let run: Run;
	let options: RunOptions;
	let gate: GateClaims | undefined;
	try {
		if (hasGate(context)) gate = await useClaims(context, read, sentBefore);
		run = { context, account: await loadAccount(context), read };
		options = readOptions(context);
	} catch (error) {
		return refuseAll(context, error, sentBefore, read, gate);
	}
	const { rows, invalid } = readRows(run, options, sentBefore, gate);
	if (invalid.length > 0 && !context.continueOnFail())
		throw invalidItemsError(context, invalid, rows, sentBefore);

	const pending = rows.filter(isPending);
	const batch = batchOf(run, options, rows, sentBefore);
	// n8n goes on with "Retry On Fail" after Stop.
	if (isStopped(context)) return tell(batch, rows);
	const wordsBefore = await countWords(batch, pending);
	const refusal = await refusalOf(batch, rows, pending, sentBefore, gate);
	if (refusal !== undefined) {
		if (!context.continueOnFail()) throw stoppedError(context, refusal.error, report(rows));
		await tellUsed(batch, pending);
		for (const row of pending) row.settlement ??= refusal;
	} else if (options.dryRun) await tryOut(batch, pending);
	else {
		const referenced = pending.filter(hasReference);
		const others = pending.filter((payment) => !hasReference(payment));
		if (referenced.length > 0) await hintAtManyReferences(batch);
		await sendConcurrently(
			batch,
			others,
			batch.settle,
			gate && (({ itemIndex }) => gate.msLeft(itemIndex)),
		);
		if (referenced.length > 0) await new ReferencedSending(batch, wordsBefore).send(referenced);
	}
	return tell(batch, rows);
};

/** Whether a person or n8n stopped the execution. */
const isStopped = (context: IExecuteFunctions): boolean =>
	context.getExecutionCancelSignal()?.aborted === true;

type PayableRow = Row & Payment;

/** Whether it can be used: it was sent by an earlier try, or is to be sent. */
function isPayable(row: Row): row is PayableRow {
	const { toUserId, amount, ifUnknown, settlement } = row;
	const isComplete = toUserId !== undefined && amount !== undefined && ifUnknown !== undefined;
	return isComplete && settlement?.outcome !== 'notPaid';
}

const isPending = (row: Row): row is PayableRow => isPayable(row) && row.settlement === undefined;

/** Reads and checks the payments of all items, so that a bad row is known before the first payment. */
function readRows(
	run: Run,
	{ maxAmount }: RunOptions,
	sentBefore: SentBefore,
	gate: GateClaims | undefined,
): { rows: Row[]; invalid: InvalidRow[] } {
	const read = paymentReader(run, maxAmount, gate === undefined);
	const invalid: InvalidRow[] = [];
	const firstUses = new Map<string, number>();
	for (const { payment } of sentBefore.values())
		if (payment.reference !== undefined) firstUses.set(payment.reference, payment.itemIndex);
	const rows = run.context.getInputData().map((_, itemIndex): Row => {
		const before = sentBefore.get(itemIndex);
		if (before !== undefined) return { ...before.payment, settlement: before.settlement };
		const asked: Asked = { itemIndex };
		let settlement: Settlement | undefined;
		try {
			settlement = gate?.objection(itemIndex);
			const payment = read(itemIndex, asked);
			refuseSecondUse(payment, firstUses);
			return { ...payment, settlement };
		} catch (thrown) {
			// What may have been sent stays so, whatever else its item holds now.
			if (settlement !== undefined) return { ...asked, settlement };
			invalid.push({ itemIndex, error: asInvalidValue(thrown) });
			const error = invalidValueFailure(thrown);
			return { ...asked, settlement: { outcome: 'notPaid', error } };
		}
	});
	return { rows, invalid };
}

function refuseSecondUse({ reference, itemIndex }: Payment, firstUses: Map<string, number>): void {
	if (reference === undefined) return;
	const first = firstUses.get(reference);
	if (first !== undefined) {
		throw new InvalidValueError(
			`Reference is ${show(reference)}, which item ${first} has too`,
			'Give each payment its own reference, or remove the duplicate row.',
		);
	}
	firstUses.set(reference, itemIndex);
}

function invalidItemsError(
	context: IExecuteFunctions,
	invalid: InvalidRow[],
	rows: Row[],
	sentBefore: SentBefore,
): Error {
	const [first] = invalid;
	if (sentBefore.size === 0 && invalid.length === 1)
		return invalidRunError(context, first?.error, first?.itemIndex);
	const failure = listOfInvalid(invalid);
	if (sentBefore.size > 0) return stoppedError(context, failure, report(rows));
	const { message, description } = failure;
	return operationError(context.getNode(), `Nobody was paid, because ${message}`, description);
}

/**
 * What cannot be used for the whole run, such as the credential or an option. Earlier tries of "Retry On Fail" may
 * have paid all the same: what they did is told.
 * @throws {NodeOperationError} unless the node continues on fail
 */
function refuseAll(
	context: IExecuteFunctions,
	thrown: unknown,
	sentBefore: SentBefore,
	read: ParameterReader,
	gate: GateClaims | undefined,
): INodeExecutionData[] {
	const error = invalidValueFailure(thrown);
	if (context.continueOnFail()) {
		return context.getInputData().map((_, itemIndex) => {
			const { payment, settlement } = sentBefore.get(itemIndex) ?? {};
			if (payment !== undefined && settlement !== undefined)
				return outputItem({ ...payment, settlement });
			const refused: Settlement = { outcome: 'notPaid', error };
			const toUserId = unlessInvalid(() => readToUserId(read, itemIndex));
			const ended = unlessInvalid(() => gate?.objection(itemIndex)) ?? refused;
			return outputItem({ itemIndex, toUserId, settlement: ended });
		});
	}
	if (sentBefore.size === 0) throw invalidRunError(context, thrown);
	const rows = [...sentBefore.values()].map(({ payment, settlement }) => ({
		...payment,
		settlement,
	}));
	throw stoppedError(context, error, report(rows));
}

/** What there is to read, if it can be used. */
function unlessInvalid<Value>(readValue: () => Value): Value | undefined {
	try {
		return readValue();
	} catch {
		return undefined;
	}
}

function batchOf(run: Run, options: RunOptions, rows: Row[], sentBefore: SentBefore): Batch {
	const { context } = run;
	const stop = context.getExecutionCancelSignal();
	const goesOn = context.continueOnFail();
	let hasFailure = rows.some(hasError);
	let ledger: Ledger | undefined;
	return {
		...run,
		options,
		ledger: () => (ledger ??= ledgerOf(context, options.timeoutMs)),
		settle(payment, settlement) {
			const row = rows[payment.itemIndex];
			if (row !== undefined) row.settlement = settlement;
			if ('error' in settlement) hasFailure = true;
			// What was rejected may be sent again by "Retry On Fail"; everything else must not be.
			if (settlement.outcome !== 'notPaid' && !options.dryRun)
				sentBefore.set(payment.itemIndex, { payment: { ...payment }, settlement });
		},
		isStopping: () => stop?.aborted === true || (!goesOn && hasFailure),
	};
}

/** Whether it ended as an error, which an unknown one does too. */
function hasError(row: Row): row is Row & { settlement: { error: Failure } } {
	return row.settlement !== undefined && 'error' in row.settlement;
}

/** Why nothing may be sent, with what that says about each payment. */
type Refusal = Extract<Settlement, { error: Failure }>;

async function refusalOf(
	batch: Batch,
	rows: Row[],
	pending: PayableRow[],
	sentBefore: SentBefore,
	gate: GateClaims | undefined,
): Promise<Refusal | undefined> {
	const { context, options } = batch;
	if (pending.length === 0) return undefined;
	if (gate === undefined && repeatsUnprotected(context, pending) && !options.dryRun)
		return { outcome: 'unknown', error: unprotectedRepeat };
	const failure =
		cannotKeepReferences(batch, pending) ??
		aboveRunLimit(rows.filter(isPayable), options.maxTotal) ??
		(await uncovered(batch, pending));
	if (failure === undefined) return undefined;
	const remark = sentBefore.size === 0 ? 'Nobody was paid. ' : '';
	const error = { ...failure, description: remark + failure.description };
	return { outcome: 'notPaid', error };
}

/**
 * n8n's "Retry execution" starts a new execution with the items of the failed node. Without references nothing
 * tells those that were paid from the others.
 */
function repeatsUnprotected(context: IExecuteFunctions, pending: Payment[]): boolean {
	return context.getMode() === 'retry' && !pending.every(hasReference);
}

const unprotectedRepeat: Failure = {
	message:
		'This execution is a retry of an earlier one, which may have made these payments, so none of them was sent',
	description:
		'Look at the earlier execution for what was paid, and start a new execution with the items that are still to be paid. With a Reference for each payment a retry is safe.',
};

function cannotKeepReferences({ ledger }: Batch, pending: Payment[]): Failure | undefined {
	if (!pending.some(hasReference)) return undefined;
	try {
		ledger();
		return undefined;
	} catch (error) {
		return invalidValueFailure(error);
	}
}

async function uncovered(batch: Batch, pending: Payment[]): Promise<Failure | undefined> {
	if (!batch.options.checkBalance) return undefined;
	const balance = await readBalance(batch, batch.options.timeoutMs);
	if (typeof balance !== 'string') return balance;
	const failure = notCovered(balance, pending);
	if (failure === undefined || !pending.some(hasReference)) return failure;
	// A run that goes on after a crash needs only what is still to be paid.
	try {
		const states = await lookAtAll(batch, pending);
		return notCovered(
			balance,
			pending.filter((payment) => wouldBeSent(payment, states.get(payment))),
		);
	} catch (error) {
		return notRecorded(error);
	}
}

/** @param state of its reference, if it has one */
function wouldBeSent({ ifUnknown }: Payment, state: ReferenceState = 'unused'): boolean {
	return state === 'unused' || (state === 'inDoubt' && ifUnknown === 'notPaid');
}

/** Nothing is sent. What was paid before, or is unknown, stays so; should the database fail, it is not told. */
async function tellUsed(batch: Batch, pending: PayableRow[]): Promise<void> {
	const states = await lookAtAll(batch, pending).catch(() => undefined);
	for (const row of pending) {
		const state = states?.get(row);
		if (row.reference !== undefined && state !== undefined && state !== 'unused')
			row.settlement = usedBefore(row.reference, state, batch.options.failsIfUsed);
	}
}

/** Says what would become of each payment; nothing is sent, and nothing is recorded. */
async function tryOut(batch: Batch, pending: PayableRow[]): Promise<void> {
	let states: Map<Payment, ReferenceState>;
	try {
		states = await lookAtAll(batch, pending);
	} catch (error) {
		for (const row of pending) row.settlement = { outcome: 'notPaid', error: notRecorded(error) };
		return;
	}
	for (const row of pending) {
		const state = states.get(row);
		if (wouldBeSent(row, state))
			row.settlement = { outcome: 'ready', message: 'Dry run: nothing was sent' };
		else if (row.reference !== undefined && state !== undefined && state !== 'unused') {
			const found = state === 'inDoubt' && row.ifUnknown === 'paid' ? 'wouldBePaidByWord' : state;
			row.settlement = usedBefore(row.reference, found, batch.options.failsIfUsed);
		}
	}
}

/** Above so many references each payment takes noticeably longer. */
const manyReferences = 100_000;

/** n8n reads and writes the whole record once for each window; measured by the project's bench, at 100,000 references. */
const windowMsPerReference = 0.003;

/** Asked once a run, before anything is sent. */
async function hintAtManyReferences({ context, ledger, options }: Batch): Promise<void> {
	const marks = await ledger()
		.count()
		.catch(() => 0);
	const references = Math.floor(marks / marksOfPaid);
	if (references <= manyReferences) return;
	const costMs = Math.ceil((references * windowMsPerReference) / options.concurrency);
	addHint(
		context,
		`This node keeps about ${references} references, so each payment takes about ${costMs} ms longer. Raise Concurrency, pay through the pay gate, or, if your references carry the year, pay with a new workflow each year.`,
	);
}

/** Output items of what ended, with a remark beside them; or the error of a run that stopped. */
function tell({ context, options }: Batch, rows: Row[]): INodeExecutionData[] {
	const { summary, lists } = report(rows, options.dryRun);
	if (isStopped(context)) {
		// n8n keeps no output of a stopped node.
		context.logger.warn(`The execution was stopped. Payments: ${summary}`, { ...lists });
	}
	// A reference in doubt is passed on as a normal item: nobody must take it for paid.
	if (rows.length > 1 || options.dryRun || 'unknown' in lists) addHint(context, summary);
	if (!context.continueOnFail()) {
		const withError = rows.filter(hasError);
		// What is unknown is told before what is certain.
		const stoppedAt =
			withError.find(({ settlement }) => settlement.outcome === 'unknown') ?? withError[0];
		if (stoppedAt !== undefined)
			throw stoppedError(context, stoppedAt.settlement.error, { summary, lists }, stoppedAt);
	}
	return rows.flatMap((row) => {
		const { settlement } = row;
		return settlement === undefined ? [] : [outputItem({ ...row, settlement })];
	});
}
