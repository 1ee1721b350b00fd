/**
 * The trigger in the real n8n: the workflow that has the events of an account, its record of events over restarts
 * and kills, its responses, and tests in the editor.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, afterEach, describe, test } from 'node:test';
import type { WorkflowFile } from '../../../demo/n8n-api.mts';
import { code, node } from '../../support/n8n/workflow.mts';
import { n8nVersion } from '../../support/n8n/version.mts';
import { refusedBy } from '../../support/n8n/version-differences.mts';
import { CREDENTIAL_TYPE, credentialFor } from '../../../demo/examples.mts';
import {
	eventWorkflow,
	listensAgain,
	post,
	registeredUrl,
	startCounter,
	transfer,
	TRIGGER,
	whilePublished,
	withCredential,
	signature,
} from '../../support/events.mts';
import { eventually, executionsOf, owner, startLab } from '../../support/lab.mts';

const lab = await startLab({ sandbox: { timeFactor: 0.02 } });
const counter = await startCounter();
after(async () => {
	await counter.stop();
	await lab.stop();
});
afterEach(async () => {
	lab.sandbox.faults.clear();
	await lab.api.unpublishAll();
});

async function publish(workflow: WorkflowFile): Promise<{ id: string; url: string }> {
	const id = await lab.add(workflow);
	await lab.api.activate(id);
	return { id, url: registeredUrl(lab) };
}

/** Changes the field Acknowledge of a published trigger, and publishes it again. */
async function change(id: string, acknowledge: 'onReceived' | 'lastNode'): Promise<void> {
	await lab.api.changeWorkflow(id, ({ nodes, connections }) => ({
		nodes: nodes.map((node) =>
			node.name === TRIGGER ? { ...node, parameters: { acknowledge } } : node,
		),
		connections,
	}));
	await lab.api.activate(id);
}

/** The modes of this number of executions, each with the id of its event. */
const seen = async (workflowId: string, count: number): Promise<string[]> =>
	(await executionsOf(lab, workflowId, count))
		.map(({ mode, nodes }) => {
			const data = nodes[TRIGGER]?.[0]?.outputs[0]?.[0]?.data;
			return `${mode} ${String((data as { id?: unknown } | undefined)?.id)}`;
		})
		.sort();

/** The service sends an event, until it is answered with success. */
async function deliver(id: string): Promise<void> {
	const { deliveryId } = lab.sandbox.emit('transfer.completed', { id });
	assert.equal((await lab.sandbox.deliveryEnded(deliveryId)).state, 'delivered');
}

