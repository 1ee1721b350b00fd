/**
 * The record of references: what became of each, across executions and restarts of n8n.
 *
 * State | Its marks | Who moves a reference there | What a crash there leaves | What a person is told
 * --- | --- | --- | --- | ---
 * unused | none of these | a refusal by the service, in time; a person: *was not paid* | the same | `ready`, or it is sent
 * in flight | sent, fresh | a run that is about to send it | in doubt, once its claim is over | `unknown`
 * in doubt | sent | time; a sender without an answer; a crash while the record is asked | the same | `unknown`
 * paid | sent, paid, payee (or anybody) | the service's answer; a person: *was paid* | the same, for ever | `alreadyPaid`; to another person or amount: `notPaid`
 *
 * The mark *sent* is written before a payment is sent: that is the claim. The mark *fresh* beside it names the period in
 * which that was; with a long Timeout there is one for each of the next periods too. It counts until the period after it is
 * over, so a claim ends by time, also if nobody ends it. A run whose answer comes so late that its claim may be over records
 * *paid*, and nothing else: another run may have claimed the reference since. Before a refusal frees a reference, the record
 * is asked whether a run that ended late has paid it.
 *
 * To ask n8n for a mark also writes it, and a crash leaves all that its access asked for. So *paid* is asked for together with
 * *asking*: a later run that finds both knows that a crash may have left them. It believes them only if whom it was paid to is
 * there too, which is asked for after *paid* was found. Otherwise the reference is in doubt, and a person can settle it only as
 * paid. The mark *freed* says that a person settled it as not paid.
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

/** `maybePaid`: in doubt, and a crash while it was asked about may have left that it is paid. */
export type PaymentState =
	| 'unused'
	| 'inFlight'
	| 'inDoubt'
	| 'maybePaid'
	| 'paid'
	| 'paidToAnother';

/** What became of a reference that a person named; a state: it stays in it. `recordedPaid`: this node never sent it. */
export type Settled =
	| Exclude<PaymentState, 'paidToAnother'>
	| 'settledPaid'
	| 'recordedPaid'
	| 'settledNotPaid'
	| 'onceOnly';

/** How many marks a paid reference has. */
export const marksOfPaid = 4;

/** How long a stopped execution that sent nothing waits for the database, in ms. */
export const afterStopMs = 5_000;

/** What a sender may need to record how its payments ended, beyond the Timeout, in ms. */
const recordingMs = 15_000;

/** By how much the clocks of two processes may differ, in ms: one of them sees the end of a claim so much earlier. */
const clockDifferenceMs = 10_000;

/** How long a period is, in ms: the usual Timeout, and these two. */
const periodMs = 85_000;

const sentMark = ({ key }: Keyed): string => `sent:${key}`;

const paidMark = ({ key }: Keyed): string => `paid:${key}`;
/** Whom it was paid to. `anybody`: a person said that it was paid, and not to whom. */
const payeeMark = ({ key, toUserId, amount }: Payment): string =>
	`payee:${JSON.stringify([key, toUserId, amount])}`;
const anybodyMark = ({ key }: Keyed): string => `anybody:${key}`;
const askingMark = ({ key }: Keyed): string => `asking:${key}`;
const freedMark = ({ key }: Keyed): string => `freed:${key}`;

const freshMark = ({ key }: Keyed, periodsLater: number): string =>
	`fresh:${Math.floor(Date.now() / periodMs) + periodsLater}:${key}`;

/** A claim with a longer Timeout has the marks of so many periods, so that all ask for the same ones. */
const claimMarks = (keyed: Keyed, periods: number): string[] => [
	sentMark(keyed),
	...Array.from({ length: periods }, (_, later) => freshMark(keyed, later)),
];

/** Of this period, the one before, and the next one: the clock of another process may be ahead. */
const freshMarks = (keyed: Keyed): string[] => [-1, 0, 1].map((later) => freshMark(keyed, later));

