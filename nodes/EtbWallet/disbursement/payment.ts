/** Reads the payments of the items, and checks each. */
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { amountInEtb } from '../../shared/amount';
import { isAbove, type Decimal } from '../../shared/decimal';
import {
	InvalidValueError,
	invalid,
	isAbsent,
	requiredText,
	show,
} from '../../shared/invalidValue';
import { isMapped, similarKeys, valueInItem, type ParameterReader } from '../actions/mapping';
import { requiredReference } from './reference';
import { findings, type Finding, type Row, type RunOptions } from './run';

/** Reads a person and an amount. The row gets each as soon as it is read. @throws {InvalidValueError} */
export function readPayee(read: ParameterReader, row: Row, maxAmount?: Decimal): void {
	row.toUserId = readToUserId(read, row.itemIndex);
	const amount = amountInEtb(read('amountEtb', row.itemIndex));
	row.amount = amount;
	if (maxAmount !== undefined && isAbove(amount, maxAmount)) {
		throw invalid(
			'Amount (ETB)',
			Number(amount),
			`is above the Maximum per Payment of ${show(Number(maxAmount))}`,
			'Check the amount, or raise the maximum under Options.',
		);
	}
}

/** Makes a reader of payments with their references and findings. It throws what `readPayee` does. */
export function paymentReader(
	context: IExecuteFunctions,
	read: ParameterReader,
	{ finding: chosen, maxAmount }: RunOptions,
): (row: Row) => void {
	const settles = chosen !== undefined;
	const isReferenceExpected = settles || isMapped(context, 'reference');
	const items = context.getInputData().map(({ json }) => json);
	const refusal = settles ? columnRefusal(chosen, items) : undefined;
	const readFinding = (row: Row): void => {
		if (refusal !== undefined) throw refusal;
		const item = items[row.itemIndex];
		row.hasOwnFinding = chosen === 'fromItem' && writtenIn(item) !== undefined;
		row.finding = chosen === 'fromItem' ? requiredFinding(item) : chosen;
	};
	return (row) => {
		if (!settles) row.oldFinding = writtenIn(items[row.itemIndex]);
		row.reference = readReference(read('reference', row.itemIndex), isReferenceExpected);
		try {
			// What is settled is not sent.
			readPayee(read, row, settles ? undefined : maxAmount);
		} finally {
			// Also of a row without an amount, which may be the double of another one.
			if (settles) readFinding(row);
		}
	};
}

/** @throws {InvalidValueError} */
export function readToUserId(read: ParameterReader, itemIndex: number): string {
	return requiredText(
		'To User ID',
		read('toUserId', itemIndex),
		'Enter the ID that User → Create returned.',
	);
}

function readReference(value: unknown, isExpected: boolean): string | undefined {
	const given = typeof value === 'string' ? value.trim() : value;
	return isAbsent(given) && !isExpected ? undefined : requiredReference(value);
}

/** The finding that a person wrote, such as "Not Paid", if it is one that says something. */
export function wordOf(written = ''): Finding | undefined {
	const word = written
		.normalize('NFKC')
		.toLowerCase()
		.replace(/[\s_."'-]/g, '');
	return findings.find((each) => each !== 'unclear' && each.toLowerCase() === word);
}

/** What table services write into an empty field, such as `[]` or `[null]`, and signs that nobody sees. */
const nothingWritten = /\bnull\b|[[\]{}",\p{Cc}\p{Cf}\p{Z}]/gu;

/** What a person wrote into the field `finding` of an item, or into one that is almost named so, as text. */
function writtenIn(item: IDataObject = {}): string | undefined {
	const texts = similarKeys(item, 'finding')
		.map((key) => item[key] ?? '')
		.map((value) => (typeof value === 'string' ? value.trim() : JSON.stringify(value)));
	return texts.find((text) => text.replace(nothingWritten, '') !== '' && text !== 'unclear');
}

/** What the field `finding` of an item says. @throws {InvalidValueError} also for a field that is almost named so */
function requiredFinding({ finding, ...others }: IDataObject = {}): Finding {
	valueInItem(others, 'finding');
	const written = writtenIn({ finding });
	const word = written === undefined ? 'unclear' : wordOf(written);
	if (word !== undefined) return word;
	throw new InvalidValueError(
		`The field finding of the item is ${show(finding)}`,
		'Write paid, notPaid or nothing into that field of your list.',
	);
}

/**
 * Why a run may not settle. A person who filled in the column, also in part, and chose one finding for all meant one of the
 * two. A person who chose From Each Item for items without the column has findings in a list that this node cannot read.
 */
function columnRefusal(
	chosen: Finding | 'fromItem',
	items: IDataObject[],
): InvalidValueError | undefined {
	if (chosen === 'fromItem') {
		if (items.some((item) => similarKeys(item, 'finding').length > 0)) return undefined;
		return new InvalidValueError(
			'No item has a field finding, from which From Each Item reads',
			'Give your list that column. If it has one, a node between the list and this one does not pass it on: look at INPUT.',
		);
	}
	const itemIndex = items.findIndex((item) => writtenIn(item) !== undefined);
	if (itemIndex === -1) return undefined;
	return new InvalidValueError(
		`Finding is ${show(chosen)}, and the field finding of item ${itemIndex} is ${show(writtenIn(items[itemIndex]))}`,
		'If that field says what the partner service said, choose From Each Item. Otherwise empty it: then Finding holds for each unknown payment of your list.',
	);
}
