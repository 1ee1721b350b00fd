/** A wire between n8n and PostgreSQL that a test can cut, at a query or at the response to it. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Where the wire is cut, once. `asked`: the query never arrives. `answered`: it is done, and its response is lost. */
interface Cut {
	/** A part of the query. */
	query: string;
	at: 'asked' | 'answered';
}

/** Begins to pass connections on to PostgreSQL. */
export async function startWire(target: { host: string; port: number }) {
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
		let losesResponse: (() => void) | undefined;
		// A query can come in several parts. What was asked before a cut was planned does not count: connections are used again.
		let asked = '';
		client.on('data', (data: Buffer) => {
			asked = planned === undefined ? '' : (asked + data.toString('latin1')).slice(-100_000);
			if (planned === undefined || !asked.includes(planned.query)) return;
			const { at, done } = planned;
			planned = undefined;
			losesResponse = done;
			if (at === 'answered') return;
			cut();
			done();
		});
		postgres.on('data', () => {
			if (losesResponse === undefined) return;
			cut();
			losesResponse();
		});
		// It passes on after the looks above: what comes to a cut wire gets no further.
		client.pipe(postgres).pipe(client);
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const address = server.address();
	if (address === null || typeof address === 'string') throw new Error('no port');
	const cutAll = () => sockets.forEach((socket) => socket.destroy());
	return {
		port: address.port,
		/** Cuts at the next such query; resolves once that has happened. */
		cutAt: async (cut: Cut) =>
			await new Promise<void>((done) => {
				planned = { ...cut, done };
			}),
		/** Cuts all connections now. */
		cutAll,
		async close(): Promise<void> {
			cutAll();
			server.close();
			await once(server, 'close');
		},
	};
}
