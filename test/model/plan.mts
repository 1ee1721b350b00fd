// The plan of a model world, as a value that fast-check makes and shrinks.
import * as fc from 'fast-check';
import type { Disruption } from './n8n-process.mts';

export const people = 6;
export type NodeName = 'a' | 'b';

/**
 * What a person states about a reference in a run that settles; `takeBack`: only that an earlier statement is wrong;
 * `nothing`: it is not named.
 */
export type PlannedStatement = 'paid' | 'notPaid' | 'takeBack' | 'nothing';

/** How the service and the network treat one request to pay. `…Paid`: the books have it, whatever was told. */
const responseKinds = [
	'paid',
	'slowPaid',
	'latePaid',
	'rejected',
	'slowRejected',
	'lateRejected',
	'saysNo',
	'tooMany',
	'tooManyForLong',
	'refused',
	'error',
	'errorPaid',
	'reset',
	'resetPaid',
	'silent',
	'silentPaid',
	'dripping',
	'drippingPaid',
	'unreadable',
	'unreadablePaid',
	'contradictory',
	'contradictoryPaid',
	'undecided',
	'undecidedPaid',
] as const;
export type ResponseKind = (typeof responseKinds)[number];

export type VariantKind = 'same' | 'otherAmount' | 'otherPerson' | 'noReference';

/** How a reference is written: as usual, or so that it looks the same. */
export const spellings: readonly ((reference: string) => string)[] = [
	(reference) => reference,
	(reference) => reference.toUpperCase(),
	(reference) => reference.replace('-', '\u2011'),
	(reference) => ` ${reference.replace('-', ' - ')}\u200b\ufe0f`,
	(reference) => reference.replace(/[a-z]/g, (letter) => fullWidth(letter)),
];
const fullWidth = (letter: string): string => String.fromCodePoint(letter.charCodeAt(0) + 0xfee0);

export interface ItemPlan {
	/** The number of the person, who has one reference. */
	person: number;
	variant: VariantKind;
	/** An index of `spellings`. */
	spelling: number;
	/** The statement about it when the run settles. `asks`: a person asks the books first; the others are guesses. */
	statement: 'asks' | PlannedStatement;
}

type Does = 'pay' | 'dryRun' | 'settle';

export interface RunPlan {
	process: number;
	node: NodeName;
	/** In ms after the beginning, or after the run before it ended or its process died. */
	start: { after: 'beginning' | 'previous'; ms: number };
	items: ItemPlan[];
	does: Does;
	/** The form of *Mode* and of the two fields with statements in a run that settles: fixed values, or expressions. */
	by: 'typed' | 'expression';
	/** Whether *notPaid* by an expression names the sending that it is about, by the time at which it was told unknown. */
	namesSending: boolean;
	/** In ms, from when a person asks the service until the run begins that takes the statement to the node. */
	statementAgeMs: number;
	/** In ms, after the end: a loop, or a sub-workflow with Retry On Fail, runs the node again with the same statements. */
	repeats: number[];
	/** Its start: by a person in the editor, Retry execution, or a schedule. */
	mode: 'manual' | 'retry' | 'trigger';
	/** In ms. */
	timeout: number;
	concurrency: number;
	tries: number;
	onError: 'stop' | 'continue';
	checkBalance: boolean;
	maxAmountEtb?: number;
	maxTotalEtb?: number;
	/** The run is stopped after so many steps of its process. */
	stopAfterSteps?: number;
	noise: number;
}

const faultKinds = [
	'failsBefore',
	'failsBetween',
	'failsAfter',
	'silentBefore',
	'silentBetween',
	'silentAfter',
	'slow',
] as const;
export type DatabaseFaultKind = (typeof faultKinds)[number];

/** A failure of `count` calls of the database, from the `call`-th of the world. */
export interface DatabaseFault {
	kind: DatabaseFaultKind;
	call: number;
	count: number;
}

