// The reasons for a line: the facts that allow a run to tell an outcome and a code of an item.
import { createHash } from 'node:crypto';
import { isDoubtOfQuestions, isPaidOfQuestions, isPayeeOfQuestion } from './excuses.mts';
import type { PlannedStatement } from './plan.mts';
import { isUnclear, personOf, type Sent } from './service-books.mts';
import {
	askedAt,
	countsOnce,
	runsSayingNotPaid,
	contradictsPaid,
	disruptionCount,
	hasBegun,
	isDuring,
} from './world.mts';
import { isAboveLimit, isOf, isExcused, maySettle, says, scopeOf, writeMs } from './world.mts';
import type { Payee, RunFacts, World } from './world.mts';

/** The facts by which a line is judged. */
export interface Told {
	world: World;
	run: RunFacts;
	payee: Payee;
	key: string;
	statement: PlannedStatement | undefined;
	/** The requests of this run to the payee. */
	own: Sent[];
	/** Whether nothing went wrong in the world, and no run with this reference was stopped. */
	isHealthy: boolean;
}

/** By outcome and code: whether the facts allow to tell it. */
export const reasons: Readonly<Record<string, (told: Told) => boolean>> = {
	'paid paid': ({ run, own }) => run.plan.does === 'pay' && own.some(({ isPaid }) => isPaid),
	'alreadyPaid paidBefore': (told) => mayBePaidBefore(told),
	'alreadyPaid settledPaid': (told) =>
		told.statement === 'paid' && !wasBeingSent(told) && !wasSettledNotPaid(told),
	'ready ready': (told) =>
		!mayBePaid(told) &&
		(told.run.plan.does === 'dryRun' ||
			(told.statement === 'notPaid' && !wasBeingSent(told)) ||
			(told.statement === 'takeBack' && !wasBeingSent(told) && !wasSettledNotPaid(told))),
	'ready settledNotPaid': (told) => told.statement === 'notPaid' && !wasBeingSent(told),
	'notPaid refused': ({ own }) => own.length > 0 && own.every(({ isPaid }) => !isPaid),
	'notPaid notReached': ({ world, key }) =>
		disruptionCount(world) > 0 || world.plan.responses[personOf(key)]?.includes('refused') === true,
	'notPaid otherPayment': ({ world, run, payee, key }) =>
		world.books.paymentsOf(key).some((sent) => !isOf(payee)(sent)) ||
		isExcused(world, 'paid by questions', isPaidOfQuestions(world, run, key)),
	'notPaid invalid': ({ payee }) => payee.variant === 'noReference',
	'notPaid sameReference': ({ run, payee, key }) =>
		run.payees.some((other) => other !== payee && other.key === key),
	'notPaid aboveMaximum': ({ run, payee }) => payee.amount > (run.plan.maxAmountEtb ?? Infinity),
	'notPaid totalAboveMaximum': ({ run }) => isAboveLimit(run),
	'notPaid notCovered': ({ world: { plan }, run, isHealthy }) =>
		run.plan.checkBalance &&
		(!isHealthy || plan.balanceResponses.length > 0 || plan.balance < 1_000_000),
	'notPaid noRecord': ({ isHealthy }) => !isHealthy,
	'notPaid settings': ({ run }) => run.plan.does === 'settle' && !maySettle(run),
	'unknown noResponse': ({ own }) => own.some(mayBeUnclear),
	'unknown unclear': ({ own }) => own.some(mayBeUnclear),
	'unknown inDoubt': (told) => mayBeInDoubt(told),
	'unknown inFlight': (told) => (told.isHealthy ? overlaps(told) : mayStillBeBusy(told)),
	'unknown notSettled': (told) => told.statement === 'notPaid' && mayHaveBeenFreed(told),
	'unknown contradicted': (told) =>
		(told.statement !== 'notPaid' && mayHaveBeenFreed(told)) ||
		(told.statement !== 'paid' && mayHaveBeenSaidPaid(told)),
	// A run that stops at the first failure does not attempt the rest.
	notAttempted: ({ run }) => run.plan.onError === 'stop' || run.stoppedAt !== undefined,
};

/** Whether another run can have settled it as not paid. */
const mayHaveBeenFreed = ({ world, run, key, statement, isHealthy }: Told): boolean =>
	(countsOnce(run) || statement === 'takeBack') &&
	(!isHealthy || world.runs.some((other) => hasBegun(other) && says(other, 'notPaid', key)));

/** Whether another run can have settled it as paid. */
const mayHaveBeenSaidPaid = ({ world, key, isHealthy }: Told): boolean =>
	!isHealthy || world.runs.some((other) => hasBegun(other) && says(other, 'paid', key));

/** Whether neither the sender nor the node can know how a request ended. */
const mayBeUnclear = ({ kind, isAnswered, endedAt }: Sent): boolean =>
	isUnclear(kind) || (endedAt !== undefined && !isAnswered);

const sentUnder = ({ books }: World, key: string): Sent[] =>
	books.sent.filter((sent) => sent.key === key);

