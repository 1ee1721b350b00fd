/** The pay gate in queue mode: five workflows, a copy of one, an agent and an MCP client pay the same references at once, on two workers. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import fastify from 'fastify';
import pg from 'pg';
import { z } from 'zod';
import { WorkflowFile } from '../../../demo/api.mts';
import { readExample } from '../../../demo/examples.mts';
import { eventually, timesPaid } from '../../support/lab.mts';
import { startQueueLab, type QueueLab } from '../../support/queue/queue-lab.mts';
import {
	callOf,
	callOfGate,
	counts,
	gateWorkflow,
	node,
	oneAfterTheOther,
	openOf,
	payrollOf,
	settleByPerson,
	toldByNode,
	toldItems,
	unpaid,
	type Payment,
	type ToldItem,
} from '../../support/gate/gate-lab.mts';
import { logins, schemaFile, setRules } from '../../support/gate/server.mts';

let lab: QueueLab;
let superuser: pg.Client;
let gateId: string;

before(async () => {
	lab = await startQueueLab();
	const { host, port, user } = lab.postgres;
	const admin = new pg.Client({ host, port, user, database: 'n8n' });
	await admin.connect();
	await admin.query('create database gate');
	await admin.end();
	superuser = new pg.Client({ host, port, user, database: 'gate' });
	await superuser.connect();
	await superuser.query(await readFile(schemaFile, 'utf8'));
	await superuser.query(
		`create role ${logins.gate} login in role etb_wallet_gate; grant usage on schema etb_wallet to ${logins.gate}`,
	);
	await setRules(superuser, 'main', {});
	const postgres = {
		id: await lab.api.createCredential('gate', 'postgres', {
			...{ host, port, database: 'gate', user: logins.gate },
			...{ password: 'not-checked', ssl: 'disable' },
		}),
		name: 'gate',
	};
	gateId = await lab.publish(await gateWorkflow(postgres, { id: '', name: '' }));
});
after(async () => {
	await superuser?.end();
	await lab?.stop();
});

/** A workflow that pays the rows that are posted to `webhook/<path>` through the gate, or with another call. */
const webhookWorkflow = (path: string, pay = callOfGate(gateId)): WorkflowFile => {
	const webhook = node('Webhook', 'n8n-nodes-base.webhook', 2, {
		...{ path, httpMethod: 'POST', responseMode: 'onReceived' },
		options: {},
	});
	const split = node('Rows', 'n8n-nodes-base.splitOut', 1, {
		fieldToSplitOut: 'body.rows',
		options: {},
	});
	return WorkflowFile.parse({
		name: `Caller ${path}`,
		nodes: [{ ...webhook, webhookId: randomUUID() }, split, pay],
		connections: oneAfterTheOther('Webhook', 'Rows', 'Pay'),
		settings: { executionOrder: 'v1' },
	});
};

async function post(path: string, body: object): Promise<Response> {
	const response = await fetch(`${lab.publicUrl}webhook/${path}`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify(body),
	});
	assert.equal(response.status, 200);
	return response;
}

/** The gate as a tool, with the arguments that a model fills in. */
const TOOL = 'Pay_through_the_gate';
const gateTool = () => {
	const argument = (name: string) => `={{ $fromAI('${name}', 'its ${name}', 'string') }}`;
	const fields = ['reference', 'toUserId', 'amountEtb', 'requestedBy'];
	return node(TOOL, '@n8n/n8n-nodes-langchain.toolWorkflow', 2.2, {
		description: 'Pays one person',
		workflowId: { __rl: true, mode: 'id', value: gateId },
		workflowInputs: {
			mappingMode: 'defineBelow',
			value: Object.fromEntries(fields.map((name) => [name, argument(name)])),
			matchingColumns: [],
			schema: fields.map((id) => ({
				...{ id, displayName: id, required: false, defaultMatch: false },
				...{ display: true, canBeUsedToMatch: true, type: 'string' },
			})),
		},
	});
};

