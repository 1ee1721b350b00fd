/** The trigger's record of events over kills and under load, and its answers. In the real n8n. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CREDENTIAL_NAME, CREDENTIAL_TYPE, credentialFor } from '../../../demo/examples.mts';
import { code } from '../../support/n8n/workflow.mts';
import {
	eventWorkflow,
	idsOf,
	listensAgain,
	post,
	registeredUrl,
	signature,
	startCounter,
	transfer,
	TRIGGER,
	whilePublished,
	withCredential,
} from '../../support/events.mts';
import { eventually, executionsOf, startLab } from '../../support/lab.mts';

const lab = await startLab({ sandbox: { timeFactor: 0.02 } });
const counter = await startCounter();
after(async () => {
	await counter.stop();
	await lab.stop();
});

const send = async (url: string, body: string): Promise<number | undefined> =>
	await post(url, body, lab.sandbox.webhookSecret);

async function restart(url: string, how: 'stop' | 'kill' = 'stop'): Promise<void> {
	if (how === 'stop') await lab.n8n.stop();
	else lab.n8n.kill();
	await lab.restartN8n();
	await listensAgain(url);
}

/** The number of executions of each event, once each event has one. */
async function ran(ids: string[]): Promise<number[]> {
	await eventually(
		`${ids.length} events to run`,
		() => (ids.every((id) => counter.times.has(id)) ? true : undefined),
		120_000,
	);
	return ids.map((id) => counter.times.get(id) ?? 0);
}

/** The workflow's static data in n8n's database. */
function staticDataOf(workflowId: string): object {
	const file = join(lab.n8n.userFolder, '.n8n', 'database.sqlite');
	const database = new DatabaseSync(file, { readOnly: true });
	const row = database
		.prepare('select staticData from workflow_entity where id = ?')
		.get(workflowId);
	database.close();
	const data = Object(JSON.parse(String(row?.staticData ?? null))) as Record<string, unknown>;
	return Object(data.global) as object;
}

for (const acknowledge of ['onReceived', 'lastNode']) {
	void test(`static data that the workflow writes stay, under 25 events a second: ${acknowledge}`, async () => {
		const keep = code(
			'Keep',
			`const data = $getWorkflowStaticData('global');
			if ($json.data.id.startsWith('keep')) data[$json.data.id] = (data[$json.data.id] ?? 0) + 1;
			return $input.all();`,
		);
		await whilePublished(lab, eventWorkflow({ acknowledge }, keep), async ({ id, url }) => {
			const others: Array<Promise<number | undefined>> = [];
			let isDone = false;
			const flood = (async () => {
				while (!isDone) {
					others.push(send(url, transfer(`other-${acknowledge}-${others.length}`)));
					await sleep(40);
				}
			})();
			const kept = idsOf('keep', 10);
			// One after the other: in n8n two executions that write at once undo each other, whatever the trigger.
			for (const name of kept) {
				assert.equal(await send(url, transfer(name)), 200);
				await eventually(`${name} in the static data`, () =>
					Object.hasOwn(staticDataOf(id), name) ? true : undefined,
				);
			}
			isDone = true;
			await flood;
			assert.deepEqual(new Set(await Promise.all(others)), new Set([200]));
			await executionsOf(lab, id, 10);
			assert.deepEqual(staticDataOf(id), Object.fromEntries(kept.map((name) => [name, 1])));
		});
	});
}

void test('after a restart the same event is recognised, also when the trigger was renamed and the workflow writes static data', async () => {
	const writes = code(
		'Write',
		"$getWorkflowStaticData('global').last = $json.data.id; return $input.all();",
	);
	const spaced = await lab.addCredential({ webhookSecret: `${lab.sandbox.webhookSecret} \n` });
	const workflow = eventWorkflow({}, writes, counter.node);
	const id = await lab.api.createWorkflow(withCredential(workflow, spaced));
	await lab.api.activate(id);
	const url = registeredUrl(lab);
	const paid = (data: string) => `{"event":"disburse.completed","data":${data}}`;
	assert.equal(await send(url, transfer('same')), 200);
	assert.equal(await send(url, paid('{"id":"order","toUserId":"u","txHash":"0x7"}')), 200);
	await ran(['same', 'order']);
	await lab.api.changeWorkflow(id, ({ nodes, connections }) => ({
		nodes: nodes.map((node) => (node.name === TRIGGER ? { ...node, name: 'Renamed' } : node)),
		connections: { Renamed: connections[TRIGGER], Write: connections.Write },
	}));
	await lab.api.activate(id);
	await restart(url);
	assert.equal(await send(url, transfer('same')), 200);
	assert.equal(await send(url, paid('{"txHash":"0x7","toUserId":"u","id":"order"}')), 200);
	assert.equal(await send(url, transfer('other')), 200);
	assert.deepEqual(await ran(['same', 'order', 'other']), [1, 1, 1]);
	await lab.api.deactivate(id);
});

