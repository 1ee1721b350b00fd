/** Stopwatches, pauses, and limits of waiting. */
import { sleep } from 'n8n-workflow';

/**
 * Starts a stopwatch that never shows too short a time, for limits on this process's own work. It shows the
 * larger of wall-clock and monotonic time, because a person can set the wall clock back, and the monotonic
 * clock stops while a machine sleeps.
 * @returns a function that gives the time since the start, in ms
 */
export function stopwatch(): () => number {
	const wall = Date.now();
	const monotonic = performance.now();
	return () => Math.max(Date.now() - wall, performance.now() - monotonic);
}

/**
 * Starts a monotonic stopwatch, for the time after which another process counts as dead: a person who sets
 * the wall clock forward must not shorten that time.
 * @returns a function that gives the time since the start, in ms
 */
export function monotonicStopwatch(): () => number {
	const monotonic = performance.now();
	return () => performance.now() - monotonic;
}

/** Makes a signal that is aborted `delayMs` ms after `stop`. Its timer does not keep a process alive. */
export function abortedAfter(stop: AbortSignal | undefined, delayMs: number): AbortSignal {
	const controller = new AbortController();
	const startTimer = (): void =>
		AbortSignal.timeout(delayMs).addEventListener('abort', () => controller.abort(), {
			once: true,
		});
	if (stop?.aborted === true) startTimer();
	else stop?.addEventListener('abort', startTimer, { once: true });
	return controller.signal;
}

/**
 * Waits for `work` until the signal is aborted. The work itself goes on after that.
 * @throws the error of `onAbort` when the signal is aborted first
 */
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
		// Otherwise Node.js would keep the listener, and all that `work` refers to, until the signal is aborted.
		signal.removeEventListener('abort', giveUp);
	}
}

/** Waits for a time in ms. It ends early when the execution is stopped. */
export async function pause(ms: number, stop?: AbortSignal): Promise<void> {
	if (stop === undefined) await sleep(ms);
	else await unlessAborted(stop, sleep(ms), () => new Error('stopped')).catch(() => undefined);
}
