/** An answer is read up to 1 MB, unpacked, and no further. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { CredentialTestContext } from 'n8n-core';
import type { IWorkflowExecuteAdditionalData } from 'n8n-workflow';
import type { CallName } from '../../lab/engine/calls.mts';
import { calls, withoutPauses } from '../../lab/engine/calls.mts';
import type { RunResult } from '../../lab/engine/engine.mts';
import { loadPackage, runNode } from '../../lab/engine/engine.mts';

const megabyte = 1_048_576;

let server: Server;
let sockets: Socket[];
let respond: (response: ServerResponse) => void;

beforeAll(async () => {
	server = createServer((request, response) => {
		request.on('error', () => undefined).resume();
		response.on('error', () => undefined);
		respond(response);
	});
	server.on('connection', (socket: Socket) => sockets.push(socket.on('error', () => undefined)));
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
});
afterAll(async () => {
	for (const socket of sockets) socket.destroy();
	await new Promise((closed) => server.close(closed));
});
beforeEach(() => {
	sockets = [];
	withoutPauses();
});
afterEach(() => jest.restoreAllMocks());

const credential = () => ({
	baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
	apiKey: 'key-of-the-size-test',
	webhookSecret: '',
	allowInsecureHttp: false,
});

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
	test.each([200, 422])('with %i leaves a payment unknown', async (status) => {
		answers(body(), headers, status);
		const { error } = await run('disburse');
		expect(error?.message).toMatch(/^It is unknown whether u1 was paid 5 ETB\. No answer from /);
		expect(error?.message).toMatch(/its answer is larger than 1 MB/);
		expect(sockets).toHaveLength(1);
	});

	test.each(['read', 'write'] as const)(
		'is a failure to %s, and not asked for again',
		async (call) => {
			answers(body(), headers);
			const { error } = await run(call);
			expect(error?.message).toMatch(
				/^No answer from .*: its answer is larger than 1 MB \[item 0\]$/,
			);
			expect(sockets).toHaveLength(1);
		},
	);

	test('fails the test of the credential', async () => {
		answers(body(), headers);
		const { types } = await loadPackage();
		const context = new CredentialTestContext({} as IWorkflowExecuteAdditionalData);
		const { methods } = types.get('n8n-nodes-etb-wallet.etbWallet') ?? {};
		const result = await Object.values(methods?.credentialTest ?? {})[0]?.call(context, {
			id: '1',
			name: 'ETB Wallet account',
			type: 'etbWalletApi',
			data: credential(),
		});
		expect(result?.message).toMatch(/^No answer from .*: its answer is larger than 1 MB\. Check/);
	});
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
	const [socket] = sockets;
	await new Promise<void>((closed) => {
		if (socket?.closed === true) closed();
		else socket?.once('close', () => closed());
	});
	// What fits into the buffers of the connection, on both sides.
	expect(sent).toBeLessThan(32 * megabyte);
});
