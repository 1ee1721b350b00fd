/** A proxy in n8n's environment: what it gets to see, and what its refusal means. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer as createTlsServer } from 'node:https';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { certify } from '../support/certificate.mts';
import { calls, type CallName } from '../support/engine/calls.mts';
import type { CredentialData, RunResult } from '../support/engine/engine.mts';
import { credentialFor, runNode } from '../support/engine/engine.mts';
import { payInEachTest, sandbox, user } from '../support/engine/paying.mts';
import { serve, type Served } from '../support/engine/served.mts';

payInEachTest();
let proxy: Served;
/** The requests that arrived at the proxy, one for each connection. */
let arrived: string[];
let respond: (socket: Socket, head: string) => void;
let userId: string;

const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'];
const before = names.map((name) => [name, process.env[name]] as const);

beforeEach(async () => {
	userId = user('abebe');
	arrived = [];
	respond = (socket) => socket.end('HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n');
	const server = createServer((socket) => {
		const at = arrived.push('') - 1;
		socket.on('data', (chunk) => {
			arrived[at] += chunk.toString('latin1');
			const head = arrived[at] ?? '';
			if (!head.includes('\r\n\r\n')) return;
			socket.removeAllListeners('data');
			respond(socket, head);
		});
	});
	proxy = await serve(server);
	for (const name of names) delete process.env[name];
	process.env.HTTP_PROXY = proxy.url;
	process.env.HTTPS_PROXY = proxy.url;
});
afterEach(async () => {
	for (const [name, value] of before) {
		if (value === undefined) delete process.env[name];
		else process.env[name] = value;
	}
	await proxy.close();
});

const run = async (call: CallName, changes: CredentialData): Promise<RunResult> =>
	await runNode({
		credential: credentialFor(sandbox, changes),
		parameters: calls[call].parameters,
		items: [{ userId }],
	});

describe('a proxy that does not connect to an https address', () => {
	const baseUrl = 'https://partners.example.com';

	/**
	 * n8n hands its refusal over as a response of the service: what that response would mean is told, and never
	 * that it was paid.
	 */
	test.each([
		['407', "HTTP/1.1 407 Who\r\nContent-Length: 9\r\n\r\nWho's it?", 'refused'],
		['403', 'HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n', 'refused'],
		['503', 'HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n', 'unclear'],
		[
			'500 that says yes',
			'HTTP/1.1 500 No\r\nContent-Length: 16\r\n\r\n{"success":true}',
			'unclear',
		],
		['no response', '', 'notReached'],
	])('with %s gets to see no key, and nobody is told as paid', async (_what, text, code) => {
		respond = (socket) => socket.end(text);
		for (const call of ['read', 'createUser', 'disburse'] as const) {
			const { error } = await run(call, { baseUrl });
			expect(error).toBeDefined();
			if (call === 'disburse') expect(error?.context?.data).toMatchObject({ code });
		}
		expect(arrived.map((head) => head.split('\r\n')[0])).toEqual(
			arrived.map(() => 'CONNECT partners.example.com:443 HTTP/1.1'),
		);
		expect(arrived.join('\n')).not.toMatch(/authorization/i);
		expect(arrived.join('\n')).not.toContain(sandbox.apiKey);
	});
});

describe('a proxy that connects', () => {
	let folder: string;
	let service: Served;
	let requests: string[];
	const trusted = tls.getCACertificates('default');

	beforeEach(async () => {
		folder = await mkdtemp(join(tmpdir(), 'etb-wallet-proxy-'));
		const { key, cert } = certify(folder, 'proxied', 'subjectAltName=DNS:partners.example.com');
		tls.setDefaultCACertificates([...trusted, cert]);
		requests = [];
		const server = createTlsServer({ key, cert }, (request, response) => {
			requests.push(`${request.method} ${request.url}`);
			if (request.url?.endsWith('/fee') === true) response.writeHead(503).end();
			else response.end('{"success":true,"amountEtb":5,"txHash":"0x1"}');
		});
		service = await serve(server);
		respond = (socket) => {
			const upstream = connect(Number(new URL(service.url).port), '127.0.0.1', () => {
				socket.write('HTTP/1.1 200 OK\r\n\r\n');
				socket.pipe(upstream).pipe(socket);
			});
			upstream.on('error', () => socket.destroy());
		};
	});
	afterEach(async () => {
		tls.setDefaultCACertificates(trusted);
		await service.close();
		await rm(folder, { recursive: true });
	});

	test('leads to the service, whose own refusals are its own', async () => {
		const baseUrl = 'https://partners.example.com';
		expect((await run('disburse', { baseUrl })).output[0]?.json).toMatchObject({ outcome: 'paid' });
		expect((await run('read', { baseUrl })).error?.message).toMatch(/^The service failed \(503\)/);
		expect(requests).toHaveLength(5);
	});
});
