// Plays a world: runs of the node in its processes, and after all of it healthy runs that must explain everybody.
//
// The way through this folder: `plan.mts` makes a plan from a seed. `n8n-process.mts` runs the built node in it,
// by a clock that only goes on when all wait (`virtual-time.mts`), with a database that fails and stands still
// (`simulated-database.mts`) and a service whose books are the truth (`service-books.mts`). `rules.mts` judges
// what was told and paid; what may happen all the same stands in `known-limits.mts`. `stories.mts` are plans by
// hand. `npm run test:model -- --seed=N` tells one world.
import { keyOf, newBooks } from './service-books.mts';
import type { Build } from './build.mts';
import { runNode } from './execution.mts';
import { mayStandStill } from './known-limits.mts';
import { N8nProcess, type Disruption } from './n8n-process.mts';
import { calmRun, itemOf as itemPlanOf, spellings } from './plan.mts';
import type { NodeName, Plan, RunPlan, Word } from './plan.mts';
import { newJudge, type Payee, type RunRecord } from './rules.mts';
import { newDatabase } from './simulated-database.mts';
import { newStory } from './story.mts';
import { messageOf } from './reported-lines.mts';
import { Timeline, randomFrom } from './virtual-time.mts';

/** In ms, eight minutes: after so long a payment is not in flight any more, also where n8n died while it asked. */
const afterAllReservationsMs = 480_000;

/** Events of a world; one with more does not end. */
const mostEvents = 400_000;

interface Played {
	/** The broken rules, in words; none in a good world. */
	violations: string[];
	/** The story, if it was asked for. */
	story: string[];
	/** Outcomes that were told, known limits that were met, by how often. */
	counts: Map<string, number>;
}

