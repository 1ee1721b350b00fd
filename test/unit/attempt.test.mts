/** One HTTP request: its body, and whether it may have been sent if no response comes. */
import fc from 'fast-check';
import { NodeApiError } from 'n8n-workflow';
import { Readable } from 'node:stream';
import { makeAttempt, noResponseFrom } from '../../nodes/shared/service/attempt.ts';

test('a body of more than 64 levels is not read', async () => {
	const bodyOf = async (levels: number): Promise<unknown> => {
		const body = `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
		const raw = { status: 200, headers: {}, body };
		const attempt = await makeAttempt(async () => await Promise.resolve(raw), 1_000);
		return Reflect.get(attempt, 'body');
	};
	expect(await bodyOf(63)).toHaveProperty('a');
	expect(await bodyOf(64)).toBeUndefined();
	expect(await bodyOf(200_000)).toBeUndefined();
});

test('a letter whose bytes come in two parts is read', async () => {
	const bytes = Buffer.from('{"name":"አበበ"}');
	const body = Readable.from([...bytes].map((byte) => Buffer.of(byte)));
	const raw = { status: 200, headers: {}, body };
	const attempt = await makeAttempt(async () => await Promise.resolve(raw), 10_000);
	expect(attempt).toMatchObject({ body: { name: 'አበበ' } });
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
		expect(noResponseFrom(wrapped(inner))).toMatchObject({
			kind: 'noResponse',
			mayHaveBeenSent: false,
		});
		const told = noResponseFrom(Object.assign(wrapped(inner), { code: 'ERR_OUTER' }));
		if ('code' in inner) expect(told.errorCode).toBe(inner.code);
	});

	test.each([
		['reset', { code: 'ECONNRESET', syscall: 'read' }],
		['broken pipe', { code: 'EPIPE', syscall: 'write' }],
		['timeout', { code: 'ECONNABORTED' }],
		['no packet in time', { code: 'ETIMEDOUT', syscall: 'read' }],
		['no host any more', { code: 'EHOSTUNREACH', syscall: 'read' }],
		['no network any more', { code: 'ENETUNREACH', syscall: 'write' }],
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
		expect(noResponseFrom(wrapped(inner))).toMatchObject({
			kind: 'noResponse',
			mayHaveBeenSent: true,
		});
	});

	// An error of n8n before 2.35 has no cause. `no-response.live.mts` does it in real ones.
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
		const told = { kind: 'noResponse', errorCode: code ?? message, mayHaveBeenSent: sent };
		expect(noResponseFrom(older)).toEqual(told);
	});

	test('of any kind is taken without an error, and counts as sent', () => {
		fc.assert(
			fc.property(fc.anything(), (thrown) => {
				expect(noResponseFrom(thrown)).toMatchObject({ kind: 'noResponse', mayHaveBeenSent: true });
			}),
		);
	});
});
