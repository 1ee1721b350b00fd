// Worlds that random ones come upon too seldom: each is told by hand, and played for each moment at which
// something may happen.
import type { Disruption } from './n8n-process.mts';
import { calmPlan, calmRun, itemOf } from './plan.mts';
import type { DatabaseFaultKind, ItemPlan, Plan, ResponseKind, RunPlan } from './plan.mts';
import { randomFrom } from './virtual-time.mts';

type StoryRun = Partial<RunPlan> & Partial<Pick<ItemPlan, 'statement' | 'variant' | 'person'>>;

/**
 * Each run is about one person; they begin one after the other, or `at` so many ms. `responses`: those to the
 * first person.
 */
const planOf = (
	runs: StoryRun[],
	responses: ResponseKind[],
	more: Partial<Pick<Plan, 'processes' | 'faults' | 'noise'>> = {},
): Plan => ({
	...calmPlan,
	responses: [responses],
	processes: [[], [], []],
	...more,
	runs: runs.map(({ statement = 'asks', variant = 'same', person = 0, ...run }) => ({
		...calmRun,
		...run,
		items: [itemOf(person, { variant, statement })],
	})),
});

const at = (ms: number): RunPlan['start'] => ({ after: 'beginning', ms });
const range = (from: number, to: number): number[] =>
	Array.from({ length: to - from }, (_, index) => from + index);

const typed = { does: 'settle', by: 'typed', mode: 'manual' } as const;
const byExpression = { does: 'settle', by: 'expression', mode: 'trigger' } as const;

/** One disruption for each step in which the first run of a process asks for the record, sends or records. */
const atSteps = (disruption: Omit<Disruption, 'atStep'>): Disruption[] =>
	range(3, 32).map((atStep) => ({ ...disruption, atStep }));

/** In ms: the length of a slot of time of the record, and the time that a sender has its reservation for itself. */
const slotMs = 145_000;
const reservedForMs = 135_000;

/** Two processes of which the clock of the second is nearly 10 s ahead. */
const clocks = range(1, 2_000)
	.map((noise) => {
		const [first = 0, second = 0] = [0, 7919].map((more) => randomFrom(noise + more)() * 10_000);
		return { noise, first, aheadMs: second - first };
	})
	.reduce((a, b) => (a.aheadMs > b.aheadMs ? a : b));

/**
 * In ms: a time at which a slot begins by the first clock. A slot of the length `reservedForMs` would begin then,
 * too.
 */
const beginsAt = (() => {
	const both = 27 * slotMs;
	return both - ((Date.UTC(2026, 10, 1) + Math.floor(clocks.first)) % both);
})();
if ((27 * slotMs) % reservedForMs !== 0) throw new Error('No slot begins then');

const usual = { timeout: 60_000 };

/** Of these people the second one is in the bucket of the first, and the others are each in another one. */
const sameBucket = { person: 1 };

/**
 * A run pays three people, one after the other. The database fails after it recorded the end of the first payment,
 * which runs in another process want to make, too. Chance decides which process takes over the lock that was left.
 */
const recordedBy = (response: ResponseKind, others: StoryRun[]): Plan[] =>
	[1, 3, 10, 11].flatMap((noise) =>
		range(8, 14).map((call): Plan => {
			const runs = [
				{ start: at(0), concurrency: 1 },
				...others.map((other) => ({ ...other, process: 1 })),
			];
			const faults = [{ kind: 'failsAfter' as const, call, count: 1 }];
			const plan = planOf(runs, [response, 'silentPaid'], { noise, faults });
			const [run, ...rest] = plan.runs;
			const items = range(0, 3).map((person) => itemOf(person));
			return { ...plan, runs: run ? [{ ...run, items }, ...rest] : rest };
		}),
	);

/** The runs with each of these disruptions to one process. */
const disrupted = (
	disruptions: Disruption[],
	runs: StoryRun[],
	responses: ResponseKind[],
	process = 0,
): Plan[] =>
	disruptions.map((disruption) => {
		const processes = [...Array<Disruption[]>(process).fill([]), [disruption], []];
		return planOf(runs, responses, { processes });
	});

