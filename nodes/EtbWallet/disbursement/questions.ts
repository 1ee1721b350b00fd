/** Questions to n8n's record: asking writes, so what was not there is taken back. */
import type { Entries } from '../../shared/record/entries';

/** The questions of one access to the record. What they wrote is taken back in one call at its end. */
export class Questions {
	private readonly entries: Entries;
	private readonly toRemove = new Set<string>();
	private readonly kept = new Set<string>();

	constructor(entries: Entries) {
		this.entries = entries;
	}

	/**
	 * @param facts are written in the same call, and stay
	 * @returns which of the marks were there; what an earlier question of this access wrote was not
	 */
	async ask(marks: string[], facts: string[] = []): Promise<ReadonlySet<string>> {
		const all = await this.entries.record([...facts, ...marks]);
		const before = new Set([...all].filter((mark) => !this.toRemove.has(mark)));
		for (const mark of marks) if (!before.has(mark)) this.toRemove.add(mark);
		for (const fact of facts) this.toRemove.delete(fact);
		return before;
	}

	/** Writes what stays. */
	async write(facts: string[]): Promise<void> {
		await this.ask([], facts);
	}

	/** What was asked for stays, unless the access fails. */
	keep(marks: string[]): void {
		for (const mark of marks) if (this.toRemove.delete(mark)) this.kept.add(mark);
	}

	/** Goes with what is taken back. */
	remove(marks: string[]): void {
		for (const mark of marks) this.toRemove.add(mark);
	}

	/** Runs an access: it ends with one call that takes back, and one that fails keeps nothing that it asked for. */
	static async in<Result>(
		entries: Entries,
		access: (questions: Questions) => Promise<Result>,
	): Promise<Result> {
		const questions = new Questions(entries);
		let isDone = false;
		try {
			const result = await access(questions);
			await entries.remove([...questions.toRemove]);
			isDone = true;
			return result;
		} finally {
			// What stays looks like payments that are under way, which errs to the safe side.
			if (!isDone)
				await entries.remove([...questions.toRemove, ...questions.kept]).catch(() => undefined);
		}
	}
}
