// What a world with a pay gate consists of: calls of the gate, what uses their data again, people, and what goes wrong.
import * as fc from 'fast-check';
import type { Blow } from './n8n-process.mts';
import { answerKinds } from './plan.mts';
import type { AnswerKind } from './plan.mts';

export const gatePeople = 4;

/**
 * How the node gets the data of a claim once more. `pinned`: a new execution of the workflow. `copied`: a copy of the
 * workflow, whose execution has the same number. `loop`: it runs again in the execution. `secondNode`: another node of the
 * execution.
 */
const reuseKinds = ['pinned', 'copied', 'loop', 'secondNode'] as const;
export type ReuseKind = (typeof reuseKinds)[number];

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
	processes: Blow[][];
	calls: GateCall[];
	/** In ms: when a person settles what is unknown by what the service says. */
	settledAt: number[];
	answers: AnswerKind[][];
	balance: number;
	balanceAnswers: [];
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

const reuse: fc.Arbitrary<Reuse> = fc.record({
	kind: fc.constantFrom(...reuseKinds),
	process: fc.integer({ min: 0, max: 2 }),
	afterMs: times,
	lacksCredential: sometimes(5),
});

const call: fc.Arbitrary<GateCall> = fc.record({
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
	reuses: fc.array(reuse, { maxLength: 2 }),
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
	blows: Blow['kind'][];
}
const climates: Climate[] = [
	{ answers: false, blows: [] },
	{ answers: true, blows: [] },
	{ answers: true, blows: ['crash'] },
	{ answers: true, blows: ['stopped', 'suspended'] },
	{ answers: false, blows: ['stopped', 'suspended'] },
	{ answers: true, blows: ['clockForward', 'clockBack', 'stopped'] },
	{ answers: true, blows: ['crash', 'stopped', 'suspended'] },
];

function planOf({ answers, blows }: Climate): fc.Arbitrary<GatePlan> {
	return fc.record({
		kind: fc.constant<'gate'>('gate'),
		timeout: fc.constantFrom(5_000, 5_000, 60_000),
		lease: fc.constantFrom(40_000, 120_000),
		processes: fc.array(
			blows.length > 0 ? fc.array(blow(blows), { maxLength: 2 }) : fc.constant<Blow[]>([]),
			{ minLength: 1, maxLength: 3 },
		),
		calls: fc.array(call, { minLength: 1, maxLength: 4 }),
		settledAt: fc.array(fc.integer({ min: 30_000, max: 300_000 }), { maxLength: 3 }),
		answers: answers
			? fc.array(fc.array(fc.constantFrom(...answerKinds), { maxLength: 3 }), {
					minLength: gatePeople,
					maxLength: gatePeople,
				})
			: fc.constant<AnswerKind[][]>([]),
		balance: fc.constant(1_000_000),
		balanceAnswers: fc.constant<[]>([]),
		noise,
	});
}

export const anyGatePlan: fc.Arbitrary<GatePlan> = fc.oneof(...climates.map(planOf));
