// The excuses: cases that the nodes cannot prevent, or only at too high a cost, each with an example. Worlds do not count
// them as failures; the documents state them.
import type { Sent } from './service-books.mts';
import type { N8nProcess } from './n8n-process.mts';
import { scopeOf, type Payee, type RunFacts, type World } from './world.mts';

/**
 * In ms. The lock is taken from a process that holds it for longer than 30 s. Some of that time passes before a
 * write.
 */
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
 * An old statement. Hana asks the service, hears "not paid", and does something else. Meanwhile the schedule sends that
 * payment again, and its response is lost. Then Hana settles with the old statement: it frees the reference, and the
 * next run pays. No record knows of which request a person speaks. By an expression a statement counts once, so no loop
 * repeats it.
 */
export const isOldStatement = ({ givenAt }: RunFacts, { grounds }: Sent): boolean =>
	givenAt < grounds.reservedAt;

export const payeeMark = ({ key, toUserId, amount }: Payee): string =>
	`payee:${JSON.stringify([key, toUserId, String(amount)])}`;

/**
 * Asked for another payee. A reference was paid to Abebe. A run asks for it with another amount or person, and n8n
 * dies, or its database fails, before it can take the question back: the record names this payee too, who is told
 * `paidBefore` from then on. Nobody is paid. To tell a question from a fact would cost a further mark for each
 * reference that is paid.
 */
export function isPayeeOfQuestion({ database }: World, run: RunFacts, payee: Payee): boolean {
	const [scope, mark, { key }] = [scopeOf(run), payeeMark(payee), payee];
	return (
		database.isAddedAfter(scope, mark, `paidConfirmed:${key}`) &&
		database.isAlone(scope, mark, (other) => other === `paid:${key}`)
	);
}

/**
 * n8n died twice, each time during a question. A reference is in doubt, and n8n dies while a run asks for *paid*.
 * The next run that asks for this reference finds that, asks for *paidConfirmed*, and n8n dies again: together both
 * questions look as if it was paid. Nobody is paid by that.
 */
export function isPaidOfQuestions({ database }: World, run: RunFacts, key: string): boolean {
	const scope = scopeOf(run);
	return ['paid', 'saidPaid'].some((fact) => {
		const [mark, confirmed] = [`${fact}:${key}`, `${fact}Confirmed:${key}`];
		return (
			database.isAddedAfter(scope, confirmed, mark) &&
			database.isAlone(scope, confirmed, (other) => other === mark)
		);
	});
}

/** The same of *doubt* while a payment is under way: a person can settle that payment too early. */
export const isDoubtOfQuestions = ({ database }: World, run: RunFacts, key: string): boolean =>
	database.wasConfirmedLater(scopeOf(run), `doubtConfirmed:${key}`);
