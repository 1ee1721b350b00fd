/** What a payment costs the pay gate's SQL, without n8n: by how many there are, and by how many are claimed in one call. */
import type pg from 'pg';
import { claim, record, setRules, type GateServer } from '../test/support/gate/server.mts';
import { paid, payments } from '../test/support/gate/work.mts';
import { fillGate } from '../test/support/gate/fill.mts';
import type { Section } from './section.mts';
import { digits, ratios, shown, spread, table } from './statistics.mts';

const SMALL = 50;
const LARGE = 1_000;
/** Claims of 50 in one measurement. */
const CALLS = LARGE / SMALL;

let lists = 0;

/** Claims and records as many payments, in as many calls; resolves to the time of one payment, in ms. */
async function timeOfOne(client: pg.Client, count: number, calls: number): Promise<number> {
	const start = performance.now();
	for (let call = 0; call < calls; call++) {
		const window = await claim(client, 'main', payments(`list ${++lists}`, count));
		await record(client, 'main', window, paid(window));
	}
	return (performance.now() - start) / (count * calls);
}

/** A connection to a gate of its own, which made its plans while the tables were empty, as that of a gate that grows. */
async function gateOf(server: GateServer, records: number): Promise<pg.Client> {
	const client = await (await server.gate()).connect('superuser');
	await setRules(client, 'main', {
		...{ most_per_day: 1e12, most_per_month: 1e12, most_per_payment: 1e9 },
		...{ most_per_recipient_per_day: 1e12, most_per_recipient_per_month: 1e12 },
	});
	await timeOfOne(client, SMALL, CALLS);
	await fillGate(client, records);
	await client.query('vacuum analyze');
	return client;
}

/** Claims and records, straight in PostgreSQL; all sizes alternate within each round. */
export async function measureCalls(
	server: GateServer,
	{ records, rounds }: { records: number[]; rounds: number },
): Promise<Pick<Section, 'text' | 'targets'>> {
	const sizes: Array<{ size: number; client: pg.Client; ms: number[]; large: number[] }> = [];
	for (const size of records)
		sizes.push({ size, client: await gateOf(server, size), ms: [], large: [] });
	for (let round = 0; round < rounds; round++) {
		for (let turn = 0; turn < sizes.length; turn++) {
			const own = sizes[(turn + round) % sizes.length];
			if (own === undefined) continue;
			own.ms.push(await timeOfOne(own.client, SMALL, CALLS));
			own.large.push(await timeOfOne(own.client, LARGE, 1));
		}
	}
	await Promise.all(sizes.map(async ({ client }) => await client.end()));
	const none = sizes[0]?.ms ?? [];
	const inOne = ratios(
		sizes.flatMap(({ large }) => large),
		sizes.flatMap(({ ms }) => ms),
	);
	return {
		text: [
			`Time of *claim* and *record* for one payment, in ms, without n8n: ${CALLS} calls of ${SMALL}, or one of ${digits(LARGE)}; ${rounds} rounds.`,
			table(
				['payments in its tables', `calls of ${SMALL}`, '× none', `one call of ${digits(LARGE)}`],
				sizes.map(({ size, ms, large }) => [
					...[digits(size), shown(spread(ms)), shown(ratios(ms, none)), shown(spread(large))],
				]),
			),
		].join('\n\n'),
		targets: [
			{
				wanted: `${digits(LARGE)} payments in one call take less than 2 × ${CALLS} calls of ${SMALL}`,
				measured: shown(inOne),
				met: inOne.median < 2,
			},
		],
	};
}
