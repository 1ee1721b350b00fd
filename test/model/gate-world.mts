// Plays a world with a pay gate: the node pays what the gate's record hands out, while its data come again, people settle, and things go wrong.
import { Books, isUnclear, keyOf } from './books.mts';
import type { Sent } from './books.mts';
import type { Build } from './build.mts';
import { runNode } from './execution.mts';
import type { TryResult } from './execution.mts';
import { gatePeople } from './gate-plan.mts';
import type { GateCall, GatePlan, Reuse } from './gate-plan.mts';
import { GateRecord } from './gate-record.mts';
import type { Window } from './gate-record.mts';
import { mayStandStill } from './known-limits.mts';
import { N8nProcess } from './n8n-process.mts';
import type { Blow } from './n8n-process.mts';
import { SimulatedDatabase } from './simulated-database.mts';
import { Story } from './story.mts';
import { linesOf, messageOf } from './told.mts';
import { Timeline, randomFrom } from './virtual-time.mts';

const mostEvents = 400_000;

/** In ms. From the last look at the clock to the connection. */
const connectingMs = 10;

/** In ms. What an answer takes from PostgreSQL to n8n, or the other way. */
const wayMs = 3;

/** A run of the node, with the data of a claim. */
interface NodeRunRecord {
	number: number;
	name: string;
	process: N8nProcess;
	call: GateCall;
	window: Window;
	asking: Asking;
	/** How the data came again, if they did. */
	reuse?: Reuse;
	/** What the last try told, by reference. */
	told: Map<string, string>;
	isOutput: boolean;
	stoodStillBefore: number;
	hasEnded: boolean;
}

/** A claim that was asked for, with the execution that did. */
interface Asking {
	process: N8nProcess;
	/** Whether the process's clock was set back after it asked for the claim and before the node read it. */
	isClockUnsure: boolean;
}

export interface GatePlayed {
	violations: string[];
	story: string[];
	counts: Map<string, number>;
}

/** How much later a process sends whose clock is behind that of the process which asked for the claim, in ms: clocks show whole ones. */
const clockSlackMs = ({ asking, process }: NodeRunRecord): number =>
	1 + Math.max(0, asking.process.wall - process.wall);

/** Plays `plan` with the code of `build`. The same plan always plays alike. */
export async function playGate(
	plan: GatePlan,
	build: Build,
	withStory = false,
): Promise<GatePlayed> {
	const world = new GateWorld(plan, build, withStory);
	await world.play();
	return { violations: world.violations, story: world.story.lines(), counts: world.counts };
}

const referenceOf = (person: number): string => `pay-a${person}`;
const userOf = (reference: string): string => reference.replace('pay-', 'user-');

class GateWorld {
	readonly violations: string[] = [];
	readonly counts = new Map<string, number>();
	readonly story: Story;
	private readonly plan: GatePlan;
	private readonly build: Build;
	private readonly timeline = new Timeline();
	private readonly database: SimulatedDatabase;
	private readonly books: Books;
	private readonly gate: GateRecord;
	private readonly processes: N8nProcess[];
	private readonly runs: NodeRunRecord[] = [];
	private readonly asking = new Set<Asking>();
	/** References that a run told to be not paid, by claim: the gate may have handed them out again. */
	private readonly freed = new Map<string, Set<string>>();
	private executions = 0;
	private struck = 0;

	constructor(plan: GatePlan, build: Build, withStory: boolean) {
		this.plan = plan;
		this.build = build;
		this.story = new Story(this.timeline, withStory);
		const { tell } = this.story;
		this.database = new SimulatedDatabase(this.timeline, 3, [], tell);
		this.books = new Books(this.timeline, plan, tell, (sent) => {
			this.paying(sent);
		});
		this.gate = new GateRecord(plan.lease);
		this.processes = plan.processes.map((blows, index) => this.start(index, 0, blows));
	}

