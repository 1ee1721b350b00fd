/** A pay gate as a person has it after the six steps of gate/README.md: real n8n, real PostgreSQL, sandbox. */
import assert from 'node:assert/strict';
import pg from 'pg';
import { z } from 'zod';
import type { Execution, WorkflowFile } from '../../../demo/n8n-api.mts';
import { CREDENTIAL_TYPE } from '../../../demo/examples.mts';
import {
	readGateWorkflow,
	SET_UP_NODE,
	withCredentials,
	withPayGate,
} from '../../start/workflows.mts';
import { startLab, type Lab } from '../../../test/support/lab.mts';
import { logins, startGateServer, type GateDatabase, type GateServer } from './server.mts';

const SetUpLogin = z.object({
	'Credential to make': z.string(),
	User: z.string(),
	Password: z.string(),
});
type SetUpLogin = z.infer<typeof SetUpLogin>;

export interface InstalledGate {
	lab: Lab;
	server: GateServer;
	database: GateDatabase;
	/** Sees everything in the database. */
	superuser: pg.Client;
	/** Logged in as the gate's own login. */
	gate: pg.Client;
	/** Ids of credentials in n8n, by the names in the files. */
	credentials: Record<string, string>;
	setUpId: string;
	payGateId: string;
	/** Runs the set-up once more; resolves to what it shows. */
	setUpAgain(): Promise<SetUpLogin[]>;
	/** Imports a workflow with gate and credentials chosen; resolves to its id. */
	add(workflow: WorkflowFile): Promise<string>;
	/** Runs a workflow from this trigger to its end. */
	run(workflowId: string, trigger: string): Promise<Execution>;
	stop(): Promise<void>;
}

/** Starts everything and takes the six steps. */
export async function startInstalledGate(
	options: Parameters<typeof startLab>[0] = {},
): Promise<InstalledGate> {
	const [lab, server] = await Promise.all([startLab(options), startGateServer()]);
	const database = await server.emptyDatabase();
	const { api } = lab;
	const credentials: Record<string, string> = { 'ETB Wallet account': lab.credentialId };
	const { host, port } = database;

	async function addPostgres(name: string, user: string, password: string): Promise<void> {
		const data = { host, port, database: database.database, user, password, ssl: 'disable' };
		credentials[name] = await api.createCredential(name, 'postgres', data);
	}
	const run = async (workflowId: string, trigger: string) =>
		await api.endedExecution(await api.run(workflowId, trigger), 120_000);
	async function setUp(workflowId: string): Promise<SetUpLogin[]> {
		const execution = await run(workflowId, 'Set Up');
		assert.equal(execution.status, 'success', execution.error);
		const shown = execution.nodes[SET_UP_NODE]?.[0]?.outputs[0];
		return z.array(SetUpLogin).parse(shown);
	}

	await addPostgres('Pay gate administrator', logins.setup, 'not-checked');
	const file = await readGateWorkflow('gate-set-up.json');
	// It is not to be saved what the set-up shows, because of the passwords. Here it is looked at.
	const saved = { ...file, settings: { executionOrder: 'v1' } };
	const setUpId = await api.createWorkflow(withCredentials(saved, credentials));
	for (const login of await setUp(setUpId)) {
		await addPostgres(login['Credential to make'], login.User, login.Password);
	}
	const payGate = withCredentials(await readGateWorkflow('pay-gate.json'), credentials);
	const payGateId = await api.createWorkflow(payGate);
	await api.activate(payGateId);

	const gate = new pg.Client({
		host,
		port,
		database: database.database,
		user: `pay_gate_${database.database}`,
	});
	await gate.connect();
	const superuser = await database.connect('superuser');
	return {
		...{ lab, server, database, superuser, gate, credentials, setUpId, payGateId, run },
		setUpAgain: async () => await setUp(setUpId),
		async add(workflow) {
			const account = { id: lab.credentialId, name: 'account' };
			const nodes = workflow.nodes.map((node) =>
				node.type.startsWith('n8n-nodes-etb-wallet.')
					? { ...node, credentials: { [CREDENTIAL_TYPE]: account } }
					: node,
			);
			return await api.createWorkflow(
				withPayGate(withCredentials({ ...workflow, nodes }, credentials), payGateId),
			);
		},
		async stop() {
			await gate.end();
			await superuser.end();
			await lab.stop();
			await server.stop();
		},
	};
}
