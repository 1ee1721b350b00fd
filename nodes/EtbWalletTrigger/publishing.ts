/**
 * Publishing and testing: gives the service the webhook URL of one workflow for each account.
 *
 * What happens | What n8n calls | What this does, if nobody else holds the account | If somebody does
 * --- | --- | --- | ---
 * a workflow is published or changed | `listen` | becomes the holder, sets the URL, writes URL, account and time into static data | says who; after a change of its own it is the holder anyway
 * a test begins | `listen` | sets the URL, and holds nothing | only listens
 * n8n starts, or takes the lead | `resume`, and `listen` if that is false | static data that fit: becomes the holder, and calls nobody; otherwise as when published | who was published first has the account
 * a start failed | `stopListening` | forgets the URL; account and time stay for the next start | the same
 * a workflow is unpublished, a test ends, publishing failed | `stopListening` | forgets the holder and the static data; the service keeps the URL | leaves the holder
 * n8n ends, or loses the lead | `close` | stays the holder in this process, until that takes the lead again | nothing
 */
import { createHash } from 'node:crypto';
import type { IHookFunctions } from 'n8n-workflow';
import { credentialType, loadAccount, type Account } from '../shared/account';
import { operationError } from '../shared/n8n';
import {
	isStarting,
	isTakingLead,
	listeningError,
	projectOf,
	triggerKey,
} from '../shared/n8nTrigger';
import { callService } from '../shared/service/call';
import { webhookRequest } from '../shared/service/request';
import { failureError, invalidValueError, type ServiceFailure } from '../shared/service/failure';
import { webhookUrl } from '../shared/url';
import { settingsOf } from './settings';

/**
 * n8n (2.40 and newer) asks five times, with pauses of 15 s in all, and gives a publication up after 84 s with a reason of
 * its own. So all attempts of one time take no longer than this, and the reason of the service is shown.
 */
const registrationMs = 10_000;
const attemptMs = 8_000;

/** The published trigger that receives an account's events. */
interface Holder {
	/** Which node of which workflow. */
	trigger: string;
	url: string;
	credentialId: string;
	workflow: { id: string; name: string };
	/** The project of n8n that the workflow belongs to. */
	project: string | undefined;
	/** When it was published, in ms. The node's static data keeps it. Undefined: n8n starts it, and it never had the account. */
	since?: number;
	/** Whether n8n closed it, without unpublishing its workflow. */
	isClosed?: true;
}

/** What this process knows of the one URL that an account has at the service, where it can be set and not read. */
interface AccountUrl {
	holder?: Holder;
	/** The URL that the service took last. Undefined when that is not certain. */
	taken?: string;
	/** Resolves when the last call has ended: the next one waits for it. */
	lastCall: Promise<unknown>;
}

/** The triggers that n8n could not start: it calls `stopListening` for each, and starts it again later. */
const failedStarts = new Set<string>();

/** By `accountKeyOf`. */
const accounts = new Map<string, AccountUrl>();

/** Recognises an account by its address and API key. A hash: n8n's database keeps it, see `resume`. */
const accountKeyOf = ({ url, apiKey }: Account): string =>
	createHash('sha256').update(`${url.href} ${apiKey}`).digest('base64url').slice(0, 22);

function accountUrlOf(key: string): AccountUrl {
	const known = accounts.get(key) ?? { lastCall: Promise.resolve() };
	accounts.set(key, known);
	return known;
}

/**
 * Called by n8n before `listen`. When n8n starts, nothing has to be done for a workflow whose URL the service took
 * before: the node's static data has that URL, and the account. So this remembers the holder, and the service, which may
 * not answer at that moment, is not called. It never throws.
 * @returns false when `listen` has to set the URL, or to say why it cannot
 */
export async function resume(context: IHookFunctions): Promise<boolean> {
	if (!isStarting(context)) return false;
	if (isTakingLead(context)) dropClosed();
	const { url, account } = context.getWorkflowStaticData('node');
	const own = ownUrl(context);
	if (typeof account !== 'string' || url !== own) return false;
	// If the credential was deleted, the trigger listens and refuses events until there is one again.
	const present = await loadAccount(context).then(accountKeyOf, () => account);
	if (present !== account) return false;
	const holder = holderFor(context, own, account);
	if (othersOf(account, holder).length > 0) return false;
	// A test, or a trigger that n8n started first, may have given the service its URL since.
	const known = accounts.get(account);
	if (known !== undefined && known.taken !== own) return false;
	Object.assign(accountUrlOf(account), { holder, taken: own });
	return true;
}

