/** From an installed version to the next: nothing is lost, and what comes out is what a fresh set-up makes. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import type pg from 'pg';
import { z } from 'zod';
import { projectFolder } from '../../../../lab/n8n/folders.mts';
import { postgresPrograms } from '../../../../lab/services.mts';
import {
	claim,
	outcomes,
	logins,
	record,
	rows,
	schemaText,
	settle,
	startGateServer,
	value,
	type GateDatabase,
} from '../../../../lab/gate/server.mts';

const run = promisify(execFile);
const fixtures = join(projectFolder, 'test', 'live', 'gate', 'fixtures');

const server = await startGateServer();
after(async () => await server.stop());
// Roles are of the server, and in no dump of a database.
await server.gate();
const schema = await schemaText();
/** The newest version that there is, and one after it. */
const newest = Number(/c_version constant integer := (\d+);/.exec(schema)?.[1]);
const next = newest + 1;

/** The SQL with one place of it changed. */
function changed(sql: string, finds: string, puts: string): string {
	assert.equal(sql.split(finds).length, 2, `the SQL has this once: ${finds}`);
	return sql.replace(finds, () => puts);
}

/** A version that nobody made yet: a column more, a parameter of claim more, a column in the middle of a view more. */
function madeUp(): string {
	const edits: Array<[finds: string, puts: string]> = [
		[`c_version constant integer := ${newest};`, `c_version constant integer := ${next};`],
		[
			`    insert into etb_wallet.version (version, release) values (${newest}, `,
			`    insert into etb_wallet.version (version, release) values (${newest}, '0.1.0');
  end if;
  if v_found < ${next} then
    alter table etb_wallet.payment add column made_up text not null default 'as before';
    comment on column etb_wallet.payment.made_up is 'Made up for a test';
    insert into etb_wallet.version (version, release) values (${next}, '9.9.0'); --`,
		],
		[
			'out items jsonb, out send jsonb, out claim uuid, out not_after text\n',
			'out items jsonb, out send jsonb, out claim uuid, out not_after text, out made_up text\n',
		],
		[`p_version integer default ${newest}`, `p_version integer default ${next}`],
		['not_after := v_not_after;\n', "not_after := v_not_after; made_up := 'new';\n"],
		[
			'select p.budget, p.reference, p.attempt, p.to_user_id, p.amount_etb,\n',
			'select p.budget, p.reference, p.attempt, p.made_up, p.to_user_id, p.amount_etb,\n',
		],
	];
	return edits.reduce((sql, [finds, puts]) => changed(sql, finds, puts), schema);
}

const target = ({ host, port, database }: GateDatabase) => [
	...['-h', host, '-p', String(port), '-U', logins.superuser, '-d', database],
];

/** A database with what a version left there. */
async function installed(version: number): Promise<{ database: GateDatabase; client: pg.Client }> {
	const database = await server.emptyDatabase();
	const psql = join(await postgresPrograms(), 'psql');
	const file = join(fixtures, `version-${version}.sql`);
	await run(psql, [...target(database), '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', file]);
	return { database, client: await database.connect('superuser') };
}

/** All that is in the schema, without rows, as pg_dump writes it, line by line. */
async function dump(database: GateDatabase): Promise<string[]> {
	const program = join(await postgresPrograms(), 'pg_dump');
	const args = [...target(database), '--schema-only', '--schema=etb_wallet'];
	const { stdout } = await run(program, args, { maxBuffer: 1024 ** 3 });
	return stdout.replaceAll(/^\\(un)?restrict .*$/gm, '').split('\n');
}

const TABLES = ['rules', 'recipient', 'caller', 'payment', 'spent', 'confirmation', 'history'];

/** @throws an Error with the lines that differ */
function same(one: string[], other: string[]): void {
	const differ = one.flatMap((line, index) => (line === other[index] ? [] : [line, other[index]]));
	assert.deepEqual(differ.slice(0, 4), []);
	assert.equal(one.length, other.length);
}

type Content = Record<string, Array<{ row: Record<string, unknown> }>>;

