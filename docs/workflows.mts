/** The workflows that the pictures show. */
import type { WorkflowFile } from '../demo/api.mts';
import { node, start, workflow, type NodeFile } from '../demo/workflow.mts';

type Parameters = Record<string, unknown>;

const ACTION = 'n8n-nodes-etb-wallet.etbWallet';

/** The nodes that are shown, by their names. */
export const PAY = 'Pay salaries';
export const RECORD = 'Keep a record';
export const TRIGGER_NAME = 'ETB Wallet Trigger';

/** The id of a node, for its address in the editor. */
export const idOf = (name: string): string => name.toLowerCase().replaceAll(/[^a-z]+/g, '-');

const shown = (name: string, type: string, parameters: Parameters, more: object = {}): NodeFile =>
	node(name, type, parameters, { id: idOf(name), ...more });

/** One node for each picture of an operation, by the picture's name. */
export const callNodes: Record<string, { name: string; parameters: Parameters }> = {
	'balance-get': { name: 'Get balance', parameters: { resource: 'balance', operation: 'get' } },
	'fee-get': { name: 'Get fee', parameters: { resource: 'fee', operation: 'get' } },
	'fee-update': {
		name: 'Update fee',
		parameters: { resource: 'fee', operation: 'update', feePercent: 0.25 },
	},
	'payout-mobile': {
		name: 'Pay out by phone',
		parameters: {
			resource: 'payoutDestination',
			operation: 'set',
			type: 'mobile',
			phone: '+251911234567',
		},
	},
	'payout-bank': {
		name: 'Pay out to bank',
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
	},
	'user-create': {
		name: 'Create wallets',
		parameters: {
			resource: 'user',
			operation: 'create',
			externalId: '={{ $json.employee }}',
			email: '={{ $json.email }}',
		},
	},
	'webhook-set': {
		name: 'Set webhook',
		parameters: {
			resource: 'webhook',
			operation: 'set',
			webhookUrl: 'https://n8n.example.com/webhook/etb-wallet',
		},
	},
	'disbursement-options': {
		name: 'Pay with limits',
		parameters: {
			resource: 'disbursement',
			operation: 'create',
			reference: '={{ $json.reference }}',
			toUserId: '={{ $json.toUserId }}',
			amountEtb: '={{ $json.amountEtb }}',
			options: {
				checkBalance: true,
				concurrency: 10,
				includeInput: true,
				maxAmountEtb: 20_000,
				maxTotalEtb: 250_000,
				timeout: 60_000,
			},
		},
	},
};

/** Every operation behind one start. */
export const callsWorkflow = (): WorkflowFile =>
	workflow('All operations', [
		start(),
		...Object.values(callNodes).map(({ name, parameters }) => shown(name, ACTION, parameters)),
	]);

/** A payment in the list of a payroll. */
export interface PayrollRow {
	userId: string;
	salary: number | string;
	payment: string;
}

/** A list of people who are paid. */
export function payrollWorkflow(
	people: PayrollRow[],
	{ onError, ...options }: { onError?: 'continueErrorOutput' } & Parameters,
): WorkflowFile {
	const rows = { mode: 'raw', jsonOutput: JSON.stringify({ people }, null, 2), options: {} };
	const payment = {
		...{ resource: 'disbursement', operation: 'create', reference: '={{ $json.payment }}' },
		...{ toUserId: '={{ $json.userId }}', amountEtb: '={{ $json.salary }}' },
		options: { checkBalance: true, ...options },
	};
	return workflow('Payroll', [
		start(),
		node('Payroll', 'set', rows, { typeVersion: 3.4 }),
		node('One item per person', 'splitOut', { fieldToSplitOut: 'people', options: {} }),
		shown(PAY, ACTION, payment, { onError }),
		shown(RECORD, 'set', { options: {} }, { typeVersion: 3.4 }),
	]);
}

/** A trigger, and a node behind it. */
export const eventsWorkflow = (name: string, parameters: Parameters): WorkflowFile =>
	workflow(name, [
		shown(TRIGGER_NAME, 'n8n-nodes-etb-wallet.etbWalletTrigger', parameters, {
			...{ typeVersion: 2, webhookId: `pictures-${idOf(name)}` },
		}),
		node('What happened', 'noOp'),
	]);
