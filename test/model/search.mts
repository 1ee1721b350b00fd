// Plays worlds by number, and makes those that break a rule small.
import * as fc from 'fast-check';
import type { Build } from './build.mts';
import { anyPlan, type Plan } from './plan.mts';
import { play } from './play.mts';
import { randomFrom } from './virtual-time.mts';

export interface Found {
	seed: number;
	violation: string;
}

/** The world of a seed, always the same. */
export function planOf(seed: number): Plan {
	const [plan] = fc.sample(anyPlan, { seed: scattered(seed), numRuns: 1 });
	if (plan === undefined) throw new Error('fast-check made no world');
	return plan;
}

/** Neighbouring seeds of fast-check make similar worlds. */
const scattered = (seed: number): number => Math.floor(randomFrom(seed)() * 2 ** 31);

/** The first rule that the world of a seed breaks. */
export async function tryWorld(
	seed: number,
	build: Build,
	counts?: Map<string, number>,
): Promise<Found | undefined> {
	const played = await play(planOf(seed), build);
	for (const [name, count] of played.counts) counts?.set(name, (counts.get(name) ?? 0) + count);
	const [violation] = played.violations;
	return violation === undefined ? undefined : { seed, violation };
}

/** In ms. Shrinking ends then, with the smallest world so far. */
const longestShrinking = 60_000;

/**
 * A smaller world that breaks a rule of the same kind, as a log to read.
 * @param findingSeed of a world that breaks a rule
 */
export async function smallestWorld({ seed, violation }: Found, build: Build): Promise<string> {
	const kind = kindOf(violation);
	const breaks = async (plan: Plan): Promise<boolean> =>
		(await play(plan, build)).violations.some((each) => kindOf(each) === kind);
	const property = fc.asyncProperty(anyPlan, async (plan) => !(await breaks(plan)));
	const result = await fc.check(property, {
		seed: scattered(seed),
		numRuns: 1,
		interruptAfterTimeLimit: longestShrinking,
	});
	const plan = result.counterexample?.[0] ?? planOf(seed);
	const { log, violations } = await play(plan, build, true);
	return [
		`World ${seed} breaks a rule: ${violations[0] ?? violation}`,
		`The smallest such world found (${result.numShrinks} steps of shrinking):`,
		...log,
		`Its plan: ${JSON.stringify(plan)}`,
	].join('\n');
}

/** A rule without its numbers and names. */
export const kindOf = (violation: string): string =>
	violation
		.replace(/run \d+( \(\w+\))?/g, 'run')
		.replace(/\b(user|inv)-[ab]\d(-other|-none)?\b/g, 'X')
		.replace(/\d+/g, 'N')
		.replace(/leaves a trace.*/, 'leaves a trace');
