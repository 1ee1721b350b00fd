/** The register: the table *ETB payments*. */
import { periodIn } from '../../nodes/EtbWallet/list/period.ts';
import { registeredOutcome } from '../../nodes/EtbWallet/list/registeredOutcome.ts';
import { groupBy } from '../../nodes/shared/groupBy.ts';
import { normalizeText } from '../../nodes/shared/normalizeText.ts';
import { referenceKeyOf } from '../../nodes/shared/reference.ts';
import {
	hasOutcome,
	isCorrection,
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
	 * transaction counts only if no row of its reference has one.
	 */
	rows: RegisterRow[];
	/** The rows of each payment without a transaction, except those that are *notPaid*: two workflows at once can write one each. */
	withoutTransaction: ReadonlyMap<string, RegisterRow[]>;
}

/** The other rows of a payment that have no transaction, except those that are *notPaid*. */
export const copiesOf = (row: RegisterRow, { withoutTransaction }: Register): RegisterRow[] =>
	(withoutTransaction.get(keyOfRow(row)) ?? []).filter(({ id }) => id !== row.id);

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
	const withoutTransaction = groupBy(
		rows.filter((row) => !hasOutcome('notPaid')(row) && !row.txHash),
		keyOfRow,
	);
	return { byReference, rows: [...byTransaction.values()], withoutTransaction };
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

/** The payments for a purpose in the last period before one that has any. */
export function paidLastTime(
	{ rows }: Register,
	{ period, purpose }: { period: string; purpose: string },
): RegisterRow[] {
	const periodOf = (row: RegisterRow): string => row.period ?? '';
	const earlier = rows.filter(
		(row) => hasOutcome('paid')(row) && row.purpose === purpose && periodOf(row) < period,
	);
	const last = earlier.map(periodOf).sort().at(-1);
	return earlier.filter((row) => row.period === last);
}
