/**
 * The record of references: the state of each, across executions and restarts of n8n. It is a set of marks
 * (`paymentMarks.ts`). A reference is in the first of these four states whose marks it has:
 *
 * - **Unused**: there is no *sent*. A dry run reports `ready`, and a run that pays sends it. A reference becomes
 *   unused again when its sender records in time that the service refused it or that it was not sent, or when a
 *   person settles it as not paid.
 * - **Paid**: *sent*, and the fact *paid* or *saidPaid*. A run reports `alreadyPaid`, or if it is *paid*, `notPaid` for
 *   another person or amount than *payee* has. A reference becomes *paid* when its sender learns that the service paid, even late, and
 *   *saidPaid* when a person settles it as paid. One that is only *saidPaid* is in doubt as soon as a person contradicts
 *   that.
 * - **In flight**: *sent*, and the *busy* of its bucket in this slot of time, the one before or the next one, and no
 *   confirmed *doubt*. A run reports `unknown`. A reference comes into this state when a run reserves it, before it
 *   sends.
 * - **In doubt**: all others with *sent*. A run reports `unknown`. A reference comes into this state by time alone,
 *   or when its sender got no clear response in time, or when two statements of people differ.
 *
 * **A reservation** is the right to send. It consists of *sent* of the reference, and *busy* of its bucket with the
 * number of the present slot of time. It belongs to its run for `reservedForMs`. A sender whose response comes later
 * records *paid* or nothing, because another run may have reserved the reference since.
 *
 * **After a crash** a reference that was in flight stays in flight for one or two slots, and then for as long as the
 * node keeps reserving others of its bucket. The first run that would reserve it and finds it in doubt records the
 * doubt, so that later reservations in its bucket change nothing.
 *
 * **A crash in the middle of a question.** A question to n8n for marks also writes them. At its end `RecordChange`
 * removes those that were not there before, but a crash leaves them. A *sent* that is left makes an unused reference
 * in doubt, although nothing was sent; a *busy* that is left keeps its bucket in flight for some minutes more. The
 * confirmation of a fact is asked for only where the fact is stored, and a fact without it is removed. So one crash
 * can neither make an unpaid reference paid, nor record a doubt about a payment under way; two crashes in a row can.
 * One crash can leave the *payee* of a paid reference: the payment that was asked for is then reported as paid before,
 * and nothing is sent. `docs/operating.md` has these limits.
 *
 * **Two statements that differ** put the reference in doubt: *paid* by an expression, if it was settled as not paid and is
 * unused; *not paid*, if only a person said that it was paid. *Take back* does so in both cases. The reference needs one
 * more statement to be paid or unused.
 *
 * **A statement *not paid*** that an expression gives counts once: for the reference, or for each time of sending
 * that it names.
 */
import type { IExecuteFunctions } from 'n8n-workflow';
import { abortedAfter, stopwatch, unlessAborted } from '../../shared/time';
import { marksOf } from '../../shared/record/marks';
import { withRecordLock } from '../../shared/record/lock';
import { outcomeOfEntry, type KeyedEntry, type Payment } from './entry';
import {
	busyMark,
	busyMarks,
	confirmedMark,
	factMark,
	factMarks,
	marksOfUse,
	paidValuesMark,
	reservedForMs,
	sentMark,
	settledNotPaidMark,
	slotNow,
	statementMark,
	type Fact,
	type Keyed,
} from './paymentMarks';
import { RecordChange } from '../../shared/record/recordChange';
import { batchesOf } from './batches';

/** The answers of a person: it was paid, it was not paid, or only that an earlier answer is perhaps wrong. */
export type Answer = 'paid' | 'notPaid' | 'takeBack';

/**
 * A person's statement about a reference. `sentAt`: the time at which the payment was sent that a *not paid* is about,
 * compared as text.
 */
export interface Statement extends Keyed {
	says: Answer;
	sentAt?: string;
}

/** A reference with one of these facts is paid. */
const paidFacts = ['paid', 'saidPaid'] as const;

const unconfirmedPaidMarks = (keyed: Keyed): string[] =>
	paidFacts.map((fact) => factMark(fact, keyed));

const saidPaidMarks = (keyed: Keyed): string[] => [
	factMark('saidPaid', keyed),
	confirmedMark('saidPaid', keyed),
];

/** The state of a reference, regardless of user ID and amount. */
type ReferenceState = 'unused' | 'inFlight' | 'inDoubt' | 'paid';

export type PaymentState = ReferenceState | 'otherPayment';

/**
 * The result of settling one reference:
 * - a `ReferenceState`: nothing changed
 * - `settledPaid`, `settledNotPaid`: it was in doubt, and is now paid or unused
 * - `recordedPaid`: it was unused, and is now paid: this node did not send it, or it was refused or freed
 * - `statementRepeated`: it changes nothing, because it was settled as not paid before
 * - `contradicted`: this statement and an earlier one differ, so it is in doubt again
 */
