// A simulated n8n process: its own copy of the modules, its clocks, and what stops it.
import * as nodeCrypto from 'node:crypto';
import { getEventListeners } from 'node:events';
import { createRequire } from 'node:module';
import type { Build } from './build.mts';
import type { OwnedEvent, Owner, Timeline } from './virtual-time.mts';
import type { Log } from './log.mts';

/** A disruption of a process at its `atStep`-th step. A step is all that it does until it waits again. */
export interface Disruption {
	/**
	 * `paused`: SIGSTOP, its clocks go on. `suspended`: its machine sleeps, the monotonic clock stands still.
	 * `clockForward`, `clockBack`: its clock on the wall is set.
	 */
	kind: 'crash' | 'paused' | 'suspended' | 'clockForward' | 'clockBack';
	atStep: number;
	/** In ms, until it goes on or is started again; or how far its clock is set. */
	lasts: number;
}

export const globalNames = [
	'Date',
	'performance',
	'Math',
	'AbortSignal',
	'setTimeout',
	'setInterval',
	'setImmediate',
] as const;

// n8n, too, loads the CommonJS build: that for import statements does not run in Node.
const n8n: unknown = createRequire(import.meta.url)('n8n-workflow');
/** A module with other functions in place of some of its own. */
const over = (module: unknown, functions: Record<string, unknown>): unknown =>
	Object.create(Object(module) as object, descriptorsOf(functions));

const descriptorsOf = (functions: Record<string, unknown>): PropertyDescriptorMap =>
	Object.fromEntries(Object.entries(functions).map(([name, value]) => [name, { value }]));

/** All timers share one error, because making it costs more than all else that a timer does. */
const timedOut = new DOMException('The operation timed out', 'TimeoutError');

const epoch = Date.UTC(2026, 10, 1);

interface ProcessHooks {
	log: Log;
	/** Called when a disruption began. */
	disrupted(kind: Disruption['kind'], process: N8nProcess): void;
	/** Whether a process may stand still now. If not, the pause waits. */
	mayFreeze(process: N8nProcess, ms: number): boolean;
}

export class N8nProcess implements Owner {
	alive = true;
	steps = 0;
	/** Database calls of this process whose write has not arrived. */
	writing = 0;
	/** Requests that were asked for and have no connection yet. */
	connecting = 0;
	/** In ms of the world: the sum of its pauses. */
	stoodStill = 0;
	readonly name: string;
	readonly random: () => number;
	private readonly build: Build;
	private module: ((path: string) => unknown) | undefined;
	private readonly timeline: Timeline;
	private readonly hooks: ProcessHooks;
	private readonly disruptions: Disruption[];
	private wallOffset: number;
	private suspended = 0;
	private held: OwnedEvent[] | undefined;
	private alarms: { step: number; run: () => void }[] = [];

	constructor(
		name: string,
		build: Build,
		timeline: Timeline,
		random: () => number,
		disruptions: readonly Disruption[],
		hooks: ProcessHooks,
	) {
		this.name = name;
		this.timeline = timeline;
		this.random = random;
		this.hooks = hooks;
		this.disruptions = [...disruptions].sort((left, right) => left.atStep - right.atStep);
		this.wallOffset = epoch + Math.floor(random() * 10_000);
		this.build = build;
	}

	/**
	 * The part of `EtbWallet.execute` that pays, without the descriptions of all fields, which take longer to load than a
	 * world to play. The code is loaded when it runs first.
	 */
	async execute(context: unknown): Promise<unknown> {
		this.module ??= this.build.opened(this.surroundings());
		const { module } = this;
		const exported = (path: string, name: string): ((...given: unknown[]) => unknown) => {
			const value: unknown = Reflect.get(Object(module(`nodes/EtbWallet/${path}.js`)), name);
			if (typeof value !== 'function') throw new Error(`The build has no ${name}`);
			return (...given): unknown => Reflect.apply(value, undefined, given);
		};
		const read = exported('parameters', 'parameterReader')(context);
		return await exported('paying/createDisbursement', 'createDisbursement')(context, read);
	}

	/** Its clock on the wall, in ms. */
	get wall(): number {
		return this.timeline.now + this.wallOffset;
	}

	/** No disruption begins any more. */
	spare(): void {
		this.disruptions.length = 0;
	}

	/** Runs before the step that is `steps` from now. */
	afterSteps(steps: number, run: () => void): void {
		this.alarms.push({ step: this.steps + steps, run });
	}

