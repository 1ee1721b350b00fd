/** The workflows that are measured, of this package and wired by hand. */
import { randomUUID } from 'node:crypto';
import type { WorkflowFile } from '../lab/n8n/api.mts';

/** A credential as a workflow refers to it. */
export interface CredentialReference {
	id: string;
	name: string;
}

/** The node of a paying workflow whose time counts. */
export const PAY = 'Pay';

interface NodeShape {
	name: string;
	type: string;
	typeVersion?: number;
	parameters?: object;
	credentials?: Record<string, CredentialReference>;
	webhookId?: string;
}

function workflow(name: string, nodes: NodeShape[], connections: WorkflowFile['connections']) {
	return {
		name,
		nodes: nodes.map((node, index) => ({
			typeVersion: 1,
			parameters: {},
			webhookId: randomUUID(),
			...node,
			id: randomUUID(),
			position: [220 * index, 0],
		})),
		connections,
		settings: { executionOrder: 'v1' },
	};
}

const link = (...names: string[]) => names.map((node) => [{ node, type: 'main', index: 0 }]);

/** Connects nodes one after the other. */
function chain(nodes: NodeShape[]): WorkflowFile['connections'] {
	const pairs = nodes.slice(1).map(({ name }, index) => [nodes[index]?.name ?? '', name] as const);
	return Object.fromEntries(pairs.map(([from, to]) => [from, { main: link(to) }]));
}

/** Gives the rows that are posted to `webhook/<path>` as `{ rows }` to `pay`, and answers when all is done. */
export function payingWorkflow(path: string, pay: Omit<NodeShape, 'name'>): WorkflowFile {
	const nodes: NodeShape[] = [
		{
			name: 'Webhook',
			type: 'n8n-nodes-base.webhook',
			typeVersion: 2,
			parameters: {
				path,
				httpMethod: 'POST',
				responseMode: 'lastNode',
				responseData: 'noData',
				options: {},
			},
		},
		{
			name: 'Rows',
			type: 'n8n-nodes-base.splitOut',
			parameters: { fieldToSplitOut: 'body.rows', options: {} },
		},
		{ ...pay, name: PAY },
	];
	return workflow(`Pay: ${path}`, nodes, chain(nodes));
}

/** As a builder sets it up: the service's two fields by expression, the key in a header credential. */
export const httpRequest = (
	serviceUrl: string,
	header: CredentialReference,
): Omit<NodeShape, 'name'> => ({
	type: 'n8n-nodes-base.httpRequest',
	typeVersion: 4.2,
	parameters: {
		method: 'POST',
		url: `${serviceUrl}/api/v1/partners/disburse`,
		authentication: 'genericCredentialType',
		genericAuthType: 'httpHeaderAuth',
		sendBody: true,
		specifyBody: 'keypair',
		bodyParameters: {
			parameters: [
				{ name: 'toUserId', value: '={{ $json.toUserId }}' },
				{ name: 'amountEtb', value: '={{ $json.amountEtb }}' },
			],
		},
		options: {},
	},
	credentials: { httpHeaderAuth: header },
});

/** Our node, with fields by expression, or with the items' own ("Map Automatically"). */
export const etbWallet = (
	fields: 'expressions' | 'mapped',
	options: object = {},
): Omit<NodeShape, 'name'> => ({
	type: 'n8n-nodes-etb-wallet.etbWallet',
	parameters: {
		resource: 'disbursement',
		operation: 'create',
		...(fields === 'mapped'
			? { mappingMode: 'autoMapInputData' }
			: {
					mappingMode: 'defineBelow',
					toUserId: '={{ $json.toUserId }}',
					amountEtb: '={{ $json.amountEtb }}',
				}),
		options,
	},
});

/** What n8n itself costs for the same items. */
export const noOperation: Omit<NodeShape, 'name'> = { type: 'n8n-nodes-base.noOp' };

/** The node that a verified event reaches. */
export const DONE = 'Done';

const done: NodeShape = { name: DONE, type: 'n8n-nodes-base.noOp' };

/** Our trigger for transfers, answered when the execution has started, and the id its URL has. */
export function triggerWorkflow(): { workflow: WorkflowFile; webhookId: string } {
	const trigger = {
		webhookId: randomUUID(),
		name: 'ETB Wallet Trigger',
		type: 'n8n-nodes-etb-wallet.etbWalletTrigger',
		typeVersion: 2,
		parameters: { events: ['transfer.completed'] },
	};
	const nodes = [trigger, done];
	return {
		workflow: workflow('Events: ETB Wallet Trigger', nodes, chain(nodes)),
		webhookId: trigger.webhookId,
	};
}

const rawWebhook = (path: string, options: object = {}): NodeShape => ({
	name: 'Webhook',
	type: 'n8n-nodes-base.webhook',
	typeVersion: 2,
	parameters: {
		path,
		httpMethod: 'POST',
		responseMode: 'onReceived',
		options: { rawBody: true, ...options },
	},
});

/**
 * A webhook that verifies nothing.
 * @param typeVersion version 1 gets the treatment that n8n gives to each trigger that is not its own Webhook node
 */
export function webhookWorkflow(path: string, typeVersion: 1 | 2, options?: object): WorkflowFile {
	const webhook = { ...rawWebhook(path, options), typeVersion };
	return workflow(`Events: Webhook ${typeVersion}`, [webhook, done], chain([webhook, done]));
}

/** What a builder wires to verify a signature: Webhook, Crypto and IF. */
export function webhookCryptoIfWorkflow(path: string, secret: CredentialReference): WorkflowFile {
	const webhook = rawWebhook(path);
	const crypto: NodeShape = {
		name: 'Crypto',
		type: 'n8n-nodes-base.crypto',
		typeVersion: 2,
		parameters: {
			action: 'hmac',
			binaryData: true,
			binaryPropertyName: 'data',
			type: 'SHA256',
			dataPropertyName: 'hmac',
			encoding: 'hex',
		},
		credentials: { crypto: secret },
	};
	const verified: NodeShape = {
		name: 'IF',
		type: 'n8n-nodes-base.if',
		typeVersion: 2.2,
		parameters: {
			conditions: {
				options: { caseSensitive: true, leftValue: '', typeValidation: 'strict', version: 2 },
				combinator: 'and',
				conditions: [
					{
						id: randomUUID(),
						leftValue: "={{ 'sha256=' + $json.hmac }}",
						rightValue: "={{ $json.headers['x-webhook-signature'] }}",
						operator: { type: 'string', operation: 'equals' },
					},
				],
			},
			options: {},
		},
	};
	const forged: NodeShape = { name: 'Forged', type: 'n8n-nodes-base.noOp' };
	return workflow('Events: Webhook, Crypto, IF', [webhook, crypto, verified, done, forged], {
		...chain([webhook, crypto, verified]),
		[verified.name]: { main: link(done.name, forged.name) },
	});
}
