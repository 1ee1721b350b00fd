/** The pay gate's workflow in the real n8n, with its PostgreSQL and the sandbox, for tests that pay through it. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { z } from 'zod';
import type { Execution, N8nApi, WorkflowFile } from '../../../demo/n8n-api.mts';
import type { N8nOptions } from '../../../demo/n8n-process.mts';
import { PAY, START, list, start, workflow } from '../../../test/support/n8n/workflow.mts';
import type { Sandbox } from '../../../sandbox/sandbox.mts';
import { callOf, payrollOf, type Payment } from '../../../test/support/callers.mts';
import { startLab, timesPaid, type Lab } from '../../../test/support/lab.mts';
import { readGateWorkflow } from '../../start/workflows.mts';
import {
	endLeases,
	logins,
	rows,
	setRules,
	settle,
	startGateServer,
	type Address,
	type GateDatabase,
	type GateServer,
	type Login,
} from './server.mts';

/** The trigger of the gate. */
export const GATE_TRIGGER = 'When Called by Another Workflow';

const toldItem = z.object({
	reference: z.string().nullish(),
	toUserId: z.string(),
	outcome: z.string(),
	code: z.string().nullable(),
	message: z.string().nullable(),
	txHash: z.string().nullable(),
});
/** What the gate told about a payment. */
export type ToldItem = z.infer<typeof toldItem>;
export const toldItems = z.array(toldItem);

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

/** What the gate told the caller. */
export const toldIn = ({ nodes }: Execution): ToldItem[] =>
	toldItems.parse(nodes[PAY]?.[0]?.outputs[0] ?? []);

interface Credential {
	id: string;
	name: string;
}

/**
 * The gate's workflow with these credentials.
 * @param options of the ETB Wallet node
 */
export async function gateWorkflow(
	postgres: Credential,
	etbWalletApi: Credential,
	options: object = { concurrency: 10 },
): Promise<WorkflowFile> {
	const gate = await readGateWorkflow('pay-gate.json');
	const nodes = gate.nodes.map((own) => {
		if (own.type === 'n8n-nodes-base.postgres') return { ...own, credentials: { postgres } };
		if (own.type !== 'n8n-nodes-etb-wallet.etbWallet') return own;
		const parameters = { ...z.object({}).passthrough().parse(own.parameters), options };
		return { ...own, parameters, credentials: { etbWalletApi } };
	});
	return { ...gate, nodes };
}

/** Adds a credential of n8n's Postgres node. */
export async function addPostgresCredential(
	api: N8nApi,
	{ host, port, database }: Address,
	login: Login,
): Promise<Credential> {
	const name = `${logins[login]} ${port} ${database}`;
	const data = {
		...{ host, port, database, ssl: 'disable' },
		...{ user: logins[login], password: 'not-checked' },
	};
	return { id: await api.createCredential(name, 'postgres', data), name };
}

/** Calls the gate as another workflow does, and waits until it has ended. */
export async function payThrough(
	api: N8nApi,
	gateId: string,
	payments: Payment[],
): Promise<{ execution: Execution; told: ToldItem[] }> {
	const execution = await api.endedExecution(await beginPaying(api, gateId, payments), 180_000);
	return { execution, told: toldIn(execution) };
}

export interface GateLab {
	lab: Lab;
	server: GateServer;
	database: GateDatabase;
	superuser: pg.Client;
	/** The credential of the service. */
	account: Credential;
	payroll(name: string, count: number): Payment[];
	/** Adds a gate's workflow; resolves to its id. */
	addGate(from?: {
		address?: Address;
		login?: Login;
		account?: Credential;
		options?: object;
	}): Promise<string>;
	/** Calls a gate as another workflow does. */
	pay(payments: Payment[], gateId: string): Promise<{ execution: Execution; told: ToldItem[] }>;
	/** Stops PostgreSQL and starts it again; `superuser` is another connection then. */
	restartPostgres(): Promise<void>;
	/** A lease that a test can wait for, which a person cannot set. */
	setLease(lease: string): Promise<void>;
	/** How often the user of each was paid, by the sandbox's books. */
	times: (payments: Payment[]) => number[];
	stop(): Promise<void>;
}

/**
 * Starts n8n, the sandbox and PostgreSQL, with a gate in it for the budget `main`.
 * @param options.isSetUp whether the gate's schema is in the database already
 */
export async function startGateLab(
	options: { isSetUp?: boolean; env?: N8nOptions['env'] } = {},
): Promise<GateLab> {
	const { isSetUp = true, env } = options;
	const server = await startGateServer();
	// What is left running keeps the test's process alive.
	const lab = await startLab({ env }).catch(async (error: unknown) => {
		await server.stop();
		throw error;
	});
	const database = await (isSetUp ? server.gate() : server.emptyDatabase());
	const superuser = await database.connect('superuser');
	if (isSetUp) await setRules(superuser, 'main', {});
	const account = { id: lab.credentialId, name: 'account' };
	const gateLab: GateLab = {
		lab,
		server,
		database,
		superuser,
		account,
		payroll: (name, count) => payrollOf(lab.sandbox, name, count),
		times: (payments) => timesPaid(lab.sandbox, payments),
		async addGate({ address = database, login = 'gate', account: other = account, options } = {}) {
			const postgres = await addPostgresCredential(lab.api, address, login);
			const id = await lab.api.createWorkflow(await gateWorkflow(postgres, other, options));
			await lab.api.activate(id);
			return id;
		},
		pay: async (payments, gateId) => await payThrough(lab.api, gateId, payments),
		async setLease(lease) {
			await gateLab.superuser.query('update etb_wallet.rules set lease = $1', [lease]);
		},
		async restartPostgres() {
			await gateLab.superuser.end();
			await server.restart();
			gateLab.superuser = await database.connect('superuser');
		},
		async stop() {
			await gateLab.superuser.end();
			await lab.stop();
			await server.stop();
		},
	};
	return gateLab;
}
