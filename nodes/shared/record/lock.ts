/**
 * Serializes access to the record of a workflow's nodes over all processes of n8n. An access reads the record and writes it
 * afterwards, so two at once would lose changes. The lock is the row of n8n's database that holds the entries of the whole
 * workflow:
 *
 * The row | What that means | What a process does that wants the lock
 * --- | --- | ---
 * is not there | nobody has the lock | adds *lock*: the database lets one process insert the row, and that one has the lock
 * has *lock* | somebody has it, or ended while they had it | reads, until it is gone; every 2 s adds five marks of its own
 * has *lock* and all marks of this process | the same process has it as when it asked last | after 30 to 40 s of this: removes the marks of the others, then the row, and asks anew
 * has *lock* and not all of them | another process has it since | begins to count anew
 * has other entries | a node such as Remove Duplicates uses the row | takes its own marks out, and fails
 *
 * The holder works for at most 15 s, and then neither writes nor believes what it read; in the end it removes the row.
 */
import type { IExecuteFunctions } from 'n8n-workflow';
import { monotonicStopwatch, pause, stopwatch } from '../time';
import { asError } from '../unknownValues';
import { marksOf, type Marks } from './marks';

const lockMark = 'etb-wallet-lock';

/** Each waiting process picks five of these at random, so two processes rarely have the same five. */
const waitingMarks = Array.from({ length: 200 }, (_, index) => `etb-wallet-waiting-${index}`);
const marksPerProcess = 5;

const anyMarks = (): string[] =>
	Array.from(
		{ length: marksPerProcess },
		() => waitingMarks[Math.floor(Math.random() * waitingMarks.length)] ?? lockMark,
	);

/** The number of times that a waiting process asks for its own marks. */
const askEveryMs = 2_000;

/** The lock is held for a few calls of the database; one that is held for longer belongs to a process that ended. */
const abandonedAfterMs = 30_000;

/** A random time on top, up to this: two waiting processes must not take over an abandoned lock together. */
const abandonedSpreadMs = 10_000;

/** A process that held the lock for longer may lose it soon, so it neither writes nor believes what it read. */
const safeForMs = 15_000;

/** An insert fails if another process inserted the row first. After so many failures in a row the database is broken. */
const maxFailuresInARow = 5;

/** Random, so that waiting processes do not ask at the same moments. */
const shortPauseMs = (): number => 5 + Math.random() * 20;

/** The last work of this process, by key. */
const lastTurns = new Map<string, Promise<unknown>>();

/** Runs `work` after all that this process does for the same key. @param isFirst whether it did not have to wait */
export async function inTurn<Value>(
	key: string,
	work: (isFirst: boolean) => Promise<Value>,
): Promise<Value> {
	const previous = lastTurns.get(key);
	const current = (async () => {
		await previous?.catch(() => undefined);
		return await work(previous === undefined);
	})();
	lastTurns.set(key, current);
	try {
		return await current;
	} finally {
		if (lastTurns.get(key) === current) lastTurns.delete(key);
	}
}

/**
 * Runs `access` while nothing else, in this process or another process of n8n, does so for the same workflow. It gets
 * the node's own marks, whose calls throw when the lock may have been lost, because the process stood still.
 * @param stop gives up waiting for the lock
 * @throws {Error} when the lock cannot be had, or was held for too long: then nobody may rely on what `access` did
 */
export async function exclusively<Value>(
	context: IExecuteFunctions,
	access: (marks: Marks) => Promise<Value>,
	stop?: AbortSignal,
): Promise<Value> {
	return await inTurn(context.getWorkflow().id ?? '', async (isFirst) => {
		// The pause lets other processes get the lock.
		if (!isFirst) await pause(shortPauseMs(), stop);
		return await whileLocked(context, access, stop);
	});
}

async function whileLocked<Value>(
	context: IExecuteFunctions,
	access: (marks: Marks) => Promise<Value>,
	stop?: AbortSignal,
): Promise<Value> {
	const lockRow = marksOf(context, 'workflow');
	const heldForMs = await waitForLock(lockRow, stop);
	const throwIfLate = (): void => {
		if (heldForMs() > safeForMs) throw new Error('The database took too long to answer');
	};
	try {
		const result = await access(marksOf(context, 'node', throwIfLate));
		throwIfLate();
		return result;
	} finally {
		// After that time another process may have taken the lock over.
		if (heldForMs() < abandonedAfterMs) await release(lockRow);
	}
}

