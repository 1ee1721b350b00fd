/** A service whose certificate n8n does not trust: nothing is sent, and the message says what to do. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { credentialFor, testCredential } from '../support/engine/engine.mts';
import {
	answerOf,
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
let requests: number;

const openssl = (...words: string[]): Buffer =>
	execFileSync('openssl', words, { cwd: folder, stdio: 'pipe' });
const pem = (name: string): string => readFileSync(join(folder, name), 'utf8');

/** Makes `<name>.key` and `<name>.pem`, signed by `issuer` or by itself. */
function certify(name: string, extension: string, issuer?: string): void {
	const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
	const made = ['-keyout', `${name}.key`, '-subj', `/CN=${name}`, '-addext', extension];
	if (issuer === undefined) {
		openssl('req', '-x509', ...kind, ...made, '-out', `${name}.pem`, '-days', '2');
		return;
	}
	writeFileSync(join(folder, `${name}.ext`), extension);
	openssl('req', ...kind, ...made, '-out', `${name}.csr`);
	const by = ['-CA', `${issuer}.pem`, '-CAkey', `${issuer}.key`, '-CAcreateserial', '-days', '2'];
	openssl(
		'x509',
		'-req',
		'-in',
		`${name}.csr`,
		'-extfile',
		`${name}.ext`,
		...by,
		'-out',
		`${name}.pem`,
	);
}

beforeAll(() => {
	folder = mkdtempSync(join(tmpdir(), 'etb-wallet-certificates-'));
	certify('self', 'subjectAltName=DNS:localhost');
	certify('root', 'subjectKeyIdentifier=hash');
	certify('intermediate', 'basicConstraints=critical,CA:TRUE', 'root');
	certify('right', 'subjectAltName=DNS:localhost', 'intermediate');
	certify('other', 'subjectAltName=DNS:partners.example.com', 'intermediate');
});
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(async () => {
	tls.setDefaultCACertificates(trusted);
	await service?.close();
	service = undefined;
});

/** A service with this certificate, which sends these behind it, and an n8n that trusts those. */
async function open(name: string, sent: string[], trusts: string[]): Promise<string> {
	tls.setDefaultCACertificates([...trusted, ...trusts.map((each) => pem(`${each}.pem`))]);
	requests = 0;
	const cert = [name, ...sent].map((each) => pem(`${each}.pem`)).join('');
	const server = createServer({ key: pem(`${name}.key`), cert }, (_request, response) => {
		requests++;
		response.end('{"success":true,"amountEtb":10,"txHash":"0x1"}');
	});
	service = await serve(server);
	return service.url.replace('http://127.0.0.1', 'https://localhost');
}

const cases: [string, name: string, sent: string[], trusts: string[], RegExp, RegExp][] = [
	['self-signed', 'self', [], [], /is self-signed$/, /NODE_EXTRA_CA_CERTS/],
	[
		'of an authority that n8n does not know',
		...(['right', ['intermediate', 'root'], []] as [string, string[], string[]]),
		/an authority that n8n does not know$/,
		/NODE_EXTRA_CA_CERTS/,
	],
	[
		'without its intermediate',
		...(['right', [], ['root']] as [string, string[], string[]]),
		/does not send the intermediate certificate/,
		/whole chain.*NODE_EXTRA_CA_CERTS/,
	],
	[
		'for another name',
		...(['other', ['intermediate'], ['root']] as [string, string[], string[]]),
		/for another name$/,
		/Base URL .* needs the name that is in the certificate/,
	],
];
test.each(cases)('%s', async (...row) => {
	const [, name, sent, trusts, message, remedy] = row;
	const baseUrl = await open(name, sent, trusts);
	const credential = credentialFor(sandbox, { baseUrl });
	const result = await pay(itemsFor('a'), {}, { credential, onError: 'continueErrorOutput' });
	expect(codesOf(result)).toEqual(['notReached']);
	const told = answerOf(result.errorOutput[0] ?? { json: {} });
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
	expect(answerOf(result.errorOutput[0] ?? { json: {} }).message).toMatch(/does not speak https/);
	expect(codesOf(await pay(itemsFor('a')))).toEqual(['paid']);
});
