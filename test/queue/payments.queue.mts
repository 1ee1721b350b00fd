/** Paying in queue mode: overlapping executions on two workers, and a worker that is killed. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { eventually } from '../real/world.mts';
import { PAY, payrollWorkflow, type PayrollRow } from './workflows.mts';
import { startQueueWorld, type ExecutionRow, type QueueWorld } from './world.mts';

let world: QueueWorld;
before(async () => {
	world = await startQueueWorld();
});
after(async () => await world?.stop());

/** New users of the sandbox, each with one payment, so that its books tell who was paid how often. */
function payroll(name: string, count: number, withReferences = true): PayrollRow[] {
	return Array.from({ length: count }, (_, index) => {
		const externalId = `${name}-${index}`;
		const { id: toUserId } = world.sandbox.books.addUser({ externalId });
		return { toUserId, amountEtb: 1, ...(withReferences && { reference: externalId }) };
	});
}

/** How often each row was paid, by the sandbox's books. */
function timesPaid(rows: PayrollRow[]): number[] {
	const times = new Map(rows.map(({ toUserId }) => [toUserId, 0]));
	for (const { toUserId } of world.sandbox.books.disbursements()) {
		const before = times.get(toUserId);
		if (before !== undefined) times.set(toUserId, before + 1);
	}
	return [...times.values()];
}

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

async function pay(path: string, rows: PayrollRow[]): Promise<void> {
	const response = await fetch(`${world.publicUrl}webhook/${path}`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify({ rows }),
	});
	assert.equal(response.status, 200, await response.text());
}

const outcomes = (execution: ExecutionRow | undefined): Record<string, number> => {
	const counts: Record<string, number> = {};
	for (const item of execution?.itemsOf(PAY) ?? []) {
		const { outcome } = item as { outcome?: string };
		counts[String(outcome)] = (counts[String(outcome)] ?? 0) + 1;
	}
	return counts;
};

describe('the same 500 references in two executions at once, on both workers', () => {
	const rounds = 5;
	const size = 500;
	test(`${rounds} rounds`, async (context) => {
		world.sandbox.setLatency(20);
		const workflow = await world.publish(payrollWorkflow('overlap'));
		let doublePayments = 0;
		let seen = 0;
		for (let round = 1; round <= rounds; ) {
			const rows = payroll(`overlap-${seen}`, size);
			await Promise.all([pay('overlap', rows), pay('overlap', rows)]);
			seen += 2;
			const pair = (await world.executions(workflow, seen)).slice(-2);
			const workers = await Promise.all(pair.map(async ({ id }) => await world.workerOf(id)));
			if (workers[0] === workers[1]) continue;
			const times = timesPaid(rows);
			const doubles = sum(times.map((paid) => Math.max(0, paid - 1)));
			context.diagnostic(
				`round ${round}: ${doubles} of ${size} paid twice, ${times.filter((n) => n === 0).length} not at all; ${pair.map((execution) => execution.status + JSON.stringify(outcomes(execution))).join(' and ')}`,
			);
			doublePayments += doubles;
			round += 1;
		}
		context.diagnostic(`double payments: ${doublePayments} of ${rounds * size}`);
		world.sandbox.setLatency(0);
	});
});