export type StatementResult =
	| ReferenceState
	| 'settledPaid'
	| 'recordedPaid'
	| 'settledNotPaid'
	| 'statementRepeated'
	| 'contradicted';

/**
 * The references that n8n keeps for this node. Each method throws if the database fails, or is still at work
 * `waitAfterStopMs` after the execution was stopped. All but `count` and `recordLastResults` throw as soon as it is
 * stopped, if they still wait for the lock.
 */
export class PaymentRecord {
	private readonly context: IExecuteFunctions;
	private readonly stop: AbortSignal | undefined;
	/** The signal that is aborted `waitAfterStopMs` after `stop`. */
	private readonly deadline: AbortSignal;
	/** The age of each reservation of this run, in ms. */
	private readonly reservations = new Map<Payment, () => number>();

	/** @param waitAfterStopMs the time in ms to wait for the database after the execution was stopped */
	constructor(context: IExecuteFunctions, waitAfterStopMs: number) {
		this.context = context;
		this.stop = context.getExecutionCancelSignal();
		this.deadline = abortedAfter(this.stop, waitAfterStopMs);
	}

	/** The number of marks. */
	async count(): Promise<number> {
		return await this.untilDeadline(marksOf(this.context, 'node').count());
	}

	/**
	 * The state of each entry. The question leaves no mark, unless it is interrupted: so it is made in batches, because a
	 * crash then leaves the marks of only one.
	 */
	async askStates<Each extends KeyedEntry>(
		entries: Each[],
		batchSize: number,
	): Promise<ReadonlyMap<Each, PaymentState>> {
		const states = new Map<Each, PaymentState>();
		for (const batch of batchesOf(batchSize, entries)) {
			const statesOfBatch = await this.change(
				async (change) => await askPaymentStates(change, batch, slotNow()),
			);
			for (const [entry, state] of statesOfBatch) states.set(entry, state);
		}
		return states;
	}

	/**
	 * Records the results of payments and reserves others, in one change. When it throws, none of `wanted` may
	 * be sent.
	 * @param reserved payments that were reserved before; one without a result was not sent
	 * @returns the states of `wanted` before the change; those that were `unused` are now reserved. `getAgeMs`
	 * gives the age of these reservations, in ms
	 */
	async recordResultsAndReserve(
		reserved: Payment[],
		wanted: Payment[],
	): Promise<{ statesBefore: ReadonlyMap<Payment, PaymentState>; getAgeMs: () => number }> {
		return await this.change(async (change) => {
			const getAgeMs = stopwatch();
			const slot = slotNow();
			const reservationOf = (each: Payment): string[] => [sentMark(each), busyMark(each, slot)];
			// For a batch of unused references, one call of the database is enough.
			await this.recordResults(change, reserved, wanted.flatMap(reservationOf));
			const statesBefore = await askPaymentStates(change, wanted, slot);
			for (const payment of wanted.filter((each) => statesBefore.get(each) === 'unused')) {
				change.keep(reservationOf(payment));
				this.reservations.set(payment, getAgeMs);
			}
			const inDoubt = wanted.filter((each) => statesBefore.get(each) === 'inDoubt');
			await change.write(inDoubt.flatMap((each) => factMarks('doubt', each)));
			return { statesBefore, getAgeMs };
		});
	}

	/**
	 * Records the results of the last payments of a run, also when it was stopped.
	 * @param reserved payments that this run reserved; one without a result was not sent
	 */
	async recordLastResults(reserved: Payment[]): Promise<void> {
		if (reserved.length === 0) return;
		await this.change(async (change) => await this.recordResults(change, reserved), {
			alsoIfStopped: true,
		});
	}