/** @returns how long this process has had the lock, counted from when it asked for it */
async function waitForLock(lockRow: Marks, stop?: AbortSignal): Promise<() => number> {
	const takeOverAfterMs = abandonedAfterMs + Math.random() * abandonedSpreadMs;
	const ownMarks = new Set(anyMarks());
	let sameProcessForMs = monotonicStopwatch();
	let failures = 0;
	let hasWaited = false;
	for (;;) {
		if (stop?.aborted === true) throw new Error('The execution was stopped');
		const heldForMs = stopwatch();
		const found = await askForLock(lockRow, hasWaited ? ownMarks : undefined);
		if (found === 'free') return heldForMs;
		failures = found instanceof Error ? failures + 1 : 0;
		if (found instanceof Error && failures === maxFailuresInARow) throw found;
		if (found !== 'heldBySame') sameProcessForMs = monotonicStopwatch();
		else if (sameProcessForMs() > takeOverAfterMs) {
			await removeAbandoned(lockRow, ownMarks);
			// If a row is there now, another process holds the lock.
			sameProcessForMs = monotonicStopwatch();
		}
		hasWaited = !(await becomesFree(lockRow, stop));
	}
}

/**
 * Waits until no process holds the lock, at most until it is time to ask for the own marks. It only reads, because a write
 * could add this process's marks to the row of the next holder.
 */
async function becomesFree(lockRow: Marks, stop?: AbortSignal): Promise<boolean> {
	const waitedMs = monotonicStopwatch();
	do {
		await pause(shortPauseMs(), stop);
		if ((await lockRow.count()) === 0) return true;
	} while (waitedMs() < askEveryMs && stop?.aborted !== true);
	return false;
}

/**
 * @returns `free` if this process has the lock now; `heldBySame` if the process that had it at the last time still
 * has it; an error if no process has it and this one could not get it either, or the database failed
 */
async function askForLock(
	lockRow: Marks,
	ownMarks?: ReadonlySet<string>,
): Promise<'free' | 'held' | 'heldBySame' | Error> {
	const marks = [lockMark, ...(ownMarks ?? [])];
	let before: ReadonlySet<string>;
	try {
		before = await lockRow.add(marks);
	} catch (error) {
		// Most likely another process inserted the row at the same instant.
		if (ownMarks === undefined && (await lockRow.count()) > 0) return 'held';
		return asError(error);
	}
	if (before.has(lockMark))
		return ownMarks !== undefined && before.size === marks.length ? 'heldBySame' : 'held';
	await throwIfForeign(lockRow, marks);
	return 'free';
}

/** Removes the lock of a process that ended. A row without all marks of this process belongs to a newer holder, and stays. */
async function removeAbandoned(lockRow: Marks, ownMarks: ReadonlySet<string>): Promise<void> {
	const marks = [lockMark, ...ownMarks];
	// Other processes lose their marks by this, and begin to wait anew.
	await lockRow.remove(waitingMarks.filter((mark) => !ownMarks.has(mark)));
	if ((await lockRow.count()) > marks.length) {
		await throwIfForeign(lockRow, [lockMark]);
		return;
	}
	let before: ReadonlySet<string>;
	try {
		before = await lockRow.add(marks);
	} catch {
		// Most likely another process inserted the row at the same instant.
		return;
	}
	// All marks present: the abandoned row. None present: this call inserted the row. Otherwise another process holds the lock.
	if (before.size === marks.length || before.size === 0) await lockRow.clear();
}

async function release(lockRow: Marks): Promise<void> {
	await throwIfForeign(lockRow, [lockMark]);
	await lockRow.clear();
}

/** @throws {Error} when the row holds more than marks: then others need it, and it cannot be the lock */
async function throwIfForeign(lockRow: Marks, expected: string[]): Promise<void> {
	if ((await lockRow.count()) <= expected.length) return;
	// n8n tells only a count. With all marks of the lock stored, a higher count proves entries of another node.
	const marks = [lockMark, ...waitingMarks];
	await lockRow.add(marks);
	const isForeign = (await lockRow.count()) > marks.length;
	// The waiting marks go: a waiting process that finds its own takes the lock for abandoned.
	await lockRow.remove(isForeign ? marks : waitingMarks);
	if (!isForeign) return;
	throw new Error(
		'Another node of this workflow, such as Remove Duplicates, has or had its Scope set to Workflow. Set it to Node, and clear its history of the workflow',
	);
}