/** The runs with each of these faults, at one call of the database after the other. */
const failing = (kinds: DatabaseFaultKind[], runs: StoryRun[], responses: ResponseKind[]): Plan[] =>
	kinds.flatMap((kind) =>
		range(8, 26).map((call) => planOf(runs, responses, { faults: [{ kind, call, count: 1 }] })),
	);

/** The times of a sender that stands still: a person can settle its payment before it goes on. */
const stands = { lasts: 298_000, settledAt: 293_000, wentOnAt: 299_000 };

const crashes = atSteps({ kind: 'crash', lasts: 2_000 });
const pauses = atSteps({ kind: 'paused', lasts: stands.lasts });

const plansOf: Record<string, Plan[]> = {
	'The statements of a loop come again, after the database failed when they counted first': failing(
		['failsBefore', 'failsBetween', 'failsAfter'],
		[
			{ start: at(0) },
			{ ...byExpression, statement: 'notPaid', repeats: [4_000] },
			{},
			{ start: at(12_000) },
		],
		['errorPaid', 'errorPaid'],
	),
	'A reservation is made as a slot ends, settled by a clock that is ahead, and its sender is refused just in time':
		range(8, 44).map((atStep) =>
			planOf(
				[
					{ timeout: 120_000, start: at(beginsAt - 600) },
					// A process is disrupted only when it does something.
					{ does: 'dryRun', start: at(beginsAt - 300) },
					{ ...typed, process: 1, start: at(beginsAt + reservedForMs - clocks.aheadMs + 50) },
					{
						timeout: 120_000,
						process: 1,
						start: at(beginsAt + reservedForMs - clocks.aheadMs + 300),
					},
					{ process: 1, start: at(beginsAt + reservedForMs) },
				],
				['slowRejected', 'slowPaid'],
				{
					noise: clocks.noise,
					processes: [[{ kind: 'paused', atStep, lasts: reservedForMs - 700 }], []],
				},
			),
		),
	'A run whose clock is ahead reserves in a slot that has not begun for others, and a person settles what it sends':
		[
			planOf(
				[
					{ ...usual, process: 1, start: at(beginsAt - clocks.aheadMs + 1_000) },
					{ ...typed, statement: 'notPaid', start: at(beginsAt - clocks.aheadMs + 2_000) },
				],
				['silent'],
				{ noise: clocks.noise },
			),
		],
	'A slot ends after a run has reserved, and a person settles what is being sent': [
		planOf(
			[
				{ ...usual, start: at(beginsAt - 600) },
				{ ...typed, statement: 'notPaid', start: at(beginsAt + 300) },
			],
			['silent'],
			{ noise: clocks.noise },
		),
	],
	'Two people settle what is being sent, one after the other, and again when it is over': (
		['notPaid', 'paid'] as const
	).map((statement) =>
		planOf(
			[
				{ ...usual, start: at(0) },
				{ ...typed, statement, start: at(2_000) },
				{ ...typed, statement, start: at(4_000) },
				{ ...typed, statement, start: at(70_000) },
			],
			['silent'],
		),
	),
	'A sender dies, and a person settles what it left': disrupted(
		crashes,
		[
			{ ...usual, start: at(0) },
			{ does: 'dryRun', process: 1, start: at(50_000) },
			{ ...typed, process: 1, statement: 'notPaid', start: at(60_000) },
			{ ...typed, process: 1, start: at(400_000) },
			{ process: 1 },
		],
		['silent'],
	),
	'A payment is under way, others of its bucket are paid, and a person settles it': (
		['rejected', 'paid'] as ResponseKind[]
	).map((response): Plan => {
		const plan = planOf(
			[
				{ ...usual, start: at(beginsAt + 1_000) },
				{ ...sameBucket, process: 1, start: at(beginsAt + 3_000) },
				{ ...typed, statement: 'notPaid', process: 1, start: at(beginsAt + 20_000) },
			],
			['silent'],
		);
		return { ...plan, responses: [['silent'], [response]] };
	}),
	'A payment ends unknown, and others of its bucket are paid': [
		planOf(
			[
				{ start: at(0) },
				sameBucket,
				{ does: 'dryRun' },
				{ ...typed, statement: 'notPaid' },
				{},
				{ ...sameBucket, does: 'dryRun' },
			],
			['error', 'silent'],
		),
	],
	'A sender dies, only others of other buckets are paid, and its payment is in doubt in time':
		disrupted(
			crashes,
			[
				{ ...usual, start: at(0) },
				...range(2, 6).map(
					(person): StoryRun => ({ person, process: 1, start: at(100_000 * person - 60_000) }),
				),
				{ does: 'dryRun', process: 1, start: at(500_000) },
			],
			['silent'],
		),
	'n8n dies while somebody asks for a payment that is under way, and a person settles it, or it is refused':
		(
			[
				['silent', 2],
				['slowRejected', 0],
			] as const
		).flatMap(([response, more]) => {
			const settles: StoryRun[] = [
				{ ...typed, statement: 'notPaid', process: 2, start: at(50_000) },
				{ process: 2, start: at(100_000) },
			];
			const runs: StoryRun[] = [
				{ timeout: 120_000, start: at(0) },
				{ does: 'dryRun', process: 1, start: at(3_000) },
				...settles.slice(0, more),
			];
			return disrupted(crashes, runs, [response, 'paid'], 1);
		}),
	'A sender dies, n8n dies while somebody asks for its payment, and somebody else asks': range(
		14,
		18,
	).flatMap((atStep) =>
		crashes.map((disruption) =>
			planOf(
				[
					{ ...usual, start: at(0) },
					{ does: 'dryRun', process: 1, start: at(50_000) },
					{ does: 'dryRun', process: 2, start: at(130_000) },
				],
				['silent'],
				{ processes: [[{ ...disruption, atStep }], [disruption], []] },
			),
		),
	),
	'The clock of a process is set forward, a person settles there what is being sent, and its sender gets no response':
		[
			planOf(
				[
					{ ...usual, start: at(0) },
					{ does: 'dryRun', process: 1, start: at(2_000) },
					{ ...typed, statement: 'notPaid', process: 1, start: at(20_000) },
				],
				['silent'],
				{ processes: [[], [{ kind: 'clockForward', atStep: 1, lasts: 600_000 }]] },
			),
		],
	'A sender dies, and only dry runs ask for what it left': disrupted(
		crashes,
		[
			{ ...usual, start: at(0) },
			...range(1, 12).map((times): StoryRun => {
				return { does: 'dryRun', process: 1, start: at(times * 50_000) };
			}),
		],
		['silent'],
	),
	'A refusal comes after its reservation is over, while another run sends': disrupted(
		pauses,
		[
			{ ...usual, start: at(0) },
			{ ...typed, process: 1, start: at(stands.settledAt) },
			{ ...usual, process: 1 },
			{ process: 1, start: at(stands.wentOnAt) },
		],
		['rejected', 'slowPaid'],
	),
	'A sender gives up after its reservation is over, while another run sends and a person settles':
		disrupted(
			pauses,
			[
				{ ...usual, start: at(0) },
				{ ...typed, process: 1, statement: 'notPaid', start: at(stands.settledAt) },
				{ ...usual, process: 1 },
				{ ...typed, process: 1, statement: 'notPaid', start: at(stands.wentOnAt + 1_000) },
			],
			['error', 'silent'],
		),
	'Paid comes after its reservation is over, while another run sends and is refused': disrupted(
		pauses,
		[
			{ ...usual, start: at(0) },
			{ ...typed, statement: 'notPaid', process: 1, start: at(stands.settledAt) },
			{ ...usual, process: 1 },
			{ process: 1 },
		],
		['paid', 'slowRejected'],
	),
	'Paid comes after a person settled it as paid, and the same person contradicts that': disrupted(
		pauses,
		[
			{ ...usual, start: at(0) },
			{ ...typed, statement: 'paid', process: 1, start: at(stands.settledAt) },
			{ ...typed, statement: 'notPaid', process: 1, start: at(stands.wentOnAt + 10_000) },
			{ process: 1 },
		],
		['paid'],
	),
	'A person contradicts again and again that it was paid, which only a person said': [
		planOf(
			[
				{ start: at(0) },
				{ ...byExpression, statement: 'paid' },
				{ ...byExpression, statement: 'notPaid', repeats: [1_000, 1_000] },
				{},
			],
			['errorPaid'],
		),
		planOf(
			[
				{ start: at(0) },
				{ ...byExpression, statement: 'notPaid' },
				{},
				{ ...byExpression, statement: 'paid' },
				{ ...byExpression, statement: 'takeBack' },
				{ ...byExpression, statement: 'notPaid', repeats: [1_000] },
				{},
			],
			['errorPaid', 'errorPaid'],
		),
	],
	'Paid comes after a person settled it as not paid': disrupted(
		pauses,
		[
			{ ...usual, start: at(0) },
			{ ...typed, statement: 'notPaid', process: 1, start: at(stands.settledAt) },
			{ process: 1, start: at(stands.wentOnAt + 10_000) },
		],
		['paid'],
	),
	'A person settles as not paid, and the next run, which sends, is settled at once': [
		planOf(
			[
				{ start: at(0) },
				{ ...typed, statement: 'notPaid' },
				{ ...usual, start: at(10_000) },
				{ ...typed, statement: 'notPaid', start: at(12_000) },
			],
			['error', 'silent'],
		),
	],
	'n8n dies while somebody asks for what is in doubt, paid or refused': (
		['error', 'paid', 'rejected'] as ResponseKind[]
	).flatMap((response) =>
		([{}, { variant: 'otherAmount' }, typed, { does: 'dryRun' }] as StoryRun[]).flatMap((asks) =>
			disrupted(
				crashes,
				[
					{ start: at(0) },
					{ ...asks, process: 1 },
					{ process: 2 },
					{ variant: 'otherAmount', process: 2 },
					{
						...typed,
						process: 2,
						statement: 'notPaid',
						start: { after: 'previous', ms: 3 * slotMs },
					},
					{ process: 2 },
					{ variant: 'otherAmount', process: 2 },
				],
				[response],
				1,
			),
		),
	),
	'n8n dies while somebody asks for what is in doubt, and somebody else asks before it dies again':
		([{}, { does: 'dryRun' }] as StoryRun[]).flatMap((asks) =>
			crashes.map((disruption) =>
				planOf(
					[
						{ start: at(0) },
						{ ...asks, process: 1 },
						{ ...typed, statement: 'nothing' },
						{ does: 'dryRun' },
						{ ...asks, process: 2 },
					],
					['error'],
					{ processes: [[], [disruption], [disruption]] },
				),
			),
		),
	'A person says of a payment that this node never sent that it was paid': [
		planOf([{ ...typed, statement: 'paid' }, {}], []),
	],
	'The database fails while a person settles as paid': failing(
		['failsBefore', 'failsBetween', 'failsAfter'],
		[{ start: at(0) }, { ...typed, statement: 'paid' }, {}, { ...typed, statement: 'paid' }, {}],
		['errorPaid'],
	),
	'The database fails as an unknown payment is recorded; a person settles it; it is sent again, and settled at once':
		recordedBy('error', [
			{ ...typed, statement: 'notPaid', start: at(1_000) },
			{ ...usual, start: at(1_500) },
			{ ...typed, statement: 'notPaid', start: at(60_000) },
		]),
	'The database fails as a refusal is recorded; another run reserves that payment, and a third one asks for it':
		recordedBy('rejected', [
			{ ...usual, start: at(10_000) },
			{ ...usual, start: at(42_000) },
		]),
	'Retry On Fail tries again to settle, and somebody pays between the tries': failing(
		['failsBetween', 'failsAfter'],
		[
			{ start: at(0) },
			{ ...typed, statement: 'notPaid', tries: 2, onError: 'stop' },
			{ start: at(500) },
			{ start: at(4_000) },
		],
		['errorPaid', 'errorPaid'],
	),
};

export const stories = Object.entries(plansOf).map(([name, plans]) => ({ name, plans }));
