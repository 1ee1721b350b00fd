import { sleep } from 'n8n-workflow';

/** Waits between attempts, in ms. */
export const retryLimits = { retries: 3, firstDelay: 500, totalWait: 60_000 };

/** What one attempt showed. */
export type Attempt =
	| { kind: 'answer'; status: number; headers: Record<string, unknown>; text: string }
	/** No complete answer. `sent` is false only when it is certain that the service never got the request. */
	| { kind: 'noAnswer'; code: string; sent: boolean };

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
 * Decides by method and by what is known. A POST is not idempotent (service document §4 endpoints 6 and 7):
 * once it may have been carried out it is never sent again.
 */
export function judge(method: 'GET' | 'PUT' | 'POST', attempt: Attempt): Verdict {
	const idempotent = method !== 'POST';
	if (attempt.kind === 'noAnswer') {
		return idempotent || !attempt.sent ? 'retry' : 'unknown';
	}
	const { status } = attempt;
	if (status >= 200 && status < 300) return 'done';
	if (idempotent) return passing.has(status) ? 'retry' : 'rejected';
	if (status === 429) return 'retry';
	const isRefusal = status >= 300 && status < 500 && !undecided.has(status);
	return isRefusal ? 'rejected' : 'unknown';
}

/**
 * The pause before retry `retry` (from 1) in ms: exponential with full jitter, or what the service asks for.
 * @param retryAfter header in seconds or as an HTTP date
 * @param random from 0 to 1
 */
export function retryDelay(
	retry: number,
	retryAfter: unknown,
	random: number,
	now: number,
): number {
	const jittered = random * retryLimits.firstDelay * 2 ** (retry - 1);
	return Math.max(jittered, retryAfterMs(retryAfter, now));
}

function retryAfterMs(value: unknown, now: number): number {
	const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
	if (/^\d+$/.test(text)) return Number(text) * 1000;
	const date = Date.parse(text);
	return Number.isNaN(date) ? 0 : Math.max(0, date - now);
}

/**
 * Makes attempts until the verdict is not `retry`, retries are used up, waiting would take too long or
 * the execution is stopped.
 */
export async function attemptWithRetries(
	method: 'GET' | 'PUT' | 'POST',
	attempt: () => Promise<Attempt>,
	signal?: AbortSignal,
): Promise<{ last: Attempt; verdict: Verdict; attempts: number }> {
	let waited = 0;
	for (let retry = 1; ; retry++) {
		const last = await attempt();
		const verdict = judge(method, last);
		const ended = { last, verdict, attempts: retry };
		if (verdict !== 'retry' || retry > retryLimits.retries) return ended;
		const retryAfter = last.kind === 'answer' ? last.headers['retry-after'] : undefined;
		const delay = retryDelay(retry, retryAfter, Math.random(), Date.now());
		waited += delay;
		if (waited > retryLimits.totalWait) return ended;
		if (await interrupted(delay, signal)) return ended;
	}
}

/** Waits `ms`, or less when the execution is stopped. Returns whether it was stopped. */
async function interrupted(ms: number, signal?: AbortSignal): Promise<boolean> {
	if (signal === undefined) {
		await sleep(ms);
		return false;
	}
	if (signal.aborted) return true;
	let stop = (): void => {};
	const stopped = new Promise<void>((resolve) => {
		stop = resolve;
		signal.addEventListener('abort', stop, { once: true });
	});
	await Promise.race([sleep(ms), stopped]);
	signal.removeEventListener('abort', stop);
	return signal.aborted;
}
