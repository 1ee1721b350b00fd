/** Paying in queue mode: overlapping executions on two workers, and a worker that is killed. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { eventually, executionsOf, timesPaid } from '../../support/lab.mts';
import { startQueueLab } from '../../support/queue/queue-lab.mts';
import type { PresetName } from '../../../sandbox/faults.mts';
import { codesOf, countOf, faultFor, pay, payroll, publish, sum } from '../../support/payroll.mts';

const lab = await startQueueLab();
after(async () => await lab.stop());

void test('500 references in two executions at once, one on each worker, while the service fails: everybody is paid once, unknown are only those it failed for, and the next run says so', async (context) => {
	lab.sandbox.setLatency(20);
	const id = await publish(lab, 'overlap', { onError: 'continueRegularOutput' });
	for (let seen = 2; ; seen += 2) {
		const rows = payroll(lab, `overlap-${seen}`, 500);
		const faults = new Map(
			rows.flatMap(({ toUserId }, index): Array<[string, PresetName]> => {
				if (index % 50 === 10) return [[toUserId, 'error500AfterPaying']];
				return index % 50 === 35 ? [[toUserId, 'error500BeforePaying']] : [];
			}),
		);
		faultFor(lab, faults);
		await Promise.all([pay(lab, 'overlap', rows), pay(lab, 'overlap', rows)]);
		const pair = (await executionsOf(lab, id, seen)).slice(-2);
		lab.sandbox.faults.clear();
		const workers = await Promise.all(pair.map(async (each) => await lab.workerOf(each.id)));
		// n8n may give both jobs to one worker.
		if (workers[0] === workers[1]) continue;
		const [one = [], other = []] = pair.map(codesOf);
		context.diagnostic(JSON.stringify([one, other].map(countOf)));
		const times = rows.map(({ toUserId }) =>
			faults.get(toUserId) === 'error500BeforePaying' ? 0 : 1,
		);
		assert.deepEqual(timesPaid(lab.sandbox, rows), times);
		for (const [index, { toUserId }] of rows.entries()) {
			const told = [String(one[index]), String(other[index])];
			const sent = faults.has(toUserId) ? 'unclear' : 'paid';
			const meanwhile = ['inFlight', faults.has(toUserId) ? 'inDoubt' : 'paidBefore'];
			assert.ok(
				told.filter((each) => each === sent).length === 1 &&
					told.some((each) => meanwhile.includes(each)),
				`row ${index}: ${told.join(', ')}`,
			);
		}
		await pay(lab, 'overlap', rows);
		const last = (await executionsOf(lab, id, seen + 1)).slice(-1);
		assert.deepEqual(
			last.flatMap(codesOf),
			rows.map(({ toUserId }) => (faults.has(toUserId) ? 'inDoubt' : 'paidBefore')),
		);
		assert.deepEqual(timesPaid(lab.sandbox, rows), times);
		return;
	}
});

void test('a worker is killed in the middle of a run: run again at once, nobody is paid twice', async (context) => {
	const size = 200;
	/** The node's default concurrency. */
	const batch = 10;
	const answered = 60;
	lab.sandbox.setLatency(0);
	const id = await publish(lab, 'killed', { onError: 'continueRegularOutput' });
	const rows = payroll(lab, 'killed', size);
	// However slow the machine is, the worker is killed while payments are in flight.
	faultFor(
		lab,
		new Map(rows.slice(answered).map(({ toUserId }) => [toUserId, 'timeoutAfterPaying'])),
	);
	await pay(lab, 'killed', rows);
	const killed = await eventually('a running execution', async () => {
		const [running] = await lab.api.executionIds(id);
		return running === undefined ? undefined : await lab.workerOf(running);
	});
	const inFlight = answered + batch;
	await eventually('payments in flight', () => {
		return sum(timesPaid(lab.sandbox, rows)) === inFlight || undefined;
	});
	await lab.workers[killed]?.kill();
	await lab.sandbox.idle();
	const before = sum(timesPaid(lab.sandbox, rows));
	lab.sandbox.faults.clear();
	await pay(lab, 'killed', rows);
	// n8n takes the killed execution for running.
	const again = await eventually('the second run', async () => {
		const ids = await lab.api.executionIds(id);
		return ids.length === 2 ? ids[0] : undefined;
	});
	const second = await lab.api.endedExecution(again, 120_000);
	const codes = codesOf(second).map(String);
	const found = countOf(codes);
	context.diagnostic(`${before} of ${size} paid before the kill; then ${JSON.stringify(found)}`);
	const times = timesPaid(lab.sandbox, rows);
	assert.equal(
		codes.length,
		size,
		`the second run: ${second.status}, ${second.error ?? 'no error'}`,
	);
	for (const [index, each] of codes.entries()) {
		const isKnown = ['paid', 'paidBefore'].includes(each);
		assert.ok(isKnown ? times[index] === 1 : Number(times[index]) <= 1, `row ${index}: ${each}`);
	}
	const unknown = size - (found.paid ?? 0) - (found.paidBefore ?? 0);
	assert.ok(unknown >= batch && unknown <= 2 * batch, `${unknown} are unknown`);
});
