/** Paying in queue mode: overlapping executions on two workers, and a worker that is killed. */
import assert from 'node:assert/strict';
import { after, before, describe, test, type TestContext } from 'node:test';
import { presets, type PresetName } from '../../../sandbox/faults.mts';
import { eventually, timesPaid } from '../../../lab/lab.mts';
import { PAY, START, payrollWorkflow, type PayrollRow } from '../../../lab/queue/workflows.mts';
import { startQueueLab, type ExecutionRow, type QueueLab } from '../../../lab/queue/queue-lab.mts';

let lab: QueueLab;
before(async () => {
	lab = await startQueueLab();
});
after(async () => await lab?.stop());

/** New users of the sandbox, each with one payment, so that its books tell who was paid how often. */
function payroll(name: string, count: number, withReferences = true): PayrollRow[] {
	return Array.from({ length: count }, (_, index) => {
		const externalId = `${name}-${index}`;
		const { id: toUserId } = lab.sandbox.books.addUser({ externalId });
		return { toUserId, amountEtb: 1, ...(withReferences && { reference: externalId }) };
	});
}

/** The parameters of a node that settles all as not paid. */
const settling = {
	resource: 'disbursement',
	operation: 'create',
	mappingMode: 'autoMapInputData',
	mode: 'settle',
	finding: 'notPaid',
};

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

async function pay(path: string, rows: PayrollRow[]): Promise<void> {
	const response = await fetch(`${lab.publicUrl}webhook/${path}`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify({ rows }),
	});
	assert.equal(response.status, 200, await response.text());
}

interface Told {
	outcome: string;
	toUserId: string;
}

/** What an execution said of each payment, also of those that failed under On Error: Continue. */
const toldBy = (execution: ExecutionRow | undefined): Told[] =>
	(execution?.itemsOf(PAY) ?? []).map((item) => {
		const { error } = item as { error?: Told };
		return error ?? (item as Told);
	});

const countOf = (told: Told[]): Record<string, number> => {
	const counts: Record<string, number> = {};
	for (const { outcome } of told) counts[outcome] = (counts[outcome] ?? 0) + 1;
	return counts;
};
const outcomes = (execution: ExecutionRow | undefined) => countOf(toldBy(execution));

/** The newest execution of a workflow that a worker is running, with that worker. */
async function running(workflowId: string): Promise<{ id: string; worker: number }> {
	return await eventually('a running execution', async () => {
		const [row] = await lab.executionsNow(workflowId, 'running');
		const worker = row && (await lab.workerOf(row.id));
		return row && worker !== undefined ? { id: row.id, worker } : undefined;
	});
}

/** Starts a payroll and ends its worker by SIGKILL once `count` rows were paid; resolves to the execution's id. */
async function payAndKill(
	workflowId: string,
	path: string,
	rows: PayrollRow[],
	count: number,
): Promise<string> {
	await pay(path, rows);
	const { id, worker } = await running(workflowId);
	await eventually(`${count} payments`, () =>
		sum(timesPaid(lab.sandbox, rows)) >= count ? true : undefined,
	);
	await lab.workers[worker]?.kill();
	await lab.sandbox.idle();
	return id;
}

const restartWorkers = async () =>
	await Promise.all(lab.workers.map(async (worker) => await worker.startIfEnded()));

/**
 * Runs the same 500 rows in two executions at once, one on each worker, as often as it takes for `rounds` such pairs.
 * @param check gets each pair with its rows
 */
