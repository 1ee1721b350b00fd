// Breaks the built code in one place after the other, and tells how many worlds notice it. One that none notices is a hole in the model.
// `--only=TEXT` those with it in their name.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
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

const ledger = 'EtbWallet/disbursement/ledger.js';
const lock = 'shared/record/lock.js';
const entries = 'shared/record/entries.js';
const questions = 'EtbWallet/disbursement/questions.js';
const windows = 'EtbWallet/disbursement/windows.js';
const rows = 'EtbWallet/disbursement/rows.js';
const checks = 'EtbWallet/disbursement/checks.js';
const reference = 'EtbWallet/disbursement/reference.js';
const claims = 'EtbWallet/disbursement/claims.js';
const payClaims = 'EtbWallet/disbursement/payClaims.js';
const success = 'shared/service/success.js';
const disburse = 'EtbWallet/disbursement/disburse.js';
const payment = 'EtbWallet/disbursement/payment.js';
const attempt = 'shared/service/attempt.js';
const retries = 'shared/service/retries.js';
const elapsed = 'shared/elapsed.js';
const n8n = 'shared/n8n.js';

const mutations: Mutation[] = [
	{
		name: 'An attempt does not end by the clock: dripping answers never do',
		file: attempt,
		find: 'const signal = stop === undefined ? timeout : AbortSignal.any([timeout, stop]);',
		replace: 'const signal = stop ?? new AbortController().signal;',
	},
	{
		name: 'A refused payment frees its reference although a person settled it',
		file: ledger,
		find: `const isSettled = (payment) => before.has(settledMark(payment));`,
		replace: `const isSettled = () => false;`,
	},
	{
		name: 'A reference may be paid to another person',
		file: ledger,
		find: `return paidToAnother.has(payment) ? 'paidToAnother' : 'heldByAnother';`,
		replace: `return 'unused';`,
	},
	{
		name: 'A database call may take for ever',
		file: entries,
		find: 'AbortSignal.timeout(timeoutMs)',
		replace: 'new AbortController().signal',
	},
	{
		name: 'A dry run, or a look at what is left to pay, claims references',
		file: questions,
		find: `await entries.remove([...questions.toRemove]);`,
		replace: ``,
	},
	{
		name: 'No lock between processes',
		file: lock,
		find: 'const heldForMs = await waitForLock(row, stop);',
		replace: 'const heldForMs = (0, elapsed_1.stopwatch)();',
	},
	{
		name: 'The lock is not given back',
		file: lock,
		find: 'if (heldForMs() < abandonedAfterMs)\n            await release(row);',
		replace: '',
	},
	{
		name: 'The lock of a crashed process is never taken over',
		file: lock,
		find: 'else if (sameHolderForMs() > takeOverAfterMs)',
		replace: 'else if (false)',
	},
	{
		name: 'The lock is taken over at once',
		file: lock,
		find: 'else if (sameHolderForMs() > takeOverAfterMs)',
		replace: 'else',
	},
	{
		name: 'A process that lost the lock goes on with what it read',
		file: lock,
		find: 'if (heldForMs() > safeForMs)',
		replace: 'if (false)',
	},
	{
		name: 'Sent first, recorded afterwards',
		file: ledger,
		find: `                    ...payments.flatMap(claimMarks),
                ], [`,
		replace: `                ], [`,
	},
	{
		name: 'The mark of a claim is left out',
		file: ledger,
		find: 'const claimMarks = (payment) => [\n    sentMark(payment),',
		replace: 'const claimMarks = (payment) => [',
	},
	{
		name: 'The mark of the payment is left out',
		file: ledger,
		find: 'const claimMarks = (payment) => [\n    sentMark(payment),\n    paymentMark(payment),',
		replace: 'const claimMarks = (payment) => [\n    sentMark(payment),',
	},
	{
		name: 'Paid is not recorded',
		file: ledger,
		find: `                        ...claimMarks(payment),
                        ...paidFact(payment),
                    ]),
                ]);`,
		replace: `                        ...claimMarks(payment),
                    ]),
                ]);`,
	},
	{
		name: 'Doubt is not recorded',
		file: ledger,
		find: `await questions.write([...settled.filter(isClaimed), ...unknown.map(({ payment }) => payment)].flatMap(doubtFact));`,
		replace: ``,
	},
	{
		name: 'A late answer is recorded without its claim, which a person removed',
		file: ledger,
		find: `                        ...claimMarks(payment),
                        ...paidFact(payment),
                    ]),
                ]);`,
		replace: `                        ...paidFact(payment),
                    ]),
                ]);`,
	},
	{
		name: 'Settling: no mark stays of a finding that it was not paid',
		file: ledger,
		find: `...[...paid, ...notPaid].map(settledMark)`,
		replace: `...paid.map(settledMark)`,
	},
	{
		name: 'Settling: no mark stays of a finding that it was paid',
		file: ledger,
		find: `...[...paid, ...notPaid].map(settledMark)`,
		replace: `...notPaid.map(settledMark)`,
	},
	{
		name: 'Settling: a late end takes a freed reference back',
		file: ledger,
		find: `const isClaimed = (payment) => claimMarks(payment).every((mark) => claims.has(mark));`,
		replace: `await questions.write(settled.flatMap(claimMarks)); const isClaimed = () => true;`,
	},
	{
		name: 'Settling: a late end leaves no doubt beside a claim',
		file: ledger,
		find: `[...settled.filter(isClaimed), ...unknown`,
		replace: `[...unknown`,
	},
	{
		name: 'Settling: what is being sent is settled too',
		file: ledger,
		find: `const notPaid = found('notPaid', 'inDoubt');`,
		replace: `const notPaid = [...found('notPaid', 'inDoubt'), ...found('notPaid', 'inFlight')];`,
	},
	{
		name: 'Settling: what ended while the run waited is settled too',
		file: ledger,
		find: `wanted.filter((each) => each.hasWaited)`,
		replace: `wanted.filter(() => false)`,
	},
	{
		name: 'Settling: what is paid is settled too',
		file: ledger,
		find: `const notPaid = found('notPaid', 'inDoubt');`,
		replace: `const notPaid = [...found('notPaid', 'inDoubt'), ...found('notPaid', 'paid')]; questions.remove(found('notPaid', 'paid').flatMap(paidFact));`,
	},
	{
		name: 'Settling: what this node does not know is not recorded as paid',
		file: ledger,
		find: `const newlyPaid = found('recordPaid', 'unused');`,
		replace: `const newlyPaid = []; for (const payment of found('recordPaid', 'unused')) answers.set(payment, 'newlyPaid');`,
	},
	{
		name: 'Settling: a finding paid is recorded also for what was never sent',
		file: ledger,
		find: `const newlyPaid = found('recordPaid', 'unused');`,
		replace: `const newlyPaid = [...found('recordPaid', 'unused'), ...found('paid', 'unused')];`,
	},
	{
		name: 'Settling: a finding not paid leaves the claim',
		file: ledger,
		find: `questions.remove(notPaid.flatMap((payment) => [...claimMarks(payment), ...doubtFact(payment)]));`,
		replace: ``,
	},
	{
		name: 'Settling: a run that settles also pays',
		file: disburse,
		find: `if (options.mode === 'settle') {`,
		replace: `if (false) {`,
	},
	{
		name: 'Settling: Retry On Fail heeds a finding again',
		file: windows,
		find: `this.batch.end(payment, { outcome: 'unknown', error: (0, answers_1.notSettled)(error) });`,
		replace: `this.batch.end(payment, { outcome: 'notPaid', error: (0, answers_1.notSettled)(error) });`,
	},
	{
		name: 'Settling: Retry execution and schedules settle',
		file: checks,
		find: `if (!(0, n8n_1.isRunByPerson)(context)) {`,
		replace: `if (false) {`,
	},
	{
		name: 'Retry execution pays although the node remembers nothing',
		file: disburse,
		find: `if (isRepeated(context) && (marks === 0 || begunForgetful.has(sentBefore)))`,
		replace: `if (false)`,
	},
	{
		name: 'Retry execution pays when another execution records something between two of its tries',
		file: disburse,
		find: `(marks === 0 || begunForgetful.has(sentBefore))`,
		replace: `marks === 0`,
	},
	{
		name: 'Another amount under a reference that is unknown is told as not paid',
		file: ledger,
		find: `return paidToAnother.has(payment) ? 'paidToAnother' : 'heldByAnother';`,
		replace: `return 'paidToAnother';`,
	},
	{
		name: 'What an interrupted question about another payment left is given up as in doubt',
		file: ledger,
		find: `const doubtful = givenUp.filter((payment) => !ended.has(payment));`,
		replace: `const doubtful = givenUp; ended.clear();`,
	},
	{
		name: 'Two references that look the same are paid in one run',
		file: reference,
		find: `const look = (0, exports.lookOf)(reference);`,
		replace: `const look = reference;`,
	},
	{
		name: 'A fact is one mark: a question that was interrupted is believed',
		file: ledger,
		find: 'return new Set(candidates.filter(isTrue));',
		replace: 'return new Set(candidates);',
	},
	{
		name: 'Marks of a question stay',
		file: questions,
		find: `for (const mark of marks)
            if (!before.has(mark))
                this.toRemove.add(mark);`,
		replace: ``,
	},
	{
		name: 'A claim lasts for ever: a process that stood still sends',
		file: windows,
		find: '() => timeoutMs - ageMs()',
		replace: '() => timeoutMs',
	},
	{
		name: 'Clocks that stand still while a machine sleeps',
		file: elapsed,
		find: 'Math.max(Date.now() - wall, performance.now() - monotonic)',
		replace: 'performance.now() - monotonic',
	},
	{
		name: 'Another execution is not waited for',
		file: windows,
		find: 'isGivenUp: waitedMs !== undefined && waitedMs() >= timeoutMs + recordingMs,',
		replace: 'isGivenUp: true,',
	},
	{
		name: 'Another execution is waited for without an end',
		file: windows,
		find: 'isGivenUp: waitedMs !== undefined && waitedMs() >= timeoutMs + recordingMs,',
		replace: 'isGivenUp: false,',
	},
	{
		name: 'How the last window ended is not recorded',
		file: windows,
		find: 'await this.recordLast();',
		replace: '',
	},
	{
		name: 'Retry On Fail forgets what an earlier try sent',
		file: n8n,
		find: 'if (known !== undefined)\n        return known;\n    const value = new WeakMap();',
		replace: 'const value = new WeakMap();\n    return value;',
	},
	{
		name: 'A payment without an answer is sent again',
		file: retries,
		find: "return mayRepeat || !attempt.sent ? 'retry' : 'unknown';",
		replace: "return 'retry';",
	},
	{
		name: 'A body that contradicts itself counts',
		file: success,
		find: `if (said.size > 1 || isRepeated({ body, text }))`,
		replace: `if (false)`,
	},
	{
		name: 'A failing database does not keep a payment from being sent',
		file: windows,
		find: `                if (!waiting.has(payment))
                    batch.end(payment, { outcome: 'notPaid', error: (0, answers_1.notRecorded)(error) });`,
		replace: `                if (!waiting.has(payment))
                    await this.send([payment], () => timeoutMs);`,
	},
	{
		name: 'An item without the reference it should have is paid',
		file: payment,
		find: `(0, invalidValue_1.isAbsent)(given) && !isExpected ?`,
		replace: `(0, invalidValue_1.isAbsent)(given) ?`,
	},
	{
		name: 'Stop does not end the pauses and the waiting',
		file: rows,
		find: `stop?.aborted === true || (stopsAtFailure && hasFailure)`,
		replace: `stopsAtFailure && hasFailure`,
	},
	{
		name: 'The pay gate: a claim that another process used is used again',
		file: claims,
		find: 'if (before.has(claimMark(claim)))',
		replace: 'if (false)',
	},
	{
		name: 'The pay gate: a claim that another node of this process used is used again',
		file: claims,
		find: 'usedHere.has(claim) && !own.begun.has(claim)',
		replace: 'false',
	},
	{
		name: 'The pay gate: nobody looks at Not After',
		file: claims,
		find: 'passedMs() < msAtFirst ? msAtFirst : 0',
		replace: 'Infinity',
	},
	{
		name: 'The pay gate: Not After is only looked at before the first payment',
		file: payClaims,
		find: `({ itemIndex }) => claims.msLeft(itemIndex)`,
		replace: `((left) => ({ itemIndex }) => left[itemIndex])(rows.map((_, index) => claims.msLeft(index)))`,
	},
	{
		name: 'The pay gate: a payment may take longer than its lease',
		file: claims,
		find: 'passedMs() < msAtFirst ? msAtFirst : 0',
		replace: 'passedMs() < msAtFirst ? Infinity : 0',
	},
	{
		name: 'The pay gate: what another execution claimed is sent',
		file: claims,
		find: 'const isOwn = execution === undefined || execution === ownExecution;',
		replace: 'const isOwn = true;',
	},
	{
		name: 'The pay gate: what is too late is not paid, also when its claim was used before',
		file: claims,
		find: 'const { claim, claimedBy, problem } = items[itemIndex] ?? {};',
		replace:
			"const { claim, claimedBy, problem, msLeft } = items[itemIndex] ?? {}; if (msLeft?.() === 0) return { outcome: 'notPaid', error: { message: 'late', description: '' } };",
	},
	{
		name: 'The pay gate: a run that is refused as a whole says not paid of all',
		file: payClaims,
		find: `ending: (0, rows_1.unlessInvalid)(() => claims.objection(itemIndex)),`,
		replace: ``,
	},
	{
		name: 'The pay gate: a claim is used up after the credential was loaded',
		file: payClaims,
		find: `const claims = await (0, claims_1.useClaims)(context, read, start.sentBefore);`,
		replace: `let claims; try { await (0, account_1.loadAccount)(context); } catch (error) { return (0, rows_1.refuseAll)(start, error, () => ({})); } claims = await (0, claims_1.useClaims)(context, read, start.sentBefore);`,
	},
	{
		name: 'The pay gate: a failing database does not keep a payment from being sent',
		file: claims,
		find: 'return used instanceof Error ? claimNotRecorded(used) : undefined;',
		replace: 'return undefined;',
	},
	{
		name: 'The pay gate: Retry On Fail cannot go on with its own claims',
		file: claims,
		find: 'ownClaims.set(tries, own);',
		replace: '',
	},
];

