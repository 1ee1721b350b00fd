/** What n8n asks of the trigger when a workflow is published or unpublished, and when a test begins or ends. */
import type { IHookFunctions } from 'n8n-workflow';
import { loadAccount, type Account } from '../shared/account';
import { InvalidValueError } from '../shared/invalidValue';
import { operationError } from '../shared/n8n';
import { isReplacing, isStarting, projectOf } from '../shared/n8nTrigger';
import { invalidValueError } from '../shared/service/failure';
import { webhookUrl } from '../shared/url';
import { logNotSet, type AccountUrl, type NotSet } from './accountUrl';
import { accountUrlOf, accountUrlsUsedBy, forgetLeft } from './accounts';
import { alreadyHeld } from './alreadyHeld';
import { forgetDeliveries } from './duplicates';
import { probe } from './forwarding';
import type { Holder, Listener, TestListener } from './knowledge';
import * as knowledge from './knowledge';
import { endPending, registerLater, retryNow, type Registered } from './pending';
import { triggerKey } from './perTrigger';
import { checkSettings, settingsOf } from './settings';
import { forgetSecrets } from './webhookSecrets';

/** What a trigger is published or tested with. */
interface Registration {
	context: IHookFunctions;
	account: Account;
	accountUrl: AccountUrl;
	trigger: string;
	/** The address at which n8n listens for this trigger. */
	url: string;
}

/**
 * Called by n8n when the workflow is published, when n8n starts, and when "Listen for test event" begins. The URL is set
 * each time: another program may have set another one.
 * @throws {NodeOperationError | NodeApiError} which n8n shows as the reason why the trigger does not listen. Not while n8n
 * starts: n8n would give the trigger up for good, and tell nobody
 */
export async function register(context: IHookFunctions): Promise<void> {
	try {
		const isTest = context.getMode() === 'manual';
		// A published workflow that waits for its next retry gets the URL before the test, which then shares its events.
		if (isTest) await retryNow(context);
		const registration = await readRegistration(context);
		const listener = isTest ? await beginTest(registration) : beginPublished(registration);
		await set(registration, listener);
	} catch (error) {
		if (context.getMode() !== 'manual') forgetLeft(triggerKey(context));
		if (!isStarting(context)) throw invalidValueError(context.getNode(), error);
		registerLater(context, ownUrl(context), error, registerAgain);
	}
}

/** Tries a registration again that failed while n8n started. @param isWanted asked again once all is read */
async function registerAgain(
	context: IHookFunctions,
	isWanted: () => boolean,
): Promise<Registered> {
	const registration = await readRegistration(context);
	const { accountUrl, trigger } = registration;
	if (!isWanted()) return 'notSet';
	if (knowledge.mayComeBack(accountUrl.known, trigger)) return 'tooEarly';
	return (await set(registration, beginPublished(registration))) ? 'set' : 'notSet';
}

/** @returns whether the service has the URL that it should have @throws {Error} when it does not listen */
async function set(
	{ context, account, accountUrl }: Registration,
	{ url }: Listener,
): Promise<boolean> {
	const { notSet, refused } = await accountUrl.reconcile({ context, account, url });
	const reason = refused.get(url);
	if (reason !== undefined) {
		// Logged too: n8n tries again, and after 84 s shows only that it took too long.
		logNotSet(context, { url, reason, hasIt: false });
		throw reason;
	}
	// Log, do not throw: if we threw, n8n would stop listening, and the service very likely sends to this URL.
	if (notSet !== undefined) logNotSet(context, notSet);
	return notSet === undefined;
}

/** @throws {InvalidValueError} for what has to be corrected before the trigger can listen */
async function readRegistration(context: IHookFunctions): Promise<Registration> {
	const account = await loadAccount(context);
	if (account.webhookSecret === '') {
		throw new InvalidValueError(
			'The credential has no Webhook Secret',
			'Enter the Webhook Secret in the ETB Wallet API credential. Without it nobody could tell real events from forged ones.',
		);
	}
	checkSettings(context.getNode().parameters);
	const url = ownUrl(context);
	const accountUrl = await accountUrlOf(account);
	return { context, account, accountUrl, trigger: triggerKey(context), url };
}

/** Written as `webhookUrl` writes it, so that the two can be compared. */
function ownUrl(context: IHookFunctions): string {
	const url = context.getNodeWebhookUrl('default') ?? '';
	return URL.canParse(url) ? new URL(url).href : url;
}

