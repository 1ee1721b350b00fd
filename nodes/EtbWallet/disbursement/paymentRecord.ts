/**
 * The record of references: what became of each, across executions and restarts of n8n. It is a set of texts, the marks.
 *
 * State | Its marks | Who moves a reference there | What a crash there leaves | What a person is told
 * --- | --- | --- | --- | ---
 * unused | no *sent* | a sender that the service refused, in time; a person: *was not paid* | the same | `ready`, or it is sent
 * in flight | sent; after another run has met it also doubt, and a *met* that is not old | a run that is about to send it | the same; some minutes after another run has met it: in doubt | `unknown`
 * in doubt | sent, doubt, no *met* but old ones | a sender without an answer, in time; two slots of time after a run has met it | the same | `unknown`
 * paid | sent, paid, sure, payee (or anybody) | a sender with the answer; a person: *was paid* | the same, for ever | `alreadyPaid`; to another person or amount: `notPaid`
 *
 * A run writes the mark *sent* before it sends a payment: that is its claim, which is its own for `ownForMs`. A sender that
 * dies leaves its claim behind. So the first other run that meets a claim writes *doubt*, and *met* with the number of the
 * slot of time: once that slot and the next one are over, nobody can be sending it any more. A sender whose answer comes when the
 * claim is not its own any more records *paid*, and nothing else: another run may have claimed the reference since.
 *
 * To ask n8n for a mark also writes it, and what was not there is removed at the end (`Access`); a crash leaves it there.
 * What is believed for ever is therefore two marks, *paid* and *sure*: the second one is asked for only where the first one
 * is, so one crash leaves one of them, which counts for nothing. The mark *freed* says that a person settled a reference as
 * not paid: by an expression, that counts once for each reference.
 */
import type { IExecuteFunctions } from 'n8n-workflow';
import { abortedAfter, stopwatch, unlessAborted } from '../../shared/time';
import { marksOf } from '../../shared/record/marks';
import { exclusively } from '../../shared/record/lock';
import { outcomeOfRow, type Payment } from './payment';
import { Access } from './access';

/** What the record keeps is by the key of a reference. */
export interface Keyed {
	key: string;
}

/** What is known of a reference, whomever it was for. */
type ReferenceState = 'unused' | 'inFlight' | 'inDoubt' | 'paid';

export type PaymentState = ReferenceState | 'paidToAnother';

/** What became of a reference that a person named; a state: settling changed nothing. `recordedPaid`: this node never sent it. */
export type Settled =
	| ReferenceState
	| 'settledPaid'
	| 'recordedPaid'
	| 'settledNotPaid'
	| 'onceOnly';

/** How many marks a paid reference has. */
export const marksOfPaid = 4;

/** The longest Timeout of a payment, in ms. */
export const maxTimeoutMs = 120_000;

/** How long a sender has its claim for itself, in ms: what it may need for an answer, and to record it. */
const ownForMs = maxTimeoutMs + 15_000;

/** A slot of time in ms: `ownForMs`, and 10 s by which the clocks of two processes may differ. */
const slotMs = ownForMs + 10_000;

/** How long, in ms, after a run met a claim nobody can be sending it any more. */
const inFlightForMs = 2 * slotMs;

export const inFlightMinutes = Math.ceil(inFlightForMs / 60_000);

const sentMark = ({ key }: Keyed): string => `sent:${key}`;
const doubtMark = ({ key }: Keyed): string => `doubt:${key}`;
const metMark = ({ key }: Keyed, slotsLater = 0): string =>
	`met:${Math.floor(Date.now() / slotMs) + slotsLater}:${key}`;
/** Of this slot, the one before, and the next one: the clock of another process may be ahead. */
const metMarks = (keyed: Keyed): string[] => [-1, 0, 1].map((later) => metMark(keyed, later));
const paidMark = ({ key }: Keyed): string => `paid:${key}`;
const sureMark = ({ key }: Keyed): string => `sure:${key}`;
/** Whom it was paid to. `anybody`: a person said that it was paid, and not to whom. */
const payeeMark = ({ key, toUserId, amount }: Payment): string =>
	`payee:${JSON.stringify([key, toUserId, amount])}`;
const anybodyMark = ({ key }: Keyed): string => `anybody:${key}`;
const freedMark = ({ key }: Keyed): string => `freed:${key}`;

/** Written in one call. The claim too: a person may have settled it as not paid meanwhile. */
const paidMarks = (keyed: Keyed): string[] => [sentMark(keyed), paidMark(keyed), sureMark(keyed)];

