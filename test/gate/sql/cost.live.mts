/** What a payment costs the database does not depend on how many there are, nor on how many are claimed at once. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type pg from 'pg';
import { z } from 'zod';
import { fillGate } from '../../../bench/gate-tables.mts';
import { claim, record, setRules, startGateServer, type GateServer } from '../gate.mts';

let server: GateServer;
before(async () => {
	server = await startGateServer();
});
after(async () => await server.stop());

const LIMITS = {
	most_per_day: 1e12,
	most_per_month: 1e12,
	most_per_recipient_per_day: 1e12,
	most_per_recipient_per_month: 1e12,
};

const plan = z.array(
	z.object({
		'QUERY PLAN': z.array(
			z.object({
				Plan: z.object({ 'Shared Hit Blocks': z.number(), 'Shared Read Blocks': z.number() }),
			}),
		),
	}),
);

/** How many pages of the database a claim of ten payments touches. */
async function pagesOfClaim(client: pg.Client, name: string): Promise<number> {
	const list = Array.from({ length: 10 }, (_, index) => ({
		...{ reference: `${name}-${index}`, toUserId: `svc_${index}`, amountEtb: 1 },
	}));
	const { rows } = await client.query(
		"explain (analyze, buffers, format json) select * from etb_wallet.claim('main', $1)",
		[JSON.stringify(list)],
	);
	const read = plan.parse(rows)[0]?.['QUERY PLAN'][0]?.Plan;
	assert.ok(read !== undefined);
	return read['Shared Hit Blocks'] + read['Shared Read Blocks'];
}

test('a claim of a connection that began with empty tables touches few pages more with 100,000 payments', async (context) => {
	const database = await server.gate();
	const [client, other] = [
		await database.connect('superuser'),
		await database.connect('superuser'),
	];
	await setRules(client, 'main', LIMITS);
	// Plans are made, and kept.
	for (let warm = 0; warm < 10; warm++) await pagesOfClaim(client, `warm${warm}`);
	const empty = await pagesOfClaim(client, 'empty');
	await fillGate(other, 100_000);
	await pagesOfClaim(client, 'first');
	const full = await pagesOfClaim(client, 'full');
	context.diagnostic(`${empty} pages when empty, ${full} with 100,000 payments`);
	// Each of its B-trees is one or two levels higher. A plan that reads a table would touch thousands.
	assert.ok(full < empty * 2, `${empty} → ${full}`);
	await Promise.all([client.end(), other.end()]);
});

test('1,000 payments in one call take less than twice 20 calls of 50', async (context) => {
	const database = await server.gate();
	const client = await database.connect('superuser');
	await setRules(client, 'main', LIMITS);
	const pay = async (name: string, count: number): Promise<void> => {
		const list = Array.from({ length: count }, (_, index) => ({
			...{ reference: `${name}-${index}`, toUserId: `u${index}`, amountEtb: 1 },
		}));
		const window = await claim(client, 'main', list);
		const answers = window.send.map(({ toUserId }) => ({ toUserId, outcome: 'notPaid' }));
		await record(client, 'main', window, answers);
	};
	for (let warm = 0; warm < 5; warm++) await pay(`warm${warm}`, 50);
	const timed = async (work: () => Promise<void>) => {
		const start = performance.now();
		await work();
		return performance.now() - start;
	};
	const ratios: number[] = [];
	for (let round = 0; round < 7; round++) {
		const small = await timed(async () => {
			for (let call = 0; call < 20; call++) await pay(`${round}-${call}`, 50);
		});
		ratios.push((await timed(async () => await pay(`${round}`, 1_000))) / small);
	}
	const [median = NaN] = ratios.toSorted((a, b) => a - b).slice(3);
	context.diagnostic(`${ratios.map((ratio) => ratio.toFixed(2)).join(', ')}`);
	// (The median of seven: what else the machine does is in both.)
	assert.ok(median < 2, `${median}`);
	await client.end();
});
