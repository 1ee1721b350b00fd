/**
 * Only the mode Pay pays: settling and evaluations send nothing, for each way in which n8n runs the node. In the
 * real n8n.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { serve } from '../../support/engine/served.mts';
import { eventually, executionsOf, setFields, startLab, timesPaid } from '../../support/lab.mts';
import type { Execution, WorkflowFile } from '../../../demo/n8n-api.mts';
import { lacks } from '../../support/n8n/version-differences.mts';
import {
	PAY,
	ROWS,
	START,
	callOf,
	chain,
	code,
	list,
	node,
	payNode,
	start,
	webhook,
	workflow,
	type NodeFile,
} from '../../support/n8n/workflow.mts';
import { codesOf, faultFor, itemsOf, payroll, rowAt, type Row } from '../../support/payroll.mts';

/** The invented response of the disburse endpoint, in the format that n8n's evaluation asks a model for. */
const inventedResponse = JSON.stringify({
	id: 'm',
	type: 'message',
	role: 'assistant',
	model: 'claude-sonnet-4-6',
	stop_reason: 'end_turn',
	content: [{ type: 'text', text: '{"success":true,"amountEtb":1,"txHash":"0xinvented"}' }],
	usage: { input_tokens: 1, output_tokens: 1 },
});

const inventor = await serve(
	createServer((request, response) => {
		const headers = { 'content-type': 'application/json' };
		request.resume();
		request.once('end', () => response.writeHead(200, headers).end(inventedResponse));
	}),
);
const lab = await startLab({
	env: {
		N8N_INSTANCE_AI_MODEL: 'anthropic/claude-sonnet-4-6',
		N8N_INSTANCE_AI_MODEL_URL: `${inventor.url}/v1`,
		N8N_INSTANCE_AI_MODEL_API_KEY: 'none',
	},
});
after(async () => {
	await lab.stop();
	await inventor.close();
});

interface Flow {
	parameters?: object;
	settings?: object;
	/** Nodes besides the trigger, the rows and the node that pays. */
	nodes?: NodeFile[];
	connections?: WorkflowFile['connections'];
}

/** A workflow that pays the rows when a person starts it. */
async function add(name: string, rows: Row[], flow: Flow = {}): Promise<string> {
	const { parameters, settings, nodes = [], connections = chain(START, ROWS, PAY) } = flow;
	const pays = payNode(parameters, { onError: 'continueRegularOutput', ...settings });
	return await lab.add(workflow(name, [start(), list(rows), pays, ...nodes], connections));
}

const run = async (id: string): Promise<Execution> =>
	await lab.api.endedExecution(await lab.api.run(id, START), 120_000);

/**
 * A workflow in which the payment of the first row is unknown, and was not made, and its node is left on Settle
 * Unknown.
 */
async function leftOnSettling(name: string, rows: Row[], flow: Flow): Promise<string> {
	const { toUserId, reference } = rowAt(rows, 0);
	const id = await add(name, rows, flow);
	faultFor(lab, new Map([[toUserId, 'error500BeforePaying']]));
	await run(id);
	lab.sandbox.faults.clear();
	await setFields(lab.api, id, PAY, { mode: 'settle', wasNotPaid: reference });
	return id;
}

/** Fails when the work sends a request to the service. */
async function sendingNothing(work: () => Promise<void>): Promise<void> {
	const requests = lab.sandbox.requestCount();
	await work();
	assert.equal(lab.sandbox.requestCount(), requests);
}

/** Fails unless the first payment is unknown still, so that a run that pays sends nothing. */
async function nothingWasSettled(id: string, rows: Row[]): Promise<void> {
	await setFields(lab.api, id, PAY, { mode: 'pay' });
	const connections = chain(START, ROWS, PAY);
	await lab.api.changeWorkflow(id, () => ({ connections }));
	await sendingNothing(async () => void (await run(id)));
	assert.deepEqual(timesPaid(lab.sandbox, rows), [0, 1]);
}

const CALLED = 'Called';
/** The beginning of a workflow that is called with these fields. */
const called = (...names: string[]): NodeFile =>
	node(
		CALLED,
		'executeWorkflowTrigger',
		{ workflowInputs: { values: names.map((name) => ({ name, type: 'any' })) } },
		{ typeVersion: 1.1 },
	);

