/** The accounts whose URL this process sets or has set, and which trigger uses which. */
import type { ITriggerFunctions, ITriggerResponse } from 'n8n-workflow';
import type { Account } from '../shared/account';
import { accountKeys, AccountUrl, accountUrls } from './accountUrl';
import { kept } from './background';
import { closeHolder, hasTrigger, listeners, testOf, type Knowledge } from './knowledge';
import { endPending, retryLater } from './pending';
import { triggerKey } from './perTrigger';

/**
 * What the service confirmed for a trigger counts only while n8n replaces it, and no more when that has failed, or when it
 * is published for another account.
 */
export function forgetLeft(trigger: string, except?: AccountUrl): void {
	for (const accountUrl of accountUrls)
		if (accountUrl !== except && accountUrl.known.left?.trigger === trigger) accountUrl.forget();
}

export async function accountUrlOf(account: Account): Promise<AccountUrl> {
	await Promise.all([...accountUrls].map(async (accountUrl) => await accountUrl.refresh()));
	const isInUse = ({ known }: AccountUrl): boolean => listeners(known).length > 0;
	const keys = accountKeys(account);
	const isShared = (key: string): boolean => keys.includes(key);
	const found = [...accountUrls].filter((accountUrl) => accountUrl.keys.some(isShared));
	// More than one, if a person later gave a credential the API key of another one: what is published decides.
	const accountUrl =
		found.find((each) => each.holderAt(account) !== undefined) ??
		found.find(({ holderKeys }) => holderKeys.some(isShared)) ??
		found.find((each) => each.known.holder === undefined && isInUse(each)) ??
		found.find(({ known }) => known.holder === undefined) ??
		found[0] ??
		new AccountUrl();
	accountUrl.keys = [...(isInUse(accountUrl) ? accountUrl.keys : []), ...keys];
	// What is not in use any more would be found again.
	for (const other of found) if (!isInUse(other)) accountUrls.delete(other);
	accountUrls.add(accountUrl);
	return accountUrl;
}

/** Those for which a trigger is published or tested at this URL, or at any: more than one if its credential was changed. */
export const accountUrlsUsedBy = (trigger: string, url?: string): AccountUrl[] =>
	[...accountUrls].filter(({ known }) => hasTrigger(known, trigger, url));

/** The account for which a trigger is published. */
export const accountUrlOfPublished = (trigger: string): AccountUrl | undefined =>
	accountUrlsUsedBy(trigger).find(({ known }) => known.holder?.trigger === trigger);

/** What is known of the account for which a trigger is tested. It can be another one: tests use what is not published yet. */
export function knownOfTested(trigger: string): Knowledge | undefined {
	const found = [...accountUrls].filter(({ known }) => testOf(known, trigger) !== undefined);
	return (found.find(({ known }) => testOf(known, trigger)?.isEnding === false) ?? found[0])?.known;
}

/** n8n begins to keep a published trigger. It calls `closeFunction` when it is unpublished, or another process leads. */
export function keep(context: ITriggerFunctions): ITriggerResponse {
	const trigger = triggerKey(context);
	kept.set(trigger, context);
	for (const accountUrl of accountUrls)
		if (accountUrl.known.holder?.trigger === trigger) accountUrl.retryLater();
	retryLater(trigger);
	return {
		closeFunction: async () => {
			if (kept.get(trigger) !== context) return await Promise.resolve();
			kept.delete(trigger);
			endPending(trigger);
			for (const accountUrl of accountUrls)
				accountUrl.known = closeHolder(accountUrl.known, trigger);
		},
	};
}
