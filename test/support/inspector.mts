/** A connection to the inspector of a Node process, which can free its memory. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';

/** What makes a Node process listen for an inspector on a free port; it says which in its output. */
export const INSPECTABLE = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

const Message = z.object({
	id: z.number().optional(),
	error: z.object({ message: z.string() }).optional(),
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

	close(): void {
		this.socket.close();
	}

	private async call(method: string): Promise<void> {
		const id = ++this.last;
		const answer = new Promise<z.infer<typeof Message>>((resolve) => {
			this.waiting.set(id, resolve);
		});
		this.socket.send(JSON.stringify({ id, method }));
		const { error } = await answer;
		if (error) throw new Error(`${method}: ${error.message}`);
	}
}
