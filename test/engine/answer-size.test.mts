/** An answer is read up to 1 MB, unpacked, and no further. */
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { CallName } from '../support/engine/calls.mts';
import { calls, withoutPauses } from '../support/engine/calls.mts';
import type { RunResult } from '../support/engine/engine.mts';
import { credentialFor, runNode, testCredential } from '../support/engine/engine.mts';
import { serve, type Served } from '../support/engine/served.mts';

const megabyte = 1_048_576;

let service: Served;
let respond: (response: ServerResponse) => void;

beforeEach(async () => {
	withoutPauses();
	const server = createServer((request, response) => {
		request.on('error', () => undefined).resume();
		response.on('error', () => undefined);
		respond(response);
	});
	service = await serve(server);
});
afterEach(async () => {
	jest.restoreAllMocks();
	await service.close();
});

const credential = () =>
	credentialFor({ url: service.url, apiKey: 'key-of-the-size-test', webhookSecret: '' });

const run = async (call: CallName): Promise<RunResult> =>
	await runNode({
		credential: credential(),
		parameters: calls[call].parameters,
		items: [{ userId: 'u1' }],
	});

/** A body with so many bytes, which says yes to everything. */
function bodyOf(bytes: number): Buffer {
	const start = '{"success":true,"feePercent":2,"id":"u1","amountEtb":5,"txHash":"0x1"';
	return Buffer.from(`${start.padEnd(bytes - 1)}}`);
}

const packers = {
	gzip: (body: Buffer) => gzipSync(body),
	deflate: (body: Buffer) => deflateSync(body),
	br: (body: Buffer) => brotliCompressSync(body),
};

const answers = (body: Buffer, headers: Record<string, string> = {}, status = 200): void => {
	respond = (response) => response.writeHead(status, headers).end(body);
};

test.each(Object.entries(packers))('a small answer packed with %s is read', async (name, pack) => {
	answers(pack(bodyOf(100)), { 'content-encoding': name });
	expect((await run('disburse')).output[0]?.json).toMatchObject({ outcome: 'paid' });
});

test('an answer of 1 MB is read', async () => {
	answers(bodyOf(megabyte));
	expect((await run('disburse')).output[0]?.json).toMatchObject({ outcome: 'paid' });
});

test('a byte order mark is left out', async () => {
	answers(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bodyOf(100)]));
	expect((await run('disburse')).output[0]?.json).toMatchObject({ outcome: 'paid' });
});

const tooLarge: [what: string, body: () => Buffer, headers: Record<string, string>][] = [
	['1 MB and a byte', () => bodyOf(megabyte + 1), {}],
	...Object.entries(packers).map(([name, pack]): (typeof tooLarge)[number] => [
		`64 MB packed with ${name}`,
		() => pack(bodyOf(64 * megabyte)),
		{ 'content-encoding': name },
	]),
];

describe.each(tooLarge)('an answer of %s', (_what, body, headers) => {
	test('leaves a payment unknown', async () => {
		answers(body(), headers, 422);
		const { error } = await run('disburse');
		expect(error?.message).toMatch(/^It is unknown whether u1 was paid 5 ETB\. No answer from /);
		expect(error?.message).toMatch(/its answer is larger than 1 MB/);
		expect(service.sockets).toHaveLength(1);
	});

	test('is a failure to read, and not asked for again', async () => {
		answers(body(), headers);
		const { error } = await run('read');
		expect(error?.message).toMatch(/its answer is larger than 1 MB \[item 0\]$/);
		expect(service.sockets).toHaveLength(1);
	});
});

test('an answer of more than 1 MB fails the test of the credential', async () => {
	answers(bodyOf(megabyte + 1));
	expect((await testCredential(credential())).message).toMatch(/its answer is larger than 1 MB\./);
});

test('an answer without an end is read up to 1 MB, and its connection is closed', async () => {
	let sent = 0;
	respond = (response) => {
		const chunk = Buffer.alloc(65_536, ' ');
		const more = (): void => {
			while (!response.destroyed && response.write(chunk)) sent += chunk.length;
		};
		response.on('drain', more);
		more();
	};
	const { error } = await run('read');
	expect(error?.message).toMatch(/its answer is larger than 1 MB/);
	const [socket] = service.sockets;
	await new Promise<void>((closed) => {
		if (socket?.closed === true) closed();
		else socket?.once('close', () => closed());
	});
	// What fits into the buffers of the connection, on both sides.
	expect(sent).toBeLessThan(32 * megabyte);
});
