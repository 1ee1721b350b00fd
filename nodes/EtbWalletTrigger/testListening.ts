/** A test in the editor: whether the published workflow's events reach it, and how that workflow misses none. */
import type { IHookFunctions } from 'n8n-workflow';
import { operationError } from '../shared/n8n';
import { accountsOf, logNotSet } from './accountUrl';
import { probe } from './forwarding';
import type { Holder, TestListener } from './holders';
import * as holders from './holders';
import type { Registration } from './publishing';

/** Makes it known that a test begins. @throws {NodeOperationError} when it cannot listen */
export async function beginTest(
	context: IHookFunctions,
	registration: Registration,
): Promise<TestListener> {
	const { trigger, accountUrl, settings } = registration;
	const { whileTesting } = settings;
	await endForOthers(context, registration);
	let holder: Holder | undefined;
	let isElsewhere: boolean;
	do {
		({ holder } = accountUrl.known);
		isElsewhere = await isInOtherProcess(context, registration, holder);
		// Another workflow may have been published meanwhile.
	} while (accountUrl.known.holder?.url !== holder?.url);

	const needsUrl = whileTesting !== 'leaveUrl' && (holder === undefined || isElsewhere);
	const test: TestListener = {
		trigger,
		url: needsUrl ? registration.publicUrl() : registration.url,
		whileTesting,
		needsUrl,
		productionUrl: holder?.url,
		wasSet: false,
		isEnding: false,
		isNew: true,
	};
	accountUrl.known = holders.startTest(accountUrl.known, test);
	return test;
}

/** The credential was changed since the last test, which n8n does not always end before. */
async function endForOthers(
	context: IHookFunctions,
	{ trigger, url, accountUrl }: Registration,
): Promise<void> {
	for (const other of accountsOf(trigger, url)) {
		if (other === accountUrl) continue;
		other.known = holders.endTest(other.known, trigger, url);
		const { notSet } = await other.reconcile();
		if (notSet !== undefined) logNotSet(context, notSet);
	}
}

/**
 * Whether the test has to stand in for the published trigger. In the process that also handles that one, the URL can
 * stay: copies are handed to the test.
 * @throws {NodeOperationError} when the test must not begin
 */
async function isInOtherProcess(
	context: IHookFunctions,
	{ account, settings }: Registration,
	holder: Holder | undefined,
): Promise<boolean> {
	if (holder === undefined || settings.whileTesting === 'leaveUrl') return false;
	const process = await probe(context, holder.url, account.webhookSecret);
	if (process === 'unreachable') {
		throw operationError(
			context.getNode(),
			`Set While Testing to Leave the URL Alone, or let n8n reach its own address ${holder.url}`,
			'A published workflow receives the events of this account, and this test can only share them if n8n reaches that address. It also fails if the credentials of the two workflows have different Webhook Secrets.',
		);
	}
	return process === 'otherProcess';
}
