/** The rows of a run, for both operations that pay: reading them, refusing a run as a whole, and telling how all ended. */
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { Account } from '../../shared/account';
import { asInvalidValue } from '../../shared/invalidValue';
import { addHint, operationError } from '../../shared/n8n';
import type { Failure } from '../../shared/service/failure';
import { invalidValueFailure } from '../../shared/service/failure';
import type { Mode, SendOptions } from './checks';
import type { Asked, Payment } from './payment';
import { refusesLookAlikes } from './reference';
import type { InvalidRow } from './report';
import { invalidRunError, listOfInvalid, listTexts, placeOf, report, stoppedError } from './report';
import type { Batch } from './sending';
import type { Row, Settlement } from './settlement';
import { outputItem } from './settlement';

/**
 * What earlier tries of a node run sent, as they sent it: an expression may give another value this time. An earlier
 * version of this package may have written it, so its form stays.
 */
export type SentBefore = Map<number, { payment: Payment; settlement: Settlement }>;

/** What a run works with, before its rows are read. */
export interface Start {
	context: IExecuteFunctions;
	mode: Mode;
	sentBefore: SentBefore;
	/** Whether an unknown payment could be paid again by another run, and why not. */
	protectionOf: (row: Row) => string;
}

/** Whether a person or n8n stopped the execution. n8n goes on with "Retry On Fail" after that. */
export const isStopped = (context: IExecuteFunctions): boolean =>
	context.getExecutionCancelSignal()?.aborted === true;

/** How a row ends that was neither sent nor looked up. A run that settles says nothing of a payment that it did not look at. */
export const outcomeOfRefused = (mode: Mode): 'notPaid' | 'unknown' =>
	mode === 'settle' ? 'unknown' : 'notPaid';

export type PayableRow = Row & Payment;

/** Whether it can be used: it was sent by an earlier try, or is to be sent. */
export function isPayable(row: Row): row is PayableRow {
	const isComplete = row.toUserId !== undefined && row.amount !== undefined;
	return isComplete && row.settlement?.outcome !== 'notPaid';
}

export const isPending = (row: Row): row is PayableRow =>
	isPayable(row) && row.settlement === undefined;

/**
 * Reads and checks the payments of all items, so that a bad row is known before the first payment.
 * @param objection how an item ends that may not be sent, whatever else it holds
 * @throws {NodeOperationError} that lists what cannot be used, unless the node continues on fail
 */
