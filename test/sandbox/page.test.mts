/** The sandbox's page. */
import { call, sandboxForTest, send, stopAll } from './start.mts';

afterEach(stopAll);

test('the page shows balance, fee, webhook URL, payout destination, users, payments and tries', async () => {
	const sandbox = await sandboxForTest({ treasuryBalance: 12_345.5 });
	await call(sandbox, 'PUT', '/webhook', { webhookUrl: 'http://127.0.0.1:9/hook' });
	await call(sandbox, 'PUT', '/fee', { feePercent: 1.25 });
	const phone = '+251911223344';
	await call(sandbox, 'PUT', '/treasury/payout-destination', { type: 'mobile', phone });
	await call(sandbox, 'POST', '/users', { externalId: 'employee-1', email: 'one@example.com' });
	await call(sandbox, 'POST', '/disburse', { toUserId: 'etbw_employee-1', amountEtb: 1234.5 });
	await sandbox.idle();
	const page = await send(`${sandbox.url}/`, 'GET');
	expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
	for (const shown of [
		'11,111',
		'1.25',
		'http://127.0.0.1:9/hook',
		phone,
		'employee-1',
		'one@example.com',
		'1,234.5',
		'Payment completed</b>: 1,234.5 ETB to etbw_employee-1',
		'disburse.completed',
		'ECONNREFUSED',
	]) {
		expect(page.text).toContain(shown);
	}
	for (const [, file = ''] of page.text.matchAll(/(?:href|src)="(\/[^"]*)"/g)) {
		expect((await send(sandbox.url + file, 'GET')).status).toBe(200);
	}
	expect(page.text).not.toMatch(/(?:href|src)="(?:https?:)?\/\//);
});

test('values from outside are shown as text, never as HTML', async () => {
	const sandbox = await sandboxForTest();
	const evil = `"><img src=x onerror='alert(1)'>&amp;`;
	await call(sandbox, 'POST', '/users', { externalId: evil });
	await call(sandbox, 'POST', '/disburse', { toUserId: `etbw_${evil}`, amountEtb: 1 });
	await call(sandbox, 'PUT', '/webhook', { webhookUrl: `http://127.0.0.1:9/${evil}` });
	await call(sandbox, 'PUT', '/treasury/payout-destination', { type: 'bank', [evil]: evil });
	sandbox.emit(evil, { [evil]: evil }, { body: evil });
	await sandbox.idle();
	for (const path of ['/', '/sandbox/live']) {
		const { text, headers } = await send(sandbox.url + path, 'GET');
		expect(text).not.toContain('<img');
		expect(text).not.toContain(evil);
		expect(text).toContain('&quot;&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;&amp;amp;');
		if (path === '/') expect(headers.get('content-security-policy')).toMatch(/default-src 'none'/);
	}
});
