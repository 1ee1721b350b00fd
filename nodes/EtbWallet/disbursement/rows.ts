/** The rows of a run, for both operations that pay: reading them, refusing a run as a whole, and telling how all ended. */
import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { Account } from '../../shared/account';
import { asInvalidValue, invalid, type InvalidValueError } from '../../shared/invalidValue';
import { addHint, errorItem, operationError } from '../../shared/n8n';
import { invalidValueFailure } from '../../shared/service/failure';
import { hasError, namesOf, paidOtherAmount } from './ending';
import { lookOf, refusesLookAlikes } from './reference';
import {
	invalidRunError,
	listOfInvalid,
	listTexts,
	nothingDone,
	placeOf,
	reportOf,
	runError,
} from './report';
import type { Batch, EndedRow, Ending, Mode, Payment, Row, Run } from './run';

/** Whether a person or n8n stopped the execution. "Retry On Fail" begins another try also after that. */
export const isStopped = (context: IExecuteFunctions): boolean =>
	context.getExecutionCancelSignal()?.aborted === true;

/** The outcome of a row that was neither sent nor looked up. A run that settles says nothing certain of it. */
export const outcomeOfRefused = (mode: Mode): 'notPaid' | 'unknown' =>
	mode === 'settle' ? 'unknown' : 'notPaid';

/** Whether its amount counts for the limits: it could be read, and is not `notPaid`. */
export function isPayable(row: Row): row is Payment {
	const isComplete = row.toUserId !== undefined && row.amount !== undefined;
	return isComplete && row.ending?.outcome !== 'notPaid';
}

export const isPending = (row: Row): row is Payment => isPayable(row) && row.ending === undefined;

/**
 * Reads and checks the payments of all items.
 * @param read fills in a row; with an ending, the row is not sent, whatever else it holds
 * @throws {NodeOperationError} that lists what cannot be used, unless the node continues on fail
 */
export function readRows(run: Run, read: (row: Row) => void): Row[] {
	const { context, options, endedBefore } = run;
	const invalid = new Map<number, InvalidValueError>();
	const refuseLookAlike = refusesLookAlikes();
	for (const { reference, itemIndex } of endedBefore.values())
		if (reference !== undefined) refuseLookAlike(reference, itemIndex);
	const refuse = (row: Row, thrown: unknown): void => {
		// Also an item with fields that cannot be used keeps its ending: its claim may have been sent.
		if (row.ending !== undefined) return;
		invalid.set(row.itemIndex, asInvalidValue(thrown));
		row.ending = { outcome: outcomeOfRefused(options.mode), error: invalidValueFailure(thrown) };
	};
	const rows = context.getInputData().map((_, itemIndex): Row => {
		const sent = endedBefore.get(itemIndex);
		if (sent !== undefined) return { ...sent };
		const row: Row = { itemIndex };
		try {
			read(row);
		} catch (thrown) {
			refuse(row, thrown);
		}
		return row;
	});
	const groups = paymentsWithFindings(rows);
	for (const group of groups) {
		if (options.mode !== 'settle') keepFromSending(group);
		else for (const row of group) refuse(row, contradiction(row));
	}
	const contradicting = new Set(groups.flat());
	for (const row of rows) {
		if (row.reference === undefined || row.ending !== undefined) continue;
		try {
			refuseLookAlike(row.reference, row.itemIndex);
		} catch (thrown) {
			// Whoever removed the row that holds the finding would have the other one sent.
			refuse(row, contradicting.has(row) ? contradiction(row) : thrown);
		}
	}
	const [first] = invalid;
	if (first === undefined || context.continueOnFail()) return rows;
	const failure = listOfInvalid(invalid);
	if (endedBefore.size > 0) throw runError(run, failure, rows);
	if (invalid.size === 1) throw invalidRunError(run, first[1], first[0]);
	const { message, description } = failure;
	const nothing = nothingDone(options.mode);
	throw operationError(context.getNode(), `${nothing}, because ${message}`, description);
}

