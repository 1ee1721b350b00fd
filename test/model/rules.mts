// The invariants of payments, judged while a world is played: by outcome, code and the service's books.
import { createHash } from 'node:crypto';
import { isUnclear, personOf, type Books, type Sent } from './service-books.mts';
import { fieldsOf, type TryResult } from './execution.mts';
import {
	isDoubtOfQuestions,
	isOldWord,
	isPaidOfQuestions,
	isPayeeOfQuestion,
	payeeMark,
} from './known-limits.mts';
import type { N8nProcess } from './n8n-process.mts';
import type { Plan, RunPlan, VariantKind, Word } from './plan.mts';
import type { SimulatedDatabase } from './simulated-database.mts';
import type { Tell } from './story.mts';
import { linesOf, type Line } from './reported-lines.mts';
import type { Timeline } from './virtual-time.mts';

/** Whom an item is to pay. */
export interface Payee {
	/** A payment that may be made once. */
	key: string;
	/** As it is written. */
	reference: string;
	toUserId: string;
	amount: number;
	variant: VariantKind;
}

/** The facts about a run of the node. */
export interface RunRecord {
	number: number;
	name: string;
	/** `planned`: of the plan. The others: healthy runs at the end, in this order. */
	role: 'planned' | 'last' | 'settling' | 'final';
	plan: RunPlan;
	payees: Payee[];
	process: N8nProcess;
	/** By item, what a person said at `givenAt`. */
	words: Word[];
	givenAt: number;
	beganAt: number;
	/** By key: when it first, and when it last asked for a reference in the record. */
	askedFirst: Map<string, number>;
	asked: Map<string, number>;
	/** The lines that the last try told, by item. */
	lines: Map<number, Line>;
	stoodStillBefore: number;
	stoppedAt?: number;
	endedAt?: number;
	diedAt?: number;
	/** Once it has begun: what was recorded then, and how much had gone wrong. */
	before?: { row: ReadonlySet<string>; disrupted: number };
	/** The turns that begin when it has ended or its process died. */
	next: (() => void)[];
	died(): void;
}

/** In ms. A write that is under way when its process dies, or its execution is stopped, arrives later. */
const writeMs = 10_000;
const lastActAt = ({ endedAt, diedAt, stoppedAt }: RunRecord): number => {
	const end = endedAt ?? diedAt ?? Infinity;
	return diedAt === undefined && stoppedAt === undefined ? end : end + writeMs;
};

/** In ms. What a request may take between the last look at the clock and its connection. */
const longestConnectingMs = 2_000;

/** In ms. Reading the balance takes up to four attempts of the general timeout, and the pauses between them. */
const longestBalanceMs = 4 * 60_000 + 60_000;

/** In ms. What the database and its lock may add to a run when nothing goes wrong with them, and when something did. */
const slack = { healthy: 10_000, disrupted: 240_000 };

/** In ms. What a mark *busy* counts for: three slots, if a crash left that of the next one, by a clock that is behind. */
const longestBusyMs = 3 * 145_000 + 10_000 + writeMs;

/**
 * References of a bucket share their marks *busy*. By the names of the model, the first two people of node a are
 * in the same one.
 */
const bucketOf = (key: string): number =>
	createHash('sha256').update(key).digest().readUInt16BE() % 16;

/** Codes of payments for which a run reserved nothing. */
const codesWithoutReservation = [
	'paidBefore',
	'otherPayment',
	'inDoubt',
	'inFlight',
	'sameReference',
];

/** In ms, for a run of six people in an undisturbed world, in which nothing has to be waited for. */
const longestLastRunMs = (latency: number): number => 4_000 + 200 * latency;

/** In ms. What a stopped run may take beyond the timeout: to tell, and for one call of the database that never answers. */
const stopSlack = { healthy: 3_000, disrupted: 33_000 };

/** Whether n8n lets it settle: a Mode that was left on Settle Unknown, and Retry execution, do not. */
const maySettle = ({ plan }: RunRecord): boolean =>
	plan.does === 'settle' &&
	plan.mode !== (plan.by === 'typed' ? 'trigger' : 'retry') &&
	plan.mode !== 'retry';

/** Whether *was not paid* counts in it only for what was never freed before. */
const countsOnce = ({ plan }: RunRecord): boolean => plan.by === 'expression';

