// The log of a world, for people: each event with its actor and time.
import type { Timeline } from './virtual-time.mts';

/** Adds a line. Its text is only made when somebody wants to read it. */
export type Tell = (text: () => string) => void;

interface LogLine {
	at: number;
	text: string;
	again: number;
}

/** A line is not repeated if one of so many lines before it says the same, as those of a process that waits do. */
const memory = 4;

/** `lines`: one for each thing that happened, with the time in seconds. */
export function newLog(
	timeline: Timeline,
	isWanted: boolean,
): { tell: Tell; lines: () => string[] } {
	const told: LogLine[] = [];
	const tell: Tell = (makeText) => {
		if (!isWanted) return;
		const text = makeText();
		const same = told.slice(-memory).find((line) => line.text === text);
		if (same !== undefined) same.again++;
		else told.push({ at: timeline.now, text, again: 0 });
	};
	const lines = (): string[] =>
		told.map(
			({ at, text, again }) =>
				`${(at / 1000).toFixed(3).padStart(9)} s  ${text}${again > 0 ? ` (and again, ${again} times)` : ''}`,
		);
	return { tell, lines };
}
