/** The trigger over real HTTP: what starts a workflow, what does not, and what the sender is told. */
import { createHmac } from 'node:crypto';
import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import express from 'express';
import type { Express } from 'express';
import { WebhookContext } from 'n8n-core';
import type { INodeParameters } from 'n8n-workflow';
import type { Sandbox } from '../../sandbox/sandbox.mts';
import { startSandbox } from '../../sandbox/sandbox.mts';
import type { KeptTrigger, ListeningTrigger, TriggerOptions } from '../../lab/engine/engine.mts';
import {
	callTriggerHook,
	credentialFor,
	deduplicator,
	keepTrigger,
	listen,
} from '../../lab/engine/engine.mts';
import { serve, type Served } from '../../lab/engine/served.mts';

const secret = 'trigger-test-secret';
const credential = { baseUrl: 'https://partners.example.com', apiKey: 'k', webhookSecret: secret };
const listening: ListeningTrigger[] = [];
let triggers = 0;

/** Each call is another trigger, so that none remembers what another received. */
async function trigger(
	parameters: INodeParameters = {},
	options: Partial<TriggerOptions> = {},
): Promise<ListeningTrigger> {
	const started = await listen({
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

const sign = (body: string | Buffer, key = secret): string =>
	`sha256=${createHmac('sha256', key).update(body).digest('hex')}`;

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

describe('events', () => {
	test('an event that was not asked for is answered 200 and starts nothing', async () => {
		const node = await trigger({ events: ['disburse.completed'] });
		expect((await send(node, transfer('1'))).status).toBe(200);
		expect((await send(node, { event: 'disburse.completed', data: { id: '1' } })).status).toBe(200);
		expect(node.started).toEqual([
			[[{ json: { event: 'disburse.completed', data: { id: '1' } } }]],
		]);
	});

	test('"All Events" includes events that nobody knows yet', async () => {
		const node = await trigger();
		const body = { event: 'wallet.closed', extra: [1, { deep: true }] };
		await send(node, body);
		expect(node.started).toEqual([[[{ json: body }]]]);
	});

	test('each event can leave on an output of its own', async () => {
		const node = await trigger({
			events: ['disburse.completed', 'transfer.completed'],
			outputPerEvent: true,
		});
		await send(node, transfer('1'));
		await send(node, { event: 'disburse.completed', data: {} });
		expect(node.started.map((outputs) => outputs.map((items) => items.length))).toEqual([
			[0, 1],
			[1, 0],
		]);
	});

	test('with all events, unknown ones leave on the last output', async () => {
		const node = await trigger({ events: ['*'], outputPerEvent: true });
		await send(node, { event: 'wallet.closed' });
		await send(node, { event: 'deposit.mint_queued' });
		expect(node.started.map((outputs) => outputs.map((items) => items.length))).toEqual([
			[0, 0, 0, 1],
			[1, 0, 0, 0],
		]);
	});

	test('headers are added on request', async () => {
		const node = await trigger({ additionalOptions: { includeHeaders: true } });
		await send(node, transfer('1'), { 'x-request-id': 'abc' });
		expect(node.started[0]?.[0]?.[0]?.json).toMatchObject({
			event: 'transfer.completed',
			headers: { 'x-request-id': 'abc' },
		});
	});

	test('headers that may hold a secret, or are of the connection, are not shown', async () => {
		const node = await trigger({ additionalOptions: { includeHeaders: true } });
		const secrets = ['authorization', 'cookie', 'proxy-authorization', 'x-api-key', 'x-auth-token'];
		await send(node, transfer('1'), {
			...Object.fromEntries(secrets.map((name) => [name, 'access-of-the-service'])),
			'user-agent': 'partner-service/1',
			'idempotency-key': 'i-1',
		});
		const { headers } = node.started[0]?.[0]?.[0]?.json as { headers: Record<string, string> };
		expect(Object.keys(headers).toSorted()).toEqual(
			expect.arrayContaining(['content-type', 'idempotency-key', 'user-agent']),
		);
		expect(JSON.stringify(node.started)).not.toContain('access-of-the-service');
		for (const name of ['x-webhook-signature', 'host', 'connection', 'content-length'])
			expect(headers).not.toHaveProperty(name);
	});

	test('events above the maximum age start nothing; without a timestamp they are refused', async () => {
		const node = await trigger({ additionalOptions: { maximumAge: 15 } });
		const at = (minutesAgo: number) => ({
			timestamp: new Date(Date.now() - minutesAgo * 60_000).toISOString(),
		});
		expect((await send(node, transfer('1', at(16)))).status).toBe(200);
		expect(node.started).toHaveLength(0);
		expect((await send(node, transfer('2', at(14)))).status).toBe(200);
		expect(node.started).toHaveLength(1);
		expect((await send(node, transfer('3', { timestamp: 'soon' }))).status).toBe(400);
		expect(node.started).toHaveLength(1);
	});
});

describe('bodies', () => {
	const deep = `{"event":"x","data":${'['.repeat(100)}${']'.repeat(100)}}`;
	test('what says that it is JSON and is not is answered by n8n itself, signed or not', async () => {
		const node = await trigger();
		expect((await send(node, '{"event":')).status).toBe(422);
		expect((await send(node, '{"event":', { 'content-type': 'text/plain' })).status).toBe(400);
		expect(node.started).toHaveLength(0);
	});

	test('millions of levels are refused before they are parsed', async () => {
		const node = await trigger();
		const body = `{"event":"x","data":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`;
		const parse = jest.spyOn(JSON, 'parse');
		// n8n itself parses only what says that it is JSON.
		const { status } = await send(node, body, { 'content-type': 'application/octet-stream' });
		expect(parse.mock.calls.filter(([text]) => text.length > 1_000_000)).toHaveLength(0);
		expect(status).toBe(400);
	});

	test('brackets and quotes in texts are no levels', async () => {
		const node = await trigger();
		const text = `\\"${'['.repeat(100)}\\\\`;
		expect((await send(node, { event: 'x', data: { text, more: '"{'.repeat(99) } })).status).toBe(
			200,
		);
		expect(node.started).toHaveLength(1);
	});

	test('a body is parsed once', async () => {
		const node = await trigger();
		const parse = jest.spyOn(JSON, 'parse');
		const body = JSON.stringify(transfer('parsed-once'));
		await send(node, body, { 'content-type': 'application/octet-stream' });
		expect(parse.mock.calls.filter(([text]) => text === body)).toHaveLength(1);
	});

	test.each([
		['empty', ''],
		['a list', '[]'],
		['text', '"transfer.completed"'],
		['null', 'null'],
		['no event', '{"data":{}}'],
		['an event that is no text', '{"event":1}'],
		['an empty event', '{"event":""}'],
		['deeply nested', deep],
		['a __proto__ key', '{"event":"x","data":{"__proto__":{"polluted":true}}}'],
		['an escaped __proto__ key', '{"event":"x","\\u005f_proto__":{"polluted":true}}'],
		['a constructor.prototype key', '{"event":"x","constructor":{"prototype":{"polluted":true}}}'],
	])('%s is answered 400 and starts nothing', async (_name, body) => {
		const node = await trigger();
		const { status, text } = await send(node, body);
		expect(status).toBe(400);
		expect(node.started).toHaveLength(0);
		expect(text).toBe('{"message":"The body is not an event"}');
		expect(({} as Record<string, unknown>).polluted).toBeUndefined();
	});

	test('bytes that are no UTF-8 are answered 400', async () => {
		const node = await trigger();
		const body = Buffer.from([...Buffer.from('{"event":"'), 0xff, ...Buffer.from('"}')]);
		const response = await fetch(node.url, {
			method: 'POST',
			body,
			headers: { 'x-webhook-signature': sign(body) },
		});
		expect(response.status).toBe(400);
		expect(node.started).toHaveLength(0);
	});

	test('a "constructor" key that cannot pollute is data like any other', async () => {
		const node = await trigger();
		expect(
			(await send(node, { event: 'x', data: { constructor: 'Sunshine Builders' } })).status,
		).toBe(200);
		expect(node.started).toHaveLength(1);
	});

	test('the raw bytes are verified, not a re-serialisation', async () => {
		const node = await trigger();
		const body =
			' { "event" : "transfer.completed",\n"data": {"id":"1","amountEtb": 1.0, "big":1e3, "name":"አበበ"}} ';
		expect((await send(node, body)).status).toBe(200);
		expect(node.started[0]?.[0]?.[0]?.json).toEqual({
			event: 'transfer.completed',
			data: { id: '1', amountEtb: 1, big: 1000, name: 'አበበ' },
		});
	});

	test('a compressed body that is cut off is given up', async () => {
		const node = await trigger();
		const handled = node.nextHandled();
		const { hostname, port } = new URL(node.url);
		const socket = connect(Number(port), hostname);
		const lines = [
			'POST /webhook HTTP/1.1',
			'Host: n8n',
			`X-Webhook-Signature: ${sign('')}`,
			'Content-Encoding: gzip',
			'Content-Length: 1000',
			'Expect: 100-continue',
		];
		socket.write(`${lines.join('\r\n')}\r\n\r\n`);
		await once(socket, 'data');
		socket.write(gzipSync('{"event":"x"}').subarray(0, 10));
		socket.destroy();
		await handled;
		expect(node.started).toHaveLength(0);
	});

	test('what was read is not kept for as long as a sender may take', async () => {
		const timeout = AbortSignal.timeout.bind(AbortSignal);
		const signals: AbortSignal[] = [];
		jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
			const signal = timeout(ms);
			signals.push(signal);
			return signal;
		});
		const node = await trigger();
		const headers = { 'content-type': 'application/octet-stream' };
		expect((await send(node, transfer('1'), headers)).status).toBe(200);
		expect(signals).not.toHaveLength(0);
		expect(signals.flatMap((signal) => getEventListeners(signal, 'abort'))).toEqual([]);
	});

	test('the content type does not matter', async () => {
		const node = await trigger();
		expect((await send(node, transfer('1'), { 'content-type': 'text/plain' })).status).toBe(200);
		expect(node.started).toHaveLength(1);
	});
});

/** Waits for what happens by itself; gives up when the test has. */
async function turnsUntil(happened: () => boolean): Promise<void> {
	const { currentTestName } = expect.getState();
	while (!happened() && expect.getState().currentTestName === currentTestName)
		await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Something that says when it has begun, and succeeds once it is told to finish. */
function slowWork(): { run: () => Promise<void>; begun: Promise<void>; finish: () => void } {
	let begin = (): void => {};
	const begun = new Promise<void>((resolve) => (begin = resolve));
	let finish = (): void => {};
	const finished = new Promise<void>((resolve) => (finish = resolve));
	const run = async (): Promise<void> => {
		begin();
		await finished;
	};
	return { run, begun, finish: () => finish() };
}

/** A sender of `transfer('1')` that hangs up as soon as this has happened. */
async function sendUntil({ url }: ListeningTrigger, happened: () => Promise<void>): Promise<void> {
	const hangUp = new AbortController();
	const body = JSON.stringify(transfer('1'));
	const headers = { 'x-webhook-signature': sign(body) };
	const init = { method: 'POST', body, headers, signal: hangUp.signal };
	const sent = fetch(url, init).catch(() => undefined);
	await happened();
	hangUp.abort();
	await sent;
}

describe('duplicates', () => {
	test('the same event again starts nothing and is answered 200', async () => {
		const node = await trigger();
		for (let attempt = 0; attempt < 4; attempt++) {
			expect((await send(node, transfer('1'))).status).toBe(200);
		}
		expect(node.started).toHaveLength(1);
	});

	test('a transfer is the same by its id, whatever else the service sends', async () => {
		const node = await trigger();
		await send(node, transfer('1'));
		await send(node, transfer('1', { timestamp: '2026-11-21T10:00:30Z', attempt: 2 }));
		expect(node.started).toHaveLength(1);
	});

	test('other events with one data.id are different events: it may name a user', async () => {
		const node = await trigger();
		const paid = (txHash: string, timestamp: string) => ({
			event: 'disburse.completed',
			timestamp,
			data: { id: 'user-1', amountEtb: 100, txHash },
		});
		await send(node, paid('0x1', '2026-11-21T10:00:00Z'));
		await send(node, paid('0x2', '2026-11-21T11:00:00Z'));
		expect(node.started).toHaveLength(2);
		await send(node, paid('0x2', '2026-11-21T11:00:30Z'));
		expect(node.started).toHaveLength(2);
	});

	test('the order of keys makes no difference, their nesting and values do', async () => {
		const node = await trigger();
		const paid = (data: string) => `{"event":"disburse.completed","data":${data}}`;
		await send(node, paid('{"toUserId":"u","more":{"a":1,"b":[1,2]},"txHash":"0x1"}'));
		await send(node, paid('{"txHash":"0x1","more":{"b":[1,2],"a":1},"toUserId":"u"}'));
		expect(node.started).toHaveLength(1);
		await send(node, paid('{"txHash":"0x1","more":{"b":[2,1],"a":1},"toUserId":"u"}'));
		await send(node, paid('{"txHash":"0x1","more":[["a",1],["b",[1,2]]],"toUserId":"u"}'));
		expect(node.started).toHaveLength(3);
	});

	test('equal payments in one transaction are different events if their ids are', async () => {
		const node = await trigger();
		const paid = (id: string, timestamp: string) => ({
			id,
			event: 'disburse.completed',
			timestamp,
			data: { toUserId: 'u', amountEtb: 100, txHash: '0xbatch' },
		});
		await send(node, paid('evt_1', '2026-11-21T10:00:01Z'));
		await send(node, paid('evt_2', '2026-11-21T10:00:02Z'));
		await send(node, paid('evt_2', '2026-11-21T10:00:02Z'));
		expect(node.started.flat(2).map(({ json }) => json.id)).toEqual(['evt_1', 'evt_2']);
	});

	test('numbers that only look the same once they are read are different', async () => {
		const node = await trigger();
		for (const block of ['9007199254740993', '9007199254740992'])
			await send(node, `{"event":"disburse.completed","data":{"block":${block},"txHash":"0x1"}}`);
		expect(node.started).toHaveLength(2);
	});

	test('events without an identity are the same when the body is', async () => {
		const node = await trigger();
		const queued = (timestamp: string) => ({
			event: 'deposit.mint_queued',
			timestamp,
			data: { amountEtb: 5 },
		});
		await send(node, queued('2026-11-21T10:00:00Z'));
		await send(node, queued('2026-11-21T10:00:00Z'));
		await send(node, queued('2026-11-21T10:00:01Z'));
		expect(node.started).toHaveLength(2);
	});

	test('two at the same instant start one workflow and both get 200', async () => {
		const node = await trigger();
		const answers = await Promise.all(
			Array.from({ length: 20 }, async () => await send(node, transfer('1'))),
		);
		expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
		expect(node.started).toHaveLength(1);
	});

	test('an event whose workflow failed is new again when it was to be acknowledged at the end', async () => {
		let fails = true;
		const work = async () =>
			await (fails ? Promise.reject(new Error('not today')) : Promise.resolve());
		const node = await trigger({ acknowledge: 'lastNode' }, { work });
		expect((await send(node, transfer('1'))).status).toBe(500);
		expect((await send(node, transfer('1'))).status).toBe(500);
		fails = false;
		expect((await send(node, transfer('1'))).status).toBe(200);
		expect((await send(node, transfer('1'))).status).toBe(200);
		expect(node.started).toHaveLength(3);
	});

	test('a duplicate that comes while the workflow runs gets the answer of the first', async () => {
		const workflow = slowWork();
		const node = await trigger({ acknowledge: 'lastNode' }, { work: workflow.run });
		const first = send(node, transfer('1'));
		await workflow.begun;
		const second = send(node, transfer('1'));
		workflow.finish();
		expect([(await first).status, (await second).status]).toEqual([200, 200]);
		expect(node.started).toHaveLength(1);
	});

	describe.each(['onReceived', 'lastNode'])("n8n's queue of executions, with %s", (acknowledge) => {
		/** A trigger whose first event has run, and what lets the next executions begin. */
		const queued = async () => {
			const places: Array<() => void> = [];
			let isFree = true;
			const queue = async (): Promise<void> => {
				if (!isFree) await new Promise<void>((resolve) => places.push(resolve));
			};
			const node = await trigger({ acknowledge }, { queue });
			expect((await send(node, transfer('before'))).status).toBe(200);
			isFree = false;
			const isQueued = async (count: number): Promise<void> =>
				await turnsUntil(() => places.length >= count);
			/** A sender that hangs up while the event is in the queue. */
			const sendAndHangUp = async (): Promise<void> => {
				const count = places.length;
				await sendUntil(node, async () => await isQueued(count + 1));
			};
			return { node, places, isQueued, sendAndHangUp };
		};

		test('an event whose execution a person stopped there runs when it is sent again', async () => {
			const { node, places, isQueued, sendAndHangUp } = await queued();
			await sendAndHangUp();
			const again = send(node, transfer('1'));
			await isQueued(2);
			places[1]?.();
			expect((await again).status).toBe(200);
			expect(node.started).toHaveLength(2);
		});

		test('a delivery that waits for such an event takes its place', async () => {
			const { node, places, isQueued, sendAndHangUp } = await queued();
			const first = sendAndHangUp();
			await isQueued(1);
			const waiting = send(node, transfer('1'));
			await first;
			await isQueued(2);
			places[1]?.();
			expect((await waiting).status).toBe(200);
			expect(node.started).toHaveLength(2);
		});

		test.each([
			['in order', [0, 1]],
			['in the other order', [1, 0]],
		])('an event that is sent again while it is there runs once, %s', async (_name, order) => {
			const { node, places, isQueued, sendAndHangUp } = await queued();
			await sendAndHangUp();
			const again = send(node, transfer('1'));
			await isQueued(2);
			for (const place of order) places[place]?.();
			expect((await again).status).toBe(200);
			await turnsUntil(() => node.executions() === 3);
			expect((await send(node, transfer('1'))).status).toBe(200);
			expect(node.started).toHaveLength(2);
		});
	});

	test('a database that never answers holds up neither this event nor the next', async () => {
		const timeout = AbortSignal.timeout.bind(AbortSignal);
		jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(Math.ceil(ms / 100)));
		const never = jest.spyOn(deduplicator, 'checkProcessedAndRecord');
		never.mockImplementation(async () => await new Promise(() => undefined));
		const node = await trigger();
		expect((await send(node, transfer('1'))).status).toBe(200);
		never.mockRestore();
		expect((await send(node, transfer('2'))).status).toBe(200);
		expect(node.started).toHaveLength(2);
	});

	test('a sender that hangs up does not make a successful workflow run again', async () => {
		const workflow = slowWork();
		const node = await trigger({ acknowledge: 'lastNode' }, { work: workflow.run });
		await sendUntil(node, async () => await workflow.begun);
		workflow.finish();
		expect((await send(node, transfer('1'))).status).toBe(200);
		expect(node.started).toHaveLength(1);
	});
});

describe('static data', () => {
	test.each(['onReceived', 'lastNode'])('belongs to the workflow: %s', async (acknowledge) => {
		const node = await trigger({ acknowledge });
		await send(node, transfer('1'));
		await send(node, transfer('2'));
		expect(node.started).toHaveLength(2);
		expect(node.hasChangedStaticData()).toBe(false);
	});
});

describe('the secret', () => {
	test('once a changed secret counts, the one before does not', async () => {
		const changing = { ...credential };
		const node = await trigger({}, { credential: changing });
		expect((await send(node, transfer('1'))).status).toBe(200);
		changing.webhookSecret = 'another-secret';
		const body = JSON.stringify(transfer('2'));
		const signature = { 'x-webhook-signature': sign(body, changing.webhookSecret) };
		let status = 401;
		while (status === 401) ({ status } = await send(node, body, signature));
		expect(status).toBe(200);
		expect((await send(node, transfer('3'))).status).toBe(401);
		expect(node.started).toHaveLength(2);
	});

	test('a flood of forged deliveries does not load the credential for each', async () => {
		let loads = 0;
		const counted = {
			...credential,
			get webhookSecret() {
				loads++;
				return secret;
			},
		};
		const node = await trigger({}, { credential: counted });
		loads = 0;
		const forged = { 'x-webhook-signature': sign('{}', 'forged') };
		const answers = await Promise.all(
			Array.from({ length: 50 }, async (_, id) => await send(node, transfer(`${id}`), forged)),
		);
		expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(401));
		expect(loads).toBeGreaterThan(0);
		expect(loads).toBeLessThan(25);
	});

	test('a credential that cannot be read does not fill the log', async () => {
		const changing: Record<string, string> = { ...credential };
		const node = await trigger({}, { credential: changing });
		const broken = jest
			.spyOn(WebhookContext.prototype, 'getCredentials')
			.mockRejectedValue(new Error('the encryption key has changed'));
		const forged = { 'x-webhook-signature': sign('{}', 'forged') };
		for (let id = 0; id < 20; id++) {
			expect((await send(node, transfer(`${id}`), forged)).status).toBe(503);
			jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 2_000);
		}
		expect(node.log).toEqual([
			expect.stringMatching(/workflow "test" cannot be used.*the encryption key has changed/),
		]);
		broken.mockRestore();
	});

	test('each trigger has its own', async () => {
		const [one, other] = await Promise.all([
			trigger(),
			trigger({}, { credential: { ...credential, webhookSecret: 'another-secret' } }),
		]);
		expect((await send(one, transfer('1'))).status).toBe(200);
		expect((await send(other, transfer('1'))).status).toBe(401);
	});
});

