/**
 * The record of references: who was to be paid under each, and how that ended, across executions and restarts.
 *
 * State | Its marks | Who moves a reference there | What a crash there leaves | What a person is told
 * --- | --- | --- | --- | ---
 * unused | none of these | a refusal by the service; a finding *not paid* | the same | `ready`, or it is sent
 * inFlight | claim | a run that is about to send it; a crash while the record is asked | the same; a run that waited for it in vain makes it inDoubt | `unknown`
 * inDoubt | claim, doubt | a sender without an answer; a run that waited in vain; a refusal after it was settled | the same | `unknown`
 * paid | claim, paid (doubt may stay beside it) | the service's answer; a finding *paid* | the same, for ever | `alreadyPaid`
 * paidToAnother | the claim and paid of another person or amount | as paid | the same | `notPaid`
 * heldByAnother | the claim of another person or amount | as inFlight and inDoubt | the same | `unknown`
 *
 * A claim is two marks, of the reference and of the payment; a fact (paid, doubt) too. Beside any state the mark *settled*
 * says that a person settled the reference once, by either finding. From then on a run that claimed it earlier, and ends
 * late, may find the claim of another run. It always records *paid*. A refusal, or no answer, it records as doubt if its
 * claim is there, and not at all if not; it removes nothing. The mark *freed* beside it says that a finding *not paid*
 * once set this payment free: if it is unused now, nobody has sent it since.
 */
import type { IExecuteFunctions } from 'n8n-workflow';
import { abortedAfter, stopwatch, unlessAborted } from '../../shared/elapsed';
import { entriesOf, type Entries } from '../../shared/record/entries';
import { exclusively } from '../../shared/record/lock';
import { Questions } from './questions';
import type { Payment } from './run';

export type ReferencedPayment = Payment & { reference: string };

export const hasReference = (payment: Payment): payment is ReferencedPayment =>
	payment.reference !== undefined;

export type ReferenceState =
	| 'unused'
	| 'inFlight'
	| 'inDoubt'
	| 'paid'
	| 'paidToAnother'
	| 'heldByAnother';

/**
 * What the record answers for a payment. `granted`: it may be sent. `givenUp`: another execution was sending
 * it while this run waited, and it is in doubt now. `freed`: unused, because of a finding *not paid*. `settledPaid`,
 * `settledNotPaid`, `newlyPaid`: a finding was recorded; the last of them for a payment that was free.
 */
export type Found =
	| ReferenceState
	| 'granted'
	| 'givenUp'
	| 'freed'
	| 'settledPaid'
	| 'settledNotPaid'
	| 'newlyPaid';

/** A payment that is to be sent or settled. */
export interface WantedPayment {
	payment: ReferencedPayment;
	/** Another execution was sending it when this run asked the first time. */
	hasWaited: boolean;
	/** This run has waited for that execution for its own Timeout and the time to record: it believes that nobody sends it. */
	isGivenUp: boolean;
}

type States = ReadonlyMap<ReferencedPayment, ReferenceState>;
export type Answers = ReadonlyMap<ReferencedPayment, Found>;

/** How many marks a paid reference has. */
export const marksOfPaid = 4;

/** How long a stopped execution that sent nothing waits for the database, in ms. */
export const afterStopMs = 5_000;

/** In a record that keeps references: Pay Claims drops no old marks where it finds this one. */
export const referencesMark = 'references';

type MarksOf = (payment: ReferencedPayment) => string[];

/** The two marks of a claim, which are written in one call before the payment is sent. */
const sentMark = ({ reference }: ReferencedPayment): string => `sent:${reference}`;
const paymentMark = ({ reference, toUserId, amount }: ReferencedPayment): string =>
	`payment:${JSON.stringify([reference, toUserId, amount])}`;
const claimMarks: MarksOf = (payment) => [sentMark(payment), paymentMark(payment)];

/**
 * Something that is believed for ever. Asking n8n for a mark also writes it, and a crash leaves it there. So a fact is two
 * marks, which are asked for one after the other: a question that a crash interrupts leaves only one, which is no fact.
 */
type Fact = (payment: ReferencedPayment) => [ofPayment: string, ofReference: string];
const paidFact: Fact = (payment) => [`paid:${paymentMark(payment)}`, `paid:${sentMark(payment)}`];
const doubtFact: Fact = (each) => [`doubt:${paymentMark(each)}`, `doubt:${sentMark(each)}`];

/** A fact is written with the claim, which a finding may have removed meanwhile. */
const paidMarks: MarksOf = (payment) => [...claimMarks(payment), ...paidFact(payment)];
const doubtMarks: MarksOf = (payment) => [...claimMarks(payment), ...doubtFact(payment)];

/** Set free by a finding *not paid*: until it is sent, the finding of its item may correct that to *paid*. */
const freedFact: Fact = (payment) => [`freed:${paymentMark(payment)}`, settledMark(payment)];

const settledMark = ({ reference }: ReferencedPayment): string => `settled:${reference}`;

/** Goes with a question about a reference alone. A later run that finds it knows that the question was interrupted. */
const askingMark = ({ reference }: ReferencedPayment): string => `asking:${reference}`;

