/**
 * The approval of a list. `npm run examples` also writes `modeAfter` into the node *Decision*, so this file imports
 * nothing but types.
 */
import type { Submitted, User } from './workflow.mts';

export const declineChoice = 'Decline: pay nobody';

/**
 * The mode of the node that pays, after somebody answered the page of a list. An approval counts if its words are those
 * of the page that was shown last, and if it is of somebody else than the person who uploaded the list.
 * @param approveChoice the choice of that page, with sum, people, purpose and period
 */
export function modeAfter(
	{ decision, user }: Submitted,
	uploadedBy: User | undefined,
	approveChoice: string | undefined,
): 'pay' | 'dryRun' {
	const isOfSomebodyElse = !!user?.id && !!uploadedBy?.id && user.id !== uploadedBy.id;
	return isOfSomebodyElse && !!decision && decision === approveChoice ? 'pay' : 'dryRun';
}