/** The references that n8n keeps for this node. Each function throws whatever the database does. */
export class Ledger {
	private readonly context: IExecuteFunctions;
	private readonly stop: AbortSignal | undefined;
	/** A while after `stop`. */
	private readonly end: AbortSignal;
	/** How many periods hold the Timeout, and what is added to it. */
	private readonly periods: number;
	/** What this run claimed: its marks, and how long ago. */
	private readonly claims = new Map<Payment, { marks: string[]; ageMs: () => number }>();

	/** @param afterStop how long, in ms, it still waits for the database after the execution was stopped */
	constructor(context: IExecuteFunctions, timeoutMs: number, afterStop = timeoutMs) {
		this.context = context;
		this.periods = Math.ceil((timeoutMs + recordingMs + clockDifferenceMs) / periodMs);
		this.stop = context.getExecutionCancelSignal();
		this.end = abortedAfter(this.stop, afterStop);
	}

	/** Whether this run may have claimed something, of which the record has to know how it ended. */
	get hasClaims(): boolean {
		return this.claims.size > 0;
	}

	/** By when a claim of any run with this Timeout is over, in ms, also if a crash left the mark of the next period. */
	get claimEndsWithinMs(): number {
		return (this.periods + 2) * periodMs;
	}

	/** How many marks there are. */
	async count(): Promise<number> {
		return await this.untilEnd(entriesOf(this.context, 'node').count());
	}

	/** What is known of each. It leaves no trace, unless it is interrupted. */
	async look(payments: Payment[]): Promise<ReadonlyMap<Payment, PaymentState>> {
		return await this.inAccess(async (questions) => await statesOf(questions, payments));
	}

	/**
	 * Records how payments ended and claims others, in one access. When it throws, nothing wanted may be sent.
	 * @param ended were claimed before; one without a result was not sent
	 * @returns what is known of those wanted: what was `unused` is claimed now; and how old the claims are, in ms
	 */
	async exchange(
		ended: Payment[],
		wanted: Payment[],
	): Promise<{ states: ReadonlyMap<Payment, PaymentState>; ageMs: () => number }> {
		return await this.inAccess(async (questions) => {
			const ageMs = stopwatch();
			const claims = new Map(
				wanted.map((payment) => [payment, claimMarks(payment, this.periods)] as const),
			);
			const asked = [...claims.values()].flat();
			const states = await statesOf(questions, wanted, asked, paidMarksOf(ended));
			await this.free(questions, ended);
			for (const [payment, marks] of claims) {
				if (states.get(payment) !== 'unused') continue;
				questions.keep(marks);
				this.claims.set(payment, { marks, ageMs });
			}
			return { states, ageMs };
		});
	}

	/** Records how the last payments ended, and of all unknown ones that nobody sends them any more; also after a stop. */
	async close(ended: Payment[]): Promise<void> {
		await this.inAccess(async (questions) => {
			await questions.write(paidMarksOf(ended));
			await this.free(questions, ended);
			// Those of paid ones stay: to remove a mark, n8n searches the whole record.
			const unknown = [...this.claims].filter(([payment]) => outcomeIs('unknown', payment));
			questions.remove(
				unknown.flatMap(
					([
						,
						{
							marks: [, ...fresh],
						},
					]) => fresh,
				),
			);
		}, true);
	}

	/** Frees what was not made, unless another run may have claimed it since, or paid it. */
	private async free(questions: Questions, ended: Payment[]): Promise<void> {
		const safeForMs = this.periods * periodMs - clockDifferenceMs;
		const refused = ended.filter(
			(payment) =>
				!outcomeIs('paid', payment) &&
				!outcomeIs('unknown', payment) &&
				(this.claims.get(payment)?.ageMs() ?? Infinity) < safeForMs,
		);
		const before = await questions.ask(
			refused.flatMap((each) => [askingMark(each), paidMark(each)]),
		);
		const free = refused.filter((payment) => !before.has(paidMark(payment)));
		questions.remove(free.flatMap((payment) => this.claims.get(payment)?.marks ?? []));
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
			const settled = await settledStates(questions, [...wasPaid, ...wasNotPaid]);
			const areIn = (these: Each[], ...states: Settled[]): Each[] =>
				these.filter((each) => states.includes(settled.get(each) ?? 'paid'));
			const paid = areIn(wasPaid, 'inDoubt', 'maybePaid', 'unused');
			await questions.write(
				paid.flatMap((each) => [sentMark(each), paidMark(each), anybodyMark(each)]),
			);
			for (const each of paid)
				settled.set(each, settled.get(each) === 'unused' ? 'recordedPaid' : 'settledPaid');
			const inDoubt = areIn(wasNotPaid, 'inDoubt');
			const before = await questions.ask(inDoubt.map(freedMark));
			const freed = inDoubt.filter((each) => !(once && before.has(freedMark(each))));
			for (const each of inDoubt)
				settled.set(each, freed.includes(each) ? 'settledNotPaid' : 'onceOnly');
			// Also if the access fails, because its claim may be removed all the same.
			questions.stay(freed.map(freedMark));
			questions.remove(freed.map(sentMark));
			return settled;
		});
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

