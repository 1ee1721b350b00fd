/** n8n starts while the service cannot be asked, or with another address: what the published workflow gets. In the real n8n. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import {
	eventWorkflow,
	listensAgain,
	post,
	startCounter,
	transfer,
	withCredential,
	type Counter,
} from '../../support/events.mts';
import { eventually, executionsOf, startLab, type Lab } from '../../support/lab.mts';
import { refusedBy } from '../../../demo/differences.mts';
import { CREDENTIAL_TYPE, credentialFor } from '../../../demo/examples.mts';
import { freePort } from '../../../demo/ports.mts';
import { node } from '../../../demo/workflow.mts';

const env: Record<string, string> = {};
let lab: Lab;
let counter: Counter;
before(async () => {
	lab = await startLab({ sandbox: { timeFactor: 0.02 }, env });
	counter = await startCounter();
});
after(async () => {
	await counter?.stop();
	await lab?.stop();
});
afterEach(async () => {
	lab.sandbox.faults.clear();
	await lab.api.unpublishAll();
});

const registeredUrl = (): string => lab.sandbox.books.webhookUrl() ?? '';

async function publish(credential?: { id: string; name: string }): Promise<string> {
	const workflow = eventWorkflow({}, counter.node);
	const id =
		credential === undefined
			? await lab.add(workflow)
			: await lab.api.createWorkflow(withCredential(workflow, credential));
	await lab.api.activate(id);
	return id;
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

void describe('n8n starts while the service', () => {
	const faults = {
		'is down': { process: 'never', answer: 'reset' },
		'does not answer': { process: 'never', answer: 'none' },
		refuses: { process: 'never', answer: { status: 403, body: '{}' } },
	} as const;
	for (const [what, fault] of Object.entries(faults)) {
		void test(`${what}: events run, no execution fails, and a second workflow is refused by name`, async () => {
			const id = await publish();
			const url = registeredUrl();
			const requests = lab.sandbox.requests.length;
			lab.sandbox.faults.plan('PUT /webhook', () => fault);
			await restart();
			await listensAgain(url);
			await arrives(`started-${id}`);
			const second = await lab.add(eventWorkflow());
			await assert.rejects(lab.api.activate(second), refusedBy('Received \\d+'));
			await lab.api.listenForTestEvent(second, 'ETB Wallet Trigger');
			await lab.api.stopListening(second);
			assert.equal(registeredUrl(), url);
			assert.equal(lab.sandbox.requests.length, requests);
			const executions = await executionsOf(lab, id, 1);
			assert.deepEqual(
				executions.map(({ status }) => status),
				['success'],
			);
		});
	}
});

void test('n8n starts after the credential was deleted: events are refused until there is one again', async () => {
	const credential = await lab.addCredential({});
	const id = await publish(credential);
	const url = registeredUrl();
	await lab.api.deleteCredential(credential.id);
	await restart();
	await eventually('the trigger to listen', async () =>
		(await post(url, transfer('no-credential'), lab.sandbox.webhookSecret)) === 503
			? true
			: undefined,
	);
	const second = await lab.add(eventWorkflow());
	await assert.rejects(lab.api.activate(second), refusedBy('Received \\d+'));
	assert.deepEqual(await lab.api.executionIds(id), []);
	const other = await lab.addCredential({});
	await lab.api.changeWorkflow(id, ({ nodes, connections }) => ({
		nodes: nodes.map((node) =>
			node.name === 'Count' ? node : { ...node, credentials: { etbWalletApi: other } },
		),
		connections,
	}));
	await lab.api.activate(id);
	await arrives(`new-credential-${id}`);
});

void test('n8n starts after the key was replaced: its URL is set with the new key', async () => {
	const credential = await lab.addCredential({});
	await publish(credential);
	const before = lab.sandbox.books.webhookUrlHistory().length;
	// The same account at another address, as a replaced key would be: the sandbox has one key.
	const baseUrl = lab.sandbox.url.replace('127.0.0.1', 'localhost');
	const replaced = { ...credentialFor(lab.sandbox), baseUrl };
	await lab.api.updateCredential(credential.id, credential.name, CREDENTIAL_TYPE, replaced);
	await restart();
	await eventually('the URL set', () =>
		lab.sandbox.books.webhookUrlHistory().length > before ? true : undefined,
	);
	await arrives('new-key');
});

void describe('n8n starts with another address', () => {
	void test('which is set', async () => {
		await publish();
		const { pathname } = new URL(registeredUrl());
		const address = `http://localhost:${new URL(lab.n8n.url).port}/`;
		env.WEBHOOK_URL = address;
		try {
			await restart();
			await eventually('the new URL', () =>
				registeredUrl() === new URL(pathname, address).href ? true : undefined,
			);
			await arrives('moved');
		} finally {
			delete env.WEBHOOK_URL;
			await restart();
		}
		await eventually('the URL of before', () =>
			registeredUrl().startsWith('http://127.0.0.1') ? true : undefined,
		);
		await arrives('moved-back');
	});

	void test('which the service refuses: the workflow is not published any more, and can be', async () => {
		const id = await publish();
		const url = registeredUrl();
		lab.sandbox.faults.plan('PUT /webhook', () => ({
			process: 'never',
			answer: { status: 403, body: '{}' },
		}));
		env.WEBHOOK_URL = `http://localhost:${await freePort()}/`;
		try {
			await restart();
			await eventually('n8n to give it up', async () =>
				(await post(url, '{}', 'nobody')) === 404 ? true : undefined,
			);
		} finally {
			delete env.WEBHOOK_URL;
			lab.sandbox.faults.clear();
			await restart();
		}
		await lab.api.activate(id);
		await arrives(`published-again-${id}`);
	});
});

void describe('who was published first has the account', () => {
	const schedule = node('Schedule', 'scheduleTrigger', {
		rule: { interval: [{ field: 'hours' }] },
	});

	void test('after n8n ended in the middle of refusing another one, which it publishes in part', async () => {
		await publish();
		const url = registeredUrl();
		const { nodes, ...workflow } = eventWorkflow();
		const second = await lab.add({ ...workflow, nodes: [...nodes, { ...schedule }] });
		const refused = lab.api.activate(second).catch(() => undefined);
		await restart();
		await refused;
		await listensAgain(url);
		await arrives('ended-while-refusing');
		await assert.rejects(lab.api.activate(second), refusedBy('Received \\d+'));
		await restart();
		await eventually('the URL', () => (registeredUrl() === url ? true : undefined));
		await listensAgain(url);
		await arrives('published-in-part');
	});

	void test('when a test begins while n8n starts', async () => {
		await publish();
		const url = registeredUrl();
		const tested = await lab.add(eventWorkflow());
		await lab.n8n.stop();
		const started = lab.restartN8n();
		await eventually('a test', async () => {
			const began = lab.api.listenForTestEvent(tested, 'ETB Wallet Trigger');
			return await began.then(
				() => true,
				() => undefined,
			);
		});
		await started;
		await listensAgain(url);
		await eventually('the URL', () => (registeredUrl() === url ? true : undefined));
		await arrives('test-while-starting');
		await lab.api.stopListening(tested);
	});
});
