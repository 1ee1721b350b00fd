// The invariants of payments, judged while a world is played.
import type { Books, Sent } from './books.mts';
import { isUnclear } from './books.mts';
import type { TryResult } from './execution.mts';
import {
	isClaimOfQuestion,
	isFactOfQuestions,
	isHeldByAnother,
	mayStayUnknown,
} from './known-limits.mts';
import type { N8nProcess } from './n8n-process.mts';
import type { Finding, Plan, RunPlan, VariantKind } from './plan.mts';
import type { SimulatedDatabase } from './simulated-database.mts';
import type { Line } from './told.mts';
import { linesOf } from './told.mts';
import type { Timeline } from './virtual-time.mts';
import type { Tell } from './story.mts';

const scopeOf = ({ plan }: RunRecord): string => `n:pay-${plan.node}`;

/** The marks of a claim in the record. */
const claimOf = ({ reference, toUserId, amount }: Payee): string[] => [
	`sent:${reference}`,
	`payment:${JSON.stringify([reference, toUserId, String(amount)])}`,
];

const factOf = (name: 'paid' | 'doubt', payee: Payee): string[] =>
	claimOf(payee).map((mark) => `${name}:${mark}`);

/** Findings after which a payment is paid for ever. */
const saysPaid: readonly Finding[] = ['paid', 'recordPaid'];

/** Whom an item is to pay. */
export interface Payee {
	/** What may be paid once: the reference, or without one the person. */
	key: string;
	reference: string;
	toUserId: string;
	amount: number;
	variant: VariantKind;
}

/** In ms. A write that is under way when its process dies, or its execution is stopped, arrives later. */
const writeMs = 10_000;
const lastActAt = ({ endedAt, diedAt, stoppedAt }: RunRecord): number => {
	const end = endedAt ?? diedAt ?? Infinity;
	return diedAt === undefined && stoppedAt === undefined ? end : end + writeMs;
};

const idOf = (key: string, of: { toUserId: string; amount?: number; amountEtb?: number }): string =>
	`${key} ${of.toUserId} ${of.amount ?? of.amountEtb}`;

/** In ms. What a request may take between the last look at the clock and its connection. */
const longestConnectingMs = 2_000;

/** What is known of a run of the node. */
export interface RunRecord {
	number: number;
	name: string;
	/** The others: the healthy runs after everything else. */
	role: 'planned' | 'last' | 'settling' | 'final';
	plan: RunPlan;
	payees: Payee[];
	process: N8nProcess;
	beganAt: number;
	/** By item, what a person said at `givenAt`. */
	findings: Finding[];
	givenAt: number;
	/** When it first, and when it last asked for a reference in the record. */
	askedFirst: Map<string, number>;
	asked: Map<string, number>;
	/** How many entries the node's record had when it looked first. */
	firstCount?: number;
	diedAt?: number;
	/** What the last try told, by item. */
	lines: Map<number, Line>;
	stoodStillBefore: number;
	stoppedAt?: number;
	endedAt?: number;
	isDead: boolean;
	died(): void;
	/** For a dry run: what was recorded when it began, and what had gone wrong by then. */
	before?: { row: Set<string>; struck: number };
}

/** In ms. Reading the balance takes up to four attempts of the general timeout, and the pauses between them. */
const longestBalanceMs = 4 * 60_000 + 60_000;

/** In ms. What the database and its lock may add to a run when nothing goes wrong with them, and when something did. */
const slack = { healthy: 10_000, struck: 240_000 };

/** In ms, for a run of six people in an undisturbed world, in which nothing has to be waited for. */
const longestLastRunMs = (latency: number): number => 4_000 + 200 * latency;

/** In ms. What a stopped run may take beyond the timeout: to tell, and for one call of the database that never answers. */
const stopSlack = { healthy: 3_000, struck: 33_000 };

