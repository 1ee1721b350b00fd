/** Sets an account's URL at the service: one call at a time, until the service has the URL that it should have. */
import { createHash } from 'node:crypto';
import type { IHookFunctions, ITriggerFunctions } from 'n8n-workflow';
import { loadAccount, type Account } from '../shared/account';
import { after } from '../shared/elapsed';
import { callService } from '../shared/service/call';
import { failureError } from '../shared/service/failure';
import { asError } from '../shared/unknown';
import { alreadyHeld } from './alreadyHeld';
import { kept, logTaken, Pauses, tellPerson } from './background';
import type { Holder, Knowledge } from './knowledge';
import * as knowledge from './knowledge';
import { triggerKey } from './perTrigger';

/**
 * n8n gives up on a publication after 84 s. A URL that is refused and the one that is set in its place take less, with all
 * their retries, unless the service asks for longer pauses by `Retry-After`.
 */
const timeoutMs = 8_000;

/** In this time n8n publishes a changed trigger again, which it ended before, also if that fails at first. */
const comesBackWithinMs = 20_000;

/** A trigger that was published or tested, with the account of its credential and the URL at which it listens. */
interface Asker {
	context: IHookFunctions;
	account: Account;
	url: string;
}

/** The service did not take the URL that it should have. */
export interface NotSet {
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
			`The partner service did not take the webhook URL of the workflow "${workflow}" again. It took it before, so the trigger listens. ${reason.message} (${url})`,
		);
	} else {
		context.logger.error(
			`The partner service did not take the webhook URL of the workflow "${workflow}": ${reason.message} (${url})`,
		);
	}
}

interface Reconciled {
	notSet?: NotSet;
	/** The URLs at which a trigger was to listen and does not, because the service refused them. */
	refused: ReadonlyMap<string, Error>;
}

/**
 * By what an account is recognised, without showing the API key. Two are the same if they share a key: a credential stays
 * the same account when a person replaces its API key.
 */
export function accountKeys({ url, apiKey, credentialsDecrypted: { id } }: Account): string[] {
	const keyHash = createHash('sha256').update(apiKey).digest('base64');
	return [`${url.href} key ${keyHash}`, ...(id === '' ? [] : [`${url.href} credential ${id}`])];
}

/**
 * The URL of one account. It can be set at the service, and not read. A hook of n8n changes what is known, and waits for
 * `reconcile`, which makes one call after the other until the service has confirmed the URL that is wanted. If it does
 * not, it is tried again in the background, for a published trigger that n8n keeps in this process.
 */
export class AccountUrl {
	keys: readonly string[] = [];
	#known: Knowledge = { tests: [] };
	/** By URL, which is set with the credential of its own trigger: a person may have made another one that of another account. */
	readonly #askers = new Map<string, Asker>();
	/** By its key, the account at which a URL was set last. */
	#setAt?: string;
	#work?: Promise<Reconciled>;
	/** Ends the retries of the call that is under way, or of the last one. */
	#retries?: AbortController;
	#notSet?: NotSet;
	readonly #pauses = new Pauses();
	/** Which reasons for which triggers were put under Executions, since the service last took a URL. */
	readonly #told = new Set<string>();

	get known(): Knowledge {
		return this.#known;
	}

