/** The one hand on an account's URL at the service: one call at a time, until the service has what it should have. */
import type { Holder, Knowledge, TestListener } from './holders';
import { concluded, isConfirmed, nothingKnown, refused, setting, wantedUrl } from './holders';

/**
 * Sets the URL at the service (service document §4 endpoint 4), with retries until `signal` says that another URL is wanted.
 * @returns why it could not be set; it may have been all the same
 */
export type SetUrl = (url: string, signal: AbortSignal) => Promise<Error | undefined>;

/** The service does not have the URL that it should have, and nobody tries any more. */
export interface NotSet {
	url: string;
	reason: Error;
}

/**
 * The service can be told a URL, and not be asked for it. Who changes what is known waits for `settle`, which
 * makes one call after the other for as long as something else is wanted than what was last confirmed.
 */
export class AccountUrl {
	#known = nothingKnown;
	#setUrl: SetUrl = () => Promise.resolve(undefined);
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
	 * Resolves when the service has the URL that it should have, or with why not.
	 * @param setUrl with the credential of whoever asks last, which is the most likely to be right
	 */
	async settle(setUrl: SetUrl): Promise<NotSet | undefined> {
		this.#setUrl = setUrl;
		if (!this.#isWorking) {
			this.#isWorking = true;
			this.#work = this.#settle();
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

	async #settle(): Promise<NotSet | undefined> {
		let notSet: NotSet | undefined;
		for (;;) {
			const url = wantedUrl(this.#known);
			if (url === undefined || isConfirmed(this.#known) || notSet !== undefined) break;
			const reason = await this.#set(url);
			if (reason === undefined) {
				this.#known = { ...this.#known, confirmed: url };
				continue;
			}
			const { known, dropped } = refused(this.#known, url);
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
