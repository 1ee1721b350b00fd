/** What the trigger remembers when n8n is killed and busy, and what it answers. In the real n8n. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CREDENTIAL_NAME, CREDENTIAL_TYPE, credentialFor } from '../../../demo/examples.mts';
import type { Counter } from '../../support/events.mts';
import {
	bursts,
	codeNode,
	eventWorkflow,
	listensAgain,
	post,
	postEncoded,
	signature,
	startCounter,
	transfer,
	TRIGGER,
} from '../../support/events.mts';
import type { Lab } from '../../support/lab.mts';
import { eventually, executionsOf, startLab } from '../../support/lab.mts';

let lab: Lab;
let counter: Counter;
before(async () => {
	lab = await startLab({ sandbox: { timeFactor: 0.02 } });
	counter = await startCounter();
});
after(async () => {
	await counter?.stop();
	await lab?.stop();
});

const registeredUrl = (): string => lab.sandbox.books.webhookUrl() ?? '';

/** Publishes a workflow while `use` runs: an account's events go to one workflow. */
async function whilePublished(
	workflow: ReturnType<typeof eventWorkflow>,
	use: (published: { id: string; url: string }) => Promise<void>,
): Promise<void> {
	const id = await lab.add(workflow);
	try {
		await lab.api.activate(id);
		await use({ id, url: registeredUrl() });
	} finally {
		await lab.api.deactivate(id);
	}
}

const send = async (url: string, body: string): Promise<number | undefined> =>
	await post(url, body, lab.sandbox.webhookSecret);

async function restart(url: string, how: 'stop' | 'kill' = 'stop'): Promise<void> {
	if (how === 'stop') await lab.n8n.stop();
	else lab.n8n.kill();
	await lab.restartN8n();
	await listensAgain(url);
}

/** How often each of these ran, once each has that was to. */
async function ran(ids: string[]): Promise<number[]> {
	await eventually(
		`${ids.length} events to run`,
		() => (ids.every((id) => counter.times.has(id)) ? true : undefined),
		120_000,
	);
	return ids.map((id) => counter.times.get(id) ?? 0);
}

const names = (prefix: string, count: number): string[] =>
	Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

void describe('what the workflow keeps in its static data', () => {
	const count = codeNode(
		'Keep',
		"const data = $getWorkflowStaticData('global');",
		"if ($json.data.id.startsWith('keep')) data[$json.data.id] = (data[$json.data.id] ?? 0) + 1;",
		'return $input.all();',
	);
	/** As n8n has it in its database. */
	const keptBy = (id: string): object => {
		const file = join(lab.n8n.userFolder, '.n8n', 'database.sqlite');
		const database = new DatabaseSync(file, { readOnly: true });
		const row = database.prepare('select staticData from workflow_entity where id = ?').get(id);
		database.close();
		const data = Object(JSON.parse(String(row?.staticData ?? null))) as Record<string, unknown>;
		return Object(data.global) as object;
	};
	for (const acknowledge of ['onReceived', 'lastNode']) {
		void test(`stays, under 25 events a second: ${acknowledge}`, async () => {
			await whilePublished(eventWorkflow({ acknowledge }, count), async ({ id, url }) => {
				const others: Array<Promise<number | undefined>> = [];
				let isDone = false;
				const flood = (async () => {
					while (!isDone) {
						others.push(send(url, transfer(`other-${acknowledge}-${others.length}`)));
						await sleep(40);
					}
				})();
				// One after the other: two executions that write at once undo each other without any trigger.
				for (const name of names('keep', 20)) {
					assert.equal(await send(url, transfer(name)), 200);
					await eventually(`${name} in the static data`, () =>
						Object.hasOwn(keptBy(id), name) ? true : undefined,
					);
				}
				isDone = true;
				await flood;
				assert.deepEqual(new Set(await Promise.all(others)), new Set([200]));
				await executionsOf(lab, id, 20);
				assert.deepEqual(
					keptBy(id),
					Object.fromEntries(names('keep', 20).map((name) => [name, 1])),
				);
			});
		});
	}

	void test('does not make the trigger forget', async () => {
		const writes = codeNode(
			'Keep',
			"const data = $getWorkflowStaticData('global');",
			'data.count = (data.count ?? 0) + 1;',
			'return $input.all();',
		);
		await whilePublished(eventWorkflow({}, writes, counter.node), async ({ url }) => {
			const bodies = names('written', 5).map(transfer);
			for (const body of bodies) assert.equal(await send(url, body), 200);
			await ran(names('written', 5));
			await restart(url);
			for (const body of bodies) assert.equal(await send(url, body), 200);
			assert.equal(await send(url, transfer('after-written')), 200);
			assert.deepEqual(await ran([...names('written', 5), 'after-written']), [1, 1, 1, 1, 1, 1]);
		});
	});
});

