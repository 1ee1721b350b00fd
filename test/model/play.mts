// Plays a world: runs of the node in its processes, and after all of it healthy runs that must explain everybody.
import { Books, referenceOf } from './books.mts';
import type { Build } from './build.mts';
import { runNode } from './execution.mts';
import { mayStandStill } from './known-limits.mts';
import { N8nProcess } from './n8n-process.mts';
import type { Blow } from './n8n-process.mts';
import { people } from './plan.mts';
import type { Finding, NodeName, Plan, RunPlan } from './plan.mts';
import { Judge } from './rules.mts';
import type { Payee, RunRecord } from './rules.mts';
import { SimulatedDatabase } from './simulated-database.mts';
import { Story } from './story.mts';
import { messageOf } from './told.mts';
import { Timeline, randomFrom } from './virtual-time.mts';

/** Events of a world; one with more does not end. */
const mostEvents = 400_000;

export interface Played {
	/** What broke, in words; none in a good world. */
	violations: string[];
	/** Who did what when, if it was asked for. */
	story: string[];
	/** Outcomes that were told, known limits that were met, by how often. */
	counts: Map<string, number>;
}

/** Plays `plan` with the code of `build`. The same plan always plays alike. */
export async function play(plan: Plan, build: Build, withStory = false): Promise<Played> {
	const world = new World(plan, build, withStory);
	await world.play();
	return {
		violations: world.judge.violations,
		story: world.story.lines(),
		counts: world.judge.counts,
	};
}

/** One n8n machine, where a process runs and is started again. */
interface Slot {
	process: N8nProcess;
	started: number;
}

class World {
	readonly story: Story;
	readonly judge: Judge;
	private readonly plan: Plan;
	private readonly build: Build;
	private readonly timeline = new Timeline();
	private readonly database: SimulatedDatabase;
	private readonly books: Books;
	private readonly slots: Slot[];
	private readonly runs: RunRecord[] = [];

	constructor(plan: Plan, build: Build, withStory: boolean) {
		this.plan = plan;
		this.build = build;
		const { timeline } = this;
		this.story = new Story(timeline, withStory);
		const { tell } = this.story;
		this.database = new SimulatedDatabase(timeline, plan.latency, plan.faults, tell);
		this.books = new Books(timeline, plan, tell, (sent) => {
			this.judge.paying(sent);
		});
		this.judge = new Judge(plan, timeline, this.books, this.database, this.runs, tell);
		this.slots = plan.processes.map((blows, index) => ({
			process: this.start(index, 0, blows),
			started: 0,
		}));
	}

	async play(): Promise<void> {
		const { plan, judge } = this;
		let previous: (() => void)[] = [];
		const starts: { run: RunPlan; next: (() => void)[] }[] = [];
		for (const run of plan.runs) {
			const next: (() => void)[] = [];
			const begin = (): void => {
				this.timeline.after(run.start.ms, () => {
					this.begin(run, next);
				});
			};
			if (run.start.after === 'beginning' || starts.length === 0) begin();
			else previous.push(begin);
			starts.push({ run, next });
			previous = next;
		}
		await this.rest();
		judge.atRest('before the last runs');
		this.heal();
		if (judge.violations.length > 0) return;
		for (const role of ['last', 'settling', 'final'] as const) {
			const process = role === 'last' ? this.slots[0]?.process : this.start(0, 9, []);
			if (process === undefined) return;
			for (const node of ['a', 'b'] as const) this.beginLast(node, role, process);
			await this.rest();
			judge.atRest(`after the runs that are ${role}`);
		}
		judge.atEnd();
	}

	private async rest(): Promise<void> {
		if (!(await this.timeline.rest(mostEvents)))
			this.judge.broken('the world does not come to rest');
	}

	private heal(): void {
		this.story.tell(() => 'From now on nothing goes wrong.');
		this.database.heal();
		this.books.heal();
		for (const { process } of this.slots) process.spare();
	}

	private start(index: number, generation: number, blows: readonly Blow[]): N8nProcess {
		const name = `process ${index}${generation > 0 ? ` (start ${generation + 1})` : ''}`;
		const random = randomFrom(this.plan.noise + index * 7919 + generation * 104729);
		return new N8nProcess(name, this.build, this.timeline, random, blows, {
			tell: this.story.tell,
			mayFreeze: mayStandStill,
			struck: (kind, process) => {
				this.judge.struck++;
				if (kind === 'crash') this.crashed(index, process);
				else this.story.tell(() => `${process.name}: ${kind}`);
			},
		});
	}

