/** Issue: a disbursement is never paid twice, and every item says what happened. In the real n8n. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Execution, WorkflowFile } from '../../n8n/api.mts';
import type { Fault } from '../../sandbox/faults.mts';
import { eventually, executionsOf, startRealWorld, timesPaid } from './world.mts';
import type { RealWorld } from './world.mts';

const PAY = 'Pay';
const PAID = 'Paid';
const FAILED = 'Failed';

let world: RealWorld;
before(async () => {
	world = await startRealWorld();
});
after(async () => await world.stop());

/** One row of a payroll. */
interface Row {
	toUserId: string;
	/** ETB */
	amountEtb: number;
	reference?: string;
}

/** New users of the sandbox with one payment each. */
function payroll(name: string, count: number, { references }: { references: boolean }): Row[] {
	return Array.from({ length: count }, (_, index) => {
		const { id: toUserId } = world.sandbox.books.addUser({ externalId: `${name}-${index}` });
		return { toUserId, amountEtb: 1, ...(references && { reference: `pay-${name}-${index}` }) };
	});
}

const node = (name: string, type: string, typeVersion: number, parameters: object) => ({
	id: randomUUID(),
	name,
	type,
	typeVersion,
	position: [0, 0],
	parameters,
});

/** Notes the row that n8n takes for the source of each item. */
const sourceNode = (name: string) =>
	node(name, 'n8n-nodes-base.set', 3.4, {
		includeOtherFields: true,
		assignments: {
			assignments: [
				{
					id: randomUUID(),
					name: 'source',
					type: 'string',
					value: "={{ $('Rows').item.json.toUserId }}",
				},
			],
		},
		options: {},
	});

/** Pays the rows that are posted to its webhook, and looks at what leaves on both outputs. */
function payrollWorkflow(path: string, settings: object = {}, options: object = {}): WorkflowFile {
	const to = (name: string) => ({ node: name, type: 'main', index: 0 });
	const webhook = node('Webhook', 'n8n-nodes-base.webhook', 2, { path, httpMethod: 'POST' });
	return {
		name: `Payroll ${path}`,
		nodes: [
			{ ...webhook, webhookId: randomUUID() },
			node('Rows', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'body.rows' }),
			{
				...node(PAY, 'n8n-nodes-etb-wallet.etbWallet', 1, {
					resource: 'disbursement',
					operation: 'create',
					mappingMode: 'autoMapInputData',
					options,
				}),
				...settings,
			},
			sourceNode(PAID),
			sourceNode(FAILED),
		],
		connections: {
			Webhook: { main: [[to('Rows')]] },
			Rows: { main: [[to(PAY)]] },
			[PAY]: { main: [[to(PAID)], [to(FAILED)]] },
		},
		settings: { executionOrder: 'v1' },
	};
}

async function publish(path: string, settings?: object, options?: object): Promise<string> {
	const id = await world.add(payrollWorkflow(path, settings, options));
	await world.api.activate(id);
	return id;
}

/** Starts the workflow of this path, also while n8n is still registering its webhooks. */
async function pay(path: string, rows: Row[]): Promise<void> {
	await eventually(`webhook ${path}`, async () => {
		const response = await fetch(`${world.n8n.url}/webhook/${path}`, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ rows }),
		});
		await response.text();
		return response.ok ? true : undefined;
	});
}

async function newest(workflowId: string, count: number): Promise<Execution> {
	const execution = (await executionsOf(world, workflowId, count, 120_000)).at(-1);
	assert.ok(execution);
	return execution;
}

type Item = Record<string, unknown>;

const itemsOf = (execution: Execution, name: string, output = 0): Item[] =>
	execution.nodes[name]?.[0]?.outputs[output] ?? [];
const detailsOf = (item: Item): Item => ({ ...(Object(item.error) as Item) });

const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0);
const countOf = (values: unknown[]): Record<string, number> => {
	const counts: Record<string, number> = {};
	for (const value of values) counts[String(value)] = (counts[String(value)] ?? 0) + 1;
	return counts;
};

