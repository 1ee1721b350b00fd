// What no code inside of n8n can prevent, in one place. Worlds do not count these as failures; the documents state them.
import type { Blow, N8nProcess } from './n8n-process.mts';
import type { Naming } from './simulated-database.mts';
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

export const isHeldByAnother = (message: string): boolean =>
	message.startsWith('This person may have been paid another amount under this reference');

/**
 * A payment that was refused, because its reference belongs to another person or amount, can leave its mark when the
 * database fails just then; so can the question whether that was so. It is told as `unknown` from then on, whatever a person
 * says, and the message names the way out: another reference.
 */
export const mayStayUnknown = ({ outcome, message = '' }: Line, struck: number): boolean =>
	outcome === 'unknown' && struck > 0 && isHeldByAnother(message);

type NamingOf = (mark: string) => Naming | undefined;

/** The namings of the marks, if all are there and some of them may be left from a question that was interrupted. */
function leftByQuestions(marks: readonly string[], namingOf: NamingOf): readonly Naming[] {
	const namings = marks.flatMap((mark) => namingOf(mark) ?? []);
	const isMeant = namings.every(({ turn }) => turn.endedWell);
	return isMeant || namings.length < marks.length ? [] : namings;
}

/**
 * A fact is two marks, which one call writes. If no call named both, each was a question that n8n did not live to take
 * back: nobody can tell that from the fact.
 */
export function isFactOfQuestions(fact: readonly string[], namingOf: NamingOf): boolean {
	const namings = leftByQuestions(fact, namingOf);
	return (
		namings.length > 0 && namings.every(({ others }) => !fact.every((other) => others.has(other)))
	);
}

/** The same of a claim: a question names both of its marks, but adds only what was not there. */
export const isClaimOfQuestion = (claim: readonly string[], namingOf: NamingOf): boolean =>
	new Set(leftByQuestions(claim, namingOf).map(({ addedBy }) => addedBy)).size > 1;

/**
 * The pay gate: when n8n's database cannot be asked whether a claim was used, the node sends nothing and says "not
 * paid", and the gate may hand the payment out again. That is wrong if n8n runs the same execution a second time, in
 * another process, which the n8n of today does not do. So in such a world it does not either.
 */
export const mayResume = (faults: boolean, blows: readonly Blow['kind'][]): boolean =>
	!faults && !blows.includes('stopped') && !blows.includes('suspended');
