/** The pay gate in queue mode: five workflows and a copy of one pay the same references at once, on two workers. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import type { WorkflowFile } from '../../../demo/n8n-api.mts';
import { postedRows, webhook, workflow } from '../../../test/support/n8n/workflow.mts';
import { executionsOf, timesPaid } from '../../../test/support/lab.mts';
import { startQueueLab, type QueueLab } from '../../../test/support/queue/queue-lab.mts';
import { counts, payrollOf, type Payment } from '../support/callers.mts';
import { setUpGateDatabase } from '../../start/database.mts';
import { readGateWorkflow, withCredentials } from '../../start/workflows.mts';
import { callOfGate, openOf, toldIn, unpaid, type ToldItem } from '../support/gate-lab.mts';

let lab: QueueLab;
let superuser: pg.Client;
let gateId: string;

before(async () => {
	lab = await startQueueLab();
	const { host, port, user } = lab.postgres;
	const admin = new pg.Client({ host, port, user, database: 'n8n' });
	await admin.connect();
	await admin.query('create database gate');
	await admin.end();
	const limits = { most_per_day: 10_000, most_per_payment: 100 };
	const logins = await setUpGateDatabase(`postgres://${user}@${host}:${port}/gate`, limits);
	const id = await lab.api.createCredential('Pay gate', 'postgres', { ...logins['Pay gate'] });
	const workflow = await readGateWorkflow('pay-gate.json');
	gateId = await publish(withCredentials(workflow, { 'Pay gate': id }));
	superuser = new pg.Client({ host, port, user, database: 'gate' });
	await superuser.connect();
});
after(async () => {
	await superuser?.end();
	await lab?.stop();
});

/** Imports and publishes a workflow; resolves to its id. */
async function publish(file: WorkflowFile): Promise<string> {
	const id = await lab.add(file);
	await lab.api.activate(id);
	return id;
}

/** A workflow that pays the rows that are posted to `webhook/<path>` through the gate. */
const webhookWorkflow = (path: string): WorkflowFile =>
	workflow(`Caller ${path}`, [
		webhook(path, { responseMode: 'onReceived' }),
		postedRows(),
		callOfGate(gateId),
	]);

async function post(path: string, payments: Payment[]): Promise<void> {
	const response = await fetch(`${lab.n8n.url}/webhook/${path}`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify({ rows: payments }),
	});
	assert.equal(response.status, 200);
}

test('five workflows and an imported copy of one pay the same 300 references at once, on two workers', async (context) => {
	const payments = payrollOf(lab.sandbox, 'all', 300);
	const paths = ['one', 'two', 'three', 'four', 'five', 'copy'];
	const callers: string[] = [];
	for (const path of paths) callers.push(await publish(webhookWorkflow(path)));
	await Promise.all(paths.map(async (path) => await post(path, payments)));
	const told: ToldItem[][] = [];
	const workers = new Set<number | undefined>();
	for (const caller of callers) {
		const [execution] = await executionsOf(lab, caller, 1);
		assert.ok(execution);
		assert.equal(execution.status, 'success');
		workers.add(await lab.workerOf(execution.id));
		told.push(toldIn(execution));
	}
	context.diagnostic(told.map((items) => JSON.stringify(counts(items))).join(' '));
	assert.equal(workers.size, 2, 'both workers took part');
	assert.deepEqual(new Set(timesPaid(lab.sandbox, payments)), new Set([1]));
	for (const items of told) {
		assert.equal(items.length, payments.length);
		// A payment that another one was sending is told so, and nobody has to settle it.
		assert.deepEqual(
			unpaid(items).filter(({ code }) => code !== 'inFlight'),
			[],
		);
	}
	const paid = told.flat().filter(({ outcome }) => outcome === 'paid');
	assert.equal(paid.length, payments.length);
	assert.deepEqual(await openOf(superuser, payments), []);
});
