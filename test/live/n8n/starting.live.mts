/** n8n starts while the service refuses, with another address, or in the middle of refusing: the published workflow keeps its events. In the real n8n. */
import assert from 'node:assert/strict';
import { after, afterEach, test } from 'node:test';
import {
	eventWorkflow,
	listensAgain,
	post,
	registeredUrl,
	startCounter,
	TRIGGER,
} from '../../support/events.mts';
import { eventually, executionsOf, startLab } from '../../support/lab.mts';
import { refusedBy } from '../../support/n8n/version-differences.mts';
import { freePort } from '../../../demo/ports.mts';
import { node } from '../../support/n8n/workflow.mts';
import type { Fault } from '../../../sandbox/faults.mts';

const env: Record<string, string> = {};
const lab = await startLab({ sandbox: { timeFactor: 0.02 }, env });
const counter = await startCounter();
after(async () => {
	await counter.stop();
	await lab.stop();
});
afterEach(async () => {
	lab.sandbox.faults.clear();
	await lab.api.unpublishAll();
});

async function publish(): Promise<{ id: string; url: string }> {
	const id = await lab.add(eventWorkflow({}, counter.node));
	await lab.api.activate(id);
	return { id, url: registeredUrl(lab) };
}

/** The service sends an event, until it is answered with success. */
async function arrives(id: string): Promise<void> {
	const { deliveryId } = lab.sandbox.emit('transfer.completed', { id });
	assert.equal((await lab.sandbox.deliverySettled(deliveryId)).state, 'delivered');
	await eventually(`${id} to run`, () => counter.times.get(id));
}

async function restart(how: 'stop' | 'kill' = 'stop'): Promise<void> {
	if (how === 'stop') await lab.n8n.stop();
	else lab.n8n.kill();
	await lab.restartN8n();
}

/** A workflow that n8n starts also if its trigger was refused: it has a schedule beside it. */
async function addWithSchedule(): Promise<string> {
	const schedule = node('Schedule', 'scheduleTrigger', {
		rule: { interval: [{ field: 'hours' }] },
	});
	const { nodes, ...workflow } = eventWorkflow();
	return await lab.add({ ...workflow, nodes: [...nodes, { ...schedule }] });
}

const refusal: Fault = { process: 'never', answer: { status: 403, body: '{}' } };
const refuse = (): void => lab.sandbox.faults.plan('PUT /webhook', () => refusal);

void test('the service refuses: it is not asked, events run, a second workflow is refused by name, and a test takes nothing', async () => {
	const { id, url } = await publish();
	const requests = lab.sandbox.requests.length;
	refuse();
	await restart();
	await listensAgain(url);
	await arrives('started');
	const second = await lab.add(eventWorkflow());
	await assert.rejects(lab.api.activate(second), refusedBy('Received \\d+'));
	await lab.api.listenForTestEvent(second, TRIGGER);
	await lab.api.stopListening(second);
	assert.equal(registeredUrl(lab), url);
	assert.equal(lab.sandbox.requests.length, requests);
	const executions = await executionsOf(lab, id, 1);
	assert.deepEqual(
		executions.map(({ status }) => status),
		['success'],
	);
});

void test('another address: it is set; if the service refuses it, the workflow is not published any more, and can be', async () => {
	const { id, url } = await publish();
	const address = `http://localhost:${await freePort()}/`;
	env.WEBHOOK_URL = address;
	refuse();
	try {
		await restart();
		await eventually('n8n to give it up', async () =>
			(await post(url, '{}', 'nobody')) === 404 ? true : undefined,
		);
		lab.sandbox.faults.clear();
		await lab.api.activate(id);
		assert.equal(registeredUrl(lab), new URL(new URL(url).pathname, address).href);
	} finally {
		delete env.WEBHOOK_URL;
		await restart();
	}
	await eventually('the URL of before', () => registeredUrl(lab) === url || undefined);
	await arrives('moved');
});

void test('n8n ended in the middle of refusing another workflow: who was published first has the account', async () => {
	const { url } = await publish();
	const second = await addWithSchedule();
	const refused = lab.api.activate(second).catch(() => undefined);
	await restart();
	await refused;
	// When this is refused, n8n has started all workflows.
	await assert.rejects(lab.api.activate(second), refusedBy('Received \\d+'));
	assert.equal(registeredUrl(lab), url);
	await arrives('ended-while-refusing');
});

void test('refused workflows with a schedule: however n8n starts, they call nobody, and the published one has the events', async () => {
	const { url } = await publish();
	const refused = await Promise.all(Array.from({ length: 5 }, addWithSchedule));
	const isRefused = async (id: string): Promise<void> =>
		await assert.rejects(lab.api.activate(id), refusedBy('Received \\d+'));
	await Promise.all(refused.map(isRefused));
	const requests = lab.sandbox.requests.length;
	const services: Array<[how: 'stop' | 'kill', fault: Fault]> = [
		['stop', refusal],
		['kill', { process: 'never', answer: 'reset' }],
	];
	for (const [index, [how, fault]] of services.entries()) {
		lab.sandbox.faults.plan('PUT /webhook', () => fault);
		await restart(how);
		await listensAgain(url);
		await arrives(`beside-refused-${index}`);
		// By the time this is refused, n8n has started all that it has.
		await isRefused(refused[0] ?? '');
		assert.equal(lab.sandbox.requests.length, requests, `${how} ${index}`);
	}
});
