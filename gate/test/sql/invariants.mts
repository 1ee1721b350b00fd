/** The invariants of a budget, judged by its history and its payments alone: no model, no knowledge of how the SQL works. */
import { z } from 'zod';
import type pg from 'pg';
import { rows } from '../support/server.mts';

/** The most that may be spent, in hundredths of ETB. */
export interface Limits {
	/** In the budget, in all. */
	budget?: number;
	/** For each person. */
	recipient?: number;
	/** For each caller. */
	callers?: Record<string, number>;
}

const line = z.object({
	id: z.coerce.number(),
	at: z.date(),
	event: z.string(),
	reference: z.string().nullable(),
	attempt: z.number().nullable(),
	to: z.string().nullable(),
	amount: z.coerce.number(),
	by: z.string().nullable(),
	claim: z.string().nullable(),
});
type Line = z.infer<typeof line>;

const paymentRow = line
	.pick({ to: true, amount: true, by: true, claim: true })
	.extend({ reference: z.string(), attempt: z.number(), state: z.string(), counts: z.boolean() });

/** The state of an attempt after an event; other events leave it as it was. */
const STATES: Record<string, string> = {
	send: 'sending',
	paid: 'paid',
	latePaid: 'paid',
	saidPaid: 'paid',
	saidPaidBefore: 'paid',
	notPaid: 'notPaid',
	saidNotPaid: 'notPaid',
	unknown: 'unknown',
	lateUnknown: 'unknown',
	leaseEnded: 'unknown',
};

/** Goes through the history of a budget whose limits never changed. @returns what is wrong, in words */
export async function faultsInHistory(
	client: pg.Client,
	budget: string,
	limits: Limits,
): Promise<string[]> {
	const history = await rows(
		client,
		line,
		`select id, at, event, reference, attempt, to_user_id as "to", coalesce(amount_etb, 0) * 100 as amount, requested_by as by, claim
		from etb_wallet.history where budget = $1 order by id`,
		[budget],
	);
	const payments = await rows(
		client,
		paymentRow,
		`select reference, attempt, state, to_user_id as "to", amount_etb * 100 as amount, requested_by as by, claim, spent_on is not null as counts
		from etb_wallet.payment where budget = $1`,
		[budget],
	);
	const faults: string[] = [];
	/** The attempts of each reference, by their numbers. */
	const attempts = new Map<string, Map<number, Line & { state: string }>>();
	const sums = new Map<string, number>();
	const scopesOf = ({ to, by }: Pick<Line, 'to' | 'by'>) => ['budget', `to ${to}`, `by ${by}`];
	const mostOf = (scope: string) =>
		scope === 'budget'
			? limits.budget
			: scope.startsWith('to ')
				? limits.recipient
				: limits.callers?.[scope.slice(3)];
	let before = new Date(0);
	for (const event of history) {
		const fault = (what: string) =>
			faults.push(`history ${event.id}: ${event.event} ${event.reference}: ${what}`);
		if (event.at < before) fault('is older than the one before');
		before = event.at;
		const state = STATES[event.event];
		if (state === undefined || event.reference === null) continue;
		const own = attempts.get(event.reference) ?? new Map<number, Line & { state: string }>();
		attempts.set(event.reference, own);
		const number = event.attempt ?? 0;
		const known = own.get(number);
		if (event.event === 'send') {
			if ([...own.values()].some((other) => other.state !== 'notPaid'))
				fault(`handed out while ${[...own.values()].map((other) => other.state).join()}`);
			if (number !== own.size + 1) fault(`attempt ${number} after ${own.size}`);
			if ([...own.values()].some(({ to, amount }) => to !== event.to || amount !== event.amount))
				fault('another person or amount');
		} else if (event.event !== 'saidPaidBefore') {
			// A second payment of one claim has an attempt of its own.
			const claims = [...own.values()].filter((other) => other.state === 'paid');
			const isSecond =
				event.event === 'latePaid' && claims.some(({ claim }) => claim === event.claim);
			if (known === undefined && !isSecond) fault('was never handed out');
			if (known?.state === 'paid') fault('was paid');
			if (known !== undefined && known.claim !== event.claim) fault('another claim');
		}
		own.set(number, { ...event, state });
		if (event.event === 'saidPaidBefore') continue;
		const sign =
			Number(state !== 'notPaid') - Number(known !== undefined && known.state !== 'notPaid');
		for (const scope of scopesOf(event)) {
			const sum = (sums.get(scope) ?? 0) + sign * event.amount;
			sums.set(scope, sum);
			const most = mostOf(scope);
			// A payment that was made is spent, with any limit: only handing out asks.
			if (event.event === 'send' && most !== undefined && sum > most)
				fault(`${scope}: ${sum} of ${most}`);
		}
	}
	const left = new Map<string, number>();
	for (const payment of payments) {
		const known = attempts.get(payment.reference)?.get(payment.attempt);
		if (known?.state !== payment.state || known.claim !== payment.claim)
			faults.push(`${payment.reference} is ${payment.state}; by its history ${known?.state}`);
		if (payment.state === 'notPaid' || !payment.counts) continue;
		for (const scope of scopesOf(payment)) left.set(scope, (left.get(scope) ?? 0) + payment.amount);
	}
	const count = [...attempts.values()].reduce((sum, own) => sum + own.size, 0);
	if (count !== payments.length)
		faults.push(`${payments.length} payments; by the history ${count}`);
	for (const scope of new Set([...sums.keys(), ...left.keys()]))
		if ((sums.get(scope) ?? 0) !== (left.get(scope) ?? 0))
			faults.push(
				`${scope}: ${left.get(scope)} spent by the payments, ${sums.get(scope)} by the history`,
			);
	return faults;
}