	private crashed(index: number, process: N8nProcess): void {
		this.story.tell(() => `${process.name} crashes`);
		const slot = this.slots[index];
		if (slot === undefined || slot.process !== process) return;
		const blow = this.plan.processes[index]?.find(({ kind }) => kind === 'crash');
		this.timeline.after(blow?.lasts ?? 2_000, () => {
			slot.started++;
			slot.process = this.start(index, slot.started, []);
			this.story.tell(() => `${slot.process.name} is up`);
			for (const waiting of this.waiting.splice(0)) waiting();
		});
		for (const run of this.runs)
			if (run.process === process && run.endedAt === undefined) run.died();
	}

	/** What waits for a process that is down. */
	private readonly waiting: (() => void)[] = [];

	private begin(plan: RunPlan, next: (() => void)[]): void {
		const slot = this.slots[plan.process % this.slots.length];
		if (slot === undefined) return;
		if (!slot.process.alive) {
			this.waiting.push(() => {
				this.begin(plan, next);
			});
			return;
		}
		this.run(plan, slot.process, next);
	}

	private beginLast(
		node: NodeName,
		role: 'last' | 'settling' | 'final',
		process: N8nProcess,
	): void {
		const known = new Set(
			this.plan.runs.flatMap((run) =>
				run.node === node && run.references !== 'none'
					? run.items.filter(({ variant }) => variant !== 'noReference').map(({ person }) => person)
					: [],
			),
		);
		if (known.size === 0) return;
		const items = Array.from({ length: people }, (_, person) => person)
			.filter((person) => known.has(person))
			.map((person) => ({ person, variant: 'same' as const, finding: 'asks' as const }));
		const plan: RunPlan = {
			process: 0,
			node,
			start: { after: 'beginning', ms: 0 },
			items,
			references: 'expression',
			concurrency: 3,
			tries: 1,
			onError: 'continue',
			mode: 'manual',
			ifReferenceUsed: 'skip',
			aim: role === 'settling' ? 'settle' : 'pay',
			findingAgeMs: 0,
			checkBalance: false,
			noise: 1,
		};
		this.run(plan, process, [], role);
	}

	private itemsOf(plan: RunPlan): Payee[] {
		const number = this.runs.length;
		return plan.items.map(({ person, variant }, index): Payee => {
			if (plan.references === 'none')
				return {
					key: `free-${number}-${index}`,
					toUserId: `free-${number}-${index}`,
					amount: 10,
					reference: '',
					variant: 'same',
				};
			const usual = `${plan.node}${person}`;
			const reference = variant === 'lookAlike' ? usual.toUpperCase() : usual;
			const suffix =
				variant === 'otherPerson' ? '-other' : variant === 'noReference' ? '-none' : '';
			return {
				key: reference,
				toUserId: `user-${reference}${suffix}`,
				amount: variant === 'otherAmount' ? 11 : 10,
				reference: variant === 'noReference' ? '' : reference,
				variant,
			};
		});
	}

	private run(
		plan: RunPlan,
		process: N8nProcess,
		next: (() => void)[],
		role: RunRecord['role'] = 'planned',
	): void {
		const controller = new AbortController();
		const payees = this.itemsOf(plan);
		const record: RunRecord = {
			number: this.runs.length,
			name: `run ${this.runs.length}${role === 'planned' ? '' : ` (${role})`}`,
			role,
			plan,
			payees,
			process,
			beganAt: 0,
			givenAt: this.timeline.now,
			findings: payees.map((payee, index) => this.findingAbout(plan, payee, index)),
			askedFirst: new Map(),
			asked: new Map(),
			lines: new Map(),
			stoodStillBefore: process.stoodStill,
			died: () => {
				record.isDead = true;
				record.diedAt = this.timeline.now;
				for (const each of next) each();
			},
			isDead: false,
		};
		this.runs.push(record);
		process.arrival(plan.aim === 'settle' ? plan.findingAgeMs : 0, () => {
			record.beganAt = this.timeline.now;
			this.judge.began(record);
			this.tellBeginning(record);
			if (plan.stopAfterSteps !== undefined)
				process.afterSteps(plan.stopAfterSteps, () => {
					if (record.endedAt !== undefined) return;
					record.stoppedAt = this.timeline.now;
					this.story.tell(() => `${record.name} is stopped`);
					controller.abort();
				});
			void runNode(
				{
					number: record.number,
					name: record.name,
					process,
					nodeId: `pay-${plan.node}`,
					parameters: this.parametersOf(plan),
					items: payees.map((payee, index) =>
						itemOf(plan, payee, record.findings[index] ?? 'unclear'),
					),
					tries: plan.tries,
					continues: plan.onError === 'continue',
					mode: plan.mode,
					signal: controller.signal,
					random: randomFrom(plan.noise),
				},
				{
					database: this.database,
					books: this.books,
					tell: this.story.tell,
					trying: () => {},
					grounds: (toUserId) => ({
						claimedAt: record.asked.get(referenceOf(toUserId)) ?? record.beganAt,
					}),
					looked: (marks) => {
						for (const { key } of payees) {
							if (!marks.includes(`sent:${key}`)) continue;
							if (!record.asked.has(key)) record.askedFirst.set(key, this.timeline.now);
							record.asked.set(key, this.timeline.now);
						}
					},
					counted: (entries) => {
						record.firstCount ??= entries;
					},
					tried: (result, tryIndex) => {
						if ('error' in result)
							this.story.tell(() => `${record.name} fails: ${messageOf(result.error)}`);
						this.judge.told(record, result, tryIndex);
					},
				},
			).then(
				() => {
					record.endedAt = this.timeline.now;
					this.judge.ended(record);
					for (const each of next) each();
				},
				(error: unknown) => {
					this.judge.broken(`${record.name} threw ${messageOf(error)}`);
				},
			);
		});
	}

