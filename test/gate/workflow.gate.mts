/** The pay gate's workflow in the real n8n: set up by n8n's own Postgres node, called by another workflow, paying through the sandbox. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type pg from 'pg';
import { z } from 'zod';
import { WorkflowFile, type Execution } from '../../n8n/api.mts';
import { projectFolder } from '../../n8n/folders.mts';
import { startRealWorld, timesPaid, type RealWorld } from '../real/world.mts';
import {
	logins,
	rows,
	schemaFile,
	setRules,
	startGateServer,
	type GateDatabase,
	type GateServer,
	type Login,
} from './gate.mts';

let world: RealWorld;
let server: GateServer;
let database: GateDatabase;
let superuser: pg.Client;
let gateId: string;

const TRIGGER = 'Start';

const node = (name: string, type: string, typeVersion: number, parameters: object) => ({
	...{ id: randomUUID(), name, type, typeVersion, parameters },
	position: [0, 0],
});
const oneAfterTheOther = (...names: string[]): Record<string, unknown> => {
	const connections: Record<string, unknown> = {};
	let from: string | undefined;
	for (const to of names) {
		if (from !== undefined) connections[from] = { main: [[{ node: to, type: 'main', index: 0 }]] };
		from = to;
	}
	return connections;
};

/** A workflow that a person starts. */
const startedByHand = (
	name: string,
	...nodes: Array<ReturnType<typeof node> & { credentials?: object }>
): WorkflowFile =>
	WorkflowFile.parse({
		name,
		nodes: [node(TRIGGER, 'n8n-nodes-base.manualTrigger', 1, {}), ...nodes],
		connections: oneAfterTheOther(TRIGGER, ...nodes.map((own) => own.name)),
		settings: { executionOrder: 'v1' },
	});

const run = async (workflowId: string): Promise<Execution> =>
	await world.api.endedExecution(await world.api.run(workflowId, TRIGGER), 120_000);

const postgresCredential = async (login: Login) => ({
	id: await world.api.createCredential(logins[login], 'postgres', {
		...{ host: database.host, port: database.port, database: database.database },
		...{ user: logins[login], password: 'not-checked', ssl: 'disable' },
	}),
	name: logins[login],
});

/** Adds the gate's workflow with these credentials; resolves to its id. */
async function addGate(etbWalletId: string): Promise<string> {
	const file: unknown = JSON.parse(
		await readFile(join(projectFolder, 'gate', 'pay-gate.json'), 'utf8'),
	);
	const gate = WorkflowFile.parse(file);
	const postgres = await postgresCredential('gate');
	const nodes = gate.nodes.map((own) => {
		if (own.type === 'n8n-nodes-base.postgres') return { ...own, credentials: { postgres } };
		if (own.type !== 'n8n-nodes-etb-wallet.etbWallet') return own;
		return { ...own, credentials: { etbWalletApi: { id: etbWalletId, name: 'account' } } };
	});
	const id = await world.api.createWorkflow({ ...gate, nodes });
	await world.api.activate(id);
	return id;
}

before(async () => {
	[world, server] = await Promise.all([startRealWorld(), startGateServer()]);
	database = await server.emptyDatabase();
	superuser = await database.connect('superuser');
});
after(async () => {
	await superuser.end();
	await world.stop();
	await server.stop();
});

interface Payment {
	reference?: string;
	toUserId: string;
	amountEtb: unknown;
}

/** New users of the sandbox with one payment each. */
const payroll = (name: string, count: number): Payment[] =>
	Array.from({ length: count }, (_, index) => ({
		reference: `${name}-${index}`,
		toUserId: world.sandbox.books.addUser({ externalId: `${name}-${index}` }).id,
		amountEtb: 1,
	}));