async function overlap(
	context: TestContext,
	path: string,
	rounds: number,
	check: (rows: PayrollRow[], pair: ExecutionRow[]) => void,
	faultsFor: (rows: PayrollRow[]) => Map<string, PresetName> = () => new Map(),
): Promise<void> {
	lab.sandbox.setLatency(20);
	const onError = 'continueRegularOutput';
	const workflow = await lab.publish(payrollWorkflow(path, {}, { onError }));
	let seen = 0;
	for (let round = 1; round <= rounds; ) {
		const rows = payroll(`${path}-${seen}`, 500);
		const faults = faultsFor(rows);
		lab.sandbox.faults.plan('POST /disburse', ({ bodyText }) => {
			const { toUserId } = JSON.parse(bodyText) as { toUserId: string };
			return faults.get(toUserId);
		});
		await Promise.all([pay(path, rows), pay(path, rows)]);
		seen += 2;
		const pair = (await lab.executions(workflow, seen)).slice(-2);
		lab.sandbox.faults.clear();
		const workers = await Promise.all(pair.map(async ({ id }) => await lab.workerOf(id)));
		// n8n shares the jobs out as it likes; two on one worker are another test's concern.
		if (workers[0] === workers[1]) continue;
		context.diagnostic(
			`round ${round}: ${pair.map((execution) => JSON.stringify(outcomes(execution))).join(' and ')}`,
		);
		assert.deepEqual(
			pair.map(({ status }) => status),
			['success', 'success'],
		);
		check(rows, pair);
		round += 1;
	}
}

void test('500 references in two executions at once, one on each worker: everybody is paid once, and both say so', async (context) => {
	await overlap(context, 'overlap', 5, (rows, pair) => {
		assert.deepEqual(timesPaid(lab.sandbox, rows), Array(rows.length).fill(1));
		const toldByEach = pair.map(toldBy);
		for (const [index] of rows.entries()) {
			const told = toldByEach.map((each) => each[index]?.outcome);
			assert.deepEqual(told.toSorted(), ['alreadyPaid', 'paid'], `row ${index}`);
		}
	});
});

void test('the same while the service fails: unknown are only those that it failed for', async (context) => {
	const failing = (rows: PayrollRow[]) =>
		new Map<string, PresetName>(
			rows.flatMap(({ toUserId }, index): Array<[string, PresetName]> => {
				if (index % 50 === 10) return [[toUserId, 'error500AfterPaying']];
				return index % 50 === 35 ? [[toUserId, 'error500BeforePaying']] : [];
			}),
		);
	await overlap(
		context,
		'failing',
		3,
		(rows, pair) => {
			const faults = failing(rows);
			const toldByEach = pair.map(toldBy);
			for (const [index, { toUserId }] of rows.entries()) {
				const fault = faults.get(toUserId);
				const told = toldByEach.map((each) => each[index]?.outcome);
				const wanted = fault ? ['unknown', 'unknown'] : ['alreadyPaid', 'paid'];
				assert.deepEqual(told.toSorted(), wanted, `row ${index}`);
			}
			assert.deepEqual(
				timesPaid(lab.sandbox, rows),
				rows.map(({ toUserId }) => (faults.get(toUserId) === 'error500BeforePaying' ? 0 : 1)),
			);
		},
		failing,
	);
});

void test('a person settles as not paid what a worker is sending at that moment: nothing of it is free, and nobody is paid twice', async (context) => {
	const path = 'settled-meanwhile';
	const window = 10;
	const rows = payroll(path, 3 * window);
	const workflow = await lab.publish(
		payrollWorkflow(path, { concurrency: window }, { onError: 'continueRegularOutput' }, rows),
	);
	// Saved and not published: for runs that are started in the editor.
	await lab.api.changeWorkflow(workflow, ({ nodes }) => ({
		nodes: nodes.map((node) =>
			node.name === PAY
				? { ...node, parameters: { ...settling, options: { concurrency: window } } }
				: node,
		),
	}));
	const paidAndLost = rows.slice(window).map(({ toUserId }) => toUserId);
	// The second window is under way for as long as n8n needs to start a run on a busy machine.
	const slow = new Set(paidAndLost.slice(0, window));
	const delayMs = 15_000;
	lab.sandbox.setLatency(0);
	lab.sandbox.faults.plan('POST /disburse', ({ bodyText }) => {
		const { toUserId } = JSON.parse(bodyText) as { toUserId: string };
		if (slow.has(toUserId)) return { ...presets.error500AfterPaying, delayMs };
		return paidAndLost.includes(toUserId) ? 'error500AfterPaying' : undefined;
	});
	const before = lab.sandbox.requestCount();
	const sent = () => lab.sandbox.requestCount() - before;
	await pay(path, rows);
	await eventually('the second window', () => (sent() > window ? true : undefined));
	await lab.api.run(workflow, START);
	const [paying, settled] = await lab.executions(workflow, 2);
	context.diagnostic(`paying ${JSON.stringify(outcomes(paying))}`);
	context.diagnostic(`${settled?.mode} ${JSON.stringify(outcomes(settled))}`);
	assert.equal(sent(), rows.length);
	assert.deepEqual(outcomes(paying), { paid: window, unknown: 2 * window });
	assert.deepEqual(
		toldBy(settled).map(({ outcome }) => outcome),
		['alreadyPaid', 'unknown', 'ready'].flatMap((outcome) => Array<string>(window).fill(outcome)),
	);
	lab.sandbox.faults.clear();
	await pay(path, rows);
	const again = (await lab.executions(workflow, 3)).at(-1);
	assert.deepEqual(outcomes(again), { alreadyPaid: window, unknown: 2 * window });
	assert.deepEqual(timesPaid(lab.sandbox, rows), Array(rows.length).fill(1));
});

