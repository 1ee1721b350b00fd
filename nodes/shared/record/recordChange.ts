/** A change of n8n's record. A question for a mark also writes it. */
import type { Marks } from './marks';

/** One change, made under the lock. Marks that it wrote only to ask are removed at its end, in one call. */
export class RecordChange {
	private readonly marks: Marks;
	/** Whether each mark that was asked for was there. */
	private readonly wasThere = new Map<string, boolean>();
	private readonly toRemove = new Set<string>();
	/** Marks that were asked for and stay, unless the change fails. */
	private readonly keptIfDone = new Set<string>();

	constructor(marks: Marks) {
		this.marks = marks;
	}

	/** @returns those of `marks` that were there before this change */
	async ask(marks: string[]): Promise<ReadonlySet<string>> {
		return await this.askAndWrite(marks, []);
	}

	/** Writes marks, which stay also if the change fails. */
	async write(marks: string[]): Promise<void> {
		await this.askAndWrite([], marks);
	}

	/**
	 * Asks for `marks` and writes others in one call of the database.
	 * @param toWrite none of `marks`
	 * @returns those of `marks` that were there before this change
	 */
	async askAndWrite(marks: string[], toWrite: string[]): Promise<ReadonlySet<string>> {
		// The marks are kept from removal before the call, because a call that throws may have stored *paid*. If
		// *sent* were then removed, the reference would count as unused.
		for (const mark of toWrite) this.toRemove.delete(mark);
		const unasked = marks.filter((mark) => !this.wasThere.has(mark));
		const before = await this.marks.add([...toWrite, ...unasked]);
		for (const mark of unasked) {
			this.wasThere.set(mark, before.has(mark));
			if (!before.has(mark)) this.toRemove.add(mark);
		}
		return new Set(marks.filter((mark) => this.wasThere.get(mark)));
	}

	/** Keeps marks that were asked for, unless the change fails. */
	keep(marks: string[]): void {
		for (const mark of marks) if (this.toRemove.delete(mark)) this.keptIfDone.add(mark);
	}

	/** Removes marks at the end of the change, whether they were asked for or not. */
	remove(marks: string[]): void {
		for (const mark of marks) this.toRemove.add(mark);
	}

	/** Makes a change. One that fails keeps nothing of what it asked for. */
	static async make<Value>(
		marks: Marks,
		work: (change: RecordChange) => Promise<Value>,
	): Promise<Value> {
		const change = new RecordChange(marks);
		let isDone = false;
		try {
			const result = await work(change);
			await marks.remove([...change.toRemove]);
			isDone = true;
			return result;
		} finally {
			// A mark that stays after a failed removal can only hold back a payment, never cause one.
			if (!isDone)
				await marks.remove([...change.toRemove, ...change.keptIfDone]).catch(() => undefined);
		}
	}
}
