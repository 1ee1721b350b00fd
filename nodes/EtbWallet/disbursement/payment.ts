/** The payments that a run is asked for: reading them from the items, and checking each. */
import { fromDecimal, isAbove, requiredDecimal, type Decimal } from '../../shared/decimal';
import {
	InvalidValueError,
	isAbsent,
	requiredChoice,
	requiredText,
	show,
} from '../../shared/invalidValue';
import { isMapped, type ParameterReader } from '../actions/mapping';
import type { Run } from '../actions/operation';
import type { RunOptions } from './checks';
import { requiredReference } from './reference';

/** What a person found out about a payment whose outcome is not known. */
const findings = ['paid', 'recordPaid', 'notPaid', 'unclear'] as const;

export interface Payment {
	itemIndex: number;
	toUserId: string;
	/** In ETB. */
	amount: Decimal;
	reference?: string;
	/** Only in a run that settles. */
	finding?: (typeof findings)[number];
}

/** What is read of a payment so far, which is all of it only if each field can be used. */
export type PartialPayment = Pick<Payment, 'itemIndex'> & Partial<Payment>;

/** Reads a person and an amount. @param partial gets each field as soon as it is read. @throws {InvalidValueError} */
export function readPayee(
	read: ParameterReader,
	itemIndex: number,
	partial: PartialPayment,
): Payment {
	partial.toUserId = readToUserId(read, itemIndex);
	partial.amount = amountInEtb(read('amountEtb', itemIndex));
	return { ...partial, toUserId: partial.toUserId, amount: partial.amount };
}

/** Makes a reader of payments with their references and, in a run that settles, findings. It throws what `readPayee` does. */
export function paymentReader(
	{ read, context }: Pick<Run, 'read' | 'context'>,
	{ mode, maxAmount }: Pick<RunOptions, 'mode' | 'maxAmount'>,
): (itemIndex: number, partial: PartialPayment) => Payment {
	const settles = mode === 'settle';
	const isReferenceExpected = settles || isMapped(context, 'reference');
	return (itemIndex, partial) => {
		const reference = readReference(read('reference', itemIndex), isReferenceExpected);
		if (reference !== undefined) partial.reference = reference;
		const payment = readPayee(read, itemIndex, partial);
		if (settles) return { ...payment, finding: readFinding(read('finding', itemIndex)) };
		if (maxAmount !== undefined && isAbove(payment.amount, maxAmount)) {
			throw new InvalidValueError(
				`Amount (ETB) is ${show(Number(payment.amount))}, which is above the Maximum per Payment of ${show(Number(maxAmount))}`,
				'Check the amount, or raise the maximum under Options.',
			);
		}
		return payment;
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

function readFinding(value: unknown): Payment['finding'] {
	return isAbsent(value) ? 'unclear' : requiredChoice('Finding', value, findings);
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
