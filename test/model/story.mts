// What happened in a world, for people: who did what at what time.
import type { Timeline } from './virtual-time.mts';

/** Adds a line. Its text is only made when somebody wants to read it. */
export type Tell = (text: () => string) => void;

interface StoryLine {
	at: number;
	text: string;
	again: number;
}

/** How many lines back a line is looked for that says the same, such as those of a process that waits. */
const memory = 4;

export class Story {
	private readonly told: StoryLine[] = [];
	private readonly timeline: Timeline;
	private readonly isWanted: boolean;

	constructor(timeline: Timeline, isWanted: boolean) {
		this.timeline = timeline;
		this.isWanted = isWanted;
	}

	readonly tell: Tell = (makeText) => {
		if (!this.isWanted) return;
		const text = makeText();
		const same = this.told.slice(-memory).find((line) => line.text === text);
		if (same !== undefined) same.again++;
		else this.told.push({ at: this.timeline.now, text, again: 0 });
	};

	/** One line for each thing that happened, with the time in seconds. */
	lines(): string[] {
		return this.told.map(
			({ at, text, again }) =>
				`${(at / 1000).toFixed(3).padStart(9)} s  ${text}${again > 0 ? ` (and again, ${again} times)` : ''}`,
		);
	}
}
