// A server that verifies signatures and does nothing else: the limit. It prints its URL.
import { createServer } from 'node:http';
import { timingSafeEqual } from 'node:crypto';
import { signBody } from '../sandbox/signature.mts';

const secret = process.env.WEBHOOK_SECRET ?? '';

function isSigned(body: string, header: unknown): boolean {
	const expected = Buffer.from(signBody(body, secret));
	const given = Buffer.from(String(header));
	return given.length === expected.length && timingSafeEqual(given, expected);
}

const server = createServer((request, response) => {
	let body = '';
	request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
	request.on('end', () => {
		response.statusCode = isSigned(body, request.headers['x-webhook-signature']) ? 200 : 401;
		response.end();
	});
});
server.listen(0, '127.0.0.1', () => {
	const address = server.address();
	if (address !== null && typeof address !== 'string')
		console.log(`http://127.0.0.1:${address.port}`);
});
