/** Events in queue mode: through the webhook process, through restarts, and while tests begin and end. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Counter } from '../../support/events.mts';
import {
	TRIGGER,
	bursts,
	eventWorkflow,
	startCounter,
	withCredential,
} from '../../support/events.mts';
import { eventually } from '../../support/lab.mts';
import { CREDENTIAL_TYPE, credentialFor } from '../../../demo/examples.mts';
import {
	owner,
	startQueueLab,
	type ExecutionRow,
	type Process,
	type QueueLab,
} from '../../support/queue/queue-lab.mts';

/** How long the workers may need for what was delivered, in ms. */
const ALL_EXECUTED_WITHIN_MS = 180_000;

let lab: QueueLab;
before(async () => {
	lab = await startQueueLab();
});
after(async () => await lab?.stop());

const names = (prefix: string, count: number): string[] =>
	Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

const send = (id: string): string =>
	lab.sandbox.emit('transfer.completed', { id, amountEtb: 1, txHash: '0x1' }).deliveryId;

/** Waits until the service has given up or delivered; resolves to how many attempts that took in all. */
async function delivered(deliveryIds: string[]): Promise<number> {
	const deliveries = await Promise.all(
		deliveryIds.map(async (id) => await lab.sandbox.deliverySettled(id)),
	);
	const failed = deliveries.filter(({ state }) => state !== 'delivered');
	assert.deepEqual(
		failed.map(({ body, attempts }) => [body, attempts]),
		[],
	);
	return deliveries.reduce((sum, { attempts }) => sum + attempts.length, 0);
}

/** Undefined when the trigger gave out nothing, because the event came before. */
const eventIdOf = (execution: ExecutionRow): string | undefined => {
	const [item] = execution.itemsOf(TRIGGER) as Array<{ data: { id: string } }>;
	return item?.data.id;
};

/** Event ids that do not have exactly one successful execution, with how many they have. */
function notOnce(ids: string[], executions: ExecutionRow[]): Array<[string, number]> {
	const counts = new Map(ids.map((id) => [id, 0]));
	for (const execution of executions) {
		const id = eventIdOf(execution);
		if (id === undefined && execution.status === 'success') continue;
		counts.set(
			id ?? 'none',
			(counts.get(id ?? 'none') ?? 0) + (execution.status === 'success' ? 1 : 100),
		);
	}
	return [...counts].filter(([, count]) => count !== 1);
}

/** Publishes an event workflow while `use` runs. An account's events go to one workflow, so the next test needs it gone. */
async function whilePublished(
	use: (workflowId: string) => Promise<void>,
	workflow = eventWorkflow(),
): Promise<void> {
	const id = await lab.add(workflow);
	try {
		await lab.api.activate(id);
		await use(id);
	} finally {
		await lab.api.deactivate(id);
	}
}

const registeredUrl = () => lab.sandbox.books.webhookUrl() ?? '';

async function postSigned(url: string, body: string): Promise<number> {
	const hex = createHmac('sha256', lab.sandbox.webhookSecret).update(body).digest('hex');
	const response = await fetch(url, {
		method: 'POST',
		body,
		headers: { 'content-type': 'application/json', 'x-webhook-signature': `sha256=${hex}` },
	});
	await response.arrayBuffer();
	return response.status;
}

const bodyOf = (id: string): string =>
	JSON.stringify({ event: 'transfer.completed', data: { id, amountEtb: 1, txHash: '0x1' } });

void test('1,000 events are executed once each; what comes again starts nothing', async (context) => {
	await whilePublished(async (workflow) => {
		assert.ok(registeredUrl().startsWith(`${lab.publicUrl}webhook/`), registeredUrl());
		const ids = names('event', 1000);
		const startedAt = Date.now();
		const deliveryIds = ids.map(send);
		const attempts = await delivered(deliveryIds);
		const answered = Date.now() - startedAt;
		const executions = await lab.executions(workflow, ids.length);
		const seconds = (ms: number) => (ms / 1000).toFixed(1);
		context.diagnostic(
			`1,000 events: answered in ${seconds(answered)} s with ${attempts} attempts, executed within ${seconds(Date.now() - startedAt)} s`,
		);
		assert.deepEqual(notOnce(ids, executions), []);

		const bodies = deliveryIds.slice(-100).map((id) => lab.sandbox.books.delivery(id)?.body ?? '');
		const url = registeredUrl();
		const again = await Promise.all(
			[...bodies, ...bodies].map(async (body) => await postSigned(url, body)),
		);
		assert.deepEqual(new Set(again), new Set([200]));
		const fresh = JSON.stringify({ event: 'transfer.completed', data: { id: 'fresh' } });
		const atOnce = await Promise.all(Array.from({ length: 20 }, () => postSigned(url, fresh)));
		assert.ok(atOnce.includes(200) && atOnce.every((status) => [200, 503].includes(status)));
		assert.equal(await postSigned(url, fresh), 200);
		assert.deepEqual(
			notOnce([...ids, 'fresh'], await lab.executions(workflow, ids.length + 1)),
			[],
		);
	});
});

