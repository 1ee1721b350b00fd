// Time of a model world: events in order, each followed by all that the code does before it waits again.

/** The process in whose code an event runs. It may be dead or stand still when the event is due. */
export interface Owner {
	/** Takes the event: runs it, keeps it for later, or drops it. */
	receive(event: OwnedEvent): void;
}

export interface OwnedEvent {
	/** Timers follow the monotonic clock of their owner; all else comes from outside. */
	kind: 'timer' | 'arrival';
	run(): void;
}

interface Entry {
	at: number;
	run(): void;
}

/** Virtual time in ms. Only timers are virtual: promises run as they do in Node. */
export class Timeline {
	now = 0;
	/** Whether code of an owner has run since promises last went on. */
	private hasRun = true;
	/** The timers, with the one that is due last in front. */
	private readonly due: Entry[] = [];

	after(ms: number, run: () => void): void {
		const at = this.now + Math.max(0, ms);
		this.due.splice(this.due.findLastIndex((entry) => entry.at > at) + 1, 0, { at, run });
	}

	/** Runs in the code of `owner`, if that still goes on then. */
	afterIn(owner: Owner, ms: number, event: OwnedEvent): void {
		this.after(ms, () => {
			this.hasRun = true;
			owner.receive(event);
		});
	}

	/**
	 * Lets time pass until nothing is due any more.
	 * @param most events; a world with more does not end
	 * @returns whether it came to rest
	 */
	async rest(most: number): Promise<boolean> {
		for (let count = 0; count < most; count++) {
			if (this.hasRun) await new Promise(setImmediate);
			this.hasRun = false;
			const next = this.due.pop();
			if (next === undefined) return true;
			this.now = Math.max(this.now, next.at);
			next.run();
		}
		return false;
	}
}

/** Random numbers from 0 to 1 that are the same for the same seed. */
export function randomFrom(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}