export class Judge {
	readonly violations: string[] = [];
	readonly counts = new Map<string, number>();
	/** Crashes, pauses and set clocks so far. */
	struck = 0;
	private readonly plan: Plan;
	private readonly timeline: Timeline;
	private readonly books: Books;
	private readonly database: SimulatedDatabase;
	private readonly runs: readonly RunRecord[];
	private readonly tell: Tell;
	/** References that were told to be paid, with when that was in ms. */
	private readonly toldPaid = new Map<string, number>();

	constructor(
		plan: Plan,
		timeline: Timeline,
		books: Books,
		database: SimulatedDatabase,
		runs: readonly RunRecord[],
		tell: Tell,
	) {
		this.plan = plan;
		this.timeline = timeline;
		this.books = books;
		this.database = database;
		this.runs = runs;
		this.tell = tell;
		this.database.beforeWrite = (scope, row) => {
			this.freed(scope, new Set(row));
		};
	}

	/** References that a finding frees, of which questions left what looked like a claim in doubt, beside another's. */
	private readonly freedBesideAnother = new Set<string>();

	/** Looks, before a row is written, which of these references the write frees. */
	private freed(scope: string, row: ReadonlySet<string>): void {
		const namingOf = (mark: string) => this.database.namingOf(scope, mark);
		for (const payee of this.runs
			.filter((run) => scopeOf(run) === scope)
			.flatMap(({ payees }) => payees)) {
			const claim = claimOf(payee);
			if (claim.some((mark) => row.has(mark)) || !isClaimOfQuestion(claim, namingOf)) continue;
			const [ofReference = '', ofPayment = ''] = factOf('doubt', payee);
			// If the other payment's end was recorded, the node knows whose the reference is, and gives nothing up.
			const endedAs = namingOf(ofReference)?.addedBy ?? [];
			const isOfAnother = endedAs.some(
				(mark) => mark.startsWith(`doubt:payment:["${payee.reference}"`) && mark !== ofPayment,
			);
			if (!(isOfAnother && namingOf(ofPayment)?.others.has(ofReference) === true))
				this.freedBesideAnother.add(payee.key);
		}
	}

	/** Whether two questions that were interrupted left what looks like *paid*. */
	private isPaidByQuestions(run: RunRecord, payee: Payee): boolean {
		return isFactOfQuestions(factOf('paid', payee), (mark) =>
			this.database.namingOf(scopeOf(run), mark),
		);
	}

	broken(rule: string): void {
		this.violations.push(rule);
		this.tell(() => `*** ${rule}`);
	}

	began(run: RunRecord): void {
		run.before = { row: this.rowOf(run), struck: this.allStruck() };
	}

	/** The service is about to pay. */
	paying(sent: Sent): void {
		const run = this.runs[sent.run];
		if (sent.toUserId.endsWith('-none'))
			this.broken(`${sent.toUserId} is paid, whose item has no reference although it should`);
		const lateMs = sent.leftAt - sent.grounds.claimedAt - this.plan.timeout - longestConnectingMs;
		const isClockSet = this.plan.processes.flat().some(({ kind }) => kind.startsWith('clock'));
		if (run?.plan.references !== 'none' && lateMs > 0 && !isClockSet)
			this.broken(`${run?.name} sends ${sent.reference} ${Math.round(lateMs)} ms too late`);
		// Those that were under way when it was stopped are at most a window.
		const stoppedAt = run?.stoppedAt ?? Infinity;
		const afterStop = this.books.sent.filter(
			(each) => each.run === sent.run && each.leftAt > stoppedAt,
		);
		if (afterStop.length > (run?.plan.concurrency ?? 0))
			this.broken(`${run?.name} sends ${afterStop.length} payments after Stop`);
		const isFirst = this.runs.every(
			(other) =>
				other === run || other.before === undefined || other.beganAt > sent.grounds.claimedAt,
		);
		if (run?.plan.mode === 'retry' && (isFirst || run.firstCount === 0))
			this.broken(`${run.name}, a retry, pays although the node remembers nothing`);
		const look = sent.reference.toLowerCase();
		if (
			this.books.sent.some(
				({ run: other, reference }) =>
					other === sent.run && reference !== sent.reference && reference.toLowerCase() === look,
			)
		)
			this.broken(`${run?.name} pays two references that look like ${look}`);
		if (run !== undefined && run.plan.aim !== 'pay')
			this.broken(`the ${run.plan.aim} run ${run.name} pays ${sent.toUserId}`);
		const paidAt = this.forEver.get(idOf(sent.reference, sent));
		if (paidAt !== undefined && sent.grounds.claimedAt > paidAt)
			this.broken(
				`${sent.reference} is paid by ${run?.name}, after it was told to be paid for ever`,
			);
		const all = [...this.books.paymentsOf(sent.reference), sent];
		if (all.length === 1) return;
		this.count('paid again');
		if (this.freedBesideAnother.has(sent.reference)) this.count('paid beside another');
		else if (!this.isExplained(all))
			this.broken(`${sent.reference} is paid again, by ${run?.name ?? 'nobody'}`);
		else if (!this.isExplained(all, true)) {
			this.count('paid again by a finding that was true when given');
			if (process.env.STRICT === '1')
				this.broken(`${sent.reference} is paid again by a true finding, by ${run?.name}`);
		}
	}

