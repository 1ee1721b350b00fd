/**
 * A run of one of the two operations that pay: its settings, its entries, and how they end. What keeps it from
 * sending has one of three names: a *halt* is a result for the whole run, an *objection* is a result for one
 * entry, and a *field error* says that a field of one item cannot be used. An entry is *unusable* if its own item keeps it
 * from being sent: by a field error, or by an objection other than a used claim.
 */
import type { IExecuteFunctions } from 'n8n-workflow';
import { loadAccount, type Account } from '../../shared/account';
import { asInvalidValue } from '../../shared/invalidValue';
import { isStopped } from '../../shared/n8n';
import { runMemoryOf } from '../../shared/runMemory';
import { isBlockedByItem, isBlockedByRecord } from '../codes';
import { defaultOptions, type RunOptions } from './options';
import { needsAttention, outcomeOfEntry } from './entry';
import type { EndedEntry, Payable, EntryResult, Entry } from './entry';
import { resultOfUnusable, runError } from './report';

/** One try of a run whose settings can be used. */
export interface RunTry {
	context: IExecuteFunctions;
	account: Account;
	options: RunOptions;
	/** The steps for a payment that was sent, and whose end is unknown. */
	remedyOfUnknown: (entry: Entry) => string;
	/** Keeps the result of a payment, in its entry and for the next try. It is called once for each payment. */
	setResult: (payment: Payable, result: EntryResult) => void;
	/** Whether nothing more may be sent. */
	mustStop(): boolean;
}

/** The account and the options of a run, or the reason why they cannot be used. */
type AccountAndOptions = { options: RunOptions } & (
	| { account: Account; halt?: undefined }
	| { account?: undefined; halt: EntryResult }
);

/** @param readOptions gives the options, or throws if the run cannot start */
export async function loadAccountAndOptions(
	context: IExecuteFunctions,
	readOptions: () => RunOptions,
): Promise<AccountAndOptions> {
	let options = defaultOptions;
	try {
		// The mode is known also if the account cannot be loaded: a run that settles needs none.
		options = readOptions();
		return { options, account: await loadAccount(context) };
	} catch (error) {
		return { options, halt: resultOfError('settings', error) };
	}
}

/**
 * The entries that no later try of the run may send again, by item: those whose outcome is not `notPaid`.
 * `setResult` adds to them.
 */
const keptEntries = (context: IExecuteFunctions): Map<number, EndedEntry> =>
	runMemoryOf<EndedEntry>(context).kept;

/** Makes the function that gives the objection to one of these entries, if there is one. */
type ObjectionFinder = (entries: readonly Entry[]) => (entry: Entry) => EntryResult | undefined;

/**
 * Reads and checks the payments of all items. An item with a field error gets the result `invalid`.
 * @param fillIn reads the fields of an entry, and throws a field error
 * @param objectionFinder gets the entries kept from earlier tries first, then every other one. An entry that cannot be read
 * is among them, because it can have the reference of another entry
 */
export function readEntries(
	context: IExecuteFunctions,
	fillIn: (entry: Entry) => void,
	objectionFinder: ObjectionFinder,
): Entry[] {
	const kept = keptEntries(context);
	const fieldErrors = new Map<Entry, EntryResult>();
	const entries = context.getInputData().map((_, itemIndex): Entry => {
		const earlier = kept.get(itemIndex);
		if (earlier !== undefined) return { ...earlier };
		const entry: Entry = { itemIndex };
		try {
			fillIn(entry);
		} catch (error) {
			fieldErrors.set(entry, resultOfError('invalid', error));
		}
		return entry;
	});
	const newEntries = entries.filter(({ result }) => result === undefined);
	const objectionTo = objectionFinder([...kept.values(), ...newEntries]);
	return entries.map((entry) => ({
		...entry,
		// An objection comes before the error of a field, because the payment of a used claim may have been sent before.
		result: entry.result ?? objectionTo(entry) ?? fieldErrors.get(entry),
	}));
}

/** The result for an error of a field or of a setting. */
function resultOfError(code: 'invalid' | 'settings', error: unknown): EntryResult {
	const { message, remedy } = asInvalidValue(error);
	return { code, message, remedy };
}

/** The entries that their own items keep from being sent. */
export const unusableEntries = (entries: readonly Entry[]): EndedEntry[] =>
	entries.filter(needsAttention).filter(({ result }) => isBlockedByItem(result.code));

/** The results that the record has of entries, and a warning if the database fails. */
export interface RecordedResults {
	results: ReadonlyMap<Entry, EntryResult>;
	warning?: string;
}

/**
 * Throws if an entry is unusable. The error also has the result that the record has of it, because an earlier run may
 * have sent it.
 * @throws {NodeOperationError} that lists the items that cannot be used, unless the node continues on fail
 */
export function assertUsable(
	context: IExecuteFunctions,
	options: RunOptions,
	entries: Entry[],
	{ results, warning }: RecordedResults = { results: new Map() },
): void {
	const unusable = unusableEntries(entries);
	if (unusable.length === 0 || context.continueOnFail()) return;
	const [only] = unusable.length === 1 ? unusable : [];
	const ofItems = resultOfUnusable(unusable);
	const recorded = only && results.get(only);
	const result = {
		...(recorded ?? ofItems),
		message: joined(recorded?.message, ofItems.message),
		remedy: joined(warning, recorded?.remedy, ofItems.remedy),
	};
	const withRecordedResults = entries.map((entry) => ({
		...entry,
		result: results.get(entry) ?? entry.result,
	}));
	throw runError(context, options, result, withRecordedResults, only && { ...only, result });
}

const joined = (...texts: Array<string | undefined>): string => texts.filter(Boolean).join('. ');

export function createRunTry(
	context: IExecuteFunctions,
	{ account, options }: Pick<RunTry, 'account' | 'options'>,
	remedyOfUnknown: RunTry['remedyOfUnknown'],
): RunTry {
	const kept = keptEntries(context);
	let hasFailure = false;
	return {
		context,
		account,
		options,
		remedyOfUnknown,
		setResult(payment, result) {
			payment.result = result;
			// A payment that is not sent because of the record does not stop the payments of other people.
			if (needsAttention(payment) && !isBlockedByRecord(result.code)) hasFailure = true;
			// A later try may send only those payments again that were not paid.
			if (outcomeOfEntry(payment) !== 'notPaid')
				kept.set(payment.itemIndex, { ...payment, result });
		},
		mustStop: () => isStopped(context) || (hasFailure && !context.continueOnFail()),
	};
}
