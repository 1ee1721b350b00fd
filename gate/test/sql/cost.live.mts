/**
 * What a payment costs the database does not depend on how many there are, nor on how many are claimed at once: by what
 * PostgreSQL counts. How long it takes is in bench/. GATE_PAYMENTS: how many there are.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type pg from 'pg';
import { fillGate } from '../support/fill.mts';
import { setRules, startGateServer } from '../support/server.mts';
import { rowsOf, workOf, type Work } from '../support/work.mts';

const PAYMENTS = Number(process.env.GATE_PAYMENTS ?? 100_000);

const server = await startGateServer();
after(async () => await server.stop());

/** A budget with a limit of each kind. */
async function limited(client: pg.Client): Promise<void> {
	await setRules(client, 'main', {
		...{ most_per_payment: 1e9, most_per_day: 1e12, most_per_month: 1e12 },
		...{ most_per_recipient_per_day: 1e12, most_per_recipient_per_month: 1e12 },
	});
}

const ofTables = ({ lookups, read, written }: Work) => ({ lookups, read, written });

test(`a connection that began with empty tables reads and writes as many rows with ${PAYMENTS} payments as with none`, async (context) => {
	const database = await server.gate();
	const [client, other] = [
		await database.connect('superuser'),
		await database.connect('superuser'),
	];
	// A first payroll is over before PostgreSQL looks at the tables by itself.
	await other.query('alter system set autovacuum = off');
	await other.query('select pg_reload_conf()');
	await limited(client);
	// Plans are made, and kept.
	for (let warm = 0; warm < 10; warm++) await workOf(client, `warm ${warm}`, 50);
	const measure = async (when: string): Promise<Work> => {
		const work = await workOf(client, when, 50);
		context.diagnostic(`${when}: ${JSON.stringify(work)} for 50`);
		return work;
	};
	const none = await measure('empty');
	await fillGate(other, PAYMENTS);
	const unknown = await measure(`${PAYMENTS} payments of which PostgreSQL does not know`);
	await other.query('vacuum analyze');
	const many = await measure(`${PAYMENTS} payments`);
	for (const work of [unknown, many]) {
		assert.deepEqual(ofTables(work), ofTables(none));
		// The trees of the indexes are higher, by one or two pages for each row that is looked up or written.
		const most = none.pages + 2 * (none.lookups + none.written);
		assert.ok(work.pages <= most, `${none.pages} → ${work.pages}`);
	}
});

test('a payment of a call of 1,000 reads and writes no more rows than one of a call of 50', async (context) => {
	const database = await server.gate();
	const client = await database.connect('superuser');
	await limited(client);
	for (let warm = 0; warm < 10; warm++) await workOf(client, `warm ${warm}`, 50);
	const small = await workOf(client, 'small', 50);
	const large = await workOf(client, 'large', 1_000);
	context.diagnostic(`${JSON.stringify(small)} for 50, ${JSON.stringify(large)} for 1,000`);
	for (const count of ['lookups', 'read', 'written'] as const)
		assert.ok(large[count] <= 20 * small[count], count);
});

test('a payment of a claim of 1,000 goes through no more rows than one of a claim of 50, also of lists in memory', async (context) => {
	const database = await server.gate();
	const client = await database.connect('superuser');
	await limited(client);
	for (let warm = 0; warm < 10; warm++) await workOf(client, `warm ${warm}`, 50);
	const [small, large] = [await rowsOf(client, 'small', 50), await rowsOf(client, 'large', 1_000)];
	context.diagnostic(`${small} for 50, ${large} for 1,000`);
	assert.ok(small > 50, 'the rows of the functions are counted');
	assert.ok(large <= 20 * small);
});