	/** A person asks the service, and tells the truth; as long as a request may still be carried out, nothing. Or they guess. */
	private findingAbout(
		{ aim, items }: RunPlan,
		{ key, toUserId, amount }: Payee,
		item: number,
	): Finding {
		const { finding = 'asks' } = items[item] ?? {};
		if (aim !== 'settle') return 'unclear';
		if (finding !== 'asks') return finding;
		if (this.books.isPending(key)) return 'unclear';
		const isPaid = this.books
			.paymentsOf(key)
			.some((each) => each.toUserId === toUserId && each.amountEtb === amount);
		return isPaid ? 'paid' : 'notPaid';
	}

	private parametersOf(plan: RunPlan): Record<string, unknown> {
		const isColumn = plan.references === 'column';
		return {
			resource: 'disbursement',
			operation: 'create',
			mode: plan.aim,
			finding: 'fromItem',
			mappingMode: isColumn ? 'autoMapInputData' : 'defineBelow',
			...(!isColumn && {
				toUserId: '={{ $json.to }}',
				amountEtb: '={{ $json.amount }}',
				reference: plan.references === 'none' ? '' : '={{ $json.ref }}',
			}),
			options: {
				timeout: this.plan.timeout,
				concurrency: plan.concurrency,
				checkBalance: plan.checkBalance,
				ifReferenceUsed: plan.ifReferenceUsed,
				...(plan.maxAmountEtb !== undefined && { maxAmountEtb: plan.maxAmountEtb }),
				...(plan.maxTotalEtb !== undefined && { maxTotalEtb: plan.maxTotalEtb }),
			},
		};
	}

	private tellBeginning({ name, process, plan, payees, findings, givenAt }: RunRecord): void {
		const items = payees.map(
			({ toUserId, amount, reference }, index) =>
				`${reference || 'no reference'} (${toUserId}, ${amount} ETB${plan.aim === 'settle' ? `, finding: ${findings[index]}` : ''})`,
		);
		const { concurrency, tries, onError, mode, aim, ifReferenceUsed, checkBalance } = plan;
		const options = JSON.stringify({
			concurrency,
			tries,
			onError,
			...(mode !== 'manual' && { mode }),
			aim,
			...(plan.findingAgeMs > 0 && aim === 'settle' && { foundAt: `${givenAt / 1000} s` }),
			...(checkBalance && { checkBalance }),
			...(ifReferenceUsed === 'fail' && { ifReferenceUsed }),
			...(plan.maxAmountEtb !== undefined && { maxAmountEtb: plan.maxAmountEtb }),
			...(plan.maxTotalEtb !== undefined && { maxTotalEtb: plan.maxTotalEtb }),
			...(plan.references === 'column' && { references: 'column' }),
		});
		this.story.tell(
			() => `${name} begins in ${process.name}, node ${plan.node}: ${items.join(', ')} ${options}`,
		);
	}
}

function itemOf(plan: RunPlan, payee: Payee, finding: Finding): Record<string, unknown> {
	const { toUserId, amount, reference } = payee;
	return plan.references === 'column'
		? { toUserId, amountEtb: amount, reference, finding }
		: { to: toUserId, amount, ref: reference, finding };
}
