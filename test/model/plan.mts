// What a model world consists of, as a value that fast-check makes and shrinks.
import * as fc from 'fast-check';
import type { Blow } from './n8n-process.mts';

export const people = 6;
export type NodeName = 'a' | 'b';

/** What a person says of a payment in a run that settles. */
export type Finding = 'unclear' | 'paid' | 'recordPaid' | 'notPaid';

/** How the service and the network treat one request to pay. `…Paid`: the books have it, whatever was told. */
export const answerKinds = [
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
] as const;
export type AnswerKind = (typeof answerKinds)[number];

/** `lookAlike`: another payment, whose reference looks the same. */
export type VariantKind = 'same' | 'otherAmount' | 'otherPerson' | 'noReference' | 'lookAlike';

export interface ItemPlan {
	/** Which person, and so which reference. */
	person: number;
	variant: VariantKind;
	/** Heeded when the run settles. `asks`: a person asks the books; the others are said without asking. */
	finding?: 'asks' | Finding;
}

export interface RunPlan {
	process: number;
	node: NodeName;
	/** In ms after the beginning, or after the run before it ended or its process died. */
	start: { after: 'beginning' | 'previous'; ms: number };
	items: ItemPlan[];
	/** `none`: no reference is mapped. `column`: Map Automatically. */
	references: 'expression' | 'column' | 'none';
	concurrency: number;
	tries: number;
	onError: 'stop' | 'continue';
	/** What started it: a person in the editor, Retry execution, or a schedule. */
	mode: 'manual' | 'retry' | 'trigger';
	ifReferenceUsed: 'skip' | 'fail';
	aim: 'pay' | 'dryRun' | 'settle';
	/** In ms, from when a person gives their findings until the run begins that takes them to the node. */
	findingAgeMs: number;
	checkBalance: boolean;
	maxAmountEtb?: number;
	maxTotalEtb?: number;
	/** Stopped when the process has made so many steps since the run began. */
	stopAfterSteps?: number;
	noise: number;
}

export type DatabaseFaultKind =
	| 'failsBefore'
	| 'failsBetween'
	| 'failsAfter'
	| 'silentBefore'
	| 'silentBetween'
	| 'silentAfter'
	| 'slow';

/** What befalls `count` calls of the database, from the `call`-th of the world. */
export interface DatabaseFault {
	kind: DatabaseFaultKind;
	call: number;
	count: number;
}

export interface Plan {
	/** In ms. Different ones in simultaneous executions of one node are a known limit. */
	timeout: number;
	/** Of one of the four steps of a database call, at most, in ms. */
	latency: number;
	processes: Blow[][];
	runs: RunPlan[];
	/** For each person, how their requests are answered, in order; after that all are paid. */
	answers: AnswerKind[][];
	balanceAnswers: ('read' | 'error' | 'silent')[];
	balance: number;
	faults: DatabaseFault[];
	noise: number;
}

/** Seeds of what is random inside of a world: other ones are not simpler. */
const noise = fc.noShrink(fc.integer({ min: 0, max: 2 ** 31 - 1 }));
const sometimes = (oneIn: number): fc.Arbitrary<boolean> =>
	fc.integer({ min: 0, max: oneIn - 1 }).map((value) => value === oneIn - 1);

const variant: fc.Arbitrary<VariantKind> = fc.oneof(
	{ weight: 30, arbitrary: fc.constant<VariantKind>('same') },
	{ weight: 1, arbitrary: fc.constant<VariantKind>('otherAmount') },
	{ weight: 1, arbitrary: fc.constant<VariantKind>('otherPerson') },
	{ weight: 1, arbitrary: fc.constant<VariantKind>('noReference') },
	{ weight: 1, arbitrary: fc.constant<VariantKind>('lookAlike') },
);

const finding: fc.Arbitrary<ItemPlan['finding']> = fc.oneof(
	{ weight: 6, arbitrary: fc.constant<ItemPlan['finding']>('asks') },
	{ weight: 2, arbitrary: fc.constant<ItemPlan['finding']>('notPaid') },
	{ weight: 1, arbitrary: fc.constant<ItemPlan['finding']>('paid') },
	{ weight: 1, arbitrary: fc.constant<ItemPlan['finding']>('recordPaid') },
	{ weight: 1, arbitrary: fc.constant<ItemPlan['finding']>('unclear') },
);

