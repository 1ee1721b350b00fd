/** The rows of a run, for both operations that pay: reading them, refusing a run as a whole, and telling how all ended. */
import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { Account } from '../../shared/account';
import { asInvalidValue } from '../../shared/invalidValue';
import { addHint, errorItem, operationError } from '../../shared/n8n';
import { invalidValueFailure, type Failure } from '../../shared/service/failure';
import type { Mode, SendOptions } from './checks';
import type { PartialPayment, Payment } from './payment';
import { refusesLookAlikes } from './reference';
import type { InvalidRow } from './report';
import { invalidRunError, listOfInvalid, listTexts, placeOf, reportOf, runError } from './report';
import type { Batch } from './sending';
import { namesOf, paidOtherAmount, type Ending, type Row } from './ending';

type EndedRow = Row & { ending: Ending };

/** What earlier tries of a node run sent, by item, as they sent it: an expression may give another value this time. */
type SentBefore = Map<number, EndedRow>;

/** What a run works with, before its rows are read. */
export interface Start {
	context: IExecuteFunctions;
	mode: Mode;
	sentBefore: SentBefore;
	/** Says whether another run could pay an unknown payment again. */
	protectionOf: (row: Row) => string;
}

/** Whether a person or n8n stopped the execution. "Retry On Fail" begins another try also after that. */
export const isStopped = (context: IExecuteFunctions): boolean =>
	context.getExecutionCancelSignal()?.aborted === true;

/** The outcome of a row that was neither sent nor looked up. A run that settles says nothing certain of it. */
export const outcomeOfRefused = (mode: Mode): 'notPaid' | 'unknown' =>
	mode === 'settle' ? 'unknown' : 'notPaid';

export type PayableRow = Row & Payment;

/** Whether it was sent by an earlier try, or is to be sent. */
export function isPayable(row: Row): row is PayableRow {
	const isComplete = row.toUserId !== undefined && row.amount !== undefined;
	return isComplete && row.ending?.outcome !== 'notPaid';
}

export const isPending = (row: Row): row is PayableRow =>
	isPayable(row) && row.ending === undefined;

/**
 * Reads and checks the payments of all items. @param objection how an item ends that may not be sent, whatever else it holds
 * @throws {NodeOperationError} that lists what cannot be used, unless the node continues on fail
 */
export function readRows(
	start: Start,
	read: (itemIndex: number, partial: PartialPayment) => Payment,
	objection?: (itemIndex: number) => Ending | undefined,
): Row[] {
	const { context, sentBefore } = start;
	const invalid: InvalidRow[] = [];
	const refuseLookAlike = refusesLookAlikes();
	for (const { reference, itemIndex } of sentBefore.values())
		if (reference !== undefined) refuseLookAlike(reference, itemIndex);
	const rows = context.getInputData().map((_, itemIndex): Row => {
		const sent = sentBefore.get(itemIndex);
		if (sent !== undefined) return { ...sent };
		const partial: PartialPayment = { itemIndex };
		let ending: Ending | undefined;
		try {
			ending = objection?.(itemIndex);
			const payment = read(itemIndex, partial);
			if (payment.reference !== undefined) refuseLookAlike(payment.reference, itemIndex);
			return { ...payment, ending };
		} catch (thrown) {
			// Also of an item with fields that cannot be used: its claim may have been sent.
			if (ending !== undefined) return { ...partial, ending };
			invalid.push({ itemIndex, error: asInvalidValue(thrown) });
			const outcome = outcomeOfRefused(start.mode);
			return { ...partial, ending: { outcome, error: invalidValueFailure(thrown) } };
		}
	});
	if (invalid.length > 0 && !context.continueOnFail())
		throw invalidItemsError(start, invalid, rows);
	return rows;
}

function invalidItemsError(start: Start, invalid: InvalidRow[], rows: Row[]): Error {
	const { context, sentBefore } = start;
	const [first] = invalid;
	if (sentBefore.size === 0 && invalid.length === 1)
		return invalidRunError(context, first?.error, first?.itemIndex);
	const failure = listOfInvalid(invalid);
	if (sentBefore.size > 0) return runError(start, failure, rows);
	const { message, description } = failure;
	return operationError(context.getNode(), `Nobody was paid, because ${message}`, description);
}

/**
 * Tells what cannot be used for the whole run, such as the credential or an option, and what earlier tries of
 * "Retry On Fail" sent. @param known what is known of all items; those without an ending are refused
 * @throws {NodeOperationError} unless the node continues on fail
 */
