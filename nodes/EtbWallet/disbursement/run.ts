/** A run of a node that pays, for both operations that do: its settings, its rows, and keeping how they end. */
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { loadAccount, type Account } from '../../shared/account';
import { asInvalidValue } from '../../shared/invalidValue';
import { addHint, isStopped, triesOf } from '../../shared/n8n';
import { codesOfFields, codesOfRecord } from './codes';
import { optionsWhenNoneSaved, type RunOptions } from './options';
import { isFailed, outcomeOfRow, sameReferenceCheck } from './payment';
import type { EndedRow, Payable, Result, Row } from './payment';
import { resultOfInvalid, runError, reportRun } from './report';

/** A run, as `sending.ts` needs it. */
export interface Run {
	context: IExecuteFunctions;
	account: Account;
	options: RunOptions;
	/** The steps for a payment that was sent, and whose end is unknown. */
	remedyOfUnknown: (row: Row) => string;
	/** Keeps how a payment ended, in its row and for the next try. Called once for each. */
	end: (payment: Payable, result: Result) => void;
	/** Whether nothing more may be sent. */
	isStopping(): boolean;
}

/** The account and the options of a run, or why they cannot be used. */
type Settings = { options: RunOptions } & (
	| { account: Account; refused?: undefined }
	| { account?: undefined; refused: Result }
);

/** @param readOptions throws if they cannot be used */
export async function loadSettings(
	context: IExecuteFunctions,
	readOptions: () => RunOptions,
): Promise<Settings> {
	try {
		return { account: await loadAccount(context), options: readOptions() };
	} catch (error) {
		return { options: optionsWhenNoneSaved, refused: refusedAs('settings', error) };
	}
}

/** By item, the rows of earlier tries of "Retry On Fail" that ended in any way but `notPaid`. */
const endedBefore = (context: IExecuteFunctions): Map<number, EndedRow> =>
	triesOf<EndedRow>(context).done;

/**
 * Reads and checks the payments of all items; what cannot be used ends as that.
 * @param read fills in a row; with a result, the row is not sent, whatever else it holds
 */
export function readRows(context: IExecuteFunctions, read: (row: Row) => void): Row[] {
	const sameReference = sameReferenceCheck();
	const endedRows = endedBefore(context);
	for (const row of endedRows.values()) sameReference(row);
	return context.getInputData().map((_, itemIndex): Row => {
		const earlier = endedRows.get(itemIndex);
		if (earlier !== undefined) return { ...earlier };
		const row: Row = { itemIndex };
		let invalid: Result | undefined;
		try {
			read(row);
		} catch (error) {
			invalid = refusedAs('invalid', error);
		}
		// The check includes rows whose amount cannot be read, because their reference may be that of another row.
		const same = sameReference(row);
		// The result that `read` gave stays: the claim of this item may have been sent before.
		row.result ??= same ?? invalid;
		return row;
	});
}

/** The result of a payment that was refused before it was sent. */
function refusedAs(code: 'invalid' | 'settings', thrown: unknown): Result {
	const { message, remedy } = asInvalidValue(thrown);
	return { code, message, remedy };
}

/** @throws {NodeOperationError} that lists the items that cannot be used, unless the node continues on fail */
export function throwIfInvalid(context: IExecuteFunctions, options: RunOptions, rows: Row[]): void {
	const invalid = rows.filter(isFailed).filter(({ result }) => codesOfFields.has(result.code));
	if (invalid.length === 0 || context.continueOnFail()) return;
	const [only] = invalid.length === 1 ? invalid : [];
	throw runError(context, options, resultOfInvalid(invalid), rows, only);
}

/**
 * Reports why a whole run is refused, such as its credential, an option or a limit, and the payments of earlier tries of
 * "Retry On Fail". @param rows those without a result end as refused; if a setting is wrong, those with a wrong field too
 * @throws {NodeOperationError} unless the node continues on fail
 */
export function reportRefused(
	context: IExecuteFunctions,
	options: RunOptions,
	refused: Result,
	rows: Row[],
): INodeExecutionData[] {
	if (!context.continueOnFail()) throw runError(context, options, refused, rows);
	// An item may have a result of its own, so the reason stands beside them.
	addHint(context, refused.message ?? '');
	for (const row of rows) {
		const isOfField = row.result !== undefined && codesOfFields.has(row.result.code);
		// The error of a setting replaces those of fields: if Mode was meant to be Settle Unknown, the items do not matter.
		if (row.result === undefined || (refused.code === 'settings' && isOfField))
			row.result = refused;
	}
	return reportRun(context, options, rows);
}

export function runOf(
	context: IExecuteFunctions,
	{ account, options }: Pick<Run, 'account' | 'options'>,
	remedyOfUnknown: Run['remedyOfUnknown'],
): Run {
	const endedRows = endedBefore(context);
	let hasFailure = false;
	return {
		context,
		account,
		options,
		remedyOfUnknown,
		end(payment, result) {
			payment.result = result;
			// A payment that the record stops holds up nobody else.
			if (isFailed(payment) && !codesOfRecord.has(result.code)) hasFailure = true;
			// "Retry On Fail" may send again what was not paid, and nothing else.
			if (outcomeOfRow(payment) !== 'notPaid')
				endedRows.set(payment.itemIndex, { ...payment, result });
		},
		isStopping: () => isStopped(context) || (hasFailure && !context.continueOnFail()),
	};
}
