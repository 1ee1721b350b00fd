/** A pay gate as a person has it after the steps of gate/README.md, in the real n8n, with its PostgreSQL and the sandbox. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { z } from 'zod';
import type { Execution, N8nApi, WorkflowFile } from '../../../demo/n8n-api.mts';
import { PAY, START, callOf, list, start, workflow } from '../../../test/support/n8n/workflow.mts';
import type { Sandbox } from '../../../sandbox/sandbox.mts';
import { startLab, timesPaid, type Lab } from '../../../test/support/lab.mts';
import {
	readGateWorkflow,
	SET_UP_NODE,
	withCredentials,
	withPayGate,
} from '../../start/workflows.mts';
import { payrollOf, type Payment } from './callers.mts';
import { endLeases, logins, rows, settle, startGateServer } from './server.mts';

export const toldItems = z.array(
	z.object({
		reference: z.string().nullish(),
		toUserId: z.string(),
		outcome: z.string(),
		code: z.string().nullable(),
		message: z.string().nullable(),
		txHash: z.string().nullable(),
	}),
);
/** The result of a payment, as the gate tells it. */
export type ToldItem = z.infer<typeof toldItems>[number];

/** Those that are not paid. */
export const unpaid = (told: ToldItem[]) =>
	told.filter(({ outcome }) => outcome !== 'paid' && outcome !== 'alreadyPaid');

/** The references of these payments that are neither paid nor free. */
export async function openOf(superuser: pg.Client, payments: Payment[]): Promise<string[]> {
	const sql =
		'select reference from etb_wallet.open_payments where reference = any ($1) order by 1';
	const references = payments.map(({ reference }) => reference);
	const found = await rows(superuser, z.object({ reference: z.string() }), sql, [references]);
	return found.map(({ reference }) => reference);
}

/** Each lease has ended; a person says of each of these payments that is open what the service says. */
export async function settleByPerson(
	superuser: pg.Client,
	sandbox: Sandbox,
	payments: Payment[],
): Promise<number> {
	for (const state of ['sending', 'unknown'] as const) await endLeases(superuser, state);
	const times = timesPaid(sandbox, payments);
	const paid = new Set(
		payments.filter((_, index) => times[index] === 1).map((own) => own.reference),
	);
	const open = await openOf(superuser, payments);
	for (const reference of open) await settle(superuser, 'main', reference, paid.has(reference));
	return open.length;
}

/** A node that calls the gate with each of its items. */
export const callOfGate = (gateId: string) =>
	callOf(PAY, gateId, {
		reference: '={{ $json.reference }}',
		toUserId: '={{ $json.toUserId }}',
		amountEtb: '={{ $json.amountEtb }}',
		requestedBy: 'payroll',
	});

/** Calls the gate as another workflow does; resolves to the execution, which goes on. */
export async function beginPaying(
	api: N8nApi,
	gateId: string,
	payments: Payment[],
): Promise<string> {
	const name = `caller ${randomUUID()}`;
	const caller = workflow(name, [start(), list(payments), callOfGate(gateId)]);
	return await api.run(await api.createWorkflow(caller), START);
}

/** What the gate says to the caller. */
export const toldIn = ({ nodes }: Execution): ToldItem[] =>
	toldItems.parse(nodes[PAY]?.[0]?.outputs[0] ?? []);

/** Calls the gate as another workflow does, and waits until it has ended. */
export async function payThrough(api: N8nApi, gateId: string, payments: Payment[]) {
	const execution = await api.endedExecution(await beginPaying(api, gateId, payments), 180_000);
	return { execution, told: toldIn(execution) };
}

/** Publishes pay-gate.json with these credentials; resolves to its id. */
export async function publishGate(
	api: N8nApi,
	credentials: Record<string, string>,
): Promise<string> {
	const id = await api.createWorkflow(
		withCredentials(await readGateWorkflow('pay-gate.json'), credentials),
	);
	await api.activate(id);
	return id;
}

const EditFields = z
	.object({
		assignments: z.object({ assignments: z.array(z.object({ name: z.string() }).passthrough()) }),
	})
	.passthrough();

