/** The rules of the pay gate written once more, as plainly as possible: what each call must answer after those before it. */
import type { Answer, Item, Told } from '../support/server.mts';

/** What the rules can say; amounts in hundredths of ETB, undefined is no limit. */
export interface Rules {
	paused: boolean;
	mostPerPayment?: number;
	mostPerRecipientPerDay?: number;
	mostPerRecipientPerMonth?: number;
	mostPerDay?: number;
	mostPerMonth?: number;
	timeZone: string;
}

export interface CallerRules {
	paused: boolean;
	mostPerPayment?: number;
	mostPerDay?: number;
	mostPerMonth?: number;
}

/** One time that a payment was handed out, or written down as paid. */
export interface Attempt {
	reference: string;
	attempt: number;
	toUserId: string;
	/** In hundredths of ETB. */
	amount: number;
	requestedBy: string;
	state: 'sending' | 'paid' | 'notPaid' | 'unknown';
	surprise: 'paidTwice' | 'paidAfterAll' | null;
	claim: string | null;
	/** In ms. */
	leaseUntil: number;
	/** Null: it was paid without the gate. */
	spentOn: string | null;
	/** What was answered last. */
	answer: 'paid' | 'notPaid' | 'unknown' | null;
	settledByPerson: boolean;
	txHash: string | null;
}

/** What a call must say about an item, and what its message must speak of. No outcome: it is to be sent. */
export interface Expected {
	outcome: Told['outcome'];
	code?: string;
	message?: RegExp;
	txHash?: string | null;
}

/** In ms. */
export const LEASE_MS = 10 * 60_000;

/** What the node may say about a payment; anything else is unclear. */
const ENDS = ['paid', 'notPaid', 'unknown'] as const;

/** What the record's state is to somebody who did not end it. */
const toldOf: Record<Attempt['state'], Expected> = {
	sending: { outcome: 'unknown', code: 'inFlight' },
	paid: { outcome: 'alreadyPaid', code: 'paidBefore' },
	notPaid: { outcome: 'notPaid' },
	unknown: { outcome: 'unknown' },
};

/** The more of it, the more it says about the payment. */
const WEIGHT = { notPaid: 0, unknown: 1, sending: 2, paid: 3 };

/** Those of the lives have no more in common than this. */
export const keyOf = (reference: string): string => reference.toLowerCase().replaceAll(' ', '');

/** Those of a limit's scopes that a payment counts for. */
const scopesOf = (
	toUserId: string,
	requestedBy: string,
): [budget: string, recipient: string, caller: string] => [
	'budget',
	`recipient ${toUserId}`,
	`caller ${requestedBy}`,
];

/** Making one takes milliseconds. */
const calendars = new Map<string, Intl.DateTimeFormat>();

