/** A test in the editor: how it gets events of the account, while the published workflow misses none. */
import type { IHookFunctions } from 'n8n-workflow';
import { operationError } from '../shared/n8n';
import { accountUrlsUsedBy, logNotSet } from './accountUrl';
import { probe } from './forwarding';
import type { Holder, TestListener } from './knowledge';
import * as knowledge from './knowledge';
import type { Registration } from './publishing';

/** Makes it known that a test begins. @throws {NodeOperationError} when it cannot listen */
export async function beginTest(
	context: IHookFunctions,
	registration: Registration,
): Promise<TestListener> {
	const { trigger, accountUrl, settings } = registration;
	const { whileTesting } = settings;
	await endAtOthers(context, registration);
	let holder: Holder | undefined;
	let isElsewhere: boolean;
	do {
		({ holder } = accountUrl.known);
		isElsewhere = await isInOtherProcess(context, registration, holder);
		// Again if another workflow was published meanwhile.
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
		isBeginning: true,
	};
	accountUrl.known = knowledge.addTest(accountUrl.known, test);
	return test;
}

/** Ends the test at other accounts: its credential was changed since the last test, which n8n does not always end first. */
async function endAtOthers(
	context: IHookFunctions,
	{ trigger, url, accountUrl }: Registration,
): Promise<void> {
	for (const other of accountUrlsUsedBy(trigger, url)) {
		if (other === accountUrl) continue;
		other.known = knowledge.endTest(other.known, trigger, url);
		const { notSet } = await other.reconcile();
		if (notSet !== undefined) logNotSet(context, notSet);
	}
}

/**
 * Whether the test has to stand in for the published trigger. In the process that also handles that one, the URL can
 * stay: events are forwarded to the test.
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
