/** When a request is made again, and after what pause. */
import { pause } from '../elapsed';
import type { Attempt } from './attempt';
import { notBegun, throughProxy, tooLarge } from './attempt';
import { successIn, tellsOfSuccess } from './success';

/** Between attempts. */
export const retryLimits = { retries: 3, firstDelayMs: 500, totalWaitMs: 60_000 };

/**
 * What an attempt means. `rejected`: the service did not do it. `unknown`: it may have done it.
 * `retry`: it did not do it, or doing it again changes nothing.
 */
export type Verdict = 'done' | 'retry' | 'rejected' | 'unknown';

const passing = new Set([429, 500, 502, 503, 504]);

/**
 * Client errors and redirects that can also follow a POST that was carried out: 408 and 499 are how a proxy says
 * that it gave up waiting, 302 and 303 where to see what was done.
 */
const undecided = new Set([302, 303, 408, 499]);

/**
 * Decides by what is known. What may not be repeated, because the service would do it twice (service document §4
 * endpoints 6 and 7), is never sent again once it may have been carried out.
 */
export function judge(mayRepeat: boolean, attempt: Attempt): Verdict {
	if (attempt.kind === 'noAnswer') {
		if (attempt.code === notBegun || attempt.code === throughProxy) return 'rejected';
		if (attempt.code === tooLarge) return mayRepeat ? 'rejected' : 'unknown';
		return mayRepeat || !attempt.sent ? 'retry' : 'unknown';
	}
	const { status } = attempt;
	if (status >= 200 && status < 300) return 'done';
	if (mayRepeat) return passing.has(status) ? 'retry' : 'rejected';
	// The status says no, and the body does not.
	if (successIn(attempt) === 'both' || tellsOfSuccess(attempt)) return 'unknown';
	if (status === 429) return 'retry';
	const isRejection = status >= 300 && status < 500 && !undecided.has(status);
	return isRejection ? 'rejected' : 'unknown';
}

/**
 * The pause before retry `retry` (from 1): exponential with full jitter, or what the service asks for.
 * @param retryAfter header in seconds or as an HTTP date
 * @param random from 0 to 1
 */
export function retryDelayMs(
	retry: number,
	retryAfter: unknown,
	random: number,
	nowMs: number,
): number {
	const jittered = random * retryLimits.firstDelayMs * 2 ** (retry - 1);
	return Math.max(jittered, retryAfterMs(retryAfter, nowMs));
}

function retryAfterMs(value: unknown, nowMs: number): number {
	const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
	if (/^\d+$/.test(text)) return Number(text) * 1000;
	const date = Date.parse(text);
	return Number.isNaN(date) ? 0 : Math.max(0, date - nowMs);
}

/**
 * Makes attempts until the verdict is not `retry`, retries are used up, waiting would take too long or
 * the execution is stopped.
 * @param msLeft how long another attempt may begin, in ms
 */
export async function attemptWithRetries(
	mayRepeat: boolean,
	attempt: () => Promise<Attempt>,
	msLeft: () => number,
	stop?: AbortSignal,
): Promise<{ last: Attempt; verdict: Verdict; attempts: number }> {
	let waitedMs = 0;
	for (let retry = 1; ; retry++) {
		const last = await attempt();
		const verdict = judge(mayRepeat, last);
		const ended = { last, verdict, attempts: retry };
		if (verdict !== 'retry' || retry > retryLimits.retries) return ended;
		const retryAfter = last.kind === 'answer' ? last.headers['retry-after'] : undefined;
		const delayMs = retryDelayMs(retry, retryAfter, Math.random(), Date.now());
		waitedMs += delayMs;
		if (waitedMs > retryLimits.totalWaitMs || delayMs >= msLeft()) return ended;
		await pause(delayMs, stop);
		if (stop?.aborted === true || msLeft() <= 0) return ended;
	}
}
