/** The record of references: who was to be paid under each, and how that ended, across executions and restarts. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { abortedAfter, stopwatch, unlessAborted } from '../../shared/elapsed';
import type { Payment } from './payment';
import type { Entries } from '../../shared/record/entries';
import { entriesOf } from '../../shared/record/entries';
import { exclusively } from '../../shared/record/lock';

export type ReferencedPayment = Payment & { reference: string };

/**
 * What is known of a payment's reference. `inFlight`: some process is sending it, or crashed while it did. `inDoubt`:
 * it was sent, and how that ended is not known. `otherPayment`: it belongs to another person or amount.
 */
export type ReferenceState = 'unused' | 'paid' | 'inFlight' | 'inDoubt' | 'otherPayment';

/**
 * What was found when a payment asked to be sent. `taken`: it may be sent. `paidByWord`: a person just said so.
 * `unclear`: it may be another payment's reference, so no word about it is heeded.
 */
export interface Claim {
	payment: ReferencedPayment;
	found: Exclude<ReferenceState, 'unused'> | 'taken' | 'paidByWord' | 'unclear';
}

/** How a taken payment ended; `notPaid` also when it was not sent. */
export interface Ended {
	payment: ReferencedPayment;
	outcome: 'paid' | 'notPaid' | 'unknown';
}

export interface Wanted {
	payment: ReferencedPayment;
	/** How many words people had given about its reference when the run began. Left out if it was not in doubt then: no word is heeded. */
	wordsBefore?: number;
	/** Whether it was in flight for as long as a claim lasts: nobody is sending it any more. */
	isGivenUp: boolean;
}

/** What was found for each wanted payment, and the ms since before the taken ones were recorded. */
export interface Exchanged {
	claims: Claim[];
	ageMs: () => number;
}

type States = ReadonlyMap<ReferencedPayment, ReferenceState>;

/** How many words were given so far about each payment in doubt. */
export type WordCounts = ReadonlyMap<ReferencedPayment, number>;

/** References of payments in n8n's database, kept for the node in its workflow. */
export interface Ledger {
	/**
	 * Records how taken payments ended and takes others, in one access.
	 * @throws whatever n8n's database throws; then nothing wanted may be sent
	 */
	exchange(ended: Ended[], wanted: Wanted[]): Promise<Exchanged>;
	/** What is known of each, without a trace. @throws whatever n8n's database throws */
	look(payments: ReferencedPayment[]): Promise<States>;
	/** Of those that are in doubt. @throws as above */
	countWords(payments: ReferencedPayment[]): Promise<WordCounts>;
	/** How many marks there are; it changes when a payment is taken or ends. */
	count(): Promise<number>;
}

/** What a reference that was paid leaves in the record. */
export const marksOfPaid = 4;

/** Once in a record that keeps references, so that nothing else that the node keeps there drops one. */
export const referencesMark = 'references';

/** The claim: both are written in one call, before the payment is sent. */
const sentMark = ({ reference }: ReferencedPayment): string => `sent:${reference}`;
const paymentMark = ({ reference, toUserId, amount }: ReferencedPayment): string =>
	`payment:${JSON.stringify([reference, toUserId, amount])}`;
const claimMarks = (payment: ReferencedPayment): string[] => [
	sentMark(payment),
	paymentMark(payment),
];

/**
 * A fact that is never believed by mistake. n8n cannot be asked without writing what is asked for, and a crash could
 * leave that. So a fact is two marks, asked for one after the other: an interrupted question leaves one, which is none.
 */
type Fact = (payment: ReferencedPayment) => [first: string, second: string];

/** By an answer of the service, or a person's word. Nothing removes it. */
const paidFact: Fact = (payment) => [`paid:${paymentMark(payment)}`, `paid:${sentMark(payment)}`];
/** Its sender ended without knowing how, or did not end it in time. */
const doubtFact: Fact = (payment) => [
	`doubt:${paymentMark(payment)}`,
	`doubt:${sentMark(payment)}`,
];
/**
 * People gave their word about it so many times: each word counts once, and no payment that was not made frees it any
 * more.
 */
const wordMark = ({ reference }: ReferencedPayment, word: number): string =>
	`word:${word}:${reference}`;

