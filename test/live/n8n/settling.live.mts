/** Only Pay pays: settling, dry runs and evaluations send nothing, in whatever way n8n runs the node. In the real n8n. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { z } from 'zod';
import { WorkflowFile, type Execution } from '../../../lab/n8n/api.mts';
import { freePort } from '../../../lab/n8n/ports.mts';
import type { PresetName } from '../../../sandbox/faults.mts';
import type { Row } from './payroll.mts';
import {
	PAY,
	countOf,
	faultFor,
	itemsOf,
	outcomesOf,
	payroll,
	recordOf,
	rowAt,
} from './payroll.mts';
import type { Lab } from '../../../lab/lab.mts';
import { eventually, executionsOf, startLab, timesPaid } from '../../../lab/lab.mts';

let lab: Lab;
const inventor = createServer((request, response) => {
	request.resume();
	request.once('end', () => response.writeHead(200, answerHeaders).end(inventedAnswer));
});
const answerHeaders = { 'content-type': 'application/json' };
/** What a model invents for the disburse endpoint, as n8n's evaluation asks it to submit it. */
const inventedAnswer = JSON.stringify({
	id: 'm',
	type: 'message',
	role: 'assistant',
	model: 'claude-sonnet-4-6',
	stop_reason: 'end_turn',
	content: [{ type: 'text', text: '{"success":true,"amountEtb":1,"txHash":"0xinvented"}' }],
	usage: { input_tokens: 1, output_tokens: 1 },
});

before(async () => {
	const port = await freePort();
	await new Promise<void>((done) => inventor.listen(port, '127.0.0.1', done));
	lab = await startLab({
		env: {
			N8N_INSTANCE_AI_MODEL: 'anthropic/claude-sonnet-4-6',
			N8N_INSTANCE_AI_MODEL_URL: `http://127.0.0.1:${port}/v1`,
			N8N_INSTANCE_AI_MODEL_API_KEY: 'none',
		},
	});
});
after(async () => {
	await lab.stop();
	inventor.close();
});

/** ms */
const timeout = 2_000;
const START = 'Start';

interface Node {
	id: string;
	name: string;
	type: string;
	parameters: object;
}
const node = (name: string, type: string, typeVersion: number, parameters: object, more = {}) => ({
	id: randomUUID(),
	name,
	type: `n8n-nodes-base.${type}`,
	typeVersion,
	position: [0, 0],
	parameters,
	...more,
});
const start = () => node(START, 'manualTrigger', 1, {});
const list = (rows: Row[], name = 'Rows') =>
	node(name, 'code', 2, { jsCode: `return ${JSON.stringify(rows)}.map((json) => ({ json }))` });
const payNode = (parameters: object = {}, more: object = {}) => ({
	...node(PAY, '', 1, {
		resource: 'disbursement',
		operation: 'create',
		mappingMode: 'autoMapInputData',
		options: { timeout },
		...parameters,
	}),
	type: 'n8n-nodes-etb-wallet.etbWallet',
	onError: 'continueRegularOutput',
	...more,
});
const to = (name: string) => ({ node: name, type: 'main', index: 0 });
const chain = (...names: string[]): Record<string, unknown> =>
	Object.fromEntries(
		names
			.slice(1)
			.map((name, index): [string, unknown] => [names[index] ?? '', { main: [[to(name)]] }]),
	);

async function add(name: string, nodes: Node[], connections: object): Promise<string> {
	const settings = { executionOrder: 'v1' };
	return await lab.add(WorkflowFile.parse({ name, nodes, connections, settings }));
}

const run = async (id: string): Promise<Execution> =>
	await lab.api.endedExecution(await lab.api.run(id, START), 120_000);

const Parameters = z.object({ parameters: z.record(z.unknown()) });

/** As a person who opens the node and saves. */
async function setFields(id: string, fields: object, name = PAY): Promise<void> {
	await lab.api.changeWorkflow(id, ({ nodes }) => ({
		nodes: nodes.map((each) =>
			each.name === name
				? { ...each, parameters: { ...Parameters.parse(each).parameters, ...fields } }
				: each,
		),
	}));
}

