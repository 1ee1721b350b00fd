/** n8n in queue mode as users run it: a main process, two workers and two webhook processes behind one address. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'flatted';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import type { WorkflowFile } from '../../../demo/n8n-api.mts';
import { N8nTestApi } from '../n8n/n8n-test-api.mts';
import {
	CREDENTIAL_NAME,
	CREDENTIAL_TYPE,
	credentialFor,
	importWorkflow,
} from '../../../demo/examples.mts';
import { projectFolder } from '../../../demo/folders.mts';
import { ensureN8nInstalled } from '../../../demo/n8n-install.mts';
import { startN8n, type N8nInstance, type N8nOptions } from '../../../demo/n8n-process.mts';
import { installPackage } from '../../../demo/package-tarball.mts';
import { freePort } from '../../../demo/ports.mts';
import { startSandbox, type Sandbox } from '../../../sandbox/sandbox.mts';
import { requireFreshBuild } from '../fresh-build.mts';
import { eventually } from '../lab.mts';
import {
	startPostgres,
	startProxy,
	startRedis,
	type Postgres,
	type Service,
} from '../services.mts';

/** The time that a webhook process and its worker may need for all requests of the tests. */
const ALL_ENDED_WITHIN_MS = 180_000;

/** Longer than usual, so that a slow machine causes no retries. */
const DELIVERY_TIMEOUT_MS = 30_000;

export const owner = {
	email: 'owner@example.com',
	password: 'Queue-n8n-test-1',
	passwordHash: '$2a$10$X9lXkSS3VpWarOLYsZmE1.XMCzD8Y8t.PP9MkE55ie9rDdHU9yWNu',
};

const Compose = z.object({ services: z.record(z.unknown()) });
const Container = z.object({
	command: z.enum(['start', 'webhook', 'worker']),
	environment: z.record(z.string()),
});

/** The containers of deploy/queue/compose.yaml that run n8n, with these values for its variables. */
async function composeContainers(
	values: Readonly<Record<string, string>>,
): Promise<(name: string) => z.infer<typeof Container>> {
	const file = join(projectFolder, 'deploy', 'queue', 'compose.yaml');
	const text = (await readFile(file, 'utf8')).replace(
		/\$\{(\w+)[^}]*\}/g,
		(_, name: string) => values[name] ?? assert.fail(`${file}: ${name} has no value`),
	);
	const { services } = Compose.parse(parseYaml(text, { merge: true }));
	return (name) => Container.parse(services[name]);
}

/** One of n8n's processes, which can be ended and started again on its own data. */
export class Process {
	private readonly options: N8nOptions;
	private instance?: N8nInstance;

	constructor(options: N8nOptions) {
		this.options = options;
	}

	async start(): Promise<void> {
		this.instance = await startN8n(this.options);
	}

	/** The address of this process alone. */
	get url(): string {
		return `http://127.0.0.1:${this.options.port}/`;
	}

	async stop(): Promise<void> {
		await this.instance?.stop();
		this.instance = undefined;
	}

	/** Ends the process with SIGKILL. */
	async kill(): Promise<void> {
		this.instance?.kill();
		await this.instance?.exited;
		this.instance = undefined;
	}

	/** The log since the start. */
	async log(): Promise<string> {
		return await readFile(join(this.options.userFolder, 'n8n.log'), 'utf8');
	}
}

const Row = z.object({
	id: z.number(),
	status: z.string(),
	mode: z.string(),
	data: z.string().nullable(),
});

/** An execution as PostgreSQL has it. */
export interface ExecutionRow {
	id: string;
	status: string;
	mode: string;
	/** The json of each item in the first output of the node with this name. */
	itemsOf(node: string): unknown[];
}

const RunData = z.object({
	resultData: z.object({
		runData: z.record(
			z.array(
				z.object({
					data: z
						.object({ main: z.array(z.array(z.object({ json: z.unknown() })).nullable()) })
						.optional(),
				}),
			),
		),
	}),
});

function itemsIn(data: string | null, node: string): unknown[] {
	if (data === null) return [];
	const { runData } = RunData.parse(parse(data)).resultData;
	return (runData[node]?.[0]?.data?.main[0] ?? []).map(({ json }) => json);
}

const UNFINISHED = ['new', 'running', 'waiting'];

export interface QueueLab {
	sandbox: Sandbox;
	api: N8nTestApi;
	postgres: Postgres;
	/** The address that all processes have in common, with a slash at the end. */
	publicUrl: string;
	main: Process;
	workers: [Process, Process];
	webhooks: [Process, Process];
	/** Imports a workflow with the credential chosen, publishes it and resolves to its id. */
	publish(workflow: WorkflowFile): Promise<string>;
	/** Imports a workflow; resolves to its id. */
	add(workflow: WorkflowFile): Promise<string>;
	/** All executions of a workflow, oldest first, once there are `count` and none is unfinished. */
	executions(workflowId: string, count: number, withinMs?: number): Promise<ExecutionRow[]>;
	/** The executions of a workflow at this moment, oldest first; of one status, if given. */
	executionsNow(workflowId: string, status?: string): Promise<ExecutionRow[]>;
	/** The index of the worker that ran an execution. */
	workerOf(executionId: string): Promise<number | undefined>;
	stop(): Promise<void>;
}

