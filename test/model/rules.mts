// The rules that are judged when a run has ended, when the world is at rest, and after the healthy runs at the end.
import { isPaidOfQuestions, payeeMark } from './excuses.mts';
import { judgeChanges, judgeDoubts } from './rules-record.mts';
import { broken, count, disruptionCount, idOf, isDuring, rowOf } from './world.mts';
import type { Role, RunFacts, World } from './world.mts';

/** In ms. Reading the balance takes up to four attempts of the general timeout, and the pauses between them. */
const longestBalanceMs = 4 * 60_000 + 60_000;

/** In ms, added to a run by the database and its lock when nothing goes wrong with them, and when something did. */
const slack = { healthy: 10_000, disrupted: 240_000 };

/** In ms, for a stopped run beyond the timeout: to tell, and for one call of the database that never answers. */
const stopSlack = { healthy: 3_000, disrupted: 33_000 };

/** In ms, for a run of six people in an undisturbed world, in which nothing has to be waited for. */
const longestLastRunMs = (latency: number): number => 4_000 + 200 * latency;

/** Codes of payments for which a run reserved nothing. */
const unreserved = ['paidBefore', 'otherPayment', 'inDoubt', 'inFlight', 'sameReference'];

/** Judges all that only the end of a run shows. */
export function judgeEnd(world: World, run: RunFacts): void {
	keepPaid(world, run);
	judgeTime(world, run);
	judgeDoubts(world, `after ${run.name}`);
	const { before, plan } = run;
	const isAlone = !world.runs.some(
		(other) => other !== run && other.plan.node === plan.node && isDuring(run, other),
	);
	if (!isAlone || before?.disrupted !== disruptionCount(world)) return;
	const codes = [...run.lines.values()].map(({ code = '' }) => code);
	const isWhole = codes.length === run.payees.length;
	const reserves = codes.some((code) => !unreserved.includes(code));
	if (plan.does === 'pay' && (!isWhole || reserves)) return;
	const names = {
		pay: 'runs alone that reserve nothing',
		dryRun: 'dry runs alone',
		settle: 'settled alone',
	};
	count(world, names[plan.does]);
	judgeChanges(world, run);
}

/** Counts the lines of a run, and keeps those by which a payment is paid for ever. */
function keepPaid(world: World, run: RunFacts): void {
	const { paidForEver, timeline } = world;
	const row = rowOf(world, run);
	for (const [item, { outcome, code }] of run.lines) {
		count(world, code ?? outcome);
		const payee = run.payees[item];
		if (payee === undefined) continue;
		const { key } = payee;
		// A payment of this run is recorded unless the database failed or n8n was cut off.
		const isRecorded =
			disruptionCount(world) === 0 ||
			[`paid:${key}`, `paidConfirmed:${key}`, payeeMark(payee)].every((mark) => row.has(mark));
		// A person who settles names only the reference: nobody told to whom it was paid.
		const isNamed = run.plan.does === 'settle' && code === 'paidBefore';
		const isKept = (outcome === 'alreadyPaid' && !isNamed) || (outcome === 'paid' && isRecorded);
		const id = idOf(payee);
		const isProven = outcome === 'paid' && isRecorded;
		if (isKept && !paidForEver.get(id)?.isProven)
			paidForEver.set(id, { at: paidForEver.get(id)?.at ?? timeline.now, isProven });
	}
}

const inSeconds = (ms: number): number => Math.round(ms / 1000);

function judgeTime(world: World, run: RunFacts): void {
	const { beganAt, endedAt = world.timeline.now, stoppedAt = Infinity, plan, name } = run;
	const still = run.process.stoodStill - run.stoodStillBefore;
	const kind = disruptionCount(world) > 0 ? 'disrupted' : 'healthy';
	const longest =
		plan.tries * (longestBalanceMs + (plan.items.length + 3) * (plan.timeout + 2_000)) +
		(still + slack[kind]) * (plan.items.length + 2);
	const tookMs = endedAt - beganAt;
	if (tookMs > longest) broken(world, `${name} takes ${inSeconds(tookMs)} s`);
	const longestAfterStop = plan.timeout + still + plan.tries * 1_000 + stopSlack[kind];
	const afterStopMs = endedAt - stoppedAt;
	if (afterStopMs > longestAfterStop)
		broken(world, `${name} goes on for ${inSeconds(afterStopMs)} s after Stop`);
}

/** Judges a world in which nothing is due any more. */
export function judgeRest(world: World, when: string): void {
	for (const run of world.runs)
		if (run.endedAt === undefined && run.diedAt === undefined)
			broken(world, `${run.name} never ends (${when})`);
	judgeDoubts(world, when);
	if (disruptionCount(world) === 0 && world.database.rows.has(''))
		broken(world, `the lock is held, and nobody holds it (${when})`);
}

/** Outcomes that a healthy run at the end may tell. */
const allowed: Record<Role, string[]> = {
	planned: [],
	last: ['paid', 'alreadyPaid', 'unknown'],
	// The first of two such runs contradicts a *paid* that somebody said by mistake.
	settling: ['alreadyPaid', 'ready', 'unknown'],
	final: ['paid', 'alreadyPaid'],
};

/** After the healthy runs, each reference is paid or said to be paid. */
export function judgeLastRuns(world: World): void {
	const { books, runs } = world;
	for (const run of runs.filter(({ role }) => role !== 'planned')) {
		const tookMs = (run.endedAt ?? Infinity) - run.beganAt;
		if (disruptionCount(world) === 0 && tookMs > longestLastRunMs(world.plan.latency))
			broken(world, `${run.name} takes ${inSeconds(tookMs)} s, and nobody sends anything`);
		for (const [item, { key }] of run.payees.entries()) {
			const { outcome, code } = run.lines.get(item) ?? { outcome: 'none' };
			if (!allowed[run.role].includes(outcome) && code !== 'otherPayment')
				broken(world, `${run.name} tells ${key} ${code}`);
			const isPaid = books.paymentsOf(key).length > 0;
			const isOfQuestions = isPaidOfQuestions(world, run, key);
			if (run.role === 'final' && !isPaid && !isOfQuestions)
				broken(world, `${key} is not paid in the end`);
		}
	}
}