const once = (rows: Row[]): number[] => Array<number>(rows.length).fill(1);
const lostBeforePaying = (row: Row) =>
	new Map<string, PresetName>([[row.toUserId, 'error500BeforePaying']]);

/** A workflow in which the payment of the first row is unknown, and was not made. */
async function withUnknown(
	name: string,
	rows: Row[],
	more: { nodes?: Node[]; connections?: object; settings?: object } = {},
): Promise<string> {
	const { nodes = [], connections = chain(START, 'Rows', PAY), settings = {} } = more;
	const id = await add(name, [start(), list(rows), payNode({}, settings), ...nodes], connections);
	faultFor(lab, lostBeforePaying(rowAt(rows, 0)));
	await run(id);
	lab.sandbox.faults.clear();
	return id;
}

/** Whatever n8n does meanwhile: nobody is paid, and nothing is asked of the service. */
async function sendingNothing(rows: Row[], work: () => Promise<void>): Promise<void> {
	const requests = lab.sandbox.requestCount();
	const books = timesPaid(lab.sandbox, rows);
	await work();
	assert.equal(lab.sandbox.requestCount(), requests);
	assert.deepEqual(timesPaid(lab.sandbox, rows), books);
}

void test('unknown ones are settled both ways, and the next run with Pay pays who is free', async () => {
	const rows = payroll(lab, 'both', 10, { references: true });
	const id = await add('both', [start(), list(rows), payNode()], chain(START, 'Rows', PAY));
	const unclear = new Map<string, PresetName>([
		[rowAt(rows, 2).toUserId, 'timeoutAfterPaying'],
		[rowAt(rows, 3).toUserId, 'error500AfterPaying'],
		[rowAt(rows, 5).toUserId, 'timeoutBeforePaying'],
		[rowAt(rows, 6).toUserId, 'error500BeforePaying'],
	]);
	faultFor(lab, unclear);
	assert.deepEqual(countOf(outcomesOf(await run(id))), { paid: 6, unknown: 4 });
	lab.sandbox.faults.clear();

	const findings = [, , 'paid', 'paid', , 'notPaid', 'notPaid'];
	const found = rows.map((row, index) => ({ ...row, finding: findings[index] ?? '' }));
	await setFields(id, list(found).parameters, 'Rows');
	await setFields(id, { mode: 'settle', finding: 'fromItem' });
	await sendingNothing(rows, async () => {
		const settled = await run(id);
		assert.deepEqual(countOf(outcomesOf(settled)), { alreadyPaid: 8, ready: 2 });
		assert.deepEqual(new Set(itemsOf(settled, PAY).map(({ mode }) => mode)), new Set(['settle']));
	});
	await setFields(id, { mode: 'pay' });
	assert.deepEqual(countOf(outcomesOf(await run(id))), { alreadyPaid: 8, notPaid: 2 });
	await setFields(id, list(rows).parameters, 'Rows');
	assert.deepEqual(countOf(outcomesOf(await run(id))), { alreadyPaid: 8, paid: 2 });
	assert.deepEqual(timesPaid(lab.sandbox, rows), once(rows));
});

void test('wired back from its error output, it settles once and sends nothing', async () => {
	const rows = payroll(lab, 'loop', 2, { references: true });
	const again = node('Again', 'code', 2, { jsCode: 'return $runIndex < 4 ? $input.all() : []' });
	const id = await withUnknown('loop', rows, {
		nodes: [again],
		settings: { onError: 'continueErrorOutput' },
		connections: {
			...chain(START, 'Rows', PAY),
			[PAY]: { main: [[to('Again')], [to('Again')]] },
			Again: { main: [[to(PAY)]] },
		},
	});
	await setFields(id, { mode: 'settle', finding: 'notPaid' });
	await sendingNothing(rows, async () => {
		const { nodes, status } = await run(id);
		assert.equal(status, 'success');
		assert.ok((nodes[PAY]?.length ?? 0) >= 3);
	});
	assert.deepEqual(timesPaid(lab.sandbox, rows), [0, 1]);
});

