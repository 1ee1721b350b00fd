// Plays a world: the runs of its plan, and after them healthy runs that must explain every reference.
//
// The files: `plan.mts` makes a plan from a seed, `stories.mts` has plans by hand. `runs.mts` plays each run:
// `n8n-process.mts` runs the built node by a clock that only goes on when all code waits (`virtual-time.mts`), with
// a database that fails and stands still (`simulated-database.mts`) and a service whose books are the truth
// (`service-books.mts`). `rules.mts` and each `rules-….mts` judge, `reasons.mts` has the reasons for each result,
// and `excuses.mts` the cases that break no rule. `npm run test:model -- --seed=N` plays one world, and prints its log.
//
// The words of this folder:
// - world: all that happens by one plan; the seed of a random plan is its number
// - story: a plan by hand
// - log: the text of the events of a world
// - statement: what a person says about a reference, *paid*, *notPaid* or *takesBack*, to a run that settles
// - sending: the run that sent a payment and told it unknown; a statement can name it
// - grounds: the reservation that allows a run to send a request, known by its time
// - line: the outcome and code of one item, as a try of a run reports them
// - told: reported in a line
// - judge: to compare an event with the rules; each function `judge…` keeps the rules that are broken as violations
// - disruption: a crash, a pause or a set clock of a process; a failure of the database counts as one
// - pause: a process stands still, alone or with its machine; a run that is *stopped* was ended by n8n's Stop
// - excuse: a case that breaks no rule, because the nodes cannot prevent it, or only at too high a cost
// - limit: a maximum of a run, which a person set
import type { Build } from './build.mts';
import { mayStandStill } from './excuses.mts';
import { N8nProcess, type Disruption } from './n8n-process.mts';
import { calmRun, itemOf, type NodeName, type Plan, type RunPlan } from './plan.mts';
import { judgePayment } from './rules-payments.mts';
import { judgeLastRuns, judgeRest } from './rules.mts';
import { newRun, playRun } from './runs.mts';
import { newBooks } from './service-books.mts';
import { newDatabase } from './simulated-database.mts';
import { newLog } from './log.mts';
import { Timeline, randomFrom } from './virtual-time.mts';
import { broken, type Role, type World } from './world.mts';

/** In ms. After eight minutes no payment is in flight any more, also if n8n died while it asked. */
const afterAllReservationsMs = 480_000;

/** A world with more events does not end. */
const mostEvents = 400_000;

interface Played extends Pick<World, 'violations' | 'counts'> {
	/** The text of the events, if it was asked for. */
	log: string[];
}

/** A world that is being played. */
interface Playing extends World {
	build: Build;
	/** Each runs n8n in a process, which is started again after a crash. */
	machines: { process: N8nProcess; restarts: number }[];
	/** Each begins a run that waits for a process that is down. */
	waiting: (() => void)[];
}

/** Plays `plan` with the code of `build`. The same plan always plays alike. */
export async function play(plan: Plan, build: Build, withLog = false): Promise<Played> {
	const timeline = new Timeline();
	const { log, text } = newLog(timeline, withLog);
	const database = newDatabase(timeline, plan.latency, plan.faults, log);
	const books = newBooks(timeline, plan, log, (sent) => {
		judgePayment(world, sent);
	});
	const world: Playing = {
		plan,
		timeline,
		books,
		database,
		log,
		runs: [],
		violations: [],
		counts: new Map(),
		disruptions: 0,
		paidForEver: new Map(),
		build,
		machines: [],
		waiting: [],
	};
	for (const [index, disruptions] of plan.processes.entries())
		world.machines.push({ process: start(world, index, 0, disruptions), restarts: 0 });
	await playPlan(world);
	log(() => 'From now on nothing goes wrong.');
	database.heal();
	books.heal();
	for (const { process } of world.machines) process.spare();
	if (world.violations.length === 0) await playLastRuns(world);
	return { violations: world.violations, log: text(), counts: world.counts };
}

