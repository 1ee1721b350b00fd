/** The endpoint table of the service document §4: what is sent, and what becomes of the answer. */
import type { INodeParameters } from 'n8n-workflow';
import type { RouteName, Sandbox } from '../../sandbox/sandbox.mts';
import { startSandbox } from '../../sandbox/sandbox.mts';
import { credentialFor, onlyJson, runNode } from '../engine/world.mts';

interface Row {
	route: RouteName;
	parameters: INodeParameters;
	sent?: object;
	/** The service's fields, as it may or may not wrap them in `data`. */
	answer: object;
	/** What the node adds to them. */
	added?: object;
}

const rows: Row[] = [
	{
		route: 'GET /balance',
		parameters: { resource: 'balance', operation: 'get' },
		answer: { treasuryBalance: 1234.5, ethBalance: 0.25, treasuryAddress: '0xabc' },
	},
	{
		route: 'GET /fee',
		parameters: { resource: 'fee', operation: 'get' },
		answer: { feePercent: 0.25 },
	},
	{
		route: 'PUT /fee',
		parameters: { resource: 'fee', operation: 'update', feePercent: 1.5 },
		sent: { feePercent: 1.5 },
		answer: { feePercent: 1.5 },
	},
	{
		route: 'PUT /webhook',
		parameters: {
			resource: 'webhook',
			operation: 'set',
			webhookUrl: 'https://n8n.example.com/hook',
		},
		sent: { webhookUrl: 'https://n8n.example.com/hook' },
		answer: { registered: true },
		added: { webhookUrl: 'https://n8n.example.com/hook' },
	},
	{
		route: 'PUT /treasury/payout-destination',
		parameters: {
			resource: 'payoutDestination',
			operation: 'set',
			type: 'mobile',
			phone: '+251911234567',
		},
		sent: { type: 'mobile', phone: '+251911234567' },
		answer: { saved: true },
		added: { type: 'mobile', phone: '+251911234567' },
	},
	{
		route: 'PUT /treasury/payout-destination',
		parameters: {
			resource: 'payoutDestination',
			operation: 'set',
			type: 'bank',
			bankFields: {
				field: [
					{ name: 'bankCode', value: 'CBETETAA' },
					{ name: 'accountNumber', value: '1000123456789' },
				],
			},
		},
		sent: { type: 'bank', bankCode: 'CBETETAA', accountNumber: '1000123456789' },
		answer: {},
		added: { type: 'bank', bankCode: 'CBETETAA', accountNumber: '1000123456789' },
	},
	{
		route: 'POST /users',
		parameters: {
			resource: 'user',
			operation: 'create',
			externalId: 'employee-1',
			email: 'abebe@example.com',
		},
		sent: { externalId: 'employee-1', email: 'abebe@example.com' },
		answer: { id: 'etb_employee-1', externalId: 'employee-1', walletAddress: '0xdef' },
	},
	{
		route: 'POST /users',
		parameters: { resource: 'user', operation: 'create', externalId: 'employee-2' },
		sent: { externalId: 'employee-2' },
		answer: { id: 'etb_employee-2', externalId: 'employee-2', walletAddress: '0xdef' },
	},
	{
		route: 'POST /disburse',
		parameters: {
			resource: 'disbursement',
			operation: 'create',
			toUserId: 'etb_employee-1',
			amountEtb: 250.75,
		},
		sent: { toUserId: 'etb_employee-1', amountEtb: 250.75 },
		answer: { success: true, amountEtb: 250.75, txHash: '0x123' },
		added: { outcome: 'paid', toUserId: 'etb_employee-1' },
	},
];

const name = ({ route, sent }: Row): string =>
	`${route} ${sent === undefined ? '' : JSON.stringify(sent)}`;

let sandbox: Sandbox;

beforeAll(async () => {
	sandbox = await startSandbox();
});
afterAll(async () => await sandbox.stop());
beforeEach(() => {
	sandbox.faults.clear();
	sandbox.requests.length = 0;
});

const reply = (body: object) => ({
	process: 'never' as const,
	answer: { status: 200, body: JSON.stringify(body) },
});

describe.each(rows.map((row) => [name(row), row] as const))('%s', (_name, row) => {
	const run = async () =>
		await runNode({ credential: credentialFor(sandbox), parameters: row.parameters });

	test('sends the documented request, once', async () => {
		sandbox.faults.next(row.route, reply(row.answer));
		await run();
		expect(sandbox.requests).toHaveLength(1);
		const [request] = sandbox.requests;
		const [method, path] = row.route.split(' ');
		expect(request).toMatchObject({ method, path: `/api/v1/partners${path}` });
		expect(request?.headers).toMatchObject({
			authorization: `Bearer ${sandbox.apiKey}`,
			accept: 'application/json',
		});
		if (row.sent === undefined) {
			expect(request?.bodyText).toBe('');
			expect(request?.headers).not.toHaveProperty('content-type');
		} else {
			expect(request?.body).toEqual(row.sent);
			expect(request?.headers['content-type']).toBe('application/json');
		}
	});

	test.each([
		['unwrapped', row.answer],
		['wrapped', { data: row.answer }],
	])('gives flat output for an %s body', async (_shape, body) => {
		sandbox.faults.next(row.route, reply(body));
		expect(onlyJson(await run())).toEqual({ ...row.added, ...row.answer });
	});

	test('passes unknown fields through and pairs the item', async () => {
		sandbox.faults.next(
			row.route,
			reply({ data: { ...row.answer, added: { later: 1 } }, requestId: 'r1' }),
		);
		const result = await run();
		expect(onlyJson(result)).toMatchObject({ requestId: 'r1', added: { later: 1 } });
		expect(result.output[0]?.pairedItem).toEqual({ item: 0 });
	});

	test('works against the sandbox itself', async () => {
		const parameters = { ...row.parameters };
		if (parameters.resource === 'disbursement') {
			parameters.toUserId = sandbox.books.addUser({ externalId: 'worker' }).id;
		}
		if (parameters.resource === 'user')
			parameters.externalId = `live-${sandbox.books.users().length}`;
		if (parameters.resource === 'webhook') parameters.webhookUrl = 'https://n8n.example.com/other';
		const output = onlyJson(await runNode({ credential: credentialFor(sandbox), parameters }));
		expect(Object.keys(output)).toEqual(
			expect.arrayContaining(
				Object.keys({
					...row.added,
					...(row.added && row.route.startsWith('PUT') ? {} : row.answer),
				}),
			),
		);
	});
});

test.each([
	['', '/api/v1/partners/fee'],
	['/', '/api/v1/partners/fee'],
	['/api/v1/partners', '/api/v1/partners/fee'],
	['/api/v1/partners/', '/api/v1/partners/fee'],
])('a base URL ending in "%s" reaches the endpoint', async (ending, path) => {
	const credential = credentialFor(sandbox, { baseUrl: sandbox.url + ending });
	await runNode({ credential, parameters: { resource: 'fee', operation: 'get' } });
	expect(sandbox.requests.map((request) => request.path)).toEqual([path]);
});
