/** A service that cannot be reached: in each version of n8n nobody is paid, and the node says so. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer as createTlsServer } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { CREDENTIAL_TYPE } from '../../../demo/examples.mts';
import { lacks } from '../../support/n8n/version-differences.mts';
import { freePort } from '../../../demo/ports.mts';
import { certify } from '../../support/certificate.mts';
import { serve } from '../../support/engine/served.mts';
import { startLab, timesPaid } from '../../support/lab.mts';
import { PAY, START, payNode, start, workflow } from '../../support/n8n/workflow.mts';

const folder = await mkdtemp(join(tmpdir(), 'no-answer-'));
const [unsigned, otherName] = [
	certify(folder, 'localhost', 'subjectAltName=DNS:localhost'),
	certify(folder, 'other', 'subjectAltName=DNS:other.example.com'),
];
const services = [
	await serve(createTlsServer(unsigned)),
	await serve(createTlsServer(otherName)),
] as const;
const [unsignedUrl, otherNameUrl] = services.map(({ url }) =>
	url.replace('http://127.0.0.1', 'https://localhost'),
);
/** A proxy that wants a login, and hangs up without a word for one host. */
const proxy = await serve(
	createServer((socket) => {
		socket.once('data', (request) =>
			socket.end(
				request.includes('203.0.113.8') ? '' : 'HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n',
			),
		);
	}),
);
const lab = await startLab({
	env: {
		NODE_EXTRA_CA_CERTS: otherName.certFile,
		HTTPS_PROXY: proxy.url,
		NO_PROXY: 'localhost,127.0.0.1,255.255.255.255,10.255.255.1,partners.invalid',
		N8N_SSRF_PROTECTION_ENABLED: 'true',
		N8N_SSRF_BLOCKED_IP_RANGES: '10.0.0.0/8',
		https_proxy: undefined,
		HTTP_PROXY: undefined,
		http_proxy: undefined,
		no_proxy: undefined,
	},
});
after(async () => {
	await lab.stop();
	for (const { close } of [...services, proxy]) await close();
	await rm(folder, { recursive: true, force: true });
});

let executions = 0;

interface Told {
	outcome: unknown;
	code: unknown;
	message: unknown;
	/** The number of payments of the sandbox. */
	times: number[];
}

/** Pays one person once, with a credential for this address. */
async function payAt(baseUrl: string): Promise<Told> {
	const number = ++executions;
	const { id: toUserId } = lab.sandbox.books.addUser({ externalId: `no-answer-${number}` });
	const row = { reference: `no-answer-${number}`, toUserId, amountEtb: 1 };
	const credential = await lab.addCredential({ baseUrl });
	const options = { timeout: 3_000 };
	const pay = {
		...payNode({ ...row, options }, { onError: 'continueRegularOutput' }),
		credentials: { [CREDENTIAL_TYPE]: credential },
	};
	const id = await lab.api.createWorkflow(workflow('No answer', [start(), pay]));
	const execution = await lab.api.endedExecution(await lab.api.run(id, START));
	const [item] = execution.nodes[PAY]?.[0]?.outputs[0] ?? [];
	assert.ok(item, execution.error);
	const { outcome, code, message } = item;
	return { outcome, code, message, times: timesPaid(lab.sandbox, [row]) };
}

for (const [what, address] of [
	['a closed port', `http://localhost:${await freePort()}`],
	['a network to which nothing leads', 'https://255.255.255.255'],
	['an unknown host', 'https://partners.invalid'],
	['a certificate that nobody signed', unsignedUrl],
	['a certificate for another name', otherNameUrl],
	['a proxy that hangs up', 'https://203.0.113.8'],
	['an address from which n8n keeps away', 'https://10.255.255.1'],
] as const) {
	const skip = what === 'an address from which n8n keeps away' && lacks('addressProtection');
	test(`${what}: not paid, not reached`, { skip }, async (context) => {
		const { message, ...told } = await payAt(address ?? '');
		context.diagnostic(String(message));
		assert.deepEqual(told, { outcome: 'notPaid', code: 'notReached', times: [0] });
		assert.match(String(message), /cannot be reached/);
	});
}

test('a proxy that wants a login: not paid', async (context) => {
	const { message, ...told } = await payAt('https://203.0.113.7');
	context.diagnostic(String(message));
	assert.deepEqual(told, { outcome: 'notPaid', code: 'refused', times: [0] });
});
