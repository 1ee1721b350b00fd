/** The sandbox's control interface, and which request a fault hits. The engine tests see what each preset does. */
import { request } from 'node:http';
import { exampleEvents } from '../../sandbox/deliveries.mts';
import { presetNames } from '../../sandbox/faults.mts';
import type { Sandbox } from '../../sandbox/sandbox.mts';
import { signBody } from '../../sandbox/signature.mts';
import { call, receiverForTest, sandboxForTest, send, stopAll } from './start.mts';

afterEach(stopAll);

test('deposits and transfers are simulated, and their events sent', async () => {
	const receiver = await receiverForTest();
	const sandbox = await sandboxForTest();
	sandbox.books.setWebhookUrl(receiver.url);
	const post = (path: string, body?: unknown) =>
		send(`${sandbox.url}/sandbox${path}`, 'POST', body);
	const responses = [await post('/deposit', { amountEtb: 40 }), await post('/transfer')];
	expect(responses.map(({ json }) => json)).toMatchObject([
		{ deliveryId: '1' },
		{ deliveryId: '2' },
	]);
	await sandbox.idle();
	const events = sandbox.books.deliveries().map(({ id, event, state }) => [id, event, state]);
	expect(events).toEqual([
		['1', 'deposit.mint_queued', 'delivered'],
		['2', 'transfer.completed', 'delivered'],
	]);
	expect(sandbox.books.balance().treasuryBalance).toBe(1_000_040);
	for (const body of ['{', { amountEtb: -1 }, { amountEtb: 'x' }]) {
		expect([400, 422]).toContain((await post('/deposit', body)).status);
	}
});

/** The response of a receiver to all examples but the last one. */
const allButLast = exampleEvents.slice(1).map(() => 200);

test('an example of each event goes to the registered URL, or once to another one', async () => {
	const [registered, tested] = [
		await receiverForTest(),
		await receiverForTest([...allButLast, 404]),
	];
	const sandbox = await sandboxForTest();
	sandbox.books.setWebhookUrl(registered.url);
	const examples = `${sandbox.url}/sandbox/examples`;
	const events = exampleEvents;
	for (const event of events) {
		expect((await send(examples, 'POST', { event, url: tested.url })).status).toBe(200);
		expect((await send(examples, 'POST', { event, url: '' })).status).toBe(200);
	}
	await sandbox.idle();
	for (const { received } of [registered, tested]) {
		const bodies = received.map(({ body }) => JSON.parse(String(body)) as { event: string });
		expect(bodies.map(({ event }) => event).toSorted()).toEqual(events.toSorted());
		for (const { body, headers } of received)
			expect(headers['x-webhook-signature']).toBe(signBody(String(body), sandbox.webhookSecret));
	}
	const states = sandbox.books.deliveries().map(({ state: now }) => now);
	expect(states.filter((now) => now === 'failed')).toHaveLength(1);
	expect(sandbox.books.disbursements()).toEqual([]);
	for (const body of [{ event: 'other' }, { event: events[0], url: 'no address' }])
		expect((await send(examples, 'POST', body)).status).toBe(422);
});

test('faults can be queued, planned and cleared', async () => {
	const sandbox = await sandboxForTest();
	const faults = `${sandbox.url}/sandbox/faults`;
	const fault = { route: 'GET /fee', preset: 'serviceUnavailable', times: 2 };
	expect((await send(faults, 'POST', fault)).json).toEqual({
		faults: [{ route: 'GET /fee', fault: 'serviceUnavailable', times: 2 }],
	});
	await send(faults, 'POST', { route: '*', preset: 'tooManyRequests' });
	let asked = 0;
	sandbox.faults.plan('GET /fee', () => (++asked % 2 ? undefined : 'serviceUnavailable'));
	const statuses: number[] = [];
	// Queued ones come first, in their order; the plan is asked for what they do not hit.
	for (const path of ['/fee', '/balance', '/fee', '/balance', '/fee', '/fee'])
		statuses.push((await call(sandbox, 'GET', path)).status);
	expect(statuses).toEqual([503, 429, 503, 200, 200, 503]);
	await send(faults, 'POST', fault);
	await send(faults, 'DELETE');
	for (let times = 0; times < 2; times++)
		expect((await call(sandbox, 'GET', '/fee')).status).toBe(200);
	for (const bad of [{ ...fault, route: 'GET /x' }, { ...fault, preset: 'toString' }, {}]) {
		expect((await send(faults, 'POST', bad)).status).toBe(422);
	}
	for (const preset of presetNames) {
		expect((await send(faults, 'POST', { route: '*', preset })).status).toBe(200);
	}
});

test('a fault pays nobody without the API key', async () => {
	const sandbox = await sandboxForTest();
	const { id: toUserId } = sandbox.books.addUser({ externalId: 'a' });
	sandbox.faults.next('POST /disburse', 'error500AfterPaying');
	await send(`${sandbox.url}/api/v1/partners/disburse`, 'POST', { toUserId, amountEtb: 5 });
	expect(sandbox.books.disbursements()).toEqual([]);
});

/** Status of a request whose Host header names another host, which fetch cannot send. */
const statusFor = (sandbox: Sandbox, path: string, headers: Record<string, string>) =>
	new Promise<number | undefined>((resolve, reject) => {
		request(sandbox.url + path, { headers }, (response) => {
			response.resume();
			resolve(response.statusCode);
		})
			.on('error', reject)
			.end();
	});

test('pages of other sites and foreign host names are turned away', async () => {
	const sandbox = await sandboxForTest();
	for (const path of ['/', '/sandbox/live']) {
		expect(await statusFor(sandbox, path, {})).toBe(200);
		expect(await statusFor(sandbox, path, { host: 'attacker.example' })).toBe(403);
		expect(await statusFor(sandbox, path, { 'sec-fetch-site': 'cross-site' })).toBe(403);
	}
	const authorization = `Bearer ${sandbox.apiKey}`;
	const balance = '/api/v1/partners/balance';
	expect(await statusFor(sandbox, balance, { authorization })).toBe(200);
	for (const [name, value] of [
		['host', 'attacker.example'],
		['sec-fetch-site', 'cross-site'],
	] as const)
		expect(await statusFor(sandbox, balance, { authorization, [name]: value })).toBe(403);
});

test('a sandbox that other machines can reach has no control interface and no page', async () => {
	const sandbox = await sandboxForTest({ host: '0.0.0.0' });
	const url = `http://127.0.0.1:${new URL(sandbox.url).port}`;
	for (const path of ['/', '/sandbox/live']) {
		expect((await send(url + path, 'GET')).status).toBe(404);
	}
	expect((await call({ ...sandbox, url }, 'GET', '/balance')).status).toBe(200);
});