/** The references that n8n keeps for this node. Each function throws what a call of the database throws. */
export class PaymentRecord {
	private readonly context: IExecuteFunctions;
	private readonly stop: AbortSignal | undefined;
	/** A while after `stop`. */
	private readonly giveUp: AbortSignal;
	/** For how many ms this run has had each claim. */
	private readonly claimAges = new Map<Payment, () => number>();

	/** @param afterStop how long, in ms, it still waits for the database after the execution was stopped */
	constructor(context: IExecuteFunctions, afterStop: number) {
		this.context = context;
		this.stop = context.getExecutionCancelSignal();
		this.giveUp = abortedAfter(this.stop, afterStop);
	}

	/** How many marks there are. */
	async count(): Promise<number> {
		return await this.untilGivenUp(marksOf(this.context, 'node').count());
	}

	/** What is known of each. It leaves no mark, unless it is interrupted. */
	async states(payments: Payment[]): Promise<ReadonlyMap<Payment, PaymentState>> {
		return await this.inAccess(async (access) => {
			const sent = await access.ask(payments.map(sentMark));
			const { states, payees } = await statesOf(access, payments, sent, payeeMark);
			return await withPayees(access, states, payees);
		});
	}

	/**
	 * Records how payments ended, in one access, also when the run was stopped.
	 * @param ended were claimed before; one without a result was not sent
	 */
	async end(ended: Payment[]): Promise<void> {
		await this.inAccess(async (access) => void (await this.recordEnded(access, ended)), true);
	}