const someItems: fc.Arbitrary<ItemPlan[]> = fc.oneof(
	{
		weight: 20,
		arbitrary: fc.uniqueArray(
			fc.record({ person: fc.integer({ min: 0, max: people - 1 }), variant, finding }),
			{ selector: ({ person }) => person, minLength: 1, maxLength: people },
		),
	},
	{
		weight: 1,
		arbitrary: fc.array(
			fc.record({ person: fc.integer({ min: 0, max: people - 1 }), variant, finding }),
			{
				minLength: 1,
				maxLength: people,
			},
		),
	},
);

/** Now and then the first one comes a second time, under a reference that looks the same. */
const items: fc.Arbitrary<ItemPlan[]> = fc
	.tuple(someItems, sometimes(20))
	.map(([list, isTwice]) => [
		...list,
		...(isTwice
			? list.slice(0, 1).map((item) => ({ ...item, variant: 'lookAlike' as const }))
			: []),
	]);

const startMs = fc.oneof(
	fc.integer({ min: 0, max: 60 }),
	fc.integer({ min: 0, max: 4_000 }),
	fc.integer({ min: 0, max: 150_000 }),
);

const aim: fc.Arbitrary<RunPlan['aim']> = fc.oneof(
	{ weight: 12, arbitrary: fc.constant<RunPlan['aim']>('pay') },
	{ weight: 2, arbitrary: fc.constant<RunPlan['aim']>('dryRun') },
	{ weight: 6, arbitrary: fc.constant<RunPlan['aim']>('settle') },
);
const findingAgeMs = fc.oneof(
	{ weight: 3, arbitrary: fc.constant(0) },
	{ weight: 1, arbitrary: fc.integer({ min: 0, max: 60_000 }) },
);

const run: fc.Arbitrary<RunPlan> = fc.record(
	{
		process: fc.integer({ min: 0, max: 2 }),
		node: fc.oneof(
			{ weight: 6, arbitrary: fc.constant<NodeName>('a') },
			{ weight: 1, arbitrary: fc.constant<NodeName>('b') },
		),
		start: fc.record({
			after: fc.constantFrom<RunPlan['start']['after'][]>('beginning', 'previous'),
			ms: startMs,
		}),
		items,
		references: fc.oneof(
			{ weight: 10, arbitrary: fc.constant<RunPlan['references']>('expression') },
			{ weight: 2, arbitrary: fc.constant<RunPlan['references']>('column') },
			{ weight: 1, arbitrary: fc.constant<RunPlan['references']>('none') },
		),
		concurrency: fc.integer({ min: 1, max: 5 }),
		tries: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 3 })),
		onError: fc.constantFrom<RunPlan['onError'][]>('stop', 'continue'),
		mode: fc.oneof(
			{ weight: 8, arbitrary: fc.constant<RunPlan['mode']>('manual') },
			{ weight: 1, arbitrary: fc.constant<RunPlan['mode']>('retry') },
			{ weight: 1, arbitrary: fc.constant<RunPlan['mode']>('trigger') },
		),
		ifReferenceUsed: sometimes(8).map((is) => (is ? 'fail' : 'skip')),
		aim,
		findingAgeMs,
		checkBalance: sometimes(4),
		maxAmountEtb: fc.constantFrom(10, 10.5),
		maxTotalEtb: fc.integer({ min: 1, max: 70 }),
		stopAfterSteps: fc.integer({ min: 1, max: 60 }),
		noise,
	},
	{
		requiredKeys: [
			'process',
			'node',
			'start',
			'items',
			'references',
			'concurrency',
			'tries',
			'onError',
			'mode',
			'ifReferenceUsed',
			'aim',
			'findingAgeMs',
			'checkBalance',
			'noise',
		],
	},
);

/** fast-check leaves an optional key out half of the time: too often here. */
function rarely(plan: RunPlan, chance: number): RunPlan {
	const { maxAmountEtb, maxTotalEtb, stopAfterSteps, ...rest } = plan;
	return {
		...rest,
		...(chance % 11 === 1 && maxAmountEtb !== undefined && { maxAmountEtb }),
		...(chance % 13 === 1 && maxTotalEtb !== undefined && { maxTotalEtb }),
		...(chance % 4 === 1 && stopAfterSteps !== undefined && { stopAfterSteps }),
	};
}

