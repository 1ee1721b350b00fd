/** n8n with a limit on executions is killed while events wait for their turn. In the real n8n. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
	eventWorkflow,
	idsOf,
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

/** The events to which the sender has the response 200. */
const accepted = new Set<string>();

const lab = await startLab({ env: { N8N_CONCURRENCY_PRODUCTION_LIMIT: String(limit) } });
const counter = await startCounter();
after(async () => {
	await counter.stop();
	await lab.stop();
});

for (const acknowledge of ['onReceived', 'lastNode']) {
	void test(`${acknowledge}: ${events} events, killed in the middle, run once each`, async () => {
		await published(acknowledge, async ({ url }) => {
			const names = idsOf(acknowledge, events);
			const sending = sendAll(url, names);
			await eventually('some to run', () => timesOf(names).length >= ranBeforeKill || undefined);
			const inFlight = new Set(await killWhileFull(names));
			await lab.restartN8n();
			await listensAgain(url);
			await sending;
			// n8n's queue is first in, first out: all executions in it run before this one.
			const last = idsOf(`after-${acknowledge}`, limit);
			await sendAll(url, last);
			await eventually('the last', () => timesOf(last).length === limit || undefined);
			const settled = names.filter((name) => !inFlight.has(name));
			assert.deepEqual(new Set(timesOf(settled)), new Set([1]));
			assert.equal(timesOf(settled).length, settled.length);
			assert.equal(inFlight.size, limit);
			// With `lastNode` the service gets its response at the end, so it sends an event again whose workflow
			// was cut off.
			const most = acknowledge === 'lastNode' ? 2 : 1;
			assert.deepEqual(new Set(timesOf([...inFlight])), new Set([most]));
		});
	});
}

void test('lastNode: an event whose execution a person stopped in the queue does not run when it is sent again', async () => {
	await published('lastNode', async ({ id, url }) => {
		const release = counter.hold();
		const stopped = transfer('stopped');
		const running = idsOf('fills', limit).map((name) => send(url, transfer(name)));
		await eventually('as many to run as may', () => counter.waiting.size === limit || undefined);
		const noResponse = send(url, stopped);
		const queued = await eventually('the execution in the queue', async () => {
			const ids = await lab.api.executionIds(id);
			return ids.length > limit ? String(Math.max(...ids.map(Number))) : undefined;
		});
		await lab.api.stopExecution(queued);
		assert.equal(await noResponse, undefined);
		assert.equal(await send(url, stopped), 503);
		release();
		await Promise.all(running);
		assert.equal(await send(url, stopped), 503);
		assert.deepEqual(timesOf(['stopped']), []);
	});
});

const published = async (
	acknowledge: string,
	use: (published: { id: string; url: string }) => Promise<void>,
): Promise<void> => await whilePublished(lab, eventWorkflow({ acknowledge }, counter.node), use);

/**
 * Kills n8n when it runs as many executions as it may, and the sender has the response to each event that ran: with
 * `lastNode` an event whose response the crash cut off is sent again, although it ran.
 *
 * @returns the events of the executions that ran
 */
async function killWhileFull(names: string[]): Promise<string[]> {
	const release = counter.hold();
	await eventually('as many to run as may', () => counter.waiting.size === limit || undefined);
	await eventually(
		'the responses to those that ran',
		() => names.every((name) => accepted.has(name) || !counter.times.has(name)) || undefined,
	);
	const running = [...counter.waiting];
	lab.n8n.kill();
	release();
	return running;
}

const send = async (url: string, body: string): Promise<number | undefined> =>
	await post(url, body, lab.sandbox.webhookSecret, {}, givesUpAfterMs);

/** Sends each event until it is accepted. */
async function sendAll(url: string, names: string[]): Promise<void> {
	const left = [...names];
	const sender = async (): Promise<void> => {
		for (let name = left.shift(); name !== undefined; name = left.shift()) {
			const body = transfer(name);
			while (!(await isReady(url)) || (await send(url, body)) !== 200)
				await sleep(triesAgainAfterMs);
			accepted.add(name);
		}
	};
	await Promise.all(Array.from({ length: senders }, sender));
}

const timesOf = (names: string[]): number[] =>
	names.flatMap((name) => counter.times.get(name) ?? []);