/** The beginning of a workflow that is called with rows. */
const called = (rows: Row[]) =>
	node('Called', 'executeWorkflowTrigger', 1.1, {
		workflowInputs: { values: Object.keys(rowAt(rows, 0)).map((name) => ({ name, type: 'any' })) },
	});

/** A workflow that calls another one with these rows. */
async function callerOf(id: string, rows: Row[], settings: object = {}): Promise<string> {
	const workflowId = { __rl: true, value: id, mode: 'id' };
	const value = Object.fromEntries(
		Object.keys(rowAt(rows, 0)).map((name) => [name, `={{ $json.${name} }}`]),
	);
	const workflowInputs = { mappingMode: 'defineBelow', value, matchingColumns: [], schema: [] };
	const parameters = { workflowId, workflowInputs, options: {} };
	const call = node('Call', 'executeWorkflow', 1.2, parameters, settings);
	return await add('caller', [start(), list(rows), call], chain(START, 'Rows', 'Call'));
}

void test('in a sub-workflow under Retry On Fail it refuses, and says so', async (context) => {
	const rows = payroll(lab, 'sub', 2, { references: true });
	const id = await withUnknown('sub', rows, {
		nodes: [called(rows)],
		settings: { onError: 'stopWorkflow' },
		connections: { ...chain(START, 'Rows', PAY), Called: { main: [[to(PAY)]] } },
	});
	await setFields(id, { mode: 'settle', finding: 'notPaid' });
	await lab.api.activate(id);
	const retries = { retryOnFail: true, maxTries: 5, waitBetweenTries: 100 };
	const parent = await callerOf(id, rows, retries);
	const record = recordOf(lab, id);
	await sendingNothing(rows, async () => {
		const { error } = await run(parent);
		context.diagnostic(error ?? 'no error');
		assert.match(error ?? '', /Nobody was paid: Mode is on Settle Unknown/);
	});
	assert.equal(recordOf(lab, id), record);
	await lab.api.deactivate(id);
});

void test('on a schedule, by a webhook and by Retry execution it refuses loudly, and nothing changes', async (context) => {
	const rows = payroll(lab, 'left-on', 2, { references: true });
	const schedule = node('Every second', 'scheduleTrigger', 1.2, {
		rule: { interval: [{ field: 'seconds', secondsInterval: 1 }] },
	});
	const path = 'left-on';
	const hook = node(
		'Hook',
		'webhook',
		2,
		{ path, httpMethod: 'POST' },
		{ webhookId: randomUUID() },
	);
	const id = await withUnknown('left-on', rows, {
		nodes: [schedule, hook],
		settings: { onError: 'stopWorkflow' },
		connections: {
			...chain(START, 'Rows', PAY),
			[schedule.name]: { main: [[to('Rows')]] },
			Hook: { main: [[to('Rows')]] },
		},
	});
	await setFields(id, { mode: 'settle', finding: 'notPaid' });
	const record = recordOf(lab, id);
	await sendingNothing(rows, async () => {
		await lab.api.activate(id);
		await eventually('the webhook', async () => {
			const response = await fetch(`${lab.n8n.url}/webhook/${path}`, { method: 'POST' });
			await response.text();
			return response.ok ? true : undefined;
		});
		const modes = await eventually('both kinds of executions', async () => {
			const executions = await executionsOf(lab, id, 3);
			const found = new Set(executions.map(({ mode }) => mode));
			return found.has('trigger') && found.has('webhook') ? executions : undefined;
		});
		await lab.api.deactivate(id);
		for (const execution of modes.filter(({ mode }) => mode !== 'manual'))
			assert.match(execution.error ?? '', /Nobody was paid: Mode is on Settle Unknown/);
		const last = modes.findLast(({ mode }) => mode === 'trigger');
		const retried = await lab.api.endedExecution(await lab.api.retryExecution(last?.id ?? ''));
		context.diagnostic([...modes, retried].map(({ mode }) => mode).join(' '));
		assert.equal(retried.mode, 'retry');
		assert.match(retried.error ?? '', /Nobody was paid: Mode is on Settle Unknown/);
	});
	assert.equal(recordOf(lab, id), record);
	assert.deepEqual(timesPaid(lab.sandbox, rows), [0, 1]);
});