export interface Plan {
	/** In ms, at most, for each of the four steps of a database call. */
	latency: number;
	processes: Disruption[][];
	runs: RunPlan[];
	/** By person, the responses to the requests, in order. Later requests are paid. */
	responses: ResponseKind[][];
	balanceResponses: ('read' | 'error' | 'silent')[];
	balance: number;
	faults: DatabaseFault[];
	noise: number;
}

/** A run in which nothing but its payments happens. */
export const calmRun: Omit<RunPlan, 'items'> = {
	process: 0,
	node: 'a',
	start: { after: 'previous', ms: 0 },
	does: 'pay',
	by: 'typed',
	namesSending: false,
	statementAgeMs: 0,
	repeats: [],
	mode: 'manual',
	timeout: 5_000,
	concurrency: 3,
	tries: 1,
	onError: 'continue',
	checkBalance: false,
	noise: 1,
};

/** Seeds of chance inside of a world. They do not shrink, because a smaller one makes no simpler world. */
const noise = fc.noShrink(fc.integer({ min: 0, max: 2 ** 31 - 1 }));

/** Each value with the weight that stands before it. */
function often<Value>(...choices: readonly (readonly [number, Value])[]): fc.Arbitrary<Value> {
	return fc.oneof(...choices.map(([weight, value]) => ({ weight, arbitrary: fc.constant(value) })));
}
/** A value of `other` once for `weight` times the usual one. */
const mostly = <Value,>(weight: number, usual: Value, other: fc.Arbitrary<Value>) =>
	fc.oneof({ weight, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other });
const sometimes = (oneIn: number): fc.Arbitrary<boolean> => often([oneIn - 1, false], [1, true]);
const listOf = <Value,>(value: fc.Arbitrary<Value>, most: number): fc.Arbitrary<Value[]> =>
	fc.array(value, { maxLength: most });
const upTo = (max: number): fc.Arbitrary<number> => fc.integer({ min: 0, max });

const person = upTo(people - 1);
const item: fc.Arbitrary<ItemPlan> = fc.record({
	person,
	variant: often<VariantKind>(
		[40, 'same'],
		[1, 'otherAmount'],
		[1, 'otherPerson'],
		[1, 'noReference'],
	),
	spelling: often<number>([6, 0], [1, 1], [1, 2], [1, 3], [1, 4]),
	statement: often<ItemPlan['statement']>(
		[6, 'asks'],
		[2, 'notPaid'],
		[2, 'paid'],
		[1, 'takeBack'],
		[1, 'nothing'],
	),
});
const size = { minLength: 1, maxLength: people };
const items: fc.Arbitrary<ItemPlan[]> = fc.oneof(
	{ weight: 20, arbitrary: fc.uniqueArray(item, { selector: (each) => each.person, ...size }) },
	// Now and then a person comes twice.
	{ weight: 1, arbitrary: fc.array(item, size) },
);

/** In ms. */
const longestTimeout = 120_000;
/** In ms: longer than a reservation is in flight after a crash. */
const longestInFlight = 300_000;

const times = fc.oneof(upTo(60), upTo(4_000), upTo(150_000), upTo(longestInFlight));
const timeout = fc.constantFrom(5_000, 60_000, longestTimeout);

const run: fc.Arbitrary<RunPlan> = fc.record({
	process: upTo(2),
	node: often<NodeName>([6, 'a'], [1, 'b']),
	start: fc.record({
		after: fc.constantFrom<RunPlan['start']['after'][]>('beginning', 'previous'),
		ms: times,
	}),
	items,
	does: often<Does>([12, 'pay'], [2, 'dryRun'], [6, 'settle']),
	by: fc.constantFrom<RunPlan['by'][]>('typed', 'expression'),
	namesSending: fc.boolean(),
	statementAgeMs: mostly(3, 0, upTo(60_000)),
	repeats: mostly<number[]>(5, [], listOf(times, 2)),
	mode: often<RunPlan['mode']>([8, 'manual'], [1, 'retry'], [2, 'trigger']),
	timeout,
	concurrency: fc.integer({ min: 1, max: 5 }),
	tries: often([1, 1], [1, 2], [1, 3]),
	onError: fc.constantFrom<RunPlan['onError'][]>('stop', 'continue'),
	checkBalance: sometimes(4),
	maxAmountEtb: often([20, undefined], [1, 10], [1, 10.5]),
	maxTotalEtb: mostly<number | undefined>(12, undefined, fc.integer({ min: 1, max: 70 })),
	stopAfterSteps: mostly<number | undefined>(3, undefined, fc.integer({ min: 1, max: 60 })),
	noise,
});

