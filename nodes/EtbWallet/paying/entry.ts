/**
 * The entries of a run that pays: one for each item, with the values that were read and its result. An entry
 * with a user ID and an amount is payable; one with a reference too is a payment.
 */
import type { IDataObject } from 'n8n-workflow';
import { readAmount } from '../../shared/amount';
import type { Decimal } from '../../shared/decimal';
import { readText } from '../../shared/fields';
import { fieldError, InvalidValueError, show } from '../../shared/invalidValue';
import type { ParameterReader } from '../parameters';
import { outcomeOf, type Code, type Outcome } from '../codes';
import { referenceKeyOf, readReference } from '../../shared/reference';
import { referencedRowOf } from '../../shared/listReference';

/** The end of an entry. */
export interface EntryResult {
	code: Code;
	/** There is none for a payment that this run made. */
	message?: string;
	/** The steps to take. */
	remedy?: string;
	httpCode?: string;
	/** The service's response, with the time at which it came, if a try of this run paid. */
	response?: IDataObject;
}

/** An item with the values of its payment that could be read, and with its result at the end. */
export interface Entry {
	itemIndex: number;
	reference?: string;
	/** The record's key of the reference. */
	referenceKey?: string;
	toUserId?: string;
	/** In ETB. */
	amount?: Decimal;
	/** Given by `readEntries` or by the record before anything is sent. Later only `setResult` of the run writes it. */
	result?: EntryResult;
}

/** An entry whose user ID and amount are known. */
export interface Payable extends Entry {
	toUserId: string;
	amount: Decimal;
}

/** An entry whose reference is known. */
export interface KeyedEntry extends Entry {
	referenceKey: string;
}

/** An entry whose user ID, amount and reference are known. */
export interface Payment extends Payable {
	reference: string;
	referenceKey: string;
}

export type EndedEntry = Entry & { result: EntryResult };

export const isPayable = (entry: Entry): entry is Payable =>
	entry.toUserId !== undefined && entry.amount !== undefined;

export const isKeyed = (entry: Entry): entry is KeyedEntry => entry.referenceKey !== undefined;

export const isPayment = (entry: Entry): entry is Payment => isPayable(entry) && isKeyed(entry);

export const outcomeOfEntry = ({ result }: Entry): Outcome | undefined =>
	result === undefined ? undefined : outcomeOf(result.code);

/** Whether an entry goes to the error output, or makes the node fail. */
export const needsAttention = (entry: Entry): entry is EndedEntry =>
	['notPaid', 'unknown'].includes(outcomeOfEntry(entry) ?? '');

/**
 * Reads a payment. The entry gets each value as soon as it is read. A row of *Check List* keeps its reference, because
 * the list was compared with earlier payments by it, and a row with the status `paidBefore` gets the result `paidBefore`.
 * @param item the fields of the item
 * @throws {InvalidValueError} also for a row of *Check List* with a problem, or if Reference has another reference
 */
export function fillInPayment(read: ParameterReader, entry: Entry, item: unknown): void {
	const checked = referencedRowOf(item);
	if (checked?.status === 'paidBefore') {
		entry.reference = checked.reference;
		entry.result = {
			code: 'paidBefore',
			message: 'Check List found this payment in Known Payments, so it is not sent again',
		};
		return;
	}
	if (checked !== undefined && checked.status !== 'ready')
		throw new InvalidValueError(
			`Check List gave this row the status ${checked.status}, so it is not paid`,
			checked.problem || 'Only a row that is ready is paid.',
		);
	const reference = readReference('Reference', read('reference', entry.itemIndex));
	entry.reference = checked?.reference ?? reference;
	entry.referenceKey = referenceKeyOf(entry.reference);
	fillInSentFields(read, entry);
	if (entry.referenceKey === referenceKeyOf(reference)) return;
	throw fieldError(
		'Reference',
		reference,
		`is not ${show(entry.reference)}, the reference that Check List gave this row`,
		'Write {{ $json.reference }} into Reference. Another payment to this person needs another Purpose in Check List.',
	);
}

/**
 * Reads the fields that are sent.
 * @throws {InvalidValueError}
 */
export function fillInSentFields(read: ParameterReader, entry: Entry): void {
	entry.toUserId = readText(
		'To User ID',
		read('toUserId', entry.itemIndex),
		'Enter the ID that User → Create returned.',
	);
	entry.amount = readAmount('Amount (ETB)', read('amountEtb', entry.itemIndex));
}

/** The first entry of each reference, by its key. */
export function firstOfEachReference(entries: readonly Entry[]): ReadonlyMap<string, Entry> {
	const first = new Map<string, Entry>();
	for (const entry of entries)
		if (entry.referenceKey !== undefined && !first.has(entry.referenceKey))
			first.set(entry.referenceKey, entry);
	return first;
}

/** The objection to an entry whose reference is that of `first`, another entry of the run. */
export function referenceObjection(
	entry: Entry,
	first: Entry | undefined,
): EntryResult | undefined {
	if (first === undefined || first.itemIndex === entry.itemIndex) return undefined;
	const likeness =
		first.reference === entry.reference
			? `which item ${first.itemIndex} has too`
			: `which looks like ${show(first.reference)} of item ${first.itemIndex}`;
	return {
		code: 'sameReference',
		message: `Reference is ${show(entry.reference)}, ${likeness}`,
		remedy:
			'The same payment? Then remove this row. Another one? Then give it a reference of its own.',
	};
}
