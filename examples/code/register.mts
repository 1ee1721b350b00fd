/** The register: the table *ETB payments*. */
import { periodIn } from '../../nodes/EtbWallet/list/period.ts';
import { registeredOutcome } from '../../nodes/EtbWallet/list/registeredOutcome.ts';
import { groupBy } from '../../nodes/shared/groupBy.ts';
import { normalizeText } from '../../nodes/shared/normalizeText.ts';
import { referenceKeyOf } from '../../nodes/shared/reference.ts';
import {
	sumOf,
	hasOutcome,
	isCorrection,
	isVoided,
	isSamePerson,
	employeeKeyOfRow,
	referenceOf,
	sureness,
	type PaymentRow,
	type RegisterRow,
} from './payment-row.mts';

export interface Register {
	/** For the key of each reference the row with the surest outcome, and with a transaction if one has it. */
	byReference: ReadonlyMap<string, RegisterRow>;
	/**
	 * The rows with that outcome, one for each transaction: two workflows at once can pay one reference. A row without a
	 * transaction is left out if another one has it, because it is that of a workflow that did not send.
	 */
	rows: RegisterRow[];
	/** The rows of a payment that are unknown: two workflows at once can write one each. */
	unknownCopies: ReadonlyMap<string, RegisterRow[]>;
}

/** The other rows of a payment that are unknown. */
export const unknownCopiesOf = (row: RegisterRow, { unknownCopies }: Register): RegisterRow[] =>
	(unknownCopies.get(keyOfRow(row)) ?? []).filter(({ id }) => id !== row.id);

/** The register can have a reference in several spellings. A row without one has a key that is no reference. */
const keyOfRow = ({ reference, id }: RegisterRow): string =>
	reference ? referenceKeyOf(reference) : `id ${id}`;

/** A person can write into the table by hand. */
const normalized = (row: RegisterRow) => ({
	employeeKey: employeeKeyOfRow(row) || row.employeeKey,
	period: periodIn(normalizeText(row.period ?? '')) ?? row.period,
});

export function registerOf(read: RegisterRow[]): Register {
	const rows = read
		// A row that somebody added by hand is empty.
		.filter(({ reference, outcome }) => reference || outcome)
		.map((row) => ({ ...row, ...normalized(row), outcome: registeredOutcome(row.outcome ?? '') }))
		.sort(
			(one, other) =>
				sureness(one) - sureness(other) || Number(!!one.txHash) - Number(!!other.txHash),
		);
	const byReference = new Map(rows.map((row) => [keyOfRow(row), row]));
	const isSurest = (row: RegisterRow): boolean => {
		const { outcome, txHash } = byReference.get(keyOfRow(row)) ?? {};
		return row.outcome === outcome && Boolean(row.txHash) === Boolean(txHash);
	};
	const byTransaction = new Map(
		rows.filter(isSurest).map((row) => [`${keyOfRow(row)} ${row.txHash}`, row]),
	);
	const unknownCopies = groupBy(rows.filter(hasOutcome('unknown')), keyOfRow);
	return { byReference, rows: [...byTransaction.values()], unknownCopies };
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

/** The voided payments of a person in a period: corrections, or others. */
function voidedOf(row: RegisterRow, areCorrections: boolean, { rows }: Register): RegisterRow[] {
	const isOfPerson = (each: RegisterRow): boolean =>
		each.reference === row.reference || isSamePerson(each, row);
	return rows.filter(
		(each) =>
			isVoided(each) &&
			isOfPerson(each) &&
			each.period === row.period &&
			isCorrection(each) === areCorrections,
	);
}

/** The sum of the voided payments of a person in a period, in ETB, without corrections. */
export const voidedEtb = (row: RegisterRow, register: Register): number =>
	voidedOf(row, false, register).reduce(
		(sum, { requestedAmountEtb }) => sum + (requestedAmountEtb ?? 0),
		0,
	);

/**
 * The amount that is still missing for the voided payments of a person in a period, in ETB; zero or less if nothing is.
 * Nobody can see for which payment a correction was. A voided correction was in place of another voided payment, or of
 * a further correction, so only the largest counts, and only if all are corrections.
 */
export function missingForVoided(row: RegisterRow, register: Register): number {
	const corrections = voidedOf(row, true, register);
	const largest = Math.max(0, ...corrections.map((each) => each.requestedAmountEtb ?? 0));
	return (voidedEtb(row, register) || largest) - sumOf(correctionsOf(row, register));
}

/** The purposes of corrections in the form *Upload a list*. */
const corrections = ['correction', 'correction 2', 'correction 3'];

/** The purpose of a further correction for these people in a period; undefined if they have all of them. */
export function nextCorrection(people: RegisterRow[], { rows }: Register): string | undefined {
	const used = people.flatMap((person) =>
		rows
			.filter((row) => isSamePerson(row, person) && row.period === person.period)
			// The list of one that was not paid can be uploaded again.
			.filter((row) => !hasOutcome('notPaid')(row))
			.map(({ purpose }) => purpose ?? ''),
	);
	return corrections.find(
		(_, index) => !corrections.slice(index).some((each) => used.includes(each)),
	);
}
