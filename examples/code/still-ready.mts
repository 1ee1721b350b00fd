/**
 * The payments that are sent after the approval of a list. `npm run examples` also writes `stillReady` into the node
 * *Decision*, so this file imports nothing but types.
 */
import type { PaymentRow, RegisterRow } from './payment-row.mts';

/** The letters and digits of a reference. References that differ only in signs count as one, so that neither is sent. */
const keyOf = ({ reference }: RegisterRow): string =>
	(reference ?? '')
		.normalize('NFKC')
		.toLowerCase()
		.replace(/[^\p{L}\p{N}]/gu, '');

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
	const taken = new Set(changed.map(keyOf));
	return checked.filter((row) => row.outcome === 'ready' && !taken.has(keyOf(row)));
}