	set known(known: Knowledge) {
		// The answer of a call still counts. Retries for a URL that is not wanted any more would only take time.
		if (knowledge.wantedUrl(known) !== knowledge.wantedUrl(this.#known)) this.#retries?.abort();
		this.#keep(known);
	}

	#keep(known: Knowledge): void {
		const { left } = known;
		if (left !== undefined && left !== this.#known.left) {
			after(comesBackWithinMs, () => {
				if (this.#known.left === left) this.forget();
			});
		}
		this.#known = known;
	}

	/** Those of the published trigger's credential. */
	get holderKeys(): readonly string[] {
		const asker = this.#askers.get(this.#known.holder?.url ?? '');
		return asker === undefined ? [] : accountKeys(asker.account);
	}

	/** Who is published for this account, if a URL was set there last: a person may have replaced the credential since. */
	holderAt(account: Account): Holder | undefined {
		return this.#setAt === accountKeys(account)[0] ? this.#known.holder : undefined;
	}

	/** What the service confirmed counts no more: another program may have set another URL since. */
	forget(): void {
		this.#known = { ...this.#known, confirmed: undefined, left: undefined };
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
		else this.#askers.set(asker.url, asker);
		return await this.#joinWork();
	}

	async #joinWork(): Promise<Reconciled> {
		this.#work ??= this.#makeCalls();
		return await this.#work;
	}

	async #makeCalls(): Promise<Reconciled> {
		// Goes on in the next turn: by then the caller has put this promise into `#work`.
		await Promise.resolve();
		const refused = new Map<string, Error>();
		let notSet: NotSet | undefined;
		while (notSet === undefined && !knowledge.isConfirmed(this.#known)) {
			const url = knowledge.wantedUrl(this.#known);
			if (url === undefined) break;
			const asker = this.#askers.get(url) ?? [...this.#askers.values()].at(-1);
			if (asker === undefined) break;
			const reason = await this.#set(url, asker);
			if (reason === undefined) {
				this.#known = knowledge.urlAccepted(this.#known, url);
				this.#told.clear();
				continue;
			}
			const { known, dropped } = knowledge.urlRefused(this.#known, url);
			this.#keep(known);
			if (dropped !== undefined) refused.set(url, reason);
			else if (knowledge.wantedUrl(known) === url)
				notSet = { url, reason, hasIt: knowledge.hasForCertain(known, url) };
		}
		this.#known = knowledge.callsEnded(this.#known);
		this.#work = undefined;
		// An asker holds the API key: none is kept for longer than needed.
		const urls = new Set(knowledge.listeners(this.#known).map(({ url }) => url));
		for (const url of this.#askers.keys()) if (!urls.has(url)) this.#askers.delete(url);
		// The same trigger may have begun again after that, and listen now.
		for (const url of urls) refused.delete(url);
		this.#notSet = notSet;
		this.retryLater();
		return { notSet, refused };
	}

	/** Sets the URL (service document §4 endpoint 4), with retries until another one is wanted. @returns the error, if any */
	async #set(url: string, { context, account }: Asker): Promise<Error | undefined> {
		this.#retries = new AbortController();
		// A person may have entered the account of another published workflow into the credential.
		const others = [...accountUrls].filter((other) => other !== this);
		const holder = others.map((other) => other.holderAt(account)).find(Boolean);
		if (holder !== undefined) return alreadyHeld(context, holder);
		const [key] = accountKeys(account);
		// A person may have entered another account into the credential, of which nothing is certain.
		if (this.#setAt !== key) this.forget();
		this.#setAt = key;
		this.#known = knowledge.urlSent(this.#known, url);
		const body = { webhookUrl: url };
		try {
			const result = await callService(
				context,
				account,
				{ method: 'PUT', path: '/webhook', mayRepeat: true, body, confirms: body },
				// The service could carry out a call that was cut off after the next one.
				{ timeoutMs, stop: this.#retries.signal, finishes: true },
			);
			return result.ok ? undefined : failureError(context.getNode(), result.failure);
		} catch (error) {
			return asError(error);
		}
	}

	/** Begins the pause before the next retry in the background, if one is needed. */
	retryLater(): void {
		this.#pauses.end();
		if (knowledge.isConfirmed(this.#known)) this.#pauses.shorten();
		const trigger = this.#triggerToRetry();
		if (trigger === undefined || this.#work !== undefined) return;
		this.#tellPerson(trigger);
		this.#pauses.begin(() => void this.#retry());
	}

	#tellPerson(context: ITriggerFunctions): void {
		if (this.#notSet === undefined || this.#notSet.hasIt) return;
		const what = `${triggerKey(context)} ${this.#notSet.reason.message}`;
		if (this.#told.has(what)) return;
		this.#told.add(what);
		tellPerson(context, this.#notSet.reason);
	}

	/** Undefined when no retry is needed, or another process makes it. */
	#triggerToRetry(): ITriggerFunctions | undefined {
		const { holder } = this.#known;
		return holder && !knowledge.isConfirmed(this.#known) ? kept.get(holder.trigger) : undefined;
	}

	async #retry(): Promise<void> {
		await this.refresh();
		// It may have been unpublished while credentials were read, because another process leads.
		const trigger = this.#triggerToRetry();
		if (trigger === undefined) return;
		const { notSet } = await this.#joinWork();
		if (notSet !== undefined) logNotSet(trigger, notSet);
		else logTaken(trigger);
	}
}

/** One for each account. A process sees a handful, and keeps no secret of an account that is not in use. */
export const accountUrls = new Set<AccountUrl>();
