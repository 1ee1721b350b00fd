import { createHash } from 'node:crypto';
import type { IHookFunctions, IWebhookFunctions } from 'n8n-workflow';
import type { Account } from '../shared/account';

/**
 * What this process knows of the one webhook URL that each account has. The service cannot be asked for it
 * (service document §4), and n8n tells a node nothing about other workflows.
 */

/** Which partner account a trigger works for, without keeping its API key. */
export interface AccountIdentity {
	url: string;
	keyHash: string;
	/** Empty when it is not known. */
	credentialId: string;
}

/** The published workflow that receives an account's events. */
export interface Holder {
	/** Which trigger node of which workflow it is. */
	trigger: string;
	account: AccountIdentity;
	workflowName: string;
	url: string;
	/** Unpublished, and its URL could not be replaced at the service yet. */
	isLeaving?: boolean;
}

/** A trigger in the editor that listens for a test event. */
export interface TestListener {
	account: AccountIdentity;
	url: string;
	/** Whether the service sends to it. Otherwise the holder hands it copies. */
	registered: boolean;
	/** Where each delivery has to go as well, because the holder does not get it. */
	forwardTo?: string;
}

/** By trigger. */
const holders = new Map<string, Holder>();
const testListeners = new Map<string, TestListener>();

export function identify({ url, apiKey, credentialsDecrypted }: Account): AccountIdentity {
	return {
		url: url.href,
		keyHash: createHash('sha256').update(apiKey).digest('base64'),
		credentialId: credentialsDecrypted.id,
	};
}

/** A credential stays the same account when its API key is replaced. */
function isSame(one: AccountIdentity, other: AccountIdentity): boolean {
	return (
		one.url === other.url &&
		(one.keyHash === other.keyHash ||
			(one.credentialId !== '' && one.credentialId === other.credentialId))
	);
}

/** Identifies a trigger node. */
export function triggerKey(context: IHookFunctions | IWebhookFunctions): string {
	return JSON.stringify([context.getWorkflow().id, context.getNode().id]);
}

export const registry = {
	holderOf: (account: AccountIdentity): Holder | undefined =>
		[...holders.values()].find((holder) => !holder.isLeaving && isSame(holder.account, account)),

	/** Makes a trigger the only holder of its account and returns what undoes that. */
	hold(holder: Holder): () => void {
		const previous = [...holders.values()].filter(
			({ trigger, account }) => trigger === holder.trigger || isSame(account, holder.account),
		);
		for (const { trigger } of previous) holders.delete(trigger);
		holders.set(holder.trigger, holder);
		return () => {
			// Unless yet another has taken over.
			if (holders.get(holder.trigger) !== holder) return;
			holders.delete(holder.trigger);
			for (const other of previous) holders.set(other.trigger, other);
		};
	},

	/**
	 * A trigger no longer holds its account. It is remembered until `forget`, so that a failed attempt to replace
	 * its URL can be made again.
	 * @returns whether the trigger was a holder, with this URL
	 */
	release(trigger: string, url: string): boolean {
		const holder = holders.get(trigger);
		if (holder?.url !== url) return false;
		holders.set(trigger, { ...holder, isLeaving: true });
		return true;
	},

	/** Ends what `release` began, unless the trigger was published again in the meantime. */
	forget(trigger: string): void {
		if (holders.get(trigger)?.isLeaving) holders.delete(trigger);
	},

	testListener: (trigger: string): TestListener | undefined => testListeners.get(trigger),

	startTest(trigger: string, listener: TestListener): void {
		testListeners.set(trigger, listener);
	},

	/** Ends this test, and not one that began since. */
	endTest(trigger: string, listener: TestListener): void {
		if (testListeners.get(trigger) === listener) testListeners.delete(trigger);
	},

	/** The URLs of tests that get copies of what a holder receives. */
	copiesFor(trigger: string): string[] {
		const holder = holders.get(trigger);
		if (holder === undefined) return [];
		return [...testListeners.values()]
			.filter(
				({ account, forwardTo }) => isSame(account, holder.account) && forwardTo === undefined,
			)
			.map(({ url }) => url);
	},
};
