/** The one hand on an account's URL at the service: one call at a time, until the service has what it should have. */
import type { IHookFunctions } from 'n8n-workflow';
import type { Account } from '../shared/account';
import { callService } from '../shared/service/call';
import { failureError } from '../shared/service/failure';
import type { Holder, Knowledge, TestListener } from './holders';
import { concluded, isConfirmed, nothingKnown, rejected, setting, wantedUrl } from './holders';

/** n8n gives up on a publication after 84 s; without `Retry-After`, two calls with all their retries take less. */
const timeoutMs = 8_000;

/**
 * Sets the URL at the service (service document §4 endpoint 4), with retries until `signal` says that another URL is wanted.
 * @returns why it could not be set; it may have been all the same
 */
async function setUrl(
	context: IHookFunctions,
	account: Account,
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

/** The service does not have the URL that it should have, and nobody tries any more. */
export interface NotSet {
	url: string;
	reason: Error;
}

/** For what nobody would see in the editor. */
export function logNotSet(context: IHookFunctions, { url, reason }: NotSet): void {
	context.logger.error('The webhook URL could not be set again at the partner service', {
		workflow: context.getWorkflow().name,
		url,
		reason: reason.message,
	});
}

/**
 * The service can be told a URL, and not be asked for it. A process that changes what is known waits for `reconcile`,
 * which makes one call after the other for as long as something else is wanted than what was last confirmed.
 */
export class AccountUrl {
	#known = nothingKnown;
	#setUrl: (url: string, signal: AbortSignal) => Promise<Error | undefined> = () =>
		Promise.resolve(undefined);
	#work: Promise<NotSet | undefined> = Promise.resolve(undefined);
	#isWorking = false;
	#call?: { url: string; retries: AbortController };
	readonly #dropped = new Map<string, Error>();

	get known(): Knowledge {
		return this.#known;
	}

	set known(known: Knowledge) {
		this.#known = known;
		const call = this.#call;
		// An answer still counts, but to try again for what nobody wants any more would only hold up the rest.
		if (call !== undefined && wantedUrl(known) !== call.url) call.retries.abort();
	}

	/**
	 * Resolves when the service has the URL that it should have, or with why not. The credential is that of the trigger
	 * that asks last, which is the most likely to be right.
	 */
	async reconcile(context: IHookFunctions, account: Account): Promise<NotSet | undefined> {
		this.#setUrl = async (url, signal) => await setUrl(context, account, url, signal);
		if (!this.#isWorking) {
			this.#isWorking = true;
			this.#work = this.#reconcile();
		}
		return await this.#work;
	}

	/** Why a trigger was dropped, told once. */
	whyDropped({ trigger, url }: Pick<Holder | TestListener, 'trigger' | 'url'>): Error | undefined {
		const key = JSON.stringify([trigger, url]);
		const reason = this.#dropped.get(key);
		this.#dropped.delete(key);
		return reason;
	}

	async #reconcile(): Promise<NotSet | undefined> {
		let notSet: NotSet | undefined;
		for (;;) {
			const url = wantedUrl(this.#known);
			if (url === undefined || isConfirmed(this.#known) || notSet !== undefined) break;
			const reason = await this.#set(url);
			if (reason === undefined) {
				this.#known = { ...this.#known, confirmed: url };
				continue;
			}
			const { known, dropped } = rejected(this.#known, url);
			this.#known = known;
			if (dropped !== undefined)
				this.#dropped.set(JSON.stringify([dropped.trigger, dropped.url]), reason);
			else if (wantedUrl(known) === url) notSet = { url, reason };
		}
		this.#known = concluded(this.#known);
		this.#isWorking = false;
		return notSet;
	}

	async #set(url: string): Promise<Error | undefined> {
		const retries = new AbortController();
		this.#call = { url, retries };
		this.#known = setting(this.#known, url);
		try {
			return await this.#setUrl(url, retries.signal);
		} catch (error) {
			return error instanceof Error ? error : new Error(String(error));
		} finally {
			this.#call = undefined;
		}
	}
}
