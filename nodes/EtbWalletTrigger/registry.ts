import { createHash } from 'node:crypto';
import type { IHookFunctions, IWebhookFunctions } from 'n8n-workflow';
import type { Account } from '../shared/account';

/**
 * What this process knows of the one webhook URL that each account has. The service cannot be asked for it
 * (service document §4), and n8n tells a node nothing about other workflows.
 */

/** The published workflow that receives an account's events. */
export interface Holder {
	/** Which trigger node of which workflow it is. */
	trigger: string;
	workflowName: string;
	url: string;
}

/** A trigger in the editor that listens for a test event. */
export interface TestListener {
	account: string;
	url: string;
	/** Whether the service sends to it. Otherwise the holder hands it copies. */
	registered: boolean;
	/** Where each delivery has to go as well, because the holder does not get it. */
	forwardTo?: string;
}

const holders = new Map<string, Holder>();
const testListeners = new Map<string, TestListener>();

/** Identifies an account without keeping its API key. */
export function accountKey({ url, apiKey }: Account): string {
	return createHash('sha256')
		.update(JSON.stringify([url.href, apiKey]))
		.digest('base64');
}

/** Identifies a trigger node. */
export function triggerKey(context: IHookFunctions | IWebhookFunctions): string {
	return JSON.stringify([context.getWorkflow().id, context.getNode().id]);
}

export const registry = {
	holderOf: (account: string): Holder | undefined => holders.get(account),

	/** Makes a trigger the holder and returns what undoes that. */
	hold(account: string, holder: Holder): () => void {
		const previous = holders.get(account);
		holders.set(account, holder);
		return () => {
			if (previous === undefined) holders.delete(account);
			else holders.set(account, previous);
		};
	},

	/** @returns whether the trigger was a holder until now */
	release(trigger: string): boolean {
		const held = [...holders].filter(([, holder]) => holder.trigger === trigger);
		for (const [account] of held) holders.delete(account);
		return held.length > 0;
	},

	testListener: (trigger: string): TestListener | undefined => testListeners.get(trigger),

	startTest(trigger: string, listener: TestListener): void {
		testListeners.set(trigger, listener);
	},

	endTest(trigger: string): void {
		testListeners.delete(trigger);
	},

	/** The URLs of tests that get copies of what a holder receives. */
	copiesFor(trigger: string): string[] {
		const accounts = [...holders]
			.filter(([, holder]) => holder.trigger === trigger)
			.map(([account]) => account);
		return [...testListeners.values()]
			.filter(({ account, forwardTo }) => accounts.includes(account) && forwardTo === undefined)
			.map(({ url }) => url);
	},
};