void test('after a Wait, with a mode that was taken back meanwhile, it sends nothing', async (context) => {
	const rows = payroll(lab, 'waited', 2, { references: true });
	const wait = node('Wait', 'wait', 1.1, { amount: 3, unit: 'seconds' });
	const id = await withUnknown('waited', rows);
	await lab.api.changeWorkflow(id, ({ nodes }) => ({
		nodes: [...nodes, wait],
		connections: chain(START, 'Rows', 'Wait', PAY),
	}));
	await setFields(id, { mode: 'settle', finding: 'notPaid' });
	await sendingNothing(rows, async () => {
		const waiting = await lab.api.run(id, START);
		await setFields(id, { mode: 'pay', finding: 'unclear' });
		const execution = await lab.api.endedExecution(waiting, 60_000);
		context.diagnostic(`mode ${execution.mode}, told ${outcomesOf(execution).join(', ')}`);
		assert.deepEqual(outcomesOf(execution), ['ready', 'alreadyPaid']);
	});
	assert.deepEqual(timesPaid(lab.sandbox, rows), [0, 1]);
});

void test('in a copy and without references it sends nothing; the copy then has the record', async () => {
	const rows = payroll(lab, 'copy', 3, { references: true });
	const flow = async (name: string, items: Row[], fields: object): Promise<string> =>
		await add(name, [start(), list(items), payNode(fields)], chain(START, 'Rows', PAY));
	await run(await flow('copied', rows, {}));
	const copy = await flow('copy', rows, { mode: 'settle', finding: 'notPaid' });
	await sendingNothing(rows, async () => {
		assert.deepEqual(outcomesOf(await run(copy)), Array(3).fill('ready'));
		const [first] = itemsOf(await run(copy), PAY);
		assert.match(String(first?.message), /^Nothing here was unknown\. /);
		await setFields(copy, { finding: 'paid' });
		assert.deepEqual(outcomesOf(await run(copy)), Array(3).fill('ready'));
		await setFields(copy, { finding: 'recordPaid' });
		assert.deepEqual(outcomesOf(await run(copy)), Array(3).fill('alreadyPaid'));
		const bare = rows.map(({ toUserId, amountEtb }) => ({ toUserId, amountEtb }));
		for (const finding of ['paid', 'notPaid']) {
			const id = await flow(`bare ${finding}`, bare, { mode: 'settle', finding });
			assert.deepEqual(outcomesOf(await run(id)), Array(3).fill('unknown'));
		}
	});
	await setFields(copy, { mode: 'pay' });
	assert.deepEqual(outcomesOf(await run(copy)), Array(3).fill('alreadyPaid'));
	assert.deepEqual(timesPaid(lab.sandbox, rows), once(rows));
});

void test('a node that was made anew says that it remembers nobody, and its Retry execution pays nobody', async () => {
	const rows = payroll(lab, 'anew', 3, { references: true });
	const nodes = [
		start(),
		list(rows),
		payNode({ options: { concurrency: 1 } }, { onError: 'stopWorkflow' }),
	];
	const id = await add('anew', nodes, chain(START, 'Rows', PAY));
	faultFor(lab, new Map([[rowAt(rows, 2).toUserId, 'error500BeforePaying']]));
	const { id: failed } = await run(id);
	lab.sandbox.faults.clear();
	await lab.api.changeWorkflow(id, (saved) => ({
		nodes: saved.nodes.map((each) => (each.name === PAY ? { ...each, id: randomUUID() } : each)),
	}));
	await sendingNothing(rows, async () => {
		const retried = await lab.api.endedExecution(await lab.api.retryExecution(failed, true));
		assert.match(retried.error ?? '', /this node remembers no payments, so none of them was sent/);
		await setFields(id, { mode: 'dryRun' });
		const [tried] = (await run(id)).nodes[PAY] ?? [];
		assert.match(tried?.hints[0] ?? '', /^This node remembers no payments yet/);
	});
});

