/**
 * The payments that are sent after the approval of a list. `npm run examples` also writes `stillReady` into the node
 * *Decision*, so this file imports nothing but types.
 */
import type { PaymentRow, RegisterRow } from './payment-row.mts';

/** The reference of a row, and the one that a list gives it: somebody can have changed it in the node that pays. */
const referencesOf = ({ reference, purpose, period, employeeKey }: RegisterRow): string[] =>
	[reference ?? '', employeeKey ? `${purpose}-${period}-${employeeKey}` : '']
		.map((each) => each.trim().toLowerCase())
		.filter(Boolean);

/**
 * The payments that are still ready: those that no other workflow paid, or left unknown, while the page was open.
 * @param checked the results of the dry run
 * @param before the register as the list was checked with it
 * @param now the register after the approval
 */
export function stillReady(
	checked: PaymentRow[],
	before: RegisterRow[],
	now: RegisterRow[],
): PaymentRow[] {
	const outcomes = new Map(before.map(({ id, outcome }) => [id, outcome]));
	const changed = now.filter(
		({ id, outcome }) => outcome !== 'notPaid' && outcome !== outcomes.get(id),
	);
	const taken = new Set(changed.flatMap(referencesOf));
	return checked.filter(
		(row) => row.outcome === 'ready' && !referencesOf(row).some((each) => taken.has(each)),
	);
}