/** Whether it says this of a reference, and may. */
const says = (run: RunRecord, word: Word, key: string): boolean =>
	maySettle(run) && run.payees.some((payee, item) => payee.key === key && run.words[item] === word);

const hasBegun = ({ before }: RunRecord): boolean => before !== undefined;

const isOf =
	({ key, toUserId, amount }: Payee) =>
	(sent: Sent): boolean =>
		sent.key === key && sent.toUserId === toUserId && sent.amountEtb === amount;

const idOf = ({ key, toUserId, amount }: Payee): string => `${key} ${toUserId} ${amount}`;

/** Whether it tells in one item, of no reference, that it failed. */
const isNotSettled = (result: TryResult): boolean =>
	'output' in result &&
	result.output.some(({ json }) => {
		const fields = fieldsOf(json);
		const { code, reference } = fieldsOf(fields.error ?? fields);
		return code === 'notSettled' && reference === undefined;
	});

/** Whether the words of a run that settles can be used: something is named, and nothing as paid and as not paid. */
function namesWell({ payees, words }: RunRecord): boolean {
	const keysOf = (word: Word): string[] =>
		payees
			.filter(({ reference }, item) => reference !== '' && words[item] === word)
			.map(({ key }) => key);
	const [paid, notPaid] = [keysOf('paid'), keysOf('notPaid')];
	return paid.length + notPaid.length > 0 && !paid.some((key) => notPaid.includes(key));
}

/** A run that settles tells of the references that were named, whatever items it had. */
function settledLines({ payees, words }: RunRecord, result: TryResult): Line[] {
	if ('error' in result) return [];
	return result.output.flatMap(({ json }) => {
		const { reference, outcome, code } = Object(json) as Record<string, unknown>;
		const key = payees.find((each) => each.reference.trim() === reference)?.key;
		return payees.flatMap((payee, item) =>
			payee.key === key && words[item] !== 'nothing' && payee.reference !== ''
				? [{ item, outcome: String(outcome), code: String(code) }]
				: [],
		);
	});
}

/** The facts by which a line is judged. */
interface Told {
	run: RunRecord;
	payee: Payee;
	word: Word | undefined;
	/** The requests of this run to the payee. */
	own: Sent[];
	/** Whether nothing went wrong, and nobody who pays this reference was stopped. */
	isHealthy: boolean;
}

