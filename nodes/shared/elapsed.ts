/** Time that passes: how much of it, and an end to waiting. */
import { sleep } from 'n8n-workflow';

/**
 * Begins to count.
 * @returns the ms since then, by the clock on the wall or by the monotonic one, whichever went further: one can be
 * set back, the other stands still while a machine sleeps
 */
export function stopwatch(): () => number {
	const wall = Date.now();
	const monotonic = performance.now();
	return () => Math.max(Date.now() - wall, performance.now() - monotonic);
}

/**
 * Begins to count for patience with others.
 * @returns the ms since then by the monotonic clock alone: one on the wall that is set forward makes nobody else late
 */
export function patience(): () => number {
	const monotonic = performance.now();
	return () => performance.now() - monotonic;
}

/** Does something after a while, unless it is stopped before. This does not keep a process from ending. */
export function unlessStopped(ms: number, stop: AbortSignal, work: () => void): void {
	const ring = (): void => {
		if (!stop.aborted) work();
	};
	AbortSignal.timeout(ms).addEventListener('abort', ring, { once: true });
}

/** A signal that is aborted `ms` after `stop` is. */
export function abortedAfter(stop: AbortSignal | undefined, ms: number): AbortSignal {
	const end = new AbortController();
	const begin = (): void =>
		AbortSignal.timeout(ms).addEventListener('abort', () => end.abort(), { once: true });
	if (stop?.aborted === true) begin();
	else stop?.addEventListener('abort', begin, { once: true });
	return end.signal;
}

/**
 * What `work` gives, unless the signal is aborted before.
 * @throws {Error} what `onAbort` gives, and whatever `work` throws; `work` may go on, unheard
 */
export async function unlessAborted<Result>(
	signal: AbortSignal,
	work: Promise<Result>,
	onAbort: () => Error,
): Promise<Result> {
	let giveUp = (): void => {};
	const aborted = new Promise<never>((_resolve, reject) => {
		giveUp = () => reject(onAbort());
		if (signal.aborted) giveUp();
		else signal.addEventListener('abort', giveUp, { once: true });
	});
	try {
		return await Promise.race([work, aborted]);
	} finally {
		// Node keeps a listener until the signal's time has come, and with it all that the work holds.
		signal.removeEventListener('abort', giveUp);
	}
}

/** Waits, or less when the execution is stopped. */
export async function pause(ms: number, stop?: AbortSignal): Promise<void> {
	if (stop === undefined) await sleep(ms);
	else await unlessAborted(stop, sleep(ms), () => new Error('stopped')).catch(() => undefined);
}
