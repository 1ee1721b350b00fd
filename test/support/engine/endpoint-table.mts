/** The endpoint table of the service document §4, as the node's operations use it. */
import type { INodeParameters } from 'n8n-workflow';
import type { RouteName } from '../../../sandbox/sandbox.mts';

/**
 * One call of an endpoint, which gives one item. A list gives several, so it needs a field more here: the items that are
 * to come out, beside `answer` with its first page as the service sends it; endpoints.test.mts compares those then.
 */
export interface EndpointRow {
	route: RouteName;
	parameters: INodeParameters;
	sent?: object;
	/** The service's fields, as it may or may not wrap them in `data`. */
	answer: object;
	/** What the node adds to them. */
	added?: object;
}

const webhook = { webhookUrl: 'https://n8n.example.com/hook' };
const mobile = { type: 'mobile', phone: '+251911234567' };
const bank = { bankCode: 'CBETETAA', accountNumber: '1000123456789' };
const field = Object.entries(bank).map(([name, value]) => ({ name, value }));
const user = { externalId: 'employee-1', email: 'abebe@example.com' };
const payment = { toUserId: 'etb_employee-1', amountEtb: 250.75 };
/** Each execution pays something of its own. */
const reference = '=pay-{{ $execution.id }}';
const walletAddress = '0xdef';

export const endpointRows: EndpointRow[] = [
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
		parameters: { resource: 'webhook', operation: 'set', ...webhook },
		sent: webhook,
		answer: { registered: true },
		added: webhook,
	},
	{
		route: 'PUT /treasury/payout-destination',
		parameters: { resource: 'payoutDestination', operation: 'set', ...mobile },
		sent: mobile,
		answer: { saved: true },
		added: mobile,
	},
	{
		route: 'PUT /treasury/payout-destination',
		parameters: {
			...{ resource: 'payoutDestination', operation: 'set' },
			...{ type: 'bank', bankFields: { field } },
		},
		sent: { type: 'bank', ...bank },
		answer: {},
		added: { type: 'bank', ...bank },
	},
	{
		route: 'POST /users',
		parameters: { resource: 'user', operation: 'create', ...user },
		sent: user,
		answer: { id: 'etb_employee-1', externalId: 'employee-1', walletAddress },
	},
	{
		route: 'POST /users',
		parameters: { resource: 'user', operation: 'create', externalId: 'employee-2' },
		sent: { externalId: 'employee-2' },
		answer: { id: 'etb_employee-2', externalId: 'employee-2', walletAddress },
	},
	{
		route: 'POST /disburse',
		parameters: { resource: 'disbursement', operation: 'create', ...payment, reference },
		sent: payment,
		answer: { success: true, amountEtb: 250.75, txHash: '0x123' },
		added: {
			outcome: 'paid',
			code: 'paid',
			toUserId: payment.toUserId,
			reference: expect.stringMatching(/^pay-/) as unknown,
			paidAt: expect.stringMatching(/Z$/) as unknown,
		},
	},
];
