/** Tests in the editor take nothing from a published workflow. In the real n8n. */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
	eventWorkflow,
	post,
	startCounter,
	transfer,
	TRIGGER,
	withCredential,
	type Counter,
} from '../../support/events.mts';
import { eventually, executionsOf, startLab, type Lab } from '../../support/lab.mts';
import type { WorkflowFile } from '../../../demo/api.mts';

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
afterEach(async () => await lab.api.unpublishAll());

const registeredUrl = (): string => lab.sandbox.books.webhookUrl() ?? '';

async function deliver(id: string): Promise<string> {
	const { deliveryId } = lab.sandbox.emit('transfer.completed', { id });
	return (await lab.sandbox.deliverySettled(deliveryId)).state;
}

const testUrlOf = (workflow: WorkflowFile): string =>
	`${lab.n8n.url}/webhook-test/${String(workflow.nodes[0]?.webhookId)}/webhook`;

for (const onOther of [false, true]) {
	void test(`a test of ${onOther ? 'another' : 'the published'} workflow gets what is sent to its test URL, and nothing else`, async () => {
		const published = eventWorkflow({}, counter.node);
		const production = await lab.add(published);
		await lab.api.activate(production);
		const url = registeredUrl();
		const tested = onOther ? eventWorkflow() : published;
		const testId = onOther ? await lab.add(tested) : production;
		await lab.api.listenForTestEvent(testId, TRIGGER);
		assert.equal(await deliver(`during-${onOther}`), 'delivered');
		const byHand = transfer(`by-hand-${onOther}`);
		assert.equal(await post(testUrlOf(tested), byHand, 'forged'), 401);
		assert.equal(await post(testUrlOf(tested), byHand, lab.sandbox.webhookSecret), 200);
		assert.equal(await deliver(`after-${onOther}`), 'delivered');
		const executions = [
			...(await executionsOf(lab, production, onOther ? 2 : 3)),
			...(onOther ? await executionsOf(lab, testId, 1) : []),
		];
		const seen = executions.map(({ mode, nodes }) => {
			const data = nodes[TRIGGER]?.[0]?.outputs[0]?.[0]?.data;
			return `${mode} ${String((data as { id?: unknown } | undefined)?.id)}`;
		});
		assert.deepEqual(seen.toSorted(), [
			`manual by-hand-${onOther}`,
			`webhook after-${onOther}`,
			`webhook during-${onOther}`,
		]);
		const hints = executions.flatMap(({ nodes }) => nodes[TRIGGER]?.[0]?.hints ?? []);
		assert.match(hints.join(), /The test has ended/);
		assert.equal(registeredUrl(), url);
	});
}

void test('without a published workflow a test gets the event at its own URL', async () => {
	const id = await lab.add(eventWorkflow());
	await lab.api.listenForTestEvent(id, TRIGGER);
	assert.match(registeredUrl(), /\/webhook-test\//);
	assert.equal(await deliver('alone'), 'delivered');
	const [execution] = await executionsOf(lab, id, 1);
	assert.equal(execution?.mode, 'manual');
	assert.deepEqual(execution?.nodes[TRIGGER]?.[0]?.outputs[0]?.[0]?.data, { id: 'alone' });
});

void test('500 events while tests begin, end, time out and fail, and the trigger is changed: each runs once', async (context) => {
	const production = await lab.add(eventWorkflow({}, counter.node));
	await lab.api.activate(production);
	const url = registeredUrl();
	const before = lab.sandbox.books.webhookUrlHistory().length;
	const other = await lab.add(eventWorkflow());
	const timesOut = await lab.add(eventWorkflow());
	const broken = await lab.addCredential({ webhookSecret: '' });
	const failing = await lab.api.createWorkflow(withCredential(eventWorkflow(), broken));
	// n8n ends it after 2 minutes.
	await lab.api.listenForTestEvent(timesOut, TRIGGER);
	const sent = Array.from({ length: 500 }, (_, index) => `tested-${index}`);
	const delivered: Array<Promise<string>> = [];
	const sending = (async () => {
		for (const id of sent) {
			delivered.push(deliver(id));
			await sleep(260);
		}
	})();
	let isOver = false;
	void sending.then(() => (isOver = true));
	let tests = 0;
	for (let round = 0; !isOver; round++) {
		for (const id of [other, production]) {
			await lab.api.listenForTestEvent(id, TRIGGER);
			await lab.api.listenForTestEvent(id, TRIGGER);
			tests += 2;
			if (round % 2 === 0) await lab.api.stopListening(id);
		}
		await assert.rejects(lab.api.listenForTestEvent(failing, TRIGGER), /no Webhook Secret/);
		if (round % 10 === 0) {
			await lab.api.changeWorkflow(production, ({ nodes, connections }) => ({
				nodes: nodes.map((node) =>
					node.name === TRIGGER
						? { ...node, parameters: { acknowledge: round % 20 === 0 ? 'lastNode' : 'onReceived' } }
						: node,
				),
				connections,
			}));
			await lab.api.activate(production);
		}
	}
	assert.deepEqual(new Set(await Promise.all(delivered)), new Set(['delivered']));
	await eventually('all to run', () =>
		sent.every((id) => counter.times.has(id)) ? true : undefined,
	);
	assert.deepEqual(new Set(sent.map((id) => counter.times.get(id))), new Set([1]));
	const urls = lab.sandbox.books.webhookUrlHistory().slice(before);
	assert.deepEqual(new Set(urls), new Set([url]));
	context.diagnostic(
		`${tests} tests begun; the URL was set ${urls.length} times, always to the same`,
	);
});
