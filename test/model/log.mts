// The log of a world, for people: each event with its actor and time.
import type { Timeline } from './virtual-time.mts';

/** Adds an event. Its text is only made when somebody wants to read it. */
export type Log = (text: () => string) => void;

interface LoggedEvent {
	at: number;
	text: string;
	again: number;
}

/** An event is not repeated if one of so many before it says the same, as those of a process that waits do. */
const memory = 4;

/** `text`: each event, with the time in seconds. */
export function newLog(timeline: Timeline, isWanted: boolean): { log: Log; text: () => string[] } {
	const events: LoggedEvent[] = [];
	const log: Log = (makeText) => {
		if (!isWanted) return;
		const text = makeText();
		const same = events.slice(-memory).find((event) => event.text === text);
		if (same !== undefined) same.again++;
		else events.push({ at: timeline.now, text, again: 0 });
	};
	const text = (): string[] =>
		events.map(
			(event) =>
				`${(event.at / 1000).toFixed(3).padStart(9)} s  ${event.text}${event.again > 0 ? ` (and again, ${event.again} times)` : ''}`,
		);
	return { log, text };
}
