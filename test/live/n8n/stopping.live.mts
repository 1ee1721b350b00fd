/**
 * n8n is stopped while events come: what the trigger acknowledged runs, all else is to be sent again. In the real
 * n8n.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { node } from '../../support/n8n/workflow.mts';
import {
	eventWorkflow,
	listensAgain,
	post,
	startCounter,
	transfer,
	whilePublished,
} from '../../support/events.mts';
import { eventually, startLab } from '../../support/lab.mts';

const lab = await startLab();
const counter = await startCounter();
after(async () => {
	await counter.stop();
	await lab.stop();
});

/** The trigger's responses, by the id of the event. Undefined: none. */
const responses = new Map<string, number | undefined>();

async function send(url: string, id: string): Promise<void> {
	responses.set(id, await post(url, transfer(id), lab.sandbox.webhookSecret));
}

const acknowledged = (): string[] =>
	[...responses].flatMap(([id, status]) => (status === 200 ? [id] : []));

/** As the service does: each event that was not acknowledged comes again, and at last all have run. */
async function sendRestAgain(url: string): Promise<void> {
	for (const [id, status] of responses) if (status !== 200) await send(url, id);
	assert.deepEqual(new Set(responses.values()), new Set([200]));
	await eventually('all to run', () => responses.size === counter.times.size || undefined);
	for (const id of responses.keys()) assert.equal(counter.times.get(id), 1, id);
}

void test('while n8n ends, events are answered 503, and executions that run go on to their end', async () => {
	await whilePublished(lab, eventWorkflow({}, counter.node), async ({ url }) => {
		const release = counter.hold();
		await send(url, 'before');
		await eventually('it to run', () => counter.waiting.has('before') || undefined);
		const stopping = lab.n8n.stop();
		await eventually('n8n to end', async () =>
			(await post(url, '{}', 'nobody')) === 503 ? true : undefined,
		);
		await send(url, 'late');
		assert.deepEqual([...responses.values()], [200, 503]);
		release();
		await stopping;
		assert.deepEqual([...counter.times], [['before', 1]]);
		await lab.restartN8n();
		await listensAgain(url);
		await sendRestAgain(url);
	});
});

void test('n8n is stopped under steady events: each acknowledged event runs, and each event runs once', async (context) => {
	const wait = node('Wait', 'wait', { amount: 0.3, unit: 'seconds' }, { typeVersion: 1.1 });
	await whilePublished(lab, eventWorkflow({}, wait, counter.node), async ({ url }) => {
		const sending: Array<Promise<void>> = [];
		let isStopped = false;
		// n8n has 30 s for what it has begun: so on a busy machine no more comes than it can do.
		const isBehind = (): boolean => acknowledged().length - counter.times.size > 30;
		const steady = (async () => {
			for (let index = 0; !isStopped; index++) {
				sending.push(send(url, `steady-${index}`));
				do await sleep(60);
				while (isBehind() && !isStopped);
			}
		})();
		await eventually('events to run', () => counter.times.has('steady-30') || undefined);
		await lab.n8n.stop();
		isStopped = true;
		await steady;
		await Promise.all(sending);
		context.diagnostic(`${responses.size} events, ${acknowledged().length} acknowledged`);
		assert.deepEqual(
			acknowledged().filter((id) => !counter.times.has(id)),
			[],
		);
		await lab.restartN8n();
		await listensAgain(url);
		await sendRestAgain(url);
	});
});