const argumentsOf = ({ reference, toUserId, amountEtb }: Payment, requestedBy: string) => ({
	...{ reference, toUserId, amountEtb: String(amountEtb), requestedBy },
});

/** A chat model that calls the tool once, and repeats its answer. */
async function startModel(payment: Payment): Promise<{ url: string; close(): Promise<void> }> {
	const Completion = z.object({
		messages: z.array(z.object({ role: z.string(), content: z.unknown() })),
	});
	const server = fastify();
	server.post('/v1/chat/completions', async ({ body }) => {
		const { messages } = Completion.parse(body);
		const answer = messages.find(({ role }) => role === 'tool');
		const call = {
			id: 'call-1',
			type: 'function',
			function: { name: TOOL, arguments: JSON.stringify(argumentsOf(payment, 'agent')) },
		};
		const message =
			answer === undefined
				? { role: 'assistant', content: null, tool_calls: [call] }
				: { role: 'assistant', content: String(answer.content) };
		return await Promise.resolve({
			...{ id: 'completion', object: 'chat.completion', created: 0, model: 'played' },
			choices: [{ index: 0, finish_reason: answer ? 'stop' : 'tool_calls', message }],
			usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
		});
	});
	const address = await server.listen({ port: 0, host: '127.0.0.1' });
	return { url: `${address}/v1`, close: async () => await server.close() };
}

/** An agent that is asked through `webhook/agent`, and answers with what its tool said. */
async function publishAgent(modelUrl: string): Promise<void> {
	const openAi = {
		id: await lab.api.createCredential('model', 'openAiApi', { apiKey: 'none', url: modelUrl }),
		name: 'model',
	};
	const webhook = node('Webhook', 'n8n-nodes-base.webhook', 2, {
		...{ path: 'agent', httpMethod: 'POST', responseMode: 'lastNode' },
		options: {},
	});
	const agent = node('Agent', '@n8n/n8n-nodes-langchain.agent', 3, {
		...{ promptType: 'define', text: '={{ $json.body.question }}', options: {} },
	});
	const model = node('Model', '@n8n/n8n-nodes-langchain.lmChatOpenAi', 1.2, {
		model: { __rl: true, mode: 'id', value: 'played' },
		options: {},
	});
	await lab.publish(
		WorkflowFile.parse({
			name: 'Agent',
			nodes: [
				{ ...webhook, webhookId: randomUUID() },
				agent,
				{ ...model, credentials: { openAiApi: openAi } },
				gateTool(),
			],
			connections: {
				...oneAfterTheOther('Webhook', 'Agent'),
				Model: { ai_languageModel: [[{ node: 'Agent', type: 'ai_languageModel', index: 0 }]] },
				[TOOL]: { ai_tool: [[{ node: 'Agent', type: 'ai_tool', index: 0 }]] },
			},
			settings: { executionOrder: 'v1' },
		}),
	);
}

/** Calls the tool as an MCP client does, over streamable HTTP; resolves to what it said. */
async function callByMcp(payment: Payment): Promise<string> {
	const trigger = node('MCP', '@n8n/n8n-nodes-langchain.mcpTrigger', 2, { path: 'pay' });
	await lab.publish(
		WorkflowFile.parse({
			name: 'MCP',
			nodes: [{ ...trigger, webhookId: randomUUID() }, gateTool()],
			connections: { [TOOL]: { ai_tool: [[{ node: 'MCP', type: 'ai_tool', index: 0 }]] } },
			settings: { executionOrder: 'v1' },
		}),
	);
	// A session belongs to the process that began it.
	const url = `${lab.webhooks[0].url}mcp/pay`;
	let session: string | undefined;
	const send = async (message: object): Promise<string> => {
		const response = await fetch(url, {
			method: 'POST',
			headers: {
				'content-type': 'application/json',
				accept: 'application/json, text/event-stream',
				...(session !== undefined && { 'mcp-session-id': session }),
			},
			body: JSON.stringify({ jsonrpc: '2.0', ...message }),
		});
		session ??= response.headers.get('mcp-session-id') ?? undefined;
		const text = await response.text();
		assert.ok(response.ok, text);
		return text;
	};
	await send({
		id: 1,
		method: 'initialize',
		params: {
			protocolVersion: '2025-03-26',
			capabilities: {},
			clientInfo: { name: 'test', version: '1' },
		},
	});
	await send({ method: 'notifications/initialized' });
	return await send({
		id: 2,
		method: 'tools/call',
		params: { name: TOOL, arguments: argumentsOf(payment, 'mcp') },
	});
}

