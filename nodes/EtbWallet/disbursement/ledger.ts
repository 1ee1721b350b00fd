/**
 * The record of references: what became of each, across executions and restarts of n8n.
 *
 * State | Its marks | Who moves a reference there | What a crash there leaves | What a person is told
 * --- | --- | --- | --- | ---
 * unused | none of these | a refusal by the service, in time; a person: *was not paid* | the same | `ready`, or it is sent
 * in flight | sent; once a run has met it also doubt and seen | a run that is about to send it | the same; in doubt some minutes after a run has met it | `unknown`
 * in doubt | sent, doubt | a sender without an answer; time | the same | `unknown`
 * paid | sent, paid, sure, payee (or anybody) | the service's answer; a person: *was paid* | the same, for ever | `alreadyPaid`; to another person or amount: `notPaid`
 *
 * The mark *sent* is written before a payment is sent: that is the claim. A claim lasts for a period, in which its sender has
 * long ended. Nobody ends the claim of a sender that died. So the first run that meets a claim writes *doubt*, and *seen* with
 * the number of the period: once that period and the next one are over, nobody can be sending it any more. A sender whose
 * answer comes later than its claim lasts records *paid*, and nothing else: another run may have claimed the reference since.
 *
 * To ask n8n for a mark also writes it, and a crash leaves it there. What is believed for ever is therefore two marks, *paid*
 * and *sure*: the second one is asked for only where the first one is, so one crash leaves one of them, which counts for
 * nothing. The mark *freed* says that a person settled a reference as not paid: an expression does so once for each.
 */
import type { IExecuteFunctions } from 'n8n-workflow';
import { abortedAfter, stopwatch, unlessAborted } from '../../shared/elapsed';
import { entriesOf } from '../../shared/record/entries';
import { exclusively } from '../../shared/record/lock';
import { outcomeOf } from './codes';
import type { Payment } from './payment';
import { Questions } from './questions';

/** What the record keeps is by the key of a reference. */
export interface Keyed {
	key: string;
}

/** What is known of a reference, whomever it was for. */
type Use = 'unused' | 'inFlight' | 'inDoubt' | 'paid';

export type PaymentState = Use | 'paidToAnother';

/** What became of a reference that a person named; a state: it stays in it. `recordedPaid`: this node never sent it. */
export type Settled = Use | 'settledPaid' | 'recordedPaid' | 'settledNotPaid' | 'onceOnly';

/** How many marks a paid reference has. */
export const marksOfPaid = 4;

/** How long a stopped execution that sent nothing waits for the database, in ms. */
export const afterStopMs = 5_000;

/** The longest Timeout of a payment, in ms. */
export const longestTimeoutMs = 120_000;

/** How long a claim lasts, in ms: what a sender may need for an answer, and to record it. */
const periodMs = longestTimeoutMs + 15_000;

/** After so many ms nobody sends any more what a run has just met in flight. */
export const inFlightForMs = 2 * periodMs;

const sentMark = ({ key }: Keyed): string => `sent:${key}`;
const doubtMark = ({ key }: Keyed): string => `doubt:${key}`;
const seenMark = ({ key }: Keyed, periodsLater = 0): string =>
	`seen:${Math.floor(Date.now() / periodMs) + periodsLater}:${key}`;
/** Of this period, the one before, and the next one: the clock of another process may be ahead. */
const seenMarks = (keyed: Keyed): string[] => [-1, 0, 1].map((later) => seenMark(keyed, later));
const paidMark = ({ key }: Keyed): string => `paid:${key}`;
const sureMark = ({ key }: Keyed): string => `sure:${key}`;
/** Whom it was paid to. `anybody`: a person said that it was paid, and not to whom. */
const payeeMark = ({ key, toUserId, amount }: Payment): string =>
	`payee:${JSON.stringify([key, toUserId, amount])}`;
const anybodyMark = ({ key }: Keyed): string => `anybody:${key}`;
const freedMark = ({ key }: Keyed): string => `freed:${key}`;

/** Written in one call. The claim too: a person may have settled it as not paid meanwhile. */
const paidMarks = (keyed: Keyed): string[] => [sentMark(keyed), paidMark(keyed), sureMark(keyed)];

