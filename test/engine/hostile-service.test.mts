/** A service, or something in its place, that answers whatever it likes: what a payment then ends as. */
import { createServer, type Socket } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { withoutPauses } from '../support/engine/calls.mts';
import { credentialFor, executeNode } from '../support/engine/engine.mts';
import { serve, type Served } from '../support/engine/served.mts';

let service: Served;
let requests: string[];
let answer: (socket: Socket) => void;

beforeEach(async () => {
	withoutPauses();
	requests = [];
	const server = createServer((socket) => {
		let text = '';
		socket.on('data', (chunk) => {
			text += chunk.toString('latin1');
			const [head = '', body] = text.split('\r\n\r\n');
			const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
			if (body === undefined || body.length < length) return;
			socket.removeAllListeners('data');
			requests.push(head);
			answer(socket);
		});
	});
	service = await serve(server);
});
afterEach(async () => {
	jest.restoreAllMocks();
	await service.close();
});

const ok = '{"success":true,"amountEtb":5,"txHash":"0x1"}';
const reply = (status: string, body: Buffer | string = '', headers = ''): Buffer => {
	const bytes = Buffer.from(body);
	return Buffer.concat([
		Buffer.from(
			`HTTP/1.1 ${status}\r\n${headers}Content-Length: ${bytes.length}\r\nConnection: close\r\n\r\n`,
		),
		bytes,
	]);
};
const raw = (text: string): Buffer => Buffer.from(text);
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
const cut = (packed: Buffer, bytes: number): Buffer => packed.subarray(0, packed.length - bytes);

const deep = (end: string): string => `{"a":${'['.repeat(1e5)}${']'.repeat(1e5)},${end}`;

type Outcome = 'paid' | 'notPaid' | 'unknown';
const cases: [what: string, bytes: Buffer, outcome: Outcome][] = [
	[
		'early hints before it',
		Buffer.concat([
			raw('HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n'),
			reply('200 OK', ok),
		]),
		'paid',
	],
	[
		'headers that are too large',
		raw(`HTTP/1.1 200 OK\r\nX: ${'a'.repeat(100_000)}\r\nContent-Length: 0\r\n\r\n`),
		'unknown',
	],
	[
		'two lengths',
		raw(`HTTP/1.1 200 OK\r\nContent-Length: 16\r\nContent-Length: 17\r\n\r\n${ok}`),
		'unknown',
	],
	[
		'a length and chunks',
		raw(
			`HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n${chunk(ok)}0\r\n\r\n`,
		),
		'unknown',
	],
	[
		'a body longer than its length',
		raw(
			`HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${ok.length}\r\n\r\n${ok},"success":false}`,
		),
		'paid',
	],
	['chunks', raw(`${chunked}${chunk(ok)}0\r\n\r\n`), 'paid'],
	['chunks without an end', raw(`${chunked}${chunk(ok)}`), 'unknown'],
	['chunks that are broken', raw(`${chunked}zz\r\n${ok}`), 'unknown'],
	['HTTP 1.0 without a length', raw(`HTTP/1.0 200 OK\r\n\r\n${ok}`), 'paid'],
	['no HTTP', raw(ok), 'unknown'],
	[
		'two answers',
		Buffer.concat([reply('200 OK', '{"success":false}'), reply('200 OK', ok)]),
		'notPaid',
	],
	[
		'gzip that is cut off',
		reply('200 OK', cut(gzipSync(ok), 20), 'Content-Encoding: gzip\r\n'),
		'unknown',
	],
	[
		'brotli that is cut off',
		reply(
			'200 OK',
			cut(brotliCompressSync(ok + ' '.repeat(50_000)), 3),
			'Content-Encoding: br\r\n',
		),
		'unknown',
	],
	['gzip that is none', reply('200 OK', ok, 'Content-Encoding: gzip\r\n'), 'unknown'],
	['a packing that nobody knows', reply('200 OK', ok, 'Content-Encoding: rot13\r\n'), 'paid'],
	['204', raw('HTTP/1.1 204 No Content\r\n\r\n'), 'unknown'],
	['206 with half a body', reply('206 Partial', ok.slice(0, 15)), 'unknown'],
	['304', raw('HTTP/1.1 304 Not Modified\r\n\r\n'), 'notPaid'],
	['999', reply('999 x', ok), 'unknown'],
	[
		'401 with a digest',
		reply('401 No', '{}', 'WWW-Authenticate: Digest realm="x", nonce="y", qop="auth"\r\n'),
		'notPaid',
	],
	['a very deep body that says yes', reply('200 OK', deep('"success":true}')), 'unknown'],
	[
		'an amount beyond numbers',
		reply('200 OK', '{"success":true,"amountEtb":1e400,"txHash":"0x1"}'),
		'unknown',
	],
	['200 cookies', reply('200 OK', ok, 'Set-Cookie: a=b\r\n'.repeat(200)), 'paid'],
	[
		'429 that asks to wait for years',
		reply('429 x', '{}', `Retry-After: ${'9'.repeat(20)}\r\n`),
		'notPaid',
	],
];

test.each(cases)('%s', async (_what, bytes, outcome) => {
	answer = (socket) => socket.end(bytes);
	const { output, errorOutput } = await executeNode({
		credential: credentialFor({ url: service.url, apiKey: 'key-of-the-test', webhookSecret: '' }),
		parameters: {
			resource: 'disbursement',
			operation: 'create',
			reference: '=pay-{{ $execution.id }}',
			toUserId: 'u1',
			amountEtb: 5,
			options: { timeout: 5000 },
		},
		onError: 'continueErrorOutput',
	});
	const [item] = [...output, ...errorOutput];
	const told = item?.json.error ?? item?.json;
	expect(told).toMatchObject({ outcome });
	expect(requests).toHaveLength(1);
});
