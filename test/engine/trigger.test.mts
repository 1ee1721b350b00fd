/** The trigger over real HTTP: what starts a workflow, what does not, and what the sender is told. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { WebhookContext } from 'n8n-core';
import type { INodeParameters } from 'n8n-workflow';
import { signBody } from '../../sandbox/signature.mts';
import type { ListeningTrigger, TriggerOptions } from '../support/engine/engine.mts';
import { callTriggerHook, credentialFor, deduplicator, listen } from '../support/engine/engine.mts';
import { payInEachTest, sandbox } from '../support/engine/paying.mts';

const secret = 'trigger-test-secret';
const credential = { baseUrl: 'https://partners.example.com', apiKey: 'k', webhookSecret: secret };
const listening: ListeningTrigger[] = [];
let triggers = 0;

/** Each call is another trigger, so that none remembers what another received. */
async function trigger(
	parameters: INodeParameters = {},
	options: Partial<TriggerOptions> = {},
	open = listen,
): Promise<ListeningTrigger> {
	const started = await open({
		credential,
		parameters: { events: ['*'], acknowledge: 'onReceived', ...parameters },
		workflow: { id: `wf-${++triggers}`, name: 'test' },
		...options,
	});
	listening.push(started);
	return started;
}

afterEach(async () => {
	jest.restoreAllMocks();
	await Promise.all(listening.splice(0).map(async ({ stop }) => await stop()));
});

const sign = (body: string, key = secret): string => signBody(body, key);

async function send(
	{ url }: Pick<ListeningTrigger, 'url'>,
	body: string | object,
	headers: Record<string, string> = {},
): Promise<{ status: number; text: string }> {
	const text = typeof body === 'string' ? body : JSON.stringify(body);
	const response = await fetch(url, {
		method: 'POST',
		body: text,
		headers: { 'content-type': 'application/json', 'x-webhook-signature': sign(text), ...headers },
	});
	return { status: response.status, text: await response.text() };
}

const transfer = (id: string, more: object = {}): object => ({
	event: 'transfer.completed',
	timestamp: '2026-11-21T10:00:00Z',
	data: { id, amountEtb: 10, txHash: `0x${id}` },
	...more,
});

test('an event that was not asked for is answered 200 and starts nothing', async () => {
	for (const isTest of [false, true]) {
		const node = await trigger({ events: ['disburse.completed'] }, { isTest });
		expect((await send(node, transfer('1'))).status).toBe(200);
		const asked = { event: 'disburse.completed', data: { id: '1' } };
		expect((await send(node, asked)).status).toBe(200);
		expect(node.started).toEqual([[[{ json: asked }]]]);
	}
});

describe('bodies', () => {
	test.each([
		['is no event', '{"event":1}', 'application/json'],
		['is no JSON', '{"event":', 'text/plain'],
	])('one that %s starts nothing', async (_what, body, type) => {
		const node = await trigger();
		const response = await send(node, body, { 'content-type': type });
		expect(response.status).toBe(400);
		expect(response.text).toBe('{"message":"The body is not an event"}');
		expect(node.started).toHaveLength(0);
	});

	test.each(['application/json', 'application/octet-stream'])(
		'what comes compressed or in chunks is verified as it was before: %s',
		async (type) => {
			const node = await trigger();
			for (const how of ['gzip', 'chunks'] as const) {
				const text = JSON.stringify(transfer(how));
				const body = how === 'gzip' ? gzipSync(text) : new Blob([text]).stream();
				const headers = { 'content-type': type, 'x-webhook-signature': sign(text) };
				if (how === 'gzip') Object.assign(headers, { 'content-encoding': 'gzip' });
				const request = { method: 'POST', body, headers, duplex: 'half' as const };
				const response = await fetch(node.url, request);
				await response.arrayBuffer();
				expect(response.status).toBe(200);
			}
			expect(node.started.flat(2).map(({ json }) => json)).toEqual([
				transfer('gzip'),
				transfer('chunks'),
			]);
		},
	);

	test.each([
		['is compressed and cut off', 'gzip', gzipSync('{"event":"x"}').subarray(0, 10), ''],
		['comes too slowly', 'identity', Buffer.from('{'), 'HTTP/1.1 400 '],
	])('one that %s is given up, and does not fill the log', async (_what, encoding, bytes, told) => {
		shortTimeouts();
		const node = await trigger();
		const handled = node.nextHandled();
		const { hostname, port } = new URL(node.url);
		const socket = connect(Number(port), hostname);
		const lines = [
			'POST /webhook HTTP/1.1',
			'Host: n8n',
			`X-Webhook-Signature: ${sign('')}`,
			`Content-Encoding: ${encoding}`,
			'Content-Length: 1000',
			'Expect: 100-continue',
		];
		socket.write(`${lines.join('\r\n')}\r\n\r\n`);
		await once(socket, 'data');
		socket.write(bytes);
		let response = '';
		socket.on('data', (data) => (response += String(data)));
		if (told === '') socket.destroy();
		else await once(socket, 'close');
		await handled;
		expect(response.startsWith(told)).toBe(true);
		expect(node.started).toHaveLength(0);
		expect(node.log).toEqual([]);
	});
});

