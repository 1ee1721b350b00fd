// The time of a call of the record with very many payments, in ms: medians, and the slowest of twenty. GATE_PAYMENTS: how many, usually a million.
// GATE_SCHEMA: another schema to compare with, without the pages of the desk.
import { z } from 'zod';
import { fillGate } from '../test/support/fill.mts';
import { claim, record, setRules, startGateServer, value } from '../test/support/server.mts';
import { paid, payments } from '../test/support/work.mts';

const PAYMENTS = Number(process.env.GATE_PAYMENTS ?? 1_000_000);
const EXACT = 200;

const server = await startGateServer();
try {
	const client = await (await server.gate()).connect('superuser');
	await setRules(client, 'main', {
		...{ most_per_payment: 1e9, most_per_day: 1e12, most_per_month: 1e12 },
		...{ most_per_recipient_per_day: 1e12, most_per_recipient_per_month: 1e12 },
	});
	const times = new Map<string, number[]>();
	async function timed<Value>(name: string, work: () => Promise<Value>): Promise<Value> {
		const start = performance.now();
		const result = await work();
		times.set(name, [...(times.get(name) ?? []), performance.now() - start]);
		return result;
	}
	let run = 0;
	async function pay(count: number): Promise<void> {
		const list = payments(`run ${++run}`, count);
		const window = await timed(`claim of ${count}`, async () => await claim(client, 'main', list));
		await timed(
			`record of ${count}`,
			async () => await record(client, 'main', window, paid(window)),
		);
	}
	for (let warm = 0; warm < 10; warm++) await pay(50);
	await fillGate(client, PAYMENTS);
	// References that begin alike.
	await client.query(`insert into etb_wallet.payment (budget, key, attempt, reference, to_user_id, amount_etb, state, requested_by, claimed_at, lease_until)
		select 'main', 'payroll-' || i, 1, 'payroll-' || i, 'svc', 1, 'paid', '', now(), now() from generate_series(1, 20000) i order by random()`);
	await client.query('vacuum analyze');
	times.clear();
	for (let again = 0; again < 20; again++) for (const count of [1, 50]) await pay(count);
	if (process.env.GATE_SCHEMA === undefined) {
		for (const page of ['open', 'spent', 'limits', 'callers', 'lately'])
			for (let again = 0; again < 20; again++)
				await timed(
					`page ${page}`,
					async () => await client.query(`select etb_wallet.desk_${page}('main')`),
				);
		const Found = z.object({ payments: z.array(z.object({ reference: z.string() })).nullable() });
		let right = 0;
		for (let index = 0; index < EXACT; index++) {
			const reference = `payroll-${1 + Math.floor(20_000 ** (index / EXACT))}`;
			const found = await timed(
				'find',
				async () =>
					await value(client, Found, "select etb_wallet.desk_find('main', $1)", [reference]),
			);
			if (found.payments?.[0]?.reference === reference) right++;
		}
		console.log(`Found ${right} of ${EXACT} exact references`);
		await timed(
			'set-up again',
			async () => await client.query(await (await import('../start/workflows.mts')).schemaText()),
		);
	}
	console.log(`${PAYMENTS} payments`);
	for (const [name, all] of times) {
		const sorted = all.toSorted((a, b) => a - b);
		const shown = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
		console.log(`${name}: ${shown.map((ms) => ms?.toFixed(1)).join(', at most ')} ms`);
	}
} finally {
	await server.stop();
}