/** Pays through the gate, as another workflow; resolves to what came back. */
async function pay(payments: Payment[], workflowId = gateId) {
	const caller = startedByHand(
		`caller ${randomUUID()}`,
		node('Rows', 'n8n-nodes-base.code', 2, {
			jsCode: `return ${JSON.stringify(payments)}.map((json) => ({ json }))`,
		}),
		node('Pay', 'n8n-nodes-base.executeWorkflow', 1.2, {
			workflowId: { __rl: true, mode: 'id', value: workflowId },
			workflowInputs: {
				mappingMode: 'defineBelow',
				value: {
					reference: '={{ $json.reference }}',
					toUserId: '={{ $json.toUserId }}',
					amountEtb: '={{ $json.amountEtb }}',
					requestedBy: 'payroll',
				},
				matchingColumns: [],
				schema: [],
			},
			options: {},
		}),
	);
	const execution = await run(await world.api.createWorkflow(caller));
	const items = execution.nodes.Pay?.[0]?.outputs[0] ?? [];
	const told = z.array(
		z.object({
			reference: z.string().nullish(),
			toUserId: z.string(),
			outcome: z.string(),
			txHash: z.string().nullable(),
			reason: z.string().nullable(),
		}),
	);
	return { execution, told: told.parse(items) };
}

const counts = (told: Array<{ outcome: string }>) => {
	const count: Record<string, number> = {};
	for (const { outcome } of told) count[outcome] = (count[outcome] ?? 0) + 1;
	return count;
};

test("set up in one query of n8n's Postgres node, by a role that is no superuser, twice", async () => {
	const setUp = startedByHand('Set up', {
		...node('Set Up', 'n8n-nodes-base.postgres', 2.6, {
			operation: 'executeQuery',
			query: await readFile(schemaFile, 'utf8'),
			options: {},
		}),
		credentials: { postgres: await postgresCredential('setup') },
	});
	const id = await world.api.createWorkflow(setUp);
	for (let time = 0; time < 2; time++) {
		const execution = await run(id);
		assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	}
	await superuser.query(`create role ${logins.gate} login in role etb_wallet_gate`);
	await setRules(superuser, 'main', { most_per_day: 200 });
	gateId = await addGate(world.credentialId);
});

test('each item comes back once, in order, with its outcome; a second call pays nobody again', async () => {
	const payments = payroll('first', 120);
	const [bad, second] = [payments[7], payments[60]];
	assert.ok(bad && second);
	bad.amountEtb = '1,000';
	second.reference = undefined;
	const { told, execution } = await pay(payments);
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	assert.deepEqual(
		told.map(({ toUserId }) => toUserId),
		payments.map(({ toUserId }) => toUserId),
	);
	assert.deepEqual(counts(told), { paid: 118, notPaid: 2 });
	assert.match(told[7]?.reason ?? '', /not a plain amount, such as 1250.50: 1,000/);
	assert.match(told[60]?.reason ?? '', /no reference/);
	const again = await pay(payments);
	assert.deepEqual(counts(again.told), { alreadyPaid: 118, notPaid: 2 });
	assert.equal(again.told[0]?.txHash, told[0]?.txHash);
	assert.equal(timesPaid(world.sandbox, payments).filter((times) => times !== 1).length, 2);
});

test('the budget of the day holds for all callers at once', async () => {
	const lists = ['a', 'b', 'c'].map((name) => payroll(`budget-${name}`, 60));
	const calls = await Promise.all(lists.map(async (payments) => await pay(payments)));
	const told = calls.flatMap((call) => call.told);
	assert.deepEqual(counts(told), { paid: 82, notPaid: 98 });
	assert.match(
		told.find(({ outcome }) => outcome === 'notPaid')?.reason ?? '',
		/Above the most for one day, 200 ETB/,
	);
	const times = lists.flatMap((payments) => timesPaid(world.sandbox, payments));
	assert.equal(times.filter((count) => count === 1).length, 82);
	assert.equal(times.filter((count) => count > 1).length, 0);
});

test('with a credential that is gone nobody is paid, nothing is unknown, and the money is free again', async () => {
	await setRules(superuser, 'main', { most_per_day: 1000 });
	const payments = payroll('gone', 3);
	const { told } = await pay(payments, await addGate('gone'));
	assert.deepEqual(counts(told), { notPaid: 3 }, JSON.stringify(told));
	const open = await rows(superuser, z.unknown(), 'select * from etb_wallet.open_payments');
	assert.deepEqual(open, []);
	assert.deepEqual(counts((await pay(payments)).told), { paid: 3 });
});