void describe('a burst', () => {
	for (const acknowledge of ['onReceived', 'lastNode']) {
		void test(`of 40 is remembered across a restart: ${acknowledge}`, async () => {
			await whilePublished(eventWorkflow({ acknowledge }, counter.node), async ({ url }) => {
				const ids = names(`burst-${acknowledge}`, 40);
				const bodies = ids.map(transfer);
				const first = await Promise.all(bodies.map(async (body) => await send(url, body)));
				assert.deepEqual(new Set(first), new Set([200]));
				await ran(ids);
				await restart(url);
				const again = await Promise.all(bodies.map(async (body) => await send(url, body)));
				assert.deepEqual(new Set(again), new Set([200]));
				assert.equal(await send(url, transfer(`after-${acknowledge}`)), 200);
				const counts = await ran([...ids, `after-${acknowledge}`]);
				assert.deepEqual(new Set(counts), new Set([1]));
			});
		});
	}

	void test('400 events in bursts of 40, n8n killed twice and restarted: each runs once', async (context) => {
		await whilePublished(eventWorkflow({}, counter.node), async ({ url }) => {
			const ids = names('many', 400);
			const bodies = new Map(ids.map((id) => [id, transfer(id)]));
			const inFlight = new Set<string>();
			const sendAll = async (some: string[]): Promise<void> => {
				await Promise.all(
					some.map(async (id) => {
						const status = await send(url, bodies.get(id) ?? '');
						if (status !== 200) inFlight.add(id);
					}),
				);
			};
			for (const [index, burst] of bursts(ids, 40).entries()) {
				const sending = sendAll(burst);
				if (index === 3 || index === 6) {
					await eventually('a third of the burst', () =>
						burst.filter((id) => counter.times.has(id)).length > 12 ? true : undefined,
					);
					// Those whose execution began may have been answered, and were cut off in the middle.
					for (const id of burst) if (!counter.times.has(id)) inFlight.add(id);
					await restart(url, 'kill');
				}
				await sending;
			}
			const settled = ids.filter((id) => !inFlight.has(id));
			await ran(settled);
			await restart(url);
			// A busy n8n may leave one without an answer in time, which the service sends again.
			const sendAgain = async (id: string) =>
				await eventually('an answer', async () => await send(url, bodies.get(id) ?? ''));
			for (const burst of bursts(ids, 40)) {
				const answers = await Promise.all(burst.map(sendAgain));
				assert.deepEqual(new Set(answers), new Set([200]));
			}
			await send(url, transfer('after-many'));
			await ran(['after-many']);
			const timesOf = (some: Iterable<string>) =>
				[...some].reduce<Record<number, number>>((sum, id) => {
					const times = counter.times.get(id) ?? 0;
					return { ...sum, [times]: (sum[times] ?? 0) + 1 };
				}, {});
			context.diagnostic(
				`times run: ${JSON.stringify(timesOf(settled))}; in flight at a kill: ${JSON.stringify(timesOf(inFlight))}`,
			);
			assert.deepEqual(timesOf(settled), { 1: settled.length });
			assert.ok(inFlight.size <= 80);
		});
	});
});