const blow = (kinds: Blow['kind'][]): fc.Arbitrary<Blow> =>
	fc.record({
		kind: fc.constantFrom(...kinds),
		atStep: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 200 })),
		lasts: fc.constantFrom(2_000, 10_000, 35_000, 70_000, 140_000),
	});

const answer: fc.Arbitrary<AnswerKind> = fc.constantFrom(...answerKinds);

const fault: fc.Arbitrary<DatabaseFault> = fc.record({
	kind: fc.constantFrom<DatabaseFaultKind[]>(
		'failsBefore',
		'failsBetween',
		'failsAfter',
		'silentBefore',
		'silentBetween',
		'silentAfter',
		'slow',
	),
	call: fc.oneof(fc.integer({ min: 0, max: 25 }), fc.integer({ min: 0, max: 150 })),
	count: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 12 })),
});

/** What may go wrong in a world. With all of it at once, `unknown` would excuse everything. */
interface Climate {
	answers: boolean;
	faults: boolean;
	blows: Blow['kind'][];
	stops: boolean;
}
const climates: Climate[] = [
	{ answers: false, faults: false, blows: [], stops: false },
	{ answers: true, faults: false, blows: [], stops: false },
	{ answers: true, faults: false, blows: [], stops: true },
	{ answers: true, faults: true, blows: [], stops: false },
	{ answers: true, faults: false, blows: ['crash'], stops: false },
	{ answers: true, faults: false, blows: ['stopped', 'suspended'], stops: false },
	{ answers: true, faults: false, blows: ['clockForward', 'clockBack', 'stopped'], stops: false },
	{ answers: true, faults: true, blows: ['crash', 'stopped', 'suspended'], stops: true },
];

function planOf({ answers, faults, blows, stops }: Climate): fc.Arbitrary<Plan> {
	const runs = fc.array(
		fc
			.tuple(run, fc.integer({ min: 0, max: 10_000 }))
			.map(([plan, chance]) => rarely(plan, chance))
			.map(({ stopAfterSteps, ...rest }) =>
				stops && stopAfterSteps !== undefined ? { ...rest, stopAfterSteps } : rest,
			),
		{ minLength: 1, maxLength: 5 },
	);
	const listOf = <Value,>(value: fc.Arbitrary<Value>, most: number): fc.Arbitrary<Value[]> =>
		fc.array(value, { maxLength: most });
	return (
		fc
			.record({
				timeout: fc.constantFrom(5_000, 20_000, 60_000),
				latency: fc.constantFrom(3, 20, 150),
				processes: fc.array(blows.length > 0 ? listOf(blow(blows), 2) : fc.constant<Blow[]>([]), {
					minLength: 1,
					maxLength: 3,
				}),
				runs,
				answers: answers
					? fc.array(fc.oneof(fc.constant<AnswerKind[]>([]), listOf(answer, 4)), {
							minLength: people,
							maxLength: people,
						})
					: fc.constant<AnswerKind[][]>([]),
				balanceAnswers: answers
					? listOf(fc.constantFrom<Plan['balanceAnswers']>('read', 'error', 'silent'), 3)
					: fc.constant<Plan['balanceAnswers']>([]),
				balance: fc.oneof(fc.constant(1_000_000), fc.integer({ min: 0, max: 80 })),
				faults: faults ? listOf(fault, 4) : fc.constant<DatabaseFault[]>([]),
				noise,
			})
			.map((plan) => (answers ? plan : { ...plan, balance: 1_000_000 }))
			// With both, taking turns at the lock alone can take as long as a claim lasts.
			.map((plan) => (plan.latency > 100 ? { ...plan, timeout: 60_000 } : plan))
	);
}

/** With few people, runs meet at the same references. */
const fewPeople = (plan: Plan): Plan => ({
	...plan,
	runs: plan.runs.map((each) => ({
		...each,
		node: 'a',
		items: each.items
			.map((item) => ({ ...item, person: item.person % 2 }))
			.filter(
				({ person }, index, all) => all.findIndex((other) => other.person === person) === index,
			),
	})),
});

const crowded: fc.Arbitrary<Plan> = fc.oneof(...climates.map(planOf)).map(fewPeople);

/** Options that keep a run from sending. */
const undisturbed = ({ node, noise, concurrency, items, onError }: RunPlan): RunPlan => ({
	process: 1,
	node,
	start: { after: 'previous', ms: 0 },
	items: items.map(({ person, finding }) => ({ person, variant: 'same', finding })),
	references: 'expression',
	concurrency,
	tries: 1,
	onError,
	mode: 'manual',
	ifReferenceUsed: 'skip',
	aim: 'pay',
	findingAgeMs: 0,
	checkBalance: false,
	noise,
});

