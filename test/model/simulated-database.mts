// The table processed_data as n8n uses it: each call reads a whole row, and later writes a whole row.
import type { N8nProcess } from './n8n-process.mts';
import type { DatabaseFault, DatabaseFaultKind } from './plan.mts';
import type { Timeline } from './virtual-time.mts';
import type { Log } from './log.mts';

/** In ms, what `slow` adds to one step. */
const slowStep = 9_000;

/** A call as n8n makes it: a count reads, clearing is one statement, all else reads a row and then writes it. */
export type Access =
	| { kind: 'count'; text: string; scope: string }
	| { kind: 'clear'; text: string; scope: string }
	| {
			kind: 'change';
			text: string;
			marks: readonly string[];
			scope: string;
			/** @returns what the caller gets, and the row to write, if any */
			change(found: readonly string[] | undefined): { response: unknown; write?: string[] };
	  };

/** The facts about a mark since it was added. */
interface Added {
	/** All marks that any call named together with it. */
	others: ReadonlySet<string>;
	/** In which access to the record it was added: the accesses are counted by the lock. */
	access: number;
}

/** Whether a row belongs to a node. The row of the workflow is the lock. */
const isNodes = (scope: string): boolean => scope.includes('n:');

export type SimulatedDatabase = ReturnType<typeof newDatabase>;

/** @param latency of one step, at most, in ms */
export function newDatabase(
	timeline: Timeline,
	latency: number,
	faults: readonly DatabaseFault[],
	log: Log,
) {
	/** By context: '' is the row of the workflow, `n:<node id>` that of a node. */
	const rows = new Map<string, string[]>();
	/** Calls with a fault so far. */
	let disrupted = 0;
	/** By context and mark. */
	const added = new Map<string, Map<string, Added>>();
	/** How often a process got the lock. */
	let accesses = 0;
	/** Context and mark of each mark that an access left, and that confirms a mark of an earlier access. */
	const confirmedLater = new Set<string>();
	let calls = 0;

	/** Whether a mark is there, and no call named it together with a mark for which `beside` is true. */
	function isAlone(scope: string, mark: string, beside: (other: string) => boolean): boolean {
		const others = added.get(scope)?.get(mark)?.others;
		return others !== undefined && ![...others].some(beside);
	}

	/** Whether both marks are there, and an earlier access to the record added `earlier`. */
	function isAddedAfter(scope: string, mark: string, earlier: string): boolean {
		const accessOf = (each: string): number | undefined => added.get(scope)?.get(each)?.access;
		return (accessOf(earlier) ?? Infinity) < (accessOf(mark) ?? -Infinity);
	}

	/** Whether an access ever left this mark, `…Confirmed:…`, and confirmed a mark of an earlier access by it. */
	function wasConfirmedLater(scope: string, mark: string): boolean {
		return confirmedLater.has(`${scope} ${mark}`);
	}

	function store(scope: string, row: readonly string[], marks: readonly string[]): void {
		if (!isNodes(scope)) {
			if (!rows.has(scope)) accesses++;
			rows.set(scope, [...row]);
			return;
		}
		rows.set(scope, [...row]);
		const before = added.get(scope);
		for (const [mark, { access }] of before ?? [])
			if (access < accesses && isAddedAfter(scope, mark, mark.replace('Confirmed:', ':')))
				confirmedLater.add(`${scope} ${mark}`);
		const now = new Set(marks);
		added.set(
			scope,
			new Map(
				row.map((mark) => {
					const { others, access } = before?.get(mark) ?? {
						others: new Set<string>(),
						access: accesses,
					};
					const all = now.has(mark) ? new Set([...others, ...marks]) : others;
					return [mark, { others: all, access }] as const;
				}),
			),
		);
	}

	/** From now on nothing goes wrong. */
	function heal(): void {
		faults = [];
	}

	/** A call by `process`: its queries and their results are on their way for some time each. */
	async function call(
		process: N8nProcess,
		random: () => number,
		who: string,
		access: Access,
	): Promise<unknown> {
		const { scope } = access;
		const fault = nextFault();
		const slowAt = fault === 'slow' ? Math.floor(random() * 4) : -1;
		const way = (step: number): number =>
			0.1 + random() * latency + (step === slowAt ? slowStep : 0);
		const say: Log = (text) => {
			log(() => `${who}: database, ${access.text} ${text()}`);
		};
		if (fault !== undefined) {
			disrupted++;
			say(() => `(${fault})`);
		}
		return await new Promise<unknown>((done, fail) => {
			const responding = (response: unknown, step: number): void => {
				if (fault === 'silentAfter') return;
				process.arrival(way(step), () => {
					if (fault === 'failsAfter') fail(new Error('the database failed after it wrote'));
					else done(response);
				});
			};
			const failing = (reason: string): void => {
				process.arrival(way(3), () => {
					fail(new Error(`the database ${reason}`));
				});
			};
			let isWriting = access.kind !== 'count';
			if (isWriting) process.writing++;
			const end = (): void => {
				if (isWriting) process.writing--;
				isWriting = false;
			};
			timeline.after(way(0), () => {
				if (fault === 'failsBefore' || fault === 'silentBefore') {
					end();
					if (fault === 'failsBefore') failing('failed before it read');
					return;
				}
				const found = rows.get(scope);
				if (access.kind === 'count') {
					responding(found?.length ?? 0, 1);
					return;
				}
				if (access.kind === 'clear') {
					end();
					rows.delete(scope);
					added.delete(scope);
					say(() => '');
					responding(undefined, 1);
					return;
				}
				if (fault === 'failsBetween' || fault === 'silentBetween') {
					end();
					if (fault === 'failsBetween') failing('failed before it wrote');
					return;
				}
				const { response, write } = access.change(found);
				if (write === undefined) {
					end();
					responding(response, 1);
					return;
				}
				process.arrival(way(1), () => {
					timeline.after(way(2), () => {
						end();
						const now = rows.get(scope);
						if (found === undefined && now !== undefined) {
							say(() => '→ another inserted the row first');
							failing('has that row already');
							return;
						}
						// Updating a row that is gone does nothing.
						if (found === undefined || now !== undefined) store(scope, write, access.marks);
						say(() => `→ ${JSON.stringify(response) ?? 'done'}`);
						responding(response, 3);
					});
				});
			});
		});
	}

	function nextFault(): DatabaseFaultKind | undefined {
		const number = calls++;
		return faults.find(({ call, count }) => number >= call && number < call + count)?.kind;
	}

	return { rows, disrupted: () => disrupted, isAlone, isAddedAfter, wasConfirmedLater, heal, call };
}
