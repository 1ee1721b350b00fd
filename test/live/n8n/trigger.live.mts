/** Issue: the trigger loses nothing, invents nothing, and testing never breaks production. In the real n8n. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { after, afterEach, before, describe, test } from 'node:test';
import type { WorkflowFile } from '../../../demo/api.mts';
import { refusedBy } from '../../../demo/differences.mts';
import { CREDENTIAL_TYPE, credentialFor } from '../../../demo/examples.mts';
import { eventually, executionsOf, owner, startLab } from '../../support/lab.mts';
import type { Lab } from '../../support/lab.mts';

const TRIGGER = 'ETB Wallet Trigger';

let lab: Lab;
before(async () => {
	lab = await startLab({ sandbox: { timeFactor: 0.02 } });
});
after(async () => await lab.stop());
afterEach(async () => await lab.api.unpublishAll());

let created = 0;

/** A trigger, and behind it a node that fails as long as the service's fee is 99 when `fails`. */
function eventWorkflow(parameters: object = {}, options: { fails?: boolean } = {}): WorkflowFile {
	const webhookId = `00000000-0000-4000-8000-${String(++created).padStart(12, '0')}`;
	const nodes = [
		{
			id: `trigger-${created}`,
			name: TRIGGER,
			type: 'n8n-nodes-etb-wallet.etbWalletTrigger',
			typeVersion: 2,
			position: [0, 0],
			webhookId,
			parameters,
		},
		...(options.fails
			? [
					{
						id: `user-${created}`,
						name: 'User',
						type: 'n8n-nodes-etb-wallet.etbWallet',
						typeVersion: 1,
						position: [220, 0],
						parameters: {
							resource: 'user',
							operation: 'create',
							externalId: '={{ "u" + $json.data.id }}',
						},
					},
				]
			: []),
	];
	return {
		name: `Events ${created}`,
		nodes,
		connections: options.fails
			? { [TRIGGER]: { main: [[{ node: 'User', type: 'main', index: 0 }]] } }
			: {},
		settings: { executionOrder: 'v1' },
	};
}

const registeredUrl = (): string => {
	const url = lab.sandbox.books.webhookUrl();
	assert.ok(url !== undefined, 'the sandbox has no webhook URL');
	return url;
};

async function publish(workflow: WorkflowFile): Promise<{ id: string; url: string }> {
	const id = await lab.add(workflow);
	await lab.api.activate(id);
	return { id, url: registeredUrl() };
}

/** Changes a published trigger, and publishes it again. */
async function change(id: string, acknowledge: 'onReceived' | 'lastNode'): Promise<void> {
	await lab.api.changeWorkflow(id, ({ nodes, connections }) => ({
		nodes: nodes.map((node) => ({ ...node, parameters: { acknowledge } })),
		connections,
	}));
	await lab.api.activate(id);
}

/** The events that the trigger gave out, once there are `count` executions. */
const eventIds = async (workflowId: string, count: number): Promise<unknown[]> =>
	(await executionsOf(lab, workflowId, count))
		.flatMap(({ nodes }) => nodes[TRIGGER]?.[0]?.outputs[0] ?? [])
		.map(({ data }) => (data as { id?: unknown } | undefined)?.id);

async function deliver(id: string): Promise<number | undefined> {
	const { deliveryId } = lab.sandbox.emit('transfer.completed', {
		id,
		amountEtb: 1,
		txHash: '0x1',
	});
	const delivery = await lab.sandbox.deliverySettled(deliveryId);
	assert.equal(delivery.state, 'delivered');
	return delivery.attempts.at(-1)?.status;
}

function signed(body: string, secret = lab.sandbox.webhookSecret): Record<string, string> {
	const hex = createHmac('sha256', secret).update(body).digest('hex');
	return { 'content-type': 'application/json', 'x-webhook-signature': `sha256=${hex}` };
}

const post = async (
	url: string,
	body: string,
	headers: Record<string, string>,
): Promise<Response> =>
	await fetch(url, { method: 'POST', body, headers, signal: AbortSignal.timeout(20_000) });

/** n8n answers 404 until it has registered its webhooks. */
const postAfterRestart = async (url: string, body: string): Promise<Response> =>
	await eventually('the webhook after the restart', async () => {
		const response = await post(url, body, signed(body)).catch(() => undefined);
		return response?.status === 404 ? undefined : response;
	});