/**
 * Called by n8n when a workflow is published, or a test begins. A published workflow gets the events of the account. A
 * test gets them only while no workflow of the account is published; otherwise it listens for what a person sends.
 * @throws {NodeOperationError} with why the trigger does not listen
 */
export async function listen(context: IHookFunctions): Promise<void> {
	try {
		const account = await accountFor(context);
		if (context.getMode() === 'manual') await beginTest(context, account);
		else await publish(context, account);
	} catch (error) {
		if (isStarting(context)) failedStarts.add(triggerKey(context));
		const node = context.getNode();
		throw listeningError(node, invalidValueError(node, error));
	}
}

/** @throws {NodeOperationError | InvalidValueError} for what has to be corrected before the trigger can listen */
async function accountFor(context: IHookFunctions): Promise<Account> {
	const account = await loadAccount(context);
	if (account.webhookSecret === '') {
		throw operationError(
			context.getNode(),
			'The credential has no Webhook Secret',
			'Enter the Webhook Secret in the ETB Wallet API credential. Without it nobody could tell real events from forged ones.',
		);
	}
	settingsOf(context.getNode().parameters);
	return account;
}

async function publish(context: IHookFunctions, account: Account): Promise<void> {
	const key = accountKeyOf(account);
	const holder = holderFor(context, publicUrl(context, account), key);
	const rival = rivalOf(context, key, holder);
	if (rival !== undefined) throw alreadyHeld(context, rival);
	const known = accountUrlOf(key);
	for (const { trigger, workflow } of othersOf(key, holder)) {
		forget(trigger);
		context.logger.warn(
			`The workflow "${workflow.name}" has a trigger that gets no events: another one, of the workflow "${holder.workflow.name}", was published before it for the same account`,
		);
	}
	known.holder = holder;
	const failure = await setUrl(context, account, holder.url, () => known.holder === holder);
	// It was unpublished meanwhile, or yielded to another one.
	if (known.holder !== holder) return;
	if (failure !== undefined) {
		known.holder = undefined;
		throw failureError(context.getNode(), failure);
	}
	const { url, since } = holder;
	if (since !== undefined)
		Object.assign(context.getWorkflowStaticData('node'), { url, account: key, since });
}

async function beginTest(context: IHookFunctions, account: Account): Promise<void> {
	const isFree = (): boolean =>
		holdersOf(accountKeyOf(account), credentialIdOf(context)).length === 0;
	const failure = await setUrl(context, account, publicUrl(context, account), isFree);
	if (failure !== undefined) throw failureError(context.getNode(), failure);
}

/**
 * Sets the URL (service document §4, endpoint 4) after all earlier calls for this account, unless it is not wanted any
 * more by then. If the service took this very URL last, it sends events there also when it refuses now: so that is logged.
 * @returns why the service may have another URL
 */
async function setUrl(
	context: IHookFunctions,
	account: Account,
	url: string,
	isWanted: () => boolean,
): Promise<ServiceFailure | undefined> {
	const known = accountUrlOf(accountKeyOf(account));
	const call = known.lastCall.then(async () => {
		if (!isWanted()) return undefined;
		const hadIt = known.taken === url;
		if (!hadIt) known.taken = undefined;
		const endsAt = performance.now() + registrationMs;
		const result = await callService(context, account, webhookRequest(url), {
			timeoutMs: attemptMs,
			timeLeftMs: () => endsAt - performance.now(),
		});
		if (result.ok) {
			known.taken = url;
			return undefined;
		}
		if (!hadIt) return result.failure;
		context.logger.warn(
			`The partner service did not take the webhook URL of the workflow "${context.getWorkflow().name}" again. It took it before, so the trigger listens. ${result.failure.message} (${url})`,
		);
		return undefined;
	});
	known.lastCall = call;
	return await call;
}

/**
 * Called by n8n when a workflow is unpublished or changed, when a test ends, and after `listen` failed. The service
 * keeps the URL: it can be replaced, and not removed.
 */
