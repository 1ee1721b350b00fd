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
import type { RunOptions } from './checks';
import { requiredReference } from './reference';

/** What a person found out about a payment whose outcome is not known. */
const findings = ['paid', 'recordPaid', 'notPaid', 'unclear'] as const;

export interface Payment {
	itemIndex: number;
	toUserId: string;
	/** In ETB. */
	amount: Decimal;
	/** The user's own key for the payment. */
	reference?: string;
	/** Only in a run that settles. */
	finding?: (typeof findings)[number];
}

/** What an item asks for, as far as it can be used. */
export type Asked = Pick<Payment, 'itemIndex'> & Partial<Payment>;

type ReadPayment = (itemIndex: number, asked: Asked) => Payment;

/** Reads a person and an amount. @param asked gets each field as soon as it is read. @throws {InvalidValueError} */
export function readPayee(read: ParameterReader, itemIndex: number, asked: Asked): Payment {
	asked.toUserId = readToUserId(read, itemIndex);
	asked.amount = amountInEtb(read('amountEtb', itemIndex));
	return { ...asked, toUserId: asked.toUserId, amount: asked.amount };
}

/** Makes a reader of payments with their references, and of findings in a run that settles. It throws as above. */
export function paymentReader(
	{ read, context }: Pick<Run, 'read' | 'context'>,
	{ mode, maxAmount }: Pick<RunOptions, 'mode' | 'maxAmount'>,
): ReadPayment {
	const settles = mode === 'settle';
	const isReferenceExpected = settles || isMapped(context, 'reference');
	return (itemIndex, asked) => {
		const reference = readReference(read('reference', itemIndex), isReferenceExpected);
		if (reference !== undefined) asked.reference = reference;
		const payment = readPayee(read, itemIndex, asked);
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

/** In ETB. JSON writes smaller numbers with an exponent, which not every reader of amounts expects. */
const leastAmount: Decimal = '0.000001';

/**
 * An amount in ETB: above zero, at most 15 significant digits, at most two decimals in a text. Thousands separators are
 * not guessed: `1.250` may be one thousand.
 * @throws {InvalidValueError}
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
