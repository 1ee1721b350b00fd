/** n8n starts while the service refuses, or with another address: the published workflow keeps its events. In the real n8n. */
import assert from 'node:assert/strict';
import { after, afterEach, test } from 'node:test';
import {
	eventWorkflow,
	listensAgain,
	post,
	registeredUrl,
	startCounter,
} from '../../support/events.mts';
import { eventually, startLab } from '../../support/lab.mts';
import { refusedBy } from '../../support/n8n/version-differences.mts';
import { freePort } from '../../../demo/ports.mts';
import { node } from '../../support/n8n/workflow.mts';

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

async function restart(): Promise<void> {
	await lab.n8n.stop();
	await lab.restartN8n();
}

/** A workflow that n8n starts although its trigger was refused, because a schedule stands beside it. */
async function addWithSchedule(): Promise<string> {
	const schedule = node('Schedule', 'scheduleTrigger', {
		rule: { interval: [{ field: 'hours' }] },
	});
	const { nodes, ...workflow } = eventWorkflow();
	return await lab.add({ ...workflow, nodes: [...nodes, { ...schedule }] });
}

void test('another address that the service refuses unpublishes the workflow, which can be published again', async () => {
	const { id, url } = await publish();
	const address = `http://localhost:${await freePort()}/`;
	env.WEBHOOK_URL = address;
	lab.sandbox.faults.plan('PUT /webhook', () => ({
		process: 'never',
		answer: { status: 403, body: '{}' },
	}));
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

void test('a start of n8n calls the service for no workflow, also for refused ones with a schedule, and the published one has the events', async () => {
	const { url } = await publish();
	const refused = [await addWithSchedule(), await addWithSchedule()];
	const isRefused = async (id: string): Promise<void> =>
		await assert.rejects(lab.api.activate(id), refusedBy('Received \\d+'));
	await Promise.all(refused.map(isRefused));
	const requests = lab.sandbox.requests.length;
	lab.sandbox.faults.plan('PUT /webhook', () => ({ process: 'never', answer: 'reset' }));
	lab.n8n.kill();
	await lab.restartN8n();
	await listensAgain(url);
	await arrives('beside-refused');
	// By the time this is refused, n8n has started all that it has.
	await isRefused(refused[0] ?? '');
	assert.equal(lab.sandbox.requests.length, requests);
});