const wasClockSet = ({ plan }: World): boolean =>
	plan.processes.flat().some(({ kind }) => kind.startsWith('clock'));

/**
 * Whether an expression says *paid*, or anybody *take back*, of a reference that was settled as not paid, and that no run
 * asked for or contradicted since.
 */
const wasSettledNotPaid = ({ world: { runs }, run, key, statement, isHealthy }: Told): boolean =>
	isHealthy &&
	(countsOnce(run) || statement === 'takeBack') &&
	runs.some(
		({ lines, payees, beganAt, endedAt = Infinity }) =>
			endedAt < run.beganAt &&
			[...lines].some(
				([item, { code }]) => payees[item]?.key === key && code === 'settledNotPaid',
			) &&
			!runs.some(
				(other) =>
					(other.plan.does === 'pay' && (other.asked.get(key) ?? 0) >= beganAt) ||
					(other !== run &&
						other.beganAt >= beganAt &&
						(says(other, 'paid', key) || says(other, 'takeBack', key))),
			),
	);

function mayBePaidBefore({ world, run, payee, key, own }: Told): boolean {
	if (own.some(({ isPaid }) => isPaid)) return false;
	const payments = world.books.paymentsOf(key);
	if (payments.some(isOf(payee)) || (payments.length > 0 && run.plan.does === 'settle'))
		return true;
	if (world.runs.some((each) => hasBegun(each) && says(each, 'paid', key))) return true;
	const isOfQuestion = isPayeeOfQuestion(world, run, payee);
	return (
		isExcused(world, 'paid by questions', isPaidOfQuestions(world, run, key)) ||
		isExcused(world, 'payee of a question', payments.length > 0 && isOfQuestion)
	);
}

/** A run that settles must settle a doubt, not tell of it, unless a statement only takes one back. */
const mayBeInDoubt = (told: Told): boolean =>
	(!maySettle(told.run) || told.statement === 'takeBack') &&
	(!told.isHealthy || sentUnder(told.world, told.key).some(mayBeUnclear) || wasContradicted(told));

/** Whether somebody contradicted a *paid* that a person said. */
const wasContradicted = (told: Told): boolean =>
	mayHaveBeenSaidPaid(told) && told.world.runs.some((other) => contradictsPaid(other, told.key));

/** Whether a payment was made that was reserved before the run first asked, and no person contradicted it. */
function mayBePaid({ world, run, key }: Told): boolean {
	const firstAskedAt = askedAt(run, key);
	return world.books
		.paymentsOf(key)
		.some(
			(sent) =>
				sent.grounds.reservedAt < firstAskedAt && runsSayingNotPaid(world, sent).length === 0,
		);
}

/**
 * Whether, when this run first asked, another run had reserved the reference a moment before, and was sending it, or
 * had not yet recorded that it was paid. A reservation lasts 15 s longer than the Timeout, and two clocks differ by up
 * to 10 s: within the Timeout it still stands.
 */
function wasBeingSent({ world, run, key }: Told): boolean {
	if (wasClockSet(world)) return false;
	if (isExcused(world, 'doubted by questions', isDoubtOfQuestions(world, run, key))) return false;
	const firstAskedAt = askedAt(run, key);
	return sentUnder(world, key).some((sent) => {
		const { reservedAt } = sent.grounds;
		const { plan, endedAt = Infinity } = world.runs[sent.run] ?? run;
		const isSaidPaid = sent.isAnswered && sent.isPaid && !isUnclear(sent.kind);
		const isSending = (sent.endedAt ?? Infinity) >= firstAskedAt || isSaidPaid;
		const isTimely = reservedAt < firstAskedAt && firstAskedAt < reservedAt + plan.timeout;
		return isTimely && endedAt > firstAskedAt && isSending;
	});
}

/** Whether another run that pays this reference went on when this one began, or later. */
const overlaps = ({ world, run, key }: Told): boolean =>
	world.runs.some(
		(other) =>
			other !== run &&
			other.plan.does === 'pay' &&
			other.payees.some((payee) => payee.key === key) &&
			isDuring(run, other),
	);

/**
 * In ms. A mark *busy* counts for three slots of time if a crash left that of the next one, by a clock that is
 * behind.
 */
const longestBusyMs = 3 * 145_000 + 10_000 + writeMs;

/** References of a bucket share their marks *busy*: those of the first two people of node a are in one bucket. */
const bucketOf = (key: string): number =>
	createHash('sha256').update(key).digest().readUInt16BE() % 16;

/** Whether a run asked for a reference of the bucket so lately that its mark *busy* may still count. */
function mayStillBeBusy({ world, run, key }: Told): boolean {
	const firstAskedAt = askedAt(run, key);
	const wasAskedBy = (other: RunFacts): boolean =>
		scopeOf(other) === scopeOf(run) &&
		[...other.asked].some(
			([each, at]) =>
				bucketOf(each) === bucketOf(key) &&
				// An earlier try of the same run also left its mark.
				(other !== run || each !== key || run.plan.tries > 1) &&
				firstAskedAt - at < longestBusyMs,
		);
	return wasClockSet(world) || world.runs.some(wasAskedBy);
}
