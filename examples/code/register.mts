/** The register: the table *ETB payments*. */
import { employeeKeyOf } from '../../nodes/EtbWallet/list/employeeNumber.ts';
import { keyOf } from '../../nodes/shared/reference.ts';
import {
	hasOutcome,
	isCorrection,
	sureness,
	type PaymentRow,
	type RegisterRow,
} from './payment-row.mts';
import { itemsOf } from './workflow.mts';

export interface Register {
	/** For each reference the row with the surest outcome. */
	byReference: ReadonlyMap<string, RegisterRow>;
	/** All rows with that outcome, one for each transaction: two workflows at once can pay one reference. */
	rows: RegisterRow[];
}

/** The register can have a reference in several spellings. */
const keyOfRow = ({ reference, id }: RegisterRow): string =>
	reference ? keyOf(reference) : String(id ?? '');

export function registerOf(read: RegisterRow[]): Register {
	const rows = read.filter(keyOfRow).sort((one, other) => sureness(one) - sureness(other));
	const byReference = new Map(rows.map((row) => [keyOfRow(row), row]));
	const surest = rows.filter((row) => row.outcome === byReference.get(keyOfRow(row))?.outcome);
	const byTransaction = new Map(surest.map((row) => [`${keyOfRow(row)} ${row.txHash}`, row]));
	return { byReference, rows: [...byTransaction.values()] };
}

/** The register as it was read last. */
export function readRegister(): Register {
	const now = itemsOf(() => $('Payments now'));
	return registerOf(now.length > 0 ? now : itemsOf(() => $('Payments')));
}

export const registered = (
	{ byReference }: Register,
	{ reference }: Pick<PaymentRow, 'reference'>,
): RegisterRow | undefined => byReference.get(keyOf(reference ?? ''));

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
