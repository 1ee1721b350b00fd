/** What n8n asks of the trigger when a workflow is published or unpublished, and when a test begins or ends. */
import type { IHookFunctions } from 'n8n-workflow';
import type { Account } from '../shared/account';
import { accountKeys, loadAccount } from '../shared/account';
import { isReplacing, isStarting, operationError } from '../shared/n8n';
import { invalidValueError } from '../shared/service/failure';
import type { AccountUrl } from './accountUrl';
import { logNotSet } from './accountUrl';
import type { Holder } from './holders';
import * as holders from './holders';
import type { Registration } from './registration';
import { ownUrl, readRegistration } from './registration';
import { accountWith, accountsOf, dropEnded, dropIfNothing, triggerKey } from './state';
import { beginTest } from './testListening';

/**
 * Called by n8n when the workflow is published, when n8n starts, and when "Listen for test event" begins.
 * The URL is always set, never assumed: that also heals what else was set.
 * @throws {NodeOperationError | NodeApiError} which n8n shows as the reason why the trigger does not listen
 */
export async function register(context: IHookFunctions): Promise<void> {
	try {
		const registration = await readRegistration(context);
		const isTest = context.getMode() === 'manual';
		const listener = isTest
			? await beginTest(context, registration)
			: publish(context, registration);
		const accountUrl = accountWith(registration.keys);
		const { account } = registration;
		const { notSet, whyDropped } = await accountUrl.reconcile({ context, account });
		const reason = whyDropped(listener);
		dropIfNothing(accountUrl);
		if (reason !== undefined) throw reason;
		// n8n would stop listening, although the service very likely still has a URL of this account.
		if (notSet !== undefined) logNotSet(context, notSet);
	} catch (error) {
		throw invalidValueError(context.getNode(), error);
	}
}

/**
 * Called by n8n when the workflow is unpublished or changed, when a test ends in whatever way, and after a failed
 * `register`. If it fails, n8n calls it again: at once, or for a test with the next event.
 * @throws {NodeOperationError | NodeApiError} when the URL could not be handed over
 */
export async function unregister(context: IHookFunctions): Promise<void> {
	const trigger = triggerKey(context);
	const url = ownUrl(context);
	try {
		// When this returns, n8n drops the listening of a test that began meanwhile too, and tells nobody.
		do {
			const left = accountsOf(trigger, url);
			for (const accountUrl of left) {
				const ended = holders.endTest(accountUrl.known, trigger, url);
				accountUrl.known = holders.unpublish(ended, trigger, url);
			}
			await handOver(context, left);
		} while (
			accountsOf(trigger, url).some(({ known }) => holders.isListening(known, trigger, url))
		);
	} finally {
		dropEnded(trigger);
	}
}

/** @param left what the trigger was published or tested for: the account of its credential, or of the one before */
async function handOver(context: IHookFunctions, left: AccountUrl[]): Promise<void> {
	const own = await ownAccount(context);
	let failure: Error | undefined;
	for (const accountUrl of new Set(own ? [...left, own.accountUrl] : left)) {
		// An account that the credential no longer leads to is told with the credential that led to it.
		const asker = accountUrl === own?.accountUrl ? { context, account: own.account } : undefined;
		const { notSet } = await accountUrl.reconcile(asker);
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
		isReplacing: isReplacing(context),
	});
	if ('heldBy' in known) {
		throw operationError(
			context.getNode(),
			`The workflow "${known.heldBy.workflowName}" already receives the events of this account`,
			'The service sends events to one address per account. Unpublish that workflow, let it handle these events too, or turn on Take Over under Options: it then gets none until you unpublish this one.',
		);
	}
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
