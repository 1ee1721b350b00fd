/**
 * The cost of a payment for the database does not depend on how many there are, nor on how many are claimed at once: by what
 * PostgreSQL counts. How long it takes is in bench/. GATE_PAYMENTS: how many there are.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fillGate } from '../support/fill.mts';
import { setRules, startGateServer } from '../support/server.mts';
import { workOf } from '../support/work.mts';

const PAYMENTS = Number(process.env.GATE_PAYMENTS ?? 100_000);

const server = await startGateServer();
after(async () => await server.stop());

/** A connection that has paid so often that PostgreSQL keeps its plans, in a gate with a limit of each kind. */
async function warmConnection() {
	const database = await server.gate();
	const client = await database.connect('superuser');
	await setRules(client, 'main', {
		...{ most_per_payment: 1e9, most_per_day: 1e12, most_per_month: 1e12 },
		...{ most_per_recipient_per_day: 1e12, most_per_recipient_per_month: 1e12 },
	});
	for (let warm = 0; warm < 10; warm++) await workOf(client, `warm ${warm}`, 50);
	return { database, client };
}

test(`a connection that began with empty tables goes through as many rows with ${PAYMENTS} payments as with none`, async (context) => {
	const { database, client } = await warmConnection();
	const other = await database.connect('superuser');
	// A first payroll is over before PostgreSQL looks at the tables by itself.
	await other.query('alter system set autovacuum = off');
	await other.query('select pg_reload_conf()');
	const measure = async (when: string) => {
		const work = await workOf(client, when, 50);
		context.diagnostic(`${when}: ${JSON.stringify(work)} for 50`);
		return work;
	};
	const none = await measure('empty');
	await fillGate(other, PAYMENTS);
	const unknown = await measure(`${PAYMENTS} payments of which PostgreSQL does not know`);
	await other.query('vacuum analyze');
	const many = await measure(`${PAYMENTS} payments`);
	for (const { rows, pages } of [unknown, many]) {
		assert.ok(rows <= 1.05 * none.rows, `${none.rows} rows → ${rows}`);
		// The trees of the indexes are higher, by one or two pages for each row that is looked up or written.
		assert.ok(pages <= none.pages + 2 * none.rows, `${none.pages} pages → ${pages}`);
	}
});

test('a payment of a call of 1,000 goes through no more rows than one of a call of 50, also of lists in memory', async (context) => {
	const { client } = await warmConnection();
	const [small, large] = [await workOf(client, 'small', 50), await workOf(client, 'large', 1_000)];
	context.diagnostic(`${JSON.stringify(small)} for 50, ${JSON.stringify(large)} for 1,000`);
	assert.ok(small.rows > 50, 'the rows of the functions are counted');
	assert.ok(large.rows <= 20 * small.rows);
});