export function newJudge(
	plan: Plan,
	timeline: Timeline,
	books: Books,
	database: SimulatedDatabase,
	runs: readonly RunRecord[],
	tell: Tell,
) {
	const violations: string[] = [];
	const counts = new Map<string, number>();
	/** Crashes, pauses and set clocks so far. */
	let disruptions = 0;
	/** When a payment was told to be paid, by its reference, person and amount. */
	const forEver = new Map<string, number>();

	function disrupted(): void {
		disruptions++;
	}

	function broken(rule: string): void {
		violations.push(rule);
		tell(() => `*** ${rule}`);
	}

	function began(run: RunRecord): void {
		run.before = { row: rowOf(run), disrupted: disruptionCount() };
	}

	function paying(sent: Sent): void {
		const run = runs[sent.run];
		if (run === undefined) return;
		const { name, plan, stoppedAt = Infinity } = run;
		if (sent.toUserId.endsWith('-none')) broken(`${name} pays an item without a reference`);
		const lateMs = sent.leftAt - sent.grounds.reservedAt - plan.timeout - longestConnectingMs;
		if (lateMs > 0) broken(`${name} sends ${sent.key} ${Math.round(lateMs)} ms too late`);
		// Those that were under way when it was stopped are at most a window.
		const own = books.sent.filter((each) => each.run === sent.run);
		const afterStop = own.filter(({ leftAt }) => leftAt > stoppedAt);
		if (afterStop.length > plan.concurrency)
			broken(`${name} sends ${afterStop.length} payments after Stop`);
		const amounts = new Map([...own, sent].map((each) => [each.key, each.amountEtb]));
		const total = [...amounts.values()].reduce((sum, amount) => sum + amount, 0);
		if (sent.amountEtb > (plan.maxAmountEtb ?? Infinity) || total > (plan.maxTotalEtb ?? Infinity))
			broken(`${name} sends ${sent.amountEtb} ETB, in all ${total} ETB, above a maximum`);
		if (plan.does !== 'pay') broken(`the ${plan.does} run ${name} pays ${sent.toUserId}`);
		const paidAt = forEver.get(`${sent.key} ${sent.toUserId} ${sent.amountEtb}`) ?? Infinity;
		if (sent.grounds.reservedAt > paidAt)
			broken(`${sent.key} is paid by ${name}, after it was told to be paid for ever`);
		const all = [...books.paymentsOf(sent.key), sent];
		if (all.length === 1) return;
		if (!isExplained(all, () => true)) broken(`${sent.key} is paid again, by ${name}`);
		else if (isExplained(all, (word, before) => !isOldWord(word, before)))
			count('paid again by a false word');
		else count('limit: paid again by an old word');
	}

	/**
	 * The promise. Of the payments of a reference, in the order of their reservations, each but the first needs
	 * a person's word of its own: they said *was not paid* of the payment before it, in a run that went on at
	 * some time between these two reservations, when that payment had been made or was under way. By an
	 * expression a word counts only as the first.
	 */
	function isExplained(
		payments: readonly Sent[],
		mayExplain: (word: RunRecord, before: Sent) => boolean,
	): boolean {
		const inOrder = [...payments].sort((a, b) => a.grounds.reservedAt - b.grounds.reservedAt);
		const used = new Set<RunRecord>();
		return inOrder.every((payment, index) => {
			const before = inOrder[index - 1];
			if (before === undefined) return true;
			const [first] = denials(before)
				.filter((run) => !used.has(run) && mayExplain(run, before))
				.filter((run) => run.beganAt <= payment.grounds.reservedAt)
				.filter((run) => index === 1 || !countsOnce(run))
				.sort(
					(a, b) => Number(countsOnce(b)) - Number(countsOnce(a)) || lastActAt(a) - lastActAt(b),
				);
			if (first !== undefined) used.add(first);
			return first !== undefined;
		});
	}

	/** The runs in which a person said that this was not paid, since its reservation. */
	function denials({ key, grounds }: Sent): RunRecord[] {
		return runs.filter(
			(run) => says(run, 'notPaid', key) && hasBegun(run) && lastActAt(run) >= grounds.reservedAt,
		);
	}

	function told(run: RunRecord, result: TryResult, tryIndex: number): void {
		const settles = maySettle(run);
		const lines = settles ? settledLines(run, result) : (linesOf(result) ?? []);
		run.lines.clear();
		tell(() => {
			const told = lines.map(
				({ item, code = 'notAttempted' }) => `${run.payees[item]?.key} ${code}`,
			);
			return `${run.name} tells${tryIndex > 0 ? ` (try ${tryIndex + 1})` : ''}: ${told.join(', ')}`;
		});
		for (const line of lines) {
			const payee = run.payees[line.item];
			if (payee === undefined || run.lines.has(line.item))
				broken(`${run.name} tells of an item twice, or of none (${line.item})`);
			if ((line.toUserId ?? payee?.toUserId) !== payee?.toUserId)
				broken(`${run.name} tells of ${line.toUserId} for the item of ${payee?.toUserId}`);
			run.lines.set(line.item, line);
		}
		const inOrder = lines.every(({ item }, index) => item >= (lines[index - 1]?.item ?? 0));
		if ('output' in result && !settles && !inOrder)
			broken(`${run.name} tells items in another order`);
		const isFailed = 'error' in result || (settles && isNotSettled(result));
		const isWhole = isFailed || run.stoppedAt !== undefined;
		const isNamed = (_payee: Payee, item: number): boolean =>
			!settles || run.words[item] !== 'nothing';
		const expected = run.payees.filter(isNamed).filter((each) => !settles || each.reference !== '');
		if (!isWhole && run.lines.size !== expected.length)
			broken(`${run.name} tells ${run.lines.size} of ${expected.length} items`);
		// An error lists those that could be used; of the others it is certain that nothing was done.
		const isSilent = settles && isFailed;
		if (isSilent && disruptionCount() === 0 && run.stoppedAt === undefined && namesWell(run))
			broken(`${run.name} settles nothing, and nothing went wrong`);
		for (const [item, payee] of run.payees.entries()) {
			const line = run.lines.get(item) ?? { item, outcome: 'notAttempted' };
			if (!isSilent && (run.lines.has(item) || !settles)) judgeLine(run, payee, line);
		}
	}

	function judgeLine(run: RunRecord, payee: Payee, { item, outcome, code = '' }: Line): void {
		const { key } = payee;
		const told: Told = {
			run,
			payee,
			word: run.words[item],
			own: books.sent.filter(({ run: by }) => by === run.number).filter(isOf(payee)),
			isHealthy: disruptionCount() === 0 && !wasStopped(key),
		};
		const say = (text: string): void => {
			broken(`${run.name} tells ${key} ${`${outcome} ${code}`.trim()}, but ${text}`);
		};
		const mayTell = reasons[`${outcome} ${code}`.trim()];
		if (mayTell === undefined) say('there is no such result');
		else if (!mayTell(told)) say('there is no reason for it');
		const isTwice = run.payees.some((other) => other !== payee && other.key === key);
		const mayBePaid = told.own.some(({ isPaid, isPending }) => isPaid || isPending);
		if (['notPaid', 'notAttempted'].includes(outcome) && mayBePaid && !isTwice)
			say('it was paid, or the service may still pay it');
		if (run.plan.does !== 'pay' && told.own.length > 0)
			say('it does not pay, and something was sent');
		const isNoLonger =
			['paid', 'ready'].includes(outcome) || (outcome === 'unknown' && run.plan.does !== 'settle');
		if (isNoLonger && (forEver.get(idOf(payee)) ?? Infinity) < run.beganAt)
			say('it was told to be paid, for ever');
	}

	/** By outcome and code: whether it may be told. */
	const reasons: Readonly<Record<string, (told: Told) => boolean>> = {
		'paid paid': ({ run, own }) => run.plan.does === 'pay' && own.some(({ isPaid }) => isPaid),
		'alreadyPaid paidBefore': (told) => mayBePaidBefore(told),
		'alreadyPaid settledPaid': ({ run, word, payee }) =>
			word === 'paid' && !wasBeingSent(run, payee.key),
		'ready ready': ({ run, payee, word }) =>
			!mayBePaid(run, payee.key) &&
			(run.plan.does === 'dryRun' || (word === 'notPaid' && !wasBeingSent(run, payee.key))),
		'ready settledNotPaid': ({ word, run, payee }) =>
			word === 'notPaid' && !wasBeingSent(run, payee.key),
		'notPaid refused': ({ own }) => own.length > 0 && own.every(({ isPaid }) => !isPaid),
		'notPaid notReached': ({ payee }) =>
			disruptionCount() > 0 || plan.answers[personOf(payee.key)]?.includes('refused') === true,
		'notPaid otherPayment': ({ run, payee }) =>
			books.paymentsOf(payee.key).some((sent) => !isOf(payee)(sent)) ||
			limit('paid by questions', isPaidOnlyInQuestions(run, payee.key)),
		'notPaid invalid': ({ payee }) => payee.variant === 'noReference',
		'notPaid sameReference': ({ run, payee }) =>
			run.payees.some((other) => other !== payee && other.key === payee.key),
		'notPaid aboveMaximum': ({ run, payee }) =>
			run.plan.maxTotalEtb !== undefined || payee.amount > (run.plan.maxAmountEtb ?? Infinity),
		'notPaid notCovered': ({ run, isHealthy }) =>
			run.plan.checkBalance &&
			(!isHealthy || plan.balanceAnswers.length > 0 || plan.balance < 1_000_000),
		'notPaid noRecord': ({ isHealthy }) => !isHealthy,
		'notPaid settings': ({ run }) => run.plan.does === 'settle' && !maySettle(run),
		'unknown noAnswer': ({ own }) => own.some(mayBeUnclear),
		'unknown unclear': ({ own }) => own.some(mayBeUnclear),
		'unknown inDoubt': (told) => mayBeInDoubt(told),
		'unknown inFlight': ({ run, payee, isHealthy }) =>
			isHealthy ? overlaps(run, payee.key) : mayStillBeBusy(run, payee.key),
		'unknown notSettled': ({ run, payee, word, isHealthy }) =>
			word === 'notPaid' &&
			countsOnce(run) &&
			(!isHealthy || runs.some((other) => hasBegun(other) && says(other, 'notPaid', payee.key))),
		// A run that stops at the first failure does not attempt the rest.
		notAttempted: ({ run }) => run.plan.onError === 'stop' || run.stoppedAt !== undefined,
	};

	function mayBePaidBefore({ run, payee, own }: Told): boolean {
		if (own.some(({ isPaid }) => isPaid)) return false;
		const { key } = payee;
		const payments = books.paymentsOf(key);
		if (payments.some(isOf(payee)) || (payments.length > 0 && run.plan.does === 'settle'))
			return true;
		if (runs.some((each) => hasBegun(each) && says(each, 'paid', key))) return true;
		const scope = scopeOf(run);
		return (
			limit('paid by questions', isPaidOnlyInQuestions(run, key)) ||
			limit('payee of a question', payments.length > 0 && isPayeeOfQuestion(database, scope, payee))
		);
	}

	function mayBeInDoubt({ run, payee, isHealthy }: Told): boolean {
		// It settles what is in doubt.
		if (maySettle(run)) return false;
		return !isHealthy || sentUnder(payee.key).some(mayBeUnclear);
	}

	/** Whether something was paid before the run asked, of which no person said that it was not. */
	function mayBePaid(run: RunRecord, key: string): boolean {
		const askedAt = run.askedFirst.get(key) ?? run.beganAt;
		return books
			.paymentsOf(key)
			.some((sent) => sent.grounds.reservedAt < askedAt && denials(sent).length === 0);
	}

	/**
	 * Whether another run had reserved it a moment before this one first asked, and was sending it, or had not
	 * recorded yet that it was paid. A reservation lasts 15 s longer than the Timeout, whatever the clocks of
	 * two processes say.
	 */
	function wasBeingSent(run: RunRecord, key: string): boolean {
		if (wasClockSet()) return false;
		const isOfQuestions = isDoubtOfQuestions(database, scopeOf(run), key);
		if (limit('doubted by questions', isOfQuestions)) return false;
		const askedAt = run.askedFirst.get(key) ?? run.beganAt;
		return sentUnder(key).some((sent) => {
			const { reservedAt } = sent.grounds;
			const { plan, endedAt = Infinity } = runs[sent.run] ?? run;
			const isSaidPaid = sent.isAnswered && sent.isPaid && !isUnclear(sent.kind);
			const isSending = (sent.endedAt ?? Infinity) >= askedAt || isSaidPaid;
			const isTimely = reservedAt < askedAt && askedAt < reservedAt + plan.timeout;
			return isTimely && endedAt > askedAt && isSending;
		});
	}

	function ended(run: RunRecord): void {
		for (const [item, { outcome, code }] of run.lines) {
			count(code ?? outcome);
			const payee = run.payees[item];
			if (payee === undefined) continue;
			// A payment of this run is recorded unless the database failed or n8n was cut off.
			const row = rowOf(run);
			const { key } = payee;
			const isRecorded =
				disruptionCount() === 0 ||
				[`paid:${key}`, `paidConfirmed:${key}`, payeeMark(payee)].every((mark) => row.has(mark));
			// To whom a reference was paid that a person only names, nobody said.
			const isNamed = run.plan.does === 'settle' && code === 'paidBefore';
			const isKept = (outcome === 'alreadyPaid' && !isNamed) || (outcome === 'paid' && isRecorded);
			if (isKept && !forEver.has(idOf(payee))) forEver.set(idOf(payee), timeline.now);
		}
		judgeTime(run);
		judgeDoubts(`after ${run.name}`);
		const { before, plan } = run;
		const isAlone = !runs.some(
			(other) => other !== run && other.plan.node === plan.node && isDuring(run, other),
		);
		if (!isAlone || before?.disrupted !== disruptionCount()) return;
		const codes = [...run.lines.values()].map(({ code = '' }) => code);
		if (plan.does === 'settle') changedAlone(run, 'settled alone');
		if (plan.does === 'dryRun') changedAlone(run, 'dry runs alone');
		const isWhole = codes.length === run.payees.length;
		const reserves = codes.some((code) => !codesWithoutReservation.includes(code));
		if (plan.does === 'pay' && isWhole && !reserves)
			changedAlone(run, 'runs alone that reserve nothing');
	}

	/** A doubt that outlives its reservation would make a reference in doubt as soon as it is reserved again. */
	function judgeDoubts(when: string): void {
		for (const row of database.rows.values())
			for (const mark of row) {
				const [, key = ''] = /^doubt(?:Confirmed)?:(.*)$/s.exec(mark) ?? [];
				if (key !== '' && !row.includes(`sent:${key}`))
					broken(`${key} is unused, and a doubt is left of it (${when})`);
			}
	}

	function judgeTime(run: RunRecord): void {
		const { beganAt, endedAt = timeline.now, stoppedAt = Infinity, plan, name } = run;
		const still = run.process.stoodStill - run.stoodStillBefore;
		const isDisrupted = disruptionCount() > 0;
		const extra = still + (isDisrupted ? slack.disrupted : slack.healthy);
		const longest =
			plan.tries * (longestBalanceMs + (plan.items.length + 3) * (plan.timeout + 2_000)) +
			extra * (plan.items.length + 2);
		const seconds = (ms: number): number => Math.round(ms / 1000);
		if (endedAt - beganAt > longest) broken(`${name} takes ${seconds(endedAt - beganAt)} s`);
		const longestAfterStop =
			plan.timeout +
			still +
			plan.tries * 1_000 +
			(isDisrupted ? stopSlack.disrupted : stopSlack.healthy);
		if (endedAt - stoppedAt > longestAfterStop)
			broken(`${name} goes on for ${seconds(endedAt - stoppedAt)} s after Stop`);
	}

	/** A run with nobody beside it and nothing going wrong: it changes what it tells, and nothing else. */
	function changedAlone(run: RunRecord, name: string): void {
		count(name);
		const before = run.before?.row ?? new Set();
		const after = rowOf(run);
		const added = new Set([...after].filter((mark) => !before.has(mark)));
		const removed = new Set([...before].filter((mark) => !after.has(mark)));
		const total = run.payees.reduce((sum, { amount }) => sum + amount, 0);
		const isAboveLimit = total > (run.plan.maxTotalEtb ?? Infinity);
		for (const [item, { code }] of run.lines) {
			const key = run.payees[item]?.key ?? '';
			const paid = [`sent:${key}`, `paid:${key}`, `paidConfirmed:${key}`, `anybody:${key}`];
			const isNowPaid = code === 'settledPaid';
			if (isNowPaid && !paid.every((mark) => after.has(mark)))
				broken(`${run.name} tells ${key} ${code}, and does not record it`);
			const reservation = ['sent', 'doubt', 'doubtConfirmed'].map((mark) => `${mark}:${key}`);
			const isFree = !reservation.some((mark) => after.has(mark));
			if (code === 'settledNotPaid' && !(isFree && after.has(`settledNotPaid:${key}`)))
				broken(`${run.name} tells ${key} ${code}, and does not record it`);
			// One that never asked, such as one that was stopped before it had the lock, could not remove what
			// another left.
			const hadAccess = code !== 'noRecord' && run.askedFirst.has(key);
			for (const fact of code === 'inFlight' ? ['paid', 'doubt'] : ['paid'])
				if (hadAccess && after.has(`${fact}:${key}`) && !after.has(`${fact}Confirmed:${key}`))
					broken(`${run.name} leaves half of the fact ${fact} of ${key}`);
			// A run that pays records the doubt that it finds, unless a limit of the run refuses it before it reserves.
			const doubt = ['doubt', 'doubtConfirmed'].map((mark) => `${mark}:${key}`);
			if (code === 'inDoubt' && run.plan.does === 'pay') {
				if (!isAboveLimit && !doubt.every((mark) => after.has(mark)))
					broken(`${run.name} tells ${key} ${code}, and does not record it`);
				for (const mark of doubt) added.delete(mark);
			}
			if (isNowPaid) for (const mark of paid) added.delete(mark);
			if (code === 'settledNotPaid') added.delete(`settledNotPaid:${key}`);
			if (code === 'settledNotPaid') for (const mark of reservation) removed.delete(mark);
		}
		// It may clear away what an interrupted question left.
		const rest = [...added, ...(disruptionCount() > 0 ? [] : removed)];
		if (rest.length > 0) broken(`${run.name} leaves a trace: ${rest.join(' ')}`);
	}

	/** Nothing is due any more. */
	function atRest(when: string): void {
		for (const run of runs)
			if (run.endedAt === undefined && run.diedAt === undefined)
				broken(`${run.name} never ends (${when})`);
		judgeDoubts(when);
		if (disruptionCount() > 0) return;
		if (database.rows.has('')) broken(`the lock is held, and nobody holds it (${when})`);
	}

	/** After the healthy runs, everybody must be explained. */
	function atEnd(): void {
		const allowed: Record<RunRecord['role'], string[]> = {
			planned: [],
			last: ['paid', 'alreadyPaid', 'unknown'],
			settling: ['alreadyPaid', 'ready'],
			final: ['paid', 'alreadyPaid'],
		};
		for (const run of runs.filter(({ role }) => role !== 'planned')) {
			const tookMs = (run.endedAt ?? Infinity) - run.beganAt;
			if (disruptionCount() === 0 && tookMs > longestLastRunMs(plan.latency))
				broken(`${run.name} takes ${Math.round(tookMs / 1000)} s, and nobody sends anything`);
			for (const [item, payee] of run.payees.entries()) {
				const { outcome, code } = run.lines.get(item) ?? { outcome: 'none' };
				if (!allowed[run.role].includes(outcome) && code !== 'otherPayment')
					broken(`${run.name} tells ${payee.key} ${code}`);
				const isSaidPaid = runs.some((each) => says(each, 'paid', payee.key));
				const isPaid = books.paymentsOf(payee.key).length > 0;
				const isOfQuestions = isPaidOnlyInQuestions(run, payee.key);
				if (run.role === 'final' && !isPaid && !isSaidPaid && !isOfQuestions)
					broken(`${payee.key} is not paid in the end`);
			}
		}
	}

	function sentUnder(key: string): Sent[] {
		return books.sent.filter((sent) => sent.key === key);
	}

	function wasStopped(key: string): boolean {
		return runs.some(
			({ stoppedAt, payees }) =>
				stoppedAt !== undefined && payees.some((payee) => payee.key === key),
		);
	}

	function wasClockSet(): boolean {
		return plan.processes.flat().some(({ kind }) => kind.startsWith('clock'));
	}

	/** Whether another run with the same reference, which pays, has not ended, or did so while this one went on. */
	function overlaps(run: RunRecord, key: string): boolean {
		return runs.some(
			(other) =>
				other !== run &&
				other.plan.does === 'pay' &&
				other.payees.some((payee) => payee.key === key) &&
				isDuring(run, other),
		);
	}

	/** Whether somebody has asked for a reference of its bucket so lately that the mark *busy* may still count. */
	function mayStillBeBusy(run: RunRecord, key: string): boolean {
		const askedAt = run.askedFirst.get(key) ?? run.beganAt;
		const wasAskedBy = (other: RunRecord): boolean =>
			scopeOf(other) === scopeOf(run) &&
			[...other.asked].some(
				([each, at]) =>
					bucketOf(each) === bucketOf(key) &&
					// An earlier try of the same run, too.
					(other !== run || each !== key || run.plan.tries > 1) &&
					askedAt - at < longestBusyMs,
			);
		return wasClockSet() || runs.some(wasAskedBy);
	}

	function isDuring(run: RunRecord, other: RunRecord): boolean {
		return hasBegun(other) && lastActAt(other) >= run.beganAt;
	}

	function isPaidOnlyInQuestions(run: RunRecord, key: string): boolean {
		return isPaidOfQuestions(database, scopeOf(run), key);
	}

	function limit(name: string, isMet: boolean): boolean {
		if (isMet) count(`limit: ${name}`);
		return isMet;
	}

	function disruptionCount(): number {
		return disruptions + database.disrupted();
	}

	function rowOf(run: RunRecord): Set<string> {
		return new Set(database.rows.get(scopeOf(run)));
	}

	function count(name: string): void {
		counts.set(name, (counts.get(name) ?? 0) + 1);
	}

	return { violations, counts, disrupted, broken, began, paying, told, ended, atRest, atEnd };
}

const scopeOf = ({ plan }: RunRecord): string => `n:pay-${plan.node}`;

/** Whether nobody may know how it ended. */
const mayBeUnclear = ({ kind, isAnswered, endedAt }: Sent): boolean =>
	isUnclear(kind) || (endedAt !== undefined && !isAnswered);