/** Which of the payments a fact is recorded for. */
async function recorded(
	entries: Entries,
	payments: ReferencedPayment[],
	fact: Fact,
): Promise<Set<ReferencedPayment>> {
	const firstMark = (payment: ReferencedPayment): string => fact(payment)[0];
	const secondMark = (payment: ReferencedPayment): string => fact(payment)[1];
	const first = await entries.record(payments.map(firstMark));
	const candidates = payments.filter((payment) => first.has(firstMark(payment)));
	await entries.remove(payments.filter((payment) => !first.has(firstMark(payment))).map(firstMark));
	const second = await entries.record(candidates.map(secondMark));
	const isTrue = (payment: ReferencedPayment): boolean => second.has(secondMark(payment));
	await entries.remove(candidates.filter((payment) => !isTrue(payment)).flatMap(fact));
	return new Set(candidates.filter(isTrue));
}

/**
 * @param afterStopMs ends waiting for the database so long after the execution was stopped, whatever it does
 * @throws {InvalidValueError} when this n8n cannot keep references
 */
export function ledgerOf(context: IExecuteFunctions, afterStopMs: number): Ledger {
	const unlocked = entriesOf(context, 'node');
	const stop = context.getExecutionCancelSignal();
	const end = abortedAfter(stop, afterStopMs);

	async function untilEnd<Result>(work: Promise<Result>): Promise<Result> {
		return await unlessAborted(end, work, () => new Error('The execution was stopped'));
	}

	async function look(entries: Entries, payments: ReferencedPayment[]): Promise<States> {
		const before = await entries.record(payments.flatMap(claimMarks));
		try {
			return await statesOf(entries, payments, before);
		} finally {
			await entries.remove(unusedMarks(payments, before));
		}
	}

	return {
		count: async () => await untilEnd(unlocked.count()),

		async look(payments) {
			return await untilEnd(
				exclusively(context, async (entries) => await look(entries, payments), stop),
			);
		},

		async countWords(payments) {
			const access = async (entries: Entries): Promise<WordCounts> => {
				const states = await look(entries, payments);
				const inDoubt = payments.filter((payment) => states.get(payment) === 'inDoubt');
				return await wordsOf(entries, inDoubt);
			};
			return await untilEnd(exclusively(context, access, stop));
		},

		async exchange(ended, wanted) {
			const access = async (entries: Entries): Promise<Exchanged> => {
				const ageMs = stopwatch();
				const payments = wanted.map(({ payment }) => payment);
				const marks = [
					referencesMark,
					...ended.flatMap(marksOfEnd),
					...payments.flatMap(claimMarks),
				];
				const before = await entries.record(marks);
				let claims: Claim[] | undefined;
				try {
					await free(entries, ended);
					const states = await statesOf(entries, payments, before);
					claims = await decide(entries, wanted, states);
					return { claims, ageMs };
				} finally {
					// Those that were not in use will not be sent.
					if (claims === undefined)
						await entries.remove(unusedMarks(payments, before)).catch(() => undefined);
				}
			};
			// What ended is recorded also when the run is stopped.
			const giveUp = wanted.length === 0 ? undefined : stop;
			return await untilEnd(exclusively(context, access, giveUp));
		},
	};
}

/** With those of the claim, which nobody else can have removed; an answer is recorded in any case. */
function marksOfEnd({ payment, outcome }: Ended): string[] {
	if (outcome === 'paid') return [...claimMarks(payment), ...paidFact(payment)];
	return outcome === 'unknown' ? [...claimMarks(payment), ...doubtFact(payment)] : [];
}

function unusedMarks(payments: ReferencedPayment[], before: ReadonlySet<string>): string[] {
	return payments.filter((payment) => !before.has(sentMark(payment))).flatMap(claimMarks);
}

/** How many words people gave about each. An interrupted question counts one more, which errs to the safe side. */
async function wordsOf(entries: Entries, payments: ReferencedPayment[]): Promise<WordCounts> {
	const counts = new Map<ReferencedPayment, number>();
	for (let word = 1, left = payments; left.length > 0; word++) {
		const before = await entries.record(left.map((payment) => wordMark(payment, word)));
		const ends = left.filter((payment) => !before.has(wordMark(payment, word)));
		await entries.remove(ends.map((payment) => wordMark(payment, word)));
		for (const payment of ends) counts.set(payment, word - 1);
		left = left.filter((payment) => !counts.has(payment));
	}
	return counts;
}

