/**
 * Publishing and testing: gives the service the webhook URL of one workflow for each account. The functions of
 * n8n's three hooks are `resume` (the hook `checkExists`), `listen` (`create`) and `stopListening` (`delete`).
 * n8n calls `checkExists` before each `create`:
 *
 * - A workflow is published or changed: `resume` returns false, then `listen`. It is refused while another
 *   trigger holds the account. Otherwise the trigger becomes the holder, and the service gets its URL.
 * - A test begins: `resume` returns false, then `listen`. The service gets the URL of the test, unless there is
 *   a holder.
 * - n8n starts, or this process takes the lead: `resume`, and `listen` if that returns false. The stored
 *   state decides which: see `StoredState`.
 * - A workflow is unpublished, a test ends, or `listen` failed: `stopListening`. A trigger that holds the
 *   account with this URL stops being the holder. The service keeps the URL.
 */
import { createHash } from 'node:crypto';
import type { IHookFunctions } from 'n8n-workflow';
import { assertUsableSecrets, credentialType, loadAccount, type Account } from '../shared/account';
import { runExclusive } from '../shared/runExclusive';
import { isStarting, listeningError, projectOf, triggerKeyOf } from './n8nTrigger';
import { callService } from '../shared/service/call';
import { toNodeError, operationError } from '../shared/nodeErrors';
import { serviceNodeError } from '../shared/service/failure';
import { setWebhookRequest } from '../shared/service/request';
import { asError } from '../shared/unknownValues';
import { readWebhookUrl } from '../shared/url';
import { readSettings } from './settings';

/**
 * The time limit of a call with all its attempts, and of one attempt, in ms. n8n (2.40 and newer) publishes a
 * workflow up to five times, with pauses of 15 s in all, and gives up after 84 s with a reason of its own.
 * With this limit the reason of the service comes in time, and n8n shows it.
 */
const setUrlMs = 10_000;
const attemptMs = 8_000;

/** A trigger that wants the events of an account. Each call of n8n makes a new object. */
interface Listener {
	triggerKey: string;
	/** The account, by `accountKeyOf`. */
	accountKey: string;
	credentialId: string;
	url: string;
	workflow: { id: string; name: string };
	/** The project of n8n that the workflow belongs to. */
	project: string | undefined;
}

/**
 * The state of a trigger, which n8n stores with the workflow as static data. It is undefined for one that was never
 * published, or is unpublished. When a person publishes, it becomes *pending* first. A test has a state of its own,
 * which n8n does not keep.
 *
 * | state | meaning | `resume` at a start of n8n | `listen` at a start, if `resume` gives false |
 * | --- | --- | --- | --- |
 * | *accepted* | the service accepted the URL for this account | holder, if both are unchanged | sets the URL |
 * | *pending* | no URL accepted since a person published | false | refuses, without a call |
 * | *startFailed* | the trigger of this account failed to start | false | sets the URL, and stores it again |
 * | undefined | | false | sets the URL, and stores nothing |
 *
 * - `listen` makes it *accepted* when the service accepts the URL.
 * - `listen` makes it *pending* while another trigger holds the account, unless the key of this account is
 *   stored.
 * - `stopListening` makes *accepted* to *startFailed*, and makes it undefined if the trigger is the holder with this
 *   URL.
 */
type StoredState =
	/** `accountKey`: the account, by `accountKeyOf`. */
	| { state: 'accepted'; accountKey: string; url: string }
	| { state: 'startFailed'; accountKey: string }
	| { state: 'pending' };

const staticData = (context: IHookFunctions): { published?: StoredState } =>
	context.getWorkflowStaticData('node');

const storedState = (context: IHookFunctions): StoredState | undefined =>
	staticData(context).published;

function store(context: IHookFunctions, state: StoredState): void {
	staticData(context).published = state;
}

/**
 * The holders of this process, by trigger. They stay while n8n shuts down, because a person can still publish
 * then.
 */
const holders = new Map<string, Listener>();

/** Stands for a URL that a call may have changed. */
const unknownUrl = Symbol('unknownUrl');

/**
 * The URL that the service accepted last, by account key, because the service shows no way to read it. There is none
 * if this process made no call for the account.
 */
const lastAcceptedUrls = new Map<string, string | typeof unknownUrl>();

/**
 * Identifies an account by address and API key. It is a hash, because n8n's database keeps it (see `resume`).
 */
