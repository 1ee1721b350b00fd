/** Workflows as the editor saves them, for what drives a real n8n. */
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
 * @param type of n8n's own nodes without the name of their package
 * @param more such as `typeVersion` (1 unless told) or a setting
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

/** What a person starts in the editor. */
export const start = (): NodeFile => node(START, 'manualTrigger');

export const code = (name: string, jsCode: string): NodeFile =>
	node(name, 'code', { jsCode }, { typeVersion: 2 });

export const ROWS = 'Rows';

/** Gives out these rows, one item each. */
export const list = (rows: object[], name = ROWS): NodeFile =>
	code(name, `return ${JSON.stringify(rows)}.map((json) => ({ json }))`);

/** `webhook/<path>`. */
export const webhook = (path: string, parameters: object = {}): NodeFile =>
	node(
		'Webhook',
		'webhook',
		{ path, httpMethod: 'POST', options: {}, ...parameters },
		{ typeVersion: 2, webhookId: randomUUID() },
	);

/** One item for each of the rows that were posted to the webhook. */
export const postedRows = (): NodeFile => node(ROWS, 'splitOut', { fieldToSplitOut: 'body.rows' });

/** The fields of a node that pays each item, by the item's fields of the same names. */
export const paysItems = {
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

/** Connections to these nodes: a list of names for each output. */
export const outputs = (...names: string[][]) => ({
	main: names.map((each) => each.map((name) => ({ node: name, type: 'main', index: 0 }))),
});

/** Connects nodes one after the other. */
export const chain = (...names: string[]): WorkflowFile['connections'] =>
	Object.fromEntries(
		names.slice(1).map((name, index) => [names[index] ?? '', outputs([name])] as const),
	);

/** @param connections one after the other, unless told */
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
