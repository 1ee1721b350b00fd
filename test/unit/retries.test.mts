/** What is sent again, and after what pause. */
import fc from 'fast-check';
import type { Attempt } from '../../nodes/shared/service/attempt.ts';
import { noAnswerFrom } from '../../nodes/shared/service/attempt.ts';
import type { Verdict } from '../../nodes/shared/service/retries.ts';
import {
	attemptWithRetries,
	judge,
	retryDelayMs,
	retryLimits,
} from '../../nodes/shared/service/retries.ts';

const answer = (status: number, headers: Record<string, unknown> = {}): Attempt => ({
	kind: 'answer',
	status,
	headers,
	text: '',
	body: undefined,
});
const notSent: Attempt = { kind: 'noAnswer', code: 'ECONNREFUSED', sent: false };
const cutOff: Attempt = { kind: 'noAnswer', code: 'ECONNRESET', sent: true };
const range = (from: number, to: number): number[] =>
	Array.from({ length: to - from + 1 }, (_, index) => from + index);

const table: { what: string; attempts: Attempt[]; idempotent: Verdict; post: Verdict }[] = [
	{
		what: 'success',
		attempts: range(200, 299).map((s) => answer(s)),
		idempotent: 'done',
		post: 'done',
	},
	{ what: 'never sent', attempts: [notSent], idempotent: 'retry', post: 'retry' },
	{ what: 'too many requests', attempts: [answer(429)], idempotent: 'retry', post: 'retry' },
	{
		what: 'a passing failure',
		attempts: [500, 502, 503, 504].map((s) => answer(s)),
		idempotent: 'retry',
		post: 'unknown',
	},
	{ what: 'reset or timeout', attempts: [cutOff], idempotent: 'retry', post: 'unknown' },
	{
		what: 'another failure of the service',
		attempts: [501, ...range(505, 599)].map((s) => answer(s)),
		idempotent: 'notDone',
		post: 'unknown',
	},
	{
		what: 'a refusal',
		attempts: range(400, 499)
			.filter((status) => ![408, 429, 499].includes(status))
			.map((s) => answer(s)),
		idempotent: 'notDone',
		post: 'notDone',
	},
	{
		what: 'a proxy that gave up waiting',
		attempts: [408, 499].map((s) => answer(s)),
		idempotent: 'notDone',
		post: 'unknown',
	},
	{
		what: 'a redirect that keeps the method',
		attempts: [301, 307, 308].map((s) => answer(s)),
		idempotent: 'notDone',
		post: 'notDone',
	},
	{
		what: 'a redirect that may follow a carried out POST',
		attempts: [302, 303].map((s) => answer(s)),
		idempotent: 'notDone',
		post: 'unknown',
	},
];

test.each(table)(
	'$what: what may be repeated $idempotent, what may not $post',
	({ attempts, idempotent, post }) => {
		for (const attempt of attempts) {
			expect(judge(true, attempt)).toBe(idempotent);
			expect(judge(false, attempt)).toBe(post);
		}
	},
);

test('a POST is sent again only when it was certainly not carried out', () => {
	const anyAttempt: fc.Arbitrary<Attempt> = fc.oneof(
		fc.integer({ min: 0, max: 999 }).map((status) => answer(status)),
		fc.record({
			kind: fc.constant('noAnswer' as const),
			code: fc.string(),
			sent: fc.boolean(),
		}),
	);
	fc.assert(
		fc.property(anyAttempt, (attempt) => {
			const certainlyNot =
				attempt.kind === 'answer' ? attempt.status === 429 : attempt.sent === false;
			if (!certainlyNot) expect(judge(false, attempt)).not.toBe('retry');
		}),
	);
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
		['2', 2000],
		[' 2 ', 2000],
		[3, 3000],
		['Sun, 01 Mar 2026 12:00:10 GMT', 10_000],
		['Sun, 01 Mar 2026 11:59:00 GMT', 0],
		['soon', 0],
		['', 0],
		['-5', 0],
		[['5'], 0],
		[null, 0],
	])('Retry-After %p asks for %i ms', (header, delay) => {
		expect(retryDelayMs(1, header, 0, now)).toBe(delay);
	});

	test('is the longer of the two', () => {
		expect(retryDelayMs(3, '1', 1, now)).toBe(2000);
		expect(retryDelayMs(1, '1', 1, now)).toBe(1000);
	});

	test('is never negative, whatever the header says', () => {
		fc.assert(
			fc.property(fc.oneof(fc.string(), fc.double(), fc.anything()), (header) => {
				expect(retryDelayMs(1, header, 0, now)).toBeGreaterThanOrEqual(0);
			}),
		);
	});
});