void describe('the same event', () => {
	void test('is recognised after the trigger was renamed and n8n restarted', async () => {
		const workflow = eventWorkflow({}, counter.node);
		const id = await lab.add(workflow);
		await lab.api.activate(id);
		const url = registeredUrl();
		const body = transfer('renamed');
		assert.equal(await send(url, body), 200);
		await ran(['renamed']);
		await lab.api.changeWorkflow(id, ({ nodes, connections }) => ({
			nodes: nodes.map((node) => (node.name === TRIGGER ? { ...node, name: 'Renamed' } : node)),
			connections: { Renamed: connections[TRIGGER] },
		}));
		await lab.api.activate(id);
		await restart(url);
		assert.equal(await send(url, body), 200);
		assert.equal(await send(url, transfer('after-renamed')), 200);
		assert.deepEqual(await ran(['renamed', 'after-renamed']), [1, 1]);
		await lab.api.deactivate(id);
	});

	void test('is recognised with its keys in another order, and with a blank behind the secret', async () => {
		const { webhookSecret } = lab.sandbox;
		const changed = await lab.addCredential({ webhookSecret: `${webhookSecret} \n` });
		const workflow = eventWorkflow({}, counter.node);
		const id = await lab.api.createWorkflow({
			...workflow,
			nodes: workflow.nodes.map((node) => ({ ...node, credentials: { etbWalletApi: changed } })),
		});
		await lab.api.activate(id);
		const paid = (data: string) => `{"event":"disburse.completed","data":${data}}`;
		const url = registeredUrl();
		assert.equal(await send(url, paid('{"id":"order","toUserId":"u","txHash":"0x7"}')), 200);
		await ran(['order']);
		assert.equal(await send(url, paid('{"txHash":"0x7","toUserId":"u","id":"order"}')), 200);
		await restart(url);
		assert.equal(await send(url, paid('{"toUserId":"u","txHash":"0x7","id":"order"}')), 200);
		assert.equal(await send(url, transfer('after-order')), 200);
		assert.deepEqual(await ran(['order', 'after-order']), [1, 1]);
		await lab.api.deactivate(id);
	});
});

void describe('When the Workflow Finishes', () => {
	void test('what failed runs again after a restart, what succeeded does not', async () => {
		const workflow = eventWorkflow({ acknowledge: 'lastNode' }, counter.node);
		await whilePublished(workflow, async ({ url }) => {
			counter.answer = (id) => (id === 'fails' ? 500 : 200);
			assert.equal(await send(url, transfer('succeeds')), 200);
			assert.equal(await send(url, transfer('fails')), 500);
			await restart(url);
			counter.answer = () => 200;
			assert.equal(await send(url, transfer('succeeds')), 200);
			assert.equal(await send(url, transfer('fails')), 200);
			assert.equal(await send(url, transfer('fails')), 200);
			await restart(url);
			assert.equal(await send(url, transfer('fails')), 200);
			assert.deepEqual(await ran(['succeeds', 'fails']), [1, 1]);
		});
	});

	void test('what a crash cut off runs again', async () => {
		const wait = {
			name: 'Pause',
			type: 'n8n-nodes-base.code',
			typeVersion: 2,
			parameters: {
				jsCode: 'await new Promise((r) => setTimeout(r, 20000)); return $input.all();',
			},
		};
		const workflow = eventWorkflow({ acknowledge: 'lastNode' }, counter.node, wait);
		await whilePublished(workflow, async ({ url }) => {
			const cut = send(url, transfer('cut'));
			await ran(['cut']);
			await restart(url, 'kill');
			assert.equal(await cut, undefined);
			const again = send(url, transfer('cut'));
			await eventually('the second time', () =>
				counter.times.get('cut') === 2 ? true : undefined,
			);
			lab.n8n.kill();
			await again;
			await lab.restartN8n();
		});
	});

	void test('what a person stopped does not run again', async () => {
		const wait = {
			name: 'Wait',
			type: 'n8n-nodes-base.code',
			typeVersion: 2,
			parameters: {
				jsCode: 'await new Promise((r) => setTimeout(r, 20000)); return $input.all();',
			},
		};
		const workflow = eventWorkflow({ acknowledge: 'lastNode' }, counter.node, wait);
		await whilePublished(workflow, async ({ id, url }) => {
			const stopped = send(url, transfer('stopped'));
			await ran(['stopped']);
			const [execution = ''] = await lab.api.executionIds(id);
			await lab.api.stopExecution(execution);
			assert.equal(await stopped, 500);
			// Until n8n has ended the execution, the event is answered as one that still runs.
			await eventually('the end of the execution', async () => {
				const status = await send(url, transfer('stopped'));
				if (status === 503) return undefined;
				assert.equal(status, 200);
				return true;
			});
			await restart(url);
			assert.equal(await send(url, transfer('stopped')), 200);
			assert.equal(counter.times.get('stopped'), 1);
		});
	});
});

