/** Looks for a world in which the account's URL breaks a rule. */
import { Broken, live } from './events-world.mts';
import type { Code } from '../../lab/loaded-code.mts';

const steps = 30;

/** The first world that breaks, ended as early as it still does. */
export async function firstBroken(
	seeds: Iterable<number>,
	code: Code,
): Promise<string | undefined> {
	for (const seed of seeds) {
		const found = await broken(seed, steps, code);
		if (found !== undefined) return await shortest(seed, code, found);
	}
	return undefined;
}

async function broken(seed: number, most: number, code: Code): Promise<Broken | undefined> {
	try {
		await live(seed, most, code);
		return undefined;
	} catch (error) {
		if (error instanceof Broken) return error;
		throw error;
	}
}

async function shortest(seed: number, code: Code, found: Broken): Promise<string> {
	for (let most = 1; most < steps; most++) {
		const again = await broken(seed, most, code);
		if (again !== undefined) return `seed ${seed}, ${most} steps: ${again.message}`;
	}
	return `seed ${seed}: ${found.message}`;
}

/** So many seeds, one after the other. */
export const seedsFrom = (from: number, count: number): number[] =>
	Array.from({ length: count }, (_, index) => from + index);
