/** The approval of a list. `npm run examples` also writes `modeAfter` into the node *Decision*. */
import { registeredOutcome } from '../../nodes/EtbWallet/list/registeredOutcome.ts';
import { normalizeText } from '../../nodes/shared/normalizeText.ts';
import { referenceKeyOf } from '../../nodes/shared/reference.ts';
import { employeeKeyOfRow, type PaymentRow, type RegisterRow } from './payment-row.mts';
import type { Submitted, User } from './workflow.mts';

export const declineChoice = 'Decline: pay nobody';

/** A list as it was checked for its page, and the register before the check and after the answer. */
interface ShownList {
	/** The results of the dry run. */
	dryRun: PaymentRow[];
	before: RegisterRow[];
	now: RegisterRow[];
}

/** The reference of a payment, and the employee number and wallet of its person, each in its normalized form. */
function idsOf(row: PaymentRow): string[] {
	const { reference, toUserId, userId } = row;
	const number = employeeKeyOfRow(row);
	return [
		referenceKeyOf(reference ?? ''),
		number && `number ${number}`,
		normalizeText(toUserId || userId || ''),
	].filter(Boolean);
}

/**
 * The payments that people who are ready got, or may have got, since the list was checked. They count for any purpose,
 * because the page did not show them.
 */
export function paymentsSince({ dryRun, before, now }: ShownList): RegisterRow[] {
	const outcomeIn = ({ outcome }: RegisterRow) => registeredOutcome(outcome ?? '');
	const versionOf = (row: RegisterRow): string => {
		const outcome = outcomeIn(row);
		return outcome === 'paid' ? outcome : `${outcome} ${new Date(row.updatedAt ?? 0).getTime()}`;
	};
	const versions = new Map(before.map((row) => [row.id, versionOf(row)]));
	const ready = new Set(dryRun.filter(({ outcome }) => outcome === 'ready').flatMap(idsOf));
	return now.filter(
		(row) =>
			(row.reference || row.outcome) &&
			// A payment that was paid, and is not paid now, was part of the page too.
			(outcomeIn(row) !== 'notPaid' || versions.get(row.id) === 'paid') &&
			versions.get(row.id) !== versionOf(row) &&
			idsOf(row).some((id) => ready.has(id)),
	);
}

/**
 * The mode of the node that pays, after somebody answered the page of a list. An approval counts if its words are those
 * of the page that was shown last, another person than the uploader gave it, and nobody who is ready got another payment
 * since.
 * @param approveChoice the choice of that page, with sum, people, purpose and period
 */
export function modeAfter(
	{ decision, user }: Submitted,
	uploadedBy: User | undefined,
	approveChoice: string | undefined,
	shown: ShownList,
): 'pay' | 'dryRun' {
	const isOfSomebodyElse = !!user?.id && !!uploadedBy?.id && user.id !== uploadedBy.id;
	const isApproved = isOfSomebodyElse && !!decision && decision === approveChoice;
	return isApproved && paymentsSince(shown).length === 0 ? 'pay' : 'dryRun';
}
