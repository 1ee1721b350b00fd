/** A test in the editor: whether the published workflow's events reach it, and how that workflow misses none. */
import type { IHookFunctions } from 'n8n-workflow';
import type { Account } from '../shared/account';
import { accountKeys } from '../shared/account';
import { operationError } from '../shared/n8n';
import { probe } from './forwarding';
import type { AccountKeys, Holder, TestListener, WhileTesting } from './holders';
import * as holders from './holders';
import { logNotSet, ownUrl, publicUrl, settle, urlAfterDeactivation } from './ownUrl';
import { settingsOf } from './settings';
import { accountWith, accountsOf, dropIfNothing, triggerKey } from './state';

/**
 * Begins a test.
 * @throws {NodeOperationError | NodeApiError} when it cannot listen
 */
export async function startTest(context: IHookFunctions, account: Account): Promise<void> {
	const { whileTesting } = settingsOf(context.getNode().parameters);
	const keys = accountKeys(account);
	await endForOthers(context, keys);
	const urlAfter = urlAfterDeactivation(context, account);
	let holder: Holder | undefined;
	let standsInFor: string | undefined;
	do {
		holder = holders.holderOf(accountWith(keys).known);
		standsInFor = await productionInOtherProcess(context, account, holder, whileTesting);
		// Another workflow may have been published meanwhile.
	} while (holders.holderOf(accountWith(keys).known)?.url !== holder?.url);

	const needsUrl =
		whileTesting !== 'leaveUrl' && (holder === undefined || standsInFor !== undefined);
	const test: TestListener = {
		trigger: triggerKey(context),
		account: keys,
		url: needsUrl ? publicUrl(context, account) : ownUrl(context),
		whileTesting,
		standsInFor,
		wasSet: false,
		isEnding: false,
		urlAfter,
		isNew: true,
	};
	const accountUrl = accountWith(keys);
	accountUrl.known = holders.startTest(accountUrl.known, test);
	const { notSet, whyDropped } = await settle(context, account, accountUrl);
	const why = whyDropped(test);
	dropIfNothing(accountUrl);
	if (why !== undefined) throw why;
	// An earlier test could not give the URL back, for example.
	if (notSet !== undefined) logNotSet(context, notSet);
}

/** The credential was changed since the last test, which n8n does not always end before. */
async function endForOthers(context: IHookFunctions, keys: AccountKeys): Promise<void> {
	const [trigger, url] = [triggerKey(context), ownUrl(context)];
	for (const other of accountsOf(trigger, url)) {
		if (holders.isAbout(other.known, keys)) continue;
		other.known = holders.endTest(other.known, trigger, url);
		const { notSet } = await other.settle();
		dropIfNothing(other);
		if (notSet !== undefined) logNotSet(context, notSet);
	}
}

/**
 * In the process that also handles production, its URL can stay: copies are handed to the test.
 * @returns the production URL, when the test has to stand in for it
 * @throws {NodeOperationError} when the test must not begin
 */
async function productionInOtherProcess(
	context: IHookFunctions,
	account: Account,
	holder: Holder | undefined,
	whileTesting: WhileTesting,
): Promise<string | undefined> {
	if (holder === undefined || whileTesting === 'leaveUrl') return undefined;
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
	return process === 'sameProcess' ? undefined : holder.url;
}
