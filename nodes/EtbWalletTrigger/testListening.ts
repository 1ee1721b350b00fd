/** A test in the editor: whether the published workflow's events reach it, and how that workflow misses none. */
import type { IHookFunctions } from 'n8n-workflow';
import type { Account } from '../shared/account';
import { operationError } from '../shared/n8n';
import { logNotSet } from './accountUrl';
import { probe } from './forwarding';
import type { Holder, TestListener, WhileTesting } from './holders';
import * as holders from './holders';
import type { Registration } from './registration';
import { accountWith, accountsOf, dropIfNothing } from './state';

/** Makes it known that a test begins. @throws {NodeOperationError} when it cannot listen */
export async function beginTest(
	context: IHookFunctions,
	registration: Registration,
): Promise<TestListener> {
	const { trigger, account, keys, settings, urlAfter } = registration;
	const { whileTesting } = settings;
	await endForOthers(context, registration);
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
		trigger,
		account: keys,
		url: needsUrl ? registration.publicUrl() : registration.url,
		whileTesting,
		standsInFor,
		wasSet: false,
		isEnding: false,
		urlAfter,
		isNew: true,
	};
	const accountUrl = accountWith(keys);
	accountUrl.known = holders.startTest(accountUrl.known, test);
	return test;
}

/** The credential was changed since the last test, which n8n does not always end before. */
async function endForOthers(
	context: IHookFunctions,
	{ trigger, url, keys }: Registration,
): Promise<void> {
	for (const other of accountsOf(trigger, url)) {
		if (holders.isAbout(other.known, keys)) continue;
		other.known = holders.endTest(other.known, trigger, url);
		const { notSet } = await other.reconcile();
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
