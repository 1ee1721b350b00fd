/** What this process keeps in memory for each trigger node, and for how long. */
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
 * n8n tells only its main process when a trigger ends, so each process drops what it has not used for so long. The service
 * sends an event again for a shorter time.
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

	/** Drops the part of a trigger that has ended, unless it is busy. */
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