void describe('publishing', () => {
	test('is refused with the reason, and with the name of the workflow that has the account where the person may know it', async () => {
		const first = await publish(eventWorkflow());
		const second = await lab.add(eventWorkflow());
		const login = { email: 'member@example.com', password: owner.password };
		const member = await lab.api.addMember(login, 'Workflow', 'Member');
		const name = 'Own credential';
		const data = credentialFor(lab.sandbox);
		const own = { id: await member.createCredential(name, CREDENTIAL_TYPE, data), name };
		const ofMember = await member.createWorkflow(withCredential(eventWorkflow(), own));
		const wrongKey = await lab.addCredential({ apiKey: 'wrong' });
		const withWrongKey = await lab.api.createWorkflow(withCredential(eventWorkflow(), wrongKey));
		await Promise.all([
			assert.rejects(lab.api.activate(second), refusedBy('Received \\d+')),
			assert.rejects(member.activate(ofMember), (error: Error) => {
				assert.match(error.message, /a workflow of this n8n, maybe of another project, receives/);
				return !/Received \d/.test(error.message);
			}),
			assert.rejects(lab.api.activate(withWrongKey), /Check the API key/),
		]);
		await member.deactivate(ofMember);
		assert.equal(registeredUrl(lab), first.url);
		await lab.api.deactivate(first.id);
		await lab.api.activate(second);
		assert.match(registeredUrl(lab), /\/webhook\//);
		assert.notEqual(registeredUrl(lab), first.url);
	});

	test('a changed trigger while the service refuses: it listens, and the log says so', async () => {
		const { id, url } = await publish(eventWorkflow());
		lab.sandbox.faults.plan('PUT /webhook', () => ({
			process: 'never',
			response: { status: 503, body: '{}' },
		}));
		await change(id, 'lastNode');
		await deliver('while-refused');
		const log = await readFile(lab.n8n.logFile, 'utf8');
		assert.match(log, /It took it before, so the trigger listens/);
		lab.sandbox.faults.clear();
		await change(id, 'onReceived');
		assert.equal(registeredUrl(lab), url);
		await deliver('after-that');
		assert.deepEqual(await seen(id, 2), ['webhook after-that', 'webhook while-refused']);
	});

	test('a start of n8n calls the service for no workflow, also for refused ones with a schedule, and the published one has the events', async () => {
		const { id, url } = await publish(eventWorkflow());
		// n8n starts a workflow although its trigger was refused, because a schedule stands beside it.
		const rule = { interval: [{ field: 'hours' }] };
		const { nodes, ...workflow } = eventWorkflow();
		const refused = await lab.add({
			...workflow,
			nodes: [...nodes, { ...node('Schedule', 'scheduleTrigger', { rule }) }],
		});
		await assert.rejects(lab.api.activate(refused), refusedBy('Received \\d+'));
		const requests = lab.sandbox.requests.length;
		lab.sandbox.faults.plan('PUT /webhook', () => ({ process: 'never', response: 'reset' }));
		lab.n8n.kill();
		await lab.restartN8n();
		await listensAgain(url);
		await deliver('after-start');
		// By the time this is refused, n8n has started all that it has.
		await assert.rejects(lab.api.activate(refused), refusedBy('Received \\d+'));
		assert.equal(lab.sandbox.requests.length, requests);
		assert.deepEqual(await seen(id, 1), ['webhook after-start']);
	});
});

void describe('a test in the editor', () => {
	const testUrlOf = (workflow: WorkflowFile): string =>
		`${lab.n8n.url}/webhook-test/${String(workflow.nodes[0]?.webhookId)}/webhook`;

	test('gets what is sent to its test URL, and takes nothing from the published workflow', async () => {
		const published = eventWorkflow({}, counter.node);
		const other = eventWorkflow();
		const production = await publish(published);
		const otherId = await lab.add(other);
		for (const [id, workflow] of [
			[production.id, published],
			[otherId, other],
		] as const) {
			await lab.api.listenForTestEvent(id, TRIGGER);
			await deliver(`during-${id}`);
			const byHand = transfer(`by-hand-${id}`);
			assert.equal(await post(testUrlOf(workflow), byHand, 'forged'), 401);
			assert.equal(await post(testUrlOf(workflow), byHand, lab.sandbox.webhookSecret), 200);
			await deliver(`after-${id}`);
		}
		assert.deepEqual(
			await seen(production.id, 5),
			[
				`manual by-hand-${production.id}`,
				...[production.id, otherId].flatMap((id) => [
					`webhook after-${id}`,
					`webhook during-${id}`,
				]),
			].sort(),
		);
		assert.deepEqual(await seen(otherId, 1), [`manual by-hand-${otherId}`]);
		assert.equal(registeredUrl(lab), production.url);
	});
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

void test('When the Workflow Finishes: an event whose execution failed or was cut off runs again; one whose execution succeeded or was stopped by a person does not', async () => {
	const workflow = eventWorkflow({ acknowledge: 'lastNode' }, counter.node);
	await whilePublished(lab, workflow, async ({ id, url }) => {
		counter.statusFor = (name) => (name === 'fails' ? 500 : 200);
		assert.equal(await send(url, transfer('succeeds')), 200);
		assert.equal(await send(url, transfer('fails')), 500);
		const body = transfer('tells nothing');
		const response = await fetch(url, {
			method: 'POST',
			body,
			headers: { 'x-webhook-signature': signature(body, lab.sandbox.webhookSecret) },
		});
		assert.deepEqual([response.status, await response.text()], [200, '']);

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
		counter.statusFor = () => 0;
		release();
		await eventually('nobody to wait', () => counter.waiting.size === 0 || undefined);
		counter.statusFor = () => 200;
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

/** n8n itself answers a multipart body that it cannot read: 2.30.8 as a failure of its own. */
const brokenForm = n8nVersion() === '2.30.8' ? /^500$/ : /^4\d\d$/;

/** Bodies of each kind, with the status of the response if they are signed, and if they are forged. */
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
	['multipart/form-data; boundary=x', brokenForm, brokenForm],
	['text/xml', /^4\d\d$/, /^4\d\d$/],
	// The trigger closes the connection of a body that it does not read to its end, maybe before its response arrives.
	['application/octet-stream', /^(400|undefined)$/, /^(400|undefined)$/, huge],
];

void test('bodies of each kind are answered, and only signed events run', async () => {
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
