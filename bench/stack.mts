/** The n8n, the package in it and the service that a bench measures. */
import { N8nApi, type WorkflowFile } from '../demo/api.mts';
import {
	CREDENTIAL_NAME,
	CREDENTIAL_TYPE,
	credentialFor,
	importWorkflow,
} from '../demo/examples.mts';
import { ensureN8nInstalled } from '../demo/install.mts';
import { startN8n, type N8nInstance, type N8nOptions } from '../demo/instance.mts';
import { installPackage } from '../demo/package-tarball.mts';
import { freePort } from '../demo/ports.mts';
import { Executions } from './executions.mts';
import { INSPECTABLE, Inspector } from '../test/support/inspector.mts';
import { startService, type Service } from './service.mts';
import { temporaryFolder } from './temporary-folder.mts';
import type { CredentialReference } from './workflows.mts';

const owner = { email: 'owner@example.com', password: 'Bench-of-n8n-1' };

/** A real n8n with the packed package in it, its database, and the partner service beside it. */
export interface Stack {
	n8n: N8nInstance;
	api: N8nApi;
	inspector: Inspector;
	executions: Executions;
	service: Service;
	/** Creates a credential of one of n8n's own types. */
	addCredential(name: string, type: string, data: object): Promise<CredentialReference>;
	/** Publishes a workflow whose nodes of this package use an account of the service; resolves to its id. */
	publish(workflow: WorkflowFile, account?: 'payments' | 'events'): Promise<string>;
	/** Starts n8n again on the same data with these changes to its environment. */
	restart(env: N8nOptions['env']): Promise<void>;
	stop(): Promise<void>;
}

export async function startStack(print: (line: string) => void): Promise<Stack> {
	await ensureN8nInstalled(print);
	const folder = temporaryFolder();
	await installPackage(folder);
	const service = await startService();
	const port = await freePort();
	const start = async (env: N8nOptions['env'] = {}) =>
		await startN8n({ userFolder: folder, port, env: { ...INSPECTABLE, ...env } });

	const n8n = await start();
	const api = new N8nApi(n8n.url);
	await api.setUpOwner(owner);
	const accounts = {
		payments: await api.createCredential(
			CREDENTIAL_NAME,
			CREDENTIAL_TYPE,
			credentialFor(service.payments),
		),
		events: await api.createCredential(
			CREDENTIAL_NAME,
			CREDENTIAL_TYPE,
			credentialFor(service.events),
		),
	};
	const stack: Stack = {
		n8n,
		api,
		inspector: await Inspector.ofLog(n8n.logFile),
		executions: new Executions(folder),
		service,
		addCredential: async (name, type, data) => ({
			id: await api.createCredential(name, type, data),
			name,
		}),
		async publish(workflow, account = 'payments') {
			const id = await importWorkflow(api, workflow, accounts[account]);
			await api.activate(id);
			return id;
		},
		async restart(env) {
			stack.inspector.close();
			await stack.n8n.stop();
			stack.n8n = await start(env);
			stack.inspector = await Inspector.ofLog(stack.n8n.logFile);
			await api.logIn(owner);
		},
		async stop() {
			stack.inspector.close();
			stack.executions.close();
			await stack.n8n.stop();
			await service.stop();
		},
	};
	return stack;
}
