/** The workflows that the queue test publishes. */
import { randomUUID } from 'node:crypto';
import type { WorkflowFile } from '../n8n/api.mts';

export const TRIGGER = 'ETB Wallet Trigger';
export const PAY = 'Pay';
export const START = 'Start';

let created = 0;

const node = (name: string, type: string, parameters: object, typeVersion = 1) => ({
	id: randomUUID(),
	name,
	type,
	typeVersion,
	position: [220 * created, 0],
	parameters,
});

/** A trigger alone: an execution has the event as its output. */
export function eventWorkflow(parameters: object = {}): WorkflowFile {
	created += 1;
	const trigger = node(TRIGGER, 'n8n-nodes-etb-wallet.etbWalletTrigger', parameters, 2);
	return {
		name: `Events ${created}`,
		nodes: [{ ...trigger, webhookId: randomUUID() }],
		connections: {},
		settings: { executionOrder: 'v1' },
	};
}

/** One row of a payroll. */
export interface PayrollRow {
	toUserId: string;
	/** ETB */
	amountEtb: number;
	reference?: string;
}

/**
 * Pays the rows that are posted to `webhook/<path>` as `{ rows }`.
 * @param settings of the node that pays, such as On Error
 * @param rows that it pays when a person starts it in the editor
 */
export function payrollWorkflow(
	path: string,
	options: object = {},
	settings: object = {},
	rows: PayrollRow[] = [],
): WorkflowFile {
	created += 1;
	const link = (name: string) => ({ main: [[{ node: name, type: 'main', index: 0 }]] });
	const webhook = node('Webhook', 'n8n-nodes-base.webhook', { path, httpMethod: 'POST' });
	return {
		name: `Payroll ${created}`,
		nodes: [
			{ ...webhook, webhookId: randomUUID() },
			node(START, 'n8n-nodes-base.manualTrigger', {}),
			node(
				'Rows',
				'n8n-nodes-base.set',
				{ mode: 'raw', jsonOutput: JSON.stringify({ body: { rows } }), options: {} },
				3.4,
			),
			node('Split Out', 'n8n-nodes-base.splitOut', { fieldToSplitOut: 'body.rows' }),
			{
				...node(PAY, 'n8n-nodes-etb-wallet.etbWallet', {
					resource: 'disbursement',
					operation: 'create',
					mappingMode: 'autoMapInputData',
					options,
				}),
				...settings,
			},
		],
		connections: {
			Webhook: link('Split Out'),
			[START]: link('Rows'),
			Rows: link('Split Out'),
			'Split Out': link(PAY),
		},
		settings: { executionOrder: 'v1' },
	};
}
