/** Registrations that failed while n8n starts. n8n would never try them again, so this process does. */
import type { IHookFunctions } from 'n8n-workflow';
import { loadAccount } from '../shared/account';
import { invalidValueError } from '../shared/service/failure';
import { accountKeys } from './accountUrl';
import { kept, logTaken, Pauses, tellPerson } from './background';
import { triggerKey } from './perTrigger';

/** By trigger. */
const pending = new Map<string, Pending>();

/** `notSet`: the service does not have the URL, which is tried again. `tooEarly`: the account may not be free yet. */
export type Registered = 'set' | 'notSet' | 'tooEarly';

/** Registers a trigger, unless by then it is not wanted any more. */
type Register = (context: IHookFunctions, isWanted: () => boolean) => Promise<Registered>;

class Pending {
	readonly context: IHookFunctions;
	/** At which the trigger is to listen. */
	readonly url: string;
	readonly #register: Register;
	readonly #pauses = new Pauses();
	#reason?: Error;
	/** The reasons that stand under Executions. */
	readonly #told = new Set<string>();

	constructor(context: IHookFunctions, url: string, register: Register) {
		this.context = context;
		this.url = url;
		this.#register = register;
	}

	failed(error: unknown): void {
		const context = this.context;
		const reason = invalidValueError(context.getNode(), error);
		context.logger.error(
			`The webhook URL of the workflow "${context.getWorkflow().name}" could not be set: ${reason.message}`,
		);
		this.#reason = reason;
		this.retryLater();
	}

	/** Tells a person, and begins the pause before the next try, if n8n keeps the trigger in this process. */
	retryLater(): void {
		const trigger = kept.get(triggerKey(this.context));
		if (trigger === undefined || this.#reason === undefined) return;
		const { message } = this.#reason;
		if (!this.#told.has(message)) tellPerson(trigger, this.#reason);
		this.#told.add(message);
		this.#pauses.begin(() => void this.retry());
	}

	async retry(): Promise<void> {
		const key = triggerKey(this.context);
		const isWanted = (): boolean => pending.get(key) === this && kept.has(key);
		if (!isWanted()) return;
		try {
			const registered = await this.#register(this.context, isWanted);
			const trigger = kept.get(key);
			if (!isWanted() || trigger === undefined) return;
			if (registered === 'tooEarly') {
				this.#pauses.shorten();
				this.retryLater();
				return;
			}
			pending.delete(key);
			if (registered === 'set') logTaken(trigger);
		} catch (error) {
			if (isWanted()) this.failed(error);
		}
	}
}

/** Tries a registration again, as long as n8n keeps the trigger in this process. @param url at which it is to listen */
export function registerLater(
	context: IHookFunctions,
	url: string,
	error: unknown,
	register: Register,
): void {
	const made = new Pending(context, url, register);
	pending.set(triggerKey(context), made);
	made.failed(error);
}

/** Tries again now what waits for the account of this trigger. */
export async function retryNow(context: IHookFunctions): Promise<void> {
	if (pending.size === 0) return;
	const keys = await keysOf(context);
	const retryIfShared = async (each: Pending): Promise<void> => {
		const own = await keysOf(each.context);
		if (own.some((key) => keys.includes(key))) await each.retry();
	};
	await Promise.all([...pending.values()].map(retryIfShared));
}

/** Of its account; none if its credential cannot be used. */
async function keysOf(context: IHookFunctions): Promise<string[]> {
	try {
		return accountKeys(await loadAccount(context));
	} catch {
		return [];
	}
}

/** n8n keeps the trigger in this process now, which can be before its registration failed, or after that. */
export const retryLater = (trigger: string): void => pending.get(trigger)?.retryLater();

/** n8n ends the trigger: at this URL, or without one at any. */
export function endPending(trigger: string, url?: string): void {
	if (url === undefined || pending.get(trigger)?.url === url) pending.delete(trigger);
}
