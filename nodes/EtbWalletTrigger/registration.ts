import type { IHookFunctions, NodeOperationError } from 'n8n-workflow';
import type { Account } from '../shared/account';
import { loadAccount } from '../shared/account';
import { operationError } from '../shared/n8n';
import { failureError, invalidValueError } from '../shared/service/failure';
import { callService } from '../shared/service/call';
import { webhookUrl } from '../shared/url';
import { probe } from './forwarding';
import { option } from './options';
import type { Holder } from './registry';
import { identify, registry, triggerKey } from './registry';

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

/**
 * Called by n8n when the workflow is unpublished or changed, when a test ends in whatever way, and after a failed
 * `register`. If it fails, n8n calls it again: at once, or for a test with the next event.
 * @throws {NodeOperationError | NodeApiError} when the URL could not be handed over
 */
export async function unregister(context: IHookFunctions): Promise<void> {
	const trigger = triggerKey(context);
	const url = ownUrl(context);
	const test = registry.testListener(trigger);
	if (test?.url === url) {
		// Until that is done, the test goes on forwarding what arrives.
		if (test.registered) await handOver(context);
		registry.endTest(trigger, test);
	} else if (registry.release(trigger, url)) {
		await handOver(context);
		registry.forget(trigger);
	}
}

/** Gives the account's URL to whoever is next. The service has no way to remove it, so there may be nothing to do. */
async function handOver(context: IHookFunctions): Promise<void> {
	const account = await load(context);
	const next = registry.holderOf(identify(account))?.url ?? urlAfterDeactivation(context, account);
	if (next === undefined) return;
	try {
		await setUrl(context, account, next);
	} finally {
		await restoreUrl(context, account, next);
	}
}

async function publish(context: IHookFunctions, account: Account): Promise<void> {
	const url = publicUrl(context, account);
	try {
		await takeUrl(context, account, url);
	} catch (error) {
		if (!wasPublishedBefore(context)) throw asNodeError(context, error);
		// n8n would stop listening, although the service very likely still has this URL.
		logUrlNotSet(context, context.getWorkflow().name, error);
	}
}

async function takeUrl(context: IHookFunctions, account: Account, url: string): Promise<void> {
	const trigger = triggerKey(context);
	const identity = identify(account);
	const holder = registry.holderOf(identity);
	if (holder !== undefined && holder.trigger !== trigger && !option(context, 'takeOver')) {
		throw heldByOther(context, holder);
	}
	const workflowName = context.getWorkflow().name ?? '';
	const undo = registry.hold({ trigger, account: identity, workflowName, url });
	try {
		await setUrl(context, account, url);
	} catch (error) {
		if (!wasPublishedBefore(context)) undo();
		throw asNodeError(context, error);
	} finally {
		await restoreUrl(context, account, url);
	}
}

/**
 * Once `attempted` was sent, answered or not, the service may have it although another trigger holds the account:
 * one that took over meanwhile, or one that could not be replaced.
 */
async function restoreUrl(
	context: IHookFunctions,
	account: Account,
	attempted: string,
): Promise<void> {
	const holder = registry.holderOf(identify(account));
	if (holder === undefined || holder.url === attempted) return;
	try {
		await setUrl(context, account, holder.url);
	} catch (error) {
		logUrlNotSet(context, holder.workflowName, error);
	}
}

/** @param workflow name of the one that is to have the URL */
function logUrlNotSet(context: IHookFunctions, workflow: unknown, error: unknown): void {
	context.logger.error('The webhook URL could not be set again at the partner service', {
		workflow,
		reason: error instanceof Error ? error.message : String(error),
	});
}

/** Whether n8n is only starting, or another of its processes is taking the lead. */
function wasPublishedBefore(context: IHookFunctions): boolean {
	return ['init', 'leadershipChange'].includes(context.getActivationMode());
}

function heldByOther(context: IHookFunctions, { workflowName }: Holder): NodeOperationError {
	return operationError(
		context.getNode(),
		`The workflow "${workflowName}" already receives the events of this account`,
		'The service sends events to one address per account. Unpublish that workflow, let it handle these events too, or turn on Take Over under Options: it then gets no more events.',
	);
}

/** What happens to the account's URL while a test listens. */
async function startTest(context: IHookFunctions, account: Account): Promise<void> {
	const whileTesting = option(context, 'whileTesting') ?? 'share';
	const trigger = triggerKey(context);
	// An earlier test could not give the URL back.
	if (registry.testListener(trigger)?.registered) await handOver(context);
	const listener = { account: identify(account), url: ownUrl(context), registered: false };
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
		throw operationError(
			context.getNode(),
			`The published workflow "${holder.workflowName}" receives the events of this account`,
			'Unpublish it first, or choose another setting for While Testing under Options.',
		);
	}
	const process = await probe(context, holder.url, account.webhookSecret);
	if (process === 'unreachable') {
		throw operationError(
			context.getNode(),
			`n8n cannot reach its own address ${holder.url}, so a test cannot share the events of "${holder.workflowName}"`,
			'Make that address reachable from n8n itself, and see that both workflows use the same Webhook Secret. Or choose Leave the URL Alone for While Testing under Options.',
		);
	}
	// In the process that also handles production, its URL can stay: copies are handed to the test.
	if (process === 'sameProcess') registry.startTest(trigger, listener);
	else await listenAtTestUrl(holder.url);

	async function listenAtTestUrl(forwardTo?: string): Promise<void> {
		const url = publicUrl(context, account);
		const test = { ...listener, registered: true, ...(forwardTo && { forwardTo }) };
		registry.startTest(trigger, test);
		try {
			await setUrl(context, account, url);
		} catch (error) {
			registry.endTest(trigger, test);
			await restoreUrl(context, account, url);
			throw asNodeError(context, error);
		}
	}
}

/** In ms. n8n gives up on a publication after 84 s; without `Retry-After`, two calls with all their retries take less. */
const timeout = 8_000;

/** Endpoint 4 of the service document. */
async function setUrl(context: IHookFunctions, account: Account, url: string): Promise<void> {
	const body = { webhookUrl: url };
	const result = await callService(
		context,
		account,
		{ method: 'PUT', path: '/webhook', mayRepeat: true, body, confirms: body },
		{ timeoutMs: timeout },
	);
	if (!result.ok) throw failureError(context.getNode(), result.failure);
}

async function accountWithSecret(context: IHookFunctions): Promise<Account> {
	const account = await load(context);
	if (account.webhookSecret.trim() !== '') return account;
	throw operationError(
		context.getNode(),
		'The credential has no Webhook Secret',
		'Enter the Webhook Secret in the ETB Wallet API credential. Without it nobody could tell real events from forged ones.',
	);
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

/** As `webhookUrl` writes it, so that the two can be compared. */
function ownUrl(context: IHookFunctions): string {
	const url = context.getNodeWebhookUrl('default') ?? '';
	return URL.canParse(url) ? new URL(url).href : url;
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
