// The rules of a payment: nobody is paid twice, and a run keeps its limits.
import { isOldStatement } from './excuses.mts';
import type { Sent } from './service-books.mts';
import {
	broken,
	count,
	countsOnce,
	runsSayingNotPaid,
	isPaidForEver,
	lastActAt,
	sendingOf,
} from './world.mts';
import type { RunFacts, World } from './world.mts';

/** In ms. A request may take this long between the last look at the clock and its connection. */
const longestConnectingMs = 2_000;

/** Judges a payment just before it is in the books. */
export function judgePayment(world: World, sent: Sent): void {
	const run = world.runs[sent.run];
	if (run === undefined) return;
	const { name, plan } = run;
	if (sent.toUserId.endsWith('-none')) broken(world, `${name} pays an item without a reference`);
	const lateMs = sent.leftAt - sent.grounds.reservedAt - plan.timeout - longestConnectingMs;
	if (lateMs > 0) broken(world, `${name} sends ${sent.key} ${Math.round(lateMs)} ms too late`);
	judgeLimits(world, run, sent);
	if (plan.does !== 'pay') broken(world, `the ${plan.does} run ${name} pays ${sent.toUserId}`);
	if (isPaidForEver(world, { ...sent, amount: sent.amountEtb }, sent.grounds.reservedAt))
		broken(world, `${sent.key} is paid by ${name}, after it was told to be paid for ever`);
	const all = [...world.books.paymentsOf(sent.key), sent];
	if (all.length === 1) return;
	if (!isExplained(world, all, () => true)) broken(world, `${sent.key} is paid again, by ${name}`);
	else if (isExplained(world, all, (by, before) => !isOldStatement(by, before)))
		count(world, 'paid again by a false statement');
	else count(world, 'excuse: paid again by an old statement');
}

/** Judges a payment by the limits of its run, and by its Stop. */
function judgeLimits(world: World, run: RunFacts, sent: Sent): void {
	const { name, plan, stoppedAt = Infinity } = run;
	const own = world.books.sent.filter((each) => each.run === sent.run);
	// The requests that were under way at Stop are at most a batch.
	const afterStop = own.filter(({ leftAt }) => leftAt > stoppedAt);
	if (afterStop.length > plan.concurrency)
		broken(world, `${name} sends ${afterStop.length} payments after Stop`);
	const amounts = new Map([...own, sent].map((each) => [each.key, each.amountEtb]));
	const total = [...amounts.values()].reduce((sum, amount) => sum + amount, 0);
	if (sent.amountEtb > (plan.maxAmountEtb ?? Infinity) || total > (plan.maxTotalEtb ?? Infinity))
		broken(world, `${name} sends ${sent.amountEtb} ETB, in all ${total} ETB, above a maximum`);
}

/**
 * Whether statements of people explain why a reference was paid more than once. In the order of the reservations, each
 * payment but the first needs a run of its own that says *notPaid* of the payment before it. That run went on at
 * some time between the two reservations. By an expression, *notPaid* explains only the second payment, or one for each
 * sending that it names.
 */
function isExplained(
	world: World,
	payments: readonly Sent[],
	mayExplain: (run: RunFacts, before: Sent) => boolean,
): boolean {
	const inOrder = [...payments].sort((a, b) => a.grounds.reservedAt - b.grounds.reservedAt);
	const used = new Set<RunFacts | string>();
	return inOrder.every((payment, index) => {
		const before = inOrder[index - 1];
		if (before === undefined) return true;
		const [first] = runsSayingNotPaid(world, before)
			.filter((run) => !used.has(run) && mayExplain(run, before))
			.filter((run) => !used.has(sendingOf(run, before.key) ?? run))
			.filter((run) => run.beganAt <= payment.grounds.reservedAt)
			.filter((run) => index === 1 || !countsOnce(run) || sendingOf(run, before.key) !== undefined)
			.sort((a, b) => Number(countsOnce(b)) - Number(countsOnce(a)) || lastActAt(a) - lastActAt(b));
		if (first !== undefined) used.add(first).add(sendingOf(first, before.key) ?? first);
		return first !== undefined;
	});
}
