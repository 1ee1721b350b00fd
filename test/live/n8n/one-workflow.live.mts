/** One workflow that pays, with callers at the same time, again and cut off, in the real n8n: each person is paid once, with a true result. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { readExample } from '../../../demo/examples.mts';
import { START, list, start, workflow } from '../../support/n8n/workflow.mts';
import { eventually, startLab, timesPaid } from '../../support/lab.mts';
import {
	callOf,
	counts,
	payrollOf,
	nodeResults,
	type NodeResult,
	type Payment,
} from '../../support/callers.mts';

const lab = await startLab();
after(async () => await lab.stop());
const payId = await lab.add(await readExample('one-workflow-that-pays.json'));
await lab.api.activate(payId);

const fields = {
	reference: '={{ $json.reference }}',
	toUserId: '={{ $json.toUserId }}',
	amountEtb: '={{ $json.amountEtb }}',
};

/** A workflow that calls the one that pays. */
async function caller(payments: Payment[], settings: object = {}): Promise<string> {
	const pay = { ...callOf('Pay', payId, fields), ...settings };
	return await lab.api.createWorkflow(workflow('Caller', [start(), list(payments), pay]));
}

/** Runs a caller; resolves to the result of each payment. */
async function run(id: string): Promise<NodeResult[]> {
	const execution = await lab.api.endedExecution(await lab.api.run(id, START), 180_000);
	assert.equal(execution.status, 'success', execution.error);
	return nodeResults(execution.nodes.Pay?.at(-1)?.outputs[0] ?? []);
}

const times = (payments: Payment[]) => timesPaid(lab.sandbox, payments);

/** Compares the results with the sandbox's books. */
function isTrue(told: NodeResult[], paid: number[]): void {
	for (const [index, { outcome }] of told.entries()) {
		const possible =
			paid[index] === 1 ? ['paid', 'alreadyPaid', 'unknown'] : ['unknown', 'notPaid'];
		assert.ok(possible.includes(outcome), `${index}: ${paid[index]} ${outcome}`);
	}
}

test('two workflows with the same 100 references at once: each person once', async (context) => {
	const payments = payrollOf(lab.sandbox, 'both', 100);
	lab.sandbox.setLatency(20);
	const callers = [await caller(payments), await caller(payments)];
	const both = await Promise.all(callers.map(run));
	lab.sandbox.setLatency(0);
	context.diagnostic(both.map((told) => JSON.stringify(counts(told))).join(' '));
	assert.deepEqual(new Set(times(payments)), new Set([1]));
	for (const told of both) {
		assert.deepEqual(
			told.map(({ toUserId }) => toUserId),
			payments.map(({ toUserId }) => toUserId),
		);
		isTrue(told, times(payments));
	}
	const paid = both.flat().filter(({ outcome }) => outcome === 'paid');
	assert.equal(paid.length, payments.length);
	// A third caller repeats the payments in another order.
	for (const id of [callers[0] ?? '', await caller(payments.toReversed())])
		assert.deepEqual(counts(await run(id)), { alreadyPaid: 100 });
	assert.deepEqual(new Set(times(payments)), new Set([1]));
});

test('a caller with Retry On Fail, whose call fails after it paid: each person once', async () => {
	const payments = payrollOf(lab.sandbox, 'retry', 30);
	// The workflow that pays fails behind its last node, the first two times.
	let calls = 0;
	lab.sandbox.faults.plan('POST /disburse', () => {
		calls++;
		return undefined;
	});
	const failing = await readExample('one-workflow-that-pays.json');
	const stop = {
		...{ id: 'c1a3c0de-0030-4000-8000-0000000000aa', name: 'Fails', position: [500, 0] },
		...{ type: 'n8n-nodes-base.stopAndError', typeVersion: 1 },
		parameters: { errorMessage: 'The network is gone' },
	};
	const id = await lab.add({
		...failing,
		nodes: [...failing.nodes, stop],
		connections: {
			...failing.connections,
			Pay: { main: [[{ node: 'Fails', type: 'main', index: 0 }]] },
		},
	});
	await lab.api.activate(id);
	const pay = {
		...callOf('Pay', id, fields),
		...{ retryOnFail: true, maxTries: 3, waitBetweenTries: 100 },
	};
	const caller = workflow('Caller that tries again', [start(), list(payments), pay]);
	const callerId = await lab.api.createWorkflow(caller);
	const execution = await lab.api.endedExecution(await lab.api.run(callerId, START), 60_000);
	lab.sandbox.faults.clear();
	assert.equal(execution.status, 'error');
	assert.equal((await lab.api.executionIds(id)).length, 3);
	assert.equal(calls, payments.length);
	assert.deepEqual(new Set(times(payments)), new Set([1]));
});

test('n8n is killed while it pays for two callers: nobody is paid twice, and what is not certain is told so', async (context) => {
	const payments = payrollOf(lab.sandbox, 'killed', 100);
	lab.sandbox.setLatency(50);
	const callers = [await caller(payments), await caller(payments)];
	for (const id of callers) await lab.api.run(id, START);
	const paid = () => times(payments).filter((count) => count > 0).length;
	await eventually('30 payments', () => (paid() >= 30 ? true : undefined));
	lab.n8n.kill();
	await lab.n8n.exited;
	lab.sandbox.setLatency(0);
	await lab.restartN8n();
	const before = times(payments);
	const told = await run(callers[0] ?? '');
	context.diagnostic(
		`${before.filter(Boolean).length} paid before; then ${JSON.stringify(counts(told))}`,
	);
	assert.ok(times(payments).every((count) => count <= 1));
	isTrue(told, times(payments));
	// At most the payments that were in flight are unknown.
	const unknown = told.filter(({ outcome }) => outcome === 'unknown').length;
	assert.ok(unknown <= 20, `${unknown} unknown`);
	for (const [index, { outcome }] of told.entries())
		if (before[index] === 1) assert.ok(outcome === 'alreadyPaid' || outcome === 'unknown');
	assert.ok((counts(told).paid ?? 0) > 0);
});