void test('the secret is replaced while events come: none is refused, none runs twice', async (context) => {
	await whilePublished(eventWorkflow({}, counter.node), async ({ url }) => {
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
				const body = transfer(`rotated-${ids.length}`);
				ids.push(`rotated-${ids.length}`);
				const secret = secretOf(index);
				const answers = Array.from({ length: index % 4 === 0 ? 2 : 1 }, async () =>
					post(url, body, secret),
				);
				// One of two at once may be told that the event is being handled.
				sending.push(Promise.all(answers).then((all) => all.toSorted()[0]));
				await sleep(50);
			}
		};
		const after = (ms: number) => {
			const from = Date.now();
			return () => Date.now() - from > ms;
		};
		await change({ webhookSecret: oldSecret, previousWebhookSecret: '' });
		await sendFor(after(2_000), () => oldSecret);
		// As the document says: the person saves both, and then the service begins to sign with the new one.
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
		await sendFor(after(6_000), (index) => (index % 2 === 0 ? newSecret : oldSecret));
		assert.deepEqual(new Set(await Promise.all(sending)), new Set([200]));
		assert.deepEqual(new Set(await ran(ids)), new Set([1]));
		context.diagnostic(`${ids.length} events`);
		await change({});
	});
});

void describe('bodies', () => {
	void test('of each kind are answered, and only signed events run', async () => {
		await whilePublished(eventWorkflow({}, counter.node), async ({ url }) => {
			const types = [
				'application/json',
				'application/json; charset=utf-16',
				'text/plain',
				'application/x-www-form-urlencoded',
				'application/octet-stream',
				'multipart/mixed',
				'',
			];
			for (const [index, type] of types.entries()) {
				const headers = { 'content-type': type };
				const body = transfer(`type-${index}`);
				const status = await post(url, body, lab.sandbox.webhookSecret, headers);
				assert.ok(
					status === 200 || (type.includes('utf-16') && status === 422),
					`${type}: ${status}`,
				);
				if (status === 200) assert.deepEqual(await ran([`type-${index}`]), [1], type);
				assert.equal(await post(url, body, 'forged', headers), status === 422 ? 422 : 401, type);
			}
			// n8n itself answers, also what is signed.
			for (const type of ['multipart/form-data; boundary=x', 'text/xml']) {
				const body = transfer('other-type');
				const status = await post(url, body, lab.sandbox.webhookSecret, { 'content-type': type });
				assert.ok(status !== undefined && status >= 400 && status < 500, `${type}: ${status}`);
			}
		});
	});

	void test('that are compressed or come in chunks are verified as they were before', async () => {
		await whilePublished(eventWorkflow({}, counter.node), async ({ url }) => {
			for (const type of ['application/json', 'application/octet-stream']) {
				for (const how of ['gzip', 'chunks'] as const) {
					const id = `${how}-${type.length}`;
					const body = transfer(id);
					const headers = {
						'content-type': type,
						'x-webhook-signature': signature(body, lab.sandbox.webhookSecret),
					};
					assert.equal(await postEncoded(url, body, how, headers), 200, `${type}, ${how}`);
					assert.deepEqual(await ran([id]), [1]);
				}
			}
		});
	});

	void test('that n8n leaves to the trigger are given up after 10 seconds', async () => {
		await whilePublished(eventWorkflow(), async ({ url }) => {
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