/** The references that n8n keeps for this node. Each function throws whatever the database does. */
export class Ledger {
	private readonly context: IExecuteFunctions;
	private readonly stop: AbortSignal | undefined;
	/** A while after `stop`. */
	private readonly end: AbortSignal;
	/** For how many ms this run has had each claim. */
	private readonly claims = new Map<Payment, () => number>();

	/** @param afterStop how long, in ms, it still waits for the database after the execution was stopped */
	constructor(context: IExecuteFunctions, afterStop: number) {
		this.context = context;
		this.stop = context.getExecutionCancelSignal();
		this.end = abortedAfter(this.stop, afterStop);
	}

	/** How many marks there are. */
	async count(): Promise<number> {
		return await this.untilEnd(entriesOf(this.context, 'node').count());
	}

	/** What is known of each. It leaves no trace, unless it is interrupted. */
	async look(payments: Payment[]): Promise<ReadonlyMap<Payment, PaymentState>> {
		return await this.inAccess(async (questions) => {
			const { uses } = await usesOf(questions, payments);
			return await statesOf(questions, uses);
		});
	}

	/**
	 * Records how payments ended, in one access, also when the run was stopped.
	 * @param ended were claimed before; one without a result was not sent
	 */
	async record(ended: Payment[]): Promise<void> {
		await this.inAccess(async (questions) => {
			await questions.write(this.marksOf(ended));
			await this.free(questions, ended);
		}, true);
	}

	/**
	 * Records how payments ended and claims others, in one access. When it throws, nothing wanted may be sent.
	 * @returns what is known of those wanted: what was `unused` is claimed now; and how old the claims are, in ms
	 */
	async recordAndClaim(
		ended: Payment[],
		wanted: Payment[],
	): Promise<{ states: ReadonlyMap<Payment, PaymentState>; ageMs: () => number }> {
		return await this.inAccess(async (questions) => {
			const ageMs = stopwatch();
			const { uses, met } = await usesOf(questions, wanted, this.marksOf(ended));
			const states = await statesOf(questions, uses);
			await this.free(questions, ended);
			const claimed = wanted.filter((payment) => states.get(payment) === 'unused');
			questions.keep([...claimed.map(sentMark), ...marksOfMet(met)]);
			for (const payment of claimed) this.claims.set(payment, ageMs);
			return { states, ageMs };
		});
	}

	/**
	 * Records what a person found out about references, whomever they were for. When it throws, some of it may be recorded.
	 * @param once whether what was freed before is not freed again
	 */
	async settle<Each extends Keyed>(
		wasPaid: Each[],
		wasNotPaid: Each[],
		once: boolean,
	): Promise<ReadonlyMap<Each, Settled>> {
		return await this.inAccess(async (questions) => {
			const { uses, met } = await usesOf(questions, [...wasPaid, ...wasNotPaid]);
			questions.keep(marksOfMet(met));
			const settled = new Map<Each, Settled>(uses);
			const areIn = (these: Each[], use: Use): Each[] =>
				these.filter((each) => uses.get(each) === use);
			const [doubted, unused] = [areIn(wasPaid, 'inDoubt'), areIn(wasPaid, 'unused')];
			for (const each of doubted) settled.set(each, 'settledPaid');
			for (const each of unused) settled.set(each, 'recordedPaid');
			await questions.write(
				[...doubted, ...unused].flatMap((each) => [...paidMarks(each), anybodyMark(each)]),
			);
			const inDoubt = areIn(wasNotPaid, 'inDoubt');
			const before = await questions.ask(inDoubt.map(freedMark));
			const freed = inDoubt.filter((each) => !(once && before.has(freedMark(each))));
			for (const each of inDoubt)
				settled.set(each, freed.includes(each) ? 'settledNotPaid' : 'onceOnly');
			// Before the claims are removed: that must count once, also if this access fails in the middle.
			await questions.write(freed.map(freedMark));
			questions.remove(freed.flatMap((each) => [sentMark(each), doubtMark(each)]));
			return settled;
		});
	}

	/** What is written of payments that ended: that they were paid, or that nobody knows. */
	private marksOf(ended: Payment[]): string[] {
		const unknown = ended.filter((each) => outcomeIs('unknown', each) && this.isInTime(each));
		return [
			...ended
				.filter((payment) => outcomeIs('paid', payment))
				.flatMap((payment) => [...paidMarks(payment), payeeMark(payment)]),
			...unknown.map(doubtMark),
		];
	}

