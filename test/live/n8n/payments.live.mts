/** A disbursement is never paid twice, and every item says what happened: crashes, stops and other executions. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../../../sandbox/faults.mts';
import type { Row } from './payroll.mts';
import {
	FAILED,
	PAID,
	PAY,
	countOf,
	detailsOf,
	itemsOf,
	newest,
	outcomesOf,
	pay,
	payroll,
	publish,
	rejectFor,
	rowAt,
	sum,
} from './payroll.mts';
import type { Lab } from '../../../lab/lab.mts';
import { eventually, executionsOf, startLab, timesPaid } from '../../../lab/lab.mts';

let lab: Lab;
before(async () => {
	lab = await startLab();
});
after(async () => await lab.stop());

void test('killed in the middle of 200 payments with references, started and run again: nobody is paid twice', async (context) => {
	const size = 200;
	const window = 10;
	// What the killed process was sending is waited for, for as long as it may still be under way.
	const workflow = await publish(lab, 'killed', {}, { timeout: 3_000 });
	const rows = payroll(lab, 'killed', size, { references: true });
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
	const again = await newest(lab, workflow, 2);
	const items = itemsOf(again, PAY);
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

void test('Retry On Fail over 50 items, of which item 30 is rejected twice: everybody is paid once', async () => {
	const workflow = await publish(lab, 'retried', {
		retryOnFail: true,
		maxTries: 3,
		waitBetweenTries: 100,
	});
	const rows = payroll(lab, 'retried', 50, { references: false });
	rejectFor(lab, rowAt(rows, 30), 2);
	await pay(lab, 'retried', rows);
	const execution = await newest(lab, workflow, 1);
	lab.sandbox.faults.clear();
	assert.equal(execution.status, 'success', execution.error);
	assert.deepEqual(
		itemsOf(execution, PAY).map(({ toUserId, outcome }) => [toUserId, outcome]),
		rows.map(({ toUserId }) => [toUserId, 'paid']),
	);
	assert.deepEqual(timesPaid(lab.sandbox, rows), Array(50).fill(1));
});

void test('two executions at once with overlapping references, 40 times: nobody is paid twice', async (context) => {
	const rounds = 40;
	const workflow = await publish(lab, 'together');
	const all: Row[] = [];
	for (let round = 1; round <= rounds; round++) {
		const rows = payroll(lab, `together-${round}`, 30, { references: true });
		all.push(...rows);
		await Promise.all([
			pay(lab, 'together', rows.slice(0, 20)),
			pay(lab, 'together', rows.slice(10)),
		]);
	}
	await eventually(
		'all executions',
		async () => {
			const ids = await lab.api.executionIds(workflow);
			return ids.length >= rounds * 2 ? true : undefined;
		},
		120_000,
	);
	const executions = await executionsOf(lab, workflow, rounds * 2);
	const found = countOf(
		executions.flatMap((execution) => itemsOf(execution, PAY).map(({ outcome }) => outcome)),
	);
	context.diagnostic(`${rounds} pairs of executions said ${JSON.stringify(found)}`);
	assert.deepEqual(timesPaid(lab.sandbox, all), Array(all.length).fill(1));
	// The ten that both executions have wait for each other, and end well.
	assert.deepEqual(found, { paid: rounds * 30, alreadyPaid: rounds * 10 });
});

void test('On Error: error output', async () => {
	const workflow = await publish(lab, 'branches', { onError: 'continueErrorOutput' });
	const rows = payroll(lab, 'branches', 12, { references: true });
	rejectFor(lab, rowAt(rows, 5), 1);
	await pay(lab, 'branches', rows);
	const execution = await newest(lab, workflow, 1);
	lab.sandbox.faults.clear();
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
	const workflow = await publish(lab, 'continued', { onError: 'continueRegularOutput' });
	const rows = payroll(lab, 'continued', 12, { references: false });
	rejectFor(lab, rowAt(rows, 5), 1);
	await pay(lab, 'continued', rows);
	const execution = await newest(lab, workflow, 1);
	lab.sandbox.faults.clear();
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
		const workflow = await publish(lab, path, {}, { concurrency: 1 });
		const rows = payroll(lab, path, 12, { references });
		rejectFor(lab, rowAt(rows, 5), 1);
		await pay(lab, path, rows);
		const execution = await newest(lab, workflow, 1);
		assert.equal(execution.status, 'error');
		assert.match(execution.error ?? '', /5 paid, 1 not paid, 6 not attempted, total 5 ETB/);
		assert.match(execution.error ?? '', /Paid: item 0 .*0x[0-9a-f]{64}/);
		const retried = await lab.api.endedExecution(await lab.api.retryExecution(execution.id));
		if (references) {
			assert.equal(retried.status, 'success', retried.error);
			assert.deepEqual(timesPaid(lab.sandbox, rows), Array(12).fill(1));
		} else {
			assert.match(retried.error ?? '', /This execution is a retry of an earlier one/);
			assert.equal(sum(timesPaid(lab.sandbox, rows)), 5);
		}
		lab.sandbox.faults.clear();
	}
});

void test('stopping an execution stops sending within those in flight', async (context) => {
	const concurrency = 4;
	const workflow = await publish(lab, 'halted', {}, { concurrency });
	const rows = payroll(lab, 'halted', 100, { references: true });
	lab.sandbox.setLatency(150);
	await pay(lab, 'halted', rows);
	await eventually('13 payments', () =>
		sum(timesPaid(lab.sandbox, rows)) >= 13 ? true : undefined,
	);
	const [id] = await lab.api.executionIds(workflow);
	assert.ok(id);
	await lab.api.stopExecution(id);
	const atStop = sum(timesPaid(lab.sandbox, rows));
	assert.equal((await lab.api.endedExecution(id)).status, 'canceled');

	// Run again: what was in flight has ended by its own, as paid, and the rest is paid now.
	lab.sandbox.setLatency(0);
	const lastOfThem = await eventually('those in flight', async () => {
		const paid = sum(timesPaid(lab.sandbox, rows));
		await new Promise((passed) => setTimeout(passed, 500));
		return sum(timesPaid(lab.sandbox, rows)) === paid ? paid : undefined;
	});
	context.diagnostic(`${atStop} were paid when it was stopped, ${lastOfThem} in the end`);
	assert.ok(lastOfThem < atStop + concurrency);
	await pay(lab, 'halted', rows);
	const again = await newest(lab, workflow, 2);
	assert.deepEqual(countOf(itemsOf(again, PAY).map(({ outcome }) => outcome)), {
		alreadyPaid: lastOfThem,
		paid: rows.length - lastOfThem,
	});
	assert.deepEqual(timesPaid(lab.sandbox, rows), Array(rows.length).fill(1));
});

/** Stops an execution; resolves to what the node logs once it has ended, which n8n does not wait for. */
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
	const workflow = await publish(lab, 'endless', settings, options);
	const rows = payroll(lab, 'endless', 40, { references: true });
	const listed = rows.slice(0, 8);
	let requests = 0;
	lab.sandbox.faults.plan('POST /disburse', () => endless[requests++ % 2]);
	await pay(lab, 'endless', listed);
	const ended = await newest(lab, workflow, 1);
	assert.deepEqual(countOf(outcomesOf(ended)), { unknown: 8 });

	requests = 0;
	await pay(lab, 'endless', rows);
	await eventually('4 payments whose answer does not end', () =>
		requests >= 4 ? true : undefined,
	);
	const [id] = await lab.api.executionIds(workflow);
	assert.ok(id);
	const told = await stop(id);
	context.diagnostic(told);
	assert.match(told, /0 paid, 12 unknown, 28 not attempted/);
	// n8n's log, with its usual settings, shows a line's message and nothing else.
	const place = `Workflow Payroll endless (${workflow}), node ${PAY}, execution ${id}`;
	assert.ok(told.endsWith(place), told);
	for (const { reference } of listed) assert.ok(told.includes(` ${reference} (`), told);
	assert.equal((await lab.api.endedExecution(id)).status, 'canceled');
	assert.equal(requests, 4);

	lab.sandbox.faults.clear();
	await pay(lab, 'endless', rows);
	const again = await newest(lab, workflow, 3);
	assert.deepEqual(countOf(outcomesOf(again)), { unknown: 12, paid: 28 });
	assert.deepEqual(timesPaid(lab.sandbox, rows), Array(rows.length).fill(1));
});

void test('n8n stands still for longer than the Timeout: what was claimed before is not sent after it', async (context) => {
	const timeout = 5_000;
	const window = 10;
	const settings = { onError: 'continueRegularOutput' };
	const workflow = await publish(lab, 'frozen', settings, { timeout, concurrency: window });
	const rows = payroll(lab, 'frozen', 200, { references: true });
	const stillAt = rows.slice(100, 100 + window);
	/** Claimed and not sent: the service asks to come back, for which n8n wakes up too late. */
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
	// So that n8n has the answers of those that have to come back.
	await sleep(500);
	process.kill(lab.n8n.pid, 'SIGSTOP');
	await sleep(timeout + 1_000);
	process.kill(lab.n8n.pid, 'SIGCONT');

	const execution = await newest(lab, workflow, 1);
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
	const again = outcomesOf(await newest(lab, workflow, 2));
	assert.deepEqual(
		again,
		outcomes.map(
			(outcome) => ({ paid: 'alreadyPaid', notPaid: 'paid', unknown: 'unknown' })[String(outcome)],
		),
	);
	assert.deepEqual(timesPaid(lab.sandbox, rows), Array(rows.length).fill(1));
});