	/**
	 * The promise. Of the payments of a reference, in the order of their claims, each but the first needs a finding of its
	 * own: a person said `notPaid` of the payment before it, in a run that went on at some time between these two claims,
	 * when that payment had been made or was under way.
	 * @param whenGiven whether the finding must have been false already when the person gave it
	 */
	private isExplained(payments: readonly Sent[], whenGiven = false): boolean {
		const inOrder = [...payments].sort((a, b) => a.grounds.claimedAt - b.grounds.claimedAt);
		const used = new Set<RunRecord>();
		return inOrder.every((payment, index) => {
			const before = inOrder[index - 1];
			if (before === undefined) return true;
			const candidates = this.runs
				.filter((run) => !used.has(run) && this.denies(run, before))
				.filter((run) => run.beganAt <= payment.grounds.claimedAt)
				.filter((run) => lastActAt(run) >= before.grounds.claimedAt)
				.filter(({ givenAt }) => !whenGiven || givenAt >= before.grounds.claimedAt)
				.sort((a, b) => lastActAt(a) - lastActAt(b));
			const [first] = candidates;
			if (first === undefined) return false;
			used.add(first);
			return true;
		});
	}

	/** Whether somebody said in the run that this payment was not made. */
	private denies(run: RunRecord, { reference, toUserId, amountEtb }: Sent): boolean {
		return this.said(run, 'notPaid', { key: reference, toUserId, amount: amountEtb });
	}

	private said(
		{ plan, payees, findings }: RunRecord,
		finding: Finding,
		of: Pick<Payee, 'key' | 'toUserId' | 'amount'>,
	): boolean {
		return (
			plan.aim === 'settle' &&
			plan.mode === 'manual' &&
			payees.some(
				({ key, toUserId, amount }, item) =>
					key === of.key &&
					toUserId === of.toUserId &&
					amount === of.amount &&
					findings[item] === finding,
			)
		);
	}

	/** Whether a person gave this finding in a run that has begun. */
	private wasSaid(finding: Finding, of: Pick<Payee, 'key' | 'toUserId' | 'amount'>): boolean {
		return this.runs.some((run) => run.before !== undefined && this.said(run, finding, of));
	}

	/** Whether one reference of the run was ever settled as not paid: a refused payment leaves it in doubt from then on. */
	private wasFreed(key: string): boolean {
		return this.runs.some(
			({ plan, payees, findings }) =>
				plan.aim === 'settle' &&
				payees.some((payee, item) => payee.key === key && findings[item] !== 'unclear'),
		);
	}

	/** When a payment was told to be paid, by its reference, person and amount. */
	private readonly forEver = new Map<string, number>();