	async play(): Promise<void> {
		for (const call of this.plan.calls)
			this.timeline.after(call.startMs, () => {
				this.call(call);
			});
		for (const ms of this.plan.settledAt)
			this.timeline.after(ms, () => {
				this.settleByPerson();
			});
		await this.rest();
		this.atRest();
		if (this.violations.length > 0) return;
		this.story.tell(() => 'From now on nothing goes wrong.');
		this.books.heal();
		for (const process of this.processes) process.spare();
		// Twice: waiting for the lock of a process that crashed can take longer than a short lease.
		for (let time = 0; time < 2; time++) {
			this.timeline.after(this.plan.lease, () => {
				this.settleByPerson();
				this.call(this.lastCall());
			});
			await this.rest();
			this.atRest();
		}
		for (const person of this.lastCall().people) {
			const payments = this.books.paymentsOf(referenceOf(person));
			if (payments.length !== 1)
				this.broken(`${referenceOf(person)} is paid ${payments.length} times in the end`);
		}
	}

	private lastCall(): GateCall {
		const people = new Set(this.plan.calls.flatMap((call) => call.people));
		return {
			process: 0,
			startMs: 0,
			people: Array.from({ length: gatePeople }, (_, person) => person).filter((person) =>
				people.has(person),
			),
			concurrency: 3,
			tries: 1,
			onError: 'continue',
			mode: 'manual',
			lacksCredential: false,
			dryRun: false,
			reuses: [],
			noise: 1,
		};
	}

	private async rest(): Promise<void> {
		if (!(await this.timeline.rest(mostEvents))) this.broken('the world does not come to rest');
	}

	private start(index: number, started: number, blows: readonly Blow[]): N8nProcess {
		const name = `process ${index}${started > 0 ? ` (start ${started + 1})` : ''}`;
		const random = randomFrom(this.plan.noise + index * 100 + started);
		return new N8nProcess(name, this.build, this.timeline, random, blows, {
			tell: this.story.tell,
			struck: (kind, process) => {
				this.struck++;
				if (kind === 'clockBack')
					for (const asking of this.asking)
						if (asking.process === process) asking.isClockUnsure = true;
				if (kind === 'crash') this.crashed(index, started, process);
			},
			mayFreeze: mayStandStill,
		});
	}

	private crashed(index: number, started: number, process: N8nProcess): void {
		this.story.tell(() => `${process.name} crashes`);
		this.timeline.after(2_000, () => {
			this.processes[index] = this.start(index, started + 1, []);
		});
	}

	/** The process that takes a new execution now, as far as one is up. */
	private processFor(index: number): N8nProcess | undefined {
		const process = this.processes[index % this.processes.length];
		return process?.alive === true ? process : undefined;
	}

	/** An execution of the gate's workflow, up to the node. */
	private call(call: GateCall): void {
		const process = this.processFor(call.process);
		if (process === undefined) return;
		const executionId = String(++this.executions);
		process.arrival(1, () => {
			const asking: Asking = { process, isClockUnsure: false };
			this.asking.add(asking);
			const clock = process.wall;
			this.timeline.after(wayMs, () => {
				const window = this.gate.claim(call.people.map(referenceOf), this.timeline.now);
				this.story.tell(
					() =>
						`execution ${executionId} in ${process.name} claims: ${window.references.join(' ') || 'nothing'}`,
				);
				const notAfter = new Date(clock + this.plan.lease / 2).toISOString();
				if (window.references.length === 0) return;
				process.arrival(wayMs, () => {
					this.run({ call, window, process, asking }, executionId, notAfter);
					for (const reuse of call.reuses)
						this.timeline.after(reuse.afterMs, () => {
							this.useAgain({ call, window, process, asking, reuse }, executionId, notAfter);
						});
				});
			});
		});
	}

	private useAgain(
		given: Pick<NodeRunRecord, 'call' | 'window' | 'process' | 'asking'> & { reuse: Reuse },
		executionId: string,
		notAfter: string,
	): void {
		const { reuse } = given;
		const isSame = reuse.kind === 'secondNode' || reuse.kind === 'loop';
		const process = isSame ? given.process : this.processFor(reuse.process);
		if (process?.alive !== true) return;
		this.run({ ...given, process }, executionId, notAfter);
	}

