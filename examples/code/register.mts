/** The register: the table *ETB payments*. */
import { employeeKeyOf } from '../../nodes/EtbWallet/list/employeeNumber.ts';
import { registeredOutcome } from '../../nodes/EtbWallet/list/registeredOutcome.ts';
import { keyOf } from '../../nodes/shared/reference.ts';
import {
	hasOutcome,
	isCorrection,
	listReferenceOf,
	referenceOf,
	sureness,
	type PaymentRow,
	type RegisterRow,
} from './payment-row.mts';
import { itemsOf } from './workflow.mts';

export interface Register {
	/** For the key of each reference the row with the surest outcome. */
	byReference: ReadonlyMap<string, RegisterRow>;
	/** The same, for the reference that the list would give the payment. */
	byListReference: ReadonlyMap<string, RegisterRow>;
	/** All rows with that outcome, one for each transaction: two workflows at once can pay one reference. */
	rows: RegisterRow[];
}

/** The register can have a reference in several spellings. */
const keyOfRow = ({ reference, id }: RegisterRow): string =>
	reference ? keyOf(reference) : String(id ?? '');

export function registerOf(read: RegisterRow[]): Register {
	const rows = read
		.filter(keyOfRow)
		.map((row) => ({ ...row, outcome: registeredOutcome(row.outcome ?? '') }))
		.sort((one, other) => sureness(one) - sureness(other));
	const byReference = new Map(rows.map((row) => [keyOfRow(row), row]));
	const surest = rows.filter((row) => row.outcome === byReference.get(keyOfRow(row))?.outcome);
	const byTransaction = new Map(surest.map((row) => [`${keyOfRow(row)} ${row.txHash}`, row]));
	const byListReference = new Map(rows.map((row) => [keyOf(listReferenceOf(row)), row]));
	byListReference.delete('');
	return { byReference, byListReference, rows: [...byTransaction.values()] };
}

/** The register as it was read last. */
export function readRegister(): Register {
	const now = itemsOf(() => $('Payments now'));
	return registerOf(now.length > 0 ? now : itemsOf(() => $('Payments')));
}

/** The row of a payment: the surest one under its reference, and under the one that the list gives it. */
export function registered(
	{ byReference, byListReference }: Register,
	row: PaymentRow,
): RegisterRow | undefined {
	const key = keyOf(referenceOf(row));
	const [own, listed] = [byReference.get(key), byListReference.get(key)];
	return own && sureness(own) >= sureness(listed ?? {}) ? own : listed;
}

/** The row that a result changes. Under a changed reference it is the row of the payment that was not paid before. */
export function rowToChange(
	{ byReference, byListReference }: Register,
	result: PaymentRow,
): RegisterRow | undefined {
	const listed = byListReference.get(keyOf(listReferenceOf(result)));
	return (
		byReference.get(keyOf(referenceOf(result))) ??
		(listed && hasOutcome('notPaid')(listed) ? listed : undefined)
	);
}

/** The corrections of a person for a period. One that is unknown may have been paid, so it counts too. */
export const correctionsOf = (
	{ employeeKey, period }: PaymentRow,
	{ rows }: Register,
): RegisterRow[] =>
	rows.filter(
		(row) =>
			employeeKeyOf(row.employeeKey ?? '') === employeeKey &&
			row.period === period &&
			isCorrection(row) &&
			!hasOutcome('notPaid')(row),
	);
