// Worlds that random ones come upon too seldom: each is told by hand, and played for each moment at which something may happen.
import type { Blow } from './n8n-process.mts';
import {
	calmRun,
	type AnswerKind,
	type DatabaseFaultKind,
	type ItemPlan,
	type Plan,
	type RunPlan,
} from './plan.mts';
import { randomFrom } from './virtual-time.mts';

interface Story {
	name: string;
	plans: Plan[];
}

type Turn = Partial<RunPlan> & { word?: ItemPlan['word']; variant?: ItemPlan['variant'] };

/** One person; the turns begin one after the other, or `at` so many ms. */
const planOf = (
	turns: Turn[],
	answers: AnswerKind[],
	more: Partial<Pick<Plan, 'processes' | 'faults' | 'noise'>> = {},
): Plan => ({
	latency: 3,
	answers: [answers],
	balanceAnswers: [],
	balance: 1_000_000,
	faults: [],
	processes: [[], [], []],
	noise: 1,
	...more,
	runs: turns.map(({ word = 'asks', variant = 'same', ...turn }) => ({
		...calmRun,
		...turn,
		items: [{ person: 0, variant, spelling: 0, word }],
	})),
});

const at = (ms: number): RunPlan['start'] => ({ after: 'beginning', ms });
const range = (from: number, to: number): number[] =>
	Array.from({ length: to - from }, (_, index) => from + index);

const typed = { does: 'settle', by: 'typed', mode: 'manual' } as const;
const byExpression = { does: 'settle', by: 'expression', mode: 'trigger' } as const;

/** When a process that n8n starts first is struck: while it asks for the record, sends or records. */
const atSteps = (blow: Omit<Blow, 'atStep'>): Blow[] =>
	range(3, 32).map((atStep) => ({ ...blow, atStep }));

/** In ms: as the claims of the record, with a Timeout of 60 s. */
const periodMs = 85_000;

/** Two processes whose clocks differ by nearly 10 s, and when a period begins for the first one. */
function differingClocks(isFirstAhead: boolean): {
	noise: number;
	startsAt: number;
	apartMs: number;
} {
	const clocks = range(1, 2_000).map((noise) => {
		const [first = 0, second = 0] = [0, 7919].map((more) => randomFrom(noise + more)() * 10_000);
		return { noise, first, apartMs: isFirstAhead ? first - second : second - first };
	});
	const { noise, first, apartMs } = clocks.reduce((a, b) => (a.apartMs > b.apartMs ? a : b));
	const epoch = Date.UTC(2026, 10, 1);
	return { noise, apartMs, startsAt: 2 * periodMs - ((epoch + Math.floor(first)) % periodMs) };
}

const usual = { timeout: 60_000 };
const behind = differingClocks(false);
const ahead = differingClocks(true);