/** Lets each time limit of the trigger end after a hundredth of it. */
function shortTimeouts(): void {
	const timeout = AbortSignal.timeout.bind(AbortSignal);
	jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(Math.ceil(ms / 100)));
}

/** Work that says when it has begun, and succeeds once it is told to finish. */
function slowWork(): { run: () => Promise<void>; begun: Promise<void>; finish: () => void } {
	const [begun, finished] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
	const run = async (): Promise<void> => {
		begun.resolve();
		await finished.promise;
	};
	return { run, begun: begun.promise, finish: finished.resolve };
}

/** Stops the clock when so many ms have passed. */
const timePassed = (ms: number): void => {
	const now = performance.now();
	jest.spyOn(performance, 'now').mockReturnValue(now + ms);
};
/** So long the trigger keeps to the secrets that it has read. */
const secretsUsedForMs = 1_000;

describe('n8n closes the trigger', () => {
	test('because it ends: events are to be sent again, until it opens it', async () => {
		const node = await trigger();
		const close = await node.open();
		expect((await send(node, transfer('1'))).status).toBe(200);
		await close();
		timePassed(120_000);
		expect((await send(node, transfer('1'))).status).toBe(503);
		expect((await send(node, transfer('2'))).status).toBe(503);
		await node.open();
		expect((await send(node, transfer('2'))).status).toBe(200);
		expect(node.started).toHaveLength(2);
	});

	test('because another process takes the lead: this one goes on after a while', async () => {
		const node = await trigger();
		const close = await node.open();
		await close();
		expect((await send(node, transfer('1'))).status).toBe(503);
		timePassed(140_000);
		expect((await send(node, transfer('1'))).status).toBe(200);
	});

	test('because one is unpublished: tests of it, and all others, go on', async () => {
		const workflow = { id: 'unpublished', name: 'test' };
		const [node, other] = [await trigger({}, { workflow }), await trigger()];
		const inTest = await trigger({}, { workflow, isTest: true });
		await other.open();
		const close = await node.open();
		await close();
		expect((await send(inTest, transfer('1'))).status).toBe(200);
		expect((await send(other, transfer('1'))).status).toBe(200);
	});
});

