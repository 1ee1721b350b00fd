/** What this process keeps in memory for each trigger node, and when it is dropped. */
import type {
	IExecuteFunctions,
	IHookFunctions,
	ITriggerFunctions,
	IWebhookFunctions,
} from 'n8n-workflow';

type Context = IExecuteFunctions | IHookFunctions | ITriggerFunctions | IWebhookFunctions;

/** Identifies a trigger node: by its id, which stays when it is renamed. */
export function triggerKey(context: Context): string {
	return JSON.stringify([context.getWorkflow().id, context.getNode().id]);
}

/**
 * n8n tells only its main process when a trigger ends. So each process drops what was not used for this long, which is
 * longer than the service sends an event again; the record in n8n's database knows longer.
 */
const droppedAfterMs = 15 * 60_000;

const sweepEveryMs = 60_000;

/** One part of that memory, for each trigger that uses it. */
export class PerTrigger<Part extends object> {
	readonly #parts = new Map<string, { part: Part; lastUsed: number }>();
	readonly #make: () => Part;
	readonly #isBusy: (part: Part) => boolean;
	#sweptAt = 0;

	/** @param isBusy whether the part cannot be dropped yet */
	constructor(make: () => Part, isBusy: (part: Part) => boolean = () => false) {
		this.#make = make;
		this.#isBusy = isBusy;
	}

	of(context: Context): Part {
		const now = Date.now();
		const trigger = triggerKey(context);
		const { part } = this.#parts.get(trigger) ?? { part: this.#make() };
		this.#parts.set(trigger, { part, lastUsed: now });
		if (now - this.#sweptAt > sweepEveryMs) this.#sweep(now);
		return part;
	}

	/** For a trigger that has ended. */
	drop(trigger: string): void {
		const kept = this.#parts.get(trigger);
		if (kept !== undefined && !this.#isBusy(kept.part)) this.#parts.delete(trigger);
	}

	#sweep(now: number): void {
		this.#sweptAt = now;
		for (const [trigger, { lastUsed }] of this.#parts)
			if (now - lastUsed > droppedAfterMs) this.drop(trigger);
	}
}
