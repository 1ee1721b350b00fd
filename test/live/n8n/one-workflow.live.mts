/** One workflow that pays, with callers at the same time, again and cut off, in the real n8n: each person is paid once, with a true result. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { readExample } from '../../../demo/examples.mts';
import { START, list, start, workflow } from '../../support/n8n/workflow.mts';
import { eventually, startLab, timesPaid } from '../../support/lab.mts';
import { PAYMENTS, rowsOf } from '../../support/people.mts';
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

/** The register's row of each payment, one for each: outcome, paid, asked, transaction, reason and workflow. */
async function registered(payments: Payment[]): Promise<unknown[][]> {
	const rows = await rowsOf(lab.api, PAYMENTS);
	return payments.map(({ reference }) => {
		const own = rows.filter((row) => row['reference'] === reference);
		assert.equal(own.length, 1, reference);
		return ['outcome', 'amountEtb', 'askedEtb', 'txHash', 'reason', 'workflow'].map(
			(column) => own[0]?.[column],
		);
	});
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
	const proofs = new Map(
		lab.sandbox.books.disbursements().map(({ toUserId, txHash }) => [toUserId, txHash]),
	);
	assert.deepEqual(
		await registered(payments),
		payments.map(({ toUserId, amountEtb }) => [
			...['paid', amountEtb, amountEtb, proofs.get(toUserId), ''],
			`One workflow that pays (${payId})`,
		]),
	);
	// A third caller repeats the payments in another order.
	for (const id of [callers[0] ?? '', await caller(payments.toReversed())])
		assert.deepEqual(counts(await run(id)), { alreadyPaid: 100 });
	assert.deepEqual(new Set(times(payments)), new Set([1]));
});

test('who is refused or unknown stands in the register with the reason, until it is paid', async () => {
	const payments = payrollOf(lab.sandbox, 'left', 3);
	const [refused, unknown] = payments.map(({ toUserId }) => toUserId);
	const answer = { status: 422, body: '{"message":"The wallet is closed"}' };
	lab.sandbox.faults.plan('POST /disburse', ({ bodyText }) =>
		bodyText.includes(`"${refused}"`)
			? { process: 'never', answer }
			: bodyText.includes(`"${unknown}"`)
				? 'error500BeforePaying'
				: undefined,
	);
	const id = await caller(payments);
	await run(id);
	lab.sandbox.faults.clear();
	const rows = await registered(payments);
	assert.deepEqual(
		rows.map(([outcome, paid, asked]) => [outcome, paid, asked]),
		[
			['notPaid', null, payments[0]?.amountEtb],
			['unknown', null, payments[1]?.amountEtb],
			['paid', payments[2]?.amountEtb, payments[2]?.amountEtb],
		],
	);
	assert.match(String(rows[0]?.[4]), /The wallet is closed/);
	assert.notEqual(rows[1]?.[4], '');
	await run(id);
	assert.deepEqual(
		(await registered(payments)).map(([outcome]) => outcome),
		['paid', 'unknown', 'paid'],
	);
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