async function playPlan(world: Playing): Promise<void> {
	let previous: (() => void)[] = [];
	for (const [index, runPlan] of world.plan.runs.entries()) {
		const next: (() => void)[] = [];
		const schedule = (): void => {
			world.timeline.after(runPlan.start.ms, () => {
				begin(world, runPlan, next);
			});
		};
		if (runPlan.start.after === 'beginning' || index === 0) schedule();
		else previous.push(schedule);
		previous = next;
	}
	await rest(world);
	judgeRest(world, 'before the last runs');
}

/** The generation of the process of the last runs, later than that of any restart in a plan. */
const lastGeneration = 9;

async function playLastRuns(world: Playing): Promise<void> {
	const restarted = start(world, 0, lastGeneration, []);
	for (const role of ['last', 'settling', 'settling', 'final'] as const) {
		const process = role === 'last' ? (world.machines[0]?.process ?? restarted) : restarted;
		const waitMs = role === 'settling' ? afterAllReservationsMs + aheadMs(world.plan) : 0;
		world.timeline.after(waitMs, () => {
			for (const node of ['a', 'b'] as const) beginLast(world, node, role, process);
		});
		await rest(world);
		judgeRest(world, `after the runs that are ${role}`);
	}
	judgeLastRuns(world);
}

/** In ms, for a clock that is ahead: a payment that it saw in flight stays so until the time that it showed. */
function aheadMs({ processes }: Plan): number {
	const forward = processes.map((disruptions) =>
		disruptions.reduce((ms, { kind, lasts }) => (kind === 'clockForward' ? ms + lasts : ms), 0),
	);
	return Math.max(0, ...forward);
}

async function rest(world: World): Promise<void> {
	if (!(await world.timeline.rest(mostEvents))) broken(world, 'the world does not come to rest');
}

function start(
	world: Playing,
	index: number,
	restarts: number,
	disruptions: readonly Disruption[],
): N8nProcess {
	const name = `process ${index}${restarts > 0 ? ` (start ${restarts + 1})` : ''}`;
	const random = randomFrom(world.plan.noise + index * 7919 + restarts * 104729);
	return new N8nProcess(name, world.build, world.timeline, random, disruptions, {
		log: world.log,
		mayFreeze: mayStandStill,
		disrupted: (kind, process) => {
			world.disruptions++;
			if (kind === 'crash') crashed(world, index, process);
			else world.log(() => `${process.name}: ${kind}`);
		},
	});
}

function crashed(world: Playing, index: number, process: N8nProcess): void {
	world.log(() => `${process.name} crashes`);
	const machine = world.machines[index];
	if (machine === undefined || machine.process !== process) return;
	const disruption = world.plan.processes[index]?.find(({ kind }) => kind === 'crash');
	world.timeline.after(disruption?.lasts ?? 2_000, () => {
		machine.restarts++;
		machine.process = start(world, index, machine.restarts, []);
		world.log(() => `${machine.process.name} is up`);
		for (const goesOn of world.waiting.splice(0)) goesOn();
	});
	for (const run of world.runs)
		if (run.process === process && run.endedAt === undefined) run.died();
}

/** Begins a run, when a process of its machine is up. */
function begin(world: Playing, runPlan: RunPlan, next: (() => void)[]): void {
	const { machines, waiting } = world;
	const machine = machines[runPlan.process % machines.length];
	if (machine === undefined) return;
	if (machine.process.alive) playRun(world, newRun(world, runPlan, machine.process, next));
	else
		waiting.push(() => {
			begin(world, runPlan, next);
		});
}

/** Begins a healthy run for all people of a node. */
function beginLast(world: World, node: NodeName, role: Role, process: N8nProcess): void {
	const ofNode = world.plan.runs.filter((run) => run.node === node).flatMap(({ items }) => items);
	const known = new Set(
		ofNode.filter(({ variant }) => variant !== 'noReference').map(({ person }) => person),
	);
	if (known.size === 0) return;
	const items = [...known].sort((a, b) => a - b).map((person) => itemOf(person));
	const does = role === 'settling' ? 'settle' : 'pay';
	playRun(world, newRun(world, { ...calmRun, node, items, does }, process, [], role));
}