	/**
	 * Records how payments ended and claims others, in one access. When it throws, nothing wanted may be sent.
	 * @returns what is known of those wanted: what was `unused` is claimed now; and how old the claims are, in ms
	 */
	async endAndClaim(
		ended: Payment[],
		wanted: Payment[],
	): Promise<{ states: ReadonlyMap<Payment, PaymentState>; ageMs: () => number }> {
		return await this.inAccess(async (access) => {
			const ageMs = stopwatch();
			// One call of the database does for a window of unused references.
			const before = await this.recordEnded(access, ended, wanted.map(sentMark));
			const { states, met, payees } = await statesOf(access, wanted, before, payeeMark);
			const claimed = wanted.filter((payment) => states.get(payment) === 'unused');
			access.keepIfDone([...claimed.map(sentMark), ...marksOfMet(met)]);
			for (const payment of claimed) this.claimAges.set(payment, ageMs);
			return { states: await withPayees(access, states, payees), ageMs };
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
		return await this.inAccess(async (access) => {
			const named = [...wasPaid, ...wasNotPaid];
			const sent = await access.ask(named.map(sentMark));
			const { states, met } = await statesOf(access, named, sent);
			access.keepIfDone(marksOfMet(met));
			const settled = new Map<Each, Settled>(states);
			const areIn = (these: Each[], state: ReferenceState): Each[] =>
				these.filter((each) => states.get(each) === state);
			const [doubted, unused] = [areIn(wasPaid, 'inDoubt'), areIn(wasPaid, 'unused')];
			for (const each of doubted) settled.set(each, 'settledPaid');
			for (const each of unused) settled.set(each, 'recordedPaid');
			await access.write(
				[...doubted, ...unused].flatMap((each) => [...paidMarks(each), anybodyMark(each)]),
			);
			const inDoubt = areIn(wasNotPaid, 'inDoubt');
			const before = await access.ask(inDoubt.map(freedMark));
			const freed = inDoubt.filter((each) => !(once && before.has(freedMark(each))));
			for (const each of inDoubt)
				settled.set(each, freed.includes(each) ? 'settledNotPaid' : 'onceOnly');
			// Before the claims are removed: that must count once, also if this access fails in the middle.
			await access.write(freed.map(freedMark));
			access.remove(freed.flatMap((each) => [sentMark(each), doubtMark(each)]));
			return settled;
		});
	}

	/** @param alsoAsk marks that are asked for in the same call of the database. @returns which of them were there */
	private async recordEnded(
		access: Access,
		ended: Payment[],
		alsoAsk: string[] = [],
	): Promise<ReadonlySet<string>> {
		const paid = ended.filter((each) => outcomeOfRow(each) === 'paid');
		// The others only while their claims are this run's own: another run may have claimed them since.
		const own = ended.filter((each) => outcomeOfRow(each) !== 'paid' && this.ownsClaim(each));
		const unknown = own.filter((each) => outcomeOfRow(each) === 'unknown');
		const notMade = own.filter((each) => outcomeOfRow(each) !== 'unknown');
		const before = await access.ask(
			[...notMade.map(paidMark), ...alsoAsk],
			[...paid.flatMap((each) => [...paidMarks(each), payeeMark(each)]), ...unknown.map(doubtMark)],
		);
		await free(access, notMade, before);
		access.remove(unknown.flatMap(metMarks));
		return before;
	}

	/** Whether the claim of a payment is still this run's own. */
	private ownsClaim(payment: Payment): boolean {
		const ageMs = this.claimAges.get(payment);
		return ageMs !== undefined && ageMs() < ownForMs;
	}

	/** @param isAlwaysDone whether it waits for the lock also when the run is stopped */
	private async inAccess<Value>(
		work: (access: Access) => Promise<Value>,
		isAlwaysDone = false,
	): Promise<Value> {
		const stop = isAlwaysDone ? undefined : this.stop;
		return await this.untilGivenUp(
			exclusively(this.context, async (marks) => await Access.in(marks, work), stop),
		);
	}

	private async untilGivenUp<Value>(work: Promise<Value>): Promise<Value> {
		return await unlessAborted(this.giveUp, work, () => new Error('The execution was stopped'));
	}
}

/** What a run writes of claims that it meets as the first one. */
const marksOfMet = (met: Keyed[]): string[] =>
	met.flatMap((each) => [doubtMark(each), metMark(each)]);

/**
 * What is known of references, whomever they were for.
 * @param before the marks *sent* that were there
 * @param payeeOf a mark that is asked for of those that are paid
 * @returns `met`: those in flight that no run has met before; `payees`: which of the payees were there
 */
async function statesOf<Each extends Keyed>(
	access: Access,
	references: Each[],
	before: ReadonlySet<string>,
	payeeOf?: (each: Each) => string,
): Promise<{ states: Map<Each, ReferenceState>; met: Each[]; payees: ReadonlySet<string> }> {
	const used = references.filter((each) => before.has(sentMark(each)));
	const asked = await access.ask(used.map(paidMark));
	const { paid, payees } = await paidOf(access, used, asked, payeeOf);
	const unpaid = used.filter((each) => !paid.has(each));
	// In one call, so a crash leaves all of them: that is as if this run had met the claim.
	const doubts = await access.ask(unpaid.flatMap((each) => [doubtMark(each), ...metMarks(each)]));
	const stateOf = (each: Each): ReferenceState => {
		if (!before.has(sentMark(each))) return 'unused';
		if (paid.has(each)) return 'paid';
		const isMet = metMarks(each).some((mark) => doubts.has(mark));
		return doubts.has(doubtMark(each)) && !isMet ? 'inDoubt' : 'inFlight';
	};
	return {
		states: new Map(references.map((each) => [each, stateOf(each)])),
		met: unpaid.filter((each) => !doubts.has(doubtMark(each))),
		payees,
	};
}

/**
 * Those that are paid, to whomever. One of its two marks alone, which a crash left, is removed at the end.
 * @param before the marks *paid* that were there
 */
async function paidOf<Each extends Keyed>(
	access: Access,
	references: Each[],
	before: ReadonlySet<string>,
	payeeOf?: (each: Each) => string,
): Promise<{ paid: Set<Each>; payees: ReadonlySet<string> }> {
	const candidates = references.filter((each) => before.has(paidMark(each)));
	const wanted = payeeOf === undefined ? [] : candidates.map(payeeOf);
	const known = await access.ask([...candidates.map(sureMark), ...wanted]);
	const isSure = (each: Each): boolean => known.has(sureMark(each));
	access.remove(candidates.filter((each) => !isSure(each)).map(paidMark));
	return { paid: new Set(candidates.filter(isSure)), payees: known };
}

/**
 * Makes references unused whose payments were not made. One that is paid stays: a run whose answer came late may have recorded
 * that, after a person freed the reference and this run claimed it.
 */
async function free(
	access: Access,
	notMade: Payment[],
	before: ReadonlySet<string>,
): Promise<void> {
	const { paid } = await paidOf(access, notMade, before);
	const unpaid = notMade.filter((payment) => !paid.has(payment));
	access.remove(unpaid.flatMap((payment) => [sentMark(payment), doubtMark(payment)]));
}

/** Says of paid references whether it was this person and amount. */
async function withPayees(
	access: Access,
	states: ReadonlyMap<Payment, ReferenceState>,
	payees: ReadonlySet<string>,
): Promise<Map<Payment, PaymentState>> {
	const toOthers = [...states.keys()].filter(
		(payment) => states.get(payment) === 'paid' && !payees.has(payeeMark(payment)),
	);
	const anybody = await access.ask(toOthers.map(anybodyMark));
	const known = new Map<Payment, PaymentState>(states);
	for (const payment of toOthers)
		if (!anybody.has(anybodyMark(payment))) known.set(payment, 'paidToAnother');
	return known;
}
