/** Backup and restore of the pay gate's record with PostgreSQL's own programs, and what a restored record has forgotten. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import type pg from 'pg';
import { z } from 'zod';
import { projectFolder } from '../../../../lab/n8n/folders.mts';
import { postgresPrograms } from '../../../../lab/services.mts';
import {
	claim,
	logins,
	settle,
	rows,
	setRules,
	record,
	startGateServer,
	type Login,
} from '../../../../lab/gate/server.mts';

const run = promisify(execFile);

const server = await startGateServer();
const folder = await mkdtemp(join(tmpdir(), 'etb-wallet-backup-'));
after(async () => {
	await server.stop();
	await rm(folder, { recursive: true, force: true });
});

const program = async (name: string, login: Login, ...args: string[]) =>
	await run(join(await postgresPrograms(), name), [
		...['-h', server.host, '-p', String(server.port), '-U', logins[login]],
		...args,
	]);

/** Keeps the gate of a database in a file, as the document says. */
const dump = async (database: string, file: string) =>
	await program('pg_dump', 'superuser', '-Fc', '--schema=etb_wallet', `--file=${file}`, database);

const tables = 'rules caller payment spent history version'.split(' ');

/** All rows of all tables. */
async function all(client: pg.Client): Promise<Record<string, unknown[]>> {
	const found: Record<string, unknown[]> = {};
	for (const table of tables) {
		const sql = `select t::text from etb_wallet.${table} t order by 1`;
		found[table] = await rows(client, z.unknown(), sql);
	}
	return found;
}

const items = ['b-1', 'b-2', 'b-3'].map((reference) => ({
	reference,
	toUserId: `user-${reference}`,
	amountEtb: 10,
}));
const answers = [
	{ toUserId: 'user-b-1', outcome: 'paid', txHash: '0x1' },
	{ toUserId: 'user-b-2', outcome: 'unknown' },
	{ toUserId: 'user-b-3', outcome: 'notPaid' },
];

async function withPayments() {
	const database = await server.gate();
	const [superuser, gate] = [await database.connect('superuser'), await database.connect('gate')];
	await setRules(superuser, 'main', { most_per_day: 1000 });
	await record(gate, 'main', await claim(gate, 'main', items), answers);
	return { database, superuser, gate };
}

for (const who of ['superuser', 'setup'] as const) {
	test(`what pg_dump keeps, pg_restore brings back: every row, every rule, every right (${who})`, async () => {
		const { database, superuser } = await withPayments();
		await superuser.query(`grant etb_wallet_owner to ${logins.setup}`);
		const file = join(folder, 'pay-gate.dump');
		await dump(database.database, file);
		const before = await all(superuser);
		assert.ok(tables.filter((table) => before[table]?.length).length >= 5);

		const other = await server.emptyDatabase();
		await program('pg_restore', who, '--exit-on-error', `--dbname=${other.database}`, file);
		const restored = await other.connect('superuser');
		assert.deepEqual(await all(restored), before);
		const login = await other.connect('gate');
		const told = (await claim(login, 'main', items)).items.map(({ outcome }) => outcome);
		assert.deepEqual(told, ['alreadyPaid', 'unknown', null]);
		await assert.rejects(login.query('select * from etb_wallet.payment'), /permission denied/);
		await assert.rejects(restored.query('delete from etb_wallet.payment'), /keeps every payment/);
		await assert.rejects(restored.query('delete from etb_wallet.history'), /is only added to/);
		// The set-up finds it up to date.
		await restored.query(await readFile(join(projectFolder, 'gate', 'schema.sql'), 'utf8'));
		assert.equal(await settle(restored, 'main', 'b-2', true), 'paid');
	});
}

test('an old backup forgets; a person writes down what was paid since, and it is not sent', async () => {
	const { database, gate } = await withPayments();
	const file = join(folder, 'old.dump');
	await dump(database.database, file);
	const since = [{ reference: 'payroll-2026-11-E-1042', toUserId: 'etbw_almaz', amountEtb: 950 }];
	await record(gate, 'main', await claim(gate, 'main', since), [
		{ toUserId: 'etbw_almaz', outcome: 'paid', txHash: '0xa1b2' },
	]);

	const other = await server.emptyDatabase();
	await program('pg_restore', 'superuser', '--exit-on-error', `--dbname=${other.database}`, file);
	const login = await other.connect('gate');
	const desk = await other.connect('desk');
	await desk.query('select etb_wallet.write_down_paid($1, $2, $3, $4)', [
		...['main', JSON.stringify(since.map((item) => ({ ...item, txHash: '0xa1b2' })))],
		...['Abebe', 'paid after the backup'],
	]);
	const [told] = (await claim(login, 'main', since)).items;
	assert.deepEqual([told?.outcome, told?.txHash], ['alreadyPaid', '0xa1b2']);
});