	/**
	 * Records a person's statements about references, regardless of user IDs and amounts. When it throws, some of the
	 * statements may be recorded.
	 * @param statements one for each reference
	 * @param isByHand whether a person typed the statements just now. Otherwise they may be old (`resultOfStatement`)
	 */
	async settle<Each extends Statement>(
		statements: Each[],
		isByHand: boolean,
	): Promise<ReadonlyMap<Each, StatementResult>> {
		return await this.change(async (change) => {
			const states = await askReferenceStates(change, statements, slotNow());
			const saidNotPaidBefore = await askSaidNotPaidBefore(change, states);
			const contradicting = await askContradictingSaidPaid(change, states);
			const settled = new Map(
				[...states].map(([each, state]): [Each, StatementResult] => {
					if (contradicting.has(each)) return [each, 'contradicted'];
					return [each, resultOfStatement(state, each.says, saidNotPaidBefore.has(each), isByHand)];
				}),
			);
			const settledAs = (...results: StatementResult[]): Each[] =>
				[...settled].filter(([, result]) => results.includes(result)).map(([each]) => each);
			const paid = settledAs('settledPaid', 'recordedPaid');
			const contradicted = settledAs('contradicted');
			const freed = settledAs('settledNotPaid');
			// All marks are stored in one call, before others are removed, so that a change that fails halfway, or a
			// statement that is repeated, frees a reference only once.
			const notPaid = [...freed, ...contradicting].filter(({ says }) => says === 'notPaid');
			await change.write([
				...paid.flatMap((each) => factMarks('saidPaid', each)),
				...contradicted.flatMap((each) => factMarks('doubt', each)),
				...notPaid.flatMap((each) => [...new Set([settledNotPaidMark(each), statementMark(each)])]),
			]);
			change.remove([...contradicting].flatMap(saidPaidMarks));
			// A contradicted *paid* can be about a payment that was sent after an earlier *not paid*, which stays counted.
			change.remove(
				contradicted.filter((each) => !contradicting.has(each)).map(settledNotPaidMark),
			);
			change.remove(freed.flatMap(marksOfUse));
			return settled;
		});
	}

	/** @param alsoAsk marks that are asked for in the same call of the database */
	private async recordResults(
		change: RecordChange,
		reserved: Payment[],
		alsoAsk: string[] = [],
	): Promise<void> {
		const paid = reserved.filter((each) => outcomeOfEntry(each) === 'paid');
		// Other results are recorded only while this run owns the reservations: later another run may have them.
		const own = reserved.filter((each) => outcomeOfEntry(each) !== 'paid' && this.isOwn(each));
		const unknown = own.filter((each) => outcomeOfEntry(each) === 'unknown');
		const notMade = own.filter((each) => outcomeOfEntry(each) !== 'unknown');
		await change.askAndWrite(
			[...notMade.flatMap(unconfirmedPaidMarks), ...alsoAsk],
			[
				...paid.flatMap((each) => [...factMarks('paid', each), paidValuesMark(each)]),
				...unknown.flatMap((each) => factMarks('doubt', each)),
			],
		);
		// A late response of another run may have recorded *paid*, after a person freed the reference and this run
		// reserved it.
		const paidByOthers = await askPaid(change, notMade);
		const free = notMade.filter((each) => !paidByOthers.has(each));
		change.remove(free.flatMap(marksOfUse));
	}

	/** Whether the reservation of a payment is still this run's own. */
	private isOwn(payment: Payment): boolean {
		const getAgeMs = this.reservations.get(payment);
		return getAgeMs !== undefined && getAgeMs() < reservedForMs;
	}

	/** @param options.alsoIfStopped whether it waits for the lock also when the run is stopped */
	private async change<Value>(
		work: (change: RecordChange) => Promise<Value>,
		{ alsoIfStopped }: { alsoIfStopped: boolean } = { alsoIfStopped: false },
	): Promise<Value> {
		const stop = alsoIfStopped ? undefined : this.stop;
		return await this.untilDeadline(
			withRecordLock(this.context, async (marks) => await RecordChange.make(marks, work), stop),
		);
	}

	private async untilDeadline<Value>(work: Promise<Value>): Promise<Value> {
		return await unlessAborted(this.deadline, work, () => new Error('The execution was stopped'));
	}
}

/**
 * The statements with an earlier *not paid* on record: of the same sending if the statement names one, otherwise of the
 * reference. They are asked for only where that makes a difference (`resultOfStatement`).
 */
async function askSaidNotPaidBefore<Each extends Statement>(
	change: RecordChange,
	states: ReadonlyMap<Each, ReferenceState>,
): Promise<ReadonlySet<Each>> {
	const concerned = [...states]
		.filter(([{ says }, state]) => state === (says === 'notPaid' ? 'inDoubt' : 'unused'))
		.map(([statement]) => statement);
	const recorded = await change.ask(concerned.map(statementMark));
	return new Set(concerned.filter((each) => recorded.has(statementMark(each))));
}

/** The statements that contradict a *paid* which only a person said. */
async function askContradictingSaidPaid<Each extends Statement>(
	change: RecordChange,
	states: ReadonlyMap<Each, ReferenceState>,
): Promise<ReadonlySet<Each>> {
	const concerned = [...states]
		.filter(([{ says }, state]) => state === 'paid' && says !== 'paid')
		.map(([statement]) => statement);
	// This makes no call, because `askReferenceStates` has asked already.
	const paid = await askFacts(change, ['paid'], concerned);
	return new Set(concerned.filter((each) => !paid.has(each)));
}

