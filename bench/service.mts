// The partner service in a process of its own, so that its CPU is not counted as n8n's. Started by `startService`.
import { fork, type ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { startSandbox } from '../sandbox/sandbox.mts';

const Account = z.object({ url: z.string(), apiKey: z.string(), webhookSecret: z.string() });
const Ready = z.object({ payments: Account, events: Account, userIds: z.array(z.string()) });
const Counts = z.object({
	/** TCP connections that were opened. */
	connections: z.number(),
	requests: z.number(),
	/** Requests under way at once, at most. */
	mostInFlight: z.number(),
});
const Command = z.discriminatedUnion('do', [
	z.object({ do: z.literal('begin'), latencyMs: z.number() }),
	z.object({ do: z.literal('report') }),
]);

export type Counts = z.infer<typeof Counts>;

/** Two accounts of the service: one that is paid from, and one whose events go to n8n. */
export interface Service extends z.infer<typeof Ready> {
	/** Answers after `latencyMs` from now on, and counts anew. */
	begin(latencyMs: number): Promise<void>;
	/** What was counted since. */
	counts(): Promise<Counts>;
	stop(): Promise<void>;
}

const USERS = 100;
const ENOUGH_ETB = 1_000_000_000;
const KEPT_REQUESTS = 100;

/** Starts the service on free ports. */
export async function startService(): Promise<Service> {
	const child = fork(fileURLToPath(import.meta.url), ['serve']);
	const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
	const ready = Ready.parse(await nextMessage(child));
	const ask = async (command: z.infer<typeof Command>): Promise<unknown> => {
		child.send(command);
		return await nextMessage(child);
	};
	return {
		...ready,
		begin: async (latencyMs) => void (await ask({ do: 'begin', latencyMs })),
		counts: async () => Counts.parse(await ask({ do: 'report' })),
		async stop() {
			if (child.connected) child.disconnect();
			await exited;
		},
	};
}

const nextMessage = async (child: ChildProcess): Promise<unknown> =>
	await new Promise((resolve, reject) => {
		const ended = () => reject(new Error('The partner service ended by itself'));
		child.once('exit', ended);
		child.once('message', (message) => {
			child.off('exit', ended);
			resolve(message);
		});
	});

async function serve(): Promise<void> {
	const [payments, events] = await Promise.all([
		startSandbox({ treasuryBalance: ENOUGH_ETB, keepRequests: KEPT_REQUESTS }),
		startSandbox({ keepRequests: KEPT_REQUESTS }),
	]);
	const userIds = Array.from(
		{ length: USERS },
		(_, index) => payments.books.addUser({ externalId: `user-${index}` }).id,
	);

	let counts: Counts = { connections: 0, requests: 0, mostInFlight: 0 };
	let inFlight = 0;
	subscribe('net.server.socket', () => (counts.connections += 1));
	subscribe('http.server.request.start', () => {
		inFlight += 1;
		counts.requests += 1;
		counts.mostInFlight = Math.max(counts.mostInFlight, inFlight);
	});
	subscribe('http.server.response.finish', () => (inFlight -= 1));

	process.on('message', (message) => {
		const command = Command.parse(message);
		if (command.do === 'begin') {
			payments.setLatency(command.latencyMs);
			payments.books.setTreasuryBalance(ENOUGH_ETB);
			counts = { connections: 0, requests: 0, mostInFlight: 0 };
		}
		process.send?.(counts);
	});
	process.once('disconnect', () => void Promise.all([payments.stop(), events.stop()]));
	const account = ({ url, apiKey, webhookSecret }: z.infer<typeof Account>) => ({
		url,
		apiKey,
		webhookSecret,
	});
	process.send?.({ payments: account(payments), events: account(events), userIds });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await serve();
