/** A process of n8n: starts it, waits until it is ready, and ends it. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { n8nFolder } from './folders.mts';
import { freePort } from './ports.mts';

export interface N8nOptions {
	/** n8n keeps everything in `<userFolder>/.n8n`; its output goes to `<userFolder>/n8n.log`. */
	userFolder: string;
	/** Port of the editor and the webhooks; of the health check when `command` is `worker`. */
	port: number;
	/** The kind of process. Default `start`, the main process. */
	command?: 'start' | 'worker' | 'webhook';
	/** Overrides and additions to n8n's environment; an undefined value removes a variable. */
	env?: Record<string, string | undefined>;
	/** Ends the wait for readiness, and n8n with it. */
	signal?: AbortSignal;
}

export interface N8nInstance {
	url: string;
	pid: number;
	userFolder: string;
	logFile: string;
	/** Resolves once n8n has ended, for whatever reason. */
	exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
	/** Asks n8n to finish, waits for it, and leaves no process behind. */
	stop(): Promise<void>;
	/** Ends n8n and its task runner at once, as a power cut would. */
	kill(): void;
}

const LINES_IN_ERROR = 20;
const READY_WITHIN_MS = 180_000;
const POLL_EVERY_MS = 200;
/** n8n itself gives its running executions 30 s. */
const STOP_WITHIN_MS = 40_000;

/** Variables of another n8n in the person's shell, which must not reach this one. */
const OF_ANOTHER_N8N = /^(N8N|DB|QUEUE|EXECUTIONS|WEBHOOK|CREDENTIALS)_/;

/**
 * n8n acquires its expression engine only for executions that evaluate something, and compiles each code once. From
 * n8n 2.40 on; docs/operating.md names them.
 */
export const expressionEngine = {
	N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE: 'true',
	N8N_EXPRESSION_ENGINE_COMPILE_CACHE: 'true',
};

/** A module of newer versions of n8n that calls a service. */
const mcpRegistry = join(n8nFolder, 'node_modules/n8n/dist/modules/mcp-registry');

/** The environment of an n8n on one machine that calls no outside service. */
async function environmentFor({ userFolder, port, env }: N8nOptions) {
	const inherited = Object.entries(process.env).filter(([name]) => !OF_ANOTHER_N8N.test(name));
	const url = `http://127.0.0.1:${port}/`;
	return {
		// n8n's default time zone is that of New York.
		GENERIC_TIMEZONE: 'Africa/Addis_Ababa',
		...Object.fromEntries(inherited),
		N8N_USER_FOLDER: userFolder,
		N8N_PORT: String(port),
		N8N_LISTEN_ADDRESS: '127.0.0.1',
		N8N_RUNNERS_BROKER_PORT: String(await freePort()),
		N8N_EDITOR_BASE_URL: url,
		WEBHOOK_URL: url,
		QUEUE_HEALTH_CHECK_ACTIVE: 'true',
		QUEUE_HEALTH_CHECK_PORT: String(port),
		N8N_SECURE_COOKIE: 'false',
		N8N_UNVERIFIED_PACKAGES_ENABLED: 'true',
		N8N_VERIFIED_PACKAGES_ENABLED: 'false',
		// n8n does not start when this names a module that it does not have.
		...(existsSync(mcpRegistry) && { N8N_DISABLED_MODULES: 'mcp-registry' }),
		N8N_DIAGNOSTICS_ENABLED: 'false',
		N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
		N8N_VERSION_NOTIFICATIONS_WHATS_NEW_ENABLED: 'false',
		N8N_DYNAMIC_BANNERS_ENABLED: 'false',
		N8N_TEMPLATES_ENABLED: 'false',
		N8N_PERSONALIZATION_ENABLED: 'false',
		N8N_HIRING_BANNER_ENABLED: 'false',
		...expressionEngine,
		...env,
	};
}

async function answers(url: string): Promise<boolean> {
	try {
		const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
		await response.arrayBuffer();
		return response.ok;
	} catch {
		return false;
	}
}

/**
 * Starts the pinned n8n under its own pinned Node and resolves once it answers.
 * Webhooks of active workflows may be registered a moment later.
 * Rejects with n8n's last log lines when it ends or does not answer within 3 minutes.
 */
export async function startN8n(options: N8nOptions): Promise<N8nInstance> {
	const { userFolder, port, command = 'start', signal } = options;
	const url = `http://127.0.0.1:${port}`;
	const logFile = join(userFolder, 'n8n.log');
	await mkdir(userFolder, { recursive: true });
	const env = await environmentFor(options);
	signal?.throwIfAborted();

	const log = await open(logFile, 'w');
	const child = spawn(
		join(n8nFolder, 'node_modules', '.bin', 'node'),
		[join(n8nFolder, 'node_modules', 'n8n', 'bin', 'n8n'), command],
		// A process group of its own: Ctrl-C in a terminal reaches the starter only, and stopping reaches the task runner.
		{ cwd: userFolder, env, stdio: ['ignore', log.fd, log.fd], detached: true },
	);
	const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>(
		(resolve, reject) => {
			child.once('error', reject);
			child.once('exit', (code, exitSignal) => resolve({ code, signal: exitSignal }));
		},
	);
	await log.close();
	const { pid } = child;
	if (pid === undefined) {
		await exited; // rejects with the reason
		throw new Error('n8n could not be started');
	}

	const kill = () => {
		try {
			process.kill(-pid, 'SIGKILL');
		} catch {
			// The whole group has ended already.
		}
	};
	process.once('exit', kill);
	const stop = async () => {
		child.kill('SIGTERM');
		const killTimer = setTimeout(kill, STOP_WITHIN_MS);
		await exited;
		clearTimeout(killTimer);
		kill();
		process.off('exit', kill);
	};

	const failure = async (what: string) => {
		kill();
		process.off('exit', kill);
		const lines = (await readFile(logFile, 'utf8')).trimEnd().split('\n').slice(-LINES_IN_ERROR);
		return new Error(`${what}. The end of ${logFile}:\n${lines.join('\n')}`);
	};
	const ready = command === 'start' ? `${url}/rest/settings` : `${url}/healthz/readiness`;
	const deadline = Date.now() + READY_WITHIN_MS;
	while (!(await answers(`${url}/healthz/readiness`)) || !(await answers(ready))) {
		if (signal?.aborted) {
			await stop();
			signal.throwIfAborted();
		}
		if (child.exitCode !== null || child.signalCode !== null) {
			throw await failure(`n8n ended while starting (${child.signalCode ?? child.exitCode})`);
		}
		if (Date.now() > deadline) {
			throw await failure(`n8n did not answer within ${READY_WITHIN_MS / 1000} s`);
		}
		await sleep(POLL_EVERY_MS);
	}
	return { url, pid, userFolder, logFile, exited, stop, kill };
}
