/** The sandbox's clock: retries and timestamps are measured with it. */
export interface Clock {
	/** Milliseconds since the Unix epoch. */
	now(): number;
	/** Calls back once after `delayMs` ms. The returned function cancels the timer. */
	setTimer(callback: () => void, delayMs: number): () => void;
}

// A longer delay would overflow Node's timers, which would then fire at once.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The machine's own clock. Its timers do not keep a process alive. */
export const systemClock: Clock = {
	now: () => Date.now(),
	setTimer(callback, delayMs) {
		const timer = setTimeout(callback, Math.min(Math.max(delayMs, 0), LONGEST_TIMER_MS));
		timer.unref();
		return () => clearTimeout(timer);
	},
};

interface ManualTimer {
	at: number;
	callback: () => void;
}

/** A clock that moves only when told to, for tests of schedules. */
export class ManualClock implements Clock {
	private time: number;
	private readonly timers = new Set<ManualTimer>();

	/** @param startMs milliseconds since the Unix epoch */
	constructor(startMs: number = Date.UTC(2025, 0, 1)) {
		this.time = startMs;
	}

	now(): number {
		return this.time;
	}

	setTimer(callback: () => void, delayMs: number): () => void {
		const timer = { at: this.time + Math.max(delayMs, 0), callback };
		this.timers.add(timer);
		return () => void this.timers.delete(timer);
	}

	/** The number of timers that wait. */
	get pending(): number {
		return this.timers.size;
	}

	/**
	 * Moves time forward by `ms`. Each timer that falls due runs at its own time, in order, also a timer that
	 * is set meanwhile. After each timer the event loop turns, so that promises that it settled go on.
	 */
	async advance(ms: number): Promise<void> {
		const end = this.time + ms;
		for (let next = this.earliest(end); next; next = this.earliest(end)) {
			this.timers.delete(next);
			this.time = Math.max(this.time, next.at);
			next.callback();
			await new Promise((resolve) => setImmediate(resolve));
		}
		this.time = end;
	}

	private earliest(end: number): ManualTimer | undefined {
		let earliest: ManualTimer | undefined;
		for (const timer of this.timers) {
			if (timer.at <= end && (!earliest || timer.at < earliest.at)) earliest = timer;
		}
		return earliest;
	}
}