	receive(event: OwnedEvent): void {
		if (!this.alive) return;
		if (this.held !== undefined) {
			this.held.push(event);
			return;
		}
		this.steps++;
		const [disruption] = this.disruptions;
		if (disruption !== undefined && this.steps >= disruption.atStep) {
			if (disruption.kind === 'crash') {
				this.disruptions.length = 0;
				this.alive = false;
				this.hooks.disrupted('crash', this);
				return;
			}
			if (disruption.kind === 'clockForward' || disruption.kind === 'clockBack') {
				this.disruptions.shift();
				this.wallOffset +=
					disruption.kind === 'clockForward' ? disruption.lasts : -disruption.lasts;
				this.hooks.disrupted(disruption.kind, this);
			} else if (this.hooks.mayFreeze(this, disruption.lasts)) {
				this.disruptions.shift();
				this.freeze(disruption.kind, disruption.lasts, event);
				return;
			}
		}
		if (this.alarms.length > 0) {
			const due = this.alarms.filter(({ step }) => step <= this.steps);
			this.alarms = this.alarms.filter(({ step }) => step > this.steps);
			for (const { run } of due) run();
		}
		event.run();
	}

	/** Runs in this process after `ms` of its monotonic clock. */
	timer(ms: number, run: () => void): void {
		const due = this.monotonic() + Math.max(0, ms);
		const event: OwnedEvent = {
			kind: 'timer',
			run: () => {
				const rest = due - this.monotonic();
				if (rest > 1e-3) this.timeline.afterIn(this, rest, event);
				else run();
			},
		};
		this.timeline.afterIn(this, ms, event);
	}

	/** Runs in this process after `ms` of the world, as data from outside does. */
	arrival(ms: number, run: () => void): void {
		this.timeline.afterIn(this, ms, { kind: 'arrival', run });
	}

	private freeze(kind: 'paused' | 'suspended', ms: number, event: OwnedEvent): void {
		const held = [event];
		this.held = held;
		this.hooks.log(() => `${this.name} stands still (${kind}) for ${ms / 1000} s`);
		this.hooks.disrupted(kind, this);
		this.timeline.after(ms, () => {
			this.held = undefined;
			this.stoodStill += ms;
			if (kind === 'suspended') this.suspended += ms;
			this.hooks.log(() => `${this.name} goes on`);
			// After a process stood still, Node.js may begin with the timers or with the data that arrived.
			const first = this.random() < 0.5 ? 'timer' : 'arrival';
			const inOrder = [
				...held.filter((each) => each.kind === first),
				...held.filter((each) => each.kind !== first),
			];
			for (const each of inOrder) this.timeline.afterIn(this, 0, each);
		});
	}

	private monotonic(): number {
		return this.timeline.now - this.suspended;
	}

	private sleep = async (ms: number): Promise<void> => {
		await new Promise<void>((done) => {
			this.timer(ms, done);
		});
	};

	private surroundings(): { globals: Record<string, unknown>; packages: Record<string, unknown> } {
		const wall = (): number => this.wall;
		class VirtualDate extends Date {
			constructor(value?: number | string | Date) {
				super(value ?? wall());
			}
			static override now(): number {
				return wall();
			}
		}
		const parts = new WeakSet<AbortSignal>();
		const timeout = (ms: number): AbortSignal => {
			const controller = new AbortController();
			const { signal } = controller;
			this.timer(ms, () => {
				// To abort costs more than all else that a timer does, and each call of the database has one to
				// which nobody listens.
				if (parts.has(signal) || getEventListeners(signal, 'abort').length > 0)
					controller.abort(timedOut);
				else Object.defineProperty(signal, 'aborted', { value: true });
			});
			return signal;
		};
		const any = (signals: AbortSignal[]): AbortSignal => {
			for (const each of signals) parts.add(each);
			return AbortSignal.any(signals);
		};
		const ours: Readonly<Record<string | symbol, unknown>> = { timeout, any };
		const realTimer = (): never => {
			throw new Error('The built code uses a timer that the model does not know');
		};
		return {
			globals: {
				Date: VirtualDate,
				performance: { now: () => this.monotonic() },
				Math: over(Math, { random: this.random }),
				AbortSignal: new Proxy(AbortSignal, {
					get: (target, name) => ours[name] ?? (Reflect.get(target, name) as unknown),
				}),
				setTimeout: realTimer,
				setInterval: realTimer,
				setImmediate: realTimer,
			},
			packages: {
				'n8n-workflow': over(n8n, { sleep: this.sleep }),
				'node:crypto': over(nodeCrypto, {
					randomUUID: () => `uuid-${Math.floor(this.random() * 2 ** 48).toString(16)}`,
					randomBytes: (size: number) =>
						Buffer.from(Array.from({ length: size }, () => Math.floor(this.random() * 256))),
				}),
			},
		};
	}
}