const correct = (items: ItemPlan[], corrects: boolean): ItemPlan[] =>
	items.map((item) => ({ ...item, variant: corrects ? 'otherAmount' : 'same' }));

/** A process stands still while it sends; others wait for it, give it up, are told, and send; then it goes on. */
const frozenSender: fc.Arbitrary<Plan> = fc
	.record({
		plan: planOf({ answers: false, faults: false, blows: [], stops: false }),
		kind: fc.constantFrom<Blow['kind'][]>('stopped', 'suspended'),
		atStep: fc.integer({ min: 1, max: 24 }),
		lasts: fc.constantFrom(45_000, 70_000, 140_000),
		// Whether the one that will stand still begins first, and so sends, or only asks.
		firstMs: fc.constantFrom(0, 0, 40, 1_000),
		waits: fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 3, maxLength: 3 }),
		tail: fc.array(
			fc.record({
				aim: fc.constantFrom<RunPlan['aim'][]>('pay', 'settle'),
				ms: fc.integer({ min: 0, max: 40_000 }),
				corrects: fc.boolean(),
				process: fc.integer({ min: 0, max: 1 }),
				atOnce: sometimes(4),
			}),
			{ maxLength: 5 },
		),
		correctsFourth: fc.boolean(),
		answers: fc.constantFrom<AnswerKind[][]>(
			[],
			['rejected'],
			['saysNo'],
			['slowRejected'],
			['tooMany', 'rejected'],
			['silent'],
		),
	})
	.map(({ plan, kind, atStep, lasts, firstMs, waits, answers, tail, correctsFourth }) => {
		const few = fewPeople(plan);
		const [one] = few.runs;
		if (one === undefined) return plan;
		const calm = undisturbed(one);
		const [second = 0, third = 0, fourth = 0] = waits;
		const previous = (ms: number): RunPlan['start'] => ({ after: 'previous', ms });
		return {
			...few,
			timeout: 5_000,
			latency: Math.min(few.latency, 20),
			answers: [answers, answers],
			processes: [[{ kind, atStep, lasts }], []],
			runs: [
				{ ...calm, process: 0, start: { after: 'beginning', ms: firstMs } },
				{ ...calm, start: { after: 'beginning', ms: second % 1_000 } },
				{ ...calm, start: previous(third), aim: 'settle' },
				{ ...calm, items: correct(calm.items, correctsFourth), start: previous(fourth) },
				...tail.map(
					({ aim, ms, corrects, process, atOnce }): RunPlan => ({
						...calm,
						process,
						items: correct(calm.items, corrects),
						start: atOnce ? { after: 'beginning', ms: ms * 3 } : previous(ms),
						aim,
					}),
				),
			],
		};
	});

/** Refused payments free their references, which others want at once, while the database fails now and then. */
const refusedOnes: fc.Arbitrary<Plan> = fc
	.tuple(
		planOf({ answers: false, faults: false, blows: [], stops: false }),
		fc.array(
			fc.record({
				kind: fc.constantFrom<DatabaseFaultKind[]>('failsBefore', 'failsBetween', 'failsAfter'),
				call: fc.integer({ min: 4, max: 40 }),
				count: fc.integer({ min: 1, max: 2 }),
			}),
			{ minLength: 1, maxLength: 2 },
		),
		fc.array(
			fc.array(fc.constantFrom<AnswerKind[]>('rejected', 'slowPaid', 'slowRejected'), {
				minLength: 1,
				maxLength: 3,
			}),
			{ minLength: 2, maxLength: 2 },
		),
	)
	.map(([plan, faults, answers]) => ({
		...fewPeople(plan),
		faults,
		answers,
		runs: fewPeople(plan).runs.map(
			(each): RunPlan => ({
				...each,
				onError: 'continue',
				concurrency: 1,
				start: { after: 'beginning', ms: each.start.ms % 4_000 },
			}),
		),
	}));

