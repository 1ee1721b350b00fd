/**
 * A service, or something in its place, that answers whatever it likes, too much, or nothing: the result of a
 * payment, and that each run ends by the clock. Whatever the database does: `test/model`.
 */
import { createServer, type Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { calls, withoutPauses, type CallName } from '../support/engine/calls.mts';
import {
	credentialFor,
	runNode,
	testCredential,
	type NodeRun,
	type RunResult,
} from '../support/engine/engine.mts';
import { resultIn } from '../support/engine/paying.mts';
import { serve, type Served } from '../support/engine/served.mts';

const apiKey = 'key-of-this-test';
let service: Served;
/** The number of requests with this key: another process may ask a port that was just another's. */
let requests: number;
let respond: (socket: Socket) => void;

beforeEach(async () => {
	withoutPauses();
	requests = 0;
	const server = createServer((socket) => {
		let text = '';
		socket.on('data', (chunk) => {
			text += chunk.toString('latin1');
			const [head = '', body] = text.split('\r\n\r\n');
			const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
			if (body === undefined || body.length < length) return;
			text = '';
			if (head.includes(apiKey)) requests++;
			respond(socket);
		});
	});
	service = await serve(server);
});
afterEach(async () => {
	jest.restoreAllMocks();
	await service.close();
});

const credential = () => credentialFor({ url: service.url, apiKey, webhookSecret: '' });

const run = async (call: CallName, options: Partial<NodeRun> = {}): Promise<RunResult> =>
	await runNode({
		credential: credential(),
		parameters: calls[call].parameters,
		items: [{ userId: 'u1' }],
		...options,
	});
/** Pays with this timeout, in ms. */
const payWithin = async (timeout: number, options: Partial<NodeRun> = {}) =>
	await run('disburse', {
		parameters: { ...calls.disburse.parameters, options: { timeout } },
		...options,
	});

const megabyte = 1_048_576;
const ok = '{"success":true,"amountEtb":5,"txHash":"0x1"}';
/** A body of this many bytes that says yes. */
const sized = (bytes: number): Buffer => Buffer.from(`${ok.slice(0, -1).padEnd(bytes - 1)}}`);
const reply = (status: string, body: Buffer | string = '', headers = ''): Buffer => {
	const bytes = Buffer.from(body);
	return Buffer.concat([
		Buffer.from(
			`HTTP/1.1 ${status}\r\n${headers}Content-Length: ${bytes.length}\r\nConnection: close\r\n\r\n`,
		),
		bytes,
	]);
};
const packedBy = (name: string): string => `Content-Encoding: ${name}\r\n`;
const packers: [name: string, pack: (body: Buffer) => Buffer][] = [
	['gzip', gzipSync],
	['deflate', deflateSync],
	['br', brotliCompressSync],
];
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
const deep = `{"a":${'['.repeat(1e5)}${']'.repeat(1e5)},"success":true}`;

type Outcome = 'paid' | 'unknown';
const responses: Record<Outcome, Record<string, Buffer | string>> = {
	paid: {
		'early hints before it': `HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n${String(reply('200 OK', ok))}`,
		chunks: `${chunked}${chunk(ok)}0\r\n\r\n`,
		'a body of 1 MB': reply('200 OK', sized(megabyte)),
		'a byte order mark': reply('200 OK', `\ufeff${ok}`),
		'a packing that nobody knows': reply('200 OK', ok, packedBy('rot13')),
	},
	unknown: {
		'headers that are too large': `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(100_000)}\r\nContent-Length: 0\r\n\r\n`,
		'chunks without an end': `${chunked}${chunk(ok)}`,
		'chunks that are broken': `${chunked}zz\r\n${ok}`,
		'no HTTP': ok,
		'gzip that is cut off': reply('200 OK', gzipSync(ok).subarray(0, -20), packedBy('gzip')),
		'gzip that is none': reply('200 OK', ok, packedBy('gzip')),
		204: 'HTTP/1.1 204 No Content\r\n\r\n',
		'206 with half a body': reply('206 Partial', ok.slice(0, 15)),
		304: 'HTTP/1.1 304 Not Modified\r\n\r\n',
		999: reply('999 x', ok),
		'a very deep body that says yes': reply('200 OK', deep),
		'an amount beyond numbers': reply('200 OK', ok.replace('5', '1e400')),
	},
};
for (const [name, pack] of packers)
	responses.paid[`a body packed with ${name}`] = reply('200 OK', pack(sized(100)), packedBy(name));

test.each(
	(['paid', 'unknown'] as const).flatMap((outcome) =>
		Object.entries(responses[outcome]).map(([what, bytes]) => [what, outcome, bytes] as const),
	),
)('%s is %s', async (_what, outcome, bytes) => {
	respond = (socket) => socket.end(bytes);
	const { output, errorOutput } = await payWithin(5_000, { onError: 'continueErrorOutput' });
	expect([...output, ...errorOutput].map(resultIn)).toMatchObject([{ outcome }]);
	expect(requests).toBe(1);
});

const tooLarge = /its response is larger than 1 MB/;
test.each<[what: string, bytes: () => Buffer]>([
	['1 MB and a byte', () => reply('422 No', sized(megabyte + 1))],
	...packers.map(([name, pack]): [string, () => Buffer] => [
		`64 MB packed with ${name}`,
		() => reply('422 No', pack(sized(64 * megabyte)), packedBy(name)),
	]),
])('a response of %s is not read, and is not asked for again', async (_what, bytes) => {
	const large = bytes();
	respond = (socket) => socket.end(large);
	const { error } = await run('disburse');
	expect(error?.message).toMatch(/^It is unknown whether u1 was paid 5 ETB\. No response from /);
	expect(error?.message).toMatch(tooLarge);
	expect((await run('read')).error?.message).toMatch(tooLarge);
	expect(requests).toBe(2);
	expect((await testCredential(credential())).message).toMatch(tooLarge);
});

async function allClosed(): Promise<void> {
	for (const socket of service.sockets)
		await new Promise<void>((closed) => {
			if (socket.closed) closed();
			else socket.once('close', () => closed());
		});
}

test('a response without an end is read up to 1 MB, and its connection is closed', async () => {
	let sent = 0;
	respond = (socket) => {
		const spaces = chunk(' '.repeat(65_536));
		const more = (): void => {
			while (!socket.destroyed && socket.write(spaces)) sent += spaces.length;
		};
		socket.on('drain', more).write(chunked);
		more();
	};
	expect((await run('read')).error?.message).toMatch(tooLarge);
	await allClosed();
	// The size that fits into the buffers of the connection, on both sides.
	expect(sent).toBeLessThan(32 * megabyte);
});

/** Sends headers, and then a blank now and then. */
function drip(socket: Socket): void {
	socket.write(chunked);
	const timer = setInterval(() => socket.write(chunk(' ')), 50);
	socket.on('close', () => clearInterval(timer));
}

describe.each<[how: string, responding: (socket: Socket) => void]>([
	['drips', drip],
	[
		'switches protocols',
		(socket) =>
			socket.write('HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'),
	],
	['never answers', () => undefined],
])('when the service %s', (_how, responding) => {
	test('a payment ends as unknown at its timeout, and its connection is closed', async () => {
		respond = responding;
		const { error } = await payWithin(1_000);
		expect(error?.message).toMatch(
			/^It is unknown whether u1 was paid 5 ETB\. No response from .*took too long/,
		);
		expect(requests).toBe(1);
		await allClosed();
	});

	test('a stopped run ends at the timeout', async () => {
		let stop = (): void => undefined;
		respond = (socket) => {
			setImmediate(() => stop());
			responding(socket);
		};
		const { error } = await payWithin(1_000, {
			started: (engine) => (stop = () => engine.cancel()),
		});
		expect(error?.message).toMatch(/took too long/);
		expect(requests).toBe(1);
	});
});