	/** A try of a run ended and told this. */
	told(run: RunRecord, result: TryResult, tryIndex: number): void {
		const given = linesOf(result);
		const lines = given ?? run.payees.map((_, item): Line => ({ item, outcome: 'notPaid' }));
		run.lines.clear();
		const told = lines.map(({ item, outcome }) => `${run.payees[item]?.key} ${outcome}`).join(', ');
		this.tell(() => `${run.name} tells${tryIndex > 0 ? ` (try ${tryIndex + 1})` : ''}: ${told}`);
		let lastItem = -1;
		for (const line of lines) {
			const payee = run.payees[line.item];
			if (payee === undefined) {
				this.broken(`${run.name} tells of an item that it does not have (${line.item})`);
				continue;
			}
			if (run.lines.has(line.item)) this.broken(`${run.name} tells item ${line.item} twice`);
			if ('output' in result && line.item < lastItem)
				this.broken(`${run.name} tells items in another order`);
			lastItem = line.item;
			if (
				(line.reference ?? payee.reference) !== payee.reference ||
				(line.toUserId ?? payee.toUserId) !== payee.toUserId
			)
				this.broken(`${run.name} tells of ${line.toUserId} for the item of ${payee.toUserId}`);
			run.lines.set(line.item, line);
		}
		const isWhole = 'error' in result || run.stoppedAt !== undefined;
		if (!isWhole && run.lines.size !== run.payees.length)
			this.broken(`${run.name} tells ${run.lines.size} of ${run.payees.length} items`);
		for (const [item, payee] of run.payees.entries()) {
			const line = run.lines.get(item);
			// An error lists those that could be used; of the others it is certain that nothing was done.
			if (line !== undefined) this.judgeLine(run, payee, line);
			else if ('error' in result) this.judgeLine(run, payee, { item, outcome: 'notPaid' });
		}
	}

	ended(run: RunRecord): void {
		for (const [item, { outcome }] of run.lines) {
			this.count(outcome);
			const payee = run.payees[item];
			if (payee !== undefined && outcome === 'paid')
				this.toldPaid.set(payee.key, this.timeline.now);
			// What this run paid is recorded unless the database failed or n8n was cut off.
			const isKept =
				outcome === 'alreadyPaid' ||
				(outcome === 'paid' && (this.allStruck() === 0 || this.isRecordedPaid(run, payee)));
			if (
				payee !== undefined &&
				payee.reference !== '' &&
				isKept &&
				!this.forEver.has(idOf(payee.key, payee))
			)
				this.forEver.set(idOf(payee.key, payee), this.timeline.now);
		}
		const { beganAt, endedAt = this.timeline.now, stoppedAt, plan } = run;
		const still = run.process.stoodStill - run.stoodStillBefore;
		const extra = still + (this.allStruck() > 0 ? slack.struck : slack.healthy);
		const { timeout } = this.plan;
		const longest =
			plan.tries * (longestBalanceMs + (plan.items.length + 3) * (timeout + 2_000)) +
			extra * (plan.items.length + 2);
		if (endedAt - beganAt > longest)
			this.broken(`${run.name} takes ${Math.round((endedAt - beganAt) / 1000)} s`);
		const longestAfterStop =
			timeout +
			still +
			plan.tries * 1_000 +
			(this.allStruck() > 0 ? stopSlack.struck : stopSlack.healthy);
		if (stoppedAt !== undefined && endedAt - stoppedAt > longestAfterStop)
			this.broken(
				`${run.name} goes on for ${Math.round((endedAt - stoppedAt) / 1000)} s after Stop`,
			);
		const isAlone = !this.runs.some(
			(other) =>
				other !== run &&
				other.plan.node === plan.node &&
				other.beganAt <= endedAt &&
				lastActAt(other) >= beganAt,
		);
		if (plan.aim === 'settle' && isAlone && run.before?.struck === this.allStruck())
			this.settledAlone(run);
		if (plan.aim === 'dryRun' && isAlone && run.before?.struck === this.allStruck()) {
			this.count('dry runs alone');
			const { row: before } = run.before;
			const after = this.rowOf(run);
			const added = [...after].filter((mark) => !before.has(mark));
			// It may clear away what an interrupted question left.
			const removed = this.allStruck() > 0 ? [] : [...before].filter((mark) => !after.has(mark));
			if (added.length + removed.length > 0)
				this.broken(
					`the dry run ${run.name} leaves a trace: ${[...added, 'removed:', ...removed].join(' ')}`,
				);
		}
	}