void test('400 events in bursts of 40, both webhook processes killed and restarted: each runs once', async (context) => {
	await whilePublished(async (workflow) => {
		const url = registeredUrl();
		const ids = names('many', 400);
		const bodies = new Map(ids.map((id) => [id, bodyOf(id)]));
		const unanswered = new Set<string>();
		const sendBurst = async (burst: string[]) =>
			await Promise.all(
				burst.map(async (id) => {
					const status = await postSigned(url, bodies.get(id) ?? '').catch(() => 0);
					if (status !== 200) unanswered.add(id);
				}),
			);
		const [one, other] = lab.webhooks;
		for (const [index, burst] of bursts(ids, 40).entries()) {
			const sending = sendBurst(burst);
			if (index === 2) await one.kill();
			if (index === 5) await other.kill();
			if (index === 8) await one.stop();
			await sending;
			for (const process of lab.webhooks) await process.startIfEnded();
		}
		// All of them again, unanswered ones among them, by processes that remember none.
		for (const process of lab.webhooks) {
			await process.stop();
			await process.start();
		}
		for (const burst of bursts(ids, 40)) {
			const answers = await Promise.all(
				burst.map(async (id) => await postSigned(url, bodies.get(id) ?? '')),
			);
			assert.deepEqual(new Set(answers), new Set([200]));
		}
		const executions = await lab.executions(workflow, ids.length);
		const twice = notOnce(ids, executions);
		context.diagnostic(
			`${unanswered.size} not answered at first; ${executions.length} executions; not run once: ${JSON.stringify(twice)}`,
		);
		assert.deepEqual(
			twice.filter(([id]) => !unanswered.has(id)),
			[],
		);
	});
});

void test('the same event at two webhook processes in the same instant runs once, 1,000 times', async (context) => {
	await whilePublished(async (workflow) => {
		const { pathname } = new URL(registeredUrl());
		const urls = lab.webhooks.map((process) => new URL(pathname, process.url).href);
		const ids = names('instant', 1_000);
		for (const burst of bursts(ids, 10)) {
			const answers = await Promise.all(
				burst.flatMap((id) => {
					const body = bodyOf(id);
					return urls.map(async (url) => await postSigned(url, body));
				}),
			);
			assert.deepEqual(new Set(answers), new Set([200]));
		}
		const twice = notOnce(ids, await lab.executions(workflow, ids.length * 2));
		context.diagnostic(`not run once: ${twice.length} of ${ids.length}`);
		assert.deepEqual(twice, []);
	});
});

void describe('the webhook process under load', () => {
	for (const how of ['restarted', 'killed'] as const) {
		void test(`${how}: no event is lost, and none runs twice`, async (context) => {
			// Retries after 6 s, 24 s and 96 s.
			lab.sandbox.setTimeFactor(0.2);
			await whilePublished(async (workflow) => {
				const ids = names(how, 400);
				const deliveryIds = ids.map(send);
				await eventually('100 executions', async () =>
					(await lab.executionsNow(workflow)).length >= 100 ? true : undefined,
				);
				const [webhook] = lab.webhooks;
				await (how === 'restarted' ? webhook.stop() : webhook.kill());
				await webhook.start();
				const attempts = await delivered(deliveryIds);
				// Not until all have ended: of those that it was starting, n8n never runs some.
				let missing = ids;
				const succeeded = await eventually(
					'an execution of each event',
					async () => {
						const executions = await lab.executionsNow(workflow, 'success');
						const seen = new Set(executions.map(eventIdOf));
						missing = ids.filter((id) => !seen.has(id));
						return missing.length === 0 ? executions : undefined;
					},
					ALL_EXECUTED_WITHIN_MS,
				).catch(() => undefined);
				const all = await lab.executionsNow(workflow);
				const others = all.filter(({ status }) => status !== 'success');
				assert.ok(
					succeeded,
					`never executed: ${missing.join(', ')}; other executions: ${JSON.stringify(others.map(({ id, status }) => [id, status]))}`,
				);
				const counts = notOnce(ids, succeeded);
				context.diagnostic(
					`${how}: ${ids.length} events, ${attempts} attempts, ${counts.length} events executed twice, ` +
						`other executions: ${others.map(({ status }) => status).join(', ') || 'none'}`,
				);
				// n8n ends without answering those whose execution it has started; the service sends them again.
				assert.deepEqual(counts, []);
			});
			lab.sandbox.setTimeFactor(1);
		});
	}
});