describe('previous secret', () => {
	test('events signed with either are accepted while it is filled, and only then', async () => {
		const changing: Record<string, string> = { ...credential, previousWebhookSecret: ' old \n' };
		const node = await trigger({}, { credential: changing });
		const withOld = async (id: string) => {
			const body = JSON.stringify(transfer(id));
			return (await send(node, body, { 'x-webhook-signature': sign(body, 'old') })).status;
		};
		expect((await send(node, transfer('1'))).status).toBe(200);
		expect(await withOld('2')).toBe(200);
		changing.previousWebhookSecret = '';
		let status = 200;
		for (let id = 3; status === 200; id++) status = await withOld(`${id}`);
		expect(status).toBe(401);
		expect((await send(node, transfer('last'))).status).toBe(200);
	});

	test('without a present secret it counts for nothing', async () => {
		const changes = { ...credential, webhookSecret: ' ', previousWebhookSecret: secret };
		const node = await trigger({}, { credential: changes });
		expect((await send(node, transfer('1'))).status).toBe(401);
	});

	test('white space around a secret is not part of it', async () => {
		const node = await trigger(
			{},
			{ credential: { ...credential, webhookSecret: `${secret} \n` } },
		);
		expect((await send(node, transfer('1'))).status).toBe(200);
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

	test('Always Output Data puts no empty item on the first output', async () => {
		const node = await trigger({ outputPerEvent: true }, { node: { alwaysOutputData: true } });
		await send(node, transfer('1'));
		expect(node.started[0]?.map((items) => items.length)).toEqual([0, 0, 1, 0]);
	});

	test('Retry On Fail does not take an event for its own duplicate', async () => {
		const retrying = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
		const node = await trigger({}, { node: retrying });
		const body = { event: 'transfer.failed', error: 'what n8n takes for a failure', data: {} };
		await send(node, body);
		expect(node.started).toEqual([[[{ json: body }]]]);
	});

	test.each([
		[{ events: '={{ ["*"] }}' }, 'The field "events" of the trigger holds an expression'],
		[
			{ additionalOptions: { whileTesting: '={{ $json.how }}' } },
			'The field "additionalOptions" of the trigger holds an expression',
		],
		[{ additionalOptions: { maximumAge: 0 } }, 'Maximum Age (Minutes) is 0'],
		[{ additionalOptions: { maximumAge: 'soon' } }, 'Maximum Age (Minutes) is "soon"'],
	])(
		'an imported workflow with %j is refused when it is published',
		async (parameters, message) => {
			await expect(callTriggerHook({ credential, parameters }, 'create')).rejects.toThrow(message);
		},
	);

	test('whatever throws, the request is answered and nothing stays registered', async () => {
		const node = await trigger();
		const broken = jest.spyOn(WebhookContext.prototype, 'getMode').mockImplementation(() => {
			throw new Error('n8n has changed');
		});
		expect((await send(node, transfer('1'))).status).toBe(500);
		broken.mockRestore();
		const end = jest
			.spyOn(WebhookContext.prototype, 'getResponseObject')
			.mockImplementationOnce(() => {
				throw new Error('n8n has changed');
			});
		expect((await send(node, transfer('1'))).status).toBe(500);
		end.mockRestore();
		expect((await send(node, transfer('1'))).status).toBe(200);
		expect(node.started).toHaveLength(1);
	});
});

const refusal = { status: 400, body: '{}' };

const playing: Served[] = [];
afterEach(async () => {
	for (const { close } of playing.splice(0)) await close();
});

/** Serves on a free port until the test ends. */
async function play(app: Express): Promise<string> {
	const served = await serve(createServer(app));
	playing.push(served);
	return served.url;
}

/** A partner service that takes its time for one request, until it is told to finish; `urls` are those it was given, in the order it kept them. */
async function partnerService(slowRequest: number): Promise<{
	url: string;
	urls: string[];
	slow: ReturnType<typeof slowWork>;
}> {
	const urls: string[] = [];
	const slow = slowWork();
	let requests = 0;
	const app = express().use(express.json());
	app.put('/api/v1/partners/webhook', async (request, response) => {
		const { webhookUrl } = request.body as { webhookUrl: string };
		if (++requests === slowRequest) await slow.run();
		urls.push(webhookUrl);
		response.json({});
	});
	return { url: await play(app), urls, slow };
}

/** Another process of n8n, which handles the published workflow: what reached it, by body. */
async function otherProcess(): Promise<{ url: string; received: string[]; probes: string[] }> {
	const received: string[] = [];
	const probes: string[] = [];
	const app = express().use(express.text({ type: '*/*' }));
	app.post('/{*path}', (request, response) => {
		const isProbe = String(request.body).includes('etbWalletProbe');
		(isProbe ? probes : received).push(String(request.body));
		response.status(isProbe ? 202 : 200).end();
	});
	return { url: await play(app), received, probes };
}

/** As n8n does when somebody presses Listen. */
const beginTest = async (options: TriggerOptions): Promise<boolean> =>
	await callTriggerHook(options, 'create', 'manual', 'manual');
/** As n8n does when a workflow is unpublished or replaced, or a test ends. */
const leave = async (options: TriggerOptions): Promise<boolean> =>
	await callTriggerHook(options, 'delete', 'internal', 'update');

describe('registration', () => {
	let sandbox: Sandbox;
	beforeEach(async () => {
		sandbox = await startSandbox({ webhookSecret: secret });
	});
	afterEach(async () => await sandbox.stop());

	const options = ({
		additionalOptions = {},
		...more
	}: Partial<TriggerOptions> & { additionalOptions?: INodeParameters } = {}): TriggerOptions => ({
		credential: credentialFor(sandbox),
		parameters: { events: ['*'], additionalOptions },
		webhookBaseUrl: 'http://127.0.0.1:5678/webhook',
		workflow: { id: `wf-${++triggers}`, name: 'Payments' },
		...more,
	});

	test('publishing sets the URL each time', async () => {
		const published = options();
		await callTriggerHook(published, 'create');
		await callTriggerHook(published, 'create', 'trigger', 'init');
		expect(sandbox.books.webhookUrlHistory()).toHaveLength(2);
		expect(sandbox.books.webhookUrl()).toMatch(/^http:\/\/127\.0\.0\.1:5678\/webhook\//);
		expect(await callTriggerHook(published, 'checkExists')).toBe(false);
	});

	test.each([
		['no secret', { webhookSecret: ' ' }, 'has no Webhook Secret'],
		['no API key', { apiKey: '' }, 'API Key is empty'],
		['a wrong API key', { apiKey: 'wrong' }, 'does not accept the API key (401)'],
		[
			'an address that is not public',
			{ baseUrl: 'https://partners.example.com' },
			'The webhook URL of this n8n is "http://127.0.0.1:5678/webhook',
		],
	])('publishing fails with %s', async (_name, changes, message) => {
		const refused = options({ credential: credentialFor(sandbox, changes) });
		await expect(callTriggerHook(refused, 'create')).rejects.toThrow(message);
		expect(sandbox.books.webhookUrl()).toBeUndefined();
	});

	test('publishing fails when the service says no with a status that says yes', async () => {
		const body = '{ "data": { "success": false } }';
		sandbox.faults.next('PUT /webhook', { process: 'never', answer: { status: 200, body } });
		await expect(callTriggerHook(options(), 'create')).rejects.toThrow(
			'The service answered 200, but says that it did not do it',
		);
		await callTriggerHook(options(), 'create');
	});

	test('publishing fails on an n8n that cannot send requests, with the version that is needed', async () => {
		const other = options({ contextOfOtherN8n: { helpers: {} } });
		await expect(callTriggerHook(other, 'create')).rejects.toThrow(
			'This version of n8n cannot send requests with a credential',
		);
		expect(sandbox.books.webhookUrl()).toBeUndefined();
	});

	test('a second workflow of the account fails, and is told which one to unpublish', async () => {
		const first = options();
		await callTriggerHook(first, 'create');
		const firstUrl = sandbox.books.webhookUrl();
		const second = options();
		const publish = async (): Promise<boolean> => await callTriggerHook(second, 'create');
		await expect(publish()).rejects.toThrow(
			'Unpublish the workflow "Payments" first: it receives the events of this account',
		);
		await leave(second);
		expect(sandbox.books.webhookUrl()).toBe(firstUrl);
		await leave(first);
		await publish();
		expect(sandbox.books.webhookUrl()).toContain(second.workflow?.id);
	});

	test.each([
		['of another project', 'another-project'],
		['of whose project n8n says nothing', undefined],
	])('a workflow %s is not named', async (_name, projectId) => {
		const workflow = { id: `wf-${++triggers}`, name: 'Salaries of the directors' };
		await callTriggerHook(options({ workflow, projectId }), 'create');
		const second = callTriggerHook(options(), 'create');
		await expect(second).rejects.toThrow(
			'Unpublish the other workflow first: a workflow of another project receives',
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

	describe('when n8n starts', () => {
		const start = async (published: TriggerOptions): Promise<boolean> =>
			await callTriggerHook(published, 'create', 'trigger', 'init');
		const urls = (): string[] => sandbox.books.webhookUrlHistory();
		/** The pauses before the tries in the background are short, and are counted. */
		const hasten = (): { pauses: number } => {
			const timeout = AbortSignal.timeout.bind(AbortSignal);
			const counted = { pauses: 0 };
			jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
				if (ms < 30_000) return timeout(ms);
				counted.pauses++;
				return timeout(ms / 1_000);
			});
			return counted;
		};

		test.each([
			['no secret', { webhookSecret: ' ' }, 'has no Webhook Secret. Enter the Webhook Secret'],
			['no API key', { apiKey: '' }, 'API Key is empty. Enter the API key'],
			[
				'an address that is not public',
				{ baseUrl: 'https://partners.example.com' },
				'which is not https. Set the environment variable WEBHOOK_URL',
			],
		])('with %s, it is told once and tried again until it can be', async (_name, changes, why) => {
			const counted = hasten();
			const changing = credentialFor(sandbox, changes);
			const published = options({ credential: changing });
			const kept = await keepTrigger(published);
			await start(published);
			await turnsUntil(() => counted.pauses > 2);
			expect(kept.told).toEqual([expect.stringContaining(why)]);
			expect(kept.told[0]).toMatch(/^Events may not come: /);
			Object.assign(changing, credentialFor(sandbox));
			await turnsUntil(() => urls().length > 0);
			await kept.close();
		});

		test('a workflow whose account another one holds is told which, and gets it after that one', async () => {
			hasten();
			const first = options();
			await start(first);
			const second = options();
			await start(second);
			const kept = await keepTrigger(second);
			expect(kept.told).toEqual([
				expect.stringContaining('Unpublish the workflow "Payments" first'),
			]);
			expect(urls()).toHaveLength(1);
			await leave(first);
			await turnsUntil(() => urls().length > 1);
			expect(urls().at(-1)).toContain(second.workflow?.id);
			await kept.close();
		});

		test.each([
			['unpublished', async (published: TriggerOptions) => void (await leave(published))],
			['no longer kept', async (_: TriggerOptions, kept: KeptTrigger) => await kept.close()],
		])('what is %s is not tried again', async (_name, end) => {
			const counted = hasten();
			const changing = credentialFor(sandbox, { apiKey: '' });
			const published = options({ credential: changing });
			await start(published);
			const kept = await keepTrigger(published);
			await end(published, kept);
			Object.assign(changing, credentialFor(sandbox));
			// The first pause takes 30 ms.
			await new Promise((resolve) => setTimeout(resolve, 300));
			expect([urls().length, counted.pauses]).toEqual([0, 1]);
		});

		/** The pauses before the tries in the background end when the test says so. */
		const onRequest = (): { endPauses: () => Promise<void> } => {
			const timeout = AbortSignal.timeout.bind(AbortSignal);
			const pauses: AbortController[] = [];
			jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
				if (ms < 30_000) return timeout(ms);
				const end = new AbortController();
				pauses.push(end);
				return end.signal;
			});
			const endPauses = async (): Promise<void> => {
				for (const end of pauses.splice(0)) end.abort();
				// What follows begins the next one.
				await turnsUntil(() => pauses.length > 0);
			};
			return { endPauses };
		};

		test('a test does not take the URL from a workflow that could not be registered', async () => {
			const changing = credentialFor(sandbox, { webhookSecret: '' });
			const waiting = options({ credential: changing });
			const node = await listen(waiting);
			const published = { ...waiting, webhookBaseUrl: node.url };
			await start(published);
			const kept = await keepTrigger(published);
			Object.assign(changing, credentialFor(sandbox));
			const tested = { ...published, isTest: true };
			await beginTest(tested);
			expect(urls()).toEqual([expect.not.stringContaining('webhook-test')]);
			await leave(tested);
			await kept.close();
			await node.stop();
		});

		test('a changed workflow keeps its account, also while another one waits for it', async () => {
			const { endPauses } = onRequest();
			const owner = options();
			await start(owner);
			const keptOwner = await keepTrigger(owner);
			const waiting = options();
			await start(waiting);
			const kept = await keepTrigger(waiting);
			await keptOwner.close();
			await endPauses();
			await leave(owner);
			await endPauses();
			await callTriggerHook(owner, 'create', 'trigger', 'update');
			expect(urls().every((url) => url.includes(String(owner.workflow?.id)))).toBe(true);
			await kept.close();
		});

		test('it does not take the account of another workflow that a person entered into its credential', async () => {
			const { endPauses } = onRequest();
			const named = (id: string) => ({ credentials: { etbWalletApi: { id, name: id } } });
			const changing = credentialFor(sandbox, { apiKey: 'withdrawn' });
			const other = options({ credential: changing, node: named('two') });
			await start(other);
			const kept = await keepTrigger(other);
			const owner = options({ node: named('one') });
			await start(owner);
			expect(kept.told).toEqual([expect.stringContaining('(401)')]);
			Object.assign(changing, credentialFor(sandbox));
			await endPauses();
			expect(kept.told.slice(1)).toEqual([
				expect.stringContaining('Unpublish the workflow "Payments" first'),
			]);
			expect(urls()).toHaveLength(1);
			await callTriggerHook(owner, 'create', 'trigger', 'update');
			expect(urls().at(-1)).toContain(owner.workflow?.id);
			await kept.close();
		});

		test('what comes to a trigger whose settings cannot be used is not taken for unwanted', async () => {
			const node = await trigger({ events: '={{ ["*"] }}' });
			expect((await send(node, transfer('1'))).status).toBe(500);
		});
	});

	test('of one that is unpublished and one that is published at once, the service ends with the URL of the other', async () => {
		const service = await partnerService(1);
		const credential = credentialFor(sandbox, { baseUrl: service.url });
		const first = options({ credential });
		const publishing = callTriggerHook(first, 'create', 'trigger', 'init');
		await service.slow.begun;
		const leaving = leave(first);
		const second = options({ credential });
		const publishingOther = callTriggerHook(second, 'create');
		service.slow.finish();
		await Promise.all([publishing, leaving, publishingOther]);
		expect(service.urls.at(-1)).toContain(second.workflow?.id);
	});

	test('a key that was replaced in the credential of a published workflow keeps the account', async () => {
		const changing = credentialFor(sandbox, { apiKey: 'key-of-before' });
		const service = await partnerService(0);
		changing.baseUrl = service.url;
		await callTriggerHook(options({ credential: changing }), 'create');
		changing.apiKey = 'key-of-now';
		const other = { ...changing };
		const credentials = { etbWalletApi: { id: '2', name: 'Another credential' } };
		const second = options({ credential: other, node: { credentials } });
		await expect(callTriggerHook(second, 'create')).rejects.toThrow('Unpublish the workflow');
		expect(service.urls).toHaveLength(1);
	});

	test('a credential whose API key was replaced is still the same account', async () => {
		await callTriggerHook(options(), 'create');
		const credential = credentialFor(sandbox, { apiKey: 'replaced-api-key' });
		await expect(callTriggerHook(options({ credential }), 'create')).rejects.toThrow(
			'Unpublish the workflow',
		);
	});

	test('a workflow that could not be published does not hold the account', async () => {
		const first = options();
		sandbox.faults.next('PUT /webhook', { process: 'never', answer: refusal });
		await expect(callTriggerHook(first, 'create')).rejects.toThrow('refused the request (400)');
		await callTriggerHook(options(), 'create');
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

	test('unpublishing, and a test without a published workflow, leave the URL where it is', async () => {
		const plain = options();
		await callTriggerHook(plain, 'create');
		await leave(plain);
		expect(sandbox.books.webhookUrlHistory()).toHaveLength(1);
		const tested = { ...options(), isTest: true };
		await beginTest(tested);
		expect(sandbox.books.webhookUrl()).toContain('/webhook-test/');
		await leave(tested);
		expect(sandbox.books.webhookUrlHistory()).toHaveLength(2);
	});

	test('a test sets its URL also if it was the last one to do so', async () => {
		const tested = { ...options(), isTest: true };
		await beginTest(tested);
		await leave(tested);
		sandbox.books.setWebhookUrl('https://staging.example.com/');
		await beginTest(tested);
		expect(sandbox.books.webhookUrl()).toContain('/webhook-test/');
	});

	test('a test can leave the URL alone', async () => {
		await callTriggerHook(options(), 'create');
		const alone = options({ additionalOptions: { whileTesting: 'leaveUrl' } });
		await beginTest(alone);
		await leave({ ...alone, isTest: true });
		expect(sandbox.books.webhookUrlHistory()).toHaveLength(1);
	});

	describe('published again with a changed trigger while the service refuses', () => {
		const refuse = (times: number): void =>
			sandbox.faults.next('PUT /webhook', { process: 'never', answer: refusal }, times);
		/** As n8n replaces a published trigger; resolves to why it could not, if so. */
		const replace = async (published: TriggerOptions): Promise<string | undefined> => {
			await leave(published).catch(() => undefined);
			try {
				await callTriggerHook(published, 'create', 'trigger', 'update');
				return undefined;
			} catch (error) {
				await leave(published).catch(() => undefined);
				return error instanceof Error ? error.message : String(error);
			}
		};

		test('it listens, because the service has its URL already, and holds the account', async () => {
			const published = options();
			await callTriggerHook(published, 'create');
			refuse(1);
			expect(await replace(published)).toBeUndefined();
			await expect(callTriggerHook(options(), 'create')).rejects.toThrow('Unpublish the workflow');
			refuse(1);
			expect(await replace(published)).toBeUndefined();
		});

		test('also when a workflow of another account is published at that moment', async () => {
			const other = await startSandbox({ apiKey: 'other-key', webhookSecret: secret });
			const published = options();
			await callTriggerHook(published, 'create');
			await leave(published);
			const credentials = { etbWalletApi: { id: 'other', name: 'Another account' } };
			await callTriggerHook(
				options({ credential: credentialFor(other), node: { credentials } }),
				'create',
			);
			refuse(1);
			await callTriggerHook(published, 'create', 'trigger', 'update');
			await other.stop();
		});

		test('it does not when a person entered another account into its credential', async () => {
			const other = await startSandbox({ apiKey: 'other-key', webhookSecret: secret });
			const changing = credentialFor(sandbox);
			const published = options({ credential: changing });
			await callTriggerHook(published, 'create');
			Object.assign(changing, credentialFor(other, { apiKey: 'mistyped' }));
			expect(await replace(published)).toContain('does not accept the API key (401)');
			await other.stop();
		});

		test.each([
			['with another account', true],
			['with what cannot be used', false],
		])('it does not when it was published %s meanwhile', async (_name, isOther) => {
			const other = await startSandbox({ apiKey: 'other-key', webhookSecret: secret });
			const published = options();
			await callTriggerHook(published, 'create');
			const meanwhile = credentialFor(other, isOther ? {} : { apiKey: '' });
			const credentials = { etbWalletApi: { id: '2', name: 'Another credential' } };
			await replace({ ...published, credential: meanwhile, node: { credentials } });
			sandbox.books.setWebhookUrl('https://staging.example.com/');
			refuse(1);
			expect(await replace(published)).toContain('refused the request (400)');
			await other.stop();
		});

		test('it does not when a test may have set another URL since', async () => {
			const published = options();
			await callTriggerHook(published, 'create');
			await leave(published);
			const tested = { ...options(), isTest: true };
			await beginTest(tested);
			await leave(tested);
			refuse(1);
			expect(await replace(published)).toContain('refused the request (400)');
		});

		test('it does not when it is published anew: others may have set another URL meanwhile', async () => {
			const published = options();
			await callTriggerHook(published, 'create');
			await leave(published);
			refuse(1);
			const anew = callTriggerHook(published, 'create');
			await expect(anew).rejects.toThrow('refused the request (400)');
			refuse(1);
			expect(await replace(published)).toContain('refused the request (400)');
		});
	});

	describe('a test while another process handles the published workflow', () => {
		const testing = async () => {
			const production = await otherProcess();
			const published = options({ webhookBaseUrl: `${production.url}/webhook` });
			await callTriggerHook(published, 'create');
			const tested = { ...options(), isTest: true };
			const { credential, workflow } = tested;
			const node = await trigger({}, { credential, workflow, isTest: true });
			return {
				production,
				published,
				publishedUrl: sandbox.books.webhookUrl(),
				node,
				begin: async (additionalOptions: INodeParameters = {}) => {
					const parameters = { ...tested.parameters, additionalOptions };
					await beginTest({ ...tested, parameters });
				},
				end: async () => await leave(tested),
			};
		};

		test('sends events on until the URL was given back, and then says that it cannot', async () => {
			const { production, publishedUrl, node, begin, end } = await testing();
			await begin();
			expect(sandbox.books.webhookUrl()).toContain('/webhook-test/');
			expect((await send(node, transfer('1'))).status).toBe(200);
			sandbox.faults.next('PUT /webhook', { process: 'never', answer: refusal });
			await expect(end()).rejects.toThrow('refused the request (400)');
			expect((await send(node, transfer('2'))).status).toBe(200);
			expect(production.received).toEqual(
				[transfer('1'), transfer('2')].map((body) => JSON.stringify(body)),
			);
			await end();
			expect(sandbox.books.webhookUrl()).toBe(publishedUrl);
			expect(node.started).toHaveLength(2);
			expect((await send(node, transfer('3'))).status).toBe(502);
			expect(node.started).toHaveLength(2);
		});

		test('whose URL could not be given back gives it back when the next one begins', async () => {
			const { publishedUrl, begin, end } = await testing();
			await begin();
			sandbox.faults.next('PUT /webhook', { process: 'never', answer: refusal });
			await expect(end()).rejects.toThrow('refused the request (400)');
			await begin({ whileTesting: 'leaveUrl' });
			expect(sandbox.books.webhookUrl()).toBe(publishedUrl);
		});

		test('that is begun again while it listens still sends events on', async () => {
			const { production, node, begin } = await testing();
			await begin();
			await begin();
			expect((await send(node, transfer('1'))).status).toBe(200);
			expect(production.received).toEqual([JSON.stringify(transfer('1'))]);
		});

		test('sends events on also while n8n replaces the published trigger', async () => {
			const { production, published, node, begin } = await testing();
			await begin();
			await leave(published);
			expect((await send(node, transfer('1'))).status).toBe(200);
			await callTriggerHook(published, 'create', 'trigger', 'update');
			expect((await send(node, transfer('2'))).status).toBe(200);
			expect(production.received).toHaveLength(2);
		});

		test('that could not begin leaves the URL to the published workflow', async () => {
			const { publishedUrl, begin } = await testing();
			sandbox.faults.next('PUT /webhook', { process: 'before-answer', answer: refusal });
			await expect(begin()).rejects.toThrow('refused the request (400)');
			expect(sandbox.books.webhookUrl()).toBe(publishedUrl);
		});
	});

	test('a probe that is recorded and sent again starts nothing, whatever its headers', async () => {
		const production = await otherProcess();
		const published = options({ webhookBaseUrl: `${production.url}/webhook` });
		await callTriggerHook(published, 'create');
		await beginTest(options());
		const [probe = ''] = production.probes;
		expect(JSON.parse(probe)).not.toHaveProperty('event');
		const node = await trigger({}, published);
		expect((await send(node, probe)).status).toBe(202);
		expect((await send(node, probe, { 'x-etb-wallet-probe': 'x' })).status).toBe(202);
		expect(node.executions()).toBe(0);
	});

	test.each([
		['without a published workflow', 'share'],
		['that leaves the URL alone', 'leaveUrl'],
	])('a test %s gets the events itself', async (_name, whileTesting) => {
		const tested = { ...options({ additionalOptions: { whileTesting } }), isTest: true };
		const node = await trigger({}, tested);
		await beginTest(tested);
		expect((await send(node, transfer('1'))).status).toBe(200);
		expect(node.started).toHaveLength(1);
	});

	test('two tests of one workflow that begin at once are both told that the service refuses', async () => {
		const tested = { ...options(), isTest: true };
		sandbox.faults.next('PUT /webhook', { process: 'never', answer: refusal }, 2);
		const begin = async () => await beginTest(tested);
		const both = await Promise.allSettled([begin(), begin()]);
		expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
	});

	describe('a test of a trigger whose credential is changed to another account', () => {
		/** A test that has the URL of the first account in the place of a published workflow of another process. */
		const testing = async () => {
			const production = await otherProcess();
			const published = options({ webhookBaseUrl: `${production.url}/webhook` });
			await callTriggerHook(published, 'create');
			const productionUrl = sandbox.books.webhookUrl();
			const tested = { ...options(), isTest: true };
			await beginTest(tested);
			expect(sandbox.books.webhookUrl()).toContain('/webhook-test/');
			const other = await startSandbox({ webhookSecret: secret });
			const changed = { ...tested, credential: credentialFor(other) };
			return { productionUrl, tested, changed, other };
		};

		test('begun again, gives back the URL of the first', async () => {
			const { productionUrl, changed, other } = await testing();
			await beginTest(changed);
			expect(sandbox.books.webhookUrl()).toBe(productionUrl);
			expect(other.books.webhookUrl()).toContain('/webhook-test/');
			await other.stop();
		});

		test('ends at both, also when the first does not take its URL back at once', async () => {
			const { productionUrl, tested, changed, other } = await testing();
			sandbox.faults.next('PUT /webhook', { process: 'never', answer: refusal }, 2);
			const end = leave(tested);
			await expect(end).rejects.toThrow('refused the request (400)');
			await beginTest(changed);
			await leave(changed);
			expect(sandbox.books.webhookUrl()).toBe(productionUrl);
			await other.stop();
		});
	});

	test('a test of a published workflow with the credential of another account gets its events', async () => {
		const published = options();
		await callTriggerHook(published, 'create');
		const other = await startSandbox({ webhookSecret: secret });
		const tested = { ...published, credential: credentialFor(other), isTest: true };
		const node = await trigger({}, tested);
		await beginTest(tested);
		expect(other.books.webhookUrl()).toContain('/webhook-test/');
		expect((await send(node, transfer('1'))).status).toBe(200);
		expect(node.started).toHaveLength(1);
		await leave(tested);
		await other.stop();
	});

	test('a test in the process of the published workflow gets copies, also with a replaced API key', async () => {
		const published = options();
		const production = await trigger({}, published);
		await callTriggerHook({ ...published, webhookBaseUrl: production.url }, 'create');
		const credential = credentialFor(sandbox, { apiKey: 'replaced-api-key' });
		const tested = { ...options({ credential }), isTest: true };
		const node = await trigger({}, tested);
		await beginTest({ ...tested, webhookTestBaseUrl: node.url });
		const copied = node.nextHandled();
		expect((await send(production, transfer('1'))).status).toBe(200);
		await copied;
		expect(node.started).toEqual(production.started);
		expect(sandbox.books.webhookUrlHistory()).toHaveLength(1);
	});

	test('a test whose workflow was deleted, of which n8n says nothing, gets one event at most', async () => {
		const published = options();
		const production = await trigger({}, published);
		await callTriggerHook({ ...published, webhookBaseUrl: production.url }, 'create');
		const reached: string[] = [];
		const app = express().use((request, response) => {
			reached.push(request.path);
			response.status(404).end();
		});
		const tested = { ...options(), webhookTestBaseUrl: await play(app) };
		await beginTest(tested);
		await send(production, transfer('1'));
		await turnsUntil(() => reached.length > 0);
		await new Promise((resolve) => setTimeout(resolve, 50));
		await send(production, transfer('2'));
		await new Promise((resolve) => setTimeout(resolve, 50));
		expect(reached).toHaveLength(1);
	});

	test('a test in the process of the published workflow does not get its URL while n8n replaces it', async () => {
		const production = await trigger({}, options());
		const published = { ...options(), webhookBaseUrl: production.url };
		await callTriggerHook(published, 'create');
		const publishedUrl = sandbox.books.webhookUrl();
		const tested = { ...options(), isTest: true };
		await beginTest(tested);
		await leave(published);
		await callTriggerHook(published, 'create', 'trigger', 'update');
		await leave(tested);
		expect(sandbox.books.webhookUrlHistory()).toEqual([publishedUrl, publishedUrl]);
	});

	test.each([
		['n8n does not reach its own address', {}, false],
		['the two credentials have different secrets', { webhookSecret: 'other-secret' }, true],
	])('a test cannot share events when %s, and is told so', async (_name, changes, isReached) => {
		const published = options();
		const production = await trigger({}, published);
		const webhookBaseUrl = isReached ? production.url : 'http://127.0.0.1:9/webhook';
		await callTriggerHook({ ...published, webhookBaseUrl }, 'create');
		const publishedUrl = sandbox.books.webhookUrl();
		const credential = credentialFor(sandbox, changes);
		const begin = async (whileTesting: string): Promise<unknown> => {
			const tested = options({ credential, additionalOptions: { whileTesting } });
			return await beginTest({ ...tested, isTest: true });
		};
		await expect(begin('share')).rejects.toThrow('Set While Testing to Leave the URL Alone, or');
		await begin('leaveUrl');
		expect(sandbox.books.webhookUrl()).toBe(publishedUrl);
		expect(production.executions()).toBe(0);
	});

	test('what is handed to a test shows the headers of the service, and none of n8n', async () => {
		const includeHeaders = { events: ['*'], additionalOptions: { includeHeaders: true } };
		const published = options({ parameters: includeHeaders });
		const tested = { ...options({ parameters: includeHeaders }), isTest: true };
		const production = await trigger({}, { ...published });
		const node = await trigger({}, { ...tested });
		await callTriggerHook({ ...published, webhookBaseUrl: production.url }, 'create');
		await beginTest({ ...tested, webhookTestBaseUrl: node.url });
		const copied = node.nextHandled();
		await send(production, transfer('1'), { 'x-request-id': 'r-1', authorization: 'Basic x' });
		await copied;
		const headersOf = ({ started }: ListeningTrigger) => started[0]?.[0]?.[0]?.json.headers;
		expect(headersOf(node)).toEqual(headersOf(production));
		expect(headersOf(node)).toMatchObject({ 'x-request-id': 'r-1' });
	});

	test('a test that leaves the URL alone gets no copies', async () => {
		const published = options();
		const tested = {
			...options({ additionalOptions: { whileTesting: 'leaveUrl' } }),
			isTest: true,
		};
		const [production, node] = [await trigger({}, published), await trigger({}, tested)];
		await callTriggerHook({ ...published, webhookBaseUrl: production.url }, 'create');
		await beginTest({ ...tested, webhookTestBaseUrl: node.url });
		expect((await send(production, transfer('1'))).status).toBe(200);
		// It would have got its copy before this one.
		const handled = node.nextHandled();
		await send(node, transfer('by hand'));
		await handled;
		expect(node.started.flat(2).map(({ json }) => json.data)).toMatchObject([{ id: 'by hand' }]);
	});

	test('what a test gets by its URL goes to a workflow that was published meanwhile, once', async () => {
		const published = options();
		const tested = { ...options(), isTest: true };
		const [production, node] = [await trigger({}, published), await trigger({}, tested)];
		await beginTest({ ...tested, webhookTestBaseUrl: node.url });
		await callTriggerHook({ ...published, webhookBaseUrl: production.url }, 'create');
		expect(sandbox.books.webhookUrl()).toContain(production.url);
		// Sent before the service had that URL.
		expect((await send(node, transfer('1'))).status).toBe(200);
		expect(production.started).toHaveLength(1);
		expect(node.executions()).toBe(1);
		await production.stop();
		expect((await send(node, transfer('2'))).status).toBe(502);
	});
});
