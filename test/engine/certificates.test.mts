/** A service whose certificate n8n does not trust: nothing is sent, and the message says what to do. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { certify, type Certificate } from '../support/certificate.mts';
import { credentialFor, testCredential } from '../support/engine/engine.mts';
import {
	resultIn,
	codesOf,
	itemsFor,
	pay,
	payInEachTest,
	sandbox,
} from '../support/engine/paying.mts';
import { serve, type Served } from '../support/engine/served.mts';

payInEachTest();

const trusted = tls.getCACertificates('default');
let folder: string;
let service: Served | undefined;
let connections: number;
let requests: number;

let made: Map<string, Certificate>;

beforeAll(() => {
	folder = mkdtempSync(join(tmpdir(), 'etb-wallet-certificates-'));
	const of = (...given: [name: string, extension: string, issuer?: string]) =>
		[given[0], certify(folder, ...given)] as const;
	made = new Map([
		of('self', 'subjectAltName=DNS:localhost'),
		of('root', 'subjectKeyIdentifier=hash'),
		of('intermediate', 'basicConstraints=critical,CA:TRUE', 'root'),
		of('right', 'subjectAltName=DNS:localhost', 'intermediate'),
		of('other', 'subjectAltName=DNS:partners.example.com', 'intermediate'),
	]);
});
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(async () => {
	tls.setDefaultCACertificates(trusted);
	await service?.close();
	service = undefined;
});

const pem = (name: string): string => made.get(name)?.cert ?? '';

/** A service with this certificate, which sends these behind it, and an n8n that trusts those. */
async function open(name: string, sent: string[], trusts: string[]): Promise<string> {
	tls.setDefaultCACertificates([...trusted, ...trusts.map(pem)]);
	requests = 0;
	connections = 0;
	const cert = [name, ...sent].map(pem).join('');
	const server = createServer({ key: made.get(name)?.key, cert }, (_request, response) => {
		requests++;
		response.end('{"success":true,"amountEtb":10,"txHash":"0x1"}');
	});
	server.on('connection', () => connections++);
	service = await serve(server);
	return service.url.replace('http://127.0.0.1', 'https://localhost');
}

const untrusted = [
	/is self-signed, or an authority made it that n8n does not know$/,
	/whole chain.*NODE_EXTRA_CA_CERTS/,
] as const;
const ofAnotherName = [
	/for another name$/,
	/Base URL .* needs the name that is in the certificate/,
] as const;
test.each([
	['self-signed', 'self', [], [], ...untrusted],
	['of an authority that n8n does not know', 'right', ['intermediate', 'root'], [], ...untrusted],
	['without its intermediate', 'right', [], ['root'], ...untrusted],
	['for another name', 'other', ['intermediate'], ['root'], ...ofAnotherName],
])('%s', async (_what, certificate, sent, trusts, message, remedy) => {
	const baseUrl = await open(certificate, sent, trusts);
	const credential = credentialFor(sandbox, { baseUrl });
	const result = await pay(itemsFor('a'), {}, { credential, onError: 'continueErrorOutput' });
	expect(codesOf(result)).toEqual(['notReached']);
	// The same certificate would come again.
	expect(connections).toBe(1);
	const told = resultIn(result.errorOutput[0] ?? { json: {} });
	expect(told.message).toMatch(/^The service at https:\/\/localhost:\d+ cannot be reached: its? /);
	expect(told.message).toMatch(message);
	expect(told.remedy).toMatch(remedy);
	const pressed = await testCredential(credential);
	expect(pressed.status).toBe('Error');
	expect(pressed.message).toMatch(remedy);
	expect(requests).toBe(0);
	await service?.close();
	const right = credentialFor(sandbox, {
		baseUrl: await open('right', ['intermediate'], ['root']),
	});
	expect(codesOf(await pay(itemsFor('a'), {}, { credential: right }))).toEqual(['paid']);
});

test('plain http where https is expected', async () => {
	const credential = credentialFor(sandbox, { baseUrl: sandbox.url.replace('http:', 'https:') });
	const result = await pay(itemsFor('a'), {}, { credential, onError: 'continueErrorOutput' });
	expect(codesOf(result)).toEqual(['notReached']);
	expect(resultIn(result.errorOutput[0] ?? { json: {} }).message).toMatch(/does not speak https/);
	expect(codesOf(await pay(itemsFor('a')))).toEqual(['paid']);
});