const disruption = (kinds: readonly Disruption['kind'][]): fc.Arbitrary<Disruption> =>
	fc.record({
		kind: fc.constantFrom(...kinds),
		atStep: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 200 })),
		lasts: fc.constantFrom(2_000, 10_000, 35_000, 70_000, 140_000, 300_000),
	});

const fault: fc.Arbitrary<DatabaseFault> = fc.record({
	kind: fc.constantFrom(...faultKinds),
	call: fc.oneof(upTo(25), upTo(150)),
	count: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 12 })),
});

/** The things that may go wrong in a world. With all of it at once, `unknown` would excuse everything. */
interface Climate {
	responses: boolean;
	faults: boolean;
	disruptions: Disruption['kind'][];
	stops: boolean;
}
const calm: Climate = { responses: false, faults: false, disruptions: [], stops: false };
const climates: Climate[] = [
	calm,
	{ ...calm, responses: true },
	{ ...calm, responses: true, stops: true },
	{ ...calm, responses: true, faults: true },
	{ ...calm, responses: true, disruptions: ['crash'] },
	{ ...calm, responses: true, disruptions: ['paused', 'suspended'] },
	{ ...calm, responses: true, disruptions: ['clockForward', 'clockBack', 'paused'] },
	{ responses: true, faults: true, disruptions: ['crash', 'paused', 'suspended'], stops: true },
];

function planOf({ responses, faults, disruptions, stops }: Climate): fc.Arbitrary<Plan> {
	const response = fc.constantFrom(...responseKinds);
	const disruptionsOfOne =
		disruptions.length > 0 ? listOf(disruption(disruptions), 2) : fc.constant<Disruption[]>([]);
	return fc
		.record({
			latency: fc.constantFrom(3, 20, 150),
			processes: fc.array(disruptionsOfOne, { minLength: 1, maxLength: 3 }),
			runs: fc.array(run, { minLength: 1, maxLength: 5 }),
			// In most worlds all runs have the same Timeout.
			timeout: fc.option(timeout, { freq: 3 }),
			responses: responses
				? fc.array(fc.oneof(fc.constant<ResponseKind[]>([]), listOf(response, 4)), {
						minLength: people,
						maxLength: people,
					})
				: fc.constant<ResponseKind[][]>([]),
			balanceResponses: responses
				? listOf(fc.constantFrom<Plan['balanceResponses']>('read', 'error', 'silent'), 3)
				: fc.constant<Plan['balanceResponses']>([]),
			balance: responses
				? fc.oneof(fc.constant(1_000_000), upTo(80))
				: fc.constant<number>(1_000_000),
			faults: faults ? listOf(fault, 4) : fc.constant<DatabaseFault[]>([]),
			noise,
		})
		.map(({ timeout: sameTimeout, ...plan }) => ({
			...plan,
			runs: plan.runs.map((each) => ({
				...each,
				// With a short Timeout, taking turns at a slow lock alone can take as long as a reservation lasts.
				timeout: plan.latency > 100 ? 60_000 : (sameTimeout ?? each.timeout),
				stopAfterSteps: stops ? each.stopAfterSteps : undefined,
			})),
		}));
}

/** With few people, runs meet at the same references. */
const crowded = fc.oneof(...climates.map(planOf)).map(
	(plan): Plan => ({
		...plan,
		runs: plan.runs.map((each) => ({
			...each,
			node: 'a',
			items: each.items
				.map((one) => ({ ...one, person: one.person % 2 }))
				.filter(
					(one, index, all) => index === all.findIndex(({ person }) => person === one.person),
				),
		})),
	}),
);