/** The address, for the service. @throws {InvalidValueError} when the service cannot reach it */
const publicUrl = ({ url, account }: Registration): string =>
	webhookUrl(
		url,
		account,
		'The webhook URL of this n8n',
		'Set the environment variable WEBHOOK_URL of n8n to its public https:// address, then restart n8n.',
	);

/** Makes it known that the trigger is published. @throws {NodeOperationError} when another one has the account */
function beginPublished(registration: Registration): Holder {
	const { context, accountUrl, trigger } = registration;
	const { id = '', name = '' } = context.getWorkflow();
	const holder: Holder = {
		trigger,
		workflow: { id, name },
		project: projectOf(context),
		url: publicUrl(registration),
		isBeginning: !isStarting(context),
	};
	forgetLeft(trigger, accountUrl);
	const known = knowledge.setHolder(accountUrl.known, holder, isReplacing(context));
	if ('heldBy' in known) throw alreadyHeld(context, known.heldBy);
	accountUrl.known = known;
	return holder;
}

/** Makes it known that a test begins. @throws {NodeOperationError} when it cannot listen */
async function beginTest(registration: Registration): Promise<TestListener> {
	const { context, accountUrl, trigger, url } = registration;
	const { leavesUrl } = settingsOf(context.getNode().parameters);
	// Its credential was changed since the last test, which n8n does not always end first.
	for (const other of accountUrlsUsedBy(trigger, url)) {
		if (other === accountUrl) continue;
		const notSet = await endListening(other, trigger, url);
		if (notSet !== undefined) logNotSet(context, notSet);
	}
	let holder: Holder | undefined;
	let needsUrl: boolean;
	do {
		({ holder } = accountUrl.known);
		needsUrl = !leavesUrl && (holder === undefined || (await isElsewhere(registration, holder)));
		// Again if another workflow was published meanwhile.
	} while (accountUrl.known.holder?.url !== holder?.url);
	const test: TestListener = {
		trigger,
		url: needsUrl ? publicUrl(registration) : url,
		isSharing: !leavesUrl,
		needsUrl,
		productionUrl: holder?.url,
		wasSet: false,
		isEnding: false,
		isBeginning: true,
	};
	accountUrl.known = knowledge.addTest(accountUrl.known, test);
	return test;
}

/**
 * Whether another process handles the published trigger, so that a test has to stand in for it. In the same process the
 * URL can stay: events are forwarded to the test.
 * @throws {NodeOperationError} when the test must not begin
 */
async function isElsewhere({ context, account }: Registration, { url }: Holder): Promise<boolean> {
	const process = await probe(context, url, account.webhookSecret);
	if (process === 'unreachable') {
		throw operationError(
			context.getNode(),
			`Set While Testing to Leave the URL Alone, or let n8n reach its own address ${url}`,
			'A published workflow receives the events of this account, and this test can only share them if n8n reaches that address. It also fails if the credentials of the two workflows have different Webhook Secrets.',
		);
	}
	return process === 'otherProcess';
}

/** What listens at this URL ends. @returns why the service does not have the URL that it should have then */
async function endListening(
	accountUrl: AccountUrl,
	trigger: string,
	url: string,
): Promise<NotSet | undefined> {
	accountUrl.known = knowledge.endListener(accountUrl.known, trigger, url);
	return (await accountUrl.reconcile()).notSet;
}

/**
 * Called by n8n when the workflow is unpublished or changed, when a test ends, and after `register` failed. If it throws,
 * n8n calls it again: at once, or for a test with the next event.
 * @throws {NodeOperationError | NodeApiError} when the service does not take the URL that it should have now
 */
export async function unregister(context: IHookFunctions): Promise<void> {
	const trigger = triggerKey(context);
	const url = ownUrl(context);
	endPending(trigger, url);
	let failure: Error | undefined;
	try {
		// When this returns, n8n also stops listening for a test of this trigger that began meanwhile: so that one ends too.
		do {
			for (const accountUrl of accountUrlsUsedBy(trigger, url)) {
				const notSet = await endListening(accountUrl, trigger, url);
				if (notSet?.hasIt === false) failure ??= notSet.reason;
				else if (notSet !== undefined) logNotSet(context, notSet);
			}
			if (failure !== undefined) throw failure;
		} while (
			accountUrlsUsedBy(trigger, url).some(({ known }) =>
				knowledge.isListening(known, trigger, url),
			)
		);
	} finally {
		if (accountUrlsUsedBy(trigger).length === 0) {
			forgetDeliveries(trigger);
			forgetSecrets(trigger);
		}
	}
}
