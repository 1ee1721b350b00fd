/** Access to n8n's record. Asking for a mark also adds it, so what was not there is removed again. */
import type { Marks } from '../../shared/record/marks';

/** One access to the record. What its questions added is removed in one call at its end. */
export class Access {
	private readonly record: Marks;
	private readonly toRemove = new Set<string>();
	private readonly kept = new Set<string>();

	constructor(record: Marks) {
		this.record = record;
	}

	/**
	 * @param marks no earlier question of this access asked for them, and they are not among `alsoIfItFails`
	 * @param alsoIfItFails are written in the same call, and stay
	 * @returns which of the marks were there
	 */
	async ask(marks: string[], alsoIfItFails: string[] = []): Promise<ReadonlySet<string>> {
		// Before the call: should it fail, n8n may have written *paid* all the same. If *sent* were then removed, the reference
		// would count as unused.
		for (const mark of alsoIfItFails) this.toRemove.delete(mark);
		const before = await this.record.add([...alsoIfItFails, ...marks]);
		for (const mark of marks) if (!before.has(mark)) this.toRemove.add(mark);
		return before;
	}

	async write(marks: string[]): Promise<void> {
		await this.ask([], marks);
	}

	/** These marks were asked for, and stay unless the access fails. */
	keepIfDone(marks: string[]): void {
		for (const mark of marks) if (this.toRemove.delete(mark)) this.kept.add(mark);
	}

	/** These marks are removed at the end of the access, whether they were asked for or not. */
	remove(marks: string[]): void {
		for (const mark of marks) this.toRemove.add(mark);
	}

	/** Runs an access. One that fails keeps nothing that it asked for. */
	static async in<Value>(record: Marks, work: (access: Access) => Promise<Value>): Promise<Value> {
		const access = new Access(record);
		let isDone = false;
		try {
			const result = await work(access);
			await record.remove([...access.toRemove]);
			isDone = true;
			return result;
		} finally {
			// What cannot be removed looks like payments that are under way, which is safe.
			if (!isDone) await record.remove([...access.toRemove, ...access.kept]).catch(() => undefined);
		}
	}
}
