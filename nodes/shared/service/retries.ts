/** When a request is made again, and after what pause. */
import { pause } from '../elapsed';
import { notBegun, throughProxy, tooLarge, type Attempt } from './attempt';
import { successIn, tellsOfSuccess } from './success';

/** For all attempts of a call. */
export const retryLimits = { retries: 3, firstDelayMs: 500, totalWaitMs: 60_000 };

/**
 * What an attempt means. `notDone`: the service did not do it. `unknown`: it may have done it. `retry`: it did not do it,
 * or doing it again changes nothing.
 */
export type Verdict = 'done' | 'retry' | 'notDone' | 'unknown';

/** Statuses that may be gone at the next attempt. */
const passing = new Set([429, 500, 502, 503, 504]);

/**
 * Client errors and redirects that can also follow a POST that was carried out: by 408 and 499 a proxy says that it gave up
 * waiting, by 302 and 303 a service says where to see what it did.
 */
const undecided = new Set([302, 303, 408, 499]);

/**
 * Decides what an attempt means. What the service would do twice (service document §4 endpoints 6 and 7) is never sent
 * again once it may have been carried out.
 */
export function judge(mayRepeat: boolean, attempt: Attempt): Verdict {
	if (attempt.kind === 'noAnswer') {
		if (attempt.code === notBegun || attempt.code === throughProxy) return 'notDone';
		if (attempt.code === tooLarge) return mayRepeat ? 'notDone' : 'unknown';
		return mayRepeat || !attempt.sent ? 'retry' : 'unknown';
	}
	const { status } = attempt;
	if (status >= 200 && status < 300) return 'done';
	if (mayRepeat) return passing.has(status) ? 'retry' : 'notDone';
	// The status says no, and the body says yes.
	if (successIn(attempt) === 'both' || tellsOfSuccess(attempt)) return 'unknown';
	if (status === 429) return 'retry';
	const isRefusal = status >= 300 && status < 500 && !undecided.has(status);
	return isRefusal ? 'notDone' : 'unknown';
}

/** The pause before retry `retry` (from 1): exponential with full jitter, or what the service asks for by `Retry-After`. */
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

/** The last attempt of a call, what it means, and how many there were. */
export interface Judged {
	last: Attempt;
	verdict: Verdict;
	attempts: number;
}

/**
 * Makes attempts until the verdict is not `retry`, retries are used up, waiting would take too long or the execution is
 * stopped. @param msLeft for how many more ms an attempt may begin
 */
export async function attemptWithRetries(
	mayRepeat: boolean,
	attempt: () => Promise<Attempt>,
	msLeft: () => number,
	stop?: AbortSignal,
): Promise<Judged> {
	let waitedMs = 0;
	for (let retry = 1; ; retry++) {
		const last = await attempt();
		const verdict = judge(mayRepeat, last);
		const judged = { last, verdict, attempts: retry };
		if (verdict !== 'retry' || retry > retryLimits.retries) return judged;
		const retryAfter = last.kind === 'answer' ? last.headers['retry-after'] : undefined;
		const delayMs = retryDelayMs(retry, retryAfter, Math.random(), Date.now());
		waitedMs += delayMs;
		if (waitedMs > retryLimits.totalWaitMs || delayMs >= msLeft()) return judged;
		await pause(delayMs, stop);
		if (stop?.aborted === true || msLeft() <= 0) return judged;
	}
}