	private run(
		given: Pick<NodeRunRecord, 'call' | 'window' | 'process' | 'asking'> & { reuse?: Reuse },
		claimedBy: string,
		notAfter: string,
	): void {
		const { call, window, process, reuse } = given;
		const number = this.runs.length;
		const record: NodeRunRecord = {
			...given,
			number,
			name: `run ${number}${reuse === undefined ? '' : ` (${reuse.kind})`}`,
			told: new Map(),
			isOutput: false,
			stoodStillBefore: process.stoodStill,
			hasEnded: false,
		};
		this.runs.push(record);
		const items = window.references.map((reference) => ({
			reference,
			toUserId: userOf(reference),
			amountEtb: 10,
			claim: window.claim,
			notAfter,
			execution: `payroll/${claimedBy}`,
		}));
		process.arrival(0.5, () => {
			this.story.tell(() => `${record.name} begins in ${process.name}`);
			this.asking.delete(given.asking);
			void runNode(
				{
					number,
					name: record.name,
					process,
					nodeId: reuse?.kind === 'secondNode' ? 'second' : 'pay',
					parameters: this.parametersOf(call),
					items,
					timeout: this.plan.timeout,
					tries: call.tries,
					continues: call.onError === 'continue',
					mode: call.dryRun ? 'evaluation' : call.mode,
					workflowId: reuse?.kind === 'copied' ? 'copy' : 'payroll',
					executionId: reuse?.kind === 'pinned' ? String(++this.executions) : claimedBy,
					lacksCredential: reuse?.lacksCredential ?? call.lacksCredential,
					signal: new AbortController().signal,
					random: randomFrom(call.noise + number),
				},
				{
					database: this.database,
					books: this.books,
					tell: this.story.tell,
					grounds: (toUserId) => {
						this.leaving(record, toUserId);
						return { claimedAt: 0 };
					},
					looked: () => undefined,
					tried: (result) => {
						this.tried(record, result);
					},
				},
			).then(
				() => {
					this.ended(record);
				},
				(error: unknown) => {
					this.broken(`${record.name} threw ${messageOf(error)}`);
				},
			);
		});
	}

	private parametersOf(call: GateCall): Record<string, unknown> {
		const field = (name: string): string => `={{ $json.${name} }}`;
		return {
			resource: 'disbursement',
			operation: 'payClaims',
			...Object.fromEntries(
				['toUserId', 'amountEtb', 'claim', 'notAfter', 'execution'].map((name) => [
					name,
					field(name),
				]),
			),
			options: {
				timeout: this.plan.timeout,
				concurrency: call.concurrency,
			},
		};
	}

	/** A person asks the service, and tells the truth; as long as a request may still be carried out, nothing. */
	private settleByPerson(): void {
		for (const reference of this.gate.unknown(this.timeline.now)) {
			if (this.books.isPending(reference)) continue;
			const wasPaid = this.books.paymentsOf(reference).length > 0;
			this.story.tell(() => `a person settles ${reference}: ${wasPaid ? 'paid' : 'not paid'}`);
			this.gate.resolve(reference, wasPaid, this.timeline.now);
		}
	}

	/** A request gets its connection. */
	private leaving(run: NodeRunRecord, toUserId: string): void {
		const reference = keyOf(toUserId);
		const { claimedAt, claim } = run.window;
		const lateMs = this.timeline.now - claimedAt - this.plan.lease / 2 - connectingMs;
		if (lateMs > clockSlackMs(run) && !run.asking.isClockUnsure)
			this.broken(`${run.name} sends ${reference} ${Math.round(lateMs)} ms too late`);
		if (this.freed.get(claim)?.has(reference) === true)
			this.broken(`${run.name} sends ${reference}, which was told to be not paid`);
		if (run.call.dryRun) this.broken(`the dry run ${run.name} sends ${reference}`);
		const others = this.runs.filter((other) => other !== run && other.window.claim === claim);
		if (others.some((other) => this.sentBy(other).length > 0))
			this.broken(`${run.name} sends ${reference}, whose claim another run used`);
	}

	private paying(sent: Sent): void {
		if (this.books.paymentsOf(sent.key).length > 0)
			this.broken(`${sent.key} is paid again, by ${this.runs[sent.run]?.name ?? 'nobody'}`);
	}

