/** Ports: from the environment, free ones, and a check that one is free. */
import { createServer } from 'node:net';
import { StartError } from './start-error.mts';

const LOOPBACK = '127.0.0.1';
const HIGHEST_PORT = 65_535;

/** Reads a port from the environment variable `name`; throws a StartError when it is not one. */
export function portFromEnvironment(
	name: string,
	defaultPort: number,
	environment: NodeJS.ProcessEnv = process.env,
): number {
	const text = environment[name];
	if (text === undefined || text === '') return defaultPort;
	const port = Number(text);
	if (!/^\d+$/.test(text) || port < 1 || port > HIGHEST_PORT) {
		throw new StartError(`${name} is "${text}", but a port is a number from 1 to ${HIGHEST_PORT}.`);
	}
	return port;
}

async function listenOnce(port: number): Promise<number> {
	const server = createServer();
	await new Promise<void>((resolve, reject) => {
		server.once('error', reject);
		server.listen(port, LOOPBACK, resolve);
	});
	const address = server.address();
	await new Promise((resolve) => server.close(resolve));
	if (address === null || typeof address === 'string') throw new Error('No port was assigned');
	return address.port;
}

const PORTS_OF_PROCESS = 50;
let portsTried = 0;

/**
 * A port of this machine that nothing listens on. Each process tries ports of its own, chosen by the number of the process,
 * because a database begins to listen only a second after it got its port.
 */
export async function freePort(): Promise<number> {
	const first = 20_000 + (process.pid % 200) * PORTS_OF_PROCESS;
	while (portsTried < PORTS_OF_PROCESS) {
		const port = await listenOnce(first + portsTried++).catch(() => undefined);
		if (port !== undefined) return port;
	}
	return await listenOnce(0);
}

/** Throws a StartError that names `variable` when `port` cannot be listened on. */
export async function requireFreePort(
	port: number,
	variable: string,
	purpose: string,
): Promise<void> {
	try {
		await listenOnce(port);
	} catch (error) {
		const code: unknown = Reflect.get(Object(error), 'code');
		const reason = code === 'EADDRINUSE' ? 'is already in use' : `cannot be used (${String(code)})`;
		throw new StartError(
			`Port ${port} for ${purpose} ${reason}. ` +
				`Choose another one: ${variable}=${port === HIGHEST_PORT ? port - 1 : port + 1} npm start`,
		);
	}
}
