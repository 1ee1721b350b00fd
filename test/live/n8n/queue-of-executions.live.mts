/** n8n with a limit on executions is killed while events wait for their turn. In the real n8n. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
	eventWorkflow,
	listensAgain,
	post,
	startCounter,
	transfer,
	whilePublished,
} from '../../support/events.mts';
import { eventually, isReady, startLab } from '../../support/lab.mts';

/** The number of executions that run at a time. */
const limit = 2;

const events = 40;
/** The number of executions after which n8n is killed. */
const ranBeforeKill = 15;
/** The number of events that are sent at once. */
const senders = 20;
const givesUpAfterMs = 10_000;
const triesAgainAfterMs = 1_000;

const lab = await startLab({ env: { N8N_CONCURRENCY_PRODUCTION_LIMIT: String(limit) } });
const counter = await startCounter();
after(async () => {
	await counter.stop();
	await lab.stop();
});

for (const acknowledge of ['onReceived', 'lastNode']) {
	void test(`${acknowledge}: ${events} events, killed in the middle, run once each`, async (context) => {
		await published(acknowledge, async ({ url }) => {
			const names = Array.from({ length: events }, (_, index) => `${acknowledge}-${index}`);
			const sending = sendAll(url, names);
			await eventually('some to run', () => timesOf(names).length >= ranBeforeKill || undefined);
			const inFlight = new Set(await killWhileFull());
			await lab.restartN8n();
			await listensAgain(url);
			const longestMs = await sending;
			// n8n's queue is first in, first out: all executions in it run before this one.
			const last = Array.from({ length: limit }, (_, index) => `after-${names[index]}`);
			await sendAll(url, last);
			await eventually('the last', () => timesOf(last).length === limit || undefined);
			const settled = names.filter((name) => !inFlight.has(name));
			context.diagnostic(
				`times run: ${told(settled)}; in flight at the kill: ${told([...inFlight])}; the longest wait for an answer, over a kill: ${Math.round(longestMs / 1000)} s`,
			);
			assert.deepEqual(new Set(timesOf(settled)), new Set([1]));
			assert.equal(timesOf(settled).length, settled.length);
			assert.equal(inFlight.size, limit);
			// With `lastNode` the service gets its answer at the end, so it sends an event again whose workflow was cut off.
			const most = acknowledge === 'lastNode' ? 2 : 1;
			assert.deepEqual(new Set(timesOf([...inFlight])), new Set([most]));
		});
	});
}

void test('onReceived: what was in the queue at a kill runs once, also if it is sent again while it runs', async () => {
	await published('onReceived', async ({ id, url }) => {
		const release = counter.hold();
		const queued = transfer(`queued-${id}`);
		const sent = [...(await fill(url, id)), send(url, queued)];
		await lastExecution(id, limit + 1);
		lab.n8n.kill();
		await Promise.all(sent);
		await lab.restartN8n();
		await listensAgain(url);
		await eventually('its turn', () => counter.waiting.has(`queued-${id}`) || undefined);
		const again = send(url, queued);
		// Time enough for a second execution to begin.
		await sleep(2_000);
		release();
		assert.ok([200, 503].includes((await again) ?? 0));
		await eventually('the answer that it ran', async () =>
			(await send(url, queued)) === 200 ? true : undefined,
		);
		assert.deepEqual(timesOf([`queued-${id}`]), [1]);
	});
});

void test('lastNode: what a person stopped in the queue does not run when it is sent again', async () => {
	await published('lastNode', async ({ id, url }) => {
		const release = counter.hold();
		const stopped = transfer(`stopped-${id}`);
		const running = await fill(url, id);
		const unanswered = send(url, stopped);
		await lab.api.stopExecution(await lastExecution(id, limit + 1));
		assert.equal(await unanswered, undefined);
		assert.equal(await send(url, stopped), 503);
		release();
		await Promise.all(running);
		assert.equal(await send(url, stopped), 503);
		assert.deepEqual(timesOf([`stopped-${id}`]), []);
	});
});

const published = async (
	acknowledge: string,
	use: (published: { id: string; url: string }) => Promise<void>,
): Promise<void> => await whilePublished(lab, eventWorkflow({ acknowledge }, counter.node), use);

/** Starts as many executions as n8n may run. @returns the answers to the senders */
async function fill(url: string, id: string): Promise<Array<Promise<number | undefined>>> {
	const names = Array.from({ length: limit }, (_, index) => `fills-${id}-${index}`);
	const sent = names.map((name) => send(url, transfer(name)));
	await eventually('as many to run as may', () => counter.waiting.size >= limit || undefined);
	return sent;
}

/** The id of the newest execution, once there are `count`. */
const lastExecution = async (workflowId: string, count: number): Promise<string> =>
	await eventually(`${count} executions`, async () => {
		const ids = await lab.api.executionIds(workflowId);
		return ids.length === count ? String(Math.max(...ids.map(Number))) : undefined;
	});

/** Kills n8n when it runs as many executions as it may. @returns the events of these */
async function killWhileFull(): Promise<string[]> {
	const release = counter.hold();
	await eventually('as many to run as may', () => counter.waiting.size === limit || undefined);
	const running = [...counter.waiting];
	lab.n8n.kill();
	release();
	return running;
}

const send = async (url: string, body: string): Promise<number | undefined> =>
	await post(url, body, lab.sandbox.webhookSecret, {}, givesUpAfterMs);

/** Sends each event until it is accepted. @returns the longest time from the first attempt to that, in ms */
async function sendAll(url: string, names: string[]): Promise<number> {
	const left = [...names];
	const lasted: number[] = [];
	const sender = async (): Promise<void> => {
		for (let name = left.shift(); name !== undefined; name = left.shift()) {
			const began = performance.now();
			const body = transfer(name);
			while (!(await isReady(url)) || (await send(url, body)) !== 200)
				await sleep(triesAgainAfterMs);
			lasted.push(performance.now() - began);
		}
	};
	await Promise.all(Array.from({ length: senders }, sender));
	return Math.max(...lasted);
}

const timesOf = (names: string[]): number[] =>
	names.flatMap((name) => counter.times.get(name) ?? []);

const told = (names: string[]): string => {
	const times = names.map((name) => counter.times.get(name) ?? 0);
	const counts = [...new Set(times)].toSorted();
	return counts
		.map((count) => `${count} × ${times.filter((time) => time === count).length}`)
		.join(', ');
};
