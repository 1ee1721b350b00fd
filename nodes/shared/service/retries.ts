/** The rules for repeating a request, and for the pauses before. */
import { pause } from '../time';
import { judge, type Judgement } from './judge';
import type { AttemptResult } from './attempt';
import type { ServiceRequest } from './request';

/** The limits of all attempts of a call together. */
const retryLimits = { retries: 3, firstDelayMs: 500, totalWaitMs: 60_000 };

/** The pause in ms before retry `retry` (from 1): exponential with full jitter, and at least `Retry-After`. */
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

/** The last attempt of a call, the verdict on the whole call, and the number of attempts. */
export interface JudgedCall {
	last: AttemptResult;
	judgement: Judgement;
	attempts: number;
}

/**
 * Makes attempts until one must not be repeated, the retries are used up, waiting would take too long, or the
 * execution is stopped.
 * @param getAllowedMs the time in ms that an attempt may take if it begins now; 0 or less if it is too late
 */
export async function attemptWithRetries(
	request: ServiceRequest,
	attempt: () => Promise<AttemptResult>,
	getAllowedMs: () => number,
	stop?: AbortSignal,
): Promise<JudgedCall> {
	let waitedMs = 0;
	let mayHaveBeenDone = false;
	for (let attempts = 1; ; attempts++) {
		const last = await attempt();
		const judgement = judge(request, last);
		// A refusal of the last attempt does not show that an earlier one was not carried out.
		const isRefusedAfterUnknown = mayHaveBeenDone && judgement.verdict === 'notDone';
		const judged: JudgedCall = {
			last,
			judgement: isRefusedAfterUnknown
				? { ...judgement, verdict: 'unknown', code: 'unclear' }
				: judgement,
			attempts,
		};
		if (judgement.verdict === 'done' || !judgement.mayBeRepeated) return judged;
		if (attempts > retryLimits.retries) return judged;
		mayHaveBeenDone ||= judgement.verdict === 'unknown';
		const retryAfter = last.kind === 'response' ? last.headers['retry-after'] : undefined;
		const delayMs = retryDelayMs(attempts, retryAfter, Math.random(), Date.now());
		waitedMs += delayMs;
		if (waitedMs > retryLimits.totalWaitMs || delayMs >= getAllowedMs()) return judged;
		await pause(delayMs, stop);
		if (stop?.aborted === true || getAllowedMs() <= 0) return judged;
	}
}