/** A mutation that more worlds do not notice counts as not noticed. */
const mostWorlds = 8_000;

const pathOf = ({ file }: Mutation): string => `nodes/${file}`;

function placesOf(sources: ReadonlyMap<string, string>, mutation: Mutation): number {
	return (sources.get(pathOf(mutation)) ?? '').split(mutation.find).length - 1;
}

function mutated(sources: ReadonlyMap<string, string>, mutation: Mutation): Map<string, string> {
	const path = pathOf(mutation);
	const source = sources.get(path) ?? '';
	return new Map(sources).set(
		path,
		source.replace(mutation.find, () => mutation.replace),
	);
}

interface Noticed extends Found {
	worlds: number;
}

/** @param began called before each world */
async function firstNotice(
	mutation: Mutation,
	began: (seed: number) => void,
): Promise<Noticed | undefined> {
	const sources = readBuild();
	const whole = new Build(sources, globalNames);
	const build = new Build(mutated(sources, mutation), globalNames);
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
	const sources = readBuild();
	const misfits = mutations.filter((mutation) => placesOf(sources, mutation) !== 1);
	if (misfits.length > 0) {
		for (const mutation of misfits)
			console.log(
				`"${mutation.name}" fits ${placesOf(sources, mutation)} places of ${mutation.file}, not one.`,
			);
		throw new Error('Bring the mutations up to date with the code');
	}
	const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
	const chosen = [...mutations.entries()].filter(([, { name }]) => name.includes(values.only));
	const results: (Noticed | undefined)[] = [];
	const queue = chosen.map(([index]) => index).values();
	await Promise.all(
		Array.from({ length: availableParallelism() }, async () => {
			for (const index of queue) {
				results[index] = await inWorker(index);
				console.error(
					`${mutations[index]?.name}: ${results[index]?.worlds ?? 'not noticed'} (${results[index]?.violation ?? ''})`,
				);
			}
		}),
	);
	console.log('| Mutation | Worlds needed | What broke |\n| --- | --- | --- |');
	for (const [index, { name }] of chosen) {
		const noticed = results[index];
		console.log(
			`| ${name} | ${noticed === undefined ? `none of ${mostWorlds}` : noticed.worlds} | ${noticed?.violation ?? ''} |`,
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
