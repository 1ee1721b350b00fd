import { NodeOperationError } from 'n8n-workflow';
import type { IHookFunctions } from 'n8n-workflow';
import type { Account } from '../shared/account';
import { loadAccount } from '../shared/account';
import { failureError, invalidValueError } from '../shared/serviceError';
import { callService } from '../shared/transport';
import { webhookUrl } from '../shared/url';

/**
 * Registers the node's URL with the service (service document §4 endpoint 4).
 * @throws {NodeOperationError | NodeApiError} which n8n shows as the reason why the workflow is not active
 */
export async function registerUrl(context: IHookFunctions): Promise<void> {
	const account = await accountWithSecret(context);
	const url = reachableUrl(context, account);
	const result = await callService(context, account, {
		method: 'PUT',
		path: '/webhook',
		body: { webhookUrl: url },
		confirms: { webhookUrl: url },
	});
	if (!result.ok) throw failureError(context.getNode(), result.failure);
}

async function accountWithSecret(context: IHookFunctions): Promise<Account> {
	const account = await load(context);
	if (account.webhookSecret.trim() !== '') return account;
	throw new NodeOperationError(context.getNode(), 'The credential has no Webhook Secret', {
		description:
			'Enter the Webhook Secret in the ETB Wallet API credential. Without it nobody could tell real events from forged ones.',
	});
}

async function load(context: IHookFunctions): Promise<Account> {
	try {
		return await loadAccount(context);
	} catch (error) {
		throw invalidValueError(context.getNode(), error);
	}
}

function reachableUrl(context: IHookFunctions, account: Account): string {
	try {
		return webhookUrl(
			context.getNodeWebhookUrl('default'),
			account,
			'The webhook URL of this n8n',
			'Set the environment variable WEBHOOK_URL of n8n to its public https:// address and restart it.',
		);
	} catch (error) {
		throw invalidValueError(context.getNode(), error);
	}
}
