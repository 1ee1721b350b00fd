/**
 * Serializes access to the record of a workflow's nodes over all processes of n8n. An access reads the record
 * and writes it afterwards, so two accesses at once would lose changes. The lock is the row of n8n's database
 * that holds the marks of the whole workflow. A process that wants the lock acts according to the state of
 * the row:
 *
 * - There is no row: no process holds the lock. The process adds *lock*. The database lets only one process
 *   insert the row, and that process then holds the lock.
 * - The row has *lock*: a process holds the lock, or ended while it held the lock. The waiting process reads
 *   until the row is gone, and every 2 s adds up to five marks of its own.
 * - The row has *lock* and all marks of the process: the lock holder is the same as the last time. After 30
 *   to 40 s of this state, the process removes the marks of others, then the row, and tries again.
 * - The row has *lock*, but not all marks of the process: another process has acquired the lock since. The
 *   process starts its 30 to 40 s again.
 * - The row has other texts: a node such as Remove Duplicates uses it. The process removes all marks of the
 *   lock, also those of other processes, and fails.
 *
 * The lock holder works for at most 15 s. After that it neither writes nor relies on what it read. When it
 * has finished, it removes the row, unless 30 s have passed: by then another process may hold the lock.
 */
import type { IExecuteFunctions } from 'n8n-workflow';
import { runExclusive } from '../runExclusive';
import { monotonicStopwatch, pause, stopwatch } from '../time';
import { asError } from '../unknownValues';
import { marksOf, type Marks } from './marks';

const lockMark = 'etb-wallet-lock';

/** A waiting process picks five of these at random, so two processes rarely have the same five. */
const waitingMark = (index: number): string => `etb-wallet-waiting-${index}`;
const waitingMarks = Array.from({ length: 200 }, (_, index) => waitingMark(index));
const marksPerProcess = 5;

const randomMarks = (): string[] =>
	Array.from({ length: marksPerProcess }, () =>
		waitingMark(Math.floor(Math.random() * waitingMarks.length)),
	);

/** The time between two calls that try to acquire the lock, in ms. Between them a waiting process only reads. */
const acquireEveryMs = 2_000;

/** A lock that is older, in ms, counts as that of a process that ended. A holder needs only a few calls. */
const abandonedAfterMs = 30_000;

/** The largest random time in ms that is added to it, so that two processes do not take over a lock together. */
const abandonedSpreadMs = 10_000;

/**
 * The time in ms after which a lock holder neither writes nor relies on what it read, because it may soon
 * lose the lock.
 */
const safeForMs = 15_000;

/** An insert fails if another process was first. This many failures in a row mean a broken database. */
const maxFailuresInARow = 5;

/** A random pause in ms, so that waiting processes do not call the database at the same moments. */
const getShortPauseMs = (): number => 5 + Math.random() * 20;

/**
 * Runs `access` while no other access to the record of the same workflow runs, in this process or another.
 * @param access its parameter has the node's own marks. A call of it that adds or removes marks throws when
 * the lock may soon be lost, for example because the process stood still
 * @param stop ends the wait for the lock
 * @throws {Error} when the lock was not acquired, or was held for too long: then no result of `access` is
 * reliable
 */
export async function withRecordLock<Value>(
	context: IExecuteFunctions,
	access: (marks: Marks) => Promise<Value>,
	stop?: AbortSignal,
): Promise<Value> {
	return await runExclusive(`record ${context.getWorkflow().id}`, async (isFirst) => {
		// The pause lets other processes acquire the lock.
		if (!isFirst) await pause(getShortPauseMs(), stop);
		return await whileLocked(context, access, stop);
	});
}

async function whileLocked<Value>(
	context: IExecuteFunctions,
	access: (marks: Marks) => Promise<Value>,
	stop?: AbortSignal,
): Promise<Value> {
	const lockRow = marksOf(context, 'workflow');
	const getHeldMs = await acquire(lockRow, stop);
	const assertInTime = (): void => {
		if (getHeldMs() > safeForMs) throw new Error('The database took too long to answer');
	};
	try {
		const result = await access(marksOf(context, 'node', assertInTime));
		assertInTime();
		return result;
	} finally {
		// After this time another process may hold the lock.
		if (getHeldMs() < abandonedAfterMs) await release(lockRow);
	}
}