	private isRecordedPaid(run: RunRecord, payee: Payee | undefined): boolean {
		if (payee === undefined) return false;
		const row = this.rowOf(run);
		return factOf('paid', payee).every((mark) => row.has(mark));
	}

	/** A run that settles, with nobody beside it and nothing going wrong: it changes what is in doubt, as the findings say. */
	private settledAlone(run: RunRecord): void {
		this.count('settled alone');
		const isRefused = run.plan.mode !== 'manual';
		const before = run.before?.row ?? new Set();
		const after = this.rowOf(run);
		const added = new Set([...after].filter((mark) => !before.has(mark)));
		const removed = new Set([...before].filter((mark) => !after.has(mark)));
		for (const [item, payee] of run.payees.entries()) {
			const { key, reference } = payee;
			const claim = claimOf(payee);
			const [sent = '', payment = ''] = claim;
			const has = (marks: string[]): boolean => marks.every((mark) => before.has(mark));
			const fact = (name: 'paid' | 'doubt'): string[] => factOf(name, payee);
			const isInDoubt = has([...claim, ...fact('doubt')]) && !has(fact('paid'));
			const told = run.lines.get(item)?.outcome;
			const finding = run.findings[item];
			const isUnknownHere = ![sent, payment].some((mark) => before.has(mark));
			const freed = [`freed:${payment}`, `settled:${reference}`];
			const isCorrected = finding === 'paid' && has(freed);
			if (isUnknownHere && isCorrected && !isRefused && told === 'ready')
				this.broken(`${run.name} tells ${key} ready, although its finding is paid now`);
			if (isUnknownHere && (finding === 'recordPaid' || isCorrected) && told === 'alreadyPaid') {
				this.count(isCorrected ? 'corrected to paid' : 'recorded as paid');
				for (const mark of ['references', ...claim, ...fact('paid'), `settled:${reference}`])
					added.delete(mark);
			}
			// Given up just now: what is left of a crash.
			if (before.has(payment) && !isInDoubt && told === 'unknown')
				for (const mark of [...claim, ...fact('doubt')]) added.delete(mark);
			if (told === 'ready' && after.has(sent))
				this.broken(`${run.name} tells ${key} ready, but it is not`);
			if (isRefused && !['notPaid', 'alreadyPaid', 'unknown'].includes(told ?? 'notPaid'))
				this.broken(`${run.name} tells ${key} ${told}, and may not settle`);
			if (isRefused && isInDoubt && told === 'notPaid' && run.plan.onError === 'continue')
				this.broken(`${run.name} tells ${key} notPaid, and it is in doubt`);
			if (
				isRefused ||
				!isInDoubt ||
				told === undefined ||
				told === 'notPaid' ||
				told === 'notAttempted' ||
				(told === 'unknown' && this.mayRefuseToRead(run, key))
			)
				continue;
			this.count(`settled ${finding}`);
			const isSaidPaid = finding !== undefined && saysPaid.includes(finding);
			const right = isSaidPaid ? 'alreadyPaid' : finding === 'notPaid' ? 'ready' : 'unknown';
			if (told !== right)
				this.broken(`${run.name} tells ${key} ${told}, whose finding is ${finding}`);
			const marks =
				finding === 'notPaid'
					? [...claim, ...fact('doubt'), ...freed]
					: isSaidPaid
						? ['references', ...fact('paid'), `settled:${reference}`]
						: [];
			for (const mark of marks) {
				added.delete(mark);
				removed.delete(mark);
			}
		}
		const rest = [...added, ...(this.allStruck() > 0 ? [] : removed)];
		if (rest.length > 0) this.broken(`${run.name} changes what is not in doubt: ${rest.join(' ')}`);
	}

