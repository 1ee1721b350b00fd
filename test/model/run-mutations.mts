// Breaks the code in one place after the other, and tells how many worlds notice it. A mistake that none
// notices is a hole in the model. `--only=TEXT` those with TEXT in their name, `--cores=N` instead of all,
// `--quotes` only names each quote that does not stand once in its file.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { misfitsOf, type Mutation } from '../support/mutation.mts';
import { brokenBuild, Build, readBuild } from './build.mts';
import { mutations } from './payment-mutations.mts';
import { globalNames } from './n8n-process.mts';
import { play } from './play.mts';
import { tryWorld, type Found } from './search.mts';
import { stories } from './stories.mts';

/** A mutation that more worlds do not notice counts as not noticed. */
const mostWorlds = 4_000;

interface Noticed extends Found {
	/** How many random worlds were played; none if a story noticed it. */
	worlds: number;
	story?: string;
}

/** @param began called before each world */
async function firstNotice(
	mutation: Mutation,
	began: (seed: number) => void,
): Promise<Noticed | undefined> {
	const sources = readBuild();
	const whole = new Build(sources, globalNames);
	const build = new Build(brokenBuild(sources, mutation), globalNames);
	for (const { name, plans } of stories)
		for (const [index, plan] of plans.entries()) {
			const [violation] = (await play(plan, build)).violations;
			if (violation !== undefined) return { seed: index, violation, worlds: 0, story: name };
		}
	for (let seed = 1; seed <= mostWorlds; seed++) {
		began(seed);
		const found = await tryWorld(seed, build);
		// A world that breaks a rule anyway does not notice the mutation.
		if (found !== undefined && (await tryWorld(seed, whole)) === undefined)
			return { ...found, worlds: seed };
	}
	return undefined;
}

/** In MB. Code that never waits any more lets no time pass: it ends when it has taken all memory. */
const mostMemoryMb = 768;

async function inWorker(index: number): Promise<Noticed | undefined> {
	return await new Promise((done, fail) => {
		const worker = new Worker(new URL(import.meta.url), {
			workerData: index,
			resourceLimits: { maxOldGenerationSizeMb: mostMemoryMb },
		});
		let seed = 0;
		worker.on('message', (message: number | { noticed: Noticed | undefined }) => {
			if (typeof message === 'number') seed = message;
			else done(message.noticed);
		});
		worker.once('error', (error) => {
			if (Reflect.get(error, 'code') !== 'ERR_WORKER_OUT_OF_MEMORY') fail(error);
			else done({ seed, worlds: seed, violation: 'a run never waits and never ends' });
		});
	});
}

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			only: { type: 'string', default: '' },
			cores: { type: 'string' },
			quotes: { type: 'boolean', default: false },
		},
	});
	// A mistake that has no place in the code any more is found here, not after hours of worlds.
	const misfits = misfitsOf(mutations);
	for (const misfit of misfits) console.log(misfit);
	console.log(`${mutations.length - misfits.length} of ${mutations.length} quotes stand once.`);
	process.exitCode = misfits.length === 0 ? 0 : 1;
	if (values.quotes || misfits.length > 0) return;
	const chosen = [...mutations.entries()].filter(([, { breaks }]) => breaks.includes(values.only));
	const results: (Noticed | undefined)[] = [];
	const queue = chosen.map(([index]) => index).values();
	await Promise.all(
		Array.from({ length: Number(values.cores ?? availableParallelism()) }, async () => {
			for (const index of queue) {
				results[index] = await inWorker(index);
				console.error(
					`${mutations[index]?.breaks}: ${results[index]?.worlds ?? 'not noticed'} (${results[index]?.violation ?? ''})`,
				);
			}
		}),
	);
	console.log('| Mutation | Worlds needed | What broke |\n| --- | --- | --- |');
	for (const [index, { breaks }] of chosen) {
		const noticed = results[index];
		console.log(
			`| ${breaks} | ${noticed === undefined ? `none of ${mostWorlds}` : noticed.worlds} | ${noticed?.violation ?? ''} |`,
		);
	}
	const missed = chosen.filter(([index]) => results[index] === undefined);
	console.log(`${chosen.length - missed.length} of ${chosen.length} mutations are noticed.`);
	process.exitCode = missed.length === 0 ? 0 : 1;
}

if (isMainThread) await main();
else {
	const mutation = mutations[Number(workerData)];
	if (mutation === undefined) throw new Error('No such mutation');
	const noticed = await firstNotice(mutation, (seed) => parentPort?.postMessage(seed));
	parentPort?.postMessage({ noticed });
}