/** The rows of each reference of which some have a finding, and others another one or none, also when one of them cannot be read. */
function paymentsWithFindings(rows: Row[]): Row[][] {
	// Most runs pay a list without any: comparing its references would be for nothing.
	if (rows.every((row) => findingIn(row) === undefined)) return [];
	const named = rows.filter(({ reference }) => reference !== undefined);
	const byLook = Map.groupBy(named, ({ reference = '' }) => lookOf(reference));
	const isDifferent = (own: Row[]): boolean => new Set(own.map(findingIn)).size > 1;
	return [...byLook.values()].filter(isDifferent);
}

const findingIn = ({ finding, oldFinding }: Row): string | undefined => finding ?? oldFinding;

function keepFromSending(rows: Row[]): void {
	const { oldFinding } = rows.find((row) => row.oldFinding !== undefined) ?? {};
	for (const row of rows) row.oldFinding ??= oldFinding;
}

const contradiction = ({ reference }: Row): InvalidValueError =>
	invalid(
		'Reference',
		reference,
		'another item has with another Finding',
		'Leave one item with this reference, and in it what the partner service said.',
	);

/**
 * Tells what cannot be used for the whole run, such as the credential or an option, and what earlier tries of
 * "Retry On Fail" sent. @param known what is known of all items; those without an ending are refused
 * @throws {NodeOperationError} unless the node continues on fail
 */
export function refuseAll(run: Run, thrown: unknown, known: Row[]): INodeExecutionData[] {
	const { context, options, endedBefore } = run;
	const error = invalidValueFailure(thrown);
	if (context.continueOnFail()) {
		// Each item may tell what the record says of it, so the reason is told beside them.
		addHint(context, error.message);
		return known.map((row) => {
			const ending: Ending = row.ending ?? { outcome: 'notPaid', error };
			return outputItem(endedBefore.get(row.itemIndex) ?? { ...row, ending }, options.mode);
		});
	}
	if (endedBefore.size === 0) throw invalidRunError(run, thrown);
	throw runError(run, error, [...endedBefore.values()]);
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
export function batchOf(run: Run, account: Account, rows: Row[]): Batch {
	const { context, options, endedBefore } = run;
	const stop = context.getExecutionCancelSignal();
	const stopsAtFailure = options.mode === 'pay' && !context.continueOnFail();
	let hasFailure = rows.some(hasError);
	return {
		...run,
		account,
		rows,
		end(payment, ending) {
			payment.ending = ending;
			if ('error' in ending) hasFailure = true;
			// "Retry On Fail" may send again what was not paid, and nothing else.
			if (ending.outcome !== 'notPaid') endedBefore.set(payment.itemIndex, { ...payment, ending });
		},
		isStopping: () => stop?.aborted === true || (stopsAtFailure && hasFailure),
	};
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
export function tell(run: Run, rows: Row[]): INodeExecutionData[] {
	const { context } = run;
	const { mode } = run.options;
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
		if (errorRow !== undefined) throw runError(run, errorRow.ending.error, rows, errorRow);
	}
	return rows.flatMap((row) => {
		const { ending } = row;
		return ending === undefined ? [] : [outputItem({ ...row, ending }, mode)];
	});
}

/**
 * Fields that this node alone writes, also where it writes none: n8n and the pay gate act on them. `__proto__` would give
 * the item fields that are not its own.
 */
const ownFields: ReadonlySet<string> = new Set([
	'__proto__',
	'outcome',
	'mode',
	'reference',
	'toUserId',
	'requestedAmountEtb',
	'error',
]);

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
	for (const [name, value] of Object.entries(answer)) if (!ownFields.has(name)) json[name] = value;
	// Also in place of what the service gives without being an amount.
	if (!paidOtherAmount(row)) json.amountEtb = amountEtb;
	return { json, pairedItem: { item: itemIndex } };
}