function dayOf(nowMs: number, timeZone: string): string {
	const calendar = calendars.get(timeZone) ?? new Intl.DateTimeFormat('en-CA', { timeZone });
	calendars.set(timeZone, calendar);
	return calendar.format(nowMs);
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

/** In hundredths of ETB; undefined is not a plain amount. */
const amountOf = (value: unknown): number | undefined =>
	/^\d+(\.\d+)?$/.test(String(value)) && Number(value) > 0
		? Math.round(Number(value) * 100)
		: undefined;

/** What an item asks for. */
type Read = Pick<Attempt, 'reference' | 'toUserId' | 'requestedBy' | 'amount'>;

export class GateModel {
	readonly attempts: Attempt[] = [];
	readonly spent = new Map<string, number>();
	readonly callers = new Map<string, CallerRules>();
	rules: Rules = {
		paused: false,
		timeZone: 'Africa/Addis_Ababa',
	};

	private of(reference: string): Attempt[] {
		return this.attempts.filter((each) => keyOf(each.reference) === keyOf(reference));
	}

	/** The attempt that says what the payment is. */
	private deciding(reference: string): Attempt | undefined {
		return this.of(reference).sort(
			(a, b) => WEIGHT[b.state] - WEIGHT[a.state] || b.attempt - a.attempt,
		)[0];
	}

	claim(claim: string, items: Item[], nowMs: number): Expected[] {
		return items.map((item) => {
			const read = this.read(item);
			if (read instanceof RegExp) return { outcome: 'notPaid', code: 'invalid', message: read };
			return this.decide(claim, read, nowMs);
		});
	}

	/** The fields of an item, or what the reason for refusing it must speak of. */
	private read(item: Item): Read | RegExp {
		const reference = textOf(item.reference);
		const toUserId = textOf(item.toUserId);
		const requestedBy = textOf(item.requestedBy);
		const amount = amountOf(item.amountEtb);
		if (reference === '') return /Reference is empty/;
		if (toUserId === '') return /no toUserId/;
		if (amount === undefined) return /not a plain amount/;
		if (/\.\d{3}/.test(String(item.amountEtb))) return /more than two decimals/;
		return { reference, toUserId, requestedBy, amount };
	}

	private decide(claim: string, read: Read, nowMs: number): Expected {
		const { reference, toUserId, requestedBy, amount } = read;
		const refuse = (code: string, message?: RegExp): Expected => ({
			...{ outcome: 'notPaid', code, message },
		});
		const known = this.deciding(reference);
		if (known !== undefined) {
			const isFree =
				known.state === 'notPaid' &&
				this.of(reference).every(({ settledByPerson }) => !settledByPerson);
			if (!isFree && (known.toUserId !== toUserId || known.amount !== amount))
				return refuse('otherPayment');
			if (known.claim === claim) return refuse('sameReference');
			if (known.state === 'paid') return { ...toldOf.paid, txHash: known.txHash };
			if (known.state === 'sending' && nowMs < known.leaseUntil) return toldOf.sending;
			if (known.state === 'sending') known.state = 'unknown';
			if (known.state === 'unknown') return { outcome: 'unknown', code: 'inDoubt' };
		}
		const objection = this.objection(toUserId, requestedBy, amount, nowMs);
		if (objection !== undefined) return refuse(...objection);
		this.add(read, {
			state: 'sending',
			claim,
			leaseUntil: nowMs + LEASE_MS,
			spentOn: dayOf(nowMs, this.rules.timeZone),
		});
		return { outcome: null };
	}

	private add(
		read: Read,
		rest: Pick<Attempt, 'state' | 'claim' | 'leaseUntil' | 'spentOn'> & Partial<Attempt>,
	): void {
		const attempt: Attempt = {
			...read,
			// It keeps what it had at first.
			reference: this.of(read.reference)[0]?.reference ?? read.reference,
			attempt: this.of(read.reference).length + 1,
			surprise: null,
			answer: null,
			settledByPerson: false,
			txHash: null,
			...rest,
		};
		this.attempts.push(attempt);
		this.reserve(attempt, 1);
	}

	private objection(
		toUserId: string,
		requestedBy: string,
		amount: number,
		nowMs: number,
	): [code: string, message: RegExp] | undefined {
		const { rules } = this;
		const caller = this.callers.get(requestedBy);
		if (rules.paused) return ['paused', /^Payments are paused/];
		if (caller?.paused === true) return ['paused', /of the caller ".*" are paused/];
		const [budget, recipient, by] = scopesOf(toUserId, requestedBy);
		const day = dayOf(nowMs, rules.timeZone);
		const month = day.slice(0, 7);
		const limits: Array<[most: number | undefined, spent: number, reason: RegExp]> = [
			[rules.mostPerPayment, 0, /for one payment, [\d.]+ ETB$/],
			[caller?.mostPerPayment, 0, /for one payment of this caller, [\d.]+ ETB$/],
			[rules.mostPerRecipientPerDay, this.spentIn(recipient, day), /one recipient and day/],
			[rules.mostPerRecipientPerMonth, this.spentIn(recipient, month), /one recipient and month/],
			[caller?.mostPerDay, this.spentIn(by, day), /this caller and day/],
			[caller?.mostPerMonth, this.spentIn(by, month), /this caller and month/],
			[rules.mostPerDay, this.spentIn(budget, day), /for one day/],
			[rules.mostPerMonth, this.spentIn(budget, month), /for one month/],
		];
		const found = limits.find(([most, spent]) => most !== undefined && spent + amount > most);
		return found && ['aboveLimit', found[2]];
	}

	private spentIn(scope: string, period: string): number {
		return this.spent.get(`${scope} ${period}`) ?? 0;
	}

	private reserve(payment: Attempt, sign: 1 | -1): void {
		if (payment.spentOn === null) return;
		for (const scope of scopesOf(payment.toUserId, payment.requestedBy)) {
			for (const period of [payment.spentOn, payment.spentOn.slice(0, 7)]) {
				const sum = this.spentIn(scope, period) + sign * payment.amount;
				this.spent.set(`${scope} ${period}`, sum);
			}
		}
	}

	/** @param told what `claim` gave for the window */
	record(claim: string, told: Told[], answers: Answer[]): Expected[] {
		const toSend = told.filter(({ outcome }) => outcome === null);
		const isComplete = toSend.length === answers.length;
		return told.map((item): Expected => {
			const reference = item.reference ?? '';
			if (item.code === 'inFlight') {
				const now = this.deciding(reference);
				if (now === undefined) throw new Error(`${reference} was in flight and is gone`);
				return toldOf[now.state];
			}
			if (item.outcome !== null) return { outcome: item.outcome };
			const own = this.of(reference).find((attempt) => attempt.claim === claim);
			if (own === undefined) throw new Error(`${reference} was handed out and is gone`);
			const given = answers[toSend.indexOf(item)];
			const answer = given?.error ?? given;
			const outcome = ENDS.find((end) => end === answer?.outcome);
			return isComplete && answer?.toUserId === item.toUserId && outcome !== undefined
				? this.end(own, outcome, answer?.txHash ?? null)
				: this.end(own, 'unknown', null);
		});
	}

	/** An answer about an attempt. */
	private end(own: Attempt, outcome: (typeof ENDS)[number], txHash: string | null): Expected {
		const { state, settledByPerson: isSettled, answer } = own;
		const isInTime =
			state === 'sending' ||
			(state === 'unknown' &&
				!isSettled &&
				(outcome === 'paid' || (outcome === 'notPaid' && answer === null)));
		// It was told to be not paid; now it is, or may be.
		const isNews =
			state === 'notPaid' &&
			outcome !== 'notPaid' &&
			!(outcome === 'unknown' && answer === 'unknown');
		if (isInTime || isNews) {
			const isPaidBefore = this.deciding(own.reference)?.state === 'paid';
			if (isNews) this.reserve(own, 1);
			else if (outcome === 'notPaid') this.reserve(own, -1);
			own.surprise = null;
			if (outcome === 'paid' && isPaidBefore) own.surprise = 'paidTwice';
			else if (outcome === 'paid' && isNews) own.surprise = 'paidAfterAll';
			own.state = outcome;
			own.settledByPerson = false;
			own.txHash = txHash;
			own.answer = outcome;
			return { outcome, txHash };
		}
		if (
			state === 'paid' &&
			outcome === 'paid' &&
			own.txHash !== null &&
			txHash !== null &&
			this.of(own.reference).every((each) => each.txHash !== txHash)
		) {
			// A second payment of one claim.
			const { claim, leaseUntil, spentOn } = own;
			this.add(own, {
				...{ state: 'paid', claim, leaseUntil, spentOn },
				...{ surprise: 'paidTwice', answer: 'paid', txHash },
			});
			return { outcome: 'paid', txHash };
		}
		if (state === 'paid' && outcome === 'paid') own.txHash ??= txHash;
		own.answer = outcome;
		const { state: now } = this.deciding(own.reference) ?? own;
		return outcome === 'paid' ? { outcome, txHash } : toldOf[now];
	}

	/** @returns the state, or undefined when the gate must refuse */
	settle(
		reference: string,
		attempt: number,
		wasPaid: boolean,
		nowMs: number,
	): 'paid' | 'notPaid' | undefined {
		const own = this.of(reference).find((each) => each.attempt === attempt);
		if (own === undefined) return undefined;
		const isLeased = nowMs < own.leaseUntil;
		if (own.state === 'paid') {
			if (!wasPaid || own.surprise === null) return undefined;
			own.surprise = null;
			return 'paid';
		}
		if (isLeased && (own.state === 'sending' || (own.state === 'unknown' && !wasPaid)))
			return undefined;
		const isLast = attempt === this.of(reference).length;
		if (own.state === 'notPaid' && !(wasPaid && isLast)) return undefined;
		const isReserved = own.state !== 'notPaid';
		if (wasPaid !== isReserved) this.reserve(own, wasPaid ? 1 : -1);
		own.state = wasPaid ? 'paid' : 'notPaid';
		own.settledByPerson = true;
		return own.state;
	}

	/** What was paid without the gate. */
	writeDownPaid(items: Item[], nowMs: number): Array<'written' | 'alreadyPaid' | 'refused'> {
		return items.map((item) => {
			const read = this.read(item);
			if (read instanceof RegExp) return 'refused';
			const known = this.deciding(read.reference);
			const isFree =
				known === undefined ||
				(known.state === 'notPaid' &&
					this.of(read.reference).every(({ settledByPerson }) => !settledByPerson));
			const isOther = known?.toUserId !== read.toUserId || known.amount !== read.amount;
			if (isFree && isOther) {
				this.add(read, {
					state: 'paid',
					claim: null,
					leaseUntil: nowMs,
					spentOn: null,
					settledByPerson: true,
				});
				return 'written';
			}
			if (known === undefined || isOther) return 'refused';
			if (known.state === 'paid') return 'alreadyPaid';
			return this.settle(known.reference, known.attempt, true, nowMs) === 'paid'
				? 'written'
				: 'refused';
		});
	}
}
