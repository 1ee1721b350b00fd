import { NodeOperationError } from 'n8n-workflow';
import type { IHookFunctions } from 'n8n-workflow';
import type { Account } from '../shared/account';
import { loadAccount } from '../shared/account';
import { failureError, invalidValueError } from '../shared/serviceError';
import { callService } from '../shared/transport';
import { webhookUrl } from '../shared/url';
import { probe } from './forwarding';
import { option } from './options';
import type { Holder } from './registry';
import { accountKey, registry, triggerKey } from './registry';

/**
 * Called by n8n when the workflow is published, when n8n starts, and when "Listen for test event" begins.
 * The URL is always set, never assumed: that also heals what else was set.
 * @throws {NodeOperationError | NodeApiError} which n8n shows as the reason why the trigger does not listen
 */
export async function register(context: IHookFunctions): Promise<void> {
	const account = await accountWithSecret(context);
	urlAfterDeactivation(context, account);
	await (context.getMode() === 'manual' ? startTest(context, account) : publish(context, account));
}

/** Called by n8n when the workflow is unpublished or changed, and when a test ends in whatever way. */
export async function unregister(context: IHookFunctions): Promise<void> {
	const trigger = triggerKey(context);
	const test = registry.testListener(trigger);
	const endsTest = test !== undefined && test.url === ownUrl(context);
	if (endsTest) {
		registry.endTest(trigger);
		if (!test.registered) return;
	} else if (!registry.release(trigger)) {
		// Another workflow took the account over: its URL must stay.
		return;
	}
	const account = await load(context);
	// The service has no way to remove a URL, so there may be nothing to do.
	const next =
		registry.holderOf(accountKey(account))?.url ?? urlAfterDeactivation(context, account);
	if (next !== undefined) await setUrl(context, account, next);
}

async function publish(context: IHookFunctions, account: Account): Promise<void> {
	const url = publicUrl(context, account);
	const trigger = triggerKey(context);
	const key = accountKey(account);
	const holder = registry.holderOf(key);
	if (holder !== undefined && holder.trigger !== trigger && !option(context, 'takeOver')) {
		throw heldByOther(context, holder);
	}
	const undo = registry.hold(key, { trigger, url, workflowName: context.getWorkflow().name ?? '' });
	try {
		await setUrl(context, account, url);
	} catch (error) {
		if (wasPublishedBefore(context)) {
			// n8n would stop listening, although the service very likely still has this URL.
			context.logger.error('The webhook URL could not be set again at the partner service', {
				workflow: context.getWorkflow().name,
				reason: error instanceof Error ? error.message : String(error),
			});
			return;
		}
		undo();
		throw asNodeError(context, error);
	}
}

/** Whether n8n is only starting, or another of its processes is taking the lead. */
function wasPublishedBefore(context: IHookFunctions): boolean {
	return ['init', 'leadershipChange'].includes(context.getActivationMode());
}

function heldByOther(context: IHookFunctions, { workflowName }: Holder): NodeOperationError {
	return new NodeOperationError(
		context.getNode(),
		`The workflow "${workflowName}" already receives the events of this account`,
		{
			description:
				'The service sends events to one address per account. Unpublish that workflow, let it handle these events too, or turn on Take Over under Options: it then gets no more events.',
		},
	);
}

/** What happens to the account's URL while a test listens. */
async function startTest(context: IHookFunctions, account: Account): Promise<void> {
	const whileTesting = option(context, 'whileTesting') ?? 'share';
	const trigger = triggerKey(context);
	const listener = { account: accountKey(account), url: ownUrl(context), registered: false };
	const holder = registry.holderOf(listener.account);
	if (whileTesting === 'leaveUrl') {
		registry.startTest(trigger, listener);
		return;
	}
	if (holder === undefined) {
		await listenAtTestUrl();
		return;
	}
	if (whileTesting === 'refuse') {
		throw new NodeOperationError(
			context.getNode(),
			`The published workflow "${holder.workflowName}" receives the events of this account`,
			{
				description:
					'Unpublish it first, or choose another setting for While Testing under Options.',
			},
		);
	}
	const process = await probe(context, holder.url, account.webhookSecret);
	if (process === 'unreachable') {
		throw new NodeOperationError(
			context.getNode(),
			`n8n cannot reach its own address ${holder.url}, so a test cannot share the events of "${holder.workflowName}"`,
			{
				description:
					'Make that address reachable from n8n itself, or choose Leave the URL Alone for While Testing under Options.',
			},
		);
	}
	// In the process that also handles production, its URL can stay: copies are handed to the test.
	if (process === 'sameProcess') registry.startTest(trigger, listener);
	else await listenAtTestUrl(holder.url);

	async function listenAtTestUrl(forwardTo?: string): Promise<void> {
		const url = publicUrl(context, account);
		registry.startTest(trigger, { ...listener, registered: true, ...(forwardTo && { forwardTo }) });
		try {
			await setUrl(context, account, url);
		} catch (error) {
			registry.endTest(trigger);
			throw asNodeError(context, error);
		}
	}
}

/** Endpoint 4 of the service document. */
async function setUrl(context: IHookFunctions, account: Account, url: string): Promise<void> {
	const body = { webhookUrl: url };
	const result = await callService(context, account, {
		method: 'PUT',
		path: '/webhook',
		body,
		confirms: body,
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
		throw asNodeError(context, error);
	}
}

const asNodeError = (context: IHookFunctions, error: unknown): Error =>
	invalidValueError(context.getNode(), error);

function ownUrl(context: IHookFunctions): string {
	return context.getNodeWebhookUrl('default') ?? '';
}

function publicUrl(context: IHookFunctions, account: Account): string {
	try {
		return webhookUrl(
			ownUrl(context),
			account,
			'The webhook URL of this n8n',
			'Set the environment variable WEBHOOK_URL of n8n to its public https:// address, then restart n8n.',
		);
	} catch (error) {
		throw asNodeError(context, error);
	}
}

function urlAfterDeactivation(context: IHookFunctions, account: Account): string | undefined {
	const url = option(context, 'urlAfterDeactivation');
	if (url === undefined || url === '') return undefined;
	try {
		return webhookUrl(url, account, 'URL After Deactivation');
	} catch (error) {
		throw asNodeError(context, error);
	}
}
