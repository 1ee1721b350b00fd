/** A service that cannot be reached: in each version of n8n nobody is paid, and the node says so. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer as createTlsServer } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { lacks } from '../../support/n8n/version-differences.mts';
import { freePort } from '../../../demo/ports.mts';
import { certify } from '../../support/certificate.mts';
import { serve } from '../../support/engine/served.mts';
import { startLab, timesPaid } from '../../support/lab.mts';
import { withCredential } from '../../support/events.mts';
import { itemsOf, payroll } from '../../support/payroll.mts';
import { START, payNode, start, workflow } from '../../support/n8n/workflow.mts';

const folder = await mkdtemp(join(tmpdir(), 'no-response-'));
const unsigned = await serve(
	createTlsServer(certify(folder, 'localhost', 'subjectAltName=DNS:localhost')),
);
/** A proxy that hangs up without a word. */
const proxy = await serve(createServer((socket) => socket.once('data', () => socket.end())));
const lab = await startLab({
	env: {
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
	await unsigned.close();
	await proxy.close();
	await rm(folder, { recursive: true, force: true });
});

let payees = 0;

for (const [what, baseUrl] of [
	['a closed port', `http://localhost:${await freePort()}`],
	['a network to which nothing leads', 'https://255.255.255.255'],
	['an unknown host', 'https://partners.invalid'],
	[
		'a certificate that nobody signed',
		unsigned.url.replace('http://127.0.0.1', 'https://localhost'),
	],
	['a proxy that hangs up', 'https://203.0.113.8'],
	['an address from which n8n keeps away', 'https://10.255.255.1'],
] as const) {
	const skip = what === 'an address from which n8n keeps away' && lacks('addressProtection');
	test(`${what}: not paid, not reached`, { skip }, async (context) => {
		const [row] = payroll(lab, `no-response-${++payees}`, 1);
		assert.ok(row);
		const pay = payNode(
			{ ...row, options: { timeout: 3_000 } },
			{ onError: 'continueRegularOutput' },
		);
		const file = withCredential(
			workflow('No response', [start(), pay]),
			await lab.addCredential({ baseUrl }),
		);
		const id = await lab.api.createWorkflow(file);
		const execution = await lab.api.endedExecution(await lab.api.run(id, START));
		const [{ outcome, code, message } = {}] = itemsOf(execution);
		context.diagnostic(String(message));
		assert.deepEqual([outcome, code], ['notPaid', 'notReached'], execution.error);
		assert.match(String(message), /cannot be reached/);
		assert.deepEqual(timesPaid(lab.sandbox, [row]), [0]);
	});
}
