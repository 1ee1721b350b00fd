/** What n8n asks of the trigger when a workflow is published or unpublished, and when a test begins or ends. */
import type { IHookFunctions, NodeOperationError } from 'n8n-workflow';
import type { Account } from '../shared/account';
import { accountKeys, loadAccount } from '../shared/account';
import { isReplacing, isStarting, operationError } from '../shared/n8n';
import { invalidValueError } from '../shared/service/failure';
import type { AccountUrl } from './accountUrl';
import type { Holder } from './holders';
import * as holders from './holders';
import { asNodeErrors, logNotSet, ownUrl, publicUrl, settle, urlAfterDeactivation } from './ownUrl';
import { checkSettings, settingsOf } from './settings';
import { accountWith, accountsOf, dropEnded, dropIfNothing, triggerKey } from './state';
import { startTest } from './testListening';

/**
 * Called by n8n when the workflow is published, when n8n starts, and when "Listen for test event" begins.
 * The URL is always set, never assumed: that also heals what else was set.
 * @throws {NodeOperationError | NodeApiError} which n8n shows as the reason why the trigger does not listen
 */
export async function register(context: IHookFunctions): Promise<void> {
	const account = await accountWithSecret(context);
	asNodeErrors(context, () => checkSettings(context.getNode().parameters));
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
	const left = accountsOf(trigger, url);
	for (const accountUrl of left) {
		const ended = holders.endTest(accountUrl.known, trigger, url);
		accountUrl.known = holders.unpublish(ended, trigger, url);
	}
	try {
		await handOver(context, left);
	} finally {
		dropEnded(trigger);
	}
}

/** @param left what the trigger was published or tested for: the account of its credential, or of the one before */
async function handOver(context: IHookFunctions, left: AccountUrl[]): Promise<void> {
	const own = await ownAccount(context);
	let failure: Error | undefined;
	for (const accountUrl of new Set(own ? [...left, own.accountUrl] : left)) {
		// If the credential leads to another account by now, or to none, the one that it had then serves for this.
		const { notSet } = await (accountUrl === own?.accountUrl
			? settle(context, own.account, accountUrl)
			: accountUrl.settle());
		dropIfNothing(accountUrl);
		if (notSet === undefined) continue;
		const isOwn = left.includes(accountUrl) || notSet.url === accountUrl.known.left?.url;
		if (isOwn && !notSet.hasIt) failure ??= notSet.reason;
		else logNotSet(context, notSet);
	}
	if (failure !== undefined) throw failure;
}

/** Undefined when the credential cannot be used, because it was deleted, for example. */
async function ownAccount(
	context: IHookFunctions,
): Promise<{ account: Account; accountUrl: AccountUrl } | undefined> {
	try {
		const account = await loadAccount(context);
		return { account, accountUrl: accountWith(accountKeys(account)) };
	} catch {
		return undefined;
	}
}

async function publish(context: IHookFunctions, account: Account): Promise<void> {
	const { takeOver } = settingsOf(context.getNode().parameters);
	const isStart = isStarting(context);
	const holder: Holder = {
		trigger: triggerKey(context),
		account: accountKeys(account),
		workflowName: context.getWorkflow().name ?? '',
		url: publicUrl(context, account),
		urlAfter: urlAfterDeactivation(context, account),
		isNew: !isStart,
	};
	const accountUrl = accountWith(holder.account);
	const known = holders.publish(accountUrl.known, holder, {
		takesOver: takeOver,
		isStarting: isStart,
		isReplacing: isReplacing(context),
	});
	if ('heldBy' in known) throw heldByOther(context, known.heldBy);
	accountUrl.known = known;
	const standsBack = holders.holderOf(known);
	if (standsBack?.trigger !== holder.trigger) {
		context.logger.error('The webhook URL could not be set again at the partner service', {
			workflow: holder.workflowName,
			reason: `The workflow "${standsBack?.workflowName}" already receives the events of this account`,
		});
	}
	const { notSet, whyDropped } = await settle(context, account, accountUrl);
	const why = whyDropped(holder);
	dropIfNothing(accountUrl);
	if (why !== undefined) throw why;
	// n8n would stop listening, although the service very likely still has this URL.
	if (notSet !== undefined) logNotSet(context, notSet);
}

function heldByOther(context: IHookFunctions, { workflowName }: Holder): NodeOperationError {
	return operationError(
		context.getNode(),
		`The workflow "${workflowName}" already receives the events of this account`,
		'The service sends events to one address per account. Unpublish that workflow, let it handle these events too, or turn on Take Over under Options: it then gets none until you unpublish this one.',
	);
}

async function accountWithSecret(context: IHookFunctions): Promise<Account> {
	let account: Account;
	try {
		account = await loadAccount(context);
	} catch (error) {
		throw invalidValueError(context.getNode(), error);
	}
	if (account.webhookSecret !== '') return account;
	throw operationError(
		context.getNode(),
		'The credential has no Webhook Secret',
		'Enter the Webhook Secret in the ETB Wallet API credential. Without it nobody could tell real events from forged ones.',
	);
}
