/** Events in queue mode: through two webhook processes, over kills and restarts of each process. */
import assert from 'node:assert/strict';
import { after, afterEach, test } from 'node:test';
import {
	eventWorkflow,
	idsOf,
	post,
	startCounter,
	transfer,
	whilePublished,
} from '../../support/events.mts';
import { eventually, executionsOf } from '../../support/lab.mts';
import { owner, startQueueLab } from '../../support/queue/queue-lab.mts';

/** The time that the workers may need for the delivered events, in ms. */
const ALL_EXECUTED_WITHIN_MS = 180_000;

const lab = await startQueueLab();
const counter = await startCounter();
afterEach(() => counter.times.clear());
after(async () => {
	await counter.stop();
	await lab.stop();
});

const send = async (url: string, body: string): Promise<number | undefined> =>
	await post(url, body, lab.sandbox.webhookSecret);

/** Fails unless each event ran once, after the last of those that came before this call has run. */
async function eachRanOnce(url: string, ids: string[]): Promise<void> {
	assert.equal(await send(url, transfer('last')), 200);
	await eventually(
		'each event to run',
		() => [...ids, 'last'].every((id) => counter.times.has(id)) || undefined,
		ALL_EXECUTED_WITHIN_MS,
	);
	assert.deepEqual(
		[...counter.times].filter(([, times]) => times !== 1),
		[],
	);
	assert.equal(counter.times.size, ids.length + 1);
}

void test('200 events, both webhook processes killed meanwhile: each runs once, and nothing more when all come again', async (context) => {
	// The service tries again after 6 s, 24 s and 96 s.
	lab.sandbox.setTimeFactor(0.2);
	await whilePublished(lab, eventWorkflow({}, counter.node), async ({ url }) => {
		assert.ok(url.startsWith(`${lab.n8n.url}/webhook/`), url);
		const ids = idsOf('killed', 200);
		const sent = ids.map(
			(id) =>
				lab.sandbox.emit('transfer.completed', { id, amountEtb: 1, txHash: '0x1' }).deliveryId,
		);
		for (const [index, webhook] of lab.webhooks.entries()) {
			await eventually('some deliveries', () => {
				const left = lab.sandbox.books.pendingDeliveries().length;
				return left <= ids.length - 50 * (index + 1) || undefined;
			});
			await webhook.kill();
			await webhook.start();
		}
		const deliveries = await Promise.all(
			sent.map(async (id) => await lab.sandbox.deliveryEnded(id)),
		);
		assert.deepEqual(new Set(deliveries.map(({ state }) => state)), new Set(['delivered']));
		const attempts = deliveries.reduce((sum, each) => sum + each.attempts.length, 0);
		context.diagnostic(`${ids.length} events, ${attempts} attempts`);
		for (const { body } of deliveries) assert.equal(await send(url, body), 200);
		await eachRanOnce(url, ids);
	});
	lab.sandbox.setTimeFactor(1);
});

void test('the same event at two webhook processes in the same instant runs once, 100 times', async () => {
	await whilePublished(lab, eventWorkflow({}, counter.node), async ({ id: workflow, url }) => {
		const { pathname } = new URL(url);
		const urls = lab.webhooks.map((process) => new URL(pathname, process.url).href);
		const ids = idsOf('instant', 100);
		for (const id of ids) {
			const body = transfer(id);
			const responses = await Promise.all(urls.map(async (each) => await send(each, body)));
			assert.deepEqual(new Set(responses), new Set([200]));
		}
		// The newest of them have ended, and so have those before.
		await executionsOf(lab, workflow, 1);
		await eachRanOnce(url, ids);
	});
});

void test('When the Workflow Finishes: after kills of workers and restarts of all, what failed or was cut off runs again, what succeeded does not', async () => {
	const workflow = eventWorkflow({ acknowledge: 'lastNode' }, counter.node);
	await whilePublished(lab, workflow, async ({ url }) => {
		counter.statusFor = (id) => (id === 'fails' ? 422 : 200);
		assert.equal(await send(url, transfer('fails')), 500);
		assert.equal(await send(url, transfer('succeeds')), 200);
		const release = counter.hold();
		const cut = send(url, transfer('cut'));
		await eventually('it to run', () => counter.waiting.has('cut') || undefined);
		for (const worker of lab.workers) await worker.kill();
		for (const process of [lab.main, ...lab.webhooks]) await process.stop();
		assert.notEqual(await cut, 200);
		counter.statusFor = () => 0;
		release();
		await eventually('nobody to wait', () => counter.waiting.size === 0 || undefined);
		counter.statusFor = () => 200;
		for (const process of [lab.main, ...lab.workers, ...lab.webhooks]) await process.start();
		await lab.api.logIn(owner);
		for (const id of ['fails', 'succeeds', 'cut'])
			for (let again = 0; again < 2; again++) assert.equal(await send(url, transfer(id)), 200, id);
		assert.deepEqual(Object.fromEntries(counter.times), { succeeds: 1, fails: 1, cut: 1 });
	});
});