void describe('a worker that is killed in the middle of a run', () => {
	const size = 200;
	const killAfter = 60;
	/** The node's default concurrency, which is the most that can be in flight. */
	const window = 10;
	const killed: Array<{ workflow: string; execution: string; rows: PayrollRow[] }> = [];

	void test('with references: run again at once, nobody is paid twice, those in flight are unknown', async (context) => {
		lab.sandbox.setLatency(100);
		// What the killed worker was sending is waited for, for as long as it may still be under way.
		const workflow = await lab.publish(payrollWorkflow('killed', { timeout: 3_000 }));
		const rows = payroll('killed', size);
		const execution = await payAndKill(workflow, 'killed', rows, killAfter);
		const before = timesPaid(lab.sandbox, rows);

		lab.sandbox.setLatency(0);
		await pay('killed', rows);
		const again = await eventually(
			'the second run',
			async () => (await lab.executionsNow(workflow, 'success')).at(-1),
			120_000,
		);
		const times = timesPaid(lab.sandbox, rows);
		const found = outcomes(again);
		context.diagnostic(
			`${sum(before)} of ${size} paid before the kill; the second run said ${JSON.stringify(found)}`,
		);
		assert.ok(
			times.every((paid) => paid <= 1),
			'somebody was paid twice',
		);
		const unknown = found.unknown ?? 0;
		assert.ok(unknown <= window, `${unknown} are unknown`);
		const items = toldBy(again);
		for (const [index, { outcome }] of items.entries()) {
			if (outcome !== 'unknown') assert.equal(times[index], 1, `row ${index} is ${outcome}`);
		}
		assert.equal(items.length, size);
		await restartWorkers();
		killed.push({ workflow, execution, rows });
	});

	void test('n8n gives up the execution and does not run it again, with or without references', async (context) => {
		lab.sandbox.setLatency(100);
		const workflow = await lab.publish(payrollWorkflow('unprotected'));
		const rows = payroll('unprotected', size, false);
		const execution = await payAndKill(workflow, 'unprotected', rows, killAfter);
		const killedAt = Date.now();
		killed.push({ workflow, execution, rows });

		// The worker stays down: what it ran is for the others to notice.
		for (const { workflow: id, execution: executionId, rows: theirs } of killed) {
			const { status } = await eventually(
				'what n8n makes of the execution',
				async () =>
					(await lab.executionsNow(id)).find(
						(row) => row.id === executionId && !['new', 'running'].includes(row.status),
					),
				200_000,
			);
			const seconds = Math.round((Date.now() - killedAt) / 1000);
			context.diagnostic(
				`execution ${executionId} is "${status}" ${seconds} s after the last kill`,
			);
			assert.notEqual(status, 'success');
			assert.ok(timesPaid(lab.sandbox, theirs).every((paid) => paid <= 1));
		}
		const unpaid = timesPaid(lab.sandbox, rows).filter((paid) => paid === 0).length;
		context.diagnostic(`without references, ${unpaid} of ${size} are left unpaid`);
		assert.ok(unpaid > 0);
		lab.sandbox.setLatency(0);
	});
});