describe('duplicates', () => {
	test('of many at the same instant one starts the workflow, and the others are to be sent again', async () => {
		const node = await trigger();
		const responses = await Promise.all(
			Array.from({ length: 20 }, async () => await send(node, transfer('1'))),
		);
		const statuses = responses.map(({ status }) => status);
		expect(statuses.every((status) => status === 200 || status === 503)).toBe(true);
		expect(statuses).toContain(200);
		expect((await send(node, transfer('1'))).status).toBe(200);
		expect(node.started).toHaveLength(1);
	});

	test.each([302, 404, 500])(
		'an event whose workflow failed is new again when it was to be acknowledged at the end: %i',
		async (statusOfFailure) => {
			let fails = true;
			const work = async () =>
				await (fails ? Promise.reject(new Error('not today')) : Promise.resolve());
			const node = await trigger({ acknowledge: 'lastNode' }, { work, statusOfFailure });
			expect((await send(node, transfer('1'))).status).toBe(statusOfFailure);
			expect((await send(node, transfer('1'))).status).toBe(statusOfFailure);
			fails = false;
			expect((await send(node, transfer('1'))).status).toBe(200);
			expect((await send(node, transfer('1'))).status).toBe(200);
			expect(node.started).toHaveLength(3);
		},
	);

	test.each([
		['succeeds', 200, 1],
		['fails', 500, 2],
	])(
		'a duplicate is to be sent again while the workflow runs, which %s',
		async (_how, ended, runs) => {
			const workflow = slowWork();
			const work = async (): Promise<void> => {
				await workflow.run();
				if (ended === 500) throw new Error('not today');
			};
			const node = await trigger({ acknowledge: 'lastNode' }, { work });
			const first = send(node, transfer('1'));
			await workflow.begun;
			expect((await send(node, transfer('1'))).status).toBe(503);
			expect((await send(node, transfer('1'))).status).toBe(503);
			workflow.finish();
			expect((await first).status).toBe(ended);
			expect((await send(node, transfer('1'))).status).toBe(ended);
			expect(node.started).toHaveLength(runs);
		},
	);

	test('a test gets an event each time, and the published trigger gets it after that', async () => {
		const workflow = { id: 'tested', name: 'test' };
		const inTest = await trigger({}, { workflow, isTest: true });
		const published = await trigger({}, { workflow });
		for (const node of [inTest, inTest, published])
			expect((await send(node, transfer('1'))).status).toBe(200);
		expect([inTest.started.length, published.started.length]).toEqual([2, 1]);
	});

	test('a database that never answers holds up neither this event nor the next', async () => {
		shortTimeouts();
		const never = jest.spyOn(deduplicator, 'checkProcessedAndRecord');
		never.mockImplementation(async () => await new Promise(() => undefined));
		const node = await trigger();
		expect((await send(node, transfer('1'))).status).toBe(200);
		never.mockRestore();
		expect((await send(node, transfer('2'))).status).toBe(200);
		expect(node.started).toHaveLength(2);
	});

	test('an execution that n8n could not save is not taken for one that still runs', async () => {
		const save = jest.fn(async () => await Promise.reject(new Error('the disk is full')));
		// n8n prints why.
		jest.spyOn(console, 'error').mockReturnValue();
		const node = await trigger({ acknowledge: 'lastNode' }, { save });
		expect((await send(node, transfer('1'))).status).toBe(500);
		save.mockImplementation(async () => await Promise.resolve(undefined as never));
		expect((await send(node, transfer('1'))).status).toBe(200);
		expect(node.started).toHaveLength(2);
	});

	test('a sender that hangs up does not make a successful workflow run again', async () => {
		const workflow = slowWork();
		const node = await trigger({ acknowledge: 'lastNode' }, { work: workflow.run });
		const hangUp = new AbortController();
		const body = JSON.stringify(transfer('1'));
		const headers = { 'x-webhook-signature': sign(body) };
		const sent = fetch(node.url, { method: 'POST', body, headers, signal: hangUp.signal });
		await workflow.begun;
		hangUp.abort();
		await expect(sent).rejects.toThrow();
		workflow.finish();
		expect((await send(node, transfer('1'))).status).toBe(200);
		expect(node.started).toHaveLength(1);
	});
});

test('a sender that hangs up sends the event of a workflow that failed again', async () => {
	const [begun, finished] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
	let runs = 0;
	const work = async (): Promise<void> => {
		if (runs++ > 0) return;
		begun.resolve();
		await finished.promise;
		throw new Error('the workflow failed');
	};
	const node = await trigger({ acknowledge: 'lastNode' }, { work });
	const hangUp = new AbortController();
	const body = JSON.stringify(transfer('1'));
	const headers = { 'x-webhook-signature': sign(body) };
	const handled = node.nextHandled();
	const sent = fetch(node.url, { method: 'POST', body, headers, signal: hangUp.signal });
	await begun.promise;
	hangUp.abort();
	await expect(sent).rejects.toThrow();
	// The server sees it, too.
	for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
	finished.resolve();
	await handled;
	expect((await send(node, transfer('1'))).status).toBe(200);
	expect(runs).toBe(2);
});

