/** What n8n asks of the trigger when a workflow is published or unpublished, and when a test begins or ends. */
import type { IHookFunctions, NodeOperationError } from 'n8n-workflow';
import type { Account } from '../shared/account';
import { accountKeys, loadAccount } from '../shared/account';
import { isStarting, operationError } from '../shared/n8n';
import { invalidValueError } from '../shared/service/failure';
import type { AccountUrl } from './accountUrl';
import { logNotSet } from './accountUrl';
import type { Holder } from './holders';
import * as holders from './holders';
import type { Registration } from './registration';
import { ownUrl, readRegistration } from './registration';
import { accountOf, accountWith, dropEnded, dropIfNothing, triggerKey } from './state';
import { beginTest } from './testListening';

/**
 * Called by n8n when the workflow is published, when n8n starts, and when "Listen for test event" begins.
 * The URL is always set, never assumed: that also heals what else was set.
 * @throws {NodeOperationError | NodeApiError} which n8n shows as the reason why the trigger does not listen
 */
export async function register(context: IHookFunctions): Promise<void> {
	const registration = await readRegistration(context);
	const isTest = context.getMode() === 'manual';
	const listener = isTest ? await beginTest(context, registration) : publish(context, registration);
	const accountUrl = accountWith(registration.keys);
	const notSet = await accountUrl.reconcile(context, registration.account);
	const whyDropped = accountUrl.whyDropped(listener);
	dropIfNothing(accountUrl);
	if (whyDropped !== undefined) throw whyDropped;
	// n8n would stop listening, although the service very likely still has a URL of this account.
	if (notSet !== undefined) logNotSet(context, notSet);
}

/**
 * Called by n8n when the workflow is unpublished or changed, when a test ends in whatever way, and after a failed
 * `register`. If it fails, n8n calls it again: at once, or for a test with the next event.
 * @throws {NodeOperationError | NodeApiError} when the URL could not be handed over
 */
export async function unregister(context: IHookFunctions): Promise<void> {
	const trigger = triggerKey(context);
	const url = ownUrl(context);
	const left = accountOf(trigger, url);
	if (left !== undefined) {
		const ended = holders.endTest(left.known, trigger, url);
		left.known = holders.unpublish(ended, trigger, url);
	}
	try {
		await handOver(context, left);
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
	const notSet = isOther ? undefined : await accountUrl.reconcile(context, account);
	dropIfNothing(accountUrl);
	if (left !== undefined) dropIfNothing(left);
	if (notSet === undefined) return;
	const isOwn = left !== undefined || notSet.url === accountUrl.known.left?.url;
	if (isOwn) throw notSet.reason;
	logNotSet(context, notSet);
}

function publish(context: IHookFunctions, registration: Registration): Holder {
	const { trigger, keys, urlAfter, settings } = registration;
	const isStart = isStarting(context);
	const holder: Holder = {
		trigger,
		account: keys,
		workflowName: context.getWorkflow().name ?? '',
		url: registration.publicUrl(),
		urlAfter,
		isNew: !isStart,
	};
	const accountUrl = accountWith(keys);
	const known = holders.publish(accountUrl.known, holder, {
		takesOver: settings.takeOver,
		isStarting: isStart,
	});
	if ('heldBy' in known) throw heldByOther(context, known.heldBy);
	accountUrl.known = known;
	const receiver = holders.holderOf(known);
	if (receiver?.trigger !== trigger) {
		context.logger.error('The webhook URL could not be set again at the partner service', {
			workflow: holder.workflowName,
			reason: `The workflow "${receiver?.workflowName}" already receives the events of this account`,
		});
	}
	return holder;
}

function heldByOther(context: IHookFunctions, { workflowName }: Holder): NodeOperationError {
	return operationError(
		context.getNode(),
		`The workflow "${workflowName}" already receives the events of this account`,
		'The service sends events to one address per account. Unpublish that workflow, let it handle these events too, or turn on Take Over under Options: it then gets none until you unpublish this one.',
	);
}
