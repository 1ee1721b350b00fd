/** A disbursement is never paid twice, and every item has a true result, over crashes, stops and other executions. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import {
	codesOf,
	countOf,
	faultFor,
	itemsOf,
	newest,
	once,
	outcomesOf,
	pay,
	payroll,
	publish,
	rowAt,
	sum,
} from '../../support/payroll.mts';
import { eventually, startLab, timesPaid } from '../../support/lab.mts';
import { PAY } from '../../support/n8n/workflow.mts';

const lab = await startLab();
after(async () => await lab.stop());

void test('killed in the middle of 200 payments, started and run again: nobody is paid twice', async (context) => {
	const size = 200;
	const batch = 10;
	const id = await publish(lab, 'killed', { onError: 'continueRegularOutput' });
	const answered = 60;
	const rows = payroll(lab, 'killed', size);
	// However slow the machine is, n8n is killed while payments are in flight.
	faultFor(
		lab,
		new Map(rows.slice(answered).map(({ toUserId }) => [toUserId, 'timeoutAfterPaying'])),
	);
	await pay(lab, 'killed', rows);
	await eventually('payments in flight', () =>
		sum(timesPaid(lab.sandbox, rows)) === answered + batch ? true : undefined,
	);
	lab.n8n.kill();
	await lab.n8n.exited;
	const before = sum(timesPaid(lab.sandbox, rows));

	lab.sandbox.faults.clear();
	await lab.restartN8n();
	await pay(lab, 'killed', rows);
	const items = itemsOf(await newest(lab, id, 2));
	const times = timesPaid(lab.sandbox, rows);
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
	assert.ok(unknown > 0 && unknown <= batch, `${unknown} are unknown`);
});

void test('On Error: stop. Retry execution pays what was not paid, and nobody twice', async () => {
	const id = await publish(lab, 'stopped', {}, { concurrency: 1 });
	const rows = payroll(lab, 'stopped', 12);
	faultFor(lab, new Map([[rowAt(rows, 5).toUserId, 'refused']]));
	await pay(lab, 'stopped', rows);
	const execution = await newest(lab, id, 1);
	lab.sandbox.faults.clear();
	assert.equal(execution.status, 'error');
	assert.match(execution.error ?? '', /5 paid, 1 not paid, 6 not attempted, total 5 ETB/);
	assert.match(
		execution.error ?? '',
		/Paid, and not again in another run: item 0 .*0x[0-9a-f]{64}/,
	);
	const retried = await lab.api.endedExecution(await lab.api.retryExecution(execution.id));
	assert.equal(retried.status, 'success', retried.error);
	assert.deepEqual(countOf(codesOf(retried)), { paidBefore: 5, paid: 7 });
	assert.deepEqual(timesPaid(lab.sandbox, rows), once(rows));
});

/** Stops an execution; resolves to the node's line in the log. n8n does not wait for the node. */
async function stop(executionId: string): Promise<string> {
	const log = async (): Promise<string> => await readFile(lab.n8n.logFile, 'utf8');
	const { length } = await log();
	await lab.api.stopExecution(executionId);
	return await eventually('what the stopped node logs', async () => {
		return /The execution was stopped\. Payments: .*/.exec((await log()).slice(length))?.[0];
	});
}

void test('stopped while responses never end: what was sent ends by its Timeout, and the log says so', async (context) => {
	const endless = ['drippingBody', 'switchingProtocols'] as const;
	const options = { timeout: 3_000, concurrency: 4 };
	const id = await publish(lab, 'endless', { onError: 'continueRegularOutput' }, options);
	const rows = payroll(lab, 'endless', 40);
	let requests = 0;
	lab.sandbox.faults.plan('POST /disburse', () => endless[requests++ % 2]);
	await pay(lab, 'endless', rows);
	await eventually('4 payments whose response does not end', () =>
		requests >= 4 ? true : undefined,
	);
	const [running] = await lab.api.executionIds(id);
	assert.ok(running);
	const told = await stop(running);
	context.diagnostic(told);
	assert.match(told, /0 paid, 4 unknown, 36 not attempted/);
	// n8n's log, with its usual settings, shows a line's message and nothing else.
	const place = `Workflow Payroll endless (${id}), node ${PAY}, execution ${running}`;
	assert.ok(told.endsWith(place), told);
	for (const { reference } of rows.slice(0, 4)) assert.ok(told.includes(` ${reference} (`), told);
	assert.equal((await lab.api.endedExecution(running)).status, 'canceled');
	assert.equal(requests, 4);

	lab.sandbox.faults.clear();
	await pay(lab, 'endless', rows);
	assert.deepEqual(countOf(outcomesOf(await newest(lab, id, 2))), { unknown: 4, paid: 36 });
	assert.deepEqual(timesPaid(lab.sandbox, rows), once(rows));
});