/** Several processes want the same references at the same time, while some calls of the database take seconds. */
const slowDatabase = fc.tuple(crowded, fc.array(upTo(12), { minLength: 1, maxLength: 3 })).map(
	([plan, calls]): Plan => ({
		...plan,
		responses: [],
		faults: calls.map((call) => ({ kind: 'slow', call, count: 1 })),
		processes: [[], [], []],
		runs: plan.runs.map((each, process) => ({
			...each,
			process,
			timeout: 60_000,
			does: 'pay',
			start: { after: 'beginning', ms: each.start.ms % 100 },
		})),
	}),
);

/** A run of several batches is stopped in the middle. */
const stopped = fc
	.record({
		stopAfterSteps: fc.integer({ min: 3, max: 40 }),
		concurrency: fc.integer({ min: 1, max: 2 }),
		noise,
	})
	.map(
		(choice): Plan => ({
			...calmPlan,
			processes: [[]],
			runs: [
				{ ...calmRun, ...choice, items: Array.from({ length: people }, (_, who) => itemOf(who)) },
			],
		}),
	);

/** A world in which nothing goes wrong. */
export const calmPlan: Omit<Plan, 'processes' | 'runs'> = {
	latency: 3,
	responses: [],
	balanceResponses: [],
	balance: 1_000_000,
	faults: [],
	noise: 1,
};

/** The usual item of a person. */
export const itemOf = (who: number, more: Partial<ItemPlan> = {}): ItemPlan => ({
	person: who,
	variant: 'same',
	spelling: 0,
	statement: 'asks',
	...more,
});

/**
 * The common part of the worlds of one or two people, in which somebody pays and somebody settles, in turns and
 * at once.
 */
interface InTurns {
	does: Does[];
	statements: ItemPlan['statement'][];
	/** The disruptions of the process that does the first run. */
	disruptions: Disruption['kind'][];
	/** The range of steps at which they begin. */
	atStep: [number, number];
	/** Failures of the database, from the second run on. */
	faults: DatabaseFaultKind[];
	responses: ResponseKind[];
	/** One in so many runs asks for another amount. */
	corrects: number;
	repeats: number;
}