export function readRows(
	start: Start,
	read: (itemIndex: number, asked: Asked) => Payment,
	objection?: (itemIndex: number) => Settlement | undefined,
): Row[] {
	const { context, sentBefore } = start;
	const invalid: InvalidRow[] = [];
	const refuseLookAlike = refusesLookAlikes();
	for (const { payment } of sentBefore.values())
		if (payment.reference !== undefined) refuseLookAlike(payment.reference, payment.itemIndex);
	const rows = context.getInputData().map((_, itemIndex): Row => {
		const before = sentBefore.get(itemIndex);
		if (before !== undefined) return { ...before.payment, settlement: before.settlement };
		const asked: Asked = { itemIndex };
		let settlement: Settlement | undefined;
		try {
			settlement = objection?.(itemIndex);
			const payment = read(itemIndex, asked);
			if (payment.reference !== undefined) refuseLookAlike(payment.reference, itemIndex);
			return { ...payment, settlement };
		} catch (thrown) {
			// What may have been sent stays so, whatever else its item holds now.
			if (settlement !== undefined) return { ...asked, settlement };
			invalid.push({ itemIndex, error: asInvalidValue(thrown) });
			const outcome = outcomeOfRefused(start.mode);
			return { ...asked, settlement: { outcome, error: invalidValueFailure(thrown) } };
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
	if (sentBefore.size > 0) return stoppedError(start, failure, rows);
	const { message, description } = failure;
	return operationError(context.getNode(), `Nobody was paid, because ${message}`, description);
}

/**
 * What cannot be used for the whole run, such as the credential or an option. Earlier tries of "Retry On Fail" may
 * have paid all the same: what they did is told.
 * @param known what is known of all items; one without a settlement is refused
 * @throws {NodeOperationError} unless the node continues on fail
 */
export function refuseAll(start: Start, thrown: unknown, known: Row[]): INodeExecutionData[] {
	const { context, sentBefore, mode } = start;
	const error = invalidValueFailure(thrown);
	if (context.continueOnFail()) {
		// Items may all tell what the record says of them, and none of them the refusal.
		addHint(context, error.message);
		return known.map((row) => {
			const { payment, settlement } = sentBefore.get(row.itemIndex) ?? {};
			if (payment !== undefined && settlement !== undefined)
				return outputItem({ ...payment, settlement }, mode);
			const refused: Settlement = { outcome: 'notPaid', error };
			return outputItem({ ...row, settlement: row.settlement ?? refused }, mode);
		});
	}
	if (sentBefore.size === 0) throw invalidRunError(context, thrown);
	const rows = [...sentBefore.values()].map(({ payment, settlement }) => ({
		...payment,
		settlement,
	}));
	throw stoppedError(start, error, rows);
}

/** What there is to read, if it can be used. */
export function unlessInvalid<Value>(readValue: () => Value): Value | undefined {
	try {
		return readValue();
	} catch {
		return undefined;
	}
}

/** Keeps how payments end, in the rows and for the next try, and says when nothing more may be sent. */
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
		settle(payment, settlement) {
			const row = rows[payment.itemIndex];
			if (row !== undefined) row.settlement = settlement;
			if ('error' in settlement) hasFailure = true;
			// What was rejected may be sent again by "Retry On Fail"; everything else must not be.
			if (settlement.outcome !== 'notPaid' && mode !== 'dryRun')
				sentBefore.set(payment.itemIndex, { payment: { ...payment }, settlement });
		},
		isStopping: () => stop?.aborted === true || (stopsAtFailure && hasFailure),
	};
}

/** Whether it ended as an error, which an unknown one does too. */
function hasError(row: Row): row is Row & { settlement: { error: Failure } } {
	return row.settlement !== undefined && 'error' in row.settlement;
}

/** Whether another run with the same items would pay it again. */
const isPaidUnprotected = ({ reference, settlement }: Row): boolean =>
	reference === undefined && ['paid', 'unknown'].includes(settlement?.outcome ?? '');

/** A run with an error is often tried again with all items: says what to leave out then. */
export function remarkOnUnprotected(rows: Row[]): void {
	const count = rows.filter(isPaidUnprotected).length;
	for (const row of rows.filter(hasError)) {
		const others = isPaidUnprotected(row) ? count - 1 : count;
		if (others === 0) continue;
		const { settlement } = row;
		const remark = `Of the others of this run ${others} were paid, or may be, and have no Reference: leave them out of another run.`;
		const description = `${remark} ${settlement.error.description}`;
		row.settlement = { ...settlement, error: { ...settlement.error, description } };
	}
}

/** Output items of what ended, with a remark beside them; or the error of a run that stopped. */
export function tell(start: Start, rows: Row[]): INodeExecutionData[] {
	const { context, mode } = start;
	const { summary, lists } = report(rows, mode);
	if (isStopped(context)) {
		// n8n keeps no output of a stopped node.
		const details = [...listTexts(lists), placeOf(context)].join('. ');
		context.logger.warn(`The execution was stopped. Payments: ${summary}. ${details}`);
	}
	// A reference in doubt is passed on as a normal item: nobody must take it for paid.
	if (rows.length > 1 || mode !== 'pay' || 'unknown' in lists) addHint(context, summary);
	if (!context.continueOnFail()) {
		const withError = rows.filter(hasError);
		// What is unknown is told before what is certain.
		const stoppedAt =
			withError.find(({ settlement }) => settlement.outcome === 'unknown') ?? withError[0];
		if (stoppedAt !== undefined)
			throw stoppedError(start, stoppedAt.settlement.error, rows, stoppedAt);
	}
	return rows.flatMap((row) => {
		const { settlement } = row;
		return settlement === undefined ? [] : [outputItem({ ...row, settlement }, mode)];
	});
}
