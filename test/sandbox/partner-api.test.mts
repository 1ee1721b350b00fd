/** The sandbox's endpoints, compared with the service document. */
import { decimalOf, parseEtb } from '../../sandbox/money.mts';
import { routeNames } from '../../sandbox/partner-api.mts';
import { call, sandboxForTest, send, stopAll } from './start.mts';

afterEach(stopAll);

const refusal = (code: string) => ({ error: { code, message: expect.any(String) as unknown } });
const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);

const endpoints = routeNames.map((name): [method: string, path: string] => {
	const [method = '', path = ''] = name.split(' ');
	return [method, path];
});

test.each(endpoints)('§5: %s %s answers 401 without the right bearer key', async (method, path) => {
	const { url, books, apiKey } = await sandboxForTest();
	for (const authorization of [undefined, 'Bearer wrong', apiKey, `Basic ${apiKey}`]) {
		const body = method === 'GET' ? undefined : {};
		const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
		const response = await send(`${url}/api/v1/partners${path}`, method, body, headers);
		expect([response.status, response.json]).toEqual([401, refusal('unauthorized')]);
	}
	expect(books.totals()).toEqual({ users: 0, disbursements: 0, deliveries: 0 });
});

const payment = (amountEtb: string, toUserId = 'etbw_a'): string =>
	`{"toUserId":"${toUserId}","amountEtb":${amountEtb}}`;

test.each([
	['PUT', '/fee', { feePercent: 100.01 }, 422, 'invalid_body'],
	['PUT', '/fee', { feePercent: '5' }, 422, 'invalid_body'],
	['PUT', '/webhook', { webhookUrl: 'example.com' }, 422, 'invalid_body'],
	['PUT', '/treasury/payout-destination', { type: 'mobile', phone: '091' }, 422, 'invalid_body'],
	['PUT', '/treasury/payout-destination', { type: 'cash' }, 422, 'invalid_body'],
	['POST', '/users', { externalId: ' ' }, 422, 'invalid_body'],
	['POST', '/users', { externalId: 'b', email: 'b' }, 422, 'invalid_body'],
	['POST', '/users', { externalId: 'a' }, 409, 'duplicate_external_id'],
	['POST', '/disburse', payment('1', 'nobody'), 404, 'unknown_user'],
	['POST', '/disburse', payment('100.000000000000000001'), 422, 'insufficient_treasury'],
	...['0', '-1', '"1"', '1e-19', '1e999'].map(
		(amount) => ['POST', '/disburse', payment(amount), 422, 'invalid_body'] as const,
	),
	['POST', '/disburse', '{"toUserId":"etbw_a"', 400, 'invalid_json'],
	['POST', '/disburse', '[]', 422, 'invalid_body'],
	['GET', '/users', undefined, 404, 'not_found'],
] as const)('%s %s refuses %j with %i %s', async (method, path, body, status, code) => {
	const sandbox = await sandboxForTest({ treasuryBalance: 100 });
	sandbox.books.addUser({ externalId: 'a' });
	const response = await call(sandbox, method, path, body);
	expect([response.status, response.json]).toEqual([status, refusal(code)]);
	expect(sandbox.books.totals()).toEqual({ users: 1, disbursements: 0, deliveries: 0 });
	expect(sandbox.books.balance().treasuryBalance).toBe(100);
	expect(sandbox.books.fee()).toBe(0.25);
	expect(sandbox.books.webhookUrlHistory()).toEqual([]);
	expect(sandbox.books.payoutDestination()).toBeUndefined();
});

test('a body that is not declared as JSON is 415', async () => {
	const sandbox = await sandboxForTest();
	const text = await send(`${sandbox.url}/api/v1/partners/fee`, 'PUT', '{"feePercent":1}', {
		authorization: `Bearer ${sandbox.apiKey}`,
		'content-type': 'text/plain',
	});
	expect([text.status, text.json]).toEqual([415, refusal('not_json')]);
});

test('§4, 6: provisions a user, without a data wrapper and without the email', async () => {
	const sandbox = await sandboxForTest();
	const user = { externalId: 'employee 7/ሀ', email: 'seven@example.com' };
	const response = await call(sandbox, 'POST', '/users', user);
	expect(response.status).toBe(201);
	expect(response.json).toEqual({
		id: matching(/^etbw_.*employee 7\/ሀ/),
		externalId: user.externalId,
		walletAddress: matching(/^0x[0-9a-f]{40}$/),
	});
	expect(sandbox.books.users()).toEqual([{ ...Object(response.json), email: user.email }]);
});

test('§4, 7: pays each time it is asked, without a data wrapper', async () => {
	const sandbox = await sandboxForTest({ treasuryBalance: 100 });
	sandbox.books.addUser({ externalId: 'a' });
	for (let paid = 1; paid <= 2; paid++) {
		const response = await call(sandbox, 'POST', '/disburse', payment('12.50'));
		const txHash = sandbox.books.disbursements().at(-1)?.txHash;
		expect(txHash).toMatch(/^0x[0-9a-f]{64}$/);
		expect([response.status, response.json]).toEqual([
			200,
			{ success: true, amountEtb: 12.5, txHash },
		]);
	}
	const paid = sandbox.books.disbursements();
	expect(paid.map((row) => [row.toUserId, row.amountText])).toEqual(
		Array(2).fill(['etbw_a', '12.50']),
	);
	expect(new Set(paid.map(({ txHash }) => txHash)).size).toBe(2);
	expect(sandbox.books.balance().treasuryBalance).toBe(75);
});

test('the treasury never drifts', async () => {
	const sandbox = await sandboxForTest({ treasuryBalance: 1000 });
	const { id: toUserId } = sandbox.books.addUser({ externalId: 'a' });
	for (let paid = 0; paid < 100; paid += 1)
		await call(sandbox, 'POST', '/disburse', { toUserId, amountEtb: 0.1 });
	expect(sandbox.books.treasuryBalanceText()).toBe('990');
	expect(decimalOf(parseEtb('1.5E-7'))).toBe('0.00000015');
	expect(() => parseEtb('1e-19')).toThrow(RangeError);
});
