/** The requests that are sent again, and the pauses between them. */
import fc from 'fast-check';
import { NodeApiError } from 'n8n-workflow';
import { unansweredFrom, type Attempt } from '../../nodes/shared/service/attempt.ts';
import { judge, type Judgement } from '../../nodes/shared/service/answer.ts';
import type { ServiceRequest } from '../../nodes/shared/service/request.ts';
import { attemptWithRetries, retryDelayMs } from '../../nodes/shared/service/retries.ts';

type Verdict = Exclude<Judgement['verdict'], 'done'>;
type Verdicts = 'done' | Verdict | `${Verdict}, temporary`;

/** A read, and what creates something; both take any object for an answer. */
const request = (isIdempotent: boolean): ServiceRequest => ({
	...{ method: isIdempotent ? 'GET' : 'POST', path: '/x' },
});
const verdictOf = (isIdempotent: boolean, attempt: Attempt): Verdicts => {
	const judgement = judge(request(isIdempotent), attempt);
	if (judgement.verdict === 'done') return 'done';
	return judgement.isTemporary ? `${judgement.verdict}, temporary` : judgement.verdict;
};

const answer = (status: number, headers: Record<string, unknown> = {}): Attempt => ({
	kind: 'answer',
	status,
	headers,
	text: '{}',
	body: {},
});
const notSent: Attempt = { kind: 'unanswered', errorCode: 'ECONNREFUSED', mayBeSent: false };
const cutOff: Attempt = { kind: 'unanswered', errorCode: 'ECONNRESET', mayBeSent: true };
const range = (from: number, to: number): number[] =>
	Array.from({ length: to - from + 1 }, (_, index) => from + index);

const answers = (...statuses: number[]): Attempt[] => statuses.map((status) => answer(status));
const refusals = range(400, 499).filter((status) => ![408, 429, 499].includes(status));

const table: [what: string, attempts: Attempt[], idempotent: Verdicts, post: Verdicts][] = [
	['success', answers(...range(200, 299)), 'done', 'done'],
	['never sent', [notSent], 'notDone, temporary', 'notDone, temporary'],
	['too many requests', answers(429), 'notDone, temporary', 'notDone, temporary'],
	['a passing failure', answers(500, 502, 503, 504), 'notDone, temporary', 'unknown'],
	['reset or timeout', [cutOff], 'notDone, temporary', 'unknown'],
	['another failure of the service', answers(501, ...range(505, 599)), 'notDone', 'unknown'],
	['a refusal', answers(...refusals), 'notDone', 'notDone'],
	['a proxy that gave up waiting', answers(408, 499), 'notDone', 'unknown'],
	['a status that is none', answers(NaN, 0, 199, 600), 'notDone', 'unknown'],
	['a redirect that keeps the method', answers(301, 307, 308), 'notDone', 'notDone'],
	['a redirect that may follow a carried out POST', answers(302, 303), 'notDone', 'unknown'],
];

test.each(table)('%s', (_what, attempts, idempotent, post) => {
	for (const attempt of attempts) {
		expect(verdictOf(true, attempt)).toBe(idempotent);
		expect(verdictOf(false, attempt)).toBe(post);
	}
});

test.each(['GET', 'POST'])('a %s is refused only by a status that refuses', (method) => {
	for (const status of range(300, 599)) {
		const refuses = status < 500 && ![302, 303, 408, 499].includes(status);
		const judgement = judge(request(method === 'GET'), answer(status));
		expect(judgement).toMatchObject({ code: refuses ? 'refused' : 'unclear' });
	}
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
	const attempt = async (): Promise<Attempt> => {
		attempts++;
		return await Promise.resolve(answer(429, { 'retry-after': '0' }));
	};
	const timeLeft = () => leftMs.shift() ?? 0;
	const { judgement } = await attemptWithRetries(request(false), attempt, timeLeft);
	expect([judgement.verdict, attempts]).toEqual(['notDone', 1]);
});

test('a refusal of the last attempt does not undo that an earlier one may have been carried out', async () => {
	const attempts = [cutOff, answer(429, { 'retry-after': '0' }), answer(400)];
	const attempt = async (): Promise<Attempt> => await Promise.resolve(attempts.shift() ?? notSent);
	const setting: ServiceRequest = { method: 'PUT', path: '/x' };
	jest.spyOn(Math, 'random').mockReturnValue(0);
	const { judgement } = await attemptWithRetries(setting, attempt, () => 60_000);
	jest.restoreAllMocks();
	expect(judgement).toMatchObject({ verdict: 'unknown', code: 'unclear' });
	expect(attempts).toEqual([]);
});

test('the pauses before all attempts of a call take at most a minute', async () => {
	jest.useFakeTimers();
	let attempts = 0;
	const attempt = async (): Promise<Attempt> => {
		attempts++;
		return await Promise.resolve(answer(429, { 'retry-after': '25' }));
	};
	const ended = attemptWithRetries(request(false), attempt, () => 300_000);
	await jest.advanceTimersByTimeAsync(120_000);
	jest.useRealTimers();
	expect([(await ended).judgement.verdict, attempts]).toEqual(['notDone', 3]);
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
		[
			'address blocked by n8n',
			{ message: 'The request was blocked because it resolves to a restricted IP address' },
		],
		[
			'no connection to any address of the host',
			{ code: 'ETIMEDOUT', errors: [timedOut, noRoute] },
		],
	])('%s: was not sent', (_what, inner) => {
		expect(unansweredFrom(wrapped(inner))).toMatchObject({ kind: 'unanswered', mayBeSent: false });
		const told = unansweredFrom(Object.assign(wrapped(inner), { code: 'ERR_OUTER' }));
		if ('code' in inner) expect(told.errorCode).toBe(inner.code);
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
		expect(unansweredFrom(wrapped(inner))).toMatchObject({ kind: 'unanswered', mayBeSent: true });
	});

	// An error of n8n before 2.35 has no cause. `no-answer.live.mts` does it in real ones.
	test.each([
		['connect ECONNREFUSED 127.0.0.1:9', 'ECONNREFUSED', false],
		['connect EHOSTUNREACH 10.0.0.1:443', 'EHOSTUNREACH', false],
		['connect ETIMEDOUT 10.0.0.1:443', 'ETIMEDOUT', false],
		['getaddrinfo EAI_FAIL partners.example.com', 'EAI_FAIL', false],
		['self-signed certificate', 'DEPTH_ZERO_SELF_SIGNED_CERT', false],
		['Proxy connection ended before receiving CONNECT response', undefined, false],
		['The request was blocked because it resolves to a restricted IP address', undefined, false],
		['read ETIMEDOUT', 'ETIMEDOUT', true],
		['socket hang up', 'ECONNRESET', true],
		['reconnect failed', undefined, true],
	])('%s (%s) of an older n8n', (message, code, sent) => {
		const position: [number, number] = [0, 0];
		const node = { id: 'n', name: 'Pay', type: 'x', typeVersion: 1, position, parameters: {} };
		const failure = { message, ...(code !== undefined && { code }) };
		const older = Object.assign(new NodeApiError(node, failure), { cause: undefined });
		const told = { kind: 'unanswered', errorCode: code ?? message, mayBeSent: sent };
		expect(unansweredFrom(older)).toEqual(told);
	});

	test('of any kind is taken without an error, and counts as sent', () => {
		fc.assert(
			fc.property(fc.anything(), (thrown) => {
				expect(unansweredFrom(thrown)).toMatchObject({ kind: 'unanswered', mayBeSent: true });
			}),
		);
	});
});
