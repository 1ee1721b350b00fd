import { sleep } from 'n8n-workflow';
import type { IExecuteFunctions } from 'n8n-workflow';

/**
 * What n8n offers a node to remember entries by is a read and then a write, which two processes can mix up. But
 * its first write is an insert, which the database lets only one of them do. So the row of the workflow's own
 * entries is the lock between the processes of n8n: it exists exactly while the lock is held.
 */
const options = { mode: 'entries' } as const;
const mark = 'etb-wallet-lock';

/** Who waits puts one of these beside the mark. While it stays there, the lock has not changed hands. */
const waitingMark = (index: number): string => `etb-wallet-waiting-${index}`;
const waitingMarks = 100;

/** In ms. How often who waits looks for its own mark. */
const lookEvery = 2_000;

/** In ms. The lock is held for a few database accesses; one that is held for longer is of a process that ended. */
const abandonedAfter = 30_000;

/** In ms, at random on top of it: two that wait must not both take an abandoned lock. */
const abandonedSpread = 10_000;

/** In ms, well below. Who held the lock for longer may have lost it, and must not act on what it read. */
const safeFor = 15_000;

/** One alone may be an insert that another process did first and whose row is gone already. */
const failuresToBelieve = 5;

/** At random: processes that wait must not keep in step. */
const pause = async (): Promise<void> => await sleep(5 + Math.random() * 20);

/** The last access to each workflow's entries in this process, which needs no polling to take turns. */
const queues = new Map<string, Promise<unknown>>();

/**
 * Runs `access` while nothing else, in this process or another process of n8n, does so for the same workflow.
 * @throws {Error} when the lock cannot be taken, or was held for too long; what `access` did then does not count
 */
export async function exclusively<Result>(
	context: IExecuteFunctions,
	access: () => Promise<Result>,
): Promise<Result> {
	const key = context.getWorkflow().id ?? '';
	const previous = queues.get(key);
	const current = (async () => {
		if (previous !== undefined) {
			await previous.catch(() => undefined);
			// Other processes get their turn.
			await pause();
		}
		return await whileLocked(context, access);
	})();
	queues.set(key, current);
	try {
		return await current;
	} finally {
		if (queues.get(key) === current) queues.delete(key);
	}
}

async function whileLocked<Result>(
	context: IExecuteFunctions,
	access: () => Promise<Result>,
): Promise<Result> {
	const takenAt = await take(context);
	const heldFor = (): number => Date.now() - takenAt;
	try {
		const result = await access();
		if (heldFor() > safeFor) throw new Error('The database took too long to answer');
		return result;
	} finally {
		// Later the lock may be another's.
		if (heldFor() < abandonedAfter) await release(context);
	}
}

/** @returns when it asked for the lock that it got, by the time of day: other clocks stand still while a machine is paused */
async function take(context: IExecuteFunctions): Promise<number> {
	const patience = abandonedAfter + Math.random() * abandonedSpread;
	const own = waitingMark(Math.floor(Math.random() * waitingMarks));
	let sameHolderSince = performance.now();
	let failures = 0;
	let marks = [mark];
	for (;;) {
		const askedAt = Date.now();
		const attempt = await tryToTake(context, marks);
		if (attempt === 'taken') return askedAt;
		failures = attempt instanceof Error ? failures + 1 : 0;
		if (attempt instanceof Error && failures === failuresToBelieve) throw attempt;
		const now = performance.now();
		if (attempt !== 'heldBySame') sameHolderSince = now;
		else if (now - sameHolderSince > patience) await release(context);
		marks = (await isFreeBefore(context, now + lookEvery)) ? [mark] : [mark, own];
	}
}

/** Waits until nobody holds the lock, at most until `time`. It only reads: a write could put the marks of an earlier holder's row into the next one's. */
async function isFreeBefore({ helpers }: IExecuteFunctions, time: number): Promise<boolean> {
	do {
		await pause();
		if ((await helpers.getProcessedDataCount('workflow', options)) === 0) return true;
	} while (performance.now() < time);
	return false;
}

/**
 * @param marks that of the lock, and that of who waits to see whether it is `heldBySame` since it looked before
 * @returns an error when the lock could not be taken although nobody holds it, or could not be looked at
 */
async function tryToTake(
	context: IExecuteFunctions,
	marks: string[],
): Promise<'taken' | 'held' | 'heldBySame' | Error> {
	const { helpers } = context;
	try {
		const { new: added } = await helpers.checkProcessedAndRecord(marks, 'workflow', options);
		if (!added.includes(mark))
			return added.length === 0 && marks.length > 1 ? 'heldBySame' : 'held';
	} catch (error) {
		// Most likely another process did the insert at the same instant.
		if (marks.length === 1 && (await helpers.getProcessedDataCount('workflow', options)) > 0)
			return 'held';
		return error instanceof Error ? error : new Error(String(error));
	}
	await refuseForeignEntries(context, marks);
	return 'taken';
}

async function release(context: IExecuteFunctions): Promise<void> {
	await refuseForeignEntries(context, [mark]);
	await context.helpers.clearAllProcessedItems('workflow', options);
}

/** @throws {Error} when the row holds more than marks: then others need it, and it cannot be the lock */
async function refuseForeignEntries(
	{ helpers }: IExecuteFunctions,
	expected: string[],
): Promise<void> {
	const count = async (): Promise<number> =>
		await helpers.getProcessedDataCount('workflow', options);
	if ((await count()) <= expected.length) return;
	// n8n does not tell which entries there are. With all marks among them, the others can be counted.
	const marks = [mark, ...Array.from({ length: waitingMarks }, (_, index) => waitingMark(index))];
	await helpers.checkProcessedAndRecord(marks, 'workflow', options);
	if ((await count()) <= marks.length) return;
	await helpers.removeProcessed(marks, 'workflow', options);
	throw new Error(
		'Another node of this workflow, such as Remove Duplicates, has its Scope set to Workflow. Set it to Node',
	);
}