/**
 * Waits for the lock.
 * @returns the time in ms for which this process holds it, from the beginning of the call that acquired it
 */
async function acquire(lockRow: Marks, stop?: AbortSignal): Promise<() => number> {
	const takeOverAfterMs = abandonedAfterMs + Math.random() * abandonedSpreadMs;
	const ownMarks = new Set(randomMarks());
	let getSameHolderMs = monotonicStopwatch();
	let failures = 0;
	let isStillHeld = false;
	for (;;) {
		if (stop?.aborted === true) throw new Error('The execution was stopped');
		const getHeldMs = stopwatch();
		const result = await tryToAcquire(lockRow, isStillHeld ? ownMarks : undefined);
		if (result === 'acquired') return getHeldMs;
		failures = result instanceof Error ? failures + 1 : 0;
		if (result instanceof Error && failures === maxFailuresInARow) throw result;
		if (result !== 'heldBySame') getSameHolderMs = monotonicStopwatch();
		else if (getSameHolderMs() > takeOverAfterMs) {
			await removeAbandoned(lockRow, ownMarks);
			// A row that is there now belongs to another lock holder.
			getSameHolderMs = monotonicStopwatch();
		}
		// Right after a release no marks are added, because the row may already be that of the next lock holder.
		isStillHeld = !(await waitForRelease(lockRow, stop));
	}
}

/**
 * Waits until no process holds the lock, at most until it is time to try again. It only reads, because a write could
 * add the marks of this process to the row of the next lock holder.
 * @returns whether it was released
 */
async function waitForRelease(lockRow: Marks, stop?: AbortSignal): Promise<boolean> {
	const getWaitedMs = monotonicStopwatch();
	do {
		await pause(getShortPauseMs(), stop);
		if ((await lockRow.count()) === 0) return true;
	} while (getWaitedMs() < acquireEveryMs && stop?.aborted !== true);
	return false;
}

/**
 * Tries once to acquire the lock.
 * @param ownMarks are added to a row that is there, so that the next call recognises the lock holder
 * @returns `acquired`; `held` if another process holds it; `heldBySame` if that is the same process as the
 * last time; an error if no process holds it and this one did not acquire it, or the database failed
 */
async function tryToAcquire(
	lockRow: Marks,
	ownMarks?: ReadonlySet<string>,
): Promise<'acquired' | 'held' | 'heldBySame' | Error> {
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
	await assertOwnTexts(lockRow, marks);
	return 'acquired';
}

/**
 * Removes the lock of a process that ended. A row that lacks one of this process's marks belongs to a newer
 * lock holder, and stays.
 */
async function removeAbandoned(lockRow: Marks, ownMarks: ReadonlySet<string>): Promise<void> {
	const marks = [lockMark, ...ownMarks];
	// The removal takes the marks of other waiting processes too, so they start their waiting time again.
	await lockRow.remove(waitingMarks.filter((mark) => !ownMarks.has(mark)));
	if ((await lockRow.count()) > marks.length) {
		await assertOwnTexts(lockRow, [lockMark]);
		return;
	}
	let before: ReadonlySet<string>;
	try {
		before = await lockRow.add(marks);
	} catch {
		// Most likely another process inserted the row at the same instant.
		return;
	}
	// If all marks were there, this is the abandoned row. If none was there, this call inserted the row.
	// Otherwise another process holds the lock.
	if (before.size === marks.length || before.size === 0) await lockRow.clear();
}

async function release(lockRow: Marks): Promise<void> {
	await assertOwnTexts(lockRow, [lockMark]);
	await lockRow.clear();
}

/** @throws {Error} when the row has texts of another node: then it cannot be the lock */
async function assertOwnTexts(lockRow: Marks, expected: string[]): Promise<void> {
	if ((await lockRow.count()) <= expected.length) return;
	// n8n gives only the number of texts. Once all marks of the lock are stored, a higher number proves that
	// there are texts of another node.
	const marks = [lockMark, ...waitingMarks];
	await lockRow.add(marks);
	const isForeign = (await lockRow.count()) > marks.length;
	// A waiting process that finds its own marks would take the lock for abandoned, so they are removed.
	await lockRow.remove(isForeign ? marks : waitingMarks);
	if (!isForeign) return;
	throw new Error(
		'Another node of this workflow, such as Remove Duplicates, has or had its Scope set to Workflow. Set it to Node, and clear its history of the workflow',
	);
}
