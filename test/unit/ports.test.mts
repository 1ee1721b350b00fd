/** Ports that are wrong, free or taken. */
import { createServer } from 'node:net';
import { freePort, portFromEnvironment, requireFreePort } from '../../demo/ports.mts';
import { StartError } from '../../demo/start-error.mts';

describe('portFromEnvironment', () => {
	test.each([
		[undefined, 5678],
		['', 5678],
		['6000', 6000],
	])('%p gives %d', (text, port) => {
		expect(portFromEnvironment('N8N_PORT', 5678, { N8N_PORT: text })).toBe(port);
	});

	test.each(['0', '65536', '56.5', '-1', 'http', '0x10', ' 80'])('refuses %p by name', (text) => {
		const read = () => portFromEnvironment('N8N_PORT', 5678, { N8N_PORT: text });
		expect(read).toThrow(StartError);
		expect(read).toThrow(`N8N_PORT is "${text}"`);
	});
});

describe('requireFreePort', () => {
	test('accepts a free port and leaves it free', async () => {
		const port = await freePort();
		await requireFreePort(port, 'N8N_PORT', 'the n8n editor');
		await requireFreePort(port, 'N8N_PORT', 'the n8n editor');
	});

	test('names a taken port, its purpose and the variable to change, in one line', async () => {
		const server = createServer();
		const port = await freePort();
		await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
		try {
			const check = requireFreePort(port, 'SANDBOX_PORT', 'the sandbox');
			await expect(check).rejects.toThrow(StartError);
			await expect(check).rejects.toThrow(
				`Port ${port} for the sandbox is already in use. Choose another one: SANDBOX_PORT=${port + 1} npm start`,
			);
		} finally {
			await new Promise((resolve) => server.close(resolve));
		}
	});
});
