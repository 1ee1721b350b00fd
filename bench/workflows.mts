/** The workflows that are measured, of this package and wired by hand. */
import { randomUUID } from 'node:crypto';
import type { WorkflowFile } from '../demo/api.mts';
import {
	PAY,
	chain,
	node,
	outputs,
	payNode,
	postedRows,
	webhook,
	workflow,
	type NodeFile,
} from '../demo/workflow.mts';

/** A credential as a workflow refers to it. */
export interface CredentialReference {
	id: string;
	name: string;
}

/** Gives the rows that are posted to `webhook/<path>` as `{ rows }` to `pay`, and answers when all is done. */
export const payingWorkflow = (path: string, pay: NodeFile): WorkflowFile =>
	workflow(`Pay: ${path}`, [
		webhook(path, { responseMode: 'lastNode', responseData: 'noData' }),
		postedRows(),
		{ ...pay, name: PAY },
	]);

/** As a builder sets it up: the service's two fields by expression, the key in a header credential. */
export const httpRequest = (serviceUrl: string, header: CredentialReference): NodeFile =>
	node(
		PAY,
		'httpRequest',
		{
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
		{ typeVersion: 4.2, credentials: { httpHeaderAuth: header } },
	);

/** Our node. */
export const etbWallet = (options: object = {}): NodeFile => payNode({ options });

/** What n8n itself costs for the same items. */
export const noOperation = node(PAY, 'noOp');

/** The node that a verified event reaches. */
export const DONE = 'Done';

const done = node(DONE, 'noOp');

/** Our trigger for transfers, answered when the execution has started, and the id its URL has. */
export function triggerWorkflow(): { workflow: WorkflowFile; webhookId: string } {
	const webhookId = randomUUID();
	const trigger = node(
		'ETB Wallet Trigger',
		'n8n-nodes-etb-wallet.etbWalletTrigger',
		{ events: ['transfer.completed'] },
		{ typeVersion: 2, webhookId },
	);
	return { workflow: workflow('Events: ETB Wallet Trigger', [trigger, done]), webhookId };
}

const rawWebhook = (path: string, options: object = {}, typeVersion = 2): NodeFile => ({
	...webhook(path, { responseMode: 'onReceived', options: { rawBody: true, ...options } }),
	typeVersion,
});

/**
 * A webhook that verifies nothing.
 * @param typeVersion version 1 gets the treatment that n8n gives to each trigger that is not its own Webhook node
 */
export function webhookWorkflow(path: string, typeVersion: 1 | 2, options?: object): WorkflowFile {
	const received = rawWebhook(path, options, typeVersion);
	return workflow(`Events: Webhook ${typeVersion}`, [received, done]);
}

/** What a builder wires to verify a signature: Webhook, Crypto and IF. */
export function webhookCryptoIfWorkflow(path: string, secret: CredentialReference): WorkflowFile {
	const received = rawWebhook(path);
	const crypto = node(
		'Crypto',
		'crypto',
		{
			action: 'hmac',
			binaryData: true,
			binaryPropertyName: 'data',
			type: 'SHA256',
			dataPropertyName: 'hmac',
			encoding: 'hex',
		},
		{ typeVersion: 2, credentials: { crypto: secret } },
	);
	const conditions = {
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
	};
	const verified = node('IF', 'if', { conditions }, { typeVersion: 2.2 });
	const forged = node('Forged', 'noOp');
	return workflow('Events: Webhook, Crypto, IF', [received, crypto, verified, done, forged], {
		...chain(received.name, crypto.name, verified.name),
		[verified.name]: outputs([done.name], [forged.name]),
	});
}