const accountKeyOf = ({ url, apiKey }: Account): string =>
	createHash('sha256').update(`${url.href} ${apiKey}`).digest('base64url').slice(0, 22);

function listenerOf(context: IHookFunctions, accountKey: string): Listener {
	const { id = '', name = '' } = context.getWorkflow();
	return {
		triggerKey: triggerKeyOf(context),
		accountKey,
		credentialId: context.getNode().credentials?.[credentialType]?.id ?? '',
		url: ownUrl(context),
		workflow: { id, name },
		project: projectOf(context),
	};
}

/** The webhook URL of this trigger, written as `readWebhookUrl` writes it, so that the two can be compared. */
function ownUrl(context: IHookFunctions): string {
	const url = context.getNodeWebhookUrl('default') ?? '';
	return URL.canParse(url) ? new URL(url).href : url;
}

/** The holders of the account, or of the same credential, because a person may have replaced its API key. */
const holdersOf = ({ accountKey, credentialId }: Listener): Listener[] =>
	[...holders.values()].filter(
		(holder) => holder.accountKey === accountKey || holder.credentialId === credentialId,
	);

const rivalsOf = (listener: Listener): Listener[] =>
	holdersOf(listener).filter(({ triggerKey }) => triggerKey !== listener.triggerKey);

/**
 * The hook `checkExists`, which n8n calls before `create`. When n8n starts, static data with the present URL and
 * account prove that the service accepted the URL. So the trigger becomes the holder without a call to the
 * service, which may not answer at that moment. It never throws.
 * @returns false if `listen` has to set the URL, or to report the reason why it cannot
 */
export async function resume(context: IHookFunctions): Promise<boolean> {
	if (!isStarting(context)) return false;
	const stored = storedState(context);
	if (stored?.state !== 'accepted') return false;
	// If the credential was deleted, the trigger listens and refuses events until there is a credential
	// again.
	const presentKey = await loadAccount(context).then(accountKeyOf, () => stored.accountKey);
	const listener = listenerOf(context, presentKey);
	if (presentKey !== stored.accountKey || stored.url !== listener.url) return false;
	// Other holders give way, because nothing stored proves that the service accepted their URL, or because
	// another main process unpublished them.
	for (const { triggerKey, workflow } of rivalsOf(listener)) {
		holders.delete(triggerKey);
		context.logger.warn(
			`The workflow "${workflow.name}" has a trigger that gets no events: the workflow "${listener.workflow.name}" had the account before it`,
		);
	}
	holders.set(listener.triggerKey, listener);
	// A test, or a trigger that n8n started first, may have set its own URL. While its call runs, no URL is
	// certain.
	if (!lastAcceptedUrls.has(presentKey)) lastAcceptedUrls.set(presentKey, listener.url);
	return lastAcceptedUrls.get(presentKey) === listener.url;
}

/**
 * The hook `create`, which n8n calls when a workflow is published, or a test begins. A published workflow
 * receives the events of the account. A test receives them only while no workflow of the account is published.
 * Otherwise it gets only events that a person sends to its URL.
 * @throws {NodeOperationError} with the reason why the trigger does not listen
 */
export async function listen(context: IHookFunctions): Promise<void> {
	try {
		const isTest = context.getMode() === 'manual';
		// If publishing fails, it stays pending until a person publishes again, even if n8n starts anew.
		if (!isTest && !isStarting(context)) store(context, { state: 'pending' });
		const account = await loadAccount(context);
		const listener = listenerOf(context, accountKeyOf(account));
		assertUsableSettings(context, account, listener);
		if (isTest) await setUrl(context, account, listener);
		else await publish(context, account, listener);
	} catch (error) {
		const node = context.getNode();
		throw listeningError(node, toNodeError(node, error));
	}
}

/** @throws {NodeOperationError | InvalidValueError} for a setting that has to be corrected first */
function assertUsableSettings(context: IHookFunctions, account: Account, listener: Listener): void {
	if (account.webhookSecret === '') {
		throw operationError(
			context.getNode(),
			'The credential has no Webhook Secret',
			'Enter the Webhook Secret in the ETB Wallet API credential. Without it nobody could tell real events from forged ones.',
		);
	}
	assertUsableSecrets(account);
	readSettings(context.getNode().parameters);
	readWebhookUrl(
		listener.url,
		account,
		'The webhook URL of this n8n',
		'Set the environment variable WEBHOOK_URL of n8n to its public https:// address, then restart n8n.',
	);
}

