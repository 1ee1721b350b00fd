/** The workflows that the pictures show. */
import type { WorkflowFile } from '../demo/api.mts';

type Parameters = Record<string, unknown>;

const ACTION = 'n8n-nodes-etb-wallet.etbWallet';
const TRIGGER = 'n8n-nodes-etb-wallet.etbWalletTrigger';

/** The nodes that are shown, by their names. */
export const LIMITS = 'Pay with limits';
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

/** A payment with all its options behind a start. */
export function limitsWorkflow(): WorkflowFile {
	const pay = node(
		LIMITS,
		ACTION,
		{
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
		[260, 0],
	);
	return workflow('Limits', [manual(), pay], chain('Start', LIMITS));
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
