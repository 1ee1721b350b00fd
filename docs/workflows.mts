/** The workflows that the pictures show. */
import type { WorkflowFile } from '../demo/api.mts';

type Parameters = Record<string, unknown>;

const ACTION = 'n8n-nodes-etb-wallet.etbWallet';
const TRIGGER = 'n8n-nodes-etb-wallet.etbWalletTrigger';

/** The nodes that are shown, by their names. */
export const PAY = 'Pay salaries';
export const RECORD = 'Keep a record';
export const TRIGGER_NAME = 'ETB Wallet Trigger';

const node = (
	name: string,
	type: string,
	parameters: Parameters,
	position: [number, number],
	typeVersion = 1,
) => ({ id: idOf(name), name, type, typeVersion, position, parameters });

/** The id of a node, for its address in the editor. */
export const idOf = (name: string): string => name.toLowerCase().replaceAll(/[^a-z]+/g, '-');

const manual = () => node('Start', 'n8n-nodes-base.manualTrigger', {}, [0, 0]);

const link = (...targets: string[]) => targets.map((target) => to(target));
const to = (target: string) => ({ node: target, type: 'main', index: 0 });
const chain = (...names: string[]) =>
	Object.fromEntries(
		names.slice(1).map((name, index) => [names[index] ?? '', { main: [link(name)] }]),
	);

const workflow = (
	name: string,
	nodes: WorkflowFile['nodes'],
	connections: WorkflowFile['connections'],
): WorkflowFile => ({ name, nodes, connections, settings: { executionOrder: 'v1' } });

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
export function callsWorkflow(): WorkflowFile {
	const calls = Object.values(callNodes).map(({ name, parameters }, index) =>
		node(name, ACTION, parameters, [260 + (index % 4) * 240, Math.floor(index / 4) * 200 - 100]),
	);
	return workflow('All operations', [manual(), ...calls], {
		Start: { main: [link(...calls.map(({ name }) => name))] },
	});
}

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
	const pay = node(
		PAY,
		ACTION,
		{
			resource: 'disbursement',
			operation: 'create',
			toUserId: '={{ $json.userId }}',
			amountEtb: '={{ $json.salary }}',
			reference: '={{ $json.payment }}',
			options: { checkBalance: true, ...options },
		},
		[660, 0],
	);
	const nodes = [
		manual(),
		node(
			'Payroll',
			'n8n-nodes-base.set',
			{ mode: 'raw', jsonOutput: JSON.stringify({ people }, null, 2), options: {} },
			[220, 0],
			3.4,
		),
		node(
			'One item per person',
			'n8n-nodes-base.splitOut',
			{ fieldToSplitOut: 'people', options: {} },
			[440, 0],
		),
		{ ...pay, onError },
		node(RECORD, 'n8n-nodes-base.set', { options: {} }, [880, 0], 3.4),
	];
	return workflow('Payroll', nodes, chain(...nodes.map(({ name }) => name)));
}

/** A trigger, and a node behind it. */
export function eventsWorkflow(name: string, parameters: Parameters): WorkflowFile {
	const trigger = {
		...node(TRIGGER_NAME, TRIGGER, parameters, [0, 0], 2),
		webhookId: `pictures-${idOf(name)}`,
	};
	const behind = node('What happened', 'n8n-nodes-base.noOp', {}, [360, 0]);
	return workflow(name, [trigger, behind], { [TRIGGER_NAME]: { main: [link(behind.name)] } });
}