/** What is written of those that were paid. The claim too: a person may have settled it as not paid meanwhile. */
const paidMarksOf = (payments: Payment[]): string[] =>
	payments
		.filter((payment) => outcomeIs('paid', payment))
		.flatMap((payment) => [sentMark(payment), paidMark(payment), payeeMark(payment)]);

/**
 * What is known of payments. Unused ones cost one call of the database, in which other marks are asked for and written too.
 * @param alsoAsked other marks that are asked for in the same call
 * @param staying other marks that are written in the same call
 */
async function statesOf(
	questions: Questions,
	payments: Payment[],
	alsoAsked: string[] = [],
	staying: string[] = [],
): Promise<Map<Payment, PaymentState>> {
	const before = await questions.ask([...payments.map(sentMark), ...alsoAsked], staying);
	const used = payments.filter((payment) => before.has(sentMark(payment)));
	const states = await statesOfUsed(questions, used, async (paid) => {
		const payees = await questions.ask(paid.map(payeeMark));
		return (payment) => payees.has(payeeMark(payment));
	});
	return new Map(payments.map((each) => [each, states.get(each) ?? 'unused']));
}

/** What is known of references that a person named, whomever they were for. */
async function settledStates<Each extends Keyed>(
	questions: Questions,
	named: Each[],
): Promise<Map<Each, Settled>> {
	const before = await questions.ask(named.map(sentMark));
	const used = named.filter((each) => before.has(sentMark(each)));
	const states = await statesOfUsed(questions, used, () => Promise.resolve(() => false));
	const settledAs = (each: Each): Settled => {
		const state = states.get(each) ?? 'unused';
		return state === 'paidToAnother' ? 'paid' : state;
	};
	return new Map(named.map((each) => [each, settledAs(each)]));
}

/** @param askPayees which of those that look paid the record has the payee of */
async function statesOfUsed<Each extends Keyed>(
	questions: Questions,
	used: Each[],
	askPayees: (paid: Each[]) => Promise<(each: Each) => boolean>,
): Promise<Map<Each, PaymentState>> {
	const marks = await questions.ask(used.flatMap((each) => [askingMark(each), paidMark(each)]));
	const isPaid = (each: Each): boolean => marks.has(paidMark(each));
	const isAsking = (each: Each): boolean => marks.has(askingMark(each));
	const paid = used.filter(isPaid);
	const isPayee = await askPayees(paid);
	const others = paid.filter((each) => !isPayee(each));
	const anybody = await questions.ask(others.map(anybodyMark));
	const isKnown = (each: Each): boolean => isPayee(each) || anybody.has(anybodyMark(each));
	const doubtful = used.filter((each) => !isPaid(each) || (isAsking(each) && !isKnown(each)));
	const fresh = await questions.ask(doubtful.flatMap(freshMarks));
	return new Map(
		used.map((each): [Each, PaymentState] => {
			if (!doubtful.includes(each)) return [each, isKnown(each) ? 'paid' : 'paidToAnother'];
			if (freshMarks(each).some((mark) => fresh.has(mark))) return [each, 'inFlight'];
			return [each, isPaid(each) ? 'maybePaid' : 'inDoubt'];
		}),
	);
}
