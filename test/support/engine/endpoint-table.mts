/** The endpoint table of the service document §4, as the node's operations use it. */
import type { INodeParameters } from 'n8n-workflow';
import type { RouteName } from '../../../sandbox/sandbox.mts';

/** One call of an endpoint. The output schemas are made from these, too. */
export interface EndpointRow {
	route: RouteName;
	parameters: INodeParameters;
	/** Path and query of the request, where they differ from the route. */
	path?: string;
	sent?: object;
	/** The service's fields, as it may or may not wrap them in `data`. */
	response: object;
	/** The smallest response: only the output of it is promised. Default: `response` is always complete. */
	least?: object;
	/** Fields that the node adds. */
	added?: object;
	/** Texts that the node adds, other ones in each run. */
	addedAnew?: string[];
	/** The output items, where they are not the one item of `response` and `added`. */
	items?: object[];
}

const webhook = { webhookUrl: 'http://127.0.0.1:9/hook' };
const mobile = { type: 'mobile', phone: '+251911234567' };
const bank = { bankCode: 'CBETETAA', accountNumber: '1000123456789' };
const field = Object.entries(bank).map(([name, value]) => ({ name, value }));
const user = { externalId: 'employee-1', email: 'abebe@example.com' };
const payment = { toUserId: 'etb_employee-1', amountEtb: 250.75 };
/** A reference of its own for each execution. */
const reference = '=pay-{{ $execution.id }}';
const walletAddress = '0xdef';

export const endpointRows: EndpointRow[] = [
	{
		route: 'GET /balance',
		parameters: { resource: 'balance', operation: 'get' },
		response: { treasuryBalance: 1234.5, ethBalance: 0.25, treasuryAddress: '0xabc' },
		least: { treasuryBalance: 1 },
	},
	{
		route: 'GET /fee',
		parameters: { resource: 'fee', operation: 'get' },
		response: { feePercent: 0.25 },
		least: { feePercent: 1 },
	},
	{
		route: 'PUT /fee',
		parameters: { resource: 'fee', operation: 'update', feePercent: 1.5 },
		sent: { feePercent: 1.5 },
		response: { feePercent: 1.5 },
		least: { feePercent: 1.5 },
	},
	{
		route: 'PUT /webhook',
		parameters: { resource: 'webhook', operation: 'set', ...webhook },
		sent: webhook,
		response: { registered: true },
		least: {},
		added: webhook,
	},
	{
		route: 'PUT /treasury/payout-destination',
		parameters: { resource: 'payoutDestination', operation: 'set', ...mobile },
		sent: mobile,
		response: { saved: true },
		added: mobile,
	},
	{
		route: 'PUT /treasury/payout-destination',
		parameters: {
			resource: 'payoutDestination',
			operation: 'set',
			type: 'bank',
			bankFields: { field },
		},
		sent: { type: 'bank', ...bank },
		response: {},
		added: { type: 'bank', ...bank },
	},
	{
		route: 'POST /users',
		parameters: { resource: 'user', operation: 'create', ...user },
		sent: user,
		response: { id: 'etb_employee-1', externalId: 'employee-1', walletAddress },
	},
	{
		route: 'POST /users',
		parameters: { resource: 'user', operation: 'create', externalId: 'employee-2' },
		sent: { externalId: 'employee-2' },
		response: { id: 'etb_employee-2', externalId: 'employee-2', walletAddress },
		least: { id: 'etb_employee-2' },
	},
	{
		route: 'POST /disburse',
		parameters: { resource: 'disbursement', operation: 'create', ...payment, reference },
		sent: payment,
		response: { success: true, amountEtb: 250.75, txHash: '0x123' },
		added: {
			outcome: 'paid',
			code: 'paid',
			toUserId: payment.toUserId,
		},
		addedAnew: ['reference', 'paidAt'],
	},
];
