/** The one hand on an account's URL at the service: one call at a time, until the service has what it should have. */
import type { IHookFunctions } from 'n8n-workflow';
import type { Account } from '../shared/account';
import { operationError } from '../shared/n8n';
import { callService } from '../shared/service/call';
import { failureError } from '../shared/service/failure';
import type { Knowledge, Listener } from './holders';
import {
	concluded,
	hasTrigger,
	isConfirmed,
	isInUse,
	nothingKnown,
	rejected,
	setting,
	taken,
	wantedUrl,
} from './holders';

/** n8n gives up on a publication after 84 s; without `Retry-After`, two calls with all their retries take less. */
const timeoutMs = 8_000;

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
	if (!result.ok) return failureError(context.getNode(), result.failure);
	// The document does not show the answer (service document §4), and it may say no with a status that says yes.
	if (result.output.success !== false) return undefined;
	return operationError(
		context.getNode(),
		'The service answered that it did not set the webhook URL',
		'Ask the partner service why, then publish or test again.',
	);
}

/** The service did not take the URL that it should have, and nobody tries any more. */
interface NotSet {
	url: string;
	reason: Error;
	/** It has it for certain, from before. */
	hasIt: boolean;
}

/** For what nobody would see in the editor. */
export function logNotSet(context: IHookFunctions, { url, reason, hasIt }: NotSet): void {
	const details = { workflow: context.getWorkflow().name, url, reason: reason.message };
	if (hasIt) {
		context.logger.warn(
			'The partner service did not take the webhook URL again. It has it already, so the trigger listens',
			details,
		);
	} else {
		context.logger.error('The webhook URL could not be set again at the partner service', details);
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
 * makes one call after the other for as long as something else is wanted than what was last confirmed.
 */
export class AccountUrl {
	#known = nothingKnown;
	/** The last one: its credential is the most likely to be right. */
	#asker?: Asker;
	#work?: Promise<Reconciled>;
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

	/** Resolves when the service has the URL that it should have, or with why not; for all that wait, with the same. */
	async reconcile(asker = this.#asker): Promise<Reconciled> {
		this.#asker = asker;
		if (this.#work === undefined || !this.#isWorking) {
			this.#isWorking = true;
			this.#work = this.#reconcile();
		}
		return await this.#work;
	}

	async #reconcile(): Promise<Reconciled> {
		const reasons: Array<Place & { reason: Error }> = [];
		let notSet: NotSet | undefined;
		for (;;) {
			const url = wantedUrl(this.#known);
			const asker = this.#asker;
			if (url === undefined || isConfirmed(this.#known)) break;
			if (notSet !== undefined || asker === undefined) break;
			const reason = await this.#set(url, asker);
			if (reason === undefined) {
				this.#known = taken(this.#known, url);
				continue;
			}
			const { known, dropped } = rejected(this.#known, url);
			this.#known = known;
			if (dropped !== undefined) reasons.push({ ...dropped, reason });
			else if (wantedUrl(known) === url) notSet = { url, reason, hasIt: known.confirmed === url };
		}
		this.#known = concluded(this.#known);
		this.#isWorking = false;
		// It holds the API key.
		if (!isInUse(this.#known)) this.#asker = undefined;
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
}
