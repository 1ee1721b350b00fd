/** n8n is stopped while events come: what the trigger acknowledged runs, all else is to be sent again. In the real n8n. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
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

/** The trigger's answers, by the id of the event. Undefined: none. */
const answers = new Map<string, number | undefined>();

async function send(url: string, id: string): Promise<void> {
	answers.set(id, await post(url, transfer(id), lab.sandbox.webhookSecret));
}

/** As the service does: each event that was not acknowledged comes again, and at last all have run. */
async function sendRestAgain(url: string): Promise<void> {
	for (const [id, status] of answers) if (status !== 200) await send(url, id);
	assert.deepEqual(new Set(answers.values()), new Set([200]));
	await eventually('all to run', () => answers.size === counter.times.size || undefined);
	for (const id of answers.keys()) assert.equal(counter.times.get(id), 1, id);
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
		assert.deepEqual([...answers.values()], [200, 503]);
		release();
		await stopping;
		assert.deepEqual([...counter.times], [['before', 1]]);
		await lab.restartN8n();
		await listensAgain(url);
		await sendRestAgain(url);
	});
});
