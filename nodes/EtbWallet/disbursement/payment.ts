/** The payments that a run is asked for: reading them from the items, and checking each. */
import type { Decimal } from '../../shared/decimal';
import { fromDecimal, isAbove, requiredDecimal } from '../../shared/decimal';
import {
	InvalidValueError,
	isAbsent,
	requiredChoice,
	requiredText,
	show,
} from '../../shared/invalidValue';
import type { ParameterReader } from '../actions/mapping';
import { isMapped } from '../actions/mapping';
import type { Run } from '../actions/operation';

/** A person's word about a payment whose outcome is not known; `report` is none. */
const words = ['report', 'paid', 'notPaid'] as const;
type Word = (typeof words)[number];

export interface Payment {
	itemIndex: number;
	toUserId: string;
	/** In ETB. */
	amount: Decimal;
	/** The user's own key for the payment. */
	reference?: string;
	ifUnknown: Word;
}

/** What an item asks for, as far as it can be used. */
export type Asked = Pick<Payment, 'itemIndex'> & Partial<Payment>;

/**
 * Makes a reader of payments for a run.
 * @param maxAmount the most that one payment may be, in ETB
 * @param keepsReferences whether the node keeps the record; else it heeds neither references nor words
 */
export function paymentReader(
	run: Run,
	maxAmount: Decimal | undefined,
	keepsReferences: boolean,
): (itemIndex: number, asked: Asked) => Payment {
	const { read, context } = run;
	// n8n's "Retry execution" repeats the settings of an earlier execution, and a word was about what was before that.
	const heedsWord = context.getMode() !== 'retry';
	const isReferenceExpected = keepsReferences && isMapped(context, 'reference');
	/**
	 * @param asked gets each field as soon as it is read
	 * @throws {InvalidValueError}
	 */
	return (itemIndex, asked) => {
		const reference = keepsReferences
			? readReference(read('reference', itemIndex), isReferenceExpected)
			: undefined;
		if (reference !== undefined) asked.reference = reference;
		const toUserId = readToUserId(read, itemIndex);
		asked.toUserId = toUserId;
		const amount = amountInEtb(read('amountEtb', itemIndex));
		asked.amount = amount;
		if (maxAmount !== undefined && isAbove(amount, maxAmount)) {
			throw new InvalidValueError(
				`Amount (ETB) is ${show(Number(amount))}, which is above the Maximum per Payment of ${show(Number(maxAmount))}`,
				'Check the amount, or raise the maximum under Options.',
			);
		}
		const word = keepsReferences ? readWord(read('options.ifUnknown', itemIndex)) : 'report';
		return { ...asked, toUserId, amount, ifUnknown: heedsWord ? word : 'report' };
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

/** As in the pay gate. n8n reads and writes all references of a node for each window of payments. */
const longestReference = 200;

function readReference(value: unknown, isExpected: boolean): string | undefined {
	const given = typeof value === 'string' ? value.trim() : value;
	if (isAbsent(given) && !isExpected) return undefined;
	const reference = requiredText(
		'Reference',
		value,
		'Give this item a reference of its own. To pay without references, clear the Reference field or remove its column.',
	);
	if (Array.from(reference).length <= longestReference) return reference;
	throw new InvalidValueError(
		`Reference is ${show(reference)}, which is longer than ${longestReference} characters`,
		'Give this item a shorter key, such as an invoice number.',
	);
}

function readWord(value: unknown): Word {
	return isAbsent(value) ? 'report' : requiredChoice('If Outcome Is Unknown', value, words);
}

/** In ETB. JSON writes smaller numbers with an exponent, which not every reader of amounts expects. */
const leastAmount: Decimal = '0.000001';

/**
 * An amount in ETB: above zero, at most 15 significant digits. Thousands separators are not guessed.
 * @throws {InvalidValueError}
 */
export function amountInEtb(value: unknown, field = 'Amount (ETB)'): Decimal {
	const remedy =
		'Enter an amount in ETB above zero with a point for decimals, for example 1250.50.';
	const amount = requiredDecimal(field, value, 'a plain number', remedy);
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