/** Rejects the first `times` payments to a user. */
function rejectFor({ toUserId }: Row, times: number): void {
	const rejection: Fault = {
		process: 'never',
		answer: { status: 422, body: '{"message":"The wallet is closed"}' },
	};
	let left = times;
	world.sandbox.faults.plan('POST /disburse', ({ bodyText }) =>
		bodyText.includes(`"${toUserId}"`) && left-- > 0 ? rejection : undefined,
	);
}

const rowAt = (rows: Row[], index: number): Row => {
	const row = rows[index];
	assert.ok(row);
	return row;
};

void test('killed in the middle of 200 payments with references, started and run again: nobody is paid twice', async (context) => {
	const size = 200;
	const window = 10;
	const workflow = await publish('killed');
	const rows = payroll('killed', size, { references: true });
	world.sandbox.setLatency(100);
	await pay('killed', rows);
	await eventually('60 payments', () =>
		sum(timesPaid(world.sandbox, rows)) >= 60 ? true : undefined,
	);
	world.n8n.kill();
	await world.n8n.exited;
	const before = sum(timesPaid(world.sandbox, rows));

	world.sandbox.setLatency(0);
	await world.restartN8n();
	await pay('killed', rows);
	const again = await newest(workflow, 2);
	const items = itemsOf(again, PAY);
	const times = timesPaid(world.sandbox, rows);
	const found = countOf(items.map(({ outcome }) => outcome));
	context.diagnostic(
		`${before} of ${size} paid before the kill; the second run said ${JSON.stringify(found)}`,
	);
	assert.equal(items.length, size);
	assert.ok(
		times.every((paid) => paid <= 1),
		'somebody was paid twice',
	);
	for (const [index, { outcome, reference }] of items.entries()) {
		assert.equal(reference, rowAt(rows, index).reference);
		if (outcome !== 'unknown') assert.equal(times[index], 1, `row ${index} is ${String(outcome)}`);
	}
	const unknown = found.unknown ?? 0;
	assert.ok(unknown > 0 && unknown <= window, `${unknown} are unknown`);
});

void test('Retry On Fail over 50 items, of which item 30 is rejected twice: everybody is paid once', async () => {
	const workflow = await publish('retried', {
		retryOnFail: true,
		maxTries: 3,
		waitBetweenTries: 100,
	});
	const rows = payroll('retried', 50, { references: false });
	rejectFor(rowAt(rows, 30), 2);
	await pay('retried', rows);
	const execution = await newest(workflow, 1);
	world.sandbox.faults.clear();
	assert.equal(execution.status, 'success', execution.error);
	assert.deepEqual(
		itemsOf(execution, PAY).map(({ toUserId, outcome }) => [toUserId, outcome]),
		rows.map(({ toUserId }) => [toUserId, 'paid']),
	);
	assert.deepEqual(timesPaid(world.sandbox, rows), Array(50).fill(1));
});

void test('two executions at once with overlapping references, 40 times: nobody is paid twice', async (context) => {
	const rounds = 40;
	const workflow = await publish('together');
	const all: Row[] = [];
	for (let round = 1; round <= rounds; round++) {
		const rows = payroll(`together-${round}`, 30, { references: true });
		all.push(...rows);
		await Promise.all([pay('together', rows.slice(0, 20)), pay('together', rows.slice(10))]);
	}
	await eventually(
		'all executions',
		async () => {
			const ids = await world.api.executionIds(workflow);
			return ids.length >= rounds * 2 ? true : undefined;
		},
		120_000,
	);
	const executions = await executionsOf(world, workflow, rounds * 2);
	const found = countOf(
		executions.flatMap((execution) => itemsOf(execution, PAY).map(({ outcome }) => outcome)),
	);
	context.diagnostic(`${rounds} pairs of executions said ${JSON.stringify(found)}`);
	assert.deepEqual(timesPaid(world.sandbox, all), Array(all.length).fill(1));
});

