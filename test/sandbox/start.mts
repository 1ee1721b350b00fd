/** Sandboxes and receivers that end with their test. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { serve } from '../support/engine/served.mts';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../sandbox/sandbox.mts';

const closing: (() => Promise<void>)[] = [];

/** Stops all sandboxes and receivers of the test; for afterEach. */
export async function stopAll(): Promise<void> {
	for (const close of closing.splice(0).reverse()) await close();
}

export async function sandboxForTest(options: SandboxOptions = {}): Promise<Sandbox> {
	const sandbox = await startSandbox(options);
	let stopped: Promise<void> | undefined;
	const stop = sandbox.stop.bind(sandbox);
	sandbox.stop = () => (stopped ??= stop());
	closing.push(() => sandbox.stop());
	return sandbox;
}

interface Received {
	headers: IncomingHttpHeaders;
	body: Buffer;
}

/** A webhook receiver on a port of its own; `statuses` are its responses in turn, then 200.
 * `first` resolves when it has received something. */
export async function receiverForTest(
	statuses: (number | 'hang')[] = [],
): Promise<{ url: string; received: Received[]; first: Promise<void>; close(): Promise<void> }> {
	const received: Received[] = [];
	const first = Promise.withResolvers<void>();
	const server = createServer((request, response) => {
		const chunks: Buffer[] = [];
		request.on('data', (chunk: Buffer) => chunks.push(chunk));
		request.on('end', () => {
			received.push({ headers: request.headers, body: Buffer.concat(chunks) });
			first.resolve();
			const status = statuses.shift() ?? 200;
			if (status !== 'hang') response.writeHead(status).end();
		});
	});
	const { url, close } = await serve(server);
	closing.push(close);
	return { url: `${url}/hook`, received, first: first.promise, close };
}

export interface ReadResponse {
	status: number;
	headers: Headers;
	text: string;
	/** The body parsed as JSON; undefined when it is none. */
	json: unknown;
}

const parse = (text: string): unknown => {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
};

/** Sends a request to any path; a string body goes out as it is. */
export async function send(
	url: string,
	method: string,
	body?: unknown,
	headers: Record<string, string> = {},
): Promise<ReadResponse> {
	const response = await fetch(url, {
		method,
		headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
		...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
	});
	const text = await response.text();
	return { status: response.status, headers: response.headers, text, json: parse(text) };
}

/** Calls an endpoint of the partner API with the sandbox's key. */
export const call = (
	sandbox: Sandbox,
	method: string,
	path: string,
	body?: unknown,
): Promise<ReadResponse> =>
	send(`${sandbox.url}/api/v1/partners${path}`, method, body, {
		authorization: `Bearer ${sandbox.apiKey}`,
	});