	/** Frees what was not made, unless another run may have claimed it since, or paid it. */
	private async free(questions: Questions, ended: Payment[]): Promise<void> {
		const refused = ended.filter(
			(each) => !outcomeIs('paid', each) && !outcomeIs('unknown', each) && this.isInTime(each),
		);
		// A run that claimed it before a person freed it, and ended late.
		const paid = await paidOf(questions, refused);
		const free = refused.filter((payment) => !paid.has(payment));
		questions.remove(free.flatMap((payment) => [sentMark(payment), doubtMark(payment)]));
	}

	/** Whether the claim of a payment is still this run's own. */
	private isInTime(payment: Payment): boolean {
		const ageMs = this.claims.get(payment);
		return ageMs !== undefined && ageMs() < periodMs;
	}

	/** @param isAlwaysDone whether it waits for the lock also when the run is stopped */
	private async inAccess<Result>(
		work: (questions: Questions) => Promise<Result>,
		isAlwaysDone = false,
	): Promise<Result> {
		const stop = isAlwaysDone ? undefined : this.stop;
		return await this.untilEnd(
			exclusively(this.context, async (entries) => await Questions.in(entries, work), stop),
		);
	}

	private async untilEnd<Result>(work: Promise<Result>): Promise<Result> {
		return await unlessAborted(this.end, work, () => new Error('The execution was stopped'));
	}
}

const outcomeIs = (outcome: 'paid' | 'unknown', { result }: Payment): boolean =>
	result !== undefined && outcomeOf(result.code) === outcome;

/** What a run writes of claims that it meets as the first one. */
const marksOfMet = (met: Keyed[]): string[] =>
	met.flatMap((each) => [doubtMark(each), seenMark(each)]);

/**
 * What is known of references. Unused ones cost one call of the database, in which other marks are written too.
 * @returns `met`: those in flight that no run has met before
 */
async function usesOf<Each extends Keyed>(
	questions: Questions,
	references: Each[],
	alsoWritten: string[] = [],
): Promise<{ uses: Map<Each, Use>; met: Each[] }> {
	const sent = await questions.ask(references.map(sentMark), alsoWritten);
	const used = references.filter((each) => sent.has(sentMark(each)));
	const paid = await paidOf(questions, used);
	const unpaid = used.filter((each) => !paid.has(each));
	// Together: a crash that leaves them is as if this run had met the claim.
	const before = await questions.ask(
		unpaid.flatMap((each) => [doubtMark(each), ...seenMarks(each)]),
	);
	const useOf = (each: Each): Use => {
		if (!sent.has(sentMark(each))) return 'unused';
		if (paid.has(each)) return 'paid';
		const isSeen = seenMarks(each).some((mark) => before.has(mark));
		return before.has(doubtMark(each)) && !isSeen ? 'inDoubt' : 'inFlight';
	};
	return {
		uses: new Map(references.map((each) => [each, useOf(each)])),
		met: unpaid.filter((each) => !before.has(doubtMark(each))),
	};
}

/** Those that are paid, to whomever. Half of that fact, which a crash left, is removed. */
async function paidOf<Each extends Keyed>(
	questions: Questions,
	references: Each[],
): Promise<Set<Each>> {
	const paid = await questions.ask(references.map(paidMark));
	const candidates = references.filter((each) => paid.has(paidMark(each)));
	const sure = await questions.ask(candidates.map(sureMark));
	const isSure = (each: Each): boolean => sure.has(sureMark(each));
	questions.remove(candidates.filter((each) => !isSure(each)).map(paidMark));
	return new Set(candidates.filter(isSure));
}

/** Of paid references also whether it was this person and amount. */
async function statesOf(
	questions: Questions,
	uses: ReadonlyMap<Payment, Use>,
): Promise<Map<Payment, PaymentState>> {
	const paid = [...uses.keys()].filter((payment) => uses.get(payment) === 'paid');
	const payees = await questions.ask(paid.map(payeeMark));
	const toOthers = paid.filter((payment) => !payees.has(payeeMark(payment)));
	const anybody = await questions.ask(toOthers.map(anybodyMark));
	const states = new Map<Payment, PaymentState>(uses);
	for (const payment of toOthers)
		if (!anybody.has(anybodyMark(payment))) states.set(payment, 'paidToAnother');
	return states;
}