test.each(['onReceived', 'lastNode'])(
	'static data belongs to the workflow: %s',
	async (acknowledge) => {
		const node = await trigger({ acknowledge });
		await send(node, transfer('1'));
		await send(node, transfer('2'));
		expect(node.started).toHaveLength(2);
		expect(node.hasChangedStaticData()).toBe(false);
	},
);

describe('the secret', () => {
	test('the present and the previous one count, until another credential is read', async () => {
		const changing: Record<string, string> = { ...credential, previousWebhookSecret: ' old \n' };
		const node = await trigger({}, { credential: changing });
		const sentWith = async (key: string, id: string): Promise<number> => {
			const body = JSON.stringify(transfer(id));
			return (await send(node, body, { 'x-webhook-signature': sign(body, key) })).status;
		};
		expect([await sentWith(secret, '1'), await sentWith('old', '2')]).toEqual([200, 200]);
		changing.previousWebhookSecret = '';
		// Webhook requests between do not keep it.
		timePassed(secretsUsedForMs / 2);
		expect(await sentWith(secret, '4')).toBe(200);
		timePassed(secretsUsedForMs / 2);
		expect(await sentWith('old', '3')).toBe(401);
		changing.webhookSecret = 'another-secret';
		timePassed(secretsUsedForMs);
		expect([await sentWith(secret, '5'), await sentWith('another-secret', '6')]).toEqual([
			401, 200,
		]);
		expect(node.started).toHaveLength(4);
	});

	test('one that is replaced while a slow sender transmits counts no more', async () => {
		const changing: Record<string, string> = { ...credential };
		const node = await trigger({}, { credential: changing });
		const body = JSON.stringify(transfer('1'));
		const { hostname, port } = new URL(node.url);
		const socket = connect(Number(port), hostname);
		const lines = [
			'POST /webhook HTTP/1.1',
			'Host: n8n',
			`X-Webhook-Signature: ${sign(body)}`,
			`Content-Length: ${body.length}`,
			'Connection: close',
			'Expect: 100-continue',
		];
		socket.write(`${lines.join('\r\n')}\r\n\r\n`);
		await once(socket, 'data');
		for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
		changing.webhookSecret = 'another-secret';
		socket.write(body);
		const [response] = (await once(socket, 'data')) as unknown[];
		socket.destroy();
		expect(String(response)).toMatch(/^HTTP\/1\.1 401 /);
		expect(node.started).toHaveLength(0);
	});

	test('without a present one, the previous one counts for nothing', async () => {
		const changes = { ...credential, webhookSecret: ' ', previousWebhookSecret: secret };
		const node = await trigger({}, { credential: changes });
		expect((await send(node, transfer('1'))).status).toBe(401);
	});

	test('a flood of forged webhook requests does not load the credential for each', async () => {
		const load = jest.spyOn(WebhookContext.prototype, 'getCredentials');
		const node = await trigger();
		const forged = { 'x-webhook-signature': sign('{}', 'forged') };
		const responses = await Promise.all(
			Array.from({ length: 50 }, async (_, id) => await send(node, transfer(`${id}`), forged)),
		);
		expect(responses.map(({ status }) => status)).toEqual(Array(50).fill(401));
		expect(load.mock.calls.length).toBeGreaterThan(0);
		expect(load.mock.calls.length).toBeLessThan(25);
	});

	test('a credential that cannot be read is logged, and does not fill the log', async () => {
		const changing: Record<string, string> = { ...credential };
		const node = await trigger({}, { credential: changing });
		const broken = jest
			.spyOn(WebhookContext.prototype, 'getCredentials')
			.mockRejectedValue(new Error('the encryption key has changed'));
		jest.spyOn(performance, 'now').mockReturnValue(performance.now());
		const forged = { 'x-webhook-signature': sign('{}', 'forged') };
		for (let id = 0; id < 20; id++)
			expect((await send(node, transfer(`${id}`), forged)).status).toBe(503);
		expect(node.log).toEqual([
			expect.stringMatching(/workflow "test" cannot be used.*the encryption key has changed/),
		]);
		broken.mockRestore();
	});

	test('a test with another credential is not taken for the published trigger', async () => {
		const workflow = { id: 'two-credentials', name: 'test' };
		const credentials = { etbWalletApi: { id: '2', name: 'Another account' } };
		const published = await trigger({}, { workflow });
		const account = { ...credential, webhookSecret: 'another-secret' };
		const test = { workflow, isTest: true, node: { credentials }, credential: account };
		const inTest = await trigger({}, test);
		jest.spyOn(performance, 'now').mockReturnValue(performance.now());
		expect((await send(published, transfer('1'))).status).toBe(200);
		expect((await send(inTest, transfer('2'))).status).toBe(401);
	});
});