const inFlight = (told: ToldItem[]) =>
	told.flatMap(({ code }) => (code === 'inFlight' ? [code] : []));

const outcomeIn = (text: string): string | undefined =>
	/outcome[\\"]+:\s*[\\"]+(\w+)/.exec(text)?.[1];

test('five workflows, an imported copy of one, an agent and an MCP client pay the same 1,000 references at once', async (context) => {
	const payments = payrollOf(lab.sandbox, 'all', 1_000);
	const [ofAgent, ofMcp] = [payments[400], payments[990]];
	assert.ok(ofAgent && ofMcp);
	const paths = ['one', 'two', 'three', 'four', 'five', 'copy'];
	const callers: string[] = [];
	for (const path of paths) callers.push(await lab.publish(webhookWorkflow(path)));
	const model = await startModel(ofAgent);
	context.after(async () => await model.close());
	await publishAgent(model.url);

	const [agent, mcp] = await Promise.all([
		post('agent', { question: 'Pay, please.' }).then(async (response) => await response.text()),
		callByMcp(ofMcp),
		...paths.map(async (path) => await post(path, { rows: payments })),
	]);
	const told: ToldItem[][] = [];
	const workers = new Set<number | undefined>();
	for (const caller of callers) {
		const [execution] = await lab.executions(caller, 1);
		assert.ok(execution);
		assert.equal(execution.status, 'success');
		workers.add(await lab.workerOf(execution.id));
		told.push(toldItems.parse(execution.itemsOf('Pay')));
	}
	context.diagnostic(
		`${told.map((items) => JSON.stringify(counts(items))).join(' ')} agent ${outcomeIn(agent)} MCP ${outcomeIn(mcp)}`,
	);
	assert.equal(workers.size, 2, 'both workers took part');
	assert.deepEqual(new Set(timesPaid(lab.sandbox, payments)), new Set([1]));
	for (const items of told) {
		assert.equal(items.length, payments.length);
		// What another one was sending is told so, and nobody has to settle it.
		assert.deepEqual(
			new Set(unpaid(items).map(({ code }) => code ?? '')),
			new Set(inFlight(items)),
		);
	}
	const ofTools = [agent, mcp].map(outcomeIn);
	const all = [...told.flat().map(({ outcome }) => outcome), ...ofTools];
	assert.equal(all.filter((outcome) => outcome === 'paid').length, payments.length);
	assert.ok(ofTools.every((outcome) => outcome && outcome !== 'notPaid'));
	assert.deepEqual(await openOf(superuser, payments), []);
});