void describe('When the Workflow Finishes', () => {
	const finishing = async (
		use: (counter: Counter, url: string) => Promise<void>,
	): Promise<void> => {
		const counter = await startCounter();
		const workflow = eventWorkflow({ acknowledge: 'lastNode' }, counter.node);
		try {
			await whilePublished(async () => await use(counter, registeredUrl()), workflow);
		} finally {
			await counter.stop();
		}
	};
	const restart = async (processes: Process[]): Promise<void> => {
		for (const process of processes) {
			await process.stop();
			await process.start();
		}
	};

	void test('what failed runs again, what succeeded does not, over restarts of all processes', async () => {
		await finishing(async (counter, url) => {
			const [failing, succeeding] = [bodyOf('fails'), bodyOf('succeeds')];
			counter.answer = (id) => (id === 'fails' ? 422 : 200);
			assert.equal(await postSigned(url, failing), 500);
			assert.equal(await postSigned(url, succeeding), 200);
			await restart([lab.main, ...lab.workers]);
			await lab.api.logIn(owner);
			assert.equal(await postSigned(url, failing), 500);
			assert.equal(await postSigned(url, succeeding), 200);
			await restart([...lab.webhooks, ...lab.workers]);
			counter.answer = () => 200;
			for (let again = 0; again < 2; again++) {
				assert.equal(await postSigned(url, failing), 200);
				assert.equal(await postSigned(url, succeeding), 200);
			}
			await restart([...lab.webhooks, ...lab.workers]);
			assert.equal(await postSigned(url, failing), 200);
			assert.equal(await postSigned(url, succeeding), 200);
			assert.deepEqual(Object.fromEntries(counter.times), { fails: 1, succeeds: 1 });
		});
	});

	void test('what a killed worker was running runs again when it is sent again', async (context) => {
		await finishing(async (counter, url) => {
			const body = bodyOf('cut-off');
			const reached = new Promise<void>((resolve) => {
				counter.answer = () => {
					resolve();
					return 0;
				};
			});
			const first = postSigned(url, body);
			await reached;
			for (const worker of lab.workers) await worker.kill();
			counter.answer = () => 200;
			for (const worker of lab.workers) await worker.start();
			const startedAt = Date.now();
			assert.equal(await first, 500);
			context.diagnostic(`told after ${Math.round((Date.now() - startedAt) / 1000)} s`);
			assert.equal(await postSigned(url, body), 200);
			assert.equal(await postSigned(url, body), 200);
			assert.equal(counter.times.get('cut-off'), 1);
		});
	});
});

void test('500 events while tests of the published workflow and of another one begin, end and fail: each runs once', async (context) => {
	const counter = await startCounter();
	const published = eventWorkflow({}, counter.node);
	try {
		await whilePublished(async (workflow) => {
			const production = registeredUrl();
			const before = lab.sandbox.books.webhookUrlHistory().length;
			const other = await lab.add(eventWorkflow());
			const broken = { ...credentialFor(lab.sandbox), webhookSecret: '' };
			const credential = {
				id: await lab.api.createCredential('Without a secret', CREDENTIAL_TYPE, broken),
				name: 'Without a secret',
			};
			const failing = await lab.api.createWorkflow(withCredential(eventWorkflow(), credential));
			const ids = names('tested', 500);
			const deliveryIds: string[] = [];
			let isOver = false;
			const sending = (async () => {
				for (const id of ids) {
					deliveryIds.push(send(id));
					await sleep(60);
				}
				isOver = true;
			})();
			let tests = 0;
			for (; !isOver; tests += 2) {
				for (const id of [workflow, other]) {
					await lab.api.listenForTestEvent(id, TRIGGER);
					if (tests % 4 === 0) await lab.api.stopListening(id);
				}
				await assert.rejects(lab.api.listenForTestEvent(failing, TRIGGER), /no Webhook Secret/);
				// As fast as a person could, and not so fast that n8n has no time for anything else.
				await sleep(250);
			}
			await sending;
			const attempts = await delivered(deliveryIds);
			await eventually(
				'all to run',
				() => (ids.every((id) => counter.times.has(id)) ? true : undefined),
				ALL_EXECUTED_WITHIN_MS,
			);
			assert.deepEqual(new Set(ids.map((id) => counter.times.get(id))), new Set([1]));
			assert.equal(registeredUrl(), production);
			assert.equal(lab.sandbox.books.webhookUrlHistory().length, before);
			context.diagnostic(`${tests} tests begun, ${attempts} attempts`);
		}, published);
	} finally {
		await counter.stop();
	}
});

void test('the main process starts while the service refuses: events run, and a second workflow is refused by name', async () => {
	await whilePublished(async (workflow) => {
		const refusal = { process: 'never', answer: { status: 403, body: '{}' } } as const;
		lab.sandbox.faults.plan('PUT /webhook', () => refusal);
		try {
			await lab.main.stop();
			await lab.main.start();
			await lab.api.logIn(owner);
			await delivered([send('main-restarted')]);
			const second = await lab.add(eventWorkflow());
			await eventually('n8n to have published the first', async () => {
				const refused = lab.api.activate(second);
				await assert.rejects(refused, /Unpublish the workflow ".+" first|\(403\)/);
				return await refused.catch(({ message }: Error) =>
					message.includes('Unpublish') ? true : undefined,
				);
			});
			await lab.api.deactivate(second);
			const executions = await lab.executions(workflow, 1);
			assert.deepEqual(notOnce(['main-restarted'], executions), []);
		} finally {
			lab.sandbox.faults.clear();
		}
	});
});