export function refuseAll(start: Start, thrown: unknown, known: Row[]): INodeExecutionData[] {
	const { context, sentBefore, mode } = start;
	const error = invalidValueFailure(thrown);
	if (context.continueOnFail()) {
		// Each item may tell what the record says of it, so the reason is told beside them.
		addHint(context, error.message);
		return known.map((row) => {
			const ending: Ending = row.ending ?? { outcome: 'notPaid', error };
			return outputItem(sentBefore.get(row.itemIndex) ?? { ...row, ending }, mode);
		});
	}
	if (sentBefore.size === 0) throw invalidRunError(context, thrown);
	throw runError(start, error, [...sentBefore.values()]);
}

/** A value, or undefined if it cannot be used. */
export function unlessInvalid<Value>(readValue: () => Value): Value | undefined {
	try {
		return readValue();
	} catch {
		return undefined;
	}
}

/** What sends payments works with it: it keeps how they end, in the rows and for the next try, and says when to stop. */
export function batchOf<Options extends SendOptions>(
	{ context, mode, sentBefore }: Start,
	account: Account,
	options: Options,
	rows: Row[],
): Batch & { options: Options } {
	const stop = context.getExecutionCancelSignal();
	const stopsAtFailure = mode === 'pay' && !context.continueOnFail();
	let hasFailure = rows.some(hasError);
	return {
		context,
		account,
		options,
		end(payment, ending) {
			const row = rows[payment.itemIndex];
			if (row !== undefined) row.ending = ending;
			if ('error' in ending) hasFailure = true;
			// "Retry On Fail" may send again what was not paid, and nothing else.
			if (ending.outcome !== 'notPaid' && mode !== 'dryRun')
				sentBefore.set(payment.itemIndex, { ...payment, ending });
		},
		isStopping: () => stop?.aborted === true || (stopsAtFailure && hasFailure),
	};
}

/** Whether it ended as an error: not paid or, unless the record says so, unknown. */
function hasError(row: Row): row is Row & { ending: { error: Failure } } {
	return row.ending !== undefined && 'error' in row.ending;
}

/** Whether another run with the same items would pay it again. */
const isPaidUnprotected = ({ reference, ending }: Row): boolean =>
	reference === undefined && ['paid', 'unknown'].includes(ending?.outcome ?? '');

/** People run a failed list again with all its items: says what to leave out then. */
export function remarkOnUnprotected(rows: Row[]): void {
	const count = rows.filter(isPaidUnprotected).length;
	for (const row of rows.filter(hasError)) {
		const others = isPaidUnprotected(row) ? count - 1 : count;
		if (others === 0) continue;
		const { ending } = row;
		const remark = `Of the others of this run ${others} were paid, or may be, and have no Reference: leave them out of another run.`;
		const description = `${remark} ${ending.error.description}`;
		row.ending = { ...ending, error: { ...ending.error, description } };
	}
}

/** Output items of what ended, with a remark beside them; or the run's error. */
export function tell(start: Start, rows: Row[]): INodeExecutionData[] {
	const { context, mode } = start;
	const { summary, lists } = reportOf(rows, mode);
	if (isStopped(context)) {
		// n8n keeps no output of a stopped node.
		const details = [...listTexts(lists), placeOf(context)].join('. ');
		context.logger.warn(`The execution was stopped. Payments: ${summary}. ${details}`);
	}
	// An unknown payment may leave as a normal item, which nobody must take for paid.
	if (rows.length > 1 || mode !== 'pay' || 'unknown' in lists) addHint(context, summary);
	if (!context.continueOnFail()) {
		const withError = rows.filter(hasError);
		// What is unknown is told before what is certain.
		const errorRow = withError.find(({ ending }) => ending.outcome === 'unknown') ?? withError[0];
		if (errorRow !== undefined) throw runError(start, errorRow.ending.error, rows, errorRow);
	}
	return rows.flatMap((row) => {
		const { ending } = row;
		return ending === undefined ? [] : [outputItem({ ...row, ending }, mode)];
	});
}

/** The output item of a row, for the error output when it failed. It names a mode that pays nobody. */
function outputItem(row: EndedRow, mode: Mode): INodeExecutionData {
	const { itemIndex, amount, ending } = row;
	const amountEtb = amount === undefined ? undefined : Number(amount);
	const ours = { outcome: ending.outcome, ...(mode !== 'pay' && { mode }), ...namesOf(row) };
	if ('error' in ending) {
		const { error } = ending;
		return errorItem({ ...ours, ...(amount !== undefined && { amountEtb }), ...error }, itemIndex);
	}
	// The editor's table shows the fields in this order.
	const json: IDataObject = { ...ours, amountEtb };
	if (paidOtherAmount(row)) json.requestedAmountEtb = amountEtb;
	const answer = 'answer' in ending ? ending.answer : { message: ending.message };
	for (const [name, value] of Object.entries(answer)) if (!(name in ours)) json[name] = value;
	// Also in place of what the service gives without being an amount.
	if (!paidOtherAmount(row)) json.amountEtb = amountEtb;
	return { json, pairedItem: { item: itemIndex } };
}