/** Plays `plan` with the code of `build`. The same plan always plays alike. */
export async function play(plan: Plan, build: Build, withStory = false): Promise<Played> {
	const timeline = new Timeline();
	const { tell, lines } = newStory(timeline, withStory);
	const database = newDatabase(timeline, plan.latency, plan.faults, tell);
	const books = newBooks(timeline, plan, tell, (sent) => {
		judge.paying(sent);
	});
	const runs: RunRecord[] = [];
	const judge = newJudge(plan, timeline, books, database, runs, tell);
	/** The n8n machines, where a process runs and is started again. */
	const slots = plan.processes.map((disruptions, index) => ({
		process: start(index, 0, disruptions),
		started: 0,
	}));
	/** The turns that wait for a process that is down. */
	const waiting: (() => void)[] = [];

	await playAll();
	return { violations: judge.violations, story: lines(), counts: judge.counts };

	async function playAll(): Promise<void> {
		let previous: (() => void)[] = [];
		for (const [index, run] of plan.runs.entries()) {
			const next: (() => void)[] = [];
			const isDue = (): void => {
				timeline.after(run.start.ms, () => {
					begin(run, next);
				});
			};
			if (run.start.after === 'beginning' || index === 0) isDue();
			else previous.push(isDue);
			previous = next;
		}
		await rest();
		judge.atRest('before the last runs');
		tell(() => 'From now on nothing goes wrong.');
		database.heal();
		books.heal();
		for (const { process } of slots) process.spare();
		if (judge.violations.length > 0) return;
		const restarted = start(0, 9, []);
		for (const role of ['last', 'settling', 'final'] as const) {
			const process = role === 'last' ? (slots[0]?.process ?? restarted) : restarted;
			timeline.after(role === 'settling' ? afterAllReservationsMs + aheadMs() : 0, () => {
				for (const node of ['a', 'b'] as const) beginLast(node, role, process);
			});
			await rest();
			judge.atRest(`after the runs that are ${role}`);
		}
		judge.atEnd();
	}

	/** How far a clock of this world can be ahead: what it has seen in flight stays so until the time that it showed. */
	function aheadMs(): number {
		const forward = plan.processes.map((disruptions) =>
			disruptions.reduce((ms, { kind, lasts }) => (kind === 'clockForward' ? ms + lasts : ms), 0),
		);
		return Math.max(0, ...forward);
	}

	async function rest(): Promise<void> {
		if (!(await timeline.rest(mostEvents))) judge.broken('the world does not come to rest');
	}

	function start(
		index: number,
		generation: number,
		disruptions: readonly Disruption[],
	): N8nProcess {
		const name = `process ${index}${generation > 0 ? ` (start ${generation + 1})` : ''}`;
		const random = randomFrom(plan.noise + index * 7919 + generation * 104729);
		return new N8nProcess(name, build, timeline, random, disruptions, {
			tell,
			mayFreeze: mayStandStill,
			disrupted: (kind, process) => {
				judge.disrupted();
				if (kind === 'crash') crashed(index, process);
				else tell(() => `${process.name}: ${kind}`);
			},
		});
	}

	function crashed(index: number, process: N8nProcess): void {
		tell(() => `${process.name} crashes`);
		const slot = slots[index];
		if (slot === undefined || slot.process !== process) return;
		const disruption = plan.processes[index]?.find(({ kind }) => kind === 'crash');
		timeline.after(disruption?.lasts ?? 2_000, () => {
			slot.started++;
			slot.process = start(index, slot.started, []);
			tell(() => `${slot.process.name} is up`);
			for (const goesOn of waiting.splice(0)) goesOn();
		});
		for (const run of runs) if (run.process === process && run.endedAt === undefined) run.died();
	}

	function begin(plan: RunPlan, next: (() => void)[]): void {
		const slot = slots[plan.process % slots.length];
		if (slot === undefined) return;
		if (!slot.process.alive) {
			waiting.push(() => {
				begin(plan, next);
			});
			return;
		}
		run(newRecord(plan, slot.process, next));
	}

	function beginLast(node: NodeName, role: RunRecord['role'], process: N8nProcess): void {
		const ofNode = plan.runs.filter((run) => run.node === node).flatMap(({ items }) => items);
		const known = new Set(
			ofNode.filter(({ variant }) => variant !== 'noReference').map(({ person }) => person),
		);
		if (known.size === 0) return;
		const items = [...known].sort((a, b) => a - b).map((person) => itemPlanOf(person));
		const does = role === 'settling' ? 'settle' : 'pay';
		run(newRecord({ ...calmRun, node, items, does }, process, [], role));
	}

	function newRecord(
		plan: RunPlan,
		process: N8nProcess,
		next: (() => void)[],
		role: RunRecord['role'] = 'planned',
		given?: Pick<RunRecord, 'words' | 'givenAt'>,
	): RunRecord {
		const payees = payeesOf(plan);
		const record: RunRecord = {
			number: runs.length,
			name: `run ${runs.length}${role === 'planned' ? '' : ` (${role})`}`,
			role,
			plan,
			payees,
			process,
			words: given?.words ?? payees.map(({ key }, item) => wordOn(plan, key, item)),
			givenAt: given?.givenAt ?? timeline.now,
			beganAt: 0,
			askedFirst: new Map(),
			asked: new Map(),
			lines: new Map(),
			stoodStillBefore: process.stoodStill,
			next,
			died: () => {
				record.diedAt = timeline.now;
				for (const each of next) each();
			},
		};
		runs.push(record);
		return record;
	}

	/**
	 * A person asks the service, and tells the truth; as long as a request may still be carried out, nothing. Or
	 * they guess.
	 */
	function wordOn({ does, items }: RunPlan, key: string, item: number): Word {
		const { word = 'nothing' } = items[item] ?? {};
		if (does !== 'settle') return 'nothing';
		if (word !== 'asks') return word;
		if (books.isPending(key)) return 'nothing';
		return books.paymentsOf(key).length > 0 ? 'paid' : 'notPaid';
	}

	function run(record: RunRecord): void {
		const { plan, process, payees, words } = record;
		const controller = new AbortController();
		process.arrival(plan.does === 'settle' ? plan.wordAgeMs : 0, () => {
			record.beganAt = timeline.now;
			judge.began(record);
			tellBeginning(record);
			if (plan.stopAfterSteps !== undefined)
				process.afterSteps(plan.stopAfterSteps, () => {
					if (record.endedAt !== undefined) return;
					record.stoppedAt = timeline.now;
					tell(() => `${record.name} is stopped`);
					controller.abort();
				});
			void runNode(
				{
					...plan,
					...{ number: record.number, name: record.name },
					process,
					nodeId: `pay-${plan.node}`,
					parameters: parametersOf(plan, payees, words),
					items: payees.map((payee, item) => itemOf(payee, words[item])),
					signal: controller.signal,
					random: randomFrom(plan.noise),
				},
				{
					...{ database, books, tell },
					grounds: (toUserId) => ({
						reservedAt: record.asked.get(keyOf(toUserId)) ?? record.beganAt,
					}),
					looked: (marks) => {
						for (const { key } of payees) {
							if (!marks.includes(`sent:${key}`)) continue;
							if (!record.asked.has(key)) record.askedFirst.set(key, timeline.now);
							record.asked.set(key, timeline.now);
						}
					},
					tried: (result, tryIndex) => {
						if ('error' in result) tell(() => `${record.name} fails: ${messageOf(result.error)}`);
						judge.told(record, result, tryIndex);
					},
				},
			).then(
				() => {
					record.endedAt = timeline.now;
					judge.ended(record);
					goOn(record);
				},
				(error: unknown) => {
					judge.broken(`${record.name} threw ${messageOf(error)}`);
				},
			);
		});
	}

	/** A loop, or whoever called the workflow, runs the node again with what a person said at the beginning. */
	function goOn(record: RunRecord): void {
		const { plan, process, next } = record;
		for (const each of next) each();
		const [afterMs, ...repeats] = plan.repeats;
		if (afterMs === undefined) return;
		process.arrival(afterMs, () => {
			const again = { ...plan, repeats, wordAgeMs: 0 };
			run(newRecord(again, process, [], 'planned', record));
		});
	}

	function tellBeginning({ name, process, plan, payees, words, givenAt }: RunRecord): void {
		tell(() => {
			const items = payees.map(
				({ toUserId, amount, reference }, item) =>
					`${reference || 'no reference'} (${toUserId}, ${amount} ETB, ${words[item]})`,
			);
			const { node, does, by, mode, timeout, concurrency, tries, onError, checkBalance } = plan;
			const { maxAmountEtb, maxTotalEtb } = plan;
			const options = { by, givenAt, mode, timeout, concurrency, tries, onError, checkBalance };
			return `${name} begins in ${process.name}, node ${node}, ${does}: ${items.join(', ')} ${JSON.stringify({ ...options, maxAmountEtb, maxTotalEtb })}`;
		});
	}
}