/** Lets payments that were not made be sent again under their references, unless a person gave their word about one. */
async function free(entries: Entries, ended: Ended[]): Promise<void> {
	const notPaid = ended.flatMap(({ payment, outcome }) => (outcome === 'notPaid' ? [payment] : []));
	const words = await wordsOf(entries, notPaid);
	const hasWord = (payment: ReferencedPayment): boolean => words.get(payment) !== 0;
	await entries.record(notPaid.filter(hasWord).flatMap(doubtFact));
	await entries.remove(
		notPaid
			.filter((payment) => !hasWord(payment))
			// Questions about it that were interrupted may have left marks of facts that are none.
			.flatMap((payment) => [...claimMarks(payment), ...doubtFact(payment), ...paidFact(payment)]),
	);
}

/** @param before which marks of the claims were there before they were written */
async function statesOf(
	entries: Entries,
	payments: ReferencedPayment[],
	before: ReadonlySet<string>,
): Promise<States> {
	const used = payments.filter((payment) => before.has(sentMark(payment)));
	const own = used.filter((payment) => before.has(paymentMark(payment)));
	const others = new Set(used.filter((payment) => !before.has(paymentMark(payment))));
	await entries.remove([...others].map(paymentMark));
	const paid = await recorded(entries, own, paidFact);
	const inDoubt = await recorded(
		entries,
		own.filter((payment) => !paid.has(payment)),
		doubtFact,
	);
	const stateOf = (payment: ReferencedPayment): ReferenceState => {
		if (!before.has(sentMark(payment))) return 'unused';
		if (others.has(payment)) return 'otherPayment';
		if (paid.has(payment)) return 'paid';
		return inDoubt.has(payment) ? 'inDoubt' : 'inFlight';
	};
	return new Map(payments.map((payment) => [payment, stateOf(payment)]));
}

/**
 * Those of the payments in flight whose reference has ended all the same, so for another payment. Such a payment asked
 * for that reference, and a crash left its mark there before it could be removed. A crash in the middle of this question
 * makes any payment look so, which errs to the safe side.
 */
async function endedOtherwise(
	entries: Entries,
	payments: ReferencedPayment[],
): Promise<Set<ReferencedPayment>> {
	const marksOf = (payment: ReferencedPayment): string[] => [
		paidFact(payment)[1],
		doubtFact(payment)[1],
	];
	const before = await entries.record(payments.flatMap(marksOf));
	await entries.remove(payments.flatMap(marksOf).filter((mark) => !before.has(mark)));
	return new Set(payments.filter((payment) => marksOf(payment).some((mark) => before.has(mark))));
}

/** What becomes of the wanted payments, by what is known of them and by a person's word. */
async function decide(entries: Entries, wanted: Wanted[], states: States): Promise<Claim[]> {
	const stateOf = new Map<ReferencedPayment, ReferenceState | 'unclear'>(states);

	const givenUp = wanted
		.filter(({ payment, isGivenUp }) => isGivenUp && states.get(payment) === 'inFlight')
		.map(({ payment }) => payment);
	const ended = await endedOtherwise(entries, givenUp);
	await entries.record(givenUp.filter((payment) => !ended.has(payment)).flatMap(doubtFact));
	for (const payment of givenUp) stateOf.set(payment, ended.has(payment) ? 'unclear' : 'inDoubt');

	const nextWord = ({ payment, wordsBefore = 0 }: Wanted): string =>
		wordMark(payment, wordsBefore + 1);
	const spoken = wanted.filter(
		({ payment, wordsBefore }) => wordsBefore !== undefined && stateOf.get(payment) === 'inDoubt',
	);
	const heededBefore = await entries.record(spoken.map(nextWord));
	const heeded = spoken
		.filter((entry) => !heededBefore.has(nextWord(entry)))
		.map(({ payment }) => payment);
	const foundPaid = heeded.filter(({ ifUnknown }) => ifUnknown === 'paid');
	const foundNotPaid = heeded.filter(({ ifUnknown }) => ifUnknown === 'notPaid');
	await entries.record(foundPaid.flatMap(paidFact));
	await entries.remove(foundNotPaid.flatMap(doubtFact));

	return wanted.map(({ payment }): Claim => {
		const state = stateOf.get(payment) ?? 'inDoubt';
		if (state === 'unused' || foundNotPaid.includes(payment)) return { payment, found: 'taken' };
		return { payment, found: foundPaid.includes(payment) ? 'paidByWord' : state };
	});
}