/** All rows of each table. */
async function content(client: pg.Client): Promise<Content> {
	const found: Content = {};
	for (const table of TABLES) {
		const sql = `select to_jsonb(t) as row from etb_wallet.${table} t order by t::text`;
		found[table] = await rows(client, z.object({ row: z.record(z.unknown()) }), sql);
		assert.notDeepEqual(found[table], [], `${table} is empty in the fixture`);
	}
	return found;
}

/** What was there is there, in the columns that it had. Only sums of a new period may be added. */
function nothingLost(before: Content, now: Content): void {
	for (const [table, were] of Object.entries(before)) {
		const columns = Object.keys(were[0]?.row ?? {});
		const asBefore = (all: Content[string]) =>
			all.map(({ row }) => JSON.stringify(columns.map((column) => row[column])));
		const periods = new Set(were.map(({ row }) => row.period));
		const known = (now[table] ?? []).filter(({ row }) => periods.has(row.period));
		assert.deepEqual(asBefore(known).sort(), asBefore(were).sort(), table);
	}
}

test('each version of the tables is kept as a fixture, with payments in all states', async () => {
	const files = (await readdir(fixtures)).filter((name) => name.endsWith('.sql'));
	const wanted = Array.from({ length: newest }, (_, index) => `version-${index + 1}.sql`);
	assert.deepEqual(files.sort(), wanted);
	const { client } = await installed(newest);
	const sql =
		'select distinct coalesce(surprise, state) as state from etb_wallet.payment order by 1';
	assert.deepEqual(
		(await rows(client, z.object({ state: z.string() }), sql)).map(({ state }) => state),
		['notPaid', 'paid', 'paidAfterAll', 'paidTwice', 'sending', 'unknown'],
	);
});

for (const to of ['this version', 'a made-up next one'] as const) {
	test(`from version 1 to ${to}: what a fresh set-up makes, and nothing is lost`, async () => {
		const sql = to === 'this version' ? schema : madeUp();
		const { database, client } = await installed(1);
		const before = await content(client);
		const person = await database.connect('superuser');
		await person.query(sql);
		nothingLost(before, await content(client));

		const fresh = await server.emptyDatabase();
		const other = await fresh.connect('superuser');
		await other.query(sql);
		same(await dump(database), await dump(fresh));
		// And once more: nothing changes.
		await person.query(sql);
		nothingLost(before, await content(client));
		same(await dump(database), await dump(fresh));
	});
}

test('what was handed out before the upgrade ends after it; the old workflow pays nobody, and says what to import', async () => {
	const { client } = await installed(1);
	const items = ['a', 'b'].map((reference) => ({ reference, toUserId: 'u', amountEtb: 1 }));
	const window = await claim(client, 'main', items);
	await client.query(madeUp());
	const told = await record(client, 'main', window, [
		{ toUserId: 'u', outcome: 'paid', txHash: '0xa' },
		{ toUserId: 'u', outcome: 'notPaid' },
	]);
	assert.deepEqual(outcomes(told), ['paid', 'notPaid']);
	assert.equal(await settle(client, 'main', 'unknown', true), 'paid');
	const old = client.query('select * from etb_wallet.claim($1, $2, $3, $4, 1)', [
		...['main', JSON.stringify(items), 'w/1', new Date().toISOString()],
	]);
	await assert.rejects(old, (error: pg.DatabaseError) => {
		assert.match(
			error.message,
			new RegExp(`needs version 1 of the pay gate, and this database has version ${next}`),
		);
		assert.match(error.hint ?? '', /Import pay-gate\.json of release 9\.9\.0/);
		return true;
	});
	const made = "select made_up from etb_wallet.claim('main', '[]')";
	assert.equal(await value(client, z.string(), made), 'new');
	const seen = "select made_up from etb_wallet.payments where reference = 'a'";
	assert.equal(await value(client, z.string(), seen), 'as before');
});

test("a view of the user's own that the upgrade would break is named, and all stays as it is", async () => {
	const { database, client } = await installed(1);
	await client.query('create view public.my_report as select * from etb_wallet.payments');
	const before = await dump(database);
	await assert.rejects(
		client.query(madeUp()),
		/Something of your own uses .*: view public\.my_report/s,
	);
	same(await dump(database), before);
});