/** The references that n8n keeps for this node. Each function throws whatever the database does. */
export class Ledger {
	private readonly context: IExecuteFunctions;
	private readonly stop: AbortSignal | undefined;
	/** A while after `stop`. */
	private readonly end: AbortSignal;

	/** @param afterStop how long, in ms, it still waits for the database after the execution was stopped */
	constructor(context: IExecuteFunctions, afterStop: number) {
		this.context = context;
		this.stop = context.getExecutionCancelSignal();
		this.end = abortedAfter(this.stop, afterStop);
	}

	/** How many marks there are, which changes when a payment is granted or ends. */
	async count(): Promise<number> {
		return await this.untilEnd(entriesOf(this.context, 'node').count());
	}

	/** What is known of each. It leaves no trace, unless it is interrupted. */
	async look(payments: ReferencedPayment[]): Promise<States> {
		return await this.inAccess(async (questions) => {
			const before = await questions.ask(payments.flatMap(claimMarks));
			return await statesOf(questions, payments, before);
		});
	}

	/**
	 * Records how payments ended and grants others, in one access. When it throws, nothing wanted may be sent.
	 * @param ended were granted before; one without an ending was not sent
	 */
	async exchange(
		ended: ReferencedPayment[],
		wanted: WantedPayment[],
	): Promise<{ answers: Answers; ageMs: () => number }> {
		const payments = wanted.map(({ payment }) => payment);
		const paid = ended.filter(({ ending }) => ending?.outcome === 'paid');
		const others = ended.filter(({ ending }) => ending?.outcome !== 'paid');
		return await this.inAccess(async (questions) => {
			const ageMs = stopwatch();
			const before = await questions.ask(
				[...others.map(settledMark), ...payments.flatMap(claimMarks)],
				[referencesMark, ...paid.flatMap(paidMarks)],
			);
			await recordNotPaid(questions, others, before);
			const answers = await answersTo(questions, wanted, before);
			const granted = payments.filter((payment) => answers.get(payment) === 'unused');
			questions.keep(granted.flatMap(claimMarks));
			for (const payment of granted) answers.set(payment, 'granted');
			return { answers, ageMs };
		}, wanted.length === 0);
	}

	/** Records what a person found out. When it throws, some of it may be recorded. */
	async settle(wanted: WantedPayment[]): Promise<Answers> {
		return await this.inAccess(async (questions) => {
			const payments = wanted.map(({ payment }) => payment);
			const before = await questions.ask(payments.flatMap(claimMarks));
			const answers = await answersTo(questions, wanted, before);
			// What another execution sent while this run waited: the person asked the service before that.
			const waited = new Set(wanted.filter((each) => each.hasWaited).map((each) => each.payment));
			for (const payment of waited)
				if (answers.get(payment) === 'inDoubt') answers.set(payment, 'givenUp');
			const heeded = payments.filter((payment) => !waited.has(payment));
			const unused = heeded.filter((payment) => answers.get(payment) === 'unused');
			for (const payment of await withFact(questions, unused, freedFact))
				answers.set(payment, 'freed');
			await recordFindings(questions, heeded, answers);
			return answers;
		});
	}

	/** @param isAlwaysDone whether it waits for the lock also when the run is stopped */
	private async inAccess<Result>(
		work: (questions: Questions) => Promise<Result>,
		isAlwaysDone = false,
	): Promise<Result> {
		const stop = isAlwaysDone ? undefined : this.stop;
		const access = async (entries: Entries): Promise<Result> => await Questions.in(entries, work);
		return await this.untilEnd(exclusively(this.context, access, stop));
	}

	private async untilEnd<Result>(work: Promise<Result>): Promise<Result> {
		return await unlessAborted(this.end, work, () => new Error('The execution was stopped'));
	}
}

/**
 * Records which payments are unknown, and frees the references of those that were not made.
 * @param before has the marks *settled*. One that an interrupted question left makes doubt of a refusal, which is safe
 */
async function recordNotPaid(
	questions: Questions,
	ended: ReferencedPayment[],
	before: ReadonlySet<string>,
): Promise<void> {
	const isSettled = (payment: ReferencedPayment): boolean => before.has(settledMark(payment));
	const settled = ended.filter(isSettled);
	const claims = await questions.ask(settled.flatMap(claimMarks));
	const isClaimed = (payment: ReferencedPayment): boolean =>
		claimMarks(payment).every((mark) => claims.has(mark));
	const others = ended.filter((payment) => !isSettled(payment));
	const unknown = others.filter(isUnknown);
	await questions.write([...settled.filter(isClaimed), ...unknown].flatMap(doubtFact));
	const notPaid = others.filter((payment) => !isUnknown(payment));
	// Also half a fact, which an interrupted question may have left.
	questions.remove(notPaid.flatMap((payment) => [...doubtMarks(payment), ...paidFact(payment)]));
}

const isUnknown = ({ ending }: Payment): boolean => ending?.outcome === 'unknown';