/** Several processes want the same references at the same time, while some calls of the database take seconds. */
const slowDatabase: fc.Arbitrary<Plan> = fc
	.tuple(
		planOf({ answers: false, faults: false, blows: [], stops: false }),
		fc.array(
			fc.record({
				kind: fc.constant<DatabaseFaultKind>('slow'),
				call: fc.integer({ min: 0, max: 12 }),
				count: fc.constant(1),
			}),
			{ minLength: 1, maxLength: 3 },
		),
	)
	.map(([plan, faults]) => ({
		...fewPeople(plan),
		faults,
		timeout: 60_000,
		processes: [[], [], []],
		runs: fewPeople(plan).runs.map(
			(each, index): RunPlan => ({
				...each,
				process: index,
				start: { after: 'beginning', ms: each.start.ms % 100 },
			}),
		),
	}));

/** One or two people; somebody pays and somebody settles, in turns and at once, while processes stand still or crash. */
const settledOnes: fc.Arbitrary<Plan> = fc
	.tuple(
		fc.oneof(...climates.map(planOf)),
		fc.array(
			fc.record({
				aim: fc.constantFrom<RunPlan['aim'][]>('pay', 'settle', 'settle'),
				after: fc.constantFrom<RunPlan['start']['after'][]>('beginning', 'previous', 'previous'),
				ms: fc.oneof(fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 0, max: 30_000 })),
				corrects: sometimes(5),
				retries: sometimes(4),
				age: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 40_000 })),
			}),
			{ minLength: 2, maxLength: 8 },
		),
		fc.array(
			fc.oneof(
				fc.constantFrom<AnswerKind[]>('silent', 'silentPaid', 'reset', 'resetPaid', 'errorPaid'),
				answer,
			),
			{ minLength: 1, maxLength: 4 },
		),
		fc.array(fc.array(blow(['stopped', 'suspended', 'crash']), { maxLength: 2 }), {
			minLength: 2,
			maxLength: 3,
		}),
		fc.boolean(),
	)
	.map(([plan, steps, answers, processes, strikes]) => {
		const few = fewPeople(plan);
		const [one] = few.runs;
		if (one === undefined) return plan;
		const calm = undisturbed(one);
		return {
			...few,
			timeout: 5_000,
			latency: Math.min(few.latency, 20),
			answers: [answers, answers],
			processes: strikes ? processes : few.processes,
			runs: [
				{ ...calm, process: 0, start: { after: 'beginning' as const, ms: 0 } },
				...steps.map(
					({ aim, after, ms, corrects, retries, age }, index): RunPlan => ({
						...calm,
						process: index + 1,
						items: correct(calm.items, corrects),
						start: { after, ms },
						tries: retries ? 2 : 1,
						onError: retries ? 'stop' : calm.onError,
						findingAgeMs: age,
						aim,
					}),
				),
			],
		};
	});

/** One person, a few runs one after the other, each with its own aim. */
function inTurns(plan: Plan, turns: (Partial<RunPlan> & { corrects?: boolean })[]): Plan {
	const few = fewPeople(plan);
	const [one] = few.runs;
	if (one === undefined) return plan;
	const calm = undisturbed(one);
	return {
		...few,
		timeout: 5_000,
		latency: Math.min(few.latency, 20),
		runs: turns.map(({ corrects = false, ...turn }) => ({
			...calm,
			items: correct(calm.items, corrects),
			...turn,
		})),
	};
}

const healthyPlan = planOf({ answers: false, faults: false, blows: [], stops: false });

const lostAnswers: AnswerKind[] = ['errorPaid', 'errorPaid', 'errorPaid'];

/** The database fails just when a finding is recorded, and Retry On Fail runs the node again; in between somebody pays. */
const heededOnce: fc.Arbitrary<Plan> = fc
	.tuple(
		healthyPlan,
		fc.record({
			kind: fc.constantFrom<DatabaseFaultKind[]>('failsBetween', 'failsAfter'),
			call: fc.integer({ min: 6, max: 24 }),
			count: fc.integer({ min: 1, max: 2 }),
		}),
		fc.integer({ min: 0, max: 1_500 }),
		fc.integer({ min: 0, max: 5_000 }),
	)
	.map(([plan, fault, second, third]) => ({
		...inTurns(plan, [
			{ process: 0, start: { after: 'beginning', ms: 0 } },
			{ aim: 'settle', tries: 2, onError: 'stop' },
			{ process: 2, start: { after: 'beginning', ms: second } },
			{ start: { after: 'beginning', ms: 4_000 + third } },
		]),
		faults: [fault],
		answers: [lostAnswers, lostAnswers],
		processes: [[], [], []],
	}))
	.map((plan) => ({
		...plan,
		runs: plan.runs.map((each) => ({
			...each,
			items: each.items.map((item) => ({ ...item, finding: 'notPaid' as const })),
		})),
	}));