void test('On Error: error output', async () => {
	const workflow = await publish('branches', { onError: 'continueErrorOutput' });
	const rows = payroll('branches', 12, { references: true });
	rejectFor(rowAt(rows, 5), 1);
	await pay('branches', rows);
	const execution = await newest(workflow, 1);
	world.sandbox.faults.clear();
	assert.equal(execution.status, 'success', execution.error);
	const paid = itemsOf(execution, PAID);
	assert.deepEqual(
		paid.map(({ source, outcome }) => [source, outcome]),
		rows.flatMap(({ toUserId }, index) => (index === 5 ? [] : [[toUserId, 'paid']])),
	);
	const [failed] = itemsOf(execution, FAILED);
	assert.ok(failed);
	const { toUserId, reference } = rowAt(rows, 5);
	assert.equal(failed.source, toUserId);
	const { message, description, ...rest } = detailsOf(failed);
	assert.match(String(message), /The wallet is closed/);
	assert.ok(String(description).length > 0);
	assert.deepEqual(rest, {
		outcome: 'notPaid',
		toUserId,
		reference,
		amountEtb: 1,
		httpCode: '422',
	});
});

void test('On Error: continue', async () => {
	const workflow = await publish('continued', { onError: 'continueRegularOutput' });
	const rows = payroll('continued', 12, { references: false });
	rejectFor(rowAt(rows, 5), 1);
	await pay('continued', rows);
	const execution = await newest(workflow, 1);
	world.sandbox.faults.clear();
	assert.deepEqual(
		itemsOf(execution, PAID).map(({ source, outcome, error }) => [
			source,
			outcome ?? detailsOf({ error }).outcome,
		]),
		rows.map(({ toUserId }, index) => [toUserId, index === 5 ? 'notPaid' : 'paid']),
	);
});

void test('On Error: stop. A retry of the execution pays again only what has a reference and was not paid', async () => {
	for (const references of [false, true]) {
		const path = `stopped-${references}`;
		const workflow = await publish(path, {}, { concurrency: 1 });
		const rows = payroll(path, 12, { references });
		rejectFor(rowAt(rows, 5), 1);
		await pay(path, rows);
		const execution = await newest(workflow, 1);
		assert.equal(execution.status, 'error');
		assert.match(execution.error ?? '', /5 paid, 1 not paid, 6 not attempted, total 5 ETB/);
		assert.match(execution.error ?? '', /Paid: item 0 .*0x[0-9a-f]{64}/);
		const retried = await world.api.endedExecution(await world.api.retryExecution(execution.id));
		if (references) {
			assert.equal(retried.status, 'success', retried.error);
			assert.deepEqual(timesPaid(world.sandbox, rows), Array(12).fill(1));
		} else {
			assert.match(retried.error ?? '', /This execution is a retry of an earlier one/);
			assert.equal(sum(timesPaid(world.sandbox, rows)), 5);
		}
		world.sandbox.faults.clear();
	}
});

void test('stopping an execution stops sending within those in flight', async (context) => {
	const concurrency = 4;
	const workflow = await publish('halted', {}, { concurrency });
	const rows = payroll('halted', 100, { references: true });
	world.sandbox.setLatency(150);
	await pay('halted', rows);
	await eventually('13 payments', () =>
		sum(timesPaid(world.sandbox, rows)) >= 13 ? true : undefined,
	);
	const [id] = await world.api.executionIds(workflow);
	assert.ok(id);
	await world.api.stopExecution(id);
	const atStop = sum(timesPaid(world.sandbox, rows));
	assert.equal((await world.api.endedExecution(id)).status, 'canceled');

	// Run again: what was in flight has ended by its own, as paid, and the rest is paid now.
	world.sandbox.setLatency(0);
	const lastOfThem = await eventually('those in flight', async () => {
		const paid = sum(timesPaid(world.sandbox, rows));
		await new Promise((passed) => setTimeout(passed, 500));
		return sum(timesPaid(world.sandbox, rows)) === paid ? paid : undefined;
	});
	context.diagnostic(`${atStop} were paid when it was stopped, ${lastOfThem} in the end`);
	assert.ok(lastOfThem < atStop + concurrency);
	await pay('halted', rows);
	const again = await newest(workflow, 2);
	assert.deepEqual(countOf(itemsOf(again, PAY).map(({ outcome }) => outcome)), {
		alreadyPaid: lastOfThem,
		paid: rows.length - lastOfThem,
	});
	assert.deepEqual(timesPaid(world.sandbox, rows), Array(rows.length).fill(1));
});