function payeesOf({ node, items }: RunPlan): Payee[] {
	return items.map(({ person, variant, spelling }): Payee => {
		const key = `inv-${node}${person}`;
		const suffix = { same: '', otherAmount: '', otherPerson: '-other', noReference: '-none' };
		return {
			key,
			reference: variant === 'noReference' ? '' : (spellings[spelling]?.(key) ?? key),
			toUserId: `user-${node}${person}${suffix[variant]}`,
			amount: variant === 'otherAmount' ? 11 : 10,
			variant,
		};
	});
}

const itemOf = (
	{ toUserId, amount, reference }: Payee,
	word: Word = 'nothing',
): Record<string, unknown> => ({
	to: toUserId,
	amount,
	ref: reference,
	mode: 'settle',
	paid: word === 'paid' ? reference : '',
	notPaid: word === 'notPaid' ? reference : '',
});

function parametersOf(plan: RunPlan, payees: Payee[], words: Word[]): Record<string, unknown> {
	const { does, by, timeout, concurrency, checkBalance, maxAmountEtb, maxTotalEtb } = plan;
	const named = (word: Word): string =>
		payees
			.filter((_, item) => words[item] === word)
			.map(({ reference }) => reference)
			.join('\n');
	const isByExpression = does === 'settle' && by === 'expression';
	return {
		resource: 'disbursement',
		operation: 'create',
		reference: '={{ $json.ref }}',
		toUserId: '={{ $json.to }}',
		amountEtb: '={{ $json.amount }}',
		mode: isByExpression ? '={{ $json.mode }}' : does,
		...(does === 'settle' && {
			wasPaid: isByExpression ? '={{ $json.paid }}' : named('paid'),
			wasNotPaid: isByExpression ? '={{ $json.notPaid }}' : named('notPaid'),
		}),
		options: {
			timeout,
			concurrency,
			checkBalance,
			...(maxAmountEtb !== undefined && { maxAmountEtb }),
			...(maxTotalEtb !== undefined && { maxTotalEtb }),
		},
	};
}