void test('When the Workflow Finishes: after a kill, what failed or was cut off runs again; what succeeded, or was stopped by a person, does not', async () => {
	const workflow = eventWorkflow({ acknowledge: 'lastNode' }, counter.node);
	await whilePublished(lab, workflow, async ({ id, url }) => {
		counter.answer = (name) => (name === 'fails' ? 500 : 200);
		assert.equal(await send(url, transfer('succeeds')), 200);
		assert.equal(await send(url, transfer('fails')), 500);

		const release = counter.hold();
		const stopped = send(url, transfer('stopped'));
		await eventually('it to run', () => counter.waiting.has('stopped') || undefined);
		const [newest = ''] = await lab.api.executionIds(id);
		await lab.api.stopExecution(newest);
		assert.equal(await stopped, 500);
		// Until n8n has ended the execution, the event is answered as one that still runs.
		await eventually('the end of the execution', async () => {
			const status = await send(url, transfer('stopped'));
			if (status === 503) return undefined;
			assert.equal(status, 200);
			return true;
		});
		const cut = send(url, transfer('cut'));
		await eventually('it to run', () => counter.waiting.has('cut') || undefined);
		await restart(url, 'kill');
		assert.equal(await cut, undefined);
		counter.answer = () => 0;
		release();
		await eventually('nobody to wait', () => counter.waiting.size === 0 || undefined);
		counter.answer = () => 200;
		for (const name of ['succeeds', 'stopped', 'fails', 'cut'])
			for (let again = 0; again < 2; again++)
				assert.equal(await send(url, transfer(name)), 200, name);
		const names = ['succeeds', 'fails', 'cut', 'stopped'];
		assert.deepEqual(
			names.map((name) => counter.times.get(name)),
			[1, 1, 1, undefined],
		);
	});
});

void test('the secret is replaced while events come: none is refused, none runs twice', async (context) => {
	await whilePublished(lab, eventWorkflow({}, counter.node), async ({ url }) => {
		const oldSecret = lab.sandbox.webhookSecret;
		const newSecret = `${oldSecret}-new`;
		const change = async (data: object): Promise<void> =>
			await lab.api.updateCredential(lab.credentialId, CREDENTIAL_NAME, CREDENTIAL_TYPE, {
				...credentialFor(lab.sandbox),
				...data,
			});
		const ids: string[] = [];
		const sending: Array<Promise<number | undefined>> = [];
		const sendFor = async (isOver: () => boolean, secretOf: (index: number) => string) => {
			for (let index = 0; !isOver(); index++) {
				const id = `rotated-${ids.length}`;
				ids.push(id);
				sending.push(post(url, transfer(id), secretOf(index)));
				await sleep(50);
			}
		};
		const after = (ms: number) => {
			const from = Date.now();
			return () => Date.now() - from > ms;
		};
		await change({ webhookSecret: oldSecret, previousWebhookSecret: '' });
		await sendFor(after(500), () => oldSecret);
		// The order of the document: the person saves both secrets, and then the service signs with the new one.
		let isChanged = false;
		const changing = change({ webhookSecret: newSecret, previousWebhookSecret: oldSecret }).then(
			() => (isChanged = true),
		);
		await sendFor(
			() => isChanged,
			() => oldSecret,
		);
		await changing;
		await sendFor(after(1_500), () => oldSecret);
		await sendFor(after(3_000), (index) => (index % 2 === 0 ? newSecret : oldSecret));
		assert.deepEqual(new Set(await Promise.all(sending)), new Set([200]));
		assert.deepEqual(new Set(await ran(ids)), new Set([1]));
		context.diagnostic(`${ids.length} events`);
		await change({});
	});
});

/** Bodies of each kind, with the status of the answer if they are signed, and if they are forged. */
const huge = JSON.stringify({ event: 'x', data: 'x'.repeat(17 * 1024 * 1024) });
const bodies: Array<[type: string, signed: RegExp, forged: RegExp, body?: string]> = [
	...[
		...['application/json', 'text/plain', 'application/x-www-form-urlencoded'],
		...['application/octet-stream', 'multipart/mixed', ''],
	].map((type): (typeof bodies)[number] => [type, /^200$/, /^401$/]),
	['text/plain', /^400$/, /^401$/, '{"event":'],
	// n8n itself answers these, and may answer the first.
	['application/json; charset=utf-16', /^(200|422)$/, /^(401|422)$/],
	['application/json', /^422$/, /^422$/, '{"event":'],
	['application/json', /^500$/, /^500$/, huge],
	['multipart/form-data; boundary=x', /^4\d\d$/, /^4\d\d$/],
	['text/xml', /^4\d\d$/, /^4\d\d$/],
	// The trigger closes the connection of a body that it does not read to its end, maybe before its answer arrives.
	['application/octet-stream', /^(400|undefined)$/, /^(400|undefined)$/, huge],
];

void describe('bodies', () => {
	void test('of each kind are answered, and only signed events run', async () => {
		await whilePublished(lab, eventWorkflow({}, counter.node), async ({ url }) => {
			for (const [index, [type, signed, forged, given]] of bodies.entries()) {
				const id = `body-${index}`;
				const body = given ?? transfer(id);
				const headers = { 'content-type': type };
				const status = await post(url, body, lab.sandbox.webhookSecret, headers);
				assert.match(String(status), signed, `${type} ${id}`);
				if (status === 200) assert.deepEqual(await ran([id]), [1], type);
				assert.match(String(await post(url, body, 'forged', headers)), forged, `${type} ${id}`);
			}
		});
	});

	void test('that n8n leaves to the trigger are given up after 10 seconds', async () => {
		await whilePublished(lab, eventWorkflow(), async ({ url }) => {
			const { hostname, port, pathname } = new URL(url);
			const socket = connect(Number(port), hostname);
			const lines = [
				`POST ${pathname} HTTP/1.1`,
				'Host: n8n',
				`X-Webhook-Signature: ${signature('', 'forged')}`,
				'Content-Type: application/octet-stream',
				'Content-Length: 1000',
			];
			socket.write(`${lines.join('\r\n')}\r\n\r\nx`);
			let answer = '';
			socket.on('data', (data) => (answer += String(data)));
			await once(socket, 'close');
			assert.match(answer, /^HTTP\/1.1 400 /);
		});
	});
});
