// Breaks the built code in one place after the other, and tells how many worlds notice it. One that none notices is a hole in the model.
import { availableParallelism } from 'node:os';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { Build, readBuild } from './build.mts';
import { globalNames } from './n8n-process.mts';
import { tryWorld } from './search.mts';
import type { Found } from './search.mts';

interface Mutation {
	name: string;
	/** Below dist/nodes. */
	file: string;
	/** Must be there exactly once. */
	find: string;
	replace: string;
}

const ledger = 'EtbWallet/disbursement/references/ledger.js';
const lock = 'EtbWallet/disbursement/references/lock.js';
const entries = 'EtbWallet/disbursement/references/entries.js';
const sending = 'EtbWallet/disbursement/sending.js';
const disburse = 'EtbWallet/disbursement/disburse.js';
const settlement = 'EtbWallet/disbursement/settlement.js';
const payment = 'EtbWallet/disbursement/payment.js';
const attempt = 'shared/service/attempt.js';
const retries = 'shared/service/retries.js';
const elapsed = 'shared/elapsed.js';
const n8n = 'shared/n8n.js';

const mutations: Mutation[] = [
];

/** A mutation that more worlds do not notice counts as not noticed. */
const mostWorlds = 2_000;

/** @throws {Error} when the mutation does not fit the build any more */
function mutated(sources: ReadonlyMap<string, string>, mutation: Mutation): Map<string, string> {
	const path = `nodes/${mutation.file}`;
	const source = sources.get(path);
	const places = source?.split(mutation.find).length ?? 1;
	if (source === undefined || places !== 2)
		throw new Error(
			`"${mutation.name}" fits ${places - 1} places of ${path}, not one: bring it up to date with the code`,
		);
	return new Map(sources).set(path, source.replace(mutation.find, () => mutation.replace));
}

interface Noticed extends Found {
	worlds: number;
}

async function firstNotice(mutation: Mutation): Promise<Noticed | undefined> {
	const build = new Build(mutated(readBuild(), mutation), globalNames);
	for (let seed = 1; seed <= mostWorlds; seed++) {
		const found = await tryWorld(seed, build);
		if (found !== undefined) return { ...found, worlds: seed };
	}
	return undefined;
}

async function inWorker(index: number): Promise<Noticed | undefined> {
	return await new Promise((done, fail) => {
		const worker = new Worker(new URL(import.meta.url), { workerData: index });
		worker.once('message', done);
		worker.once('error', fail);
	});
}

async function main(): Promise<void> {
	const sources = readBuild();
	for (const mutation of mutations) mutated(sources, mutation);
	const results: (Noticed | undefined)[] = [];
	const queue = mutations.keys();
	await Promise.all(
		Array.from({ length: availableParallelism() }, async () => {
			for (const index of queue) results[index] = await inWorker(index);
		}),
	);
	console.log('| Mutation | Worlds needed | What broke |\n| --- | --- | --- |');
	for (const [index, { name }] of mutations.entries()) {
		const noticed = results[index];
		console.log(
			`| ${name} | ${noticed === undefined ? `none of ${mostWorlds}` : noticed.worlds} | ${noticed?.violation ?? ''} |`,
		);
	}
	const missed = mutations.filter((_, index) => results[index] === undefined);
	console.log(`${mutations.length - missed.length} of ${mutations.length} mutations are noticed.`);
	process.exitCode = missed.length === 0 ? 0 : 1;
}

if (isMainThread) await main();
else {
	const mutation = mutations[Number(workerData)];
	if (mutation === undefined) throw new Error('No such mutation');
	parentPort?.postMessage(await firstNotice(mutation));
}