/** A workflow that calls another one with these items. */
async function callerOf(id: string, items: object[], settings: object = {}): Promise<string> {
	const names = Object.keys(items[0] ?? {});
	const fields = Object.fromEntries(names.map((name) => [name, `={{ $json.${name} }}`]));
	const call = callOf('Call', id, fields, settings);
	return await lab.add(workflow('caller', [start(), list(items), call]));
}

const retries = { retryOnFail: true, maxTries: 3, waitBetweenTries: 100 };
const fieldsOf = (rows: Row[]): string[] => Object.keys(rowAt(rows, 0));

/** The error of a run whose node was left on Settle Unknown. */
const leftOn = /Mode is on Settle Unknown/;

void test('a fixed Settle Unknown in a sub-workflow, also under Retry On Fail, and after a Wait, is refused, and nothing changes', async () => {
	const rows = payroll(lab, 'left-on-inside', 2);
	const id = await leftOnSettling('left-on-inside', rows, {
		settings: { onError: 'stopWorkflow' },
		nodes: [
			called(...fieldsOf(rows)),
			code('Address', 'return [{ json: { address: $execution.resumeUrl } }]'),
			node('Wait', 'wait', { resume: 'webhook', options: {} }, { typeVersion: 1.1 }),
		],
		connections: { ...chain(START, ROWS, PAY), ...chain(CALLED, PAY) },
	});
	const caller = await callerOf(id, rows, retries);
	await sendingNothing(async () => {
		await lab.api.activate(id);
		assert.match((await run(caller)).error ?? '', leftOn);
		await lab.api.deactivate(id);

		await lab.api.changeWorkflow(id, () => ({ connections: chain(START, 'Address', 'Wait', PAY) }));
		const waiting = await lab.api.waitingExecution(await lab.api.run(id, START));
		await setFields(lab.api, id, PAY, { mode: 'pay' });
		const [address] = itemsOf(waiting, 'Address').map((item) => String(item.address));
		assert.equal((await fetch(address ?? '')).status, 200);
		const ended = await lab.api.endedExecution(waiting.id);
		assert.equal(ended.mode, 'manual');
		assert.match(ended.error ?? '', leftOn);
	});
	await nothingWasSettled(id, rows);
});

void test('on a schedule, by a webhook and by Retry execution a fixed Settle Unknown is refused loudly, and nothing changes', async (context) => {
	const rows = payroll(lab, 'left-on', 2);
	const rule = { interval: [{ field: 'seconds', secondsInterval: 1 }] };
	const schedule = node('Every second', 'scheduleTrigger', { rule }, { typeVersion: 1.2 });
	const hook = webhook('left-on');
	const id = await leftOnSettling('left-on', rows, {
		nodes: [schedule, hook],
		settings: { onError: 'stopWorkflow' },
		connections: {
			...chain(START, ROWS, PAY),
			...chain(schedule.name, ROWS),
			...chain(hook.name, ROWS),
		},
	});
	await sendingNothing(async () => {
		await lab.api.activate(id);
		await eventually('the webhook', async () => {
			const response = await fetch(`${lab.n8n.url}/webhook/left-on`, { method: 'POST' });
			await response.text();
			return response.ok ? true : undefined;
		});
		const started = await eventually('both kinds of executions', async () => {
			const executions = (await executionsOf(lab, id, 3)).filter(({ mode }) => mode !== 'manual');
			return new Set(executions.map(({ mode }) => mode)).size === 2 ? executions : undefined;
		});
		await lab.api.deactivate(id);
		for (const { error } of started) assert.match(error ?? '', leftOn);
		const last = started.findLast(({ mode }) => mode === 'trigger');
		const retried = await lab.api.endedExecution(await lab.api.retryExecution(last?.id ?? ''));
		context.diagnostic([...started, retried].map(({ mode }) => mode).join(' '));
		assert.equal(retried.mode, 'retry');
		assert.match(retried.error ?? '', /Mode is on Settle Unknown/);
	});
	await nothingWasSettled(id, rows);
});