export const stories: Story[] = [
	{
		name: 'The words of a loop come again, after the database failed when they counted first',
		plans: (['failsBefore', 'failsBetween', 'failsAfter'] as DatabaseFaultKind[]).flatMap((kind) =>
			range(8, 26).map((call) =>
				planOf(
					[
						{ start: at(0) },
						{ ...byExpression, word: 'notPaid', repeats: [4_000] },
						{},
						{ start: at(12_000) },
					],
					['errorPaid', 'errorPaid'],
					{ faults: [{ kind, call, count: 1 }] },
				),
			),
		),
	},
	{
		name: 'The clock of whoever settles is ahead, and the sender records a refusal just before its claim is over',
		plans: range(10, 24).map((atStep) =>
			planOf(
				[
					{ ...usual, start: at(behind.startsAt - 300), noise: 2 },
					{
						...usual,
						...typed,
						process: 1,
						start: at(behind.startsAt + periodMs - behind.apartMs + 50),
					},
					{
						...usual,
						process: 1,
						start: at(behind.startsAt + periodMs - behind.apartMs + 300),
						noise: 2,
					},
					{ ...usual, process: 1, start: at(behind.startsAt + periodMs - behind.apartMs + 9_000) },
				],
				['lateRejected', 'slowPaid'],
				{ noise: behind.noise, processes: [[{ kind: 'stopped', atStep, lasts: 24_000 }], []] },
			),
		),
	},
	{
		name: 'The clock of the sender is ahead: its claim is of a period that has not begun for others',
		plans: [
			planOf(
				[
					{ ...usual, start: at(ahead.startsAt + 100) },
					{ ...usual, ...typed, word: 'notPaid', process: 1, start: at(ahead.startsAt + 2_000) },
				],
				['silent'],
				{ noise: ahead.noise },
			),
		],
	},
	{
		name: 'A period ends while a payment is sent',
		plans: [
			planOf(
				[
					{ ...usual, start: at(behind.startsAt - 300) },
					{ ...usual, ...typed, word: 'notPaid', start: at(behind.startsAt + 300) },
				],
				['silent'],
				{ noise: behind.noise },
			),
		],
	},
	{
		name: 'A person settles what a run with a long Timeout is sending, with a short one',
		plans: [200_000, 300_000].map((ms) =>
			planOf(
				[
					{ timeout: 400_000, start: at(0) },
					{ ...typed, word: 'notPaid', start: at(ms) },
				],
				['silent'],
			),
		),
	},
	{
		name: 'A refusal comes after its claim is over, while another run sends',
		plans: atSteps({ kind: 'stopped', lasts: 300_000 }).map((blow) =>
			planOf(
				[
					{ ...usual, start: at(0) },
					{ ...typed, process: 1, start: at(280_000) },
					{ ...usual, process: 1 },
					{ process: 1, start: at(302_000) },
				],
				['rejected', 'slowPaid'],
				{ processes: [[blow], []] },
			),
		),
	},
	{
		name: 'Paid comes after its claim is over, while another run sends and is refused',
		plans: atSteps({ kind: 'stopped', lasts: 300_000 }).map((blow) =>
			planOf(
				[
					{ ...usual, start: at(0) },
					{ ...typed, word: 'notPaid', process: 1, start: at(298_000) },
					{ ...usual, process: 1 },
					{ process: 1 },
				],
				['paid', 'slowRejected'],
				{ processes: [[blow], []] },
			),
		),
	},
	{
		name: 'Paid comes after a person settled it as not paid',
		plans: atSteps({ kind: 'stopped', lasts: 300_000 }).map((blow) =>
			planOf(
				[
					{ ...usual, start: at(0) },
					{ ...typed, word: 'notPaid', process: 1, start: at(298_000) },
					{ process: 1, start: at(310_000) },
				],
				['paid'],
				{ processes: [[blow], []] },
			),
		),
	},
	{
		name: 'n8n dies while somebody asks for what is in doubt, paid or refused',
		plans: (['error', 'paid', 'rejected'] as AnswerKind[]).flatMap((answer) =>
			([{}, { variant: 'otherAmount' }, typed, { does: 'dryRun' }] as Turn[]).flatMap((asks) =>
				atSteps({ kind: 'crash', lasts: 2_000 }).map((blow) =>
					planOf(
						[
							{ start: at(0) },
							{ ...asks, process: 1 },
							{ process: 2 },
							{ variant: 'otherAmount', process: 2 },
							{ ...typed, process: 2, word: 'notPaid' },
							{ process: 2 },
						],
						[answer],
						{ processes: [[], [blow], []] },
					),
				),
			),
		),
	},
	{
		name: 'Retry On Fail runs a node again that settles, and somebody pays between its tries',
		plans: (['failsBetween', 'failsAfter'] as DatabaseFaultKind[]).flatMap((kind) =>
			range(8, 26).map((call) =>
				planOf(
					[
						{ start: at(0) },
						{ ...typed, word: 'notPaid', tries: 2, onError: 'stop' },
						{ start: at(500) },
						{ start: at(4_000) },
					],
					['errorPaid', 'errorPaid'],
					{ faults: [{ kind, call, count: 1 }] },
				),
			),
		),
	},
];
