/** Whether a gate keeps its promises in random lives: one call after the other, and from all connections at once. */
import fc from 'fast-check';
import { GateModel } from './model.mts';
import {
	brokenPromise,
	calls,
	inWords,
	misfit,
	tablesMisfit,
	type Call,
	type Done,
	type Life,
	type Stage,
} from './budget-life.mts';

export const CONNECTIONS = 8;

export interface Extent {
	/** Random lives to try. */
	lives: number;
	seed: number;
	/** Whether a life that fails is told as it was, which saves the time to make it shorter. */
	endOnFailure?: boolean;
}

const historyOf = async ({ connections }: Stage, life: Life) => {
	const sql = 'select h::text as line from etb_wallet.history h where budget = $1 order by id';
	const result = await connections[0]?.query<{ line: string }>(sql, [life.budget]);
	return result?.rows.map(({ line }) => line) ?? [];
};

/** @throws an Error that tells the life as a story, when something in it does not fit */
async function judge(stage: Stage, life: Life, historyBefore: string[]): Promise<void> {
	const model = new GateModel();
	// Without a place: refused, so that it changed nothing.
	const inOrder = life.done
		.filter(({ order }) => order !== undefined)
		.sort((a, b) => (a.order ?? 0) - (b.order ?? 0));
	const refused = life.done.filter(({ order }) => order === undefined);
	const tell = (what: string, upTo: Done[]) =>
		new Error(
			`${what}\n\n${upTo.map((done, index) => `${index + 1}. ${inWords(done)}`).join('\n')}`,
		);
	for (const [index, done] of inOrder.entries()) {
		const found = misfit(model, done);
		if (found !== undefined) throw tell(`Call ${index + 1}: ${found}`, inOrder.slice(0, index + 1));
	}
	for (const done of refused) {
		// What it should have been depends on when it was; that it was no fault does not.
		const found = misfit(new GateModel(), done);
		if (found?.startsWith('failed')) throw tell(found, [...inOrder, done]);
	}
	const [first] = stage.connections;
	const found =
		brokenPromise(inOrder) ?? (first && (await tablesMisfit(first, life.budget, model)));
	if (found !== undefined) throw tell(found, inOrder);
	const history = await historyOf(stage, life);
	if (historyBefore.some((line, index) => history[index] !== line))
		throw tell('The history was not only added to', inOrder);
}

/** @throws an Error with the seed and the story of the life that failed, made as short as possible */
async function hold<Values>(property: fc.IAsyncProperty<Values>, options: fc.Parameters<Values>) {
	const { failed, seed, numShrinks, errorInstance, counterexamplePath } = await fc.check(
		property,
		options,
	);
	if (!failed) return;
	const story = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
	throw new Error(
		`seed ${seed}, path ${counterexamplePath}, made shorter ${numShrinks} times\n${story}`,
		{ cause: errorInstance },
	);
}

/** One call after the other, each on one of eight connections; compared with the model also where the gate refuses. */
export async function oneAfterTheOther(
	stage: Stage,
	{ lives, seed, endOnFailure }: Extent,
): Promise<void> {
	const life = fc.array(fc.tuple(fc.nat({ max: CONNECTIONS - 1 }), calls), {
		minLength: 1,
		maxLength: 40,
		size: 'max',
	});
	await hold(
		fc.asyncProperty(life, async (steps) => {
			const lived = await stage.begin();
			let history: string[] = [];
			for (const [index, [connection, call]] of steps.entries()) {
				await lived.make(connection, call);
				if (index === Math.floor(steps.length / 2)) history = await historyOf(stage, lived);
			}
			// Nothing else ran, so that also what was refused has its place.
			for (const [index, done] of lived.done.entries()) done.order = index;
			await judge(stage, lived, history);
		}),
		{ numRuns: lives, seed, endOnFailure },
	);
}

/** Eight connections at once. What runs first is up to the database, so a life that fails is not made shorter. */
export async function allAtOnce(stage: Stage, { lives, seed }: Extent): Promise<void> {
	const life = fc.array(fc.array(calls, { minLength: 10, maxLength: 15, size: 'max' }), {
		minLength: CONNECTIONS,
		maxLength: CONNECTIONS,
	});
	await hold(
		fc.asyncProperty(life, async (perConnection: Call[][]) => {
			const lived = await stage.begin();
			const liveOne = async (own: Call[], connection: number) => {
				for (const call of own) await lived.make(connection, call);
			};
			const all = Promise.all(perConnection.map(liveOne));
			const history = await historyOf(stage, lived);
			await all;
			await judge(stage, lived, history);
		}),
		{ numRuns: lives, seed, endOnFailure: true },
	);
}
