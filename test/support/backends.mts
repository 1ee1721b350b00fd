/** PostgreSQL, Redis and a reverse proxy on loopback, each with its own data. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, open, readdir, readFile } from 'node:fs/promises';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectFolder } from '../../demo/folders.mts';
import { eventually, isReady } from './lab.mts';

const run = promisify(execFile);

/** A process or server that runs until it is stopped. */
export interface Service {
	stop(): Promise<void>;
}

export interface Postgres extends Service {
	host: string;
	port: number;
	user: string;
	/** Stops it, which ends open connections, and starts it again on the same data. */
	restart(): Promise<void>;
}

const DEBIAN_PACKAGES =
	'These tests need PostgreSQL and Redis: apt-get install -y --no-install-recommends postgresql redis-server';

/**
 * Returns a function that ends a child with `signal` and waits for it. If this program ends first, the child
 * ends with `atExit`.
 */
function stopping(
	child: ChildProcess,
	signal: NodeJS.Signals,
	atExit: NodeJS.Signals = 'SIGKILL',
): () => Promise<void> {
	const exited = once(child, 'exit');
	exited.catch(() => undefined);
	const kill = () => void child.kill(atExit);
	process.once('exit', kill);
	return async () => {
		child.kill(signal);
		if (child.exitCode === null && child.signalCode === null) await exited;
		process.off('exit', kill);
	};
}

async function logged(
	program: string,
	args: string[],
	folder: string,
	options: { uid?: number; gid?: number } = {},
): Promise<ChildProcess> {
	const log = await open(join(folder, 'log'), 'w');
	const child = spawn(program, args, {
		...options,
		cwd: folder,
		stdio: ['ignore', log.fd, log.fd],
	});
	await once(child, 'spawn').catch((cause: unknown) => {
		throw new Error(DEBIAN_PACKAGES, { cause });
	});
	await log.close();
	return child;
}

/** Debian keeps PostgreSQL's programs out of the PATH. */
export async function postgresPrograms(): Promise<string> {
	const root = '/usr/lib/postgresql';
	const versions = (await readdir(root).catch(() => [])).map(Number).sort((a, b) => b - a);
	if (versions[0] === undefined) throw new Error(DEBIAN_PACKAGES);
	return join(root, String(versions[0]), 'bin');
}

/** The folder of the server's programs. POSTGRES_PROGRAMS names one of another version. */
async function serverPrograms(): Promise<string> {
	const chosen = process.env.POSTGRES_PROGRAMS;
	return chosen === undefined || chosen === '' ? await postgresPrograms() : chosen;
}

/** PostgreSQL refuses to run as root, so root runs it as the user that Debian made for it. */
async function postgresUser(): Promise<{ uid: number; gid: number } | undefined> {
	if (process.getuid?.() !== 0) return undefined;
	const id = async (flag: string) => Number((await run('id', [flag, 'postgres'])).stdout);
	return { uid: await id('-u'), gid: await id('-g') };
}

/** Starts PostgreSQL with an empty database for n8n; its files go to `folder`. */
export async function startPostgres(folder: string, port: number): Promise<Postgres> {
	const [programs, servers] = await Promise.all([postgresPrograms(), serverPrograms()]);
	const user = await postgresUser();
	await mkdir(folder, { recursive: true });
	await chmod(folder, 0o700);
	if (user) await chown(folder, user.uid, user.gid);
	const data = join(folder, 'data');
	await run(
		join(servers, 'initdb'),
		['-D', data, '-U', 'n8n', '--auth=trust', '-E', 'UTF8', '--no-locale'],
		{ ...user, cwd: folder },
	);
	let stop = async () => await Promise.resolve();
	const client = async (program: string, ...args: string[]) =>
		await run(join(programs, program), [
			'-h',
			'127.0.0.1',
			'-p',
			String(port),
			'-U',
			'n8n',
			...args,
		]);
	const start = async () => {
		const child = await logged(
			join(servers, 'postgres'),
			// Without fsync: the crash of a program, and no test has another one, loses nothing that was written.
			['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', folder, '-c', 'fsync=off'],
			folder,
			user,
		);
		// SIGINT is PostgreSQL's fast shutdown, which ends open connections, and SIGQUIT the immediate one.
		// SIGKILL would leave its children.
		stop = stopping(child, 'SIGINT', 'SIGQUIT');
		await eventually('a response from PostgreSQL', async () => {
			if (child.exitCode !== null) throw new Error(await readFile(join(folder, 'log'), 'utf8'));
			return await client('pg_isready').catch(() => undefined);
		});
	};
	try {
		await start();
		await client('createdb', 'n8n');
	} catch (error) {
		await stop();
		throw error;
	}
	return {
		host: '127.0.0.1',
		port,
		user: 'n8n',
		async restart() {
			await stop();
			await start();
		},
		stop: async () => await stop(),
	};
}

/** Starts a Redis that keeps nothing on disk. */
export async function startRedis(
	folder: string,
	port: number,
): Promise<Service & { host: string; port: number }> {
	await mkdir(folder, { recursive: true });
	const child = await logged(
		'redis-server',
		['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no'],
		folder,
	);
	const stop = stopping(child, 'SIGTERM');
	try {
		await eventually('a response from Redis', async () => {
			if (child.exitCode !== null) throw new Error(await readFile(join(folder, 'log'), 'utf8'));
			const socket = connect(port, '127.0.0.1');
			return await once(socket, 'connect').then(
				() => socket.destroy(),
				() => undefined,
			);
		});
	} catch (error) {
		await stop();
		throw error;
	}
	return { host: '127.0.0.1', port, stop };
}

/**
 * One public address for the main process and the webhook processes, which take turns. It routes as
 * deploy/queue/Caddyfile does, and answers 503 instead of one that is not ready, and 502 if one ends before it
 * answers.
 */
export async function startProxy(
	port: number,
	ports: { main: number; webhooks: number[] },
): Promise<Service & { url: string }> {
	const routes = await readFile(join(projectFolder, 'deploy', 'queue', 'Caddyfile'), 'utf8');
	const webhookPaths =
		/@webhooks path (.*)/.exec(routes)?.[1]?.replaceAll('*', '').split(' ') ?? [];
	let turn = 0;
	const targetOf = (path: string): number => {
		if (!webhookPaths.some((first) => path.startsWith(first))) return ports.main;
		return ports.webhooks[turn++ % ports.webhooks.length] ?? ports.main;
	};
	const pass = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
		const { method, headers, url = '/' } = incoming;
		const target = targetOf(url);
		if (!(await isReady(`http://127.0.0.1:${target}`))) {
			outgoing.writeHead(503).end();
			return;
		}
		// A new connection for each request: n8n may close an idle one at the moment when it is used again.
		const options = { host: '127.0.0.1', port: target, path: url, method, headers, agent: false };
		const upstream = request(options, (response) => {
			outgoing.writeHead(response.statusCode ?? 502, response.headers);
			response.pipe(outgoing);
			// A response that breaks off must not look complete.
			response.once('error', () => outgoing.destroy());
		});
		upstream.once('error', () => {
			if (!outgoing.headersSent) outgoing.writeHead(502);
			outgoing.end();
		});
		incoming.pipe(upstream);
	};
	// 0: the server never closes an idle connection, which a test may be using again.
	const server = createServer(
		{ keepAliveTimeout: 0 },
		(incoming, outgoing) => void pass(incoming, outgoing),
	).listen(port, '127.0.0.1');
	await once(server, 'listening');
	return {
		url: `http://127.0.0.1:${port}/`,
		async stop() {
			server.closeAllConnections();
			server.close();
			await once(server, 'close');
		},
	};
}