async function publish(
	context: IHookFunctions,
	account: Account,
	listener: Listener,
): Promise<void> {
	const stored = storedState(context);
	const [rival] = rivalsOf(listener);
	if (rival !== undefined) {
		// A trigger that held the account before, and only failed to start, keeps the stored key.
		const storedKey = stored === undefined || stored.state === 'pending' ? '' : stored.accountKey;
		if (storedKey !== listener.accountKey) store(context, { state: 'pending' });
		throw alreadyHeld(context, listener, rival);
	}
	if (isStarting(context) && stored?.state === 'pending') {
		throw operationError(
			context.getNode(),
			'Publish this workflow again: it did not get the events of the account when it was published',
			'When n8n starts, the events of an account go to the workflow that had them before.',
		);
	}
	holders.set(listener.triggerKey, listener);
	const failure = await setUrl(context, account, listener).then(() => undefined, asError);
	// A person unpublished the trigger meanwhile, or n8n started the trigger that held the account before.
	if (holders.get(listener.triggerKey) !== listener) return;
	if (failure !== undefined) {
		holders.delete(listener.triggerKey);
		throw failure;
	}
	// A trigger that stored nothing holds the account only until n8n starts the trigger that stored it.
	if (storedState(context) === undefined) return;
	store(context, { state: 'accepted', accountKey: listener.accountKey, url: listener.url });
}

/**
 * Sets the URL (service document §4, endpoint 4) after all earlier calls for this account, unless another
 * trigger holds the account by then. If the service accepted this very URL last, it sends events there even
 * if it refuses the URL now: then the refusal is only logged.
 * @throws {NodeApiError | NodeOperationError} if the service may have another URL
 */
async function setUrl(
	context: IHookFunctions,
	account: Account,
	listener: Listener,
): Promise<void> {
	await runExclusive(`url ${listener.accountKey}`, async () => {
		if (holdersOf(listener).some((holder) => holder !== listener)) return;
		const wasAccepted = lastAcceptedUrls.get(listener.accountKey) === listener.url;
		if (!wasAccepted) lastAcceptedUrls.set(listener.accountKey, unknownUrl);
		const deadline = performance.now() + setUrlMs;
		const result = await callService(context, account, setWebhookRequest(listener.url), {
			timeoutMs: attemptMs,
			getAllowedMs: () => deadline - performance.now(),
		});
		if (result.ok) lastAcceptedUrls.set(listener.accountKey, listener.url);
		else if (!wasAccepted) throw serviceNodeError(context.getNode(), result.failure);
		else
			context.logger.warn(
				`The partner service did not take the webhook URL of the workflow "${listener.workflow.name}" again. It took it before, so the trigger listens. ${result.failure.message} (${listener.url})`,
			);
	});
}

/**
 * The hook `delete`, which n8n calls when a workflow is unpublished or changed, when a test ends, and after
 * `create` failed. The service keeps the URL, because no call removes it. The end of a test leaves the holder,
 * which has another URL.
 */
export function stopListening(context: IHookFunctions): void {
	const triggerKey = triggerKeyOf(context);
	const stored = storedState(context);
	if (holders.get(triggerKey)?.url === ownUrl(context)) {
		holders.delete(triggerKey);
		delete staticData(context).published;
	} else if (stored?.state === 'accepted') {
		// The next start sets the URL again.
		store(context, { state: 'startFailed', accountKey: stored.accountKey });
	}
}

/** Names the other workflow only if it is in the same project: a person may not see others. */
function alreadyHeld(context: IHookFunctions, listener: Listener, rival: Listener): Error {
	const node = context.getNode();
	if (rival.workflow.id === listener.workflow.id) {
		return operationError(
			node,
			'Remove one of the two ETB Wallet Triggers of this workflow: both are for the same account',
			'The service sends all events of an account to one address. Choose all events that you need in one trigger, and put a Switch behind it.',
		);
	}
	const isVisible = rival.project !== undefined && rival.project === listener.project;
	return operationError(
		node,
		isVisible
			? `Unpublish the workflow "${rival.workflow.name}" first: it receives the events of this account`
			: 'Unpublish the other workflow first: a workflow of this n8n, maybe of another project, receives the events of this account',
		'The service sends all events of an account to one address, so one published workflow gets them. Let that one handle these events too, or unpublish it and then publish this one.',
	);
}