void describe('publishing', () => {
	test('sets the production URL', async () => {
		const { url } = await publish(eventWorkflow());
		assert.match(url, /\/webhook\/00000000-/);
	});

	test('fails with a reason when the secret is missing, the key is wrong or the address is not public', async () => {
		const cases = [
			[{ webhookSecret: '' }, /no Webhook Secret/],
			[{ apiKey: 'wrong' }, /does not accept the API key \(401\).*Check the API key/],
			[{ baseUrl: 'https://partners.example.com' }, /which is not https/],
		] as const;
		for (const [changes, reason] of cases) {
			const credential = await lab.addCredential(changes);
			const workflow = eventWorkflow();
			const id = await lab.api.createWorkflow({
				...workflow,
				nodes: workflow.nodes.map((node) => ({
					...node,
					credentials: { etbWalletApi: credential },
				})),
			});
			await assert.rejects(lab.api.activate(id), reason);
			await lab.api.deactivate(id);
		}
	});

	test('with a changed trigger, while the service refuses: it listens, and the log says so', async () => {
		const { id, url } = await publish(eventWorkflow());
		lab.sandbox.faults.plan('PUT /webhook', () => ({
			process: 'never',
			answer: { status: 503, body: '{}' },
		}));
		await change(id, 'lastNode');
		assert.equal(await deliver('while-refused'), 200);
		const log = await readFile(lab.n8n.logFile, 'utf8');
		assert.match(log, /It took it before, so the trigger listens/);
		lab.sandbox.faults.clear();
		await change(id, 'onReceived');
		assert.equal(registeredUrl(), url);
		assert.equal(await deliver('after-that'), 200);
		assert.deepEqual(await eventIds(id, 2), ['while-refused', 'after-that']);
	});

	test('anew, while the service refuses: fails with the reason', async () => {
		const { id } = await publish(eventWorkflow());
		await lab.api.deactivate(id);
		const other = await publish(eventWorkflow());
		await lab.api.deactivate(other.id);
		lab.sandbox.faults.plan('PUT /webhook', () => ({
			process: 'never',
			answer: { status: 400, body: '{}' },
		}));
		await assert.rejects(lab.api.activate(id), /refused the request \(400\)/);
		lab.sandbox.faults.clear();
	});

	test('while the service does not answer: fails with the reason, before n8n gives it up', async () => {
		const id = await lab.add(eventWorkflow());
		lab.sandbox.faults.plan('PUT /webhook', () => ({ process: 'never', answer: 'none' }));
		try {
			await assert.rejects(lab.api.activate(id, 100_000), /No answer from the service/);
		} finally {
			lab.sandbox.faults.clear();
		}
	});

	test('names the workflow that holds the account, and works once that is unpublished', async () => {
		const first = await publish(eventWorkflow());
		const second = await lab.add(eventWorkflow());
		await assert.rejects(lab.api.activate(second), refusedBy('Events \\d+'));
		assert.equal(registeredUrl(), first.url);
		await lab.api.deactivate(first.id);
		await lab.api.activate(second);
		assert.notEqual(registeredUrl(), first.url);
	});

	test('of two triggers in one workflow says that one is too many', async () => {
		const workflow = eventWorkflow();
		const second = eventWorkflow().nodes.map((node) => ({ ...node, name: 'Second' }));
		const id = await lab.add({ ...workflow, nodes: [...workflow.nodes, ...second] });
		await assert.rejects(lab.api.activate(id), /Remove one of the two ETB Wallet Triggers/);
	});

	test('of a workflow of another person does not name it', async () => {
		await publish(eventWorkflow());
		const api = await lab.api.addMember({
			email: 'member@example.com',
			password: owner.password,
		});
		const name = 'Own credential';
		const data = credentialFor(lab.sandbox);
		const credential = { id: await api.createCredential(name, CREDENTIAL_TYPE, data), name };
		const workflow = eventWorkflow();
		const second = await api.createWorkflow({
			...workflow,
			nodes: workflow.nodes.map((node) => ({ ...node, credentials: { etbWalletApi: credential } })),
		});
		await assert.rejects(api.activate(second), (error: Error) => {
			assert.match(error.message, /a workflow of this n8n, maybe of another project, receives/);
			return !/Events \d/.test(error.message);
		});
	});

	test('of a second workflow is refused also when the credential of both was changed since', async () => {
		const credential = await lab.addCredential({});
		const withCredential = (workflow: WorkflowFile): WorkflowFile => ({
			...workflow,
			nodes: workflow.nodes.map((node) => ({ ...node, credentials: { etbWalletApi: credential } })),
		});
		const first = await lab.api.createWorkflow(withCredential(eventWorkflow()));
		await lab.api.activate(first);
		const url = registeredUrl();
		// The same account at another address, as a replaced key would be: the sandbox has one key.
		const replaced = {
			...credentialFor(lab.sandbox),
			baseUrl: lab.sandbox.url.replace('127.0.0.1', 'localhost'),
		};
		await lab.api.updateCredential(credential.id, credential.name, CREDENTIAL_TYPE, replaced);
		const second = await lab.api.createWorkflow(withCredential(eventWorkflow()));
		await assert.rejects(lab.api.activate(second), refusedBy('Events \\d+'));
		await lab.api.listenForTestEvent(second, TRIGGER);
		await lab.api.stopListening(second);
		assert.equal(registeredUrl(), url);
	});

	for (const [what, body] of [
		['ok: false', '{"ok":false}'],
		['another URL', '{"webhookUrl":"https://old.example.com/"}'],
	] as const) {
		test(`fails when the service answers 200 with ${what}`, async () => {
			const id = await lab.add(eventWorkflow());
			lab.sandbox.faults.plan('PUT /webhook', () => ({
				process: 'never',
				answer: { status: 200, body },
			}));
			try {
				await assert.rejects(lab.api.activate(id), /The service answered 200/);
			} finally {
				lab.sandbox.faults.clear();
			}
		});
	}
});

