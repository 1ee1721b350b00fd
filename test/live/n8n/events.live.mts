/** The trigger's record of events over restarts and kills, and its answers. In the real n8n. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { code } from '../../support/n8n/workflow.mts';
import {
	eventWorkflow,
	listensAgain,
	post,
	registeredUrl,
	startCounter,
	transfer,
	TRIGGER,
	whilePublished,
	withCredential,
} from '../../support/events.mts';
import { eventually, startLab } from '../../support/lab.mts';

const lab = await startLab({ sandbox: { timeFactor: 0.02 } });
const counter = await startCounter();
after(async () => {
	await counter.stop();
	await lab.stop();
});

const send = async (url: string, body: string): Promise<number | undefined> =>
	await post(url, body, lab.sandbox.webhookSecret);

async function restart(url: string, how: 'stop' | 'kill' = 'stop'): Promise<void> {
	if (how === 'stop') await lab.n8n.stop();
	else lab.n8n.kill();
	await lab.restartN8n();
	await listensAgain(url);
}

/** The number of executions of each event, once each event has one. */
async function ran(ids: string[]): Promise<number[]> {
	await eventually(
		`${ids.length} events to run`,
		() => (ids.every((id) => counter.times.has(id)) ? true : undefined),
		120_000,
	);
	return ids.map((id) => counter.times.get(id) ?? 0);
}

void test('after a restart the same event is recognised, also when the trigger was renamed and the workflow writes static data', async () => {
	const writes = code(
		'Write',
		"$getWorkflowStaticData('global').last = $json.data.id; return $input.all();",
	);
	const spaced = await lab.addCredential({ webhookSecret: `${lab.sandbox.webhookSecret} \n` });
	const workflow = eventWorkflow({}, writes, counter.node);
	const id = await lab.api.createWorkflow(withCredential(workflow, spaced));
	await lab.api.activate(id);
	const url = registeredUrl(lab);
	const paid = (data: string) => `{"event":"disburse.completed","data":${data}}`;
	assert.equal(await send(url, transfer('same')), 200);
	assert.equal(await send(url, paid('{"id":"order","toUserId":"u","txHash":"0x7"}')), 200);
	await ran(['same', 'order']);
	await lab.api.changeWorkflow(id, ({ nodes, connections }) => ({
		nodes: nodes.map((node) => (node.name === TRIGGER ? { ...node, name: 'Renamed' } : node)),
		connections: { Renamed: connections[TRIGGER], Write: connections.Write },
	}));
	await lab.api.activate(id);
	await restart(url);
	assert.equal(await send(url, transfer('same')), 200);
	assert.equal(await send(url, paid('{"txHash":"0x7","toUserId":"u","id":"order"}')), 200);
	assert.equal(await send(url, transfer('other')), 200);
	assert.deepEqual(await ran(['same', 'order', 'other']), [1, 1, 1]);
	await lab.api.deactivate(id);
});

void test('When the Workflow Finishes: an event whose execution failed or was cut off runs again; one whose execution succeeded or was stopped by a person does not', async () => {
	const workflow = eventWorkflow({ acknowledge: 'lastNode' }, counter.node);
	await whilePublished(lab, workflow, async ({ id, url }) => {
		counter.answer = (name) => (name === 'fails' ? 500 : 200);
		assert.equal(await send(url, transfer('succeeds')), 200);
		assert.equal(await send(url, transfer('fails')), 500);

		const release = counter.hold();
		const stopped = send(url, transfer('stopped'));
		await eventually('it to run', () => counter.waiting.has('stopped') || undefined);
		const [newest = ''] = await lab.api.executionIds(id);
		await lab.api.stopExecution(newest);
		assert.equal(await stopped, 500);
		// Until n8n has ended the execution, the event is answered as one that still runs.
		await eventually('the end of the execution', async () => {
			const status = await send(url, transfer('stopped'));
			if (status === 503) return undefined;
			assert.equal(status, 200);
			return true;
		});
		const cut = send(url, transfer('cut'));
		await eventually('it to run', () => counter.waiting.has('cut') || undefined);
		await restart(url, 'kill');
		assert.equal(await cut, undefined);
		counter.answer = () => 0;
		release();
		await eventually('nobody to wait', () => counter.waiting.size === 0 || undefined);
		counter.answer = () => 200;
		for (const name of ['succeeds', 'stopped', 'fails', 'cut'])
			for (let again = 0; again < 2; again++)
				assert.equal(await send(url, transfer(name)), 200, name);
		const names = ['succeeds', 'fails', 'cut', 'stopped'];
		assert.deepEqual(
			names.map((name) => counter.times.get(name)),
			[1, 1, 1, undefined],
		);
	});
});

/** Bodies of each kind, with the status of the answer if they are signed, and if they are forged. */
const huge = JSON.stringify({ event: 'x', data: 'x'.repeat(17 * 1024 * 1024) });
const bodies: Array<[type: string, signed: RegExp, forged: RegExp, body?: string]> = [
	...[
		...['application/json', 'text/plain', 'application/x-www-form-urlencoded'],
		...['application/octet-stream', 'multipart/mixed', ''],
	].map((type): (typeof bodies)[number] => [type, /^200$/, /^401$/]),
	['text/plain', /^400$/, /^401$/, '{"event":'],
	// n8n itself answers these, and may answer the first.
	['application/json; charset=utf-16', /^(200|422)$/, /^(401|422)$/],
	['application/json', /^422$/, /^422$/, '{"event":'],
	['application/json', /^500$/, /^500$/, huge],
	['multipart/form-data; boundary=x', /^4\d\d$/, /^4\d\d$/],
	['text/xml', /^4\d\d$/, /^4\d\d$/],
	// The trigger closes the connection of a body that it does not read to its end, maybe before its answer arrives.
	['application/octet-stream', /^(400|undefined)$/, /^(400|undefined)$/, huge],
];

void test('bodies of each kind are answered, and only signed events run', async () => {
	await whilePublished(lab, eventWorkflow({}, counter.node), async ({ url }) => {
		for (const [index, [type, signed, forged, given]] of bodies.entries()) {
			const id = `body-${index}`;
			const body = given ?? transfer(id);
			const headers = { 'content-type': type };
			const status = await post(url, body, lab.sandbox.webhookSecret, headers);
			assert.match(String(status), signed, `${type} ${id}`);
			if (status === 200) assert.deepEqual(await ran([id]), [1], type);
			assert.match(String(await post(url, body, 'forged', headers)), forged, `${type} ${id}`);
		}
	});
});