	private sentBy(run: NodeRunRecord): Sent[] {
		return this.books.sent.filter((sent) => sent.run === run.number);
	}

	private tried(run: NodeRunRecord, result: TryResult): void {
		const lines = linesOf(result);
		const { references } = run.window;
		if ('error' in result) this.story.tell(() => `${run.name} fails: ${messageOf(result.error)}`);
		run.isOutput = 'output' in result;
		run.told.clear();
		for (const { item, outcome } of lines ??
			references.map((_, item) => ({ item, outcome: 'notPaid' }))) {
			const reference = references[item];
			if (reference !== undefined) run.told.set(reference, outcome);
		}
		this.story.tell(
			() => `${run.name} tells: ${[...run.told].map((each) => each.join(' ')).join(', ')}`,
		);
		if (run.isOutput && run.told.size !== references.length)
			this.broken(`${run.name} tells ${run.told.size} of ${references.length} items`);
		for (const [reference, outcome] of run.told) this.judge(run, reference, outcome);
	}

	private judge(run: NodeRunRecord, reference: string, outcome: string): void {
		const say = (text: string): void => {
			this.broken(`${run.name} tells ${reference} ${outcome}, but ${text}`);
		};
		const ofClaim = this.books.sent.filter(
			(sent) => sent.key === reference && this.runs[sent.run]?.window.claim === run.window.claim,
		);
		const own = ofClaim.filter((sent) => sent.run === run.number);
		const mayBePaid = (sent: Sent): boolean => sent.isPaid || sent.isPending;
		switch (outcome) {
			case 'paid':
				if (!own.some(({ isPaid }) => isPaid)) say('its request was not paid');
				break;
			case 'notPaid':
			case 'ready':
				if (run.isOutput && ofClaim.some(mayBePaid)) say('its claim paid it, or may');
				if (own.some(mayBePaid)) say('it was paid, or may be');
				break;
			case 'unknown':
				if (!this.mayBeUnknown(run, own)) say('nothing went wrong');
				break;
			case 'notAttempted':
				if (own.some(mayBePaid)) say('it was paid, or may be');
				break;
			default:
				say('there is no such outcome');
		}
	}

	private mayBeUnknown(run: NodeRunRecord, own: Sent[]): boolean {
		if (this.struck > 0 || run.reuse !== undefined) return true;
		// One that comes with the claim's data before its own execution does.
		if (run.call.reuses.length > 0) return true;
		return own.some(
			(sent) => isUnclear(sent.kind) || !sent.isAnswered || this.plan.timeout > this.plan.lease / 2,
		);
	}

	/** The node ended; with output its workflow goes on and settles. */
	private ended(run: NodeRunRecord): void {
		run.hasEnded = true;
		const { process, window } = run;
		for (const outcome of run.told.values()) this.count(`gate: ${outcome}`);
		const longestMs =
			this.plan.lease + clockSlackMs(run) + 100 + process.stoodStill - run.stoodStillBefore;
		for (const { key: reference, endedAt = 0 } of this.sentBy(run))
			if (endedAt - window.claimedAt > longestMs && !run.asking.isClockUnsure)
				this.broken(`${run.name} waits for ${reference} beyond its lease`);
		if (!run.isOutput) return;
		const told = new Map(run.told);
		const freed = this.freed.get(window.claim) ?? new Set<string>();
		this.freed.set(window.claim, freed);
		process.arrival(0.5, () => {
			this.timeline.after(wayMs, () => {
				for (const [reference, outcome] of told)
					if (outcome === 'notPaid' || outcome === 'ready') freed.add(reference);
				this.story.tell(() => `${run.name} settles`);
				this.gate.settle(window.claim, told);
			});
		});
	}

	private atRest(): void {
		for (const run of this.runs)
			if (!run.hasEnded && run.process.alive) this.broken(`${run.name} never ends`);
	}

	private broken(rule: string): void {
		this.violations.push(rule);
		this.story.tell(() => `*** ${rule}`);
	}

	private count(name: string): void {
		this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
	}
}