export function stopListening(context: IHookFunctions): void {
	forget(triggerKey(context), ownUrl(context));
	const data = context.getWorkflowStaticData('node');
	// Without it the next start sets the URL again.
	delete data.url;
	if (failedStarts.delete(triggerKey(context))) return;
	delete data.account;
	delete data.since;
}

/**
 * Called by n8n when it ends, or another of its processes takes the lead. The workflow stays published, so this process still
 * keeps others from the account: n8n goes on to publish until it has ended.
 */
export function close(trigger: string): void {
	for (const { holder } of accounts.values())
		if (holder?.trigger === trigger) holder.isClosed = true;
}

/** While another process had the lead, it may have published and unpublished others. */
function dropClosed(): void {
	for (const [key, { holder }] of accounts) if (holder?.isClosed === true) accounts.delete(key);
}

/** Removes this trigger as a holder. With `url` only if it holds with that one: the end of a test leaves the published one. */
function forget(trigger: string, url?: string): void {
	for (const known of accounts.values()) {
		const { holder } = known;
		if (holder?.trigger === trigger && (url === undefined || holder.url === url))
			known.holder = undefined;
	}
}

/** Written as `webhookUrl` writes it, so that the two can be compared. */
function ownUrl(context: IHookFunctions): string {
	const url = context.getNodeWebhookUrl('default') ?? '';
	return URL.canParse(url) ? new URL(url).href : url;
}

/** The address, for the service. @throws {InvalidValueError} when the service cannot reach it */
const publicUrl = (context: IHookFunctions, account: Account): string =>
	webhookUrl(
		ownUrl(context),
		account,
		'The webhook URL of this n8n',
		'Set the environment variable WEBHOOK_URL of n8n to its public https:// address, then restart n8n.',
	);

function holderFor(context: IHookFunctions, url: string, account: string): Holder {
	const { id = '', name = '' } = context.getWorkflow();
	return {
		trigger: triggerKey(context),
		url,
		credentialId: credentialIdOf(context),
		workflow: { id, name },
		project: projectOf(context),
		since: publishedAt(context, account),
	};
}

const credentialIdOf = (context: IHookFunctions): string =>
	context.getNode().credentials?.[credentialType]?.id ?? '';

/** When a trigger was published for this account, in ms. Undefined for one that n8n starts, and that never had an account. */
function publishedAt(context: IHookFunctions, account: string): number | undefined {
	const before = context.getWorkflowStaticData('node');
	if (before.account === account) return Number(before.since);
	return before.account === undefined && isStarting(context) ? undefined : Date.now();
}

/**
 * Who keeps a trigger from its account. n8n starts published triggers in any order, also those that were refused when
 * they were published: the one that was published first has the account, and those after it yield.
 */
function rivalOf(context: IHookFunctions, key: string, holder: Holder): Holder | undefined {
	const yields = ({ since = Infinity }: Holder): boolean =>
		isStarting(context) && (holder.since ?? Infinity) < since;
	return othersOf(key, holder).find((other) => !yields(other));
}

/** Who holds the account, or one with the same credential, whose API key a person may have replaced since. */
const holdersOf = (key: string, credentialId: string): Holder[] =>
	[...accounts].flatMap(([other, { holder }]) => {
		const isSameCredential = credentialId !== '' && holder?.credentialId === credentialId;
		return holder !== undefined && (other === key || isSameCredential) ? [holder] : [];
	});

const othersOf = (key: string, { trigger, credentialId }: Holder): Holder[] =>
	holdersOf(key, credentialId).filter((holder) => holder.trigger !== trigger);

/** Names the other workflow only if it is in the same project of n8n: whoever publishes may not see others. */
function alreadyHeld(context: IHookFunctions, { workflow, project }: Holder): Error {
	const node = context.getNode();
	if (workflow.id === context.getWorkflow().id) {
		return operationError(
			node,
			'Remove one of the two ETB Wallet Triggers of this workflow: both are for the same account',
			'The service sends all events of an account to one address. Choose all events that you need in one trigger, and put a Switch behind it.',
		);
	}
	const isVisible = project !== undefined && project === projectOf(context);
	return operationError(
		node,
		isVisible
			? `Unpublish the workflow "${workflow.name}" first: it receives the events of this account`
			: 'Unpublish the other workflow first: a workflow of this n8n, maybe of another project, receives the events of this account',
		'The service sends all events of an account to one address, so one published workflow gets them. Let that one handle these events too, or unpublish it and then publish this one.',
	);
}
