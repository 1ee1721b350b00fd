import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { CpuProfile } from './profile.mts';

/** What makes a Node process listen for an inspector on a free port; it says which in its output. */
export const INSPECTABLE = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

const Message = z.object({
	id: z.number().optional(),
	result: z.unknown(),
	error: z.object({ message: z.string() }).optional(),
});
const Profile = z.object({
	profile: z.object({
		nodes: z.array(
			z.object({
				id: z.number(),
				callFrame: z.object({ functionName: z.string(), url: z.string() }).passthrough(),
				children: z.array(z.number()).optional(),
			}),
		),
		samples: z.array(z.number()),
		timeDeltas: z.array(z.number()),
	}),
});

/** A connection to the inspector of a running Node process. */
export class Inspector {
	private readonly socket: WebSocket;
	private readonly waiting = new Map<number, (message: z.infer<typeof Message>) => void>();
	private last = 0;

	private constructor(socket: WebSocket) {
		this.socket = socket;
		socket.addEventListener('message', ({ data }) => {
			const message = Message.parse(JSON.parse(String(data)));
			if (message.id === undefined) return;
			this.waiting.get(message.id)?.(message);
			this.waiting.delete(message.id);
		});
	}

	/** Connects to the process that wrote this log; rejects when it is not inspectable. */
	static async ofLog(logFile: string): Promise<Inspector> {
		const address = /Debugger listening on (ws:\S+)/.exec(await readFile(logFile, 'utf8'))?.[1];
		if (address === undefined) throw new Error(`No inspector is announced in ${logFile}`);
		const socket = new WebSocket(address);
		await new Promise((resolve, reject) => {
			socket.addEventListener('open', resolve);
			socket.addEventListener('error', () => reject(new Error(`No inspector at ${address}`)));
		});
		return new Inspector(socket);
	}

	/** Frees what is not used, so that a measurement of memory does not start with what others left. */
	async collectGarbage(): Promise<void> {
		await this.call('HeapProfiler.collectGarbage');
	}

	/** Where the CPU time goes while `work` runs. */
	async profile(work: () => Promise<unknown>): Promise<CpuProfile> {
		await this.call('Profiler.enable');
		await this.call('Profiler.setSamplingInterval', { interval: 500 });
		await this.call('Profiler.start');
		await work();
		const { profile } = Profile.parse(await this.call('Profiler.stop'));
		await this.call('Profiler.disable');
		return profile;
	}

	close(): void {
		this.socket.close();
	}

	private async call(method: string, params: object = {}): Promise<unknown> {
		const id = ++this.last;
		const answer = new Promise<z.infer<typeof Message>>((resolve) => {
			this.waiting.set(id, resolve);
		});
		this.socket.send(JSON.stringify({ id, method, params }));
		const { result, error } = await answer;
		if (error) throw new Error(`${method}: ${error.message}`);
		return result;
	}
}
