/** The trigger: the workflow that has the events of an account, over starts of n8n and tests in the editor. In the real n8n. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, afterEach, describe, test } from 'node:test';
import type { WorkflowFile } from '../../../demo/n8n-api.mts';
import { node } from '../../support/n8n/workflow.mts';
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
	withCredential,
} from '../../support/events.mts';
import { executionsOf, owner, startLab } from '../../support/lab.mts';

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
	assert.equal((await lab.sandbox.deliverySettled(deliveryId)).state, 'delivered');
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
			answer: { status: 503, body: '{}' },
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
		lab.sandbox.faults.plan('PUT /webhook', () => ({ process: 'never', answer: 'reset' }));
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
