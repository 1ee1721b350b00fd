/** The rules of the pay gate written once more, as plainly as possible: what each call must answer after those before it. */
import type { Answer, Item, Told } from './gate.mts';

/** What the rules can say; amounts in hundredths of ETB, undefined is no limit. */
export interface Rules {
	paused: boolean;
	onlyKnownRecipients: boolean;
	onlyKnownCallers: boolean;
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

export interface Payment {
	reference: string;
	toUserId: string;
	/** In hundredths of ETB. */
	amount: number;
	requestedBy: string;
	state: 'sending' | 'paid' | 'notPaid' | 'unknown';
	claim: string;
	attempt: number;
	/** In ms. */
	leaseUntil: number;
	spentOn: string;
	/** Whether its end was told, by an answer or by a person. */
	ended: boolean;
	settledByPerson: boolean;
	/** An answer said paid after the record said otherwise: its txHash. */
	late: string | null;
	txHash: string | null;
	confirmed: boolean;
}

/** What a call must say about an item: its decision or outcome, and what its reason must speak of. */
export interface Expected {
	says: NonNullable<Told['outcome']> | 'send';
	reason?: RegExp;
	txHash?: string | null;
}

/** In ms. */
export const LEASE_MS = 10 * 60_000;

/** What the node may say about a payment; anything else is unclear. */
const ENDS = ['paid', 'notPaid', 'unknown'] as const;

/** What the record's state is to somebody who did not end it. */
const toldOf = {
	sending: 'inFlight',
	paid: 'alreadyPaid',
	notPaid: 'notPaid',
	unknown: 'unknown',
} as const;

/** Those of a limit's scopes that a payment counts for. */
const scopesOf = (
	toUserId: string,
	requestedBy: string,
): [account: string, recipient: string, caller: string] => [
	'account',
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

export class GateModel {
	readonly payments = new Map<string, Payment>();
	readonly spent = new Map<string, number>();
	readonly recipients = new Set<string>();
	readonly callers = new Map<string, CallerRules>();
	private readonly confirmations = new Set<string>();
	rules: Rules = {
		paused: false,
		onlyKnownRecipients: false,
		onlyKnownCallers: false,
		timeZone: 'Africa/Addis_Ababa',
	};

	claim(claim: string, items: Item[], nowMs: number): Expected[] {
		return items.map((item) => this.decide(claim, item, nowMs));
	}

	private decide(claim: string, item: Item, nowMs: number): Expected {
		const refuse = (reason: RegExp): Expected => ({ says: 'notPaid', reason });
		if (JSON.stringify(item).includes('\\u0000')) return refuse(/cannot be read/);
		const reference = textOf(item.reference);
		const toUserId = textOf(item.toUserId);
		const requestedBy = textOf(item.requestedBy);
		const amount = amountOf(item.amountEtb);
		if (reference === '') return refuse(/no reference/);
		if (toUserId === '') return refuse(/no toUserId/);
		if (amount === undefined) return refuse(/not a plain amount/);
		const known = this.payments.get(reference);
		if (known !== undefined) {
			if (known.toUserId !== toUserId || known.amount !== amount)
				return refuse(/belongs to another payment/);
			if (known.claim === claim) return refuse(/twice/);
			if (known.state === 'paid') return { says: 'alreadyPaid', txHash: known.txHash };
			if (known.state === 'sending' && nowMs < known.leaseUntil) return { says: 'inFlight' };
			if (known.state === 'sending') known.state = 'unknown';
			if (known.state === 'unknown' || known.late !== null) return { says: 'unknown' };
		}
		const objection = this.objection(toUserId, requestedBy, amount, nowMs);
		if (objection !== undefined) return refuse(objection);
		const payment: Payment = {
			reference,
			toUserId,
			amount,
			requestedBy,
			state: 'sending',
			claim,
			attempt: (known?.attempt ?? 0) + 1,
			leaseUntil: nowMs + LEASE_MS,
			spentOn: dayOf(nowMs, this.rules.timeZone),
			ended: false,
			settledByPerson: false,
			late: null,
			txHash: null,
			confirmed: false,
		};
		this.payments.set(reference, payment);
		this.reserve(payment, 1);
		return { says: 'send' };
	}

	private objection(
		toUserId: string,
		requestedBy: string,
		amount: number,
		nowMs: number,
	): RegExp | undefined {
		const { rules } = this;
		const caller = this.callers.get(requestedBy);
		if (rules.paused) return /^Payments are paused/;
		if (rules.onlyKnownRecipients && !this.recipients.has(toUserId)) return /known recipients/;
		if (rules.onlyKnownCallers && caller === undefined) return /known callers/;
		if (caller?.paused === true) return /of the caller ".*" are paused/;
		const [account, recipient, by] = scopesOf(toUserId, requestedBy);
		const day = dayOf(nowMs, rules.timeZone);
		const month = day.slice(0, 7);
		const limits: Array<[most: number | undefined, spent: number, reason: RegExp]> = [
			[rules.mostPerPayment, 0, /for one payment, /],
			[caller?.mostPerPayment, 0, /for one payment of this caller/],
			[rules.mostPerRecipientPerDay, this.spentIn(recipient, day), /one recipient and day/],
			[rules.mostPerRecipientPerMonth, this.spentIn(recipient, month), /one recipient and month/],
			[caller?.mostPerDay, this.spentIn(by, day), /this caller and day/],
			[caller?.mostPerMonth, this.spentIn(by, month), /this caller and month/],
			[rules.mostPerDay, this.spentIn(account, day), /for one day/],
			[rules.mostPerMonth, this.spentIn(account, month), /for one month/],
		];
		return limits.find(([most, spent]) => most !== undefined && spent + amount > most)?.[2];
	}

	private spentIn(scope: string, period: string): number {
		return this.spent.get(`${scope} ${period}`) ?? 0;
	}

	private reserve(payment: Payment, sign: 1 | -1): void {
		for (const scope of scopesOf(payment.toUserId, payment.requestedBy)) {
			for (const period of [payment.spentOn, payment.spentOn.slice(0, 7)]) {
				const sum = this.spentIn(scope, period) + sign * payment.amount;
				this.spent.set(`${scope} ${period}`, sum);
			}
		}
	}

	/** @param told what `claim` gave for the window */
	settle(claim: string, told: Told[], answers: Answer[]): Expected[] {
		const toSend = told.filter(({ decision }) => decision === 'send');
		const isComplete = toSend.length === answers.length;
		const isRefusal = answers
			.map(({ error, ...answer }) => error ?? answer)
			.every(({ toUserId, outcome }) => toUserId === undefined && outcome === 'notPaid');
		return told.map((item): Expected => {
			const payment = this.payments.get(item.reference ?? '');
			if (item.decision === 'inFlight' && payment !== undefined) {
				return { says: toldOf[payment.state] };
			}
			if (item.decision !== 'send') return { says: item.decision };
			if (payment === undefined) throw new Error(`${item.reference} was handed out and is gone`);
			const given = answers[toSend.indexOf(item)];
			const answer = given?.error ?? given;
			const outcome = ENDS.find((end) => end === answer?.outcome);
			const isClear = isComplete && (isRefusal || answer?.toUserId === item.toUserId);
			return isClear && outcome !== undefined
				? this.end(payment, claim, outcome, answer?.txHash ?? null)
				: this.end(payment, claim, 'unknown', null);
		});
	}

	private end(
		payment: Payment,
		claim: string,
		outcome: 'paid' | 'notPaid' | 'unknown',
		txHash: string | null,
	): Expected {
		const isHeld = payment.claim === claim && !payment.settledByPerson;
		if (isHeld && payment.state === outcome) return { says: outcome };
		const mayEnd =
			payment.state === 'sending' ||
			(payment.state === 'unknown' && (outcome === 'paid' || !payment.ended));
		if (isHeld && mayEnd) {
			payment.state = outcome;
			payment.ended = true;
			payment.txHash = txHash;
			payment.confirmed = outcome === 'paid' && this.confirmations.has(txHash ?? '');
			if (outcome === 'notPaid') this.reserve(payment, -1);
			return { says: outcome, txHash };
		}
		// Too late: it changes nothing but what may be sent again.
		if (outcome === 'paid') {
			if (payment.state !== 'paid' || payment.claim !== claim) payment.late = txHash ?? 'paid';
			return { says: 'paid', txHash };
		}
		return { says: toldOf[payment.state] };
	}

	release(claim: string, told: Told[]): Expected[] {
		const answers = told
			.filter(({ decision }) => decision === 'send')
			.map(({ toUserId }): Answer => ({ toUserId, outcome: 'notPaid' }));
		return this.settle(claim, told, answers);
	}

	/** @returns the state, or undefined when the gate must refuse */
	resolve(reference: string, wasPaid: boolean, nowMs: number): 'paid' | 'notPaid' | undefined {
		const payment = this.payments.get(reference);
		if (payment === undefined) return undefined;
		const { state, late } = payment;
		const isLeased = nowMs < payment.leaseUntil;
		if (isLeased && (state === 'sending' || (state === 'unknown' && !wasPaid))) return undefined;
		if (state === 'paid' && !(wasPaid && late !== null)) return undefined;
		if (!wasPaid && (state === 'notPaid' || late !== null)) return undefined;
		const isReserved = state !== 'notPaid';
		if (wasPaid && !isReserved) this.reserve(payment, 1);
		if (!wasPaid && isReserved) this.reserve(payment, -1);
		payment.state = wasPaid ? 'paid' : 'notPaid';
		payment.settledByPerson = true;
		payment.ended = true;
		payment.txHash = wasPaid ? (payment.txHash ?? late) : null;
		payment.late = null;
		return payment.state;
	}

	/** @returns how many payments it confirms */
	confirm(txHash: string): number {
		this.confirmations.add(txHash);
		const found = [...this.payments.values()].filter(
			(payment) => payment.txHash === txHash && payment.state === 'paid' && !payment.confirmed,
		);
		for (const payment of found) payment.confirmed = true;
		return found.length;
	}
}