/** Starts everything, with an owner account and a credential for the sandbox. */
export async function startQueueLab(): Promise<QueueLab> {
	requireFreshBuild();
	await ensureN8nInstalled(() => undefined);
	const folder = await mkdtemp(join(tmpdir(), 'n8n-queue-'));
	await chmod(folder, 0o711); // the user of PostgreSQL has to reach its own folder in it
	const started: Service[] = [];
	// An exit, unlike a signal, ends every process that was started here.
	const interrupted = () => process.exit(1);
	const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
	for (const signal of signals) process.once(signal, interrupted);
	const removeFolder = () => rmSync(folder, { recursive: true, force: true });
	const stop = async () => {
		for (const service of started.splice(0).reverse()) await service.stop();
		await rm(folder, { recursive: true, force: true });
		process.off('exit', removeFolder);
		for (const signal of signals) process.off(signal, interrupted);
	};
	const keep = <Started extends Service>(service: Started): Started => {
		started.push(service);
		return service;
	};

	try {
		const postgres = keep(await startPostgres(join(folder, 'postgres'), await freePort()));
		const redis = keep(await startRedis(join(folder, 'redis'), await freePort()));
		const ports = { main: await freePort(), webhooks: [await freePort(), await freePort()] };
		const proxy = keep(await startProxy(await freePort(), ports));
		const sandbox = keep(await startSandbox({ deliveryTimeoutMs: DELIVERY_TIMEOUT_MS }));

		const containerOf = await composeContainers({
			PUBLIC_HOST: 'n8n.example.com',
			N8N_ENCRYPTION_KEY: 'key-of-the-queue-test',
			POSTGRES_PASSWORD: postgres.password,
			OWNER_EMAIL: owner.email,
			OWNER_PASSWORD_HASH: owner.passwordHash,
		});
		const addresses = {
			QUEUE_BULL_REDIS_HOST: redis.host,
			QUEUE_BULL_REDIS_PORT: String(redis.port),
			DB_POSTGRESDB_HOST: postgres.host,
			DB_POSTGRESDB_PORT: String(postgres.port),
			WEBHOOK_URL: proxy.url,
			N8N_EDITOR_BASE_URL: proxy.url,
		};
		const prepare = async (container: string, port: number, name = container) => {
			const userFolder = join(folder, name);
			await installPackage(userFolder);
			const { command, environment } = containerOf(container);
			return keep(
				new Process({ userFolder, port, command, env: { ...environment, ...addresses } }),
			);
		};
		const main = await prepare('main', ports.main);
		const webhook = async (index: number) =>
			await prepare('webhook', ports.webhooks[index] ?? 0, `webhook-${index}`);
		const webhooks: [Process, Process] = [await webhook(0), await webhook(1)];
		const worker = async (name: string) => await prepare(name, await freePort());
		const workers: [Process, Process] = [await worker('worker-1'), await worker('worker-2')];

		// The main process starts first, because it creates the tables.
		await main.start();
		await Promise.all([...webhooks, ...workers].map(async (process) => await process.start()));
		process.once('exit', removeFolder); // after what was started above has been ended
		const api = new N8nTestApi(proxy.url.slice(0, -1));
		assert.equal(await api.needsOwner(), false);
		await api.logIn(owner);
		const credentialId = await api.createCredential(
			CREDENTIAL_NAME,
			CREDENTIAL_TYPE,
			credentialFor(sandbox),
		);

		const rows = async (workflowId: string): Promise<ExecutionRow[]> => {
			const found = z.array(Row).parse(
				await postgres.json(
					`select coalesce(json_agg(json_build_object('id', e.id, 'status', e.status, 'mode', e.mode,
					'data', d.data) order by e.id), '[]') from execution_entity e
					left join execution_data d on d."executionId" = e.id
					where e."workflowId" = '${workflowId}'`,
				),
			);
			return found.map(({ id, status, mode, data }) => ({
				id: String(id),
				status,
				mode,
				itemsOf: (node) => itemsIn(data, node),
			}));
		};
		const statuses = async (workflowId: string) =>
			z.record(z.number()).parse(
				await postgres.json(
					`select coalesce(json_object_agg(status, n), '{}') from (select status, count(*) n
						from execution_entity where "workflowId" = '${workflowId}' group by status) s`,
				),
			);
		const add = async (workflow: WorkflowFile) => await importWorkflow(api, workflow, credentialId);

		return {
			sandbox,
			api,
			postgres,
			publicUrl: proxy.url,
			main,
			workers,
			webhooks,
			add,
			async publish(workflow) {
				const id = await add(workflow);
				await api.activate(id);
				return id;
			},
			async executions(workflowId, count, withinMs = ALL_ENDED_WITHIN_MS) {
				await eventually(
					`${count} ended executions of workflow ${workflowId}`,
					async () => {
						const found = await statuses(workflowId);
						const all = Object.values(found).reduce((sum, n) => sum + n, 0);
						return all >= count && !UNFINISHED.some((status) => found[status]) ? true : undefined;
					},
					withinMs,
				);
				return await rows(workflowId);
			},
			async executionsNow(workflowId, status) {
				const found = await rows(workflowId);
				return found.filter((row) => status === undefined || row.status === status);
			},
			async workerOf(executionId) {
				const line = `Worker started execution ${executionId} `;
				const logs = await Promise.all(workers.map(async (process) => await process.log()));
				const index = logs.findIndex((log) => log.includes(line));
				return index === -1 ? undefined : index;
			},
			stop,
		};
	} catch (error) {
		await stop();
		throw error;
	}
}
