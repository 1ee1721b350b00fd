/**
 * Twenty connections race near every limit, with leases that run out, ends that are never told or told twice, and two people
 * who settle, often wrongly. What must hold is judged by the history and the payments alone. GATE_RACE_SECONDS: how long.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { z } from 'zod';
import { claim, record, rows, setRules, settle, startGateServer } from '../support/server.mts';
import { faultsInHistory } from './invariants.mts';

const SECONDS = Number(process.env.GATE_RACE_SECONDS ?? 20);
const CONNECTIONS = 20;
/** In ETB. Those of the people and of the callers together are above the day's, so that none hides the others. */
const MOST = {
	day: 9_000,
	recipient: 400,
	payment: 60,
	callers: { c0: 2_000, c1: 3_000, c2: 2_500 },
};

/** The calls that the database may refuse: a person settles what is being sent, or what another person just settled. */
const REFUSALS = /may still be sent|stays paid|known as not paid|was sent again since you looked/;

const server = await startGateServer();
after(async () => await server.stop());

const below = (count: number) => Math.floor(Math.random() * count);

const items = Array.from({ length: 500 }, (_, index) => ({
	reference: `r${index}`,
	toUserId: `u${index % 40}`,
	amountEtb: (index % 50) + 10.25 + (index % 7) / 100,
}));

/** Claims windows, and tells ends as they come to mind, until it is over. */
async function pay(client: pg.Client, until: number): Promise<number> {
	let handedOut = 0;
	while (Date.now() < until) {
		const list = items
			.toSorted(() => Math.random() - 0.5)
			.slice(0, 1 + below(60))
			.map((item) => ({ ...item, requestedBy: `c${below(4)}` }));
		const window = await claim(client, 'main', list);
		handedOut += window.send.length;
		// One in ten stands still beyond its lease.
		await sleep(below(10) === 0 ? 1_600 + below(800) : below(120));
		const answers = () =>
			window.send.map(({ toUserId, reference }) => {
				const outcome = ['paid', 'paid', 'notPaid', 'notPaid', 'notPaid', 'notPaid', 'unknown'][
					below(7)
				];
				const again = below(10) === 0 ? '-again' : '';
				return { toUserId, outcome, txHash: `0x${window.claim.slice(0, 8)}${reference}${again}` };
			});
		if (below(15) > 0) await record(client, 'main', window, answers());
		// Told twice, and not the same.
		if (below(20) === 0) await record(client, 'main', window, answers());
		// By somebody who invents a claim.
		if (below(20) === 0)
			await record(client, 'main', { ...window, claim: crypto.randomUUID() }, answers()).catch(
				(error: Error) => assert.match(error.message, /did not hand out the payment/),
			);
	}
	return handedOut;
}

const open = z.object({ reference: z.string(), attempt: z.number() });

/** Settles what is open, without asking anybody. */
async function settleAll(client: pg.Client, until: number): Promise<void> {
	while (Date.now() < until) {
		const sql =
			"select reference, attempt from etb_wallet.open_payments where state <> 'inFlight' limit 20";
		for (const { reference, attempt } of await rows(client, open, sql))
			await settle(client, 'main', reference, below(10) === 0, attempt).catch((error: Error) =>
				assert.match(error.message, REFUSALS),
			);
		await sleep(50);
	}
}

test(`twenty connections for ${SECONDS} s near every limit: the invariants hold`, async (context) => {
	const database = await server.gate();
	const superuser = await database.connect('superuser');
	await setRules(superuser, 'main', {
		...{ most_per_day: MOST.day, most_per_month: MOST.day, most_per_payment: MOST.payment },
		...{ most_per_recipient_per_day: MOST.recipient, most_per_recipient_per_month: MOST.recipient },
	});
	for (const [caller, most] of Object.entries(MOST.callers))
		await setRules(superuser, 'main', { most_per_day: most, most_per_month: most }, caller);
	// Shorter than a person can set it.
	await superuser.query("update etb_wallet.rules set lease = '1.5 seconds'");
	const until = Date.now() + SECONDS * 1_000;
	const clients = await Promise.all(
		Array.from({ length: CONNECTIONS }, async () => await database.connect('gate')),
	);
	const desks = [await database.connect('desk'), await database.connect('desk')];
	const [handedOut] = await Promise.all([
		Promise.all(clients.map(async (client) => await pay(client, until))),
		...desks.map(async (client) => await settleAll(client, until)),
	]);
	const hundredths = (etb: number) => etb * 100;
	const faults = await faultsInHistory(superuser, 'main', {
		budget: hundredths(MOST.day),
		recipient: hundredths(MOST.recipient),
		callers: Object.fromEntries(
			Object.entries(MOST.callers).map(([name, most]) => [name, hundredths(most)]),
		),
	});
	assert.deepEqual(faults.slice(0, 10), []);
	const events = await rows(
		superuser,
		z.object({ event: z.string(), count: z.coerce.number() }),
		'select event, count(*) from etb_wallet.history group by 1 order by 1',
	);
	const counts = Object.fromEntries(events.map(({ event, count }) => [event, count]));
	context.diagnostic(
		`${handedOut.reduce((sum, count) => sum + count)} handed out; ${JSON.stringify(counts)}`,
	);
	// A race in which nothing of it happened shows nothing.
	for (const event of ['send', 'refused', 'paid', 'notPaid', 'unknown', 'leaseEnded'])
		assert.ok((counts[event] ?? 0) > 0, event);
});
