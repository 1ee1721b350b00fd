// Plays the stories, and many worlds. `--worlds=N`, `--from=N` the first seed, `--cores=N` instead of all,
// `--seed=N` one world with its log.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { Build, readBuild } from './build.mts';
import { globalNames } from './n8n-process.mts';
import { kindOf, planOf, smallestWorld, tryWorld, type Found } from './search.mts';
import { play } from './play.mts';
import { stories } from './stories.mts';

interface Share {
	from: number;
	count: number;
	step: number;
}

interface Outcome {
	found: Found[];
	counts: Map<string, number>;
	played: number;
}

const newBuild = (): Build => new Build(readBuild(), globalNames);

/** At most this many broken worlds are printed; one is enough to start with. */
const mostPrinted = 3;

async function playShare({ from, count, step }: Share): Promise<Outcome> {
	const build = newBuild();
	const counts = new Map<string, number>();
	const kinds = new Map<string, Found>();
	let played = 0;
	for (let index = 0; index < count; index++) {
		const found = await tryWorld(from + index * step, build, counts);
		played++;
		if (found !== undefined && !kinds.has(kindOf(found.violation)))
			kinds.set(kindOf(found.violation), found);
		if (kinds.size >= mostPrinted) break;
	}
	return { found: [...kinds.values()], counts, played };
}

async function inWorker(share: Share): Promise<Outcome> {
	return await new Promise((done, fail) => {
		const worker = new Worker(new URL(import.meta.url), { workerData: share });
		worker.once('message', (outcome: Outcome) => {
			done(outcome);
		});
		worker.once('error', fail);
	});
}

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			worlds: { type: 'string', default: '100000' },
			from: { type: 'string', default: '1' },
			cores: { type: 'string' },
			seed: { type: 'string' },
		},
	});
	if (values.seed !== undefined) {
		const found = await tryWorld(Number(values.seed), newBuild());
		const isBroken = found !== undefined;
		if (isBroken) console.log(await smallestWorld(found, newBuild()));
		else console.log((await play(planOf(Number(values.seed)), newBuild(), true)).log.join('\n'));
		console.log(isBroken ? 'A rule is broken.' : 'No rule is broken.');
		process.exitCode = isBroken ? 1 : 0;
		return;
	}
	const brokenStories = await playStories(newBuild());
	const began = Date.now();
	const total = Number(values.worlds);
	const cores = Number(values.cores ?? availableParallelism());
	const outcomes = await Promise.all(
		Array.from({ length: cores }, (_, core) =>
			inWorker({
				from: Number(values.from) + core,
				count: Math.ceil((total - core) / cores),
				step: cores,
			}),
		),
	);
	const played = outcomes.reduce((sum, outcome) => sum + outcome.played, 0);
	const seconds = (Date.now() - began) / 1000;
	const counts = new Map<string, number>();
	for (const outcome of outcomes)
		for (const [name, count] of outcome.counts) counts.set(name, (counts.get(name) ?? 0) + count);
	const byKind = new Map<string, Found>();
	for (const found of outcomes.flatMap((outcome) => outcome.found).sort((a, b) => a.seed - b.seed))
		if (!byKind.has(kindOf(found.violation))) byKind.set(kindOf(found.violation), found);
	for (const found of [...byKind.values()].slice(0, mostPrinted)) {
		console.log(await smallestWorld(found, newBuild()));
		console.log(`Again: npm run test:model -- --seed=${found.seed}\n`);
	}
	console.log(
		`${played} worlds in ${seconds.toFixed(1)} s (${Math.round(played / seconds)} a second). Told: ${[...counts].map(([name, count]) => `${name} ${count}`).join(', ')}.`,
	);
	const broken = byKind.size + brokenStories;
	console.log(broken === 0 ? 'No rule is broken.' : `${broken} kinds of rules are broken.`);
	process.exitCode = broken === 0 ? 0 : 1;
}

/** Plays the worlds of the stories. @returns how many stories break a rule */
async function playStories(build: Build): Promise<number> {
	let broken = 0;
	for (const { name, plans } of stories)
		for (const plan of plans) {
			const { violations, log } = await play(plan, build, true);
			if (violations.length === 0) continue;
			console.log([`${name}: ${violations[0]}`, ...log].join('\n'));
			broken++;
			break;
		}
	return broken;
}

if (isMainThread) await main();
else parentPort?.postMessage(await playShare(workerData as Share));
