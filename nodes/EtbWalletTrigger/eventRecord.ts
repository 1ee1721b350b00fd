/** The record of a trigger's events in n8n's database. */
import { sleep, type IExecuteFunctions } from 'n8n-workflow';
import { entriesOf, inTime } from '../shared/record/entries';
import { exclusively } from '../shared/record/lock';
import { asError } from '../shared/unknown';

/**
 * How many marks it keeps, the newest. n8n reads and writes all of them for each event: measured, 1,000 cost 0.4 ms of
 * CPU, 2,000 0.7 ms, 5,000 1.8 ms. After a restart the service sends again only what was in flight.
 */
const keptMarks = 2_000;

/** The pauses before the database is called the first, second and third time. */
const pausesMs = [0, 50, 250];

/** For each call: all later events of the trigger wait for it. */
const answerTimeoutMs = 10_000;

export interface Change {
	add?: readonly string[];
	remove?: readonly string[];
}

/** A change that waits for its turn, with the functions that answer who asked for it. */
interface Waiting extends Change {
	isShared: boolean;
	resolve: (found: ReadonlySet<string>) => void;
	reject: (reason: unknown) => void;
}

/**
 * n8n reads the record as a whole and then writes it as a whole, so two changes at once would undo each other: those of
 * this process take turns, and all that wait go in one turn.
 */
export class EventRecord {
	readonly #waiting: Waiting[] = [];
	isChanging = false;

	/**
	 * @param isShared whether another process may change the same record, so that the lock is needed
	 * @returns which of the marks to add were there before
	 */
	async change(
		context: IExecuteFunctions,
		change: Change,
		isShared: boolean,
	): Promise<ReadonlySet<string>> {
		const found = new Promise<ReadonlySet<string>>((resolve, reject) =>
			this.#waiting.push({ ...change, isShared, resolve, reject }),
		);
		if (!this.isChanging) void this.#takeTurns(context);
		return await found;
	}

	async #takeTurns(context: IExecuteFunctions): Promise<void> {
		this.isChanging = true;
		while (this.#waiting.length > 0) {
			const changes = this.#waiting.splice(0);
			try {
				const found = await carefully(context, changes);
				for (const { add = [], resolve } of changes) {
					resolve(new Set(add.filter((mark) => found.has(mark))));
					for (const mark of add) found.add(mark);
				}
			} catch (error) {
				for (const { reject } of changes) reject(error);
			}
		}
		this.isChanging = false;
	}
}

/**
 * Changes the record, with the workflow's lock if other processes may change it too. If the lock cannot
 * be had, for example because of a Remove Duplicates node whose Scope is the workflow, without it.
 * @returns the marks that were there before. None if a call failed first: it may have added them itself, and an event is
 * rather handled twice than not at all
 */
async function carefully(context: IExecuteFunctions, changes: Waiting[]): Promise<Set<string>> {
	let found: Set<string> | undefined;
	let failure: Error | undefined;
	const call = async (): Promise<void> => {
		try {
			found = await inTime(write(context, changes), answerTimeoutMs);
		} catch (error) {
			failure = asError(error);
		}
	};
	// The lock may also fail after the call: then `found` has what the call found.
	if (changes.some(({ isShared }) => isShared))
		await exclusively(context, call).catch(() => undefined);
	for (const pauseMs of pausesMs) {
		if (found !== undefined) break;
		if (pauseMs > 0) await sleep(pauseMs);
		await call();
	}
	if (failure === undefined) return found ?? new Set();
	if (found === undefined) throw failure;
	return new Set();
}

async function write(context: IExecuteFunctions, changes: Change[]): Promise<Set<string>> {
	const entries = entriesOf(context, 'node');
	await entries.remove(changes.flatMap(({ remove = [] }) => remove));
	const marks = changes.flatMap(({ add = [] }) => add);
	return new Set(await entries.add(marks, keptMarks));
}