	/** Nothing is due any more. */
	atRest(when: string): void {
		for (const run of this.runs)
			if (run.endedAt === undefined && !run.isDead) this.broken(`${run.name} never ends (${when})`);
		if (this.allStruck() === 0 && this.database.rows.has(''))
			this.broken(`the lock is held, and nobody holds it (${when})`);
	}

	/** After the healthy runs, everybody must be explained. */
	atEnd(): void {
		for (const run of this.runs) {
			if (run.role === 'planned') continue;
			for (const [item, payee] of run.payees.entries()) {
				const line = run.lines.get(item) ?? { item, outcome: 'none' };
				const { outcome } = line;
				const payments = this.books.paymentsOf(payee.key);
				const ofOther = this.hasOthers(payee.key);
				const allowed = {
					last: ['paid', 'alreadyPaid', 'unknown'],
					settling: ['alreadyPaid', 'ready'],
					final: ['paid', 'alreadyPaid'],
				}[run.role];
				const isOfOther = ofOther && (outcome === 'notPaid' || isHeldByAnother(line.message ?? ''));
				// Only a run that pays gives up waiting, and then knows.
				const last = this.runs.find(
					({ role, plan }) => role === 'last' && plan.node === run.plan.node,
				);
				const lineOfLast = last?.lines.get(item) ?? line;
				const staysUnknown =
					mayStayUnknown(line, this.allStruck()) ||
					(run.role === 'settling' && mayStayUnknown(lineOfLast, this.allStruck()));
				if (!allowed.includes(outcome) && !isOfOther && !staysUnknown)
					this.broken(`${run.name} tells ${payee.key} ${outcome}`);
				const tookMs = (run.endedAt ?? Infinity) - run.beganAt;
				if (this.allStruck() === 0 && tookMs > longestLastRunMs(this.plan.latency))
					this.broken(
						`${run.name} takes ${Math.round(tookMs / 1000)} s, although nobody is sending anything`,
					);
				if (
					run.role === 'final' &&
					!ofOther &&
					!staysUnknown &&
					payments.length === 0 &&
					!this.isPaidByQuestions(run, payee) &&
					!saysPaid.some((finding) => this.wasSaid(finding, payee))
				)
					this.broken(`${payee.key} is not paid in the end`);
			}
		}
	}

	private judgeLine(run: RunRecord, payee: Payee, { outcome, message = '' }: Line): void {
		const { key, toUserId, amount } = payee;
		const say = (text: string): void => {
			this.broken(`${run.name} tells ${key} ${outcome}, but ${text}`);
		};
		const own = this.books.sent.filter(
			(each) => each.run === run.number && each.toUserId === toUserId && each.amountEtb === amount,
		);
		const paidByRun = own.some(({ isPaid }) => isPaid);
		const isDuplicate = run.payees.some((other) => other !== payee && other.key === key);
		switch (outcome) {
			case 'paid':
				if (!paidByRun) say('its request was not paid');
				if (run.plan.aim !== 'pay') say('it is a dry run, or one that settles');
				break;
			case 'notPaid':
			case 'notAttempted':
				if (paidByRun && !isDuplicate) say('it was paid');
				if (own.some(({ isPending }) => isPending) && !isDuplicate)
					say('the service may still pay it');
				if (!this.mayBeNotPaid(run, payee, own)) say('there is no reason for it');
				if (
					/another person or amount was paid/.test(message) &&
					!this.books.paymentsOf(key).some((each) => idOf(key, each) !== idOf(key, payee)) &&
					!this.runs.some((other) =>
						other.payees.some(
							(each) =>
								each.key === key &&
								idOf(key, each) !== idOf(key, payee) &&
								saysPaid.some((finding) => this.said(other, finding, each)),
						),
					)
				)
					say('nobody else was paid under its reference');
				break;
			case 'alreadyPaid':
				if (
					!saysPaid.some((finding) => this.wasSaid(finding, payee)) &&
					!this.books
						.paymentsOf(key)
						.some((each) => each.toUserId === toUserId && each.amountEtb === amount) &&
					!this.isPaidByQuestions(run, payee)
				)
					say('the books do not have it');
				if (paidByRun) say('this very run paid it');
				break;
			case 'ready':
				if (run.plan.aim === 'pay') say('it is no dry run');
				if (this.wasPaidMeanwhile(run, payee)) say('it was being paid when the run asked for it');
				if (
					!this.freedBesideAnother.has(key) &&
					this.books
						.paymentsOf(key)
						.some((each) => each.leftAt < run.beganAt && !this.wasDenied(each))
				)
					say('it was paid before');
				break;
			case 'unknown':
				if (!this.mayBeUnknown(run, key))
					say(
						this.books.sent.some(({ reference }) => reference === key)
							? 'nothing went wrong'
							: 'nobody sent it, and nothing went wrong',
					);
				break;
			default:
				say('there is no such outcome');
		}
		if (run.plan.aim !== 'pay' && own.length > 0) say('it does not pay, and something was sent');
		const id = idOf(key, payee);
		if (
			(this.forEver.get(id) ?? Infinity) < run.beganAt &&
			['paid', 'ready', ...(this.allStruck() === 0 ? ['unknown'] : [])].includes(outcome) &&
			!(outcome === 'unknown' && this.mayRefuseToRead(run, key))
		)
			say('it was told to be paid, for ever');
	}

