/** Workflows in the format of the editor, made by tests, pictures and benchmarks. */
import { randomUUID } from 'node:crypto';
import type { WorkflowFile } from '../../../demo/n8n-api.mts';

/** A node as a workflow file has it. */
export interface NodeFile {
	id: string;
	name: string;
	type: string;
	typeVersion: number;
	parameters: object;
	position: [number, number];
}

/**
 * @param type for n8n's own nodes without the name of their package
 * @param more such as `typeVersion` (default 1) or a setting
 */
export const node = (
	name: string,
	type: string,
	parameters: object = {},
	more: object = {},
): NodeFile => ({
	id: randomUUID(),
	name,
	type: type.includes('.') ? type : `n8n-nodes-base.${type}`,
	typeVersion: 1,
	parameters,
	position: [0, 0],
	...more,
});

export const START = 'Start';

/** The trigger that a person starts in the editor. */
export const start = (): NodeFile => node(START, 'manualTrigger');

export const code = (name: string, jsCode: string): NodeFile =>
	node(name, 'code', { jsCode }, { typeVersion: 2 });

export const ROWS = 'Rows';

export const list = (rows: object[], name = ROWS): NodeFile =>
	code(name, `return ${JSON.stringify(rows)}.map((json) => ({ json }))`);

export const webhook = (path: string, parameters: object = {}): NodeFile =>
	node(
		'Webhook',
		'webhook',
		{ path, httpMethod: 'POST', options: {}, ...parameters },
		{ typeVersion: 2, webhookId: randomUUID() },
	);

/** A node that outputs one item for each row that was posted to the webhook. */
export const postedRows = (): NodeFile => node(ROWS, 'splitOut', { fieldToSplitOut: 'body.rows' });

const paysItems = {
	resource: 'disbursement',
	operation: 'create',
	reference: '={{ $json.reference }}',
	toUserId: '={{ $json.toUserId }}',
	amountEtb: '={{ $json.amountEtb }}',
};

/** The node that pays, in all workflows that are made here. */
export const PAY = 'Pay';
export const payNode = (parameters: object = {}, settings: object = {}): NodeFile =>
	node(PAY, 'n8n-nodes-etb-wallet.etbWallet', { ...paysItems, ...parameters }, settings);

/** A node that calls a workflow with these fields of each of its items. */
export const callOf = (
	name: string,
	workflowId: string,
	value: Record<string, string>,
	settings: object = {},
): NodeFile =>
	node(
		name,
		'executeWorkflow',
		{
			workflowId: { __rl: true, mode: 'id', value: workflowId },
			workflowInputs: { mappingMode: 'defineBelow', value, matchingColumns: [], schema: [] },
			options: {},
		},
		{ typeVersion: 1.2, ...settings },
	);

/** Connections to these nodes: a list of names for each output. */
export const outputs = (...names: string[][]) => ({
	main: names.map((each) => each.map((name) => ({ node: name, type: 'main', index: 0 }))),
});

/** Connects nodes one after the other. */
export const chain = (...names: string[]): WorkflowFile['connections'] =>
	Object.fromEntries(
		names.slice(1).map((name, index) => [names[index] ?? '', outputs([name])] as const),
	);

/** @param connections default: one after the other */
export const workflow = (
	name: string,
	nodes: NodeFile[],
	connections: WorkflowFile['connections'] = chain(...nodes.map((each) => each.name)),
): WorkflowFile => ({
	name,
	nodes: nodes.map((each, index) => ({ ...each, position: [220 * index, 0] })),
	connections,
	settings: { executionOrder: 'v1' },
});
