/** A wire between n8n and PostgreSQL that a test can cut, at a query or at the answer to it. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Where the wire is cut, once. `asked`: the query never arrives. `answered`: it is done, and its answer is lost. */
export interface Cut {
	/** A part of the query. */
	query: string;
	at: 'asked' | 'answered';
}

export interface Wire {
	port: number;
	/** Cuts at the next such query; resolves once that has happened. */
	cutAt(cut: Cut): Promise<void>;
	/** Cuts all connections now. */
	cutAll(): void;
	close(): Promise<void>;
}

/** Begins to pass connections on to PostgreSQL. */
export async function startWire(target: { host: string; port: number }): Promise<Wire> {
	const sockets = new Set<Socket>();
	let planned: (Cut & { done: () => void }) | undefined;
	const server = createServer((client) => {
		const postgres = connect(target.port, target.host);
		const cut = () => {
			client.destroy();
			postgres.destroy();
		};
		for (const socket of [client, postgres]) {
			sockets.add(socket);
			socket.on('error', cut);
			socket.on('close', () => {
				sockets.delete(socket);
				cut();
			});
		}
		let losesAnswer: (() => void) | undefined;
		// A query can come in several parts.
		let asked = '';
		client.on('data', (data: Buffer) => {
			// What was asked before a cut was planned does not count: connections are used again.
			asked = planned === undefined ? '' : (asked + data.toString('latin1')).slice(-100_000);
			if (planned === undefined || !asked.includes(planned.query)) {
				postgres.write(data);
				return;
			}
			const { at, done } = planned;
			planned = undefined;
			asked = '';
			if (at === 'asked') {
				cut();
				done();
				return;
			}
			losesAnswer = done;
			postgres.write(data);
		});
		postgres.on('data', (data: Buffer) => {
			if (losesAnswer === undefined) {
				client.write(data);
				return;
			}
			cut();
			losesAnswer();
		});
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const address = server.address();
	if (address === null || typeof address === 'string') throw new Error('no port');
	const cutAll = () => {
		for (const socket of sockets) socket.destroy();
	};
	return {
		port: address.port,
		cutAt: async (cut) =>
			await new Promise((done) => {
				planned = { ...cut, done };
			}),
		cutAll,
		async close() {
			cutAll();
			server.close();
			await once(server, 'close');
		},
	};
}
