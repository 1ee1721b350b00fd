// What no code inside of n8n can prevent, in one place. Worlds do not count these as failures; the documents state them.
import type { Sent } from './books.mts';
import type { Blow, N8nProcess } from './n8n-process.mts';
import type { Line } from './told.mts';

/** In ms. The lock is taken from a process that holds it for longer than 30 s; some of that time is used up before. */
const longestPauseInAWrite = 10_000;

/**
 * A process that stands still in the middle of n8n's own read and write of a row writes back what it read before; one
 * that stands still between asking for a request and having the connection sends it when it goes on. The nodes have no
 * code in between, so such a pause waits until it is over.
 */
export function mayStandStill(process: N8nProcess, ms: number): boolean {
	return (process.writing === 0 || ms <= longestPauseInAWrite) && process.connecting === 0;
}

/**
 * "It was not paid" is true when it is said. If another run sent the reference after that and ended before this one
 * looked, the word is used for a doubt that it was not about: n8n's record cannot tell.
 */
export function isStaleWord(one: Sent, other: Sent): boolean {
	return usedStaleWord(one, other) || usedStaleWord(other, one);
}

const usedStaleWord = ({ grounds, run }: Sent, other: Sent): boolean =>
	grounds.word === 'notPaid' &&
	other.run !== run &&
	other.leftAt > grounds.wordGivenAt &&
	other.endedAt !== undefined &&
	other.endedAt < grounds.lookedAt;

/**
 * One reference for two people, while the database fails when the wrong one is refused and when the right one's payment is
 * recorded: the wrong one is told as `unknown`, and sent when a person says, truly, that it was not paid.
 */
export const isWordAboutAnother = (one: Sent, other: Sent, struck: number): boolean =>
	one.grounds.word === 'notPaid' &&
	struck > 0 &&
	(one.toUserId !== other.toUserId || one.amountEtb !== other.amountEtb);

/**
 * A payment that was refused, because its reference belongs to another person or amount, can leave its mark when the
 * database fails just then; so can the question whether that was so. It is told as `unknown` from then on, whatever a person
 * says, and the message names the way out: another reference.
 */
export const mayStayUnknown = ({ outcome, message = '' }: Line, struck: number): boolean =>
	outcome === 'unknown' &&
	struck > 0 &&
	message.startsWith('Not sent: its reference was used, perhaps for another person or amount');

/**
 * The pay gate: when n8n's database cannot be asked whether a claim was used, the node sends nothing and says "not
 * paid", and the gate may hand the payment out again. That is wrong if n8n runs the same execution a second time, in
 * another process, which the n8n of today does not do. So in such a world it does not either.
 */
export const mayResume = (faults: boolean, blows: readonly Blow['kind'][]): boolean =>
	!faults && !blows.includes('stopped') && !blows.includes('suspended');
