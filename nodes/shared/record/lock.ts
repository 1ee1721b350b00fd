/** Lets one access at a time to the record of a workflow's nodes, among all processes of n8n. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { patience, pause, stopwatch } from '../elapsed';
import type { Entries } from './entries';
import { entriesOf } from './entries';

/**
 * n8n reads and then writes the entries of a node, which two processes can mix up. But its first write is an insert,
 * which the database lets only one of them do. So the row of the workflow's own entries is the lock: it exists
 * exactly while a process holds the lock.
 */
const lockMark = 'etb-wallet-lock';

/** A waiting process puts one of these beside the lock's mark. While it stays there, the lock has not changed hands. */
const waitingMarks = Array.from({ length: 100 }, (_, index) => `etb-wallet-waiting-${index}`);

/** How often a waiting process looks for its own mark. */
const lookEveryMs = 2_000;

/** The lock is held for a few database accesses; one that is held for longer belongs to a process that ended. */
const abandonedAfterMs = 30_000;

/** At random on top of it: two waiting processes must not take over an abandoned lock together. */
const abandonedSpreadMs = 10_000;

/** Well below. A process that held the lock for longer may have lost it, and must not act on what it read. */
const safeForMs = 15_000;

/**
 * One insert can fail because another process inserted the row, which it may have deleted again by now. After so many
 * failures in a row it is the database that fails.
 */
const failuresToBelieve = 5;

/** At random: waiting processes must not keep in step. */
const shortPauseMs = (): number => 5 + Math.random() * 20;

/** The last access to each workflow's references in this process: in one process no polling is needed to take turns. */
const lastAccesses = new Map<string, Promise<unknown>>();

/**
 * Runs `access` while nothing else, in this process or another process of n8n, does so for the same workflow. It gets
 * the node's own entries, which throw when the lock may have been lost, because the process stood still.
 * @param stop gives up waiting for the lock
 * @throws {Error} when the lock cannot be taken, or was held for too long; what `access` did then does not count
 */
export async function exclusively<Result>(
	context: IExecuteFunctions,
	access: (entries: Entries) => Promise<Result>,
	stop?: AbortSignal,
): Promise<Result> {
	const key = context.getWorkflow().id ?? '';
	const previous = lastAccesses.get(key);
	const current = (async () => {
		if (previous !== undefined) {
			await previous.catch(() => undefined);
			// Other processes get their turn.
			await pause(shortPauseMs(), stop);
		}
		return await whileLocked(context, access, stop);
	})();
	lastAccesses.set(key, current);
	try {
		return await current;
	} finally {
		if (lastAccesses.get(key) === current) lastAccesses.delete(key);
	}
}

async function whileLocked<Result>(
	context: IExecuteFunctions,
	access: (entries: Entries) => Promise<Result>,
	stop?: AbortSignal,
): Promise<Result> {
	const row = entriesOf(context, 'workflow');
	const heldForMs = await waitForLock(row, stop);
	const throwIfLate = (): void => {
		if (heldForMs() > safeForMs) throw new Error('The database took too long to answer');
	};
	try {
		const result = await access(entriesOf(context, 'node', throwIfLate));
		throwIfLate();
		return result;
	} finally {
		// Later the lock may be another process's.
		if (heldForMs() < abandonedAfterMs) await release(row);
	}
}

/** @returns the time since it asked for the lock that it got */
async function waitForLock(row: Entries, stop?: AbortSignal): Promise<() => number> {
	const patienceMs = abandonedAfterMs + Math.random() * abandonedSpreadMs;
	const ownMark = waitingMarks[Math.floor(Math.random() * waitingMarks.length)] ?? lockMark;
	let sameHolderForMs = patience();
	let failures = 0;
	let hasWaited = false;
	for (;;) {
		if (stop?.aborted === true) throw new Error('The execution was stopped');
		const heldForMs = stopwatch();
		const found = await askForLock(row, hasWaited ? ownMark : undefined);
		if (found === 'free') return heldForMs;
		failures = found instanceof Error ? failures + 1 : 0;
		if (found instanceof Error && failures === failuresToBelieve) throw found;
		if (found !== 'heldBySame') sameHolderForMs = patience();
		else if (sameHolderForMs() > patienceMs) {
			await removeAbandoned(row, ownMark);
			// A row that is still there belongs to another holder by now.
			sameHolderForMs = patience();
		}
		hasWaited = !(await becomesFree(row, stop));
	}
}

/**
 * Waits until no process holds the lock, at most until it is time to look at the own mark. It only reads: a write
 * could put the marks of an earlier holder's row into the next one's.
 */
async function becomesFree(row: Entries, stop?: AbortSignal): Promise<boolean> {
	const waitedMs = patience();
	do {
		await pause(shortPauseMs(), stop);
		if ((await row.count()) === 0) return true;
	} while (waitedMs() < lookEveryMs && stop?.aborted !== true);
	return false;
}

/**
 * @param ownMark of a process that has waited
 * @returns `free` when the lock is taken now; `heldBySame` when the process that held it at the last look still does;
 * an error when it could not be taken although no process holds it, or could not be looked at
 */
async function askForLock(
	row: Entries,
	ownMark?: string,
): Promise<'free' | 'held' | 'heldBySame' | Error> {
	const marks = ownMark === undefined ? [lockMark] : [lockMark, ownMark];
	let before: ReadonlySet<string>;
	try {
		before = await row.record(marks);
	} catch (error) {
		// Most likely another process inserted the row at the same instant.
		if (ownMark === undefined && (await row.count()) > 0) return 'held';
		return error instanceof Error ? error : new Error(String(error));
	}
	if (before.has(lockMark))
		return ownMark !== undefined && before.has(ownMark) ? 'heldBySame' : 'held';
	await throwIfForeign(row, marks);
	return 'free';
}

/** Removes the lock of a process that ended; not that of one that took it over just now, whose row lacks the own mark. */
async function removeAbandoned(row: Entries, ownMark: string): Promise<void> {
	// Other processes that lost patience too do not find their marks any more, and begin to wait anew.
	await row.remove(waitingMarks.filter((mark) => mark !== ownMark));
	if ((await row.count()) > 2) {
		await throwIfForeign(row, [lockMark]);
		return;
	}
	let before: ReadonlySet<string>;
	try {
		before = await row.record([lockMark, ownMark]);
	} catch {
		// Most likely another process inserted the row at the same instant; the next look tells.
		return;
	}
	// With the lock's mark alone it is another holder's; with none, asking has made the row.
	if (before.size !== 1) await row.clear();
}

async function release(row: Entries): Promise<void> {
	await throwIfForeign(row, [lockMark]);
	await row.clear();
}

/** @throws {Error} when the row holds more than marks: then others need it, and it cannot be the lock */
async function throwIfForeign(row: Entries, expected: string[]): Promise<void> {
	if ((await row.count()) <= expected.length) return;
	// n8n does not tell which entries there are. With all marks among them, the others can be counted.
	const marks = [lockMark, ...waitingMarks];
	await row.record(marks);
	if ((await row.count()) <= marks.length) return;
	await row.remove(marks);
	throw new Error(
		'Another node of this workflow, such as Remove Duplicates, has or had its Scope set to Workflow. Set it to Node, and clear its history of the workflow',
	);
}