void test('Retry execution of what called the workflow that settled by an expression settles nothing', async () => {
	const rows = payroll(lab, 'called-again', 1);
	const row = rowAt(rows, 0);
	const id = await add('called-again', rows, {
		nodes: [
			called(...fieldsOf(rows), 'mode'),
			code('Fails', "if ($json.mode === 'settle') throw new Error('It fails'); return $input.item"),
		],
		settings: { onError: 'stopWorkflow' },
		parameters: { mode: '={{ $json.mode }}', wasNotPaid: `={{ "${row.reference}" }}` },
		connections: chain(CALLED, PAY, 'Fails'),
	});
	await lab.api.activate(id);
	const pays = await callerOf(id, [{ ...row, mode: 'pay' }]);
	const settles = await callerOf(id, [{ ...row, mode: 'settle' }]);
	const lose = async () => {
		lab.sandbox.faults.next('POST /disburse', 'error500BeforePaying');
		await run(pays);
	};
	await lose();
	const { id: failed, error } = await run(settles);
	assert.match(error ?? '', /It fails/);
	await lose();
	await sendingNothing(async () => {
		const retried = await lab.api.endedExecution(await lab.api.retryExecution(failed));
		// Older n8n do not show the node that the execution is repeated; there "was not paid" counts once.
		const told = lacks('firstMode') ? /It fails/ : /Mode is on Settle Unknown/;
		assert.match(retried.error ?? '', told);
	});
	await sendingNothing(async () => void (await run(pays)));
	await lab.api.deactivate(id);
	assert.deepEqual(timesPaid(lab.sandbox, rows), [0]);
});

void test('an evaluation with invented responses pays nobody and records nothing, also in a workflow that is called', async (context) => {
	if (lacks('inventedResponses')) return context.skip();
	const rows = payroll(lab, 'invented', 1);
	const id = await add('invented', rows, {
		nodes: [called(...fieldsOf(rows))],
		connections: { ...chain(START, ROWS, PAY), ...chain(CALLED, PAY) },
	});
	await lab.api.activate(id);
	const caller = await callerOf(id, rows);
	await sendingNothing(async () => {
		const told = await lab.api.runWithInventedResponses(id);
		context.diagnostic(told.slice(0, 300));
		assert.match(told, /"code":"ready"/);
		await lab.api.runWithInventedResponses(caller);
	});
	await run(caller);
	await lab.api.deactivate(id);
	assert.deepEqual(codesOf(await run(id)), ['paidBefore']);
	assert.deepEqual(timesPaid(lab.sandbox, rows), [1]);
});

void test('a typed statement counts once in an execution, also in a loop', async () => {
	const rows = payroll(lab, 'looped', 2);
	const { toUserId, reference } = rowAt(rows, 0);
	const loop = node('Loop', 'splitInBatches', { batchSize: 1, options: {} }, { typeVersion: 3 });
	const id = await add('Settles in a loop', rows, {
		nodes: [loop],
		connections: {
			...chain(START, ROWS, 'Loop'),
			Loop: { main: [[], [{ node: PAY, type: 'main', index: 0 }]] },
			[PAY]: { main: [[{ node: 'Loop', type: 'main', index: 0 }]] },
		},
	});
	faultFor(lab, new Map([[toUserId, 'error500AfterPaying']]));
	await run(id);
	lab.sandbox.faults.clear();
	const settled = async (fields: object): Promise<unknown[]> => {
		await setFields(lab.api, id, PAY, { mode: 'settle', wasPaid: '', wasNotPaid: '', ...fields });
		const { nodes } = await run(id);
		return (nodes[PAY] ?? []).flatMap(({ outputs }) => outputs.flat().map((item) => item['code']));
	};
	assert.deepEqual(await settled({ wasPaid: reference }), ['settledPaid', 'paidBefore']);
	assert.deepEqual(await settled({ wasNotPaid: reference }), ['contradicted', 'notSettled']);
	await setFields(lab.api, id, PAY, { mode: 'pay' });
	await run(id);
	assert.deepEqual(timesPaid(lab.sandbox, rows), [1, 1]);
});