/** Writes these values into an Edit Fields node, as a person does. */
export async function writeFields(
	{ api }: Lab,
	workflowId: string,
	nodeName: string,
	values: Record<string, string>,
): Promise<void> {
	await api.changeWorkflow(workflowId, ({ nodes }) => ({
		nodes: nodes.map((node) => {
			if (node.name !== nodeName) return node;
			const fields = EditFields.parse(node.parameters);
			const assignments = fields.assignments.assignments.map((field) => {
				return { ...field, value: values[field.name] ?? field.value };
			});
			return { ...node, parameters: { ...fields, assignments: { assignments } } };
		}),
	}));
}

const SetUpLogin = z.object({
	'Credential to make': z.string(),
	User: z.string(),
	Password: z.string(),
});
type SetUpLogin = z.infer<typeof SetUpLogin>;

/** The fields of a Postgres credential. */
type PostgresFields = Record<string, unknown>;

/** Starts n8n, the sandbox and PostgreSQL, and takes the steps of the README, up to publishing the gate. */
export async function startGateLab(options: Parameters<typeof startLab>[0] = {}) {
	const server = await startGateServer();
	// A server that is left running keeps the test's process alive.
	const lab = await startLab(options).catch(async (error: unknown) => {
		await server.stop();
		throw error;
	});
	const { api } = lab;
	const database = await server.emptyDatabase();
	const { host, port, database: name } = database;
	const credentials: Record<string, string> = { 'ETB Wallet account': lab.credentialId };
	const users: Record<string, PostgresFields> = {};

	async function addPostgres(credential: string, user: string, password: string): Promise<void> {
		users[credential] = { host, port, database: name, user, password, ssl: 'disable' };
		credentials[credential] = await api.createCredential(credential, 'postgres', users[credential]);
	}
	const run = async (workflowId: string, trigger: string) =>
		await api.endedExecution(await api.run(workflowId, trigger), 120_000);
	async function setUp(workflowId: string): Promise<SetUpLogin[]> {
		const execution = await run(workflowId, 'Set Up');
		assert.equal(execution.status, 'success', execution.error);
		return z.array(SetUpLogin).parse(execution.nodes[SET_UP_NODE]?.[0]?.outputs[0]);
	}

	await addPostgres('Pay gate administrator', logins.setup, 'not-checked');
	const file = await readGateWorkflow('gate-set-up.json');
	// It is not to be saved what the set-up shows, because of the passwords. Here it is looked at.
	const saved = { ...file, settings: { executionOrder: 'v1' } };
	const setUpId = await api.createWorkflow(withCredentials(saved, credentials));
	for (const login of await setUp(setUpId))
		await addPostgres(login['Credential to make'], login.User, login.Password);
	const payGateId = await publishGate(api, credentials);

	const gateLab = {
		...{ lab, server, database, setUpId, payGateId },
		/** Sees everything in the database. */
		superuser: await database.connect('superuser'),
		/** Logged in as the gate's own login. */
		gate: await database.connect(`pay_gate_${name}`),
		/** Ids of credentials in n8n, by the names in the files. */
		credentials,
		/** The data of the credential of this name. */
		login: (credential: string) => ({ ...users[credential] }),
		/** Runs a workflow from this trigger to its end. */
		run,
		/** Runs the set-up once more; resolves to what it shows. */
		setUpAgain: async () => await setUp(setUpId),
		/** Imports a workflow with gate and credentials chosen; resolves to its id. */
		add: async (added: WorkflowFile) =>
			await lab.add(withPayGate(withCredentials(added, credentials), payGateId)),
		/** Publishes a second workflow of the gate, with these changes of its login; resolves to its id. */
		async addGate(changes: PostgresFields): Promise<string> {
			const login = { ...users['Pay gate'], ...changes };
			const id = await api.createCredential('Another pay gate', 'postgres', login);
			return await publishGate(api, { ...credentials, 'Pay gate': id });
		},
		/** Users of the sandbox with a payment each. */
		payroll: (of: string, count: number) => payrollOf(lab.sandbox, of, count),
		/** How often the user of each was paid, by the sandbox's books. */
		times: (payments: Payment[]) => timesPaid(lab.sandbox, payments),
		/** Calls a gate as another workflow does. */
		pay: async (payments: Payment[], gateId = payGateId) => await payThrough(api, gateId, payments),
		/** Stops PostgreSQL and starts it again; `superuser` is another connection then. */
		async restartPostgres(): Promise<void> {
			await server.restart();
			gateLab.superuser = await database.connect('superuser');
		},
		async stop(): Promise<void> {
			await lab.stop();
			await server.stop();
		},
	};
	return gateLab;
}
export type GateLab = Awaited<ReturnType<typeof startGateLab>>;
