/** n8n in queue mode as users run it: a main process, two workers and two webhook processes behind one address. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
import {
	startPostgres,
	startProxy,
	startRedis,
	type Postgres,
	type Service,
} from '../backends.mts';

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
class Process {
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

export interface QueueLab {
	sandbox: Sandbox;
	api: N8nTestApi;
	postgres: Postgres;
	/** The address that all processes have in common. */
	n8n: { url: string };
	main: Process;
	workers: [Process, Process];
	webhooks: [Process, Process];
	/** Imports a workflow with the credential chosen; resolves to its id. */
	add(workflow: WorkflowFile): Promise<string>;
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
			POSTGRES_PASSWORD: 'not-checked',
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

		return {
			sandbox,
			api,
			postgres,
			n8n: { url: api.url },
			main,
			workers,
			webhooks,
			add: async (workflow) => await importWorkflow(api, workflow, credentialId),
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
