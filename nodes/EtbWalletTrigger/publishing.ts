/**
 * Publishing and testing: gives the service the webhook URL of one workflow for each account.
 *
 * Event | Hook of n8n | Effect
 * --- | --- | ---
 * a workflow is published or changed | `listen` | refused while another trigger holds the account; otherwise it becomes the holder, and the service gets its URL. Static data keep URL and account, or that it could not be published
 * a test begins | `listen` | the service gets the URL of the test, unless there is a holder
 * n8n starts, or this process takes the lead | `resume`, and `listen` if that is false | a trigger whose static data fit becomes the holder without a call; one that could not be published is refused without a call; any other: as when published
 * a workflow is unpublished, a test ends, `listen` failed | `stopListening` | the holder and its static data are forgotten; the service keeps the URL
 */
import { createHash } from 'node:crypto';
import type { IHookFunctions } from 'n8n-workflow';
import { checkWebhookSecrets, credentialType, loadAccount, type Account } from '../shared/account';
import { operationError } from '../shared/n8n';
import { isStarting, listeningError, projectOf, triggerKey } from '../shared/n8nTrigger';
import { inTurn } from '../shared/record/lock';
import { callService } from '../shared/service/call';
import { failureError, invalidValueError } from '../shared/service/failure';
import { webhookRequest } from '../shared/service/request';
import { asError } from '../shared/unknownValues';
import { webhookUrl } from '../shared/url';
import { settingsOf } from './settings';

/**
 * n8n (2.40 and newer) asks five times, with pauses of 15 s in all, and gives a publication up after 84 s with a reason of
 * its own. So all attempts of one time take no longer than this, and the reason of the service is shown.
 */
const registrationMs = 10_000;
const attemptMs = 8_000;

/** A trigger that is to receive an account's events: made once for each call of n8n. */
interface Publication {
	trigger: string;
	/** By `accountKeyOf`. */
	account: string;
	credentialId: string;
	url: string;
	workflow: { id: string; name: string };
	/** The project of n8n that the workflow belongs to. */
	project: string | undefined;
}

/** The holders of this process, by trigger. They stay while n8n ends: a person can still publish and test until then. */
const holders = new Map<string, Publication>();

/**
 * The URL that the service accepted last, by account: it can be set, and not read. Undefined if it is not certain; no entry
 * if this process knows nothing of the account yet.
 */
const lastAcceptedUrls = new Map<string, string | undefined>();

/** Recognises an account by its address and API key. A hash: n8n's database keeps it, see `resume`. */
const accountKeyOf = ({ url, apiKey }: Account): string =>
	createHash('sha256').update(`${url.href} ${apiKey}`).digest('base64url').slice(0, 22);

function publicationOf(context: IHookFunctions, account: string): Publication {
	const { id = '', name = '' } = context.getWorkflow();
	return {
		trigger: triggerKey(context),
		account,
		credentialId: context.getNode().credentials?.[credentialType]?.id ?? '',
		url: ownUrl(context),
		workflow: { id, name },
		project: projectOf(context),
	};
}

/** Written as `webhookUrl` writes it, so that the two can be compared. */
function ownUrl(context: IHookFunctions): string {
	const url = context.getNodeWebhookUrl('default') ?? '';
	return URL.canParse(url) ? new URL(url).href : url;
}

/** The holders of an account, or of one with the same credential, whose API key a person may have replaced since. */
const holdersOf = ({ account, credentialId }: Publication): Publication[] =>
	[...holders.values()].filter(
		(holder) => holder.account === account || holder.credentialId === credentialId,
	);

const rivalsOf = (own: Publication): Publication[] =>
	holdersOf(own).filter(({ trigger }) => trigger !== own.trigger);

/**
 * Called by n8n before `listen`. When n8n starts, static data with the present URL and account prove that the service accepted
 * the URL. So the trigger becomes the holder without a call to the service, which may not answer at that moment. It never
 * throws.
 * @returns false if `listen` has to set the URL, or to say why it cannot
 */
export async function resume(context: IHookFunctions): Promise<boolean> {
	if (!isStarting(context)) return false;
	const { url, account } = context.getWorkflowStaticData('node');
	if (typeof account !== 'string') return false;
	// If the credential was deleted, the trigger listens and refuses events until there is one again.
	const present = await loadAccount(context).then(accountKeyOf, () => account);
	const own = publicationOf(context, present);
	if (present !== account || url !== own.url) return false;
	// Other holders yield: no static data prove that the service accepted their URL, or another main process unpublished them.
	for (const { trigger, workflow } of rivalsOf(own)) {
		holders.delete(trigger);
		context.logger.warn(
			`The workflow "${workflow.name}" has a trigger that gets no events: the workflow "${own.workflow.name}" had the account before it`,
		);
	}
	holders.set(own.trigger, own);
	// A test, or a trigger that n8n started first, may have given the service its URL. While it does so, none is certain.
	if (!lastAcceptedUrls.has(account)) lastAcceptedUrls.set(account, own.url);
	return lastAcceptedUrls.get(account) === own.url;
}

/**
 * Called by n8n when a workflow is published, or a test begins. A published workflow gets the events of the account. A
 * test gets them only while no workflow of the account is published; otherwise it listens for what a person sends.
 * @throws {NodeOperationError} with why the trigger does not listen
 */
