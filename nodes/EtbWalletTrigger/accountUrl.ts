/** Sets an account's URL at the service: one call at a time, until the service has the URL that it should have. */
import { createHash } from 'node:crypto';
import type { IHookFunctions, ITriggerFunctions, ITriggerResponse } from 'n8n-workflow';
import { loadAccount, type Account } from '../shared/account';
import { after } from '../shared/elapsed';
import { operationError } from '../shared/n8n';
import { saveFailedExecution } from '../shared/n8nTrigger';
import { callService } from '../shared/service/call';
import { failureError } from '../shared/service/failure';
import { asError } from '../shared/unknown';
import type { Knowledge, Listener } from './knowledge';
import {
	callsEnded,
	closeHolder,
	hasTrigger,
	isConfirmed,
	isInUse,
	isUsing,
	nothingKnown,
	testOf,
	urlAccepted,
	urlRefused,
	urlSent,
	wantedUrl,
} from './knowledge';
import { triggerKey } from './perTrigger';

/** n8n gives up on a publication after 84 s; without `Retry-After`, two calls with all their retries take less. */
const timeoutMs = 8_000;

/** The pause before the first retry in the background. Each later one is twice as long, up to the longest. */
const firstPauseMs = 30_000;
const longestPauseMs = 10 * 60_000;

/** A trigger that was published or tested, and the account of its credential. */
interface Asker {
	context: IHookFunctions;
	account: Account;
}

/** Sets the URL (service document §4 endpoint 4), with retries until `signal` is aborted. @returns the error, if any */
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
		// The service could carry out a call that was cut off after the next one.
		{ timeoutMs, stop: signal, finishes: true },
	);
	return result.ok ? undefined : failureError(context.getNode(), result.failure);
}

/** The service did not take the URL that it should have. */
interface NotSet {
	url: string;
	reason: Error;
	/** The service has this URL for certain, from before. */
	hasIt: boolean;
}

/** Logs it, where the editor does not show an error. */
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
	/** Why the trigger is not published or tested at this URL, if the service refused it. */
	whyDropped: (place: Place) => Error | undefined;
}

type Place = Pick<Listener, 'trigger' | 'url'>;

/**
 * The URL of one account. It can be set at the service, and not read. A hook of n8n changes what is known, and waits for
 * `reconcile`, which makes one call after the other until the service has confirmed the URL that is wanted. If it does
 * not, it is tried again in the background, for a published trigger that n8n keeps in this process.
 */
export class AccountUrl {
	/** By what the account is recognised: see `accountKeys`. */
	keys: readonly string[] = [];
	#known = nothingKnown;
	/** By trigger. Calls use the credential of the last one, which is the most likely to be right. */
	readonly #askers = new Map<string, Asker>();
	#work?: Promise<Reconciled>;
	#isWorking = false;
	#call?: { url: string; retries: AbortController };
	#notSet?: NotSet;
	#pauseMs = firstPauseMs;
	#pause?: AbortController;
	/** The trigger under whose executions a person was told, since the service last took a URL. */
	#told?: string;

	get known(): Knowledge {
		return this.#known;
	}

	set known(known: Knowledge) {
		this.#known = known;
		const call = this.#call;
		// The answer of the call still counts. Retries for a URL that is not wanted any more would only take time.
		if (call !== undefined && wantedUrl(known) !== call.url) call.retries.abort();
	}

	/** Reads the credentials of the askers anew: an API key may have been replaced. */
	async refresh(): Promise<void> {
		await Promise.all(
			[...this.#askers.values()].map(async (asker) => {
				try {
					asker.account = await loadAccount(asker.context);
				} catch {
					// A credential that was deleted or damaged since is used as it was.
				}
			}),
		);
		if (this.#askers.size > 0)
			this.keys = [...this.#askers.values()].flatMap(({ account }) => accountKeys(account));
	}

	/** Resolves when the service has the URL that it should have, or with why not. All that wait get the same result. */
	async reconcile(asker?: Asker): Promise<Reconciled> {
		if (asker === undefined) await this.refresh();
		else this.#hear(asker);
		return await this.#joinWork();
	}

	async #joinWork(): Promise<Reconciled> {
		if (this.#work === undefined || !this.#isWorking) {
			this.#isWorking = true;
			this.#work = this.#makeCalls();
		}
		return await this.#work;
	}

