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

/** One part of that memory. */
export interface Part {
	/** It cannot be dropped yet. */
	readonly isBusy?: boolean;
}

export class PerTrigger<Kept extends Part> {
	readonly #parts = new Map<string, { part: Kept; lastUsed: number }>();
	readonly #make: () => Kept;
	#sweptAt = 0;

	constructor(make: () => Kept) {
		this.#make = make;
	}

	of(context: Context): Kept {
		const now = Date.now();
		const trigger = triggerKey(context);
		const { part } = this.#parts.get(trigger) ?? { part: this.#make() };
		this.#parts.set(trigger, { part, lastUsed: now });
		if (now - this.#sweptAt > sweepEveryMs) this.#sweep(now);
		return part;
	}

	/** Drops the part of a trigger that has ended, unless it is busy. */
	drop(trigger: string): void {
		if (this.#parts.get(trigger)?.part.isBusy !== true) this.#parts.delete(trigger);
	}

	#sweep(now: number): void {
		this.#sweptAt = now;
		for (const [trigger, { lastUsed }] of this.#parts)
			if (now - lastUsed > droppedAfterMs) this.drop(trigger);
	}
}
