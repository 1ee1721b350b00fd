/** The credential's test button: what it says, and that it shows no secret. */
import type { INodeCredentialTestResult } from 'n8n-workflow';
import type { CredentialData } from '../support/engine/engine.mts';
import { credentialFor, loadPackage, testCredential } from '../support/engine/engine.mts';
import { payInEachTest, sandbox } from '../support/engine/paying.mts';

payInEachTest({ apiKey: 'ak-Q7mZ2pX9', webhookSecret: 'ws-K4nV8tR1' });

async function press(changes: CredentialData = {}): Promise<INodeCredentialTestResult> {
	const data = credentialFor(sandbox, changes);
	const result = await testCredential(data);
	const told = JSON.stringify(result);
	for (const secret of [data.apiKey, data.webhookSecret, sandbox.apiKey]) {
		if (typeof secret === 'string' && secret !== '') expect(told).not.toContain(secret);
	}
	expect(told).not.toContain('Bearer');
	expect(result.message).not.toBe('');
	return result;
}

test('reads the balance once, with the key without the white space around it', async () => {
	const apiKey = ` ${sandbox.apiKey}\n`;
	expect(await press({ apiKey })).toEqual({ status: 'OK', message: 'Connection successful' });
	const headers = { authorization: `Bearer ${sandbox.apiKey}` };
	const path = '/api/v1/partners/balance';
	expect(sandbox.requests).toMatchObject([{ method: 'GET', path, headers }]);
});

test('shows the reason of the service for a wrong key', async () => {
	expect(await press({ apiKey: 'wrong-key' })).toEqual({
		status: 'Error',
		message:
			'The service does not accept the API key (401). The service said: "The API key is missing or not valid". Check the API key in the ETB Wallet API credential.',
	});
});

test('does not follow a redirect', async () => {
	const headers = { location: 'https://127.0.0.1:9/' };
	sandbox.faults.next('GET /balance', { process: 'never', response: { status: 307, headers } });
	expect((await press()).message).toMatch(/redirect, which is not followed/);
});

test('hides secrets that the service repeats', async () => {
	const body = JSON.stringify({ message: `${sandbox.apiKey} and ${sandbox.webhookSecret}` });
	sandbox.faults.next('GET /balance', { process: 'never', response: { status: 401, body } });
	expect((await press()).message).toMatch(/\[hidden\] and \[hidden\]/);
});

const unusable: [CredentialData, RegExp][] = [
	[{ baseUrl: '' }, /^Base URL is empty\. Enter the full address/],
	[{ apiKey: '' }, /^API Key is empty\. Enter the API key in the ETB Wallet API credential\.$/],
	[{ apiKey: 'two\r\nX-Injected: lines' }, /^API Key contains a space, a line break .*\. Paste/],
];
test.each(unusable)('refuses %j before anything is sent', async (changes, message) => {
	const result = await press(changes);
	expect(result.status).toBe('Error');
	expect(result.message).toMatch(message);
	expect(sandbox.requests).toEqual([]);
});

test.each([
	...['ws-\u200bK4nV8tR1', '\u2060ws-K4nV8tR1', 'ws\u2011K4nV8tR1', 'ws \u00a0K4nV8tR1'],
	...['ws-\ufeffK4nV8tR1', 'ws-K4nV\n8tR1', 'ws-😀\u{e0001}', '"ws-K4nV8tR1"', "'ws-K4nV8tR1'"],
	...['“ws-K4nV8tR1”', '`ws-K4nV8tR1`', '«ws»', 'ws-K4nV8tR1\u200b'],
])('refuses the webhook secret %j, and does not show it', async (webhookSecret) => {
	for (const [field, changes] of [
		['Webhook Secret', { webhookSecret }],
		['Previous Webhook Secret', { previousWebhookSecret: webhookSecret }],
	] satisfies Array<[string, CredentialData]>) {
		const { status, message } = await press(changes);
		expect(status).toBe('Error');
		expect(message).toMatch(new RegExp(`^${field} is in quotes, or has a character that cannot`));
		expect(message).not.toContain(webhookSecret.trim());
	}
	expect(sandbox.requests).toEqual([]);
});

test.each([
	...[' ws-K4nV8tR1\n', '\ufeffws-K4nV8tR1\u00a0', 'a pass phrase, "with" quotes - and ብር'],
	...["x'", ''],
])('takes the webhook secret %j', async (webhookSecret) => {
	expect(await press({ webhookSecret })).toMatchObject({ status: 'OK' });
});

test('is the same for both nodes', async () => {
	const { types } = await loadPackage();
	const uses = [...types.values()].flatMap(({ description }) => description.credentials ?? []);
	expect(uses.map(({ name, required, testedBy }) => ({ name, required, testedBy }))).toEqual(
		Array(2).fill({ name: 'etbWalletApi', required: true, testedBy: 'etbWalletApiTest' }),
	);
});