test('without a published workflow a test gets the event at its own URL', async () => {
	const id = await lab.add(eventWorkflow());
	await lab.api.listenForTestEvent(id, TRIGGER);
	assert.match(registeredUrl(), /\/webhook-test\//);
	assert.equal(await deliver('alone'), 200);
	assert.deepEqual(await eventIds(id, 1), ['alone']);

	await lab.api.stopListening(id);
});

void describe('duplicates', () => {
	test('the same event starts one execution, at the same instant, later, and after a restart', async () => {
		const { id, url } = await publish(eventWorkflow());
		const body = JSON.stringify({ event: 'transfer.completed', data: { id: 'same' } });
		const first = await Promise.all([
			post(url, body, signed(body)),
			post(url, body, signed(body)),
			post(url, body, signed(body)),
		]);
		const statuses = first.map(({ status }) => status);
		assert.ok(statuses.includes(200) && statuses.every((status) => [200, 503].includes(status)));
		assert.equal((await post(url, body, signed(body))).status, 200);
		await executionsOf(lab, id, 1);
		await lab.n8n.stop();
		await lab.restartN8n();
		const again = await postAfterRestart(url, body);
		assert.equal(again.status, 200);
		assert.equal(await deliver('other'), 200);
		// The execution of the duplicate after the restart ended in the trigger.
		assert.deepEqual(await eventIds(id, 3), ['same', 'other']);
	});

	test('after SIGKILL the last events are remembered too', async () => {
		const { id, url } = await publish(eventWorkflow());
		const body = JSON.stringify({ event: 'transfer.completed', data: { id: 'killed' } });
		assert.equal((await post(url, body, signed(body))).status, 200);
		await executionsOf(lab, id, 1);
		lab.n8n.kill();
		await lab.restartN8n();
		const again = await postAfterRestart(url, body);
		assert.equal(again.status, 200);
		assert.equal(await deliver('other'), 200);
		assert.deepEqual(await eventIds(id, 3), ['killed', 'other']);
	});
});

void describe('acknowledgement', () => {
	for (const [acknowledge, runs] of [
		['lastNode', 3],
		['onReceived', 1],
	] as const) {
		test(`${acknowledge}: a workflow that fails twice runs ${runs} times`, async () => {
			const { id } = await publish(eventWorkflow({ acknowledge }, { fails: true }));
			lab.sandbox.faults.next(
				'POST /users',
				{ process: 'never', answer: { status: 422, body: '{}' } },
				2,
			);
			assert.equal(await deliver(`ack-${acknowledge}`), 200);
			const executions = await executionsOf(lab, id, runs);
			assert.equal(executions.length, runs);
			assert.deepEqual(
				executions.map(({ status }) => status),
				runs === 3 ? ['error', 'error', 'success'] : ['error'],
			);
			lab.sandbox.faults.clear();
		});
	}
});

test('lastNode: what the workflow keeps in its static data stays', async () => {
	const workflow = eventWorkflow({ acknowledge: 'lastNode' });
	const counter = {
		id: 'counter',
		name: 'Counter',
		type: 'n8n-nodes-base.code',
		typeVersion: 2,
		position: [220, 0],
		parameters: {
			jsCode: [
				"const data = $getWorkflowStaticData('global');",
				'data.count = (data.count ?? 0) + 1;',
				'return [{ json: { count: data.count } }];',
			].join('\n'),
		},
	};
	const { id } = await publish({
		...workflow,
		nodes: [...workflow.nodes, counter],
		connections: { [TRIGGER]: { main: [[{ node: 'Counter', type: 'main', index: 0 }]] } },
	});
	for (const event of ['count-1', 'count-2', 'count-3']) assert.equal(await deliver(event), 200);
	const executions = await executionsOf(lab, id, 3);
	assert.deepEqual(
		executions.map(({ nodes }) => nodes.Counter?.[0]?.outputs[0]?.[0]?.count),
		[1, 2, 3],
	);
});

test('events that are sent while n8n is down arrive when it is back, once each', async () => {
	const { id } = await publish(eventWorkflow());
	await lab.n8n.stop();
	lab.sandbox.setTimeFactor(1);
	const sent = ['down-1', 'down-2', 'down-3'];
	const deliveries = sent.map(
		(eventId) => lab.sandbox.emit('transfer.completed', { id: eventId }).deliveryId,
	);
	await lab.restartN8n();
	const settled = await Promise.all(
		deliveries.map(async (delivery) => await lab.sandbox.deliverySettled(delivery)),
	);
	lab.sandbox.setTimeFactor(0.02);
	for (const { state, attempts } of settled) {
		assert.equal(state, 'delivered');
		assert.ok(attempts.length > 1, 'no attempt while n8n is down');
	}
	assert.deepEqual((await eventIds(id, 3)).toSorted(), sent);
});

test('forged and harmful requests are refused, start nothing and are all answered', async () => {
	const { id, url } = await publish(eventWorkflow());
	const body =
		'{ "event":"transfer.completed","data":{"id":"forged","amountEtb":1.0,"big":1e3,"name":"አበበ"}}';
	const good = signed(body)['x-webhook-signature'] ?? '';
	const json = { 'content-type': 'application/json' };
	const flipped = good.slice(0, -1) + (good.endsWith('0') ? '1' : '0');
	const cases: Array<[string, number, string, Record<string, string>]> = [
		['missing', 401, body, json],
		['empty', 401, body, { ...json, 'x-webhook-signature': '' }],
		['flipped bit in the signature', 401, body, { ...json, 'x-webhook-signature': flipped }],
		[
			'flipped bit in the body',
			401,
			body.replace('1.0', '9.0'),
			{ ...json, 'x-webhook-signature': good },
		],
		[
			're-serialised',
			401,
			JSON.stringify(JSON.parse(body)),
			{ ...json, 'x-webhook-signature': good },
		],
		[
			'wrong prefix',
			401,
			body,
			{ ...json, 'x-webhook-signature': good.replace('sha256', 'sha512') },
		],
		['no prefix', 401, body, { ...json, 'x-webhook-signature': good.slice(7) }],
		['too short', 401, body, { ...json, 'x-webhook-signature': good.slice(0, -2) }],
		['not hex', 401, body, { ...json, 'x-webhook-signature': `sha256=${'z'.repeat(64)}` }],
		['other secret', 401, body, signed(body, 'other')],
		['doubled', 401, body, { ...json, 'x-webhook-signature': `${good}, ${good}` }],
		['empty body, not signed', 401, '', json],
		['empty body, signed', 400, '', signed('')],
		['not JSON', 422, '{"event":', signed('{"event":')],
		[
			'not JSON, as text',
			400,
			'{"event":',
			{ ...signed('{"event":'), 'content-type': 'text/plain' },
		],
		['a list', 400, '[1]', signed('[1]')],
		['form data', 401, body, { 'content-type': 'application/x-www-form-urlencoded' }],
	];
	for (const [name, status, text, headers] of cases) {
		const response = await post(url, text, headers);
		const answer = await response.text();
		assert.equal(response.status, status, `${name}: ${answer}`);
		assert.ok(
			!answer.includes('forged') && !answer.includes('event":'),
			`${name} echoes: ${answer}`,
		);
	}
	const large = JSON.stringify({ event: 'x', data: 'x'.repeat(17 * 1024 * 1024) });
	assert.equal((await post(url, large, signed(large))).status, 500);
	const binary = { ...signed(large), 'content-type': 'application/octet-stream' };
	assert.equal((await post(url, large, binary)).status, 413);

	assert.equal((await post(url, body, { ...json, 'x-webhook-signature': good })).status, 200);
	assert.deepEqual(await eventIds(id, 1), ['forged']);
});
