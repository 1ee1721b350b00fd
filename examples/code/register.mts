/** The register: the table *ETB payments*. */
import { registeredOutcome } from '../../nodes/EtbWallet/list/registeredOutcome.ts';
import { referenceKeyOf } from '../../nodes/shared/reference.ts';
import {
	amountOf,
	hasOutcome,
	isCorrection,
	isDisputed,
	isOfPerson,
	listReferenceOf,
	referenceOf,
	roundingEtb,
	sumOf,
	sureness,
	type PaymentRow,
	type RegisterRow,
} from './payment-row.mts';
import { escapeHtml, formatSum, forWhat, namesWithNumbers } from './text.mts';
import { itemsOf } from './workflow.mts';

export interface Register {
	/** For the key of each reference the row with the surest outcome. */
	byReference: ReadonlyMap<string, RegisterRow>;
	/** The same, for the reference that the list would give the payment. */
	byListReference: ReadonlyMap<string, RegisterRow>;
	/** All rows with that outcome, one for each transaction: two workflows at once can pay one reference. */
	rows: RegisterRow[];
}

/** The register can have a reference in several spellings. A row without one has a key that is no reference. */
const keyOfRow = ({ reference, id }: RegisterRow): string =>
	reference ? referenceKeyOf(reference) : `id ${id}`;

/** Whether two rows of one reference can be of one payment: the list does not give them two references. */
function maybeSame(one: RegisterRow, other: RegisterRow): boolean {
	const [first, second] = [one, other].map(listReferenceOf);
	return !first || !second || referenceKeyOf(first) === referenceKeyOf(second);
}

export function registerOf(read: RegisterRow[]): Register {
	const rows = read
		// A row that somebody added by hand is empty.
		.filter(({ reference, outcome }) => reference || outcome)
		.map((row) => ({ ...row, outcome: registeredOutcome(row.outcome ?? '') }))
		.sort((one, other) => sureness(one) - sureness(other));
	const byReference = new Map(rows.map((row) => [keyOfRow(row), row]));
	const byListReference = new Map(rows.map((row) => [referenceKeyOf(listReferenceOf(row)), row]));
	byListReference.delete('');
	const surest = rows.filter((row) => {
		const best = byReference.get(keyOfRow(row)) ?? row;
		return row.outcome === best.outcome || !maybeSame(row, best);
	});
	// Somebody who was paid, or may have been, under another reference is not called *not paid*. What a person said stays.
	const isOvertaken = (row: RegisterRow): boolean =>
		hasOutcome('notPaid')(row) &&
		!row.settledBy &&
		sureness(byListReference.get(referenceKeyOf(listReferenceOf(row))) ?? {}) > sureness(row);
	const byTransaction = new Map(
		surest
			.filter((row) => !isOvertaken(row))
			.map((row) => [`${keyOfRow(row)} ${row.outcome} ${row.txHash}`, row]),
	);
	return { byReference, byListReference, rows: [...byTransaction.values()] };
}

/** The register as it was read last. */
export function readRegister(): Register {
	const now = itemsOf(() => $('Payments now'));
	return registerOf(now.length > 0 ? now : itemsOf(() => $('Payments')));
}

/** The row with exactly this reference, in any spelling. */
export const rowWithReference = (
	{ byReference }: Register,
	{ reference }: Pick<RegisterRow, 'reference'>,
): RegisterRow | undefined => byReference.get(referenceKeyOf(reference ?? ''));

/** The row of a payment: the surest one under its reference, and under the one that the list gives it. */
export function rowOf(
	{ byReference, byListReference }: Register,
	row: PaymentRow,
): RegisterRow | undefined {
	const key = referenceKeyOf(referenceOf(row));
	const found = [
		byListReference.get(referenceKeyOf(listReferenceOf(row))),
		byListReference.get(key),
		byReference.get(key),
	].flatMap((each) => each ?? []);
	return found.sort((one, other) => sureness(one) - sureness(other)).at(-1);
}

/** The row that a result changes. Under a changed reference it is the row of the payment that was not paid before. */
export function rowToChange(register: Register, result: PaymentRow): RegisterRow | undefined {
	const listed = register.byListReference.get(referenceKeyOf(listReferenceOf(result)));
	// The row of a payment that somebody recorded as not paid stays, so that this can be taken back.
	const isSame = listed && hasOutcome('notPaid')(listed) && !listed.settledBy;
	const own = rowWithReference(register, { reference: referenceOf(result) });
	return own && maybeSame(own, result) ? own : isSame ? listed : undefined;
}

/** The corrections of a person for a period. One that is unknown may have been paid, so it counts too. */
export const correctionsOf = (row: PaymentRow, { rows }: Register): RegisterRow[] =>
	rows.filter(
		(each) =>
			isOfPerson(each, row) &&
			each.period === row.period &&
			isCorrection(each) &&
			!hasOutcome('notPaid')(each),
	);

/** The disputed payments among rows of the register that no correction of at least their amount has ended. */
export const openDisputes = (rows: RegisterRow[], register: Register): RegisterRow[] =>
	rows.filter(
		(row) => isDisputed(row) && sumOf(correctionsOf(row, register)) < amountOf(row) - roundingEtb,
	);

/** The words for them; empty if there are none. HTML. */
export const disputeText = (disputed: RegisterRow[]): string =>
	disputed.length > 0
		? `Recorded as paid, but a second person said that it was not: ${disputed.map((row) => `${namesWithNumbers([row])}, ${formatSum([row])} ETB for ${escapeHtml(forWhat(row))}`).join('; ')}`
		: '';
