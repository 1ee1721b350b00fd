/** Events in queue mode: through two webhook processes, over kills and restarts of each process. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
	TRIGGER,
	eventWorkflow,
	idsOf,
	post,
	startCounter,
	transfer,
	whilePublished,
} from '../../support/events.mts';
import { eventually } from '../../support/lab.mts';
import { owner, startQueueLab, type ExecutionRow } from '../../support/queue/queue-lab.mts';

/** The time that the workers may need for the delivered events, in ms. */
const ALL_EXECUTED_WITHIN_MS = 180_000;

const lab = await startQueueLab();
after(async () => await lab.stop());

/** The id of the event; undefined when the trigger emitted nothing, because it is a duplicate. */
const eventIdOf = (execution: ExecutionRow): string | undefined => {
	const [item] = execution.itemsOf(TRIGGER) as Array<{ data: { id: string } }>;
	return item?.data.id;
};

/** Event ids that do not have exactly one successful execution, with how many they have. */
function notOnce(ids: string[], executions: ExecutionRow[]): Array<[string, number]> {
	const counts = new Map(ids.map((id) => [id, 0]));
	for (const execution of executions) {
		const id = eventIdOf(execution);
		if (execution.status !== 'success' || id === undefined) continue;
		counts.set(id, (counts.get(id) ?? 0) + 1);
	}
	return [...counts].filter(([, count]) => count !== 1);
}

/** Splits a list into groups of this size. */
function bursts<Item>(items: Item[], size: number): Item[][] {
	const count = Math.ceil(items.length / size);
	return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}

const send = async (url: string, body: string): Promise<number | undefined> =>
	await post(url, body, lab.sandbox.webhookSecret);

void test('200 events, both webhook processes killed meanwhile: each runs once, and nothing more when all come again', async (context) => {
	// The service tries again after 6 s, 24 s and 96 s.
	lab.sandbox.setTimeFactor(0.2);
	await whilePublished(lab, eventWorkflow(), async ({ id: workflow, url }) => {
		assert.ok(url.startsWith(`${lab.publicUrl}webhook/`), url);
		const ids = idsOf('killed', 200);
		const sent = ids.map(
			(id) =>
				lab.sandbox.emit('transfer.completed', { id, amountEtb: 1, txHash: '0x1' }).deliveryId,
		);
		for (const [index, webhook] of lab.webhooks.entries()) {
			await eventually('some executions', async () =>
				(await lab.executionsNow(workflow)).length >= 50 * (index + 1) ? true : undefined,
			);
			await webhook.kill();
			await webhook.start();
		}
		const deliveries = await Promise.all(
			sent.map(async (id) => await lab.sandbox.deliverySettled(id)),
		);
		assert.deepEqual(new Set(deliveries.map(({ state }) => state)), new Set(['delivered']));
		// The wait is not for all executions: n8n never runs some that it was starting at the kill.
		await eventually(
			'an execution of each event',
			async () => {
				const executions = await lab.executionsNow(workflow, 'success');
				const seen = new Set(executions.map(eventIdOf));
				return ids.every((id) => seen.has(id)) ? true : undefined;
			},
			ALL_EXECUTED_WITHIN_MS,
		);
		for (const burst of bursts(deliveries, 40)) {
			const answers = await Promise.all(burst.map(async ({ body }) => await send(url, body)));
			assert.deepEqual(new Set(answers), new Set([200]));
		}
		// Earlier executions have ended when this one has.
		assert.equal(await send(url, transfer('last')), 200);
		await eventually('the last one', async () =>
			(await lab.executionsNow(workflow, 'success')).some((each) => eventIdOf(each) === 'last')
				? true
				: undefined,
		);
		const attempts = deliveries.reduce((sum, each) => sum + each.attempts.length, 0);
		context.diagnostic(`${ids.length} events, ${attempts} attempts`);
		assert.deepEqual(notOnce(ids, await lab.executionsNow(workflow)), []);
	});
	lab.sandbox.setTimeFactor(1);
});

void test('the same event at two webhook processes in the same instant runs once, 300 times', async () => {
	await whilePublished(lab, eventWorkflow(), async ({ id: workflow, url }) => {
		const { pathname } = new URL(url);
		const urls = lab.webhooks.map((process) => new URL(pathname, process.url).href);
		const ids = idsOf('instant', 300);
		for (const burst of bursts(ids, 10)) {
			const answers = await Promise.all(
				burst.flatMap((id) => {
					const body = transfer(id);
					return urls.map(async (each) => await send(each, body));
				}),
			);
			assert.deepEqual(new Set(answers), new Set([200]));
		}
		assert.deepEqual(notOnce(ids, await lab.executions(workflow, ids.length * 2)), []);
	});
});

void test('When the Workflow Finishes: after kills of workers and restarts of all, what failed or was cut off runs again, what succeeded does not', async () => {
	const counter = await startCounter();
	const workflow = eventWorkflow({ acknowledge: 'lastNode' }, counter.node);
	try {
		await whilePublished(lab, workflow, async ({ url }) => {
			counter.answer = (id) => (id === 'fails' ? 422 : 200);
			assert.equal(await send(url, transfer('fails')), 500);
			assert.equal(await send(url, transfer('succeeds')), 200);
			const release = counter.hold();
			const cut = send(url, transfer('cut'));
			await eventually('it to run', () => counter.waiting.has('cut') || undefined);
			for (const worker of lab.workers) await worker.kill();
			for (const process of [lab.main, ...lab.webhooks]) await process.stop();
			assert.notEqual(await cut, 200);
			counter.answer = () => 0;
			release();
			await eventually('nobody to wait', () => counter.waiting.size === 0 || undefined);
			counter.answer = () => 200;
			for (const process of [lab.main, ...lab.workers, ...lab.webhooks]) await process.start();
			await lab.api.logIn(owner);
			for (const id of ['fails', 'succeeds', 'cut'])
				for (let again = 0; again < 2; again++)
					assert.equal(await send(url, transfer(id)), 200, id);
			assert.deepEqual(Object.fromEntries(counter.times), { succeeds: 1, fails: 1, cut: 1 });
		});
	} finally {
		await counter.stop();
	}
});