/** A process dies while it asks for another amount under a reference that is paid or unknown; then people settle and pay. */
const askedForAnother: fc.Arbitrary<Plan> = fc
	.tuple(
		healthyPlan,
		fc.record({
			atStep: fc.integer({ min: 2, max: 24 }),
			lasts: fc.integer({ min: 0, max: 3_000 }),
		}),
		fc.array(
			fc.record({
				aim: fc.constantFrom<RunPlan['aim'][]>('pay', 'settle', 'settle', 'dryRun'),
				corrects: fc.boolean(),
				ms: fc.integer({ min: 0, max: 30_000 }),
			}),
			{ minLength: 2, maxLength: 6 },
		),
		fc.constantFrom<AnswerKind[][]>([], ['errorPaid'], ['error'], ['rejected', 'errorPaid']),
		fc.constantFrom<RunPlan['aim'][]>('pay', 'dryRun'),
	)
	.map(([plan, { atStep, lasts }, turns, answers, aim]) => ({
		...inTurns(plan, [
			{ process: 0, start: { after: 'beginning', ms: 0 } },
			{ process: 1, corrects: true, aim },
			...turns.map(({ ms, ...turn }) => ({
				...turn,
				process: 2,
				start: { after: 'previous' as const, ms },
			})),
		]),
		answers: [answers, answers],
		processes: [[], [{ kind: 'crash' as const, atStep, lasts }], []],
	}));

/** A run of several windows, with references or without, is stopped in the middle. */
const stoppedOnes: fc.Arbitrary<Plan> = fc
	.record({
		plan: healthyPlan,
		references: fc.constantFrom<RunPlan['references'][]>('none', 'expression'),
		stopAfterSteps: fc.integer({ min: 3, max: 40 }),
		concurrency: fc.integer({ min: 1, max: 2 }),
	})
	.map(({ plan, ...choice }) => ({
		...plan,
		runs: plan.runs.slice(0, 1).map((each) => ({
			...undisturbed(each),
			...choice,
			items: Array.from({ length: people }, (_, person) => ({ person, variant: 'same' as const })),
		})),
	}));

/** A sender stands still with its answer; it is given up and settled as not paid; then it goes on, and somebody pays. */
const lateAnswer: fc.Arbitrary<Plan> = fc
	.record({
		plan: healthyPlan,
		kind: fc.constantFrom<Blow['kind'][]>('stopped', 'suspended'),
		atStep: fc.integer({ min: 8, max: 24 }),
		payAfterMs: fc.integer({ min: 0, max: 150_000 }),
		corrects: fc.boolean(),
	})
	.map(({ plan, kind, atStep, payAfterMs, corrects }) => {
		const others = { process: 1, start: { after: 'previous' as const, ms: 0 } };
		const inOrder = inTurns(plan, [
			{ process: 0, start: { after: 'beginning', ms: 0 } },
			{ process: 1, aim: 'settle', start: { after: 'beginning', ms: 2_000 } },
			{ ...others, aim: 'settle' },
			{ ...others, corrects, start: { after: 'previous', ms: payAfterMs } },
		]);
		return {
			...inOrder,
			processes: [[{ kind, atStep, lasts: 70_000 }], []],
			runs: inOrder.runs.map((each) => ({
				...each,
				items: each.items.map((item) => ({ ...item, finding: 'notPaid' as const })),
			})),
		};
	});

export const anyPlan: fc.Arbitrary<Plan> = fc.noBias(
	fc.oneof(
		{ weight: 5, arbitrary: fc.oneof(...climates.map(planOf)) },
		{ weight: 3, arbitrary: crowded },
		{ weight: 2, arbitrary: frozenSender },
		{ weight: 2, arbitrary: slowDatabase },
		{ weight: 1, arbitrary: refusedOnes },
		{ weight: 5, arbitrary: settledOnes },
		{ weight: 1, arbitrary: heededOnce },
		{ weight: 2, arbitrary: askedForAnother },
		{ weight: 1, arbitrary: lateAnswer },
		{ weight: 1, arbitrary: stoppedOnes },
	),
);
