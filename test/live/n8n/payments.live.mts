/** A disbursement is never paid twice, and every item has a true result, over crashes, stops and other executions. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../../../sandbox/faults.mts';
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
	type Row,
} from '../../support/payroll.mts';
import { paymentAnswers } from '../../support/payment-answers.mts';
import { eventually, executionsOf, startLab, timesPaid } from '../../support/lab.mts';
import { lacks } from '../../support/n8n/version-differences.mts';
import {
	PAY,
	ROWS,
	START,
	chain,
	list,
	payNode,
	start,
	webhook,
	workflow,
} from '../../support/n8n/workflow.mts';

const lab = await startLab();
after(async () => await lab.stop());

void test('killed in the middle of 200 payments, started and run again: nobody is paid twice', async (context) => {
	const size = 200;
	const window = 10;
	const id = await publish(lab, 'killed', { onError: 'continueRegularOutput' });
	const rows = payroll(lab, 'killed', size);
	lab.sandbox.setLatency(100);
	await pay(lab, 'killed', rows);
	await eventually('60 payments', () =>
		sum(timesPaid(lab.sandbox, rows)) >= 60 ? true : undefined,
	);
	lab.n8n.kill();
	await lab.n8n.exited;
	const before = sum(timesPaid(lab.sandbox, rows));

	lab.sandbox.setLatency(0);
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
	assert.ok(unknown > 0 && unknown <= window, `${unknown} are unknown`);
});

void test('an answer to a payment counts as paid only with a proof', async () => {
	const id = await publish(lab, 'answers', { onError: 'continueRegularOutput' });
	const rows = payroll(lab, 'answers', paymentAnswers.length);
	const faults = paymentAnswers.map(({ status, body }, index): [string, Fault] => {
		const { toUserId } = rowAt(rows, index);
		const answer = { status, body: body.replaceAll('etbw_a', toUserId) };
		return [toUserId, { process: 'never', answer }];
	});
	faultFor(lab, new Map(faults));
	await pay(lab, 'answers', rows);
	const execution = await newest(lab, id, 1);
	lab.sandbox.faults.clear();
	assert.deepEqual(
		itemsOf(execution).map(({ outcome }, index) => [outcome, paymentAnswers[index]?.body]),
		paymentAnswers.map(({ meaning, body }) => [meaning, body]),
	);
});

void test('two executions at once with overlapping references, 12 times: nobody is paid twice', async (context) => {
	const rounds = 12;
	const id = await publish(lab, 'together', { onError: 'continueRegularOutput' });
	const all: Row[] = [];
	for (let round = 1; round <= rounds; round++) {
		const rows = payroll(lab, `together-${round}`, 30);
		all.push(...rows);
		await Promise.all([
			pay(lab, 'together', rows.slice(0, 20)),
			pay(lab, 'together', rows.slice(10)),
		]);
	}
	const executions = await executionsOf(lab, id, rounds * 2);
	const found = countOf(executions.flatMap(codesOf));
	context.diagnostic(`${rounds} pairs of executions said ${JSON.stringify(found)}`);
	assert.deepEqual(timesPaid(lab.sandbox, all), once(all));
	const { paid, paidBefore = 0, inFlight = 0 } = found;
	assert.equal(paid, rounds * 30);
	assert.equal(paidBefore + inFlight, rounds * 10);
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

void test('without a reference n8n neither runs nor publishes the workflow', async (context) => {
	const rows = list(payroll(lab, 'bare', 2));
	const nodes = [start(), webhook('bare'), rows, payNode({ reference: '' })];
	const connections = { ...chain(START, ROWS, PAY), ...chain('Webhook', ROWS) };
	const id = await lab.add(workflow('bare', nodes, connections));
	const requests = lab.sandbox.requestCount();
	// Up to 2.30 n8n refuses to begin the execution; later it begins one that fails.
	const inEditor = await lab.api
		.run(id, START)
		.then(async (execution) => (await lab.api.endedExecution(execution)).error)
		.catch(({ message }: Error) => message);
	context.diagnostic(inEditor ?? '');
	const issue = lacks('emptyFields')
		? /The workflow has issues/
		: /Parameter "Reference" is required/;
	assert.match(inEditor ?? '', issue);
	await assert.rejects(lab.api.activate(id), /Missing or invalid required parameters/);
	assert.equal(lab.sandbox.requestCount(), requests);
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

void test('answers that never end: the run ends by its Timeout, and also when it is stopped', async (context) => {
	const endless = ['drippingBody', 'switchingProtocols'] as const;
	const options = { timeout: 3_000, concurrency: 4 };
	const settings = { onError: 'continueRegularOutput' };
	const id = await publish(lab, 'endless', settings, options);
	const rows = payroll(lab, 'endless', 40);
	const listed = rows.slice(0, 8);
	let requests = 0;
	lab.sandbox.faults.plan('POST /disburse', () => endless[requests++ % 2]);
	await pay(lab, 'endless', listed);
	const ended = await newest(lab, id, 1);
	assert.deepEqual(countOf(outcomesOf(ended)), { unknown: 8 });

	requests = 0;
	await pay(lab, 'endless', rows);
	await eventually('4 payments whose answer does not end', () =>
		requests >= 4 ? true : undefined,
	);
	const [running] = await lab.api.executionIds(id);
	assert.ok(running);
	const told = await stop(running);
	context.diagnostic(told);
	assert.match(told, /0 paid, 12 unknown, 28 not attempted/);
	// n8n's log, with its usual settings, shows a line's message and nothing else.
	const place = `Workflow Payroll endless (${id}), node ${PAY}, execution ${running}`;
	assert.ok(told.endsWith(place), told);
	for (const { reference } of listed) assert.ok(told.includes(` ${reference} (`), told);
	assert.equal((await lab.api.endedExecution(running)).status, 'canceled');
	assert.equal(requests, 4);

	lab.sandbox.faults.clear();
	await pay(lab, 'endless', rows);
	const again = await newest(lab, id, 3);
	assert.deepEqual(countOf(outcomesOf(again)), { unknown: 12, paid: 28 });
	assert.deepEqual(timesPaid(lab.sandbox, rows), Array(rows.length).fill(1));
});

void test('n8n stands still for longer than the Timeout: what was claimed before is not sent after it', async (context) => {
	const timeout = 5_000;
	const window = 10;
	const settings = { onError: 'continueRegularOutput' };
	const id = await publish(lab, 'frozen', settings, { timeout, concurrency: window });
	const rows = payroll(lab, 'frozen', 200);
	const stillAt = rows.slice(100, 100 + window);
	/** Reserved and not sent: the service asks for a retry, and n8n resumes too late for it. */
	const comeBack: Fault = {
		process: 'never',
		answer: { status: 429, headers: { 'retry-after': '2' }, body: '{}' },
	};
	/** Sent: the answer comes while n8n stands still. */
	const slow: Fault = { process: 'before-answer', answer: 'normal', delayMs: 1_000 };
	const arrivals = new Map(stillAt.map(({ toUserId }) => [toUserId, 0]));
	lab.sandbox.faults.plan('POST /disburse', ({ bodyText }) => {
		const index = stillAt.findIndex(({ toUserId }) => bodyText.includes(`"${toUserId}"`));
		const row = stillAt[index];
		if (row === undefined) return undefined;
		arrivals.set(row.toUserId, (arrivals.get(row.toUserId) ?? 0) + 1);
		return index % 2 === 0 ? comeBack : slow;
	});
	await pay(lab, 'frozen', rows);
	await eventually('the window in which n8n stands still', () =>
		[...arrivals.values()].every((count) => count > 0) ? true : undefined,
	);
	// n8n has to have the answers that ask for a retry.
	await sleep(500);
	process.kill(lab.n8n.pid, 'SIGSTOP');
	await sleep(timeout + 1_000);
	process.kill(lab.n8n.pid, 'SIGCONT');

	const execution = await newest(lab, id, 1);
	const outcomes = outcomesOf(execution);
	const times = timesPaid(lab.sandbox, rows);
	context.diagnostic(`the run that stood still said ${JSON.stringify(countOf(outcomes))}`);
	assert.deepEqual([...arrivals.values()], Array(window).fill(1));
	for (const [index, { reference }] of rows.entries()) {
		const outcome = outcomes[index];
		const position = stillAt.findIndex((row) => row.reference === reference);
		if (position === -1) assert.equal(outcome, 'paid');
		else if (position % 2 === 0) assert.equal(outcome, 'notPaid');
		else assert.match(String(outcome), /^(paid|unknown)$/);
		assert.equal(times[index], outcome === 'notPaid' ? 0 : 1, `${reference}: ${String(outcome)}`);
	}

	lab.sandbox.faults.clear();
	await pay(lab, 'frozen', rows);
	const again = outcomesOf(await newest(lab, id, 2));
	assert.deepEqual(
		again,
		outcomes.map(
			(outcome) => ({ paid: 'alreadyPaid', notPaid: 'paid', unknown: 'unknown' })[String(outcome)],
		),
	);
	assert.deepEqual(timesPaid(lab.sandbox, rows), Array(rows.length).fill(1));
});