describe('attempts', () => {
	const tooMany = (retryAfter: string): Attempt => answer(429, { 'retry-after': retryAfter });

	test('end with the first that is not to be repeated', async () => {
		const results = [answer(429), answer(503), answer(404), answer(200)];
		const left = [...results];
		const { last, verdict } = await attemptWithRetries(
			true,
			() => Promise.resolve(left.shift() ?? answer(0)),
			() => Infinity,
		);
		expect([last, verdict, left.length]).toEqual([results[2], 'notDone', 1]);
	});

	test('end at once when the service asks for more than the longest wait', async () => {
		let count = 0;
		const { verdict } = await attemptWithRetries(
			false,
			() => {
				count++;
				return Promise.resolve(tooMany(String(retryLimits.totalWaitMs / 1000 + 1)));
			},
			() => Infinity,
		);
		expect([count, verdict]).toEqual([1, 'retry']);
	});

	test('end when no other may begin any more', async () => {
		let count = 0;
		let msLeft = 1;
		const { verdict } = await attemptWithRetries(
			false,
			() => {
				count++;
				msLeft = 0;
				return Promise.resolve(tooMany('0'));
			},
			() => msLeft,
		);
		expect([count, verdict]).toEqual([1, 'retry']);
	});

	test('end when the execution is stopped during a pause', async () => {
		const stop = new AbortController();
		let count = 0;
		const attempts = attemptWithRetries(
			true,
			() => {
				count++;
				setImmediate(() => stop.abort());
				return Promise.resolve(tooMany('1'));
			},
			() => Infinity,
			stop.signal,
		);
		expect(await attempts).toMatchObject({ verdict: 'retry' });
		expect(count).toBe(1);
	});

	test('end when the execution was stopped during an attempt', async () => {
		const stop = new AbortController();
		let count = 0;
		await attemptWithRetries(
			true,
			() => {
				count++;
				stop.abort();
				return Promise.resolve(answer(503));
			},
			() => Infinity,
			stop.signal,
		);
		expect(count).toBe(1);
	});
});

describe('a network error', () => {
	const timedOut = { code: 'ETIMEDOUT', syscall: 'connect' };
	const noRoute = { code: 'EHOSTUNREACH', syscall: 'connect' };
	const wrapped = (inner: object): Error =>
		new Error('outer', {
			cause: new Error('middle', { cause: Object.assign(new Error(), inner) }),
		});

	test.each([
		['refused', { code: 'ECONNREFUSED', syscall: 'connect' }],
		['host name unknown', { code: 'ENOTFOUND', syscall: 'getaddrinfo' }],
		['host name not looked up', { code: 'EAI_AGAIN', syscall: 'getaddrinfo' }],
		['no connection in time', { code: 'ETIMEDOUT', syscall: 'connect' }],
		['no route', { code: 'EHOSTUNREACH', syscall: 'connect' }],
		['plain http where https was spoken', { code: 'EPROTO', syscall: 'write' }],
		['certificate expired', { code: 'CERT_HAS_EXPIRED' }],
		['certificate self-signed', { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }],
		['certificate of another host', { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }],
		['address blocked by n8n', { name: 'SsrfBlockedIpError' }],
		[
			'no connection to any address of the host',
			{ code: 'ETIMEDOUT', errors: [timedOut, noRoute] },
		],
	])('%s: was not sent', (_what, inner) => {
		expect(noAnswerFrom(wrapped(inner))).toMatchObject({ kind: 'noAnswer', sent: false });
	});

	test.each([
		['reset', { code: 'ECONNRESET', syscall: 'read' }],
		['broken pipe', { code: 'EPIPE', syscall: 'write' }],
		['timeout', { code: 'ECONNABORTED' }],
		['no packet in time', { code: 'ETIMEDOUT', syscall: 'read' }],
		['stopped', { code: 'ERR_CANCELED' }],
		['TLS that broke after its handshake', { code: 'ERR_SSL_BAD_RECORD_TYPE' }],
		['unheard of', { code: 'E_NEW' }],
		[
			'several, one after connecting',
			{ code: 'ETIMEDOUT', errors: [noRoute, { syscall: 'read' }] },
		],
		['several, of which nothing is known', { code: 'ETIMEDOUT', errors: [] }],
		['without a code', {}],
	])('%s: may have been sent', (_what, inner) => {
		expect(noAnswerFrom(wrapped(inner))).toMatchObject({ kind: 'noAnswer', sent: true });
	});

	test('of any kind is taken without an error, and counts as sent', () => {
		fc.assert(
			fc.property(fc.anything(), (thrown) => {
				expect(noAnswerFrom(thrown)).toMatchObject({ kind: 'noAnswer', sent: true });
			}),
		);
	});
});