	/** Whether another run was paying it when this one first asked for it, and nobody else said that it did not. */
	private wasPaidMeanwhile(run: RunRecord, { key, toUserId, amount }: Payee): boolean {
		const askedAt = run.askedFirst.get(key) ?? run.beganAt;
		return (
			run.plan.aim === 'settle' &&
			this.allStruck() === 0 &&
			this.books
				.paymentsOf(key)
				.filter((each) => each.toUserId === toUserId && each.amountEtb === amount)
				.filter(({ leftAt, endedAt = 0 }) => leftAt < askedAt && endedAt > askedAt)
				.some((each) => !this.runs.some((other) => other !== run && this.denies(other, each)))
		);
	}

	/** Whether somebody said of it that it was not made, since its claim. */
	private wasDenied(sent: Sent): boolean {
		return this.runs.some(
			(run) =>
				this.denies(run, sent) &&
				run.before !== undefined &&
				lastActAt(run) >= sent.grounds.claimedAt,
		);
	}

	/** Whether somebody may not know how it ended. */
	private mayBeUnknown(run: RunRecord, key: string): boolean {
		if (this.allStruck() > 0 || this.wasStopped(key)) return true;
		if (run.plan.mode === 'retry') {
			// Without references, or when the node remembers no payments.
			if (run.plan.references === 'none' || run.before?.row.has('references') !== true) return true;
		}
		if (run.payees.some((each) => each.key === key) && this.hasOthers(key)) return true;
		if (this.mayRefuseToRead(run, key)) return true;
		if (
			run.plan.aim === 'settle' &&
			run.payees.some((each, item) => each.key === key && run.findings[item] === 'unclear') &&
			this.books.sent.some(({ reference }) => reference === key)
		)
			return true;
		if (this.wasFreed(key)) return true;
		if (this.onlyLooks(run) && this.overlaps(run, key)) return true;
		if ((this.toldPaid.get(key) ?? Infinity) < run.beganAt) return false;
		const { timeout } = this.plan;
		const began = new Map<string, number>();
		return this.books.sent.some((each) => {
			const chain = `${each.run} ${each.reference}`;
			const first = began.get(chain) ?? each.leftAt;
			began.set(chain, first);
			// Who waits for a run waits for the whole window that it sends at once.
			const isSlow = (each.endedAt ?? this.timeline.now) - first > 0.8 * timeout;
			if (isSlow) return true;
			return (
				each.reference === key &&
				(isUnclear(each.kind) || (each.endedAt !== undefined && !each.isAnswered))
			);
		});
	}