/** The states of wanted payments. Those that this run gives up are in doubt from now on. */
async function answersTo(
	questions: Questions,
	wanted: WantedPayment[],
	before: ReadonlySet<string>,
): Promise<Map<ReferencedPayment, Found>> {
	const payments = wanted.map(({ payment }) => payment);
	const states = await statesOf(questions, payments, before);
	const answers = new Map<ReferencedPayment, Found>(states);
	const givenUp = wanted
		.filter(({ payment, isGivenUp }) => isGivenUp && states.get(payment) === 'inFlight')
		.map(({ payment }) => payment);
	const { ended } = await endsOfReferences(questions, givenUp);
	const doubtful = givenUp.filter((payment) => !ended.has(payment));
	await questions.write(doubtful.flatMap(doubtMarks));
	// If the reference ended for another payment, a question that a crash interrupted left this payment's mark.
	for (const payment of givenUp)
		answers.set(payment, ended.has(payment) ? 'heldByAnother' : 'givenUp');
	return answers;
}

/** Records findings about what is in doubt, was set free by one or, for `recordPaid`, is unused. All else stays as it is. */
async function recordFindings(
	questions: Questions,
	payments: ReferencedPayment[],
	answers: Map<ReferencedPayment, Found>,
): Promise<void> {
	const found = (finding: Payment['finding'], state: Found): ReferencedPayment[] =>
		payments.filter((each) => each.finding === finding && answers.get(each) === state);
	const corrected = found('paid', 'freed').filter(({ hasOwnFinding }) => hasOwnFinding);
	const settledPaid = [
		...found('paid', 'inDoubt'),
		...found('recordPaid', 'inDoubt'),
		...corrected,
	];
	const newlyPaid = [...found('recordPaid', 'unused'), ...found('recordPaid', 'freed')];
	const notPaid = found('notPaid', 'inDoubt');
	const paid = [...settledPaid, ...newlyPaid];
	await questions.write([
		...(paid.length > 0 ? [referencesMark] : []),
		...paid.flatMap(paidMarks),
		...paid.map(settledMark),
		...notPaid.flatMap(freedFact),
	]);
	questions.remove(notPaid.flatMap(doubtMarks));
	for (const payment of settledPaid) answers.set(payment, 'settledPaid');
	for (const payment of newlyPaid) answers.set(payment, 'newlyPaid');
	for (const payment of notPaid) answers.set(payment, 'settledNotPaid');
}

/** @param before which marks of their claims were there before they were asked for */
async function statesOf(
	questions: Questions,
	payments: ReferencedPayment[],
	before: ReadonlySet<string>,
): Promise<States> {
	const isOwn = (payment: ReferencedPayment): boolean => before.has(paymentMark(payment));
	const isUsed = (payment: ReferencedPayment): boolean => before.has(sentMark(payment));
	const own = payments.filter(isOwn);
	const paid = await withFact(questions, own, paidFact);
	const unpaid = own.filter((payment) => !paid.has(payment));
	const inDoubt = await withFact(questions, unpaid, doubtFact);
	const others = payments.filter((payment) => isUsed(payment) && !isOwn(payment));
	const { paid: paidToAnother } = await endsOfReferences(questions, others);
	const stateOf = (payment: ReferencedPayment): ReferenceState => {
		if (paid.has(payment)) return 'paid';
		if (isOwn(payment)) return inDoubt.has(payment) ? 'inDoubt' : 'inFlight';
		if (!isUsed(payment)) return 'unused';
		return paidToAnother.has(payment) ? 'paidToAnother' : 'heldByAnother';
	};
	return new Map(payments.map((payment) => [payment, stateOf(payment)]));
}

/** For which of the payments the record has the fact. */
async function withFact(
	questions: Questions,
	payments: ReferencedPayment[],
	fact: Fact,
): Promise<Set<ReferencedPayment>> {
	const ofPayments = await questions.ask(payments.map((payment) => fact(payment)[0]));
	const candidates = payments.filter((payment) => ofPayments.has(fact(payment)[0]));
	const ofReferences = await questions.ask(candidates.map((payment) => fact(payment)[1]));
	const isTrue = (payment: ReferencedPayment): boolean => ofReferences.has(fact(payment)[1]);
	questions.remove(candidates.filter((payment) => !isTrue(payment)).flatMap(fact));
	return new Set(candidates.filter(isTrue));
}

/** Those of the payments whose reference is paid, or ended at all, for whatever person and amount. */
async function endsOfReferences(
	questions: Questions,
	payments: ReferencedPayment[],
): Promise<Record<'paid' | 'ended', Set<ReferencedPayment>>> {
	const before = await questions.ask(
		payments.flatMap((each) => [askingMark(each), paidFact(each)[1], doubtFact(each)[1]]),
	);
	const isPaid = (payment: ReferencedPayment): boolean => before.has(paidFact(payment)[1]);
	return {
		paid: new Set(payments.filter((each) => isPaid(each) && !before.has(askingMark(each)))),
		ended: new Set(payments.filter((each) => isPaid(each) || before.has(doubtFact(each)[1]))),
	};
}