void test('an evaluation with invented answers pays nobody and records nothing', async (context) => {
	const rows = payroll(lab, 'invented', 1, { references: true });
	const id = await add('invented', [start(), list(rows), payNode()], chain(START, 'Rows', PAY));
	await sendingNothing(rows, async () => {
		const told = await lab.api.runWithInventedAnswers(id);
		context.diagnostic(told.slice(0, 300));
		assert.match(told, /Dry run: nothing was sent/);
	});
	assert.deepEqual(outcomesOf(await run(id)), ['paid']);
	assert.deepEqual(timesPaid(lab.sandbox, rows), [1]);
});

void test('an evaluation of a workflow that calls the one that pays pays nobody', async (context) => {
	const rows = payroll(lab, 'invented-sub', 1, { references: true });
	const id = await add('invented-sub', [called(rows), payNode()], chain('Called', PAY));
	await lab.api.activate(id);
	const caller = await callerOf(id, rows);
	await sendingNothing(rows, async () => {
		const told = await lab.api.runWithInventedAnswers(caller);
		context.diagnostic(told.slice(-300));
	});
	await run(caller);
	assert.deepEqual(timesPaid(lab.sandbox, rows), [1]);
	await lab.api.deactivate(id);
});

void test('Retry execution of a workflow that calls the one that pays pays nobody again without references', async () => {
	const rows = payroll(lab, 'retried-sub', 3, { references: false });
	const pays = payNode({ options: { timeout, concurrency: 1 } }, { onError: 'stopWorkflow' });
	const id = await add('retried-sub', [called(rows), pays], chain('Called', PAY));
	await lab.api.activate(id);
	const caller = await callerOf(id, rows);
	faultFor(lab, new Map([[rowAt(rows, 2).toUserId, 'error500BeforePaying']]));
	const { id: failed } = await run(caller);
	lab.sandbox.faults.clear();
	assert.deepEqual(timesPaid(lab.sandbox, rows), [1, 1, 0]);
	await sendingNothing(rows, async () => {
		const retried = await lab.api.endedExecution(await lab.api.retryExecution(failed));
		assert.match(retried.error ?? '', /This execution is a retry of an earlier one/);
	});
	await lab.api.deactivate(id);
});

void test('a dry run of 200 items leaves no trace, and then a run pays all 200', async () => {
	const before = payroll(lab, 'dry-before', 3, { references: true });
	const all = [...before, ...payroll(lab, 'dry', 200, { references: true })];
	const id = await add('dry', [start(), list(before), payNode()], chain(START, 'Rows', PAY));
	await run(id);
	await lab.api.changeWorkflow(id, ({ nodes }) => ({
		nodes: nodes.map((each) => (each.name === 'Rows' ? { ...list(all), id: each.id } : each)),
	}));
	const record = recordOf(lab, id);
	assert.ok(record);
	await setFields(id, { mode: 'dryRun' });
	await sendingNothing(all, async () => {
		assert.deepEqual(countOf(outcomesOf(await run(id))), { alreadyPaid: 3, ready: 200 });
	});
	assert.ok(recordOf(lab, id) === record, 'the dry run left a trace in the record');
	await setFields(id, { mode: 'pay' });
	assert.deepEqual(countOf(outcomesOf(await run(id))), { alreadyPaid: 3, paid: 200 });
	assert.deepEqual(timesPaid(lab.sandbox, all), once(all));
});
