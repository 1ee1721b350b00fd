/** The requests that are sent again, and the pauses between them. */
import fc from 'fast-check';
import type { AttemptResult } from '../../nodes/shared/service/attempt.ts';
import type { ServiceRequest } from '../../nodes/shared/service/request.ts';
import { attemptWithRetries, retryDelayMs } from '../../nodes/shared/service/retries.ts';
import { cutOff, notSent } from '../support/judging.mts';

const creating: ServiceRequest = { method: 'POST', path: '/x' };

const response = (status: number, headers: Record<string, unknown> = {}): AttemptResult => ({
	kind: 'response',
	status,
	headers,
	text: '{}',
	body: {},
});

describe('the pause before a retry', () => {
	const now = Date.parse('2026-03-01T12:00:00Z');

	test.each([
		[1, 500],
		[2, 1000],
		[3, 2000],
	])('retry %i comes within %i ms, at random', (retry, most) => {
		expect(retryDelayMs(retry, undefined, 1, now)).toBe(most);
		expect(retryDelayMs(retry, undefined, 0.5, now)).toBe(most / 2);
		expect(retryDelayMs(retry, undefined, 0, now)).toBe(0);
	});

	test.each([
		['0', 0],
		[' 2 ', 2000],
		[3, 3000],
		['Sun, 01 Mar 2026 12:00:10 GMT', 10_000],
		['Sun, 01 Mar 2026 11:59:00 GMT', 0],
		['soon', 0],
		['-5', 0],
	])('Retry-After %p asks for %i ms', (header, delay) => {
		expect(retryDelayMs(1, header, 0, now)).toBe(delay);
	});

	test('is never negative, whatever the header says', () => {
		fc.assert(
			fc.property(fc.oneof(fc.string(), fc.double(), fc.anything()), (header) => {
				expect(retryDelayMs(1, header, 0, now)).toBeGreaterThanOrEqual(0);
			}),
		);
	});
});

test('no attempt begins once the time is over after a pause', async () => {
	const leftMs = [10_000, 0];
	let attempts = 0;
	const attempt = async (): Promise<AttemptResult> => {
		attempts++;
		return await Promise.resolve(response(429, { 'retry-after': '0' }));
	};
	const timeLeft = () => leftMs.shift() ?? 0;
	const { judgement } = await attemptWithRetries(creating, attempt, timeLeft);
	expect([judgement.verdict, attempts]).toEqual(['notDone', 1]);
});

test('no attempt begins once the execution was stopped in a pause', async () => {
	const controller = new AbortController();
	let attempts = 0;
	const attempt = async (): Promise<AttemptResult> => {
		attempts++;
		controller.abort();
		return await Promise.resolve(response(429, { 'retry-after': '0' }));
	};
	await attemptWithRetries(creating, attempt, () => 60_000, controller.signal);
	expect(attempts).toBe(1);
});

test.each([
	['was refused', response(400)],
	['did not reach the service', notSent],
])(
	'a last attempt that %s does not undo that an earlier one may have been carried out',
	async (_, last) => {
		const attempts = [cutOff, response(429, { 'retry-after': '0' }), last];
		const attempt = async (): Promise<AttemptResult> =>
			await Promise.resolve(attempts.shift() ?? notSent);
		const setting: ServiceRequest = { method: 'PUT', path: '/x' };
		jest.spyOn(Math, 'random').mockReturnValue(0);
		const { judgement } = await attemptWithRetries(setting, attempt, () => 60_000);
		jest.restoreAllMocks();
		expect(judgement).toMatchObject({ verdict: 'unknown', code: 'unclear' });
		expect(attempts).toEqual([]);
	},
);

test('the pauses before all attempts of a call take at most a minute', async () => {
	jest.useFakeTimers();
	let attempts = 0;
	const attempt = async (): Promise<AttemptResult> => {
		attempts++;
		return await Promise.resolve(response(429, { 'retry-after': '25' }));
	};
	const ended = attemptWithRetries(creating, attempt, () => 300_000);
	await jest.advanceTimersByTimeAsync(120_000);
	jest.useRealTimers();
	expect([(await ended).judgement.verdict, attempts]).toEqual(['notDone', 3]);
});
