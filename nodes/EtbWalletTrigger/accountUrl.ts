/** The one hand on an account's URL at the service: one call at a time, until the service has what it should have. */
import type { IHookFunctions, ITriggerFunctions, ITriggerResponse } from 'n8n-workflow';
import type { Account } from '../shared/account';
import { accountKeys, loadAccount } from '../shared/account';
import { unlessStopped } from '../shared/elapsed';
import { operationError, saveFailedExecution } from '../shared/n8n';
import { callService } from '../shared/service/call';
import { failureError } from '../shared/service/failure';
import type { Knowledge, Listener } from './holders';
import {
	concluded,
	hasTrigger,
	isConfirmed,
	isInUse,
	isUsing,
	leave,
	nothingKnown,
	rejected,
	setting,
	taken,
	testOf,
	wantedUrl,
} from './holders';
import { triggerKey } from './perTrigger';

/** n8n gives up on a publication after 84 s; without `Retry-After`, two calls with all their retries take less. */
const timeoutMs = 8_000;

/** Before the first try in the background. Each later pause is twice as long, up to the longest. */
const firstPauseMs = 30_000;
const longestPauseMs = 10 * 60_000;

/** A trigger that wants the account's URL to be set. */
interface Asker {
	context: IHookFunctions;
	account: Account;
}

/**
 * Sets the URL at the service (service document §4 endpoint 4), with retries until `signal` says that another URL is wanted.
 * @returns why it could not be set; it may have been all the same
 */
async function setUrl(
	{ context, account }: Asker,
	url: string,
	signal: AbortSignal,
): Promise<Error | undefined> {
	const body = { webhookUrl: url };
	const result = await callService(
		context,
		account,
		{ method: 'PUT', path: '/webhook', mayRepeat: true, body, confirms: body },
		// A call that was cut off could still be carried out, after the next one.
		{ timeoutMs, stop: signal, finishes: true },
	);
	return result.ok ? undefined : failureError(context.getNode(), result.failure);
}

/** The service did not take the URL that it should have. */
interface NotSet {
	url: string;
	reason: Error;
	/** It has it for certain, from before. */
	hasIt: boolean;
}

/** For what nobody would see in the editor. */
export function logNotSet(
	context: IHookFunctions | ITriggerFunctions,
	{ url, reason, hasIt }: NotSet,
): void {
	const workflow = context.getWorkflow().name;
	if (hasIt) {
		context.logger.warn(
			`The partner service did not take the webhook URL of the workflow "${workflow}" again. It has it already, so the trigger listens. ${reason.message} (${url})`,
		);
	} else {
		context.logger.error(
			`The partner service did not take the webhook URL of the workflow "${workflow}": ${reason.message} (${url})`,
		);
	}
}

interface Reconciled {
	notSet?: NotSet;
	/** Why the trigger is not published or tested at this URL, if it was to be and its URL was rejected. */
	whyDropped: (place: Place) => Error | undefined;
}

type Place = Pick<Listener, 'trigger' | 'url'>;

/**
 * The service can be told a URL, and not be asked for it. A hook that changes what is known waits for `reconcile`, which
 * makes one call after the other for as long as something else is wanted than what was last confirmed. What is not
 * confirmed then is tried again in the background, for a published trigger that n8n keeps in this process.
 */
export class AccountUrl {
	/** The account, in a form that shows no API key. */
	keys: readonly string[] = [];
	#known = nothingKnown;
	/** Who is published or tested, by trigger. The last one's credential is the most likely to be right. */
	readonly #askers = new Map<string, Asker>();
	#work?: Promise<Reconciled>;
	#isWorking = false;
	#call?: { url: string; retries: AbortController };
	#notSet?: NotSet;
	#pauseMs = firstPauseMs;
	#pause?: AbortController;
	/** The trigger at which a person was told, since the service took a URL. */
	#told?: string;

	get known(): Knowledge {
		return this.#known;
	}