/**
 * The result of a statement about a reference in this state, unless it contradicts a *paid* of a person. A statement that
 * nobody typed just now may be old: then a second *not paid* of a reference, or of one sending of it, changes nothing. A
 * *paid* of a reference that was settled as not paid, and is unused now, makes it in doubt, because the two differ.
 * @param wasSaidNotPaid whether a *not paid* was recorded before (`askSaidNotPaidBefore`)
 */
function resultOfStatement(
	state: ReferenceState,
	says: Answer,
	wasSaidNotPaid: boolean,
	isByHand: boolean,
): StatementResult {
	if (state === 'paid' || state === 'inFlight') return state;
	if (says === 'takeBack') return state === 'unused' && wasSaidNotPaid ? 'contradicted' : state;
	const mayBeOld = wasSaidNotPaid && !isByHand;
	if (says === 'notPaid') {
		if (state === 'unused') return state;
		return mayBeOld ? 'statementRepeated' : 'settledNotPaid';
	}
	if (state === 'unused') return mayBeOld ? 'contradicted' : 'recordedPaid';
	return 'settledPaid';
}

/**
 * The states of references, regardless of user IDs and amounts.
 * @param alsoAsk gives a mark that is asked for together with the others, for references that are paid
 */
async function askReferenceStates<Each extends Keyed>(
	change: RecordChange,
	references: Each[],
	slot: number,
	alsoAsk?: (each: Each) => string,
): Promise<Map<Each, ReferenceState>> {
	const sent = await change.ask(references.map(sentMark));
	const used = references.filter((each) => sent.has(sentMark(each)));
	const paid = await askPaid(change, used, alsoAsk);
	const unpaid = used.filter((each) => !paid.has(each));
	const busy = await change.ask(unpaid.flatMap((each) => busyMarks(each, slot)));
	const isBusy = (each: Each): boolean => busyMarks(each, slot).some((mark) => busy.has(mark));
	const doubted = await askFacts(change, ['doubt'], unpaid.filter(isBusy));
	const stateOf = (each: Each): ReferenceState => {
		if (!sent.has(sentMark(each))) return 'unused';
		if (paid.has(each)) return 'paid';
		return isBusy(each) && !doubted.has(each) ? 'inFlight' : 'inDoubt';
	};
	return new Map(references.map((each) => [each, stateOf(each)]));
}

/** The references that are paid, because the service or a person said so. */
const askPaid = async <Each extends Keyed>(
	change: RecordChange,
	references: Each[],
	alsoAsk?: (each: Each) => string,
): Promise<ReadonlySet<Each>> => await askFacts(change, paidFacts, references, alsoAsk);

/**
 * The references for which one of these facts is recorded. A fact without its confirmation, which a crash left, is
 * removed at the end of the change.
 * @param alsoAsk gives a mark that is asked for in the second call, for references that may have a fact
 */
async function askFacts<Each extends Keyed>(
	change: RecordChange,
	facts: readonly Fact[],
	references: Each[],
	alsoAsk?: (each: Each) => string,
): Promise<ReadonlySet<Each>> {
	const asked = facts.flatMap((fact) =>
		references.map((each) => ({
			each,
			mark: factMark(fact, each),
			confirmed: confirmedMark(fact, each),
		})),
	);
	const recorded = await change.ask(asked.map(({ mark }) => mark));
	const candidates = asked.filter(({ mark }) => recorded.has(mark));
	const others = alsoAsk === undefined ? [] : candidates.map(({ each }) => alsoAsk(each));
	const known = await change.ask([
		...candidates.map(({ confirmed }) => confirmed),
		...new Set(others),
	]);
	const isConfirmed = ({ confirmed }: { confirmed: string }): boolean => known.has(confirmed);
	change.remove(candidates.filter((one) => !isConfirmed(one)).map(({ mark }) => mark));
	return new Set(candidates.filter(isConfirmed).map(({ each }) => each));
}

/**
 * The states of entries: also whether a paid reference was paid to this person, with this amount, unless only a person
 * said that. An entry without a person or an amount is `otherPayment` then.
 */
async function askPaymentStates<Each extends KeyedEntry>(
	change: RecordChange,
	entries: Each[],
	slot: number,
): Promise<Map<Each, PaymentState>> {
	const states = new Map<Each, PaymentState>(
		await askReferenceStates(change, entries, slot, paidValuesMark),
	);
	const paid = entries.filter((entry) => states.get(entry) === 'paid');
	// This makes no call, because `askReferenceStates` has asked for them already.
	const paidValues = await change.ask(paid.map(paidValuesMark));
	// A person who settled it as paid did not say to whom.
	const confirmed = await askFacts(change, ['paid'], paid);
	for (const entry of paid)
		if (confirmed.has(entry) && !paidValues.has(paidValuesMark(entry)))
			states.set(entry, 'otherPayment');
	return states;
}
