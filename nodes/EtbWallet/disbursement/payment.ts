/** Reads the payments of the items, and checks each. */
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { fromDecimal, isAbove, requiredDecimal, type Decimal } from '../../shared/decimal';
import {
	InvalidValueError,
	isAbsent,
	requiredChoice,
	requiredText,
	show,
} from '../../shared/invalidValue';
import { hasExpression, savedParameter } from '../../shared/n8n';
import { isMapped, similarKeys, valueInItem, type ParameterReader } from '../actions/mapping';
import { requiredReference } from './reference';
import { findings, type Row, type RunOptions } from './run';

/** Reads a person and an amount. The row gets each as soon as it is read. @throws {InvalidValueError} */
export function readPayee(read: ParameterReader, row: Row, maxAmount?: Decimal): void {
	row.toUserId = readToUserId(read, row.itemIndex);
	const amount = amountInEtb(read('amountEtb', row.itemIndex));
	row.amount = amount;
	if (maxAmount !== undefined && isAbove(amount, maxAmount)) {
		throw new InvalidValueError(
			`Amount (ETB) is ${show(Number(amount))}, which is above the Maximum per Payment of ${show(Number(maxAmount))}`,
			'Check the amount, or raise the maximum under Options.',
		);
	}
}

/** Makes a reader of payments with their references and, in a run that settles, findings. It throws what `readPayee` does. */
export function paymentReader(
	context: IExecuteFunctions,
	read: ParameterReader,
	{ mode, maxAmount }: RunOptions,
): (row: Row) => void {
	const settles = mode === 'settle';
	const isReferenceExpected = settles || isMapped(context, 'reference');
	const items = context.getInputData();
	const chosen = savedParameter(context, 'finding') ?? 'unclear';
	const isFixed = chosen !== 'fromItem' && !hasExpression(chosen);
	const readFindingOf = (row: Row): void => {
		const { itemIndex } = row;
		const ofItem = findingIn(items[itemIndex]?.json);
		if (isFixed) refuseOtherFinding(chosen, ofItem);
		const given = read('finding', itemIndex);
		if (given === 'fromItem') row.finding = requiredWord(ofItem);
		else row.finding = isAbsent(given) ? 'unclear' : requiredChoice('Finding', given, findings);
		row.hasOwnFinding = row.finding !== 'unclear' && row.finding === wordOf(ofItem);
	};
	return (row) => {
		row.reference = readReference(read('reference', row.itemIndex), isReferenceExpected);
		if (!settles && row.reference !== undefined)
			row.finding = anyWordIn(items[row.itemIndex]?.json);
		try {
			// What is settled is not sent.
			readPayee(read, row, settles ? undefined : maxAmount);
		} finally {
			// Also of a row without an amount, which may be the double of another one.
			if (settles) readFindingOf(row);
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

/** @throws {InvalidValueError} when the item has a field that is almost named so, which may say something else */
function findingIn({ finding, ...others }: IDataObject = {}): unknown {
	valueInItem(others, 'finding');
	return typeof finding === 'string' ? finding.trim() : finding;
}

/** The finding that a person wrote, such as "Not Paid", if it is one that says something. */
function wordOf(value: unknown): Row['finding'] {
	if (typeof value !== 'string') return undefined;
	const word = value
		.normalize('NFKC')
		.toLowerCase()
		.replace(/[\s_."'-]/g, '');
	return findings.find((each) => each !== 'unclear' && each.toLowerCase() === word);
}

/** A finding that a person left in an item, also in a field that is almost named so. */
function anyWordIn(item: IDataObject = {}): Row['finding'] {
	for (const key of similarKeys(item, 'finding')) {
		const word = wordOf(item[key]);
		if (word !== undefined) return word;
	}
	return undefined;
}

/** What the field `finding` of an item says. @throws {InvalidValueError} */
function requiredWord(value: unknown): Row['finding'] {
	const word = wordOf(value);
	if (word !== undefined || isAbsent(value) || value === 'unclear') return word ?? 'unclear';
	throw new InvalidValueError(
		`The field finding of the item is ${show(value)}`,
		'Write paid, notPaid or nothing into that field of your list.',
	);
}

/** A person who filled in a column and chose one finding for all meant one of the two. */
function refuseOtherFinding(chosen: unknown, ofItem: unknown): void {
	if (isAbsent(ofItem) || ofItem === 'unclear' || wordOf(ofItem) === chosen) return;
	throw new InvalidValueError(
		`Finding is ${show(chosen)}, and the field finding of the item is ${show(ofItem)}`,
		'If that field says what the partner service said, choose From Each Item. Otherwise empty it: then Finding holds for each unknown payment of your list.',
	);
}

/** In ETB. JSON writes smaller numbers with an exponent, which the service may not read. */
const leastAmount: Decimal = '0.000001';

/**
 * An amount in ETB: above zero, at most 15 significant digits, and in a text at most two decimals, because `1.250` may
 * mean one thousand. @throws {InvalidValueError}
 */
export function amountInEtb(value: unknown, field = 'Amount (ETB)'): Decimal {
	const remedy =
		'Enter an amount in ETB above zero with a point for decimals, for example 1250.50.';
	const amount = requiredDecimal(field, value, 'a plain number', remedy);
	if (typeof value === 'string' && /\.\d{3}/.test(value)) {
		throw new InvalidValueError(
			`${field} is ${show(value)}, which has more than two decimals`,
			'If its point stands between thousands, leave it out, such as 1250. Otherwise round to two decimals, such as 1250.50.',
		);
	}
	if (amount === '0' || amount.startsWith('-'))
		throw new InvalidValueError(`${field} is ${show(value)}, which is not above zero`, remedy);
	if (isAbove(leastAmount, amount))
		throw new InvalidValueError(`${field} is ${show(value)}, which is below 0.000001`, remedy);
	if (fromDecimal(amount) === undefined) {
		throw new InvalidValueError(
			`${field} is ${show(value)}, which has more than 15 digits`,
			'Round the amount, for example with {{ $json.amount.toFixed(2) }}.',
		);
	}
	return amount;
}
