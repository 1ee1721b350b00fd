/** Servers of tests, in the place of the partner service, of a proxy or of another host. */
import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';

export interface Served {
	url: string;
	/** All connections so far. */
	sockets: Socket[];
	/** Ends the connections too. */
	close: () => Promise<void>;
}

/** Lets a server listen on a free port of this machine. */
export async function serve(server: Server): Promise<Served> {
	const sockets: Socket[] = [];
	server.on('connection', (socket) => sockets.push(socket.on('error', () => undefined)));
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		sockets,
		async close() {
			for (const socket of sockets) socket.destroy();
			await new Promise((closed) => server.close(closed));
		},
	};
}
