/** The sandbox's endpoints, compared with the service document. */
import { formatEtb, parseEtb } from '../../sandbox/money.mts';
import { routeNames } from '../../sandbox/partner-api.mts';
import { call, sandboxForTest, send, stopAll } from './start.mts';

afterEach(stopAll);

const ADDRESS = /^0x[0-9a-f]{40}$/;
const HASH = /^0x[0-9a-f]{64}$/;
const refusal = (code: string) => ({ error: { code, message: expect.any(String) as unknown } });

const ENDPOINTS = routeNames.map((name): [string, string] => {
	const [method = '', path = ''] = name.split(' ');
	return [method, path];
});

describe('authentication (service document §5)', () => {
	test.each(ENDPOINTS)('%s %s answers 401 without the right bearer key', async (method, path) => {
		const { url, books, apiKey } = await sandboxForTest();
		const keys = [undefined, 'Bearer wrong', apiKey, `Basic ${apiKey}`];
		for (const authorization of keys) {
			const answer = await send(
				`${url}/api/v1/partners${path}`,
				method,
				method === 'GET' ? undefined : {},
				authorization === undefined ? {} : { authorization },
			);
			expect([authorization, answer.status]).toEqual([authorization, 401]);
			expect(answer.json).toEqual(refusal('unauthorized'));
		}
		expect(books.totals()).toEqual({ users: 0, disbursements: 0, deliveries: 0 });
	});
});