describe('what n8n has to offer against the trigger', () => {
	test('Always Output Data runs no workflow for a duplicate of an earlier process', async () => {
		const workflow = { id: 'always-output', name: 'test' };
		const other = await trigger({}, { workflow, node: { id: 'other' } });
		const node = await trigger({}, { workflow, node: { alwaysOutputData: true } });
		await send(other, transfer('1'));
		// The record of the node, as an earlier process left it.
		const rows = deduplicator.rows;
		rows.set(`${workflow.id}:etb-wallet-trigger`, rows.get(`${workflow.id}:other`) ?? []);
		expect((await send(node, transfer('1'))).status).toBe(200);
		expect(node.executions()).toBe(1);
		expect(node.started).toHaveLength(0);
	});

	test('Retry On Fail does not take an event for its own duplicate', async () => {
		const retrying = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
		const node = await trigger({}, { node: retrying });
		const body = { event: 'transfer.failed', error: 'what n8n takes for a failure', data: {} };
		await send(node, body);
		expect(node.started).toEqual([[[{ json: body }]]]);
	});

	test.each<[INodeParameters, string]>([
		[{ events: '={{ ["*"] }}' }, 'The field "events" of the trigger holds an expression'],
		[
			{ acknowledge: '={{ $json.how }}' },
			'The field "acknowledge" of the trigger holds an expression',
		],
		...[[], '', [''], [null], [7], {}, ['nonsense'], ['*', 'nonsense']].map(
			(events): [INodeParameters, string] => [
				{ events } as INodeParameters,
				'which does not name events',
			],
		),
		[{ acknowledge: 'lastnode' }, 'The field "acknowledge" of the trigger is "lastnode"'],
	])(
		'an imported workflow with %j is refused when it is published',
		async (parameters, message) => {
			await expect(callTriggerHook({ credential, parameters }, 'create')).rejects.toThrow(message);
		},
	);

	test('while the settings of the trigger cannot be used, an event is answered 500, so that it comes again', async () => {
		const node = await trigger({ events: '={{ ["*"] }}' });
		expect((await send(node, transfer('1'))).status).toBe(500);
	});

	test('an event starts an imported workflow whose field Events is its name alone, and no list', async () => {
		const node = await trigger({ events: 'transfer.completed' });
		await send(node, transfer('1'));
		expect(node.started).toHaveLength(1);
	});

	test.each(['getMode', 'getResponseObject'] as const)(
		'if %s throws, the request is answered and the event is new again',
		async (method) => {
			const node = await trigger();
			const broken = jest.spyOn(WebhookContext.prototype, method).mockImplementationOnce(() => {
				throw new Error('n8n has changed');
			});
			expect((await send(node, transfer('1'))).status).toBe(500);
			broken.mockRestore();
			expect((await send(node, transfer('1'))).status).toBe(200);
			expect(node.started).toHaveLength(1);
		},
	);
});

/** As n8n does when a workflow is unpublished, or a test ends. */
const leave = async (options: TriggerOptions): Promise<boolean> =>
	await callTriggerHook(options, 'delete', 'internal', 'update');

