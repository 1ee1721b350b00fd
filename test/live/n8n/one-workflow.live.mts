/**
 * one-workflow-that-pays.json in the real n8n, called by several workflows: each person is paid once, with a
 * true result and a row in the register.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { readExample } from '../../../demo/examples.mts';
import { PAY, START, callOf, list, start, workflow } from '../../support/n8n/workflow.mts';
import { startLab, timesPaid } from '../../support/lab.mts';
import { PAYMENTS, rowsOf } from '../../support/people.mts';
import type { Fault, PresetName } from '../../../sandbox/faults.mts';
import {
	countOf,
	faultFor,
	itemsOf,
	payroll,
	rowAt,
	type Item,
	type Row,
} from '../../support/payroll.mts';

const lab = await startLab();
after(async () => await lab.stop());
const payId = await lab.add(await readExample('one-workflow-that-pays.json'));
await lab.api.activate(payId);

/** A workflow that calls the one that pays. */
async function caller(rows: Row[]): Promise<string> {
	const pay = callOf(PAY, payId, {
		reference: '={{ $json.reference }}',
		toUserId: '={{ $json.toUserId }}',
		amountEtb: '={{ $json.amountEtb }}',
	});
	return await lab.api.createWorkflow(workflow('Caller', [start(), list(rows), pay]));
}

/** Runs a caller; resolves to the result of each payment. */
async function run(id: string): Promise<Item[]> {
	const execution = await lab.api.endedExecution(await lab.api.run(id, START), 180_000);
	assert.equal(execution.status, 'success', execution.error);
	return itemsOf(execution);
}

const countOutcomes = (told: Item[]) => countOf(told.map(({ outcome }) => outcome));

/** The register's row of each payment, one for each: outcome, paid, asked, transaction, reason and workflow. */
async function registered(payments: Row[]): Promise<unknown[][]> {
	const rows = await rowsOf(lab.api, PAYMENTS);
	return payments.map(({ reference }) => {
		const own = rows.filter((row) => row['reference'] === reference);
		assert.equal(own.length, 1, reference);
		return ['outcome', 'amountEtb', 'requestedAmountEtb', 'txHash', 'reason', 'workflow'].map(
			(column) => own[0]?.[column],
		);
	});
}

test('two workflows with the same 100 references at once: each person is paid once', async (context) => {
	const rows = payroll(lab, 'both', 100);
	lab.sandbox.setLatency(20);
	const callers = [await caller(rows), await caller(rows)];
	const both = await Promise.all(callers.map(run));
	lab.sandbox.setLatency(0);
	context.diagnostic(both.map((told) => JSON.stringify(countOutcomes(told))).join(' '));
	assert.deepEqual(new Set(timesPaid(lab.sandbox, rows)), new Set([1]));
	for (const told of both) {
		assert.deepEqual(
			told.map(({ toUserId }) => toUserId),
			rows.map(({ toUserId }) => toUserId),
		);
		for (const { outcome } of told)
			assert.ok(['paid', 'alreadyPaid', 'unknown'].includes(String(outcome)), String(outcome));
	}
	assert.equal(countOutcomes(both.flat()).paid, rows.length);
	const proofs = new Map(
		lab.sandbox.books.disbursements().map(({ toUserId, txHash }) => [toUserId, txHash]),
	);
	assert.deepEqual(
		await registered(rows),
		rows.map(({ toUserId, amountEtb }) => [
			...['paid', amountEtb, amountEtb, proofs.get(toUserId), ''],
			`One workflow that pays (${payId})`,
		]),
	);
	// A third caller repeats the payments in another order.
	for (const id of [callers[0] ?? '', await caller(rows.toReversed())])
		assert.deepEqual(countOutcomes(await run(id)), { alreadyPaid: 100 });
	assert.deepEqual(new Set(timesPaid(lab.sandbox, rows)), new Set([1]));
});

test('a payment that is refused or unknown stands in the register with the reason, until it is paid', async () => {
	const payments = payroll(lab, 'left', 3);
	const [refused = '', unknown = ''] = payments.map(({ toUserId }) => toUserId);
	const response = { status: 422, body: '{"message":"The wallet is closed"}' };
	faultFor(
		lab,
		new Map<string, Fault | PresetName>([
			[refused, { process: 'never', response }],
			[unknown, 'error500BeforePaying'],
		]),
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

test('a payment that is asked for twice in one run, or without an amount, stays in the register as it ended', async () => {
	const payments = payroll(lab, 'twice', 2);
	faultFor(lab, new Map([[rowAt(payments, 1).toUserId, 'error500BeforePaying']]));
	const twice = await caller([...payments, ...payments]);
	assert.deepEqual(
		(await run(twice)).map(({ code }) => code),
		['paid', 'unclear', 'sameReference', 'sameReference'],
	);
	lab.sandbox.faults.clear();
	const outcomes = async () => (await registered(payments)).map(([outcome]) => outcome);
	assert.deepEqual(await outcomes(), ['paid', 'unknown']);
	await run(await caller(payments.map((row) => ({ ...row, amountEtb: -1 }))));
	assert.deepEqual(await outcomes(), ['paid', 'unknown']);
});
