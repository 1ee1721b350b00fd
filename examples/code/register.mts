/** The register: the table *ETB payments*. */
import { periodIn } from '../../nodes/EtbWallet/list/period.ts';
import { registeredOutcome } from '../../nodes/EtbWallet/list/registeredOutcome.ts';
import { normalizeText } from '../../nodes/shared/normalizeText.ts';
import { referenceKeyOf } from '../../nodes/shared/reference.ts';
import {
	amountOf,
	roundingEtb,
	sumOf,
	hasOutcome,
	isCorrection,
	isReplaced,
	isSamePerson,
	numberOf,
	referenceOf,
	sureness,
	type PaymentRow,
	type RegisterRow,
} from './payment-row.mts';
import { escapeHtml, formatSum, forWhat, namesWithNumbers } from './text.mts';
import { itemsOf } from './workflow.mts';

export interface Register {
	/** For the key of each reference the row with the surest outcome. */
	byReference: ReadonlyMap<string, RegisterRow>;
	/** All rows with that outcome, one for each transaction: two workflows at once can pay one reference. */
	rows: RegisterRow[];
}

/** The register can have a reference in several spellings. A row without one has a key that is no reference. */
const keyOfRow = ({ reference, id }: RegisterRow): string =>
	reference ? referenceKeyOf(reference) : `id ${id}`;

/** A person can write into the table by hand. */
const normalized = (row: RegisterRow) => ({
	employeeKey: numberOf(row) || row.employeeKey,
	period: periodIn(normalizeText(row.period ?? '')) ?? row.period,
});

export function registerOf(read: RegisterRow[]): Register {
	const rows = read
		// A row that somebody added by hand is empty.
		.filter(({ reference, outcome }) => reference || outcome)
		.map((row) => ({ ...row, ...normalized(row), outcome: registeredOutcome(row.outcome ?? '') }))
		.sort((one, other) => sureness(one) - sureness(other));
	const byReference = new Map(rows.map((row) => [keyOfRow(row), row]));
	const surest = rows.filter((row) => row.outcome === byReference.get(keyOfRow(row))?.outcome);
	const byTransaction = new Map(
		surest.map((row) => [`${keyOfRow(row)} ${row.outcome} ${row.txHash}`, row]),
	);
	return { byReference, rows: [...byTransaction.values()] };
}

/** The register as it was read last. */
export function loadRegister(): Register {
	const afterDecision = itemsOf(() => $('Payments now'));
	return registerOf(afterDecision.length > 0 ? afterDecision : itemsOf(() => $('Payments')));
}

/** The row of a payment: that with its reference, in any spelling. */
export const rowOf = ({ byReference }: Register, row: PaymentRow): RegisterRow | undefined =>
	byReference.get(referenceKeyOf(referenceOf(row)));

/** The corrections of a person for a period. One that is unknown may have been paid, so it counts too. */
export const correctionsOf = (row: PaymentRow, { rows }: Register): RegisterRow[] =>
	rows.filter(
		(each) =>
			isSamePerson(each, row) &&
			each.period === row.period &&
			isCorrection(each) &&
			!hasOutcome('notPaid')(each),
	);

/**
 * The sum of these corrections of a person for a period, in ETB, without what was paid in the place of other payments. A
 * correction that replaced a correction still stands for the first payment.
 */
export function sumWithoutReplaced(
	corrections: RegisterRow[],
	row: PaymentRow,
	{ rows }: Register,
): number {
	const others = rows.filter(
		(each) =>
			isReplaced(each) &&
			!isCorrection(each) &&
			isSamePerson(each, row) &&
			each.period === row.period &&
			each.purpose !== row.purpose,
	);
	const replacedEtb = others.reduce((sum, each) => sum + (each.requestedAmountEtb ?? 0), 0);
	return Math.max(0, sumOf(corrections) - replacedEtb);
}

/** Whether corrections of at least the amount of a payment were paid for its period, perhaps in its place. */
export function mayBeReplaced(row: RegisterRow, register: Register): boolean {
	const paid = correctionsOf(row, register).filter(
		(each) => hasOutcome('paid')(each) && each.reference !== row.reference,
	);
	return sumWithoutReplaced(paid, row, register) > amountOf(row) - roundingEtb;
}

/** The purposes of corrections in the form *Upload a list*. */
const corrections = ['correction', 'correction 2', 'correction 3'];

/** The purpose of a further correction for these people in a period; undefined if they have all of them. */
export function nextCorrection(people: RegisterRow[], { rows }: Register): string | undefined {
	const used = people.flatMap((person) =>
		rows
			.filter((row) => isSamePerson(row, person) && row.period === person.period)
			.map(({ purpose }) => purpose ?? ''),
	);
	return corrections.find(
		(_, index) => !corrections.slice(index).some((each) => used.includes(each)),
	);
}

/** The words for disputed payments; empty if there are none. HTML. */
export const disputeText = (disputed: RegisterRow[]): string =>
	disputed.length > 0
		? `Recorded as paid, but in doubt: ${disputed.map((row) => `${namesWithNumbers([row])}, ${formatSum([row])} ETB for ${escapeHtml(forWhat(row))} (${escapeHtml(row.reason)})`).join('; ')}`
		: '';
