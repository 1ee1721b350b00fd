import { decimalText } from '../../shared/decimal';
import {
	InvalidValueError,
	amountInEtb,
	asInvalidValue,
	isAbsent,
	requiredText,
	show,
} from '../../shared/validation';
import type { Run } from '../run';
import type { Payment } from './outcome';

/** An item that cannot be paid as it is. */
export interface InvalidItem {
	itemIndex: number;
	error: InvalidValueError;
	/** Those of its fields that can be used. */
	known: Partial<Payment>;
}

/**
 * Reads and checks the payments of all items, so that a bad row is known before the first payment.
 * @param maxAmountEtb the most that one payment may be
 * @param sentBefore payments by item index that are taken as they were sent
 */
export function readPayments(
	run: Run,
	maxAmountEtb: number | undefined,
	sentBefore: ReadonlyMap<number, { payment: Payment }>,
): { payments: Payment[]; invalid: InvalidItem[] } {
	const payments: Payment[] = [];
	const invalid: InvalidItem[] = [];
	const referenceExpected = expectsReference(run);
	// Those that were sent keep theirs, whatever an expression gives another item now.
	const firstUse = new Map<string, number>();
	for (const [itemIndex, { payment }] of sentBefore)
		if (payment.reference !== undefined) firstUse.set(payment.reference, itemIndex);
	for (let itemIndex = 0; itemIndex < run.itemCount; itemIndex++) {
		const known: Partial<Payment> = {};
		try {
			const payment =
				sentBefore.get(itemIndex)?.payment ??
				readPayment(run, itemIndex, referenceExpected, maxAmountEtb, known);
			if (payment.reference !== undefined) refuseSecondUse(payment.reference, itemIndex, firstUse);
			payments.push(payment);
		} catch (error) {
			invalid.push({ itemIndex, error: asInvalidValue(error), known });
		}
	}
	return { payments, invalid };
}

/** @param known gets each field as soon as it is read */
function readPayment(
	{ read }: Run,
	itemIndex: number,
	referenceExpected: boolean,
	maxAmountEtb: number | undefined,
	known: Partial<Payment>,
): Payment {
	const reference = readReference(read('reference', itemIndex), referenceExpected);
	if (reference !== undefined) known.reference = reference;
	const toUserId = requiredText(
		'To User ID',
		read('toUserId', itemIndex),
		'Enter the ID that User → Create returned.',
	);
	known.toUserId = toUserId;
	const amountEtb = amountInEtb(read('amountEtb', itemIndex));
	known.amountEtb = amountEtb;
	refuseAbove(amountEtb, maxAmountEtb);
	return { ...known, itemIndex, toUserId, amountEtb, amount: decimalText(amountEtb) ?? '0' };
}

function readReference(value: unknown, expected: boolean): string | undefined {
	const given = typeof value === 'string' ? value.trim() : (value ?? '');
	if (given === '' && !expected) return undefined;
	return requiredText(
		'Reference',
		value,
		'Give this item a reference of its own, or leave the field out for all items.',
	);
}

/** Whether an empty reference is a mistake: an item without one would not be protected, and nobody would see it. */
function expectsReference({ context, read, itemCount }: Run): boolean {
	const { reference, mappingMode } = context.getNode().parameters;
	if (mappingMode !== 'autoMapInputData') {
		return typeof reference === 'string' && /^=\s*\S/.test(reference);
	}
	return Array.from({ length: itemCount }, (_, itemIndex) => itemIndex).some((itemIndex) => {
		try {
			return !isAbsent(read('reference', itemIndex));
		} catch {
			// Reading the payment tells why.
			return true;
		}
	});
}

function refuseAbove(amountEtb: number, maxAmountEtb: number | undefined): void {
	if (maxAmountEtb === undefined || amountEtb <= maxAmountEtb) return;
	throw new InvalidValueError(
		`Amount (ETB) is ${show(amountEtb)}, which is above the Maximum per Payment of ${show(maxAmountEtb)}`,
		'Check the amount, or raise the maximum under Options.',
	);
}

function refuseSecondUse(
	reference: string,
	itemIndex: number,
	firstUse: Map<string, number>,
): void {
	const first = firstUse.get(reference);
	if (first === undefined) firstUse.set(reference, itemIndex);
	if (first === undefined || first === itemIndex) return;
	throw new InvalidValueError(
		`Reference is ${show(reference)}, which item ${first} has too`,
		'Give each payment its own reference, or remove the duplicate row.',
	);
}