	set known(known: Knowledge) {
		this.#known = known;
		const call = this.#call;
		// An answer still counts, but to try again for what nobody wants any more would only hold up the rest.
		if (call !== undefined && wantedUrl(known) !== call.url) call.retries.abort();
	}

	/** Reads anew the credentials of those who use the account: an API key may have been replaced. */
	async refresh(): Promise<void> {
		await Promise.all(
			[...this.#askers.values()].map(async (asker) => {
				try {
					asker.account = await loadAccount(asker.context);
				} catch {
					// What was deleted or damaged since is used as it was.
				}
			}),
		);
		if (this.#askers.size > 0)
			this.keys = [...this.#askers.values()].flatMap(({ account }) => accountKeys(account));
	}

	/** Resolves when the service has the URL that it should have, or with why not; for all that wait, with the same. */
	async reconcile(asker?: Asker): Promise<Reconciled> {
		if (asker === undefined) await this.refresh();
		else this.#hear(asker);
		return await this.#reconciled();
	}

	async #reconciled(): Promise<Reconciled> {
		if (this.#work === undefined || !this.#isWorking) {
			this.#isWorking = true;
			this.#work = this.#reconcile();
		}
		return await this.#work;
	}

	#hear(asker: Asker): void {
		const trigger = triggerKey(asker.context);
		this.#askers.delete(trigger);
		this.#askers.set(trigger, asker);
	}

	async #reconcile(): Promise<Reconciled> {
		const reasons: Array<Place & { reason: Error }> = [];
		let notSet: NotSet | undefined;
		for (;;) {
			const url = wantedUrl(this.#known);
			const asker = [...this.#askers.values()].at(-1);
			if (url === undefined || isConfirmed(this.#known)) break;
			if (notSet !== undefined || asker === undefined) break;
			const reason = await this.#set(url, asker);
			if (reason === undefined) {
				this.#known = taken(this.#known, url);
				this.#told = undefined;
				continue;
			}
			const { known, dropped } = rejected(this.#known, url);
			this.#known = known;
			if (dropped !== undefined) reasons.push({ ...dropped, reason });
			else if (wantedUrl(known) === url) notSet = { url, reason, hasIt: known.confirmed === url };
		}
		this.#known = concluded(this.#known);
		this.#isWorking = false;
		// They hold the API key.
		for (const trigger of this.#askers.keys())
			if (!isUsing(this.#known, trigger)) this.#askers.delete(trigger);
		this.#notSet = notSet;
		this.retryLater();
		// Another attempt of the same trigger may have succeeded after that.
		const dropped = reasons.filter(({ trigger, url }) => !hasTrigger(this.#known, trigger, url));
		return {
			notSet,
			whyDropped: ({ trigger, url }) =>
				dropped.find((place) => place.trigger === trigger && place.url === url)?.reason,
		};
	}

	async #set(url: string, asker: Asker): Promise<Error | undefined> {
		const retries = new AbortController();
		this.#call = { url, retries };
		this.#known = setting(this.#known, url);
		try {
			return await setUrl(asker, url, retries.signal);
		} catch (error) {
			return error instanceof Error ? error : new Error(String(error));
		} finally {
			this.#call = undefined;
		}
	}

	/** Begins the pause before the next try, if there is to be one. */
	retryLater(): void {
		this.#pause?.abort();
		if (isConfirmed(this.#known)) this.#pauseMs = firstPauseMs;
		const trigger = this.#triggerToRetry();
		if (trigger === undefined || this.#isWorking) return;
		this.#tellPerson(trigger);
		this.#pause = new AbortController();
		unlessStopped(this.#pauseMs, this.#pause.signal, () => void this.#retry());
		this.#pauseMs = Math.min(2 * this.#pauseMs, longestPauseMs);
	}

	/** n8n shows a workflow as published whose URL the service did not take: this stands under Executions, once. */
	#tellPerson(context: ITriggerFunctions): void {
		const trigger = triggerKey(context);
		if (this.#notSet === undefined || this.#notSet.hasIt || this.#told === trigger) return;
		this.#told = trigger;
		const error = operationError(
			context.getNode(),
			'No events come: the partner service did not take the webhook URL of this workflow',
			`${this.#notSet.reason.message}. n8n goes on trying, at the latest every 10 minutes: nothing is to be done if this passes by itself. Events of the meantime are lost, unless the service sends them again.`,
		);
		saveFailedExecution(context, error);
	}

	/** Undefined when nothing is to be tried, or not by this process. */
	#triggerToRetry(): ITriggerFunctions | undefined {
		const { holder } = this.#known;
		return holder && !isConfirmed(this.#known) ? kept.get(holder.trigger) : undefined;
	}

	async #retry(): Promise<void> {
		await this.refresh();
		// It may have been unpublished while credentials were read, because another process leads.
		const trigger = this.#triggerToRetry();
		if (trigger === undefined) return;
		const { notSet } = await this.#reconciled();
		const workflow = trigger.getWorkflow().name;
		if (notSet !== undefined) logNotSet(trigger, notSet);
		else trigger.logger.info(`The partner service has taken the webhook URL of "${workflow}"`);
	}
}

/** Published triggers that n8n keeps in the memory of this process, which is the one that publishes. */
const kept = new Map<string, ITriggerFunctions>();

/** n8n begins to keep a published trigger, until it calls `closeFunction`: when it is unpublished, or another process leads. */
export function keep(context: ITriggerFunctions): ITriggerResponse {
	const trigger = triggerKey(context);
	kept.set(trigger, context);
	for (const accountUrl of accounts)
		if (accountUrl.known.holder?.trigger === trigger) accountUrl.retryLater();
	return {
		closeFunction: async () => {
			if (kept.get(trigger) !== context) return await Promise.resolve();
			kept.delete(trigger);
			for (const accountUrl of accounts) accountUrl.known = leave(accountUrl.known, trigger);
		},
	};
}

/** A process sees a handful, and keeps no secret of one that is not in use. */
const accounts = new Set<AccountUrl>();

/** Two are the same account if they share a key. */
export async function accountUrlOf(account: Account): Promise<AccountUrl> {
	await Promise.all([...accounts].map(async (accountUrl) => await accountUrl.refresh()));
	const keys = accountKeys(account);
	const found = [...accounts].filter((accountUrl) =>
		accountUrl.keys.some((key) => keys.includes(key)),
	);
	// More than one, if a second credential was given the key of the first later.
	const accountUrl =
		found.find(({ known }) => known.holder !== undefined) ??
		found.find(({ known }) => isInUse(known)) ??
		found[0] ??
		new AccountUrl();
	accountUrl.keys = [...(isInUse(accountUrl.known) ? accountUrl.keys : []), ...keys];
	accounts.add(accountUrl);
	return accountUrl;
}

/** The accounts for which a trigger is published or tested at this URL: more than one if its credential was changed. */
export const accountsOf = (trigger: string, url: string): AccountUrl[] =>
	[...accounts].filter(({ known }) => hasTrigger(known, trigger, url));

/** Whether a trigger is published or tested, for whatever account. */
export const isTriggerUsed = (trigger: string): boolean =>
	[...accounts].some(({ known }) => isUsing(known, trigger));

/** What is known of the account for which a trigger is published. */
export const knownOfPublished = (trigger: string): Knowledge | undefined =>
	[...accounts].find(({ known }) => known.holder?.trigger === trigger)?.known;

/** What is known of the account for which it is tested, which can be another one. */
export function knownOfTested(trigger: string): Knowledge | undefined {
	const found = [...accounts].filter(({ known }) => testOf(known, trigger) !== undefined);
	return (found.find(({ known }) => testOf(known, trigger)?.isEnding === false) ?? found[0])?.known;
}
