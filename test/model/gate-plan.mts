// What a world with a pay gate consists of: calls of the gate, what uses their data again, people, and what goes wrong.
import * as fc from 'fast-check';
import { mayResume } from './known-limits.mts';
import type { Blow } from './n8n-process.mts';
import { answerKinds } from './plan.mts';
import type { AnswerKind, DatabaseFault, DatabaseFaultKind } from './plan.mts';

export const gatePeople = 4;

/**
 * How the node gets the data of a claim once more. `pinned`: a new execution of the workflow. `copied`: a copy of the
 * workflow, whose execution has the same number. `resumed`: n8n runs the same execution again, in any process.
 * `secondNode`: another node of the execution.
 */
export type ReuseKind = 'pinned' | 'copied' | 'resumed' | 'secondNode';

export interface Reuse {
	kind: ReuseKind;
	process: number;
	/** In ms, after the claim's data came. */
	afterMs: number;
	lacksCredential: boolean;
}

/** One call of the gate: claim, pay, settle. */
export interface GateCall {
	process: number;
	startMs: number;
	people: number[];
	concurrency: number;
	tries: number;
	onError: 'stop' | 'continue';
	mode: 'manual' | 'retry';
	lacksCredential: boolean;
	dryRun: boolean;
	reuses: Reuse[];
	noise: number;
}

export interface GatePlan {
	kind: 'gate';
	/** In ms, of a payment. */
	timeout: number;
	/** In ms. */
	lease: number;
	/** Of one of the four steps of a database call, at most, in ms. */
	latency: number;
	processes: Blow[][];
	calls: GateCall[];
	/** In ms: when a person settles what is unknown by what the service says. */
	settledAt: number[];
	answers: AnswerKind[][];
	balance: number;
	balanceAnswers: [];
	faults: DatabaseFault[];
	noise: number;
}

const noise = fc.noShrink(fc.integer({ min: 0, max: 2 ** 31 - 1 }));
const sometimes = (oneIn: number): fc.Arbitrary<boolean> =>
	fc.integer({ min: 0, max: oneIn - 1 }).map((value) => value === oneIn - 1);
const times = fc.oneof(
	fc.integer({ min: 0, max: 200 }),
	fc.integer({ min: 0, max: 8_000 }),
	fc.integer({ min: 0, max: 150_000 }),
);

const reuse = (kinds: ReuseKind[]): fc.Arbitrary<Reuse> =>
	fc.record({
		kind: fc.constantFrom(...kinds),
		process: fc.integer({ min: 0, max: 2 }),
		afterMs: times,
		lacksCredential: sometimes(5),
	});

const call = (kinds: ReuseKind[]): fc.Arbitrary<GateCall> =>
	fc.record({
		process: fc.integer({ min: 0, max: 2 }),
		startMs: times,
		people: fc.uniqueArray(fc.integer({ min: 0, max: gatePeople - 1 }), {
			minLength: 1,
			maxLength: gatePeople,
		}),
		concurrency: fc.integer({ min: 1, max: 3 }),
		tries: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 3 })),
		onError: fc.oneof(
			{ weight: 4, arbitrary: fc.constant<GateCall['onError']>('continue') },
			{ weight: 1, arbitrary: fc.constant<GateCall['onError']>('stop') },
		),
		mode: sometimes(6).map((is) => (is ? 'retry' : 'manual')),
		lacksCredential: sometimes(10),
		dryRun: sometimes(12),
		reuses: fc.array(reuse(kinds), { maxLength: 2 }),
		noise,
	});

const blow = (kinds: Blow['kind'][]): fc.Arbitrary<Blow> =>
	fc.record({
		kind: fc.constantFrom(...kinds),
		atStep: fc.oneof(fc.integer({ min: 1, max: 25 }), fc.integer({ min: 1, max: 120 })),
		lasts: fc.constantFrom(10_000, 35_000, 70_000, 140_000),
	});

interface Climate {
	answers: boolean;
	faults: boolean;
	blows: Blow['kind'][];
}
const climates: Climate[] = [
	{ answers: false, faults: false, blows: [] },
	{ answers: true, faults: false, blows: [] },
	{ answers: true, faults: true, blows: [] },
	{ answers: true, faults: false, blows: ['crash'] },
	{ answers: true, faults: false, blows: ['stopped', 'suspended'] },
	{ answers: false, faults: false, blows: ['stopped', 'suspended'] },
	{ answers: true, faults: false, blows: ['clockForward', 'clockBack', 'stopped'] },
	{ answers: true, faults: true, blows: ['crash', 'stopped', 'suspended'] },
];

const reusesIn = ({ faults, blows }: Climate): ReuseKind[] =>
	mayResume(faults, blows)
		? ['pinned', 'copied', 'resumed', 'secondNode']
		: ['pinned', 'copied', 'secondNode'];

function planOf(climate: Climate): fc.Arbitrary<GatePlan> {
	const { answers, faults, blows } = climate;
	const fault: fc.Arbitrary<DatabaseFault> = fc.record({
		kind: fc.constantFrom<DatabaseFaultKind[]>(
			'failsBefore',
			'failsBetween',
			'failsAfter',
			'silentBefore',
			'silentAfter',
			'slow',
		),
		call: fc.integer({ min: 0, max: 40 }),
		count: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 12 })),
	});
	return fc.record({
		kind: fc.constant<'gate'>('gate'),
		timeout: fc.constantFrom(5_000, 5_000, 60_000),
		lease: fc.constantFrom(40_000, 120_000),
		latency: fc.constantFrom(3, 20),
		processes: fc.array(
			blows.length > 0 ? fc.array(blow(blows), { maxLength: 2 }) : fc.constant<Blow[]>([]),
			{ minLength: 1, maxLength: 3 },
		),
		calls: fc.array(call(reusesIn(climate)), { minLength: 1, maxLength: 4 }),
		settledAt: fc.array(fc.integer({ min: 30_000, max: 300_000 }), { maxLength: 3 }),
		answers: answers
			? fc.array(fc.array(fc.constantFrom(...answerKinds), { maxLength: 3 }), {
					minLength: gatePeople,
					maxLength: gatePeople,
				})
			: fc.constant<AnswerKind[][]>([]),
		balance: fc.constant(1_000_000),
		balanceAnswers: fc.constant<[]>([]),
		faults: faults ? fc.array(fault, { maxLength: 3 }) : fc.constant<DatabaseFault[]>([]),
		noise,
	});
}

export const anyGatePlan: fc.Arbitrary<GatePlan> = fc.oneof(...climates.map(planOf));
