/** Every run ends by the clock, whatever the service drips, upgrades to or never sends. Whatever the database does: `test/model`. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { withoutPauses } from '../support/engine/calls.mts';
import { credentialFor, executeNode, runNode } from '../support/engine/engine.mts';
import type { RunOptions, RunResult } from '../support/engine/engine.mts';
import { serve, type Served } from '../support/engine/served.mts';

const apiKey = 'key-of-the-clock-test';
let service: Served;
/** What came with the key of this test: another process may ask a port that was just another's. */
let requests: string[];
let nodeId: string;
let nodes = 0;

beforeEach(() => {
	withoutPauses();
	requests = [];
	nodeId = `clock-${++nodes}`;
});
afterEach(async () => {
	jest.restoreAllMocks();
	await service.close();
});

/** A service that answers each request so. */
async function serveBy(answer: RequestListener): Promise<void> {
	const server = createServer((request, response) => {
		if (request.headers.authorization?.endsWith(apiKey) === true)
			requests.push(`${request.method} ${request.url}`);
		request.resume();
		answer(request, response);
	});
	service = await serve(server);
}

/** Sends headers, and then a byte of white space now and then. */
const drip: RequestListener = (_request, response) => {
	response.writeHead(200, { 'content-type': 'application/json' });
	const timer = setInterval(() => response.write(' '), 50);
	response.on('close', () => clearInterval(timer));
};
const upgrade: RequestListener = (request) => {
	request.socket.write(
		'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
	);
};
const never: RequestListener = () => undefined;

const credential = (): RunOptions['credential'] =>
	credentialFor({ url: service.url, apiKey, webhookSecret: '' });

const payment: INodeParameters = {
	resource: 'disbursement',
	operation: 'create',
	toUserId: 'u1',
	amountEtb: '10',
	reference: '={{ $json.ref }}',
};

async function pay(
	options: INodeParameters,
	run: Partial<RunOptions> = {},
	items: IDataObject[] = [{ ref: 'r1' }],
): Promise<RunResult> {
	return await runNode({
		credential: credential(),
		parameters: { ...payment, options },
		items,
		nodeId,
		...run,
	});
}

describe.each([
	['drips', drip],
	['switches protocols', upgrade],
	['never answers', never],
])('when the service %s', (_how, answer) => {
	test('a payment ends as unknown at its timeout, and its connection is closed', async () => {
		await serveBy(answer);
		const { error } = await pay({ timeout: 1000 });
		expect(error?.message).toMatch(
			/^It is unknown whether u1 was paid 10 ETB\. No answer from .*took too long/,
		);
		expect(requests).toHaveLength(1);
		await Promise.all(
			service.sockets.map(async (socket) => socket.closed || once(socket, 'close')),
		);
	});

	test('a stopped run ends at the timeout', async () => {
		await serveBy((request, response) => {
			setImmediate(() => stop());
			answer(request, response);
		});
		let stop = (): void => undefined;
		const { error } = await executeNode({
			credential: credential(),
			parameters: { ...payment, options: { timeout: 1000 } },
			items: [{ ref: 'r1' }],
			nodeId,
			started: (engine) => (stop = () => engine.cancel()),
		});
		expect(error?.message).toMatch(/took too long/);
		expect(requests).toHaveLength(1);
	});
});

test('a reading call is tried again when the service drips', async () => {
	let answers = 0;
	jest.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
		const controller = new AbortController();
		if (answers === 0) setTimeout(() => controller.abort(), 200);
		return controller.signal;
	});
	await serveBy((request, response) => {
		if (answers++ === 0) drip(request, response);
		else response.end('{"data":{"feePercent":1}}');
	});
	const { output } = await runNode({
		credential: credential(),
		parameters: { resource: 'fee', operation: 'get' },
	});
	expect(output[0]?.json).toEqual({ feePercent: 1 });
	expect(requests).toHaveLength(2);
});

describe('a claim', () => {
	test('is not sent again after a pause that is longer than its timeout', async () => {
		await serveBy((_request, response) => {
			response.writeHead(429, { 'retry-after': '3' }).end();
		});
		const { error } = await pay({ timeout: 2000 });
		expect(error?.message).toMatch(/too many requests \(429\)/);
		expect(requests).toHaveLength(1);
	});
});
