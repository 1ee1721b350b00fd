/** Stopwatches, and an end to waiting. */
import { sleep } from 'n8n-workflow';

/**
 * Starts a stopwatch that never runs slow, for limits on this process's own work.
 * @returns the ms since then, by the larger of wall-clock and monotonic time: a person can set the wall clock back, and the
 * monotonic clock stops while a machine sleeps
 */
export function stopwatch(): () => number {
	const wall = Date.now();
	const monotonic = performance.now();
	return () => Math.max(Date.now() - wall, performance.now() - monotonic);
}

/**
 * Starts a monotonic stopwatch, for the time after which another process counts as dead.
 * @returns the ms since then; setting the wall clock forward does not shorten the time
 */
export function monotonicStopwatch(): () => number {
	const monotonic = performance.now();
	return () => performance.now() - monotonic;
}

/** A signal that is aborted so many ms after `stop` is. It does not keep a process alive. */
export function abortedAfter(stop: AbortSignal | undefined, ms: number): AbortSignal {
	const end = new AbortController();
	const begin = (): void =>
		AbortSignal.timeout(ms).addEventListener('abort', () => end.abort(), { once: true });
	if (stop?.aborted === true) begin();
	else stop?.addEventListener('abort', begin, { once: true });
	return end.signal;
}

/** The result of `work`, unless the signal is aborted first: then it throws the error of `onAbort`, and the work may go on. */
export async function unlessAborted<Value>(
	signal: AbortSignal,
	work: Promise<Value>,
	onAbort: () => Error,
): Promise<Value> {
	let giveUp = (): void => {};
	const aborted = new Promise<never>((_resolve, reject) => {
		giveUp = () => reject(onAbort());
		if (signal.aborted) giveUp();
		else signal.addEventListener('abort', giveUp, { once: true });
	});
	try {
		return await Promise.race([work, aborted]);
	} finally {
		// Node keeps the listener, and all that the work holds, until the signal's time has come.
		signal.removeEventListener('abort', giveUp);
	}
}

/** Waits. It ends early when the execution is stopped. */
export async function pause(ms: number, stop?: AbortSignal): Promise<void> {
	if (stop === undefined) await sleep(ms);
	else await unlessAborted(stop, sleep(ms), () => new Error('stopped')).catch(() => undefined);
}
