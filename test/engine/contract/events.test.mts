/**
 * The event table of the service document §6: what starts a workflow, and what never does. Bodies that are no
 * event: `test/engine/trigger.test.mts`.
 */
import { createHmac } from 'node:crypto';
import { request } from 'node:http';
import { eventOptions } from '../../../nodes/EtbWalletTrigger/event.ts';
import { startSandbox } from '../../../sandbox/sandbox.mts';
import type { ListeningTrigger } from '../../support/engine/engine.mts';
import { callTriggerHook, credentialFor, listen } from '../../support/engine/engine.mts';

const secret = 'ws-K4nV8tR1-contract';
const credential = {
	baseUrl: 'https://partners.example.com',
	apiKey: 'ak-Q7mZ2pX9',
	webhookSecret: secret,
};

const timestamp = '2026-03-01T12:00:00.000Z';
const events = [
	{
		event: 'transfer.completed',
		timestamp,
		data: { id: 'trf_1', amountEtb: 1250.5, txHash: '0xabc' },
	},
	{ event: 'disburse.completed', timestamp, data: { id: 'dis_1', amountEtb: 0.1 } },
	{ event: 'deposit.mint_queued', timestamp, data: { id: 'dep_1', note: 'ሰላም' } },
	{ event: 'wallet.closed', timestamp, data: { id: 'wal_1' }, added: { later: [1, null] } },
];

test('every event that the trigger offers is tested here', () => {
	const names = events.map(({ event }) => event);
	expect(names).toEqual(expect.arrayContaining(eventOptions.map(({ value }) => value)));
});

/** JSON as another serialiser may write it: the signature is of these bytes, not of what they mean. */
const spelled = (event: object): string =>
	JSON.stringify(event, null, '  ')
		.replace('"timestamp": ', '"timestamp" :')
		.replace('ሰ', '\\u1230');

const sign = (body: string, key = secret): string =>
	`sha256=${createHmac('sha256', key).update(body).digest('hex')}`;

let workflows = 0;
let trigger: ListeningTrigger;

beforeEach(async () => {
	trigger = await listen({ credential, workflow: { id: `contract-${++workflows}`, name: 'test' } });
});
afterEach(async () => await trigger.stop());

interface Reply {
	status: number;
	body: string;
}

/** @param signatures one header line for each */
function deliver(body: string, signatures: string[]): Promise<Reply> {
	return new Promise((resolve, reject) => {
		const headers = { 'Content-Type': 'application/json', 'X-Webhook-Signature': signatures };
		const sending = request(trigger.url, { method: 'POST', headers }, (response) => {
			let text = '';
			response.setEncoding('utf8');
			response.on('data', (chunk: string) => (text += chunk));
			response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
		});
		sending.on('error', reject);
		sending.end(body);
	});
}

type Signatures = (body: string) => string[];

/** Signatures as HTTP can bring them; what a header may hold: `test/unit/signature.test.mts`. */
const refused: [what: string, signatures: Signatures][] = [
	['no signature', () => []],
	['an empty signature', () => ['']],
	['the signature of another secret', (body) => [sign(body, `${secret}x`)]],
	['the signature of the API key', (body) => [sign(body, credential.apiKey)]],
	['that of the same JSON, spelled otherwise', (body) => [sign(JSON.stringify(JSON.parse(body)))]],
	['the right signature doubled', (body) => [sign(body), sign(body)]],
	['the right signature behind a wrong one', (body) => [sign('x'), sign(body)]],
	['the right signature before an empty one', (body) => [sign(body), '']],
];

test.each(events)(
	'$event with its signature starts the workflow with exactly what was sent',
	async (event) => {
		const body = spelled(event);
		expect((await deliver(body, [sign(body)])).status).toBe(200);
		expect(trigger.started).toEqual([[[{ json: event }]]]);
		expect(Object.keys(trigger.started[0]?.[0]?.[0]?.json ?? {})).toEqual(Object.keys(event));
	},
);

test.each(refused)(
	'with %s an event is answered 401 and starts nothing, until it comes signed',
	async (_what, signatures) => {
		const body = spelled(events[0] ?? {});
		const reply = await deliver(body, signatures(body));
		expect(reply.status).toBe(401);
		expect(trigger.started).toEqual([]);
		expect(reply.body).not.toContain(secret);
		expect(reply.body).not.toContain(sign(body).slice('sha256='.length));
		expect((await deliver(body, [sign(body)])).status).toBe(200);
		expect(trigger.started).toEqual([[[{ json: events[0] }]]]);
	},
);

test('each event of the sandbox arrives, at the URL that publishing registered', async () => {
	await trigger.stop();
	const sandbox = await startSandbox();
	const published = {
		credential: credentialFor(sandbox),
		workflow: { id: `contract-${++workflows}`, name: 'test' },
	};
	trigger = await listen(published);
	const webhookBaseUrl = 'http://127.0.0.1:5678/webhook';
	await callTriggerHook({ ...published, webhookBaseUrl }, 'create');
	expect(sandbox.books.webhookUrl()).toContain(webhookBaseUrl);
	// n8n's port is not open in this test.
	sandbox.books.setWebhookUrl(trigger.url);
	const { id, txHash } = sandbox.transfer({ amountEtb: 12.5 });
	const deposit = sandbox.deposit({ amountEtb: 7 });
	const { id: toUserId } = sandbox.books.addUser({ externalId: 'abebe' });
	const response = await fetch(`${sandbox.url}/api/v1/partners/disburse`, {
		method: 'POST',
		headers: { authorization: `Bearer ${sandbox.apiKey}`, 'content-type': 'application/json' },
		body: JSON.stringify({ toUserId, amountEtb: 5 }),
	});
	expect(response.status).toBe(200);
	await sandbox.idle();
	const deliveries = sandbox.books.deliveries();
	expect(deliveries.map(({ state }) => state)).toEqual(Array(3).fill('delivered'));
	const isoTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as unknown;
	const arrived = trigger.started.flat(2).map(({ json }) => json);
	const dataOf = (event: string): unknown => arrived.find((each) => each.event === event)?.data;
	expect(arrived.map(({ timestamp }) => timestamp)).toEqual(Array(3).fill(isoTime));
	expect(dataOf('transfer.completed')).toEqual({ id, amountEtb: 12.5, txHash });
	expect(dataOf('deposit.mint_queued')).toMatchObject({ id: deposit.id, amountEtb: 7 });
	expect(dataOf('disburse.completed')).toMatchObject({ toUserId, amountEtb: 5 });
	await sandbox.stop();
});