describe('registration, beside the URL that the service has', () => {
	payInEachTest({ webhookSecret: secret });

	const options = (more: Partial<TriggerOptions> = {}): TriggerOptions => ({
		credential: credentialFor(sandbox),
		parameters: { events: ['*'] },
		webhookBaseUrl: 'http://127.0.0.1:5678/webhook',
		workflow: { id: `wf-${++triggers}`, name: 'Payments' },
		node: { credentials: { etbWalletApi: { id: `${++triggers}`, name: 'Account' } } },
		...more,
	});

	test.each([
		['no secret', { webhookSecret: ' ' }, 'has no Webhook Secret'],
		[
			'only a previous secret',
			{ webhookSecret: '', previousWebhookSecret: secret },
			'has no Webhook Secret',
		],
		[
			'a secret with what nobody sees',
			{ webhookSecret: `${secret.slice(0, 3)}\u200b${secret.slice(3)}` },
			'Webhook Secret is in quotes, or has a character that cannot be seen',
		],
		[
			'a previous secret in quotes',
			{ previousWebhookSecret: `"${secret}"` },
			'Previous Webhook Secret is in quotes, or has',
		],
		['no API key', { apiKey: '' }, 'API Key is empty'],
		['a wrong API key', { apiKey: 'wrong' }, 'Check the API key in the ETB Wallet API credential.'],
		[
			'an address that is not public',
			{ baseUrl: 'https://partners.example.com' },
			'The webhook URL of this n8n is "http://127.0.0.1:5678/webhook',
		],
	])('publishing and testing fail with %s', async (_name, changes, message) => {
		const refused = options({ credential: credentialFor(sandbox, changes) });
		await expect(callTriggerHook(refused, 'create')).rejects.toThrow(message);
		await expect(callTriggerHook(refused, 'create', 'manual', 'manual')).rejects.toThrow(message);
		expect(sandbox.books.webhookUrl()).toBeUndefined();
	});

	test('a service that is silent is asked again, and given up within 10 seconds', async () => {
		jest.spyOn(Math, 'random').mockReturnValue(0);
		// Time passes by the attempts alone: each ends at once, after the time that it was given.
		let passedMs = 0;
		let attempts = 0;
		const startMs = performance.now();
		jest.spyOn(performance, 'now').mockImplementation(() => startMs + passedMs);
		const timeout = AbortSignal.timeout.bind(AbortSignal);
		jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
			passedMs += ms;
			attempts++;
			return timeout(50);
		});
		sandbox.faults.next('PUT /webhook', 'timeoutBeforePaying', 10);
		await expect(callTriggerHook(options(), 'create')).rejects.toThrow('took too long to answer');
		expect(attempts).toBeGreaterThan(1);
		// The time of each attempt is rounded up to a whole ms.
		expect(passedMs).toBeLessThan(10_000 + attempts);
	});

	test.each([
		['of another project', 'another-project', 'project'],
		['of whose project n8n says nothing', undefined, undefined],
	])('a workflow %s is not named', async (_name, projectId, ownProjectId) => {
		const workflow = { id: `wf-${++triggers}`, name: 'Salaries of the directors' };
		await callTriggerHook(options({ workflow, projectId }), 'create');
		const second = callTriggerHook(options({ projectId: ownProjectId }), 'create');
		await expect(second).rejects.toThrow(
			'Unpublish the other workflow first: a workflow of this n8n, maybe of another project,',
		);
		await expect(second).rejects.not.toThrow('Salaries');
	});

	test('two triggers of one workflow are told that one of them is too many', async () => {
		const first = options();
		await callTriggerHook(first, 'create');
		const second = { ...first, node: { id: 'second-trigger', webhookId: 'second' } };
		await expect(callTriggerHook(second, 'create')).rejects.toThrow(
			'Remove one of the two ETB Wallet Triggers of this workflow',
		);
	});

	test.each(['http://127.0.0.1:5678/webhook', 'HTTP://LOCALHOST:80/webhook'])(
		'after unpublishing at %s another workflow may have the account',
		async (webhookBaseUrl) => {
			const first = options({ webhookBaseUrl });
			await callTriggerHook(first, 'create');
			await leave(first);
			await callTriggerHook(options(), 'create');
		},
	);

	test("n8n's database gets no API key", async () => {
		const staticData = {};
		await callTriggerHook(options({ staticData }), 'create');
		const url = expect.stringContaining('127.0.0.1:5678') as string;
		const accountKey = expect.any(String) as string;
		const published = { state: 'accepted', url, accountKey };
		expect(staticData).toEqual({ 'node:ETB Wallet Trigger': { published } });
		expect(JSON.stringify(staticData)).not.toContain(sandbox.apiKey);
	});
});
