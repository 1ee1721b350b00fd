// `node bench/gate.mts`: what the pay gate's SQL costs for a window of 50, with 0 to 1,000,000 payments in its tables.
// SQL alone: no n8n, no service; commits do not wait for the disk. About 3 minutes.
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { claim, setRules, settle, startGateServer } from '../test/gate/gate.mts';
import { fillGate } from './gate-tables.mts';
import { load, machine } from './machine.mts';
import { ratios, shown, spread, table } from './statistics.mts';

const { values: flags } = parseArgs({
	options: {
		quick: { type: 'boolean', default: false },
		// Each lands in a place of its own of the index, of which PostgreSQL then logs whole pages: the worst case.
		'random-references': { type: 'boolean', default: false },
	},
});
const SIZES = flags.quick ? [0, 2_000, 10_000] : [0, 100_000, 1_000_000];
const ROUNDS = flags.quick ? 20 : 150;
const WARM_UP_ROUNDS = 10;
const WINDOW = 50;

let paid = 0;

/** Claims and settles one window; resolves to what each took, in ms. */
async function pay(
	client: pg.Client,
	round: number,
): Promise<{ claimMs: number; settleMs: number }> {
	const items = Array.from({ length: WINDOW }, (_, index) => ({
		reference: flags['random-references']
			? crypto.randomUUID()
			: `payroll-2026-11-${String(paid++).padStart(6, '0')}`,
		toUserId: `svc_${(round * WINDOW + index) % 50_000}`,
		amountEtb: 10 + index / 100,
		requestedBy: 'payroll',
	}));
	const begunAt = performance.now();
	const window = await claim(client, 'main', items);
	const claimedAt = performance.now();
	const answers = window.send.map(({ toUserId, reference }) => ({
		toUserId,
		outcome: 'paid',
		txHash: `0x${reference}`,
	}));
	const told = await settle(client, 'main', window, answers);
	const settledAt = performance.now();
	if (told.filter(({ outcome }) => outcome === 'paid').length !== WINDOW)
		throw new Error(`not all were paid: ${JSON.stringify(told[0])}`);
	return { claimMs: claimedAt - begunAt, settleMs: settledAt - claimedAt };
}

const loadBefore = load();
const server = await startGateServer();
try {
	const clients: pg.Client[] = [];
	for (const size of SIZES) {
		const database = await server.gate();
		const client = await database.connect('superuser');
		await setRules(client, 'main', {
			...{ most_per_day: 1e9, most_per_month: 1e9, most_per_payment: 1e6 },
			...{ most_per_recipient_per_day: 1e6, most_per_recipient_per_month: 1e6 },
		});
		// Its plans are made while the tables are empty, as those of a gate that grows.
		for (let round = 0; round < WARM_UP_ROUNDS; round++) await pay(client, round);
		await fillGate(client, size);
		clients.push(client);
	}
	for (let round = 0; round < WARM_UP_ROUNDS; round++)
		for (const client of clients) await pay(client, round);
	const perPayment = SIZES.map((): { claim: number[]; settle: number[]; both: number[] } => ({
		claim: [],
		settle: [],
		both: [],
	}));
	// The sizes alternate within each round, in another order each time, so that what slows the machine down slows all.
	for (let round = 0; round < ROUNDS; round++) {
		for (let turn = 0; turn < SIZES.length; turn++) {
			const index = (turn + round) % SIZES.length;
			const client = clients[index];
			const measured = perPayment[index];
			if (client === undefined || measured === undefined) throw new Error('no such size');
			const { claimMs, settleMs } = await pay(client, round);
			measured.claim.push(claimMs / WINDOW);
			measured.settle.push(settleMs / WINDOW);
			measured.both.push((claimMs + settleMs) / WINDOW);
		}
	}
	const [empty] = perPayment;
	console.log(
		`${machine()}; load before: ${loadBefore}. ms for one payment, in windows of ${WINDOW}, references ${flags['random-references'] ? 'at random' : 'that count up'}:\n`,
	);
	console.log(
		table(
			['payments in the table', 'claim', 'settle', 'both, median', 'both / both with none'],
			perPayment.map(({ claim: claims, settle: settles, both }, index) => [
				(SIZES[index] ?? 0).toLocaleString('en-US'),
				spread(claims).median.toFixed(3),
				spread(settles).median.toFixed(3),
				spread(both).median.toFixed(3),
				shown(ratios(both, empty?.both ?? [])),
			]),
		),
	);
	for (const client of clients) await client.end();
} finally {
	await server.stop();
}
