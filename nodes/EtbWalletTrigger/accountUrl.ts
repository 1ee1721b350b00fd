/** The one hand on an account's URL at the service: one call at a time, until the service has what it should have. */
import type { Holder, Knowledge, TestListener } from './holders';
import {
	concluded,
	hasTrigger,
	isConfirmed,
	isInUse,
	nothingKnown,
	refused,
	setting,
	taken,
	wantedUrl,
} from './holders';

/**
 * Sets the URL at the service (service document §4 endpoint 4), with retries until `signal` says that another URL is wanted.
 * @returns why it could not be set; it may have been all the same
 */
export type SetUrl = (url: string, signal: AbortSignal) => Promise<Error | undefined>;

/** The service did not take the URL that it should have, and nobody tries any more. */
export interface NotSet {
	url: string;
	reason: Error;
	/** It has it for certain, from before. */
	hasIt: boolean;
}

/** How it ended. */
export interface Settled {
	notSet?: NotSet;
	/** Why the trigger is not published or tested at this URL, if it was to be and its URL was refused. */
	whyDropped(entry: Place): Error | undefined;
}

type Place = Pick<Holder | TestListener, 'trigger' | 'url'>;

/**
 * The service can be told a URL, and not be asked for it. Who changes what is known waits for `settle`, which
 * makes one call after the other for as long as something else is wanted than what was last confirmed.
 */
export class AccountUrl {
	#known = nothingKnown;
	#setUrl?: SetUrl;
	#work?: Promise<Settled>;
	#isWorking = false;
	#call?: { url: string; retries: AbortController };

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
	 * Resolves when the service has the URL that it should have, or with why not; for all who wait, with the same.
	 * @param setUrl with the credential of whoever asks last, which is the most likely to be right. Without: of whoever
	 * asked before
	 */
	async settle(setUrl?: SetUrl): Promise<Settled> {
		this.#setUrl = setUrl ?? this.#setUrl;
		if (this.#work === undefined || !this.#isWorking) {
			this.#isWorking = true;
			this.#work = this.#settle();
		}
		return await this.#work;
	}

	async #settle(): Promise<Settled> {
		const reasons: Array<Place & { reason: Error }> = [];
		let notSet: NotSet | undefined;
		for (;;) {
			const url = wantedUrl(this.#known);
			const setUrl = this.#setUrl;
			if (url === undefined || isConfirmed(this.#known)) break;
			if (notSet !== undefined || setUrl === undefined) break;
			const reason = await this.#set(url, setUrl);
			if (reason === undefined) {
				this.#known = taken(this.#known, url);
				continue;
			}
			const { known, dropped } = refused(this.#known, url);
			this.#known = known;
			if (dropped !== undefined) reasons.push({ ...dropped, reason });
			else if (wantedUrl(known) === url) notSet = { url, reason, hasIt: known.confirmed === url };
		}
		this.#known = concluded(this.#known);
		this.#isWorking = false;
		// It holds the API key.
		if (!isInUse(this.#known)) this.#setUrl = undefined;
		// Another attempt of the same trigger may have succeeded after that.
		const dropped = reasons.filter(({ trigger, url }) => !hasTrigger(this.#known, trigger, url));
		return {
			notSet,
			whyDropped: ({ trigger, url }) =>
				dropped.find((place) => place.trigger === trigger && place.url === url)?.reason,
		};
	}

	async #set(url: string, setUrl: SetUrl): Promise<Error | undefined> {
		const retries = new AbortController();
		this.#call = { url, retries };
		this.#known = setting(this.#known, url);
		try {
			return await setUrl(url, retries.signal);
		} catch (error) {
			return error instanceof Error ? error : new Error(String(error));
		} finally {
			this.#call = undefined;
		}
	}
}