describe('endpoints (service document §4)', () => {
	test('2 and 3: the fee is 0.25 until set, and then what was set', async () => {
		const sandbox = await sandboxForTest();
		expect((await call(sandbox, 'GET', '/fee')).json).toEqual({ data: { feePercent: 0.25 } });
		for (const feePercent of [0, 1.5, 100]) {
			const answer = await call(sandbox, 'PUT', '/fee', { feePercent });
			expect([answer.status, answer.json]).toEqual([200, { data: { feePercent } }]);
			expect((await call(sandbox, 'GET', '/fee')).json).toEqual({ data: { feePercent } });
			expect(sandbox.books.fee()).toBe(feePercent);
		}
	});

	test.each([
		['PUT', '/fee', { feePercent: 100.01 }],
		['PUT', '/fee', { feePercent: '5' }],
		['PUT', '/webhook', { webhookUrl: 'example.com' }],
		['PUT', '/treasury/payout-destination', { type: 'mobile', phone: '0911223344' }],
		['PUT', '/treasury/payout-destination', { type: 'cash' }],
		['POST', '/users', { externalId: ' ' }],
		['POST', '/users', { externalId: 'a', email: 'a' }],
	])('%s %s refuses %j', async (method, path, body) => {
		const sandbox = await sandboxForTest();
		const answer = await call(sandbox, method, path, body);
		expect([answer.status, answer.json]).toEqual([422, refusal('invalid_body')]);
		expect(sandbox.books.fee()).toBe(0.25);
		expect(sandbox.books.webhookUrlHistory()).toEqual([]);
		expect(sandbox.books.payoutDestination()).toBeUndefined();
		expect(sandbox.books.users()).toEqual([]);
	});

	test('4: registers the webhook URL and remembers all of them', async () => {
		const sandbox = await sandboxForTest();
		expect(sandbox.books.webhookUrl()).toBeUndefined();
		const urls = ['https://a.example/1', 'http://127.0.0.1:9/2', 'https://a.example/1'];
		for (const webhookUrl of urls) {
			const answer = await call(sandbox, 'PUT', '/webhook', { webhookUrl });
			expect([answer.status, answer.json]).toEqual([200, { data: { webhookUrl } }]);
			expect(sandbox.books.webhookUrl()).toBe(webhookUrl);
		}
		expect(sandbox.books.webhookUrlHistory()).toEqual(urls);
	});

	test.each([
		{ type: 'mobile', phone: '+251911223344' },
		{ type: 'bank', accountNumber: '1000123', bankCode: 'CBE' },
	])('5: takes the payout destination %j', async (destination) => {
		const sandbox = await sandboxForTest();
		const answer = await call(sandbox, 'PUT', '/treasury/payout-destination', destination);
		expect([answer.status, answer.json]).toEqual([200, { data: destination }]);
		expect(sandbox.books.payoutDestination()).toEqual(destination);
	});

	test('6: provisions a user, without a data wrapper and without the email', async () => {
		const sandbox = await sandboxForTest();
		const user = { externalId: 'employee 7/ሀ', email: 'seven@example.com' };
		const answer = await call(sandbox, 'POST', '/users', user);
		expect(answer.status).toBe(201);
		expect(answer.json).toEqual({
			id: expect.stringMatching(/^etbw_.*employee 7\/ሀ/) as unknown,
			externalId: user.externalId,
			walletAddress: expect.stringMatching(ADDRESS) as unknown,
		});
		expect(sandbox.books.users()).toEqual([{ ...Object(answer.json), email: user.email }]);
	});

	test('6: refuses an externalId that is taken', async () => {
		const sandbox = await sandboxForTest();
		await call(sandbox, 'POST', '/users', { externalId: 'a' });
		const again = await call(sandbox, 'POST', '/users', { externalId: 'a' });
		expect([again.status, again.json]).toEqual([409, refusal('duplicate_external_id')]);
		expect(sandbox.books.users()).toHaveLength(1);
	});

	test('7: pays each time it is asked, without a data wrapper', async () => {
		const sandbox = await sandboxForTest({ treasuryBalance: 100 });
		const { id: toUserId } = sandbox.books.addUser({ externalId: 'a' });
		const body = `{"toUserId":"${toUserId}","amountEtb":12.50}`;
		const answers = [
			await call(sandbox, 'POST', '/disburse', body),
			await call(sandbox, 'POST', '/disburse', body),
		];
		for (const answer of answers) {
			expect([answer.status, answer.json]).toEqual([
				200,
				{
					success: true,
					amountEtb: 12.5,
					txHash: expect.stringMatching(HASH) as unknown,
				},
			]);
		}
		const booked = sandbox.books.disbursements();
		expect(booked.map((row) => [row.toUserId, row.amountEtb, row.amountText])).toEqual([
			[toUserId, 12.5, '12.50'],
			[toUserId, 12.5, '12.50'],
		]);
		expect(answers.map(({ json }) => json)).toEqual(
			booked.map(({ amountEtb, txHash }) => ({ success: true, amountEtb, txHash })),
		);
		expect(sandbox.books.balance().treasuryBalance).toBe(75);
	});

	test('7: refuses an unknown user, a bad amount and more than the treasury holds', async () => {
		const sandbox = await sandboxForTest({ treasuryBalance: 100 });
		const { id } = sandbox.books.addUser({ externalId: 'a' });
		const refused = [
			[`{"toUserId":"nobody","amountEtb":1}`, 404, 'unknown_user'],
			[`{"toUserId":"${id}","amountEtb":100.000000000000000001}`, 422, 'insufficient_treasury'],
			[`{"toUserId":"${id}","amountEtb":0}`, 422, 'invalid_body'],
			[`{"toUserId":"${id}","amountEtb":-1}`, 422, 'invalid_body'],
			[`{"toUserId":"${id}","amountEtb":"1"}`, 422, 'invalid_body'],
			[`{"toUserId":"${id}","amountEtb":1e-19}`, 422, 'invalid_body'],
			[`{"toUserId":"${id}","amountEtb":1e999}`, 422, 'invalid_body'],
			[`{"toUserId":"${id}"`, 400, 'invalid_json'],
			['[]', 422, 'invalid_body'],
		] as const;
		for (const [body, status, code] of refused) {
			const answer = await call(sandbox, 'POST', '/disburse', body);
			expect([body, answer.status, answer.json]).toEqual([body, status, refusal(code)]);
		}
		expect(sandbox.books.disbursements()).toEqual([]);
		expect(sandbox.books.deliveries()).toEqual([]);
		expect(sandbox.books.balance().treasuryBalance).toBe(100);
	});

	test('an unknown path is 404, a body that is not declared as JSON 415', async () => {
		const sandbox = await sandboxForTest();
		const unknown = await call(sandbox, 'GET', '/users');
		expect([unknown.status, unknown.json]).toEqual([404, refusal('not_found')]);
		const text = await send(`${sandbox.url}/api/v1/partners/fee`, 'PUT', '{"feePercent":1}', {
			authorization: `Bearer ${sandbox.apiKey}`,
			'content-type': 'text/plain',
		});
		expect([text.status, text.json]).toEqual([415, refusal('not_json')]);
	});
});

test('the treasury never drifts', async () => {
	const sandbox = await sandboxForTest({ treasuryBalance: 1000 });
	const { id: toUserId } = sandbox.books.addUser({ externalId: 'a' });
	for (let paid = 0; paid < 100; paid += 1)
		await call(sandbox, 'POST', '/disburse', { toUserId, amountEtb: 0.1 });
	expect(sandbox.books.treasuryBalanceText()).toBe('990');
	expect(formatEtb(parseEtb('1.5E-7'))).toBe('0.00000015');
	expect(() => parseEtb('1e-19')).toThrow(RangeError);
});