export async function listen(context: IHookFunctions): Promise<void> {
	try {
		const isTest = context.getMode() === 'manual';
		// Until the service has its URL: a publication that fails waits for a person, also when n8n starts.
		if (!isTest && !isStarting(context)) context.getWorkflowStaticData('node').account = null;
		const account = await loadAccount(context);
		const own = publicationOf(context, accountKeyOf(account));
		checkBeforeListening(context, account, own);
		if (isTest) await setUrl(context, account, own);
		else await publish(context, account, own);
	} catch (error) {
		const node = context.getNode();
		throw listeningError(node, invalidValueError(node, error));
	}
}

/** @throws {NodeOperationError | InvalidValueError} for what has to be corrected before the trigger can listen */
function checkBeforeListening(context: IHookFunctions, account: Account, own: Publication): void {
	if (account.webhookSecret === '') {
		throw operationError(
			context.getNode(),
			'The credential has no Webhook Secret',
			'Enter the Webhook Secret in the ETB Wallet API credential. Without it nobody could tell real events from forged ones.',
		);
	}
	checkWebhookSecrets(account);
	settingsOf(context.getNode().parameters);
	webhookUrl(
		own.url,
		account,
		'The webhook URL of this n8n',
		'Set the environment variable WEBHOOK_URL of n8n to its public https:// address, then restart n8n.',
	);
}

async function publish(context: IHookFunctions, account: Account, own: Publication): Promise<void> {
	const data = context.getWorkflowStaticData('node');
	const [rival] = rivalsOf(own);
	if (rival !== undefined) {
		// The stored account stays if this trigger had it before, and only failed to start.
		if (data.account !== own.account) data.account = null;
		throw alreadyHeld(context, own, rival);
	}
	if (isStarting(context) && data.account === null) {
		throw operationError(
			context.getNode(),
			'Publish this workflow again: it did not get the events of the account when it was published',
			'When n8n starts, the events of an account go to the workflow that had them before.',
		);
	}
	holders.set(own.trigger, own);
	const failure = await setUrl(context, account, own).then(() => undefined, asError);
	// Unpublished meanwhile, or n8n started the trigger that had the account before.
	if (holders.get(own.trigger) !== own) return;
	if (failure !== undefined) {
		holders.delete(own.trigger);
		throw failure;
	}
	// A trigger without stored data has the account only until n8n starts the trigger that stored it.
	if (data.account === undefined) return;
	Object.assign(data, { url: own.url, account: own.account });
}

/**
 * Sets the URL (service document §4, endpoint 4) after all earlier calls for this account, unless another trigger holds it
 * by then. If the service accepted this very URL last, it sends events there also if it refuses now: so that is logged.
 * @throws {NodeApiError | NodeOperationError} if the service may have another URL
 */
async function setUrl(context: IHookFunctions, account: Account, own: Publication): Promise<void> {
	await inTurn(own.account, async () => {
		if (holdersOf(own).some((holder) => holder !== own)) return;
		const wasAccepted = lastAcceptedUrls.get(own.account) === own.url;
		if (!wasAccepted) lastAcceptedUrls.set(own.account, undefined);
		const endsAt = performance.now() + registrationMs;
		const result = await callService(context, account, webhookRequest(own.url), {
			timeoutMs: attemptMs,
			timeLeftMs: () => endsAt - performance.now(),
		});
		if (result.ok) lastAcceptedUrls.set(own.account, own.url);
		else if (!wasAccepted) throw failureError(context.getNode(), result.failure);
		else
			context.logger.warn(
				`The partner service did not take the webhook URL of the workflow "${own.workflow.name}" again. It took it before, so the trigger listens. ${result.failure.message} (${own.url})`,
			);
	});
}

/**
 * Called by n8n when a workflow is unpublished or changed, when a test ends, and after `listen` failed. The service
 * keeps the URL: it can be replaced, and not removed. The end of a test leaves the holder, whose URL is another one.
 */
export function stopListening(context: IHookFunctions): void {
	const trigger = triggerKey(context);
	const data = context.getWorkflowStaticData('node');
	// Without it the next start sets the URL again.
	delete data.url;
	if (holders.get(trigger)?.url !== ownUrl(context)) return;
	holders.delete(trigger);
	delete data.account;
}

/** Names the other workflow only if it is in the same project of n8n: whoever publishes may not see others. */
function alreadyHeld(context: IHookFunctions, own: Publication, rival: Publication): Error {
	const node = context.getNode();
	if (rival.workflow.id === own.workflow.id) {
		return operationError(
			node,
			'Remove one of the two ETB Wallet Triggers of this workflow: both are for the same account',
			'The service sends all events of an account to one address. Choose all events that you need in one trigger, and put a Switch behind it.',
		);
	}
	const isVisible = rival.project !== undefined && rival.project === own.project;
	return operationError(
		node,
		isVisible
			? `Unpublish the workflow "${rival.workflow.name}" first: it receives the events of this account`
			: 'Unpublish the other workflow first: a workflow of this n8n, maybe of another project, receives the events of this account',
		'The service sends all events of an account to one address, so one published workflow gets them. Let that one handle these events too, or unpublish it and then publish this one.',
	);
}