	/** A run that settles says nothing of what it refuses to read: without a reference, or one that looks like another's. */
	private mayRefuseToRead({ plan, payees }: RunRecord, key: string): boolean {
		const alike = payees.filter((each) => each.key.toLowerCase() === key.toLowerCase());
		return (
			plan.aim === 'settle' &&
			(plan.references === 'none' ||
				alike.length > 1 ||
				alike.some(({ variant }) => variant === 'noReference'))
		);
	}

	/** A dry run, or one that was refused, does not wait for who is sending a reference. */
	private onlyLooks({ plan, number }: RunRecord): boolean {
		const mayBeRefused = plan.checkBalance || plan.maxTotalEtb !== undefined;
		return (
			plan.aim === 'dryRun' || (mayBeRefused && this.books.sent.every(({ run }) => run !== number))
		);
	}

	/** Whether there was a reason not to pay it. */
	private mayBeNotPaid(run: RunRecord, payee: Payee, own: Sent[]): boolean {
		const { plan } = run;
		if (this.allStruck() > 0 || run.stoppedAt !== undefined) return true;
		if (plan.maxAmountEtb !== undefined || plan.maxTotalEtb !== undefined) return true;
		if (plan.checkBalance && (this.plan.balance < 1_000_000 || this.plan.balanceAnswers.length > 0))
			return true;
		if (plan.aim === 'settle' && (plan.references === 'none' || plan.mode !== 'manual'))
			return true;
		if (plan.mode === 'retry' || payee.variant !== 'same' || this.hasOthers(payee.key)) return true;
		if (this.refused(run).has(payee.key) || own.some(({ isPaid }) => !isPaid)) return true;
		const look = payee.key.toLowerCase();
		if (run.payees.filter(({ key }) => key.toLowerCase() === look).length > 1) return true;
		// A run that stops at the first failure does not attempt the rest.
		return plan.onError === 'stop' && this.stopsEarly(run);
	}

	private stopsEarly(run: RunRecord): boolean {
		return (
			run.plan.ifReferenceUsed === 'fail' ||
			this.refused(run).size > 0 ||
			this.books.sent.some((each) => each.run === run.number && !each.isPaid) ||
			this.books.sent.some((each) => each.run === run.number && isUnclear(each.kind)) ||
			run.payees.some(({ variant, key }) => variant !== 'same' || this.hasOthers(key)) ||
			new Set(run.payees.map(({ key }) => key.toLowerCase())).size < run.payees.length
		);
	}

	/** Connections that are refused do not reach the books. */
	private refused(run: RunRecord): Set<string> {
		return new Set(
			run.payees
				.filter(({ key }) => {
					const person = Number(/\d+$/.exec(key)?.[0] ?? 0);
					return this.plan.answers[person]?.includes('refused');
				})
				.map(({ key }) => key),
		);
	}

	/** Whether the reference was also meant for another person or amount. */
	private hasOthers(key: string): boolean {
		return this.runs.some(({ payees }) =>
			payees.some(
				(payee) =>
					payee.key === key && (payee.variant === 'otherAmount' || payee.variant === 'otherPerson'),
			),
		);
	}

	/** Whether a run with this reference was stopped. */
	private wasStopped(key: string): boolean {
		return this.runs.some(
			({ stoppedAt, payees }) =>
				stoppedAt !== undefined && payees.some((payee) => payee.key === key),
		);
	}

	/** Whether another run with the same reference has not ended, or did so while this one went on. */
	private overlaps(run: RunRecord, key: string): boolean {
		return this.runs.some(
			(other) =>
				other !== run &&
				other.payees.some((payee) => payee.key === key) &&
				(other.endedAt ?? Infinity) >= run.beganAt,
		);
	}

	private allStruck(): number {
		return this.struck + this.database.struck;
	}

	private rowOf(run: RunRecord): Set<string> {
		return new Set(this.database.rows.get(scopeOf(run)));
	}

	private count(name: string): void {
		this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
	}
}
