/** What n8n asks of the trigger when a workflow is published or unpublished, and when a test begins or ends. */
import type { IHookFunctions, NodeOperationError } from 'n8n-workflow';
import type { Account } from '../shared/account';
import { accountKeys, loadAccount } from '../shared/account';
import { isStarting, operationError, requireRequests } from '../shared/n8n';
import { invalidValueError } from '../shared/service/failure';
import type { AccountUrl } from './accountUrl';
import type { Holder } from './holders';
import * as holders from './holders';
import { asNodeErrors, logNotSet, ownUrl, publicUrl, settle, urlAfterDeactivation } from './ownUrl';
import { checkSettings, settingsOf } from './settings';
import { accountOf, accountWith, dropEnded, dropIfNothing, triggerKey } from './state';
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
	const known = accountOf(trigger, url);
	if (known !== undefined) {
		const ended = holders.endTest(known.known, trigger, url);
		known.known = holders.unpublish(ended, trigger, url);
	}
	try {
		await handOver(context, known);
	} finally {
		dropEnded(trigger);
	}
}

/** @param left the account that the trigger was published or tested for, if it was */
async function handOver(context: IHookFunctions, left: AccountUrl | undefined): Promise<void> {
	let account: Account;
	try {
		account = await loadAccount(context);
	} catch (error) {
		if (left === undefined || holders.isConfirmed(left.known)) return;
		throw invalidValueError(context.getNode(), error);
	}
	const accountUrl = accountWith(accountKeys(account));
	// The credential is another account's by now: its URL is no business of this trigger.
	const isOther = left !== undefined && left !== accountUrl;
	const notSet = isOther ? undefined : await settle(context, account, accountUrl);
	dropIfNothing(accountUrl);
	if (left !== undefined) dropIfNothing(left);
	if (notSet === undefined) return;
	const isOwn = left !== undefined || notSet.url === accountUrl.known.left?.url;
	if (isOwn) throw notSet.reason;
	logNotSet(context, notSet);
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
	const notSet = await settle(context, account, accountUrl);
	const why = accountUrl.whyDropped(holder);
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
		requireRequests(context);
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