function inTurns(more: Partial<InTurns>): fc.Arbitrary<Plan> {
	const { atStep, ...given } = { ...paysAndSettles, ...more };
	const [min, max] = atStep;
	const runOfFew = fc.record({
		process: upTo(2),
		does: fc.constantFrom(...given.does),
		start: fc.record({
			after: often<RunPlan['start']['after']>([1, 'beginning'], [3, 'previous']),
			ms: fc.oneof(upTo(300), upTo(5_000), upTo(60_000), upTo(longestInFlight)),
		}),
		by: often<RunPlan['by']>([1, 'typed'], [2, 'expression']),
		namesSending: fc.boolean(),
		mode: often<RunPlan['mode']>([3, 'manual'], [1, 'trigger']),
		statementAgeMs: fc.oneof(fc.constant(0), fc.constant(0), upTo(40_000)),
		repeats: mostly<number[]>(given.repeats, [], listOf(upTo(45_000), 3)),
		timeout: often([5, 5_000], [1, longestTimeout]),
		tries: often([3, 1], [1, 2]),
		onError: often<RunPlan['onError']>([2, 'continue'], [1, 'stop']),
		corrects: sometimes(given.corrects),
		spelling: often<number>([3, 0], [1, 1]),
		statement: fc.constantFrom(...given.statements),
		noise,
	});
	const disruptionOfFirst = fc.record({
		kind: fc.constantFrom<Disruption['kind'][]>('crash', ...given.disruptions),
		atStep: fc.integer({ min, max }),
		lasts: fc.constantFrom(2_000, 10_000, 45_000, 140_000, 300_000),
	});
	return fc
		.record({
			runs: fc.array(runOfFew, { minLength: 2, maxLength: 7 }),
			isTwo: fc.boolean(),
			disruptions:
				given.disruptions.length > 0
					? fc.array(disruptionOfFirst, { minLength: 1, maxLength: 2 })
					: fc.constant<Disruption[]>([]),
			disruptedProcess: upTo(1),
			responses: fc.array(fc.constantFrom(...given.responses), { minLength: 1, maxLength: 3 }),
			faults: fc.array(
				fc.record({
					kind: fc.constantFrom<DatabaseFaultKind[]>('failsBefore', ...given.faults),
					call: fc.integer({ min: 4, max: 40 }),
					count: fc.integer({ min: 1, max: 2 }),
				}),
				{ minLength: 1, maxLength: 2 },
			),
			latency: fc.constantFrom(3, 20),
			noise,
		})
		.map(({ runs, isTwo, disruptions, disruptedProcess, responses, faults, ...rest }) => ({
			...calmPlan,
			...rest,
			faults: given.faults.length > 0 ? faults : [],
			responses: [responses, responses],
			processes: [0, 1, 2].map((process) =>
				process === disruptedProcess
					? disruptions.map((each) =>
							given.disruptions.includes(each.kind)
								? each
								: { ...each, kind: given.disruptions[0] ?? each.kind },
						)
					: [],
			),
			runs: runs.map(({ corrects, spelling, statement, ...each }, index) => ({
				...calmRun,
				...each,
				...(index === 0 && {
					process: disruptedProcess,
					does: given.does[0] ?? each.does,
					repeats: [],
					timeout: 5_000,
				}),
				items: (isTwo ? [0, 1] : [0]).map((who) =>
					itemOf(who, { spelling, statement, variant: corrects ? 'otherAmount' : 'same' }),
				),
			})),
		}));
}

const lost: ResponseKind[] = ['silent', 'silentPaid', 'reset', 'resetPaid', 'errorPaid'];
const paysAndSettles: InTurns = {
	does: ['pay', 'pay', 'settle', 'settle'],
	statements: ['asks', 'asks', 'notPaid'],
	disruptions: [],
	atStep: [1, 60],
	faults: [],
	responses: [...lost, 'rejected', 'paid'],
	corrects: 8,
	repeats: 4,
};

const families: (readonly [number, fc.Arbitrary<Plan>])[] = [
	[5, fc.oneof(...climates.map(planOf))],
	[3, crowded],
	[2, slowDatabase],
	[1, stopped],
	// A person's statement reaches the node again and again, by loops and repeats.
	[3, inTurns({ repeats: 1, statements: ['asks', 'notPaid', 'takeBack'], responses: lost })],
	[2, inTurns({ repeats: 1, faults: ['failsBetween', 'failsAfter'], responses: lost })],
	// A sender stands still; others are told, settle and send; then it goes on.
	[
		3,
		inTurns({
			disruptions: ['paused', 'suspended'],
			atStep: [4, 40],
			responses: ['rejected', 'saysNo', 'slowRejected', 'slowPaid', 'silent'],
		}),
	],
	[2, inTurns({ disruptions: ['crash'] })],
	// A process dies while it asks for another amount.
	[
		2,
		inTurns({
			does: ['pay', 'pay', 'dryRun', 'settle'],
			disruptions: ['crash'],
			atStep: [10, 60],
			corrects: 2,
			responses: ['paid', 'errorPaid', 'error', 'rejected'],
		}),
	],
	// Refused payments free their references, which others want at once.
	[
		1,
		inTurns({
			does: ['pay'],
			faults: ['failsBetween', 'failsAfter'],
			responses: ['rejected', 'slowPaid', 'slowRejected'],
		}),
	],
];

export const anyPlan: fc.Arbitrary<Plan> = fc.noBias(
	fc.oneof(...families.map(([weight, arbitrary]) => ({ weight, arbitrary }))),
);