test('a worker is killed in the middle: nobody is paid twice, what it was sending is not free, and the rest is paid', async (context) => {
	const payments = payrollOf(lab.sandbox, 'killed', 300);
	const caller = await lab.publish(webhookWorkflow('killed'));
	await post('killed', { rows: payments.slice(0, 100) });
	await lab.executions(caller, 1);
	// From now on no answer comes, so a whole batch is being sent when the worker ends.
	lab.sandbox.setLatency(60_000);
	await post('killed', { rows: payments });
	const open = async () => await openOf(superuser, payments);
	await eventually('a batch without answers', async () =>
		(await open()).length === 50 ? true : undefined,
	);
	const [running] = await lab.executionsNow(caller, 'running');
	const worker = running && (await lab.workerOf(running.id));
	assert.ok(worker !== undefined);
	await lab.workers[worker]?.kill();
	lab.sandbox.setLatency(0);
	assert.equal((await open()).length, 50);
	await lab.workers[worker]?.start();

	const next = await lab.publish(webhookWorkflow('next'));
	const pay = async (count: number) => {
		const before = timesPaid(lab.sandbox, payments);
		await post('next', { rows: payments });
		const execution = (await lab.executions(next, count)).at(-1);
		const told = toldItems.parse(execution?.itemsOf('Pay'));
		assert.equal(told.length, payments.length);
		return { before, told };
	};
	const { before, told } = await pay(1);
	context.diagnostic(`then told ${JSON.stringify(counts(told))}`);
	for (const [index, { outcome }] of told.entries())
		assert.ok(
			(before[index] === 1 ? ['alreadyPaid', 'unknown'] : ['paid', 'unknown']).includes(outcome),
			`${index} ${outcome}`,
		);
	assert.equal(inFlight(told).length, 50);
	// After its lease a person says of each what the service says.
	await settleByPerson(superuser, lab.sandbox, payments);
	await pay(2);
	assert.deepEqual(new Set(timesPaid(lab.sandbox, payments)), new Set([1]));
});

test('one workflow that pays, without the gate: two callers at once, a worker that is killed, a caller that is repeated', async (context) => {
	const paysId = await lab.publish(await readExample('one-workflow-that-pays.json'));
	const fields = {
		reference: '={{ $json.reference }}',
		toUserId: '={{ $json.toUserId }}',
		amountEtb: '={{ $json.amountEtb }}',
	};
	const paths = ['first-of-two', 'second-of-two'];
	const callers: string[] = [];
	for (const path of paths)
		callers.push(await lab.publish(webhookWorkflow(path, callOf('Pay', paysId, fields))));
	const toldIn = async (caller: string, count: number) =>
		toldByNode((await lab.executions(caller, count)).at(-1)?.itemsOf('Pay') ?? []);

	const payments = payrollOf(lab.sandbox, 'both', 100);
	await Promise.all(paths.map(async (path) => await post(path, { rows: payments })));
	const both = [await toldIn(callers[0] ?? '', 1), await toldIn(callers[1] ?? '', 1)];
	context.diagnostic(both.map((told) => JSON.stringify(counts(told))).join(' '));
	assert.deepEqual(new Set(timesPaid(lab.sandbox, payments)), new Set([1]));
	assert.equal(both.flat().filter(({ outcome }) => outcome === 'paid').length, 100);
	await post(paths[0] ?? '', { rows: payments });
	assert.deepEqual(counts(await toldIn(callers[0] ?? '', 2)), { alreadyPaid: 100 });

	// No answer comes, so a whole window is being sent when the worker ends.
	const others = payrollOf(lab.sandbox, 'cut off', 60);
	lab.sandbox.setLatency(60_000);
	const before = lab.sandbox.requests.length;
	await post(paths[1] ?? '', { rows: others });
	await eventually('requests', () =>
		lab.sandbox.requests.length >= before + 10 ? true : undefined,
	);
	const [running] = await lab.executionsNow(callers[1] ?? '', 'running');
	const worker = running && (await lab.workerOf(running.id));
	assert.ok(worker !== undefined);
	await lab.workers[worker]?.kill();
	lab.sandbox.setLatency(0);
	await lab.workers[worker]?.start();
	await post(paths[0] ?? '', { rows: others });
	const told = await toldIn(callers[0] ?? '', 3);
	context.diagnostic(`after the kill ${JSON.stringify(counts(told))}`);
	const times = timesPaid(lab.sandbox, others);
	assert.ok(times.every((count) => count <= 1));
	for (const [index, { outcome }] of told.entries())
		assert.ok(outcome === 'unknown' || (outcome !== 'notPaid' && times[index] === 1), outcome);
	assert.ok(told.filter(({ outcome }) => outcome === 'unknown').length <= 20);
});
