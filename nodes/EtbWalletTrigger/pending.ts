/** Registrations that failed while n8n starts. n8n would never try them again, so this process does. */
import type { IHookFunctions } from 'n8n-workflow';
import { invalidValueError } from '../shared/service/failure';
import { property } from '../shared/unknown';
import { kept, logTaken, Pauses, tellPerson } from './background';
import { triggerKey } from './perTrigger';

/** By trigger. */
const pending = new Map<string, Pending>();

/**
 * Registers a trigger, unless by then it is not wanted any more.
 * @returns whether the service has its URL; if not, that is tried again
 */
type Register = (context: IHookFunctions, isWanted: () => boolean) => Promise<boolean>;

class Pending {
	/** At which the trigger is to listen. */
	readonly url: string;
	readonly #context: IHookFunctions;
	readonly #register: Register;
	readonly #pauses = new Pauses();
	#reason?: Error;
	/** The reason that stands under Executions. */
	#told?: string;

	constructor(context: IHookFunctions, url: string, register: Register) {
		this.#context = context;
		this.url = url;
		this.#register = register;
	}

	failed(error: unknown): void {
		const context = this.#context;
		const reason = invalidValueError(context.getNode(), error);
		context.logger.error(
			`The webhook URL of the workflow "${context.getWorkflow().name}" could not be set: ${reason.message}`,
		);
		this.#reason = reason;
		this.retryLater();
	}

	/** Tells a person, and begins the pause before the next try, if n8n keeps the trigger in this process. */
	retryLater(): void {
		const trigger = kept.get(triggerKey(this.#context));
		if (trigger === undefined || this.#reason === undefined) return;
		const { message } = this.#reason;
		const remedy: unknown = property(this.#reason, 'description');
		// An error of n8n itself says only what went wrong, mostly with the credential.
		const whatToDo = typeof remedy === 'string' ? remedy : 'Check the credential of the trigger.';
		if (this.#told !== message) tellPerson(trigger, `${message}. ${whatToDo}`);
		this.#told = message;
		this.#pauses.begin(() => void this.#retry());
	}

	async #retry(): Promise<void> {
		const key = triggerKey(this.#context);
		const isWanted = (): boolean => pending.get(key) === this && kept.has(key);
		if (!isWanted()) return;
		try {
			const isSet = await this.#register(this.#context, isWanted);
			const trigger = kept.get(key);
			if (!isWanted() || trigger === undefined) return;
			pending.delete(key);
			if (isSet) logTaken(trigger);
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

/** n8n keeps the trigger in this process now, which can be before its registration failed, or after that. */
export const retryLater = (trigger: string): void => pending.get(trigger)?.retryLater();

/** n8n ends the trigger: at this URL, or without one at any. */
export function endPending(trigger: string, url?: string): void {
	if (url === undefined || pending.get(trigger)?.url === url) pending.delete(trigger);
}
