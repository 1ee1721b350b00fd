/** A real n8n with the packed package in it, and a sandbox beside it, for tests that drive both. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Execution, WorkflowFile } from '../../demo/n8n-api.mts';
import { N8nTestApi } from './n8n/n8n-test-api.mts';
import {
	CREDENTIAL_NAME,
	CREDENTIAL_TYPE,
	credentialFor,
	importWorkflow,
} from '../../demo/examples.mts';
import type { N8nInstance, N8nOptions } from '../../demo/n8n-process.mts';
import { startN8n } from '../../demo/n8n-process.mts';
import { freePort } from '../../demo/ports.mts';
import { startStack } from '../../demo/stack.mts';
import type { Sandbox, SandboxOptions } from '../../sandbox/sandbox.mts';
import { requireFreshBuild } from './fresh-build.mts';

/** The account that the tests set up in n8n. */
export const owner = { email: 'owner@example.com', password: 'Real-n8n-test-1' };

export interface Lab {
	sandbox: Sandbox;
	n8n: N8nInstance;
	api: N8nTestApi;
	credentialId: string;
	/** Imports a workflow with the credential chosen; resolves to its id. */
	add(workflow: WorkflowFile): Promise<string>;
	/** Starts n8n again on the same data, after `n8n.stop()` or `n8n.kill()`. */
	restartN8n(): Promise<void>;
	/** Another credential with these changes. */
	addCredential(changes: object): Promise<{ id: string; name: string }>;
	stop(): Promise<void>;
}

export interface LabOptions {
	sandbox?: SandboxOptions;
	env?: N8nOptions['env'];
	/** Makes the account of `owner` on the first page of this n8n, as a person does. */
	signUp?: (url: string) => Promise<void>;
}

/** Starts sandbox and n8n with an owner account and a credential for the sandbox. */
export async function startLab(options: LabOptions = {}): Promise<Lab> {
	requireFreshBuild();
	const folder = await mkdtemp(join(tmpdir(), 'n8n-real-'));
	const port = await freePort();
	const stack = await startStack({
		folder,
		n8nPort: port,
		sandbox: options.sandbox,
		env: options.env,
		print: () => undefined,
	});
	const api = new N8nTestApi(stack.n8n.url);
	if (options.signUp === undefined) await api.setUpOwner(owner);
	else {
		await options.signUp(stack.n8n.url);
		await api.logIn(owner);
	}
	const credentialId = await api.createCredential(
		CREDENTIAL_NAME,
		CREDENTIAL_TYPE,
		credentialFor(stack.sandbox),
	);
	const lab: Lab = {
		sandbox: stack.sandbox,
		n8n: stack.n8n,
		api,
		credentialId,
		add: async (workflow) => await importWorkflow(api, workflow, credentialId),
		async restartN8n() {
			await lab.n8n.exited;
			lab.n8n = await startN8n({ userFolder: folder, port, env: options.env });
			await api.logIn(owner);
		},
		async addCredential(changes) {
			const name = `Changed credential ${JSON.stringify(Object.keys(changes))}`;
			const data = { ...credentialFor(stack.sandbox), ...changes };
			return { id: await api.createCredential(name, CREDENTIAL_TYPE, data), name };
		},
		async stop() {
			await lab.n8n.stop();
			await stack.sandbox.stop();
			await rm(folder, { recursive: true, force: true });
		},
	};
	return lab;
}

/**
 * Whether n8n passes requests on to its triggers: while it updates its database at its start, it answers them
 * 200 and drops them.
 */
export async function isReady(url: string): Promise<boolean> {
	const headers = { connection: 'close' };
	const response = await fetch(new URL('/healthz/readiness', url), { headers }).catch(
		() => undefined,
	);
	await response?.arrayBuffer();
	return response?.status === 200;
}

const pollEvery = 100;

/** Asks until the result is not undefined; rejects when that takes longer than `withinMs`. */
export async function eventually<Result>(
	what: string,
	ask: () => Promise<Result | undefined> | Result | undefined,
	withinMs = 60_000,
): Promise<Result> {
	const deadline = Date.now() + withinMs;
	for (;;) {
		const result = await ask();
		if (result !== undefined) return result;
		if (Date.now() > deadline) throw new Error(`not within ${withinMs / 1000} s: ${what}`);
		await sleep(pollEvery);
	}
}

/** The number of payments to the user of each row, by the sandbox's books. */
export function timesPaid(sandbox: Sandbox, rows: Array<{ toUserId: string }>): number[] {
	const times = new Map(rows.map(({ toUserId }) => [toUserId, 0]));
	for (const { toUserId } of sandbox.books.disbursements()) {
		const before = times.get(toUserId);
		if (before !== undefined) times.set(toUserId, before + 1);
	}
	return [...times.values()];
}

/** All executions of a workflow, oldest first, once `count` of them have ended. */
export async function executionsOf(
	{ api }: Pick<Lab, 'api'>,
	workflowId: string,
	count: number,
	withinMs?: number,
): Promise<Execution[]> {
	const ids = await eventually(
		`${count} executions of workflow ${workflowId}`,
		async () => {
			const found = await api.executionIds(workflowId);
			return found.length >= count ? found : undefined;
		},
		withinMs,
	);
	const executions: Execution[] = [];
	for (const id of ids.reverse()) executions.push(await api.endedExecution(id));
	return executions;
}

const Parameters = z.object({ parameters: z.record(z.unknown()) });

/** Changes fields of a node and saves, as a person does in the editor. */
export async function setFields(
	api: N8nTestApi,
	workflowId: string,
	nodeName: string,
	fields: object,
): Promise<void> {
	await api.changeWorkflow(workflowId, ({ nodes }) => ({
		nodes: nodes.map((node) =>
			node.name === nodeName
				? { ...node, parameters: { ...Parameters.parse(node).parameters, ...fields } }
				: node,
		),
	}));
}

/** The payments in the books after the first `since`, as "user amount", in order of user. */
export const paidSince = (sandbox: Sandbox, since: number): string[] =>
	sandbox.books
		.disbursements()
		.slice(since)
		.map(({ toUserId, amountEtb }) => `${toUserId} ${amountEtb}`)
		.sort();