	#hear(asker: Asker): void {
		const trigger = triggerKey(asker.context);
		this.#askers.delete(trigger);
		this.#askers.set(trigger, asker);
	}

	async #makeCalls(): Promise<Reconciled> {
		const reasons: Array<Place & { reason: Error }> = [];
		let notSet: NotSet | undefined;
		for (;;) {
			const url = wantedUrl(this.#known);
			const asker = [...this.#askers.values()].at(-1);
			if (url === undefined || isConfirmed(this.#known)) break;
			if (notSet !== undefined || asker === undefined) break;
			const reason = await this.#set(url, asker);
			if (reason === undefined) {
				this.#known = urlAccepted(this.#known, url);
				this.#told = undefined;
				continue;
			}
			const { known, dropped } = urlRefused(this.#known, url);
			this.#known = known;
			if (dropped !== undefined) reasons.push({ ...dropped, reason });
			else if (wantedUrl(known) === url) notSet = { url, reason, hasIt: known.confirmed === url };
		}
		this.#known = callsEnded(this.#known);
		this.#isWorking = false;
		// An asker holds the API key: none is kept for longer than needed.
		for (const trigger of this.#askers.keys())
			if (!isUsing(this.#known, trigger)) this.#askers.delete(trigger);
		this.#notSet = notSet;
		this.retryLater();
		// The same trigger may have begun again after that, and listen now.
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
		this.#known = urlSent(this.#known, url);
		try {
			return await setUrl(asker, url, retries.signal);
		} catch (error) {
			return asError(error);
		} finally {
			this.#call = undefined;
		}
	}

	/** Begins the pause before the next retry in the background, if one is needed. */
	retryLater(): void {
		this.#pause?.abort();
		if (isConfirmed(this.#known)) this.#pauseMs = firstPauseMs;
		const trigger = this.#triggerToRetry();
		if (trigger === undefined || this.#isWorking) return;
		this.#tellPerson(trigger);
		this.#pause = new AbortController();
		after(this.#pauseMs, () => void this.#retry(), this.#pause.signal);
		this.#pauseMs = Math.min(2 * this.#pauseMs, longestPauseMs);
	}

	/** n8n shows a workflow as published although the service did not take its URL. So one error stands under Executions. */
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

	/** Undefined when no retry is needed, or another process makes it. */
	#triggerToRetry(): ITriggerFunctions | undefined {
		const { holder } = this.#known;
		return holder && !isConfirmed(this.#known) ? kept.get(holder.trigger) : undefined;
	}

	async #retry(): Promise<void> {
		await this.refresh();
		// It may have been unpublished while credentials were read, because another process leads.
		const trigger = this.#triggerToRetry();
		if (trigger === undefined) return;
		const { notSet } = await this.#joinWork();
		const workflow = trigger.getWorkflow().name;
		if (notSet !== undefined) logNotSet(trigger, notSet);
		else trigger.logger.info(`The partner service has taken the webhook URL of "${workflow}"`);
	}
}

/** The published triggers that n8n keeps in the memory of this process, the one that publishes. */
const kept = new Map<string, ITriggerFunctions>();

/** n8n begins to keep a published trigger. It calls `closeFunction` when it is unpublished, or another process leads. */
export function keep(context: ITriggerFunctions): ITriggerResponse {
	const trigger = triggerKey(context);
	kept.set(trigger, context);
	for (const accountUrl of accountUrls)
		if (accountUrl.known.holder?.trigger === trigger) accountUrl.retryLater();
	return {
		closeFunction: async () => {
			if (kept.get(trigger) !== context) return await Promise.resolve();
			kept.delete(trigger);
			for (const accountUrl of accountUrls)
				accountUrl.known = closeHolder(accountUrl.known, trigger);
		},
	};
}

/**
 * By what an account is recognised, without showing the API key. Two are the same if they share a key: a credential stays
 * the same account when a person replaces its API key.
 */
function accountKeys({ url, apiKey, credentialsDecrypted: { id } }: Account): string[] {
	const keyHash = createHash('sha256').update(apiKey).digest('base64');
	return [`${url.href} key ${keyHash}`, ...(id === '' ? [] : [`${url.href} credential ${id}`])];
}

/** One for each account. A process sees a handful, and keeps no secret of an account that is not in use. */
const accountUrls = new Set<AccountUrl>();

export async function accountUrlOf(account: Account): Promise<AccountUrl> {
	await Promise.all([...accountUrls].map(async (accountUrl) => await accountUrl.refresh()));
	const keys = accountKeys(account);
	const found = [...accountUrls].filter((accountUrl) =>
		accountUrl.keys.some((key) => keys.includes(key)),
	);
	// More than one, if a person later gave a second credential the API key of the first.
	const accountUrl =
		found.find(({ known }) => known.holder !== undefined) ??
		found.find(({ known }) => isInUse(known)) ??
		found[0] ??
		new AccountUrl();
	accountUrl.keys = [...(isInUse(accountUrl.known) ? accountUrl.keys : []), ...keys];
	accountUrls.add(accountUrl);
	return accountUrl;
}

/** Those for which a trigger is published or tested at this URL: more than one if its credential was changed. */
export const accountUrlsUsedBy = (trigger: string, url: string): AccountUrl[] =>
	[...accountUrls].filter(({ known }) => hasTrigger(known, trigger, url));

/** Whether a trigger is published or tested, for whatever account. */
export const isTriggerUsed = (trigger: string): boolean =>
	[...accountUrls].some(({ known }) => isUsing(known, trigger));

/** What is known of the account for which a trigger is published. */
export const knownOfPublished = (trigger: string): Knowledge | undefined =>
	[...accountUrls].find(({ known }) => known.holder?.trigger === trigger)?.known;

/** What is known of the account for which a trigger is tested. It can be another one: tests use what is not published yet. */
export function knownOfTested(trigger: string): Knowledge | undefined {
	const found = [...accountUrls].filter(({ known }) => testOf(known, trigger) !== undefined);
	return (found.find(({ known }) => testOf(known, trigger)?.isEnding === false) ?? found[0])?.known;
}
