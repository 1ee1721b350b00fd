/** Backup and restore of the pay gate's record as docs/operating.md says, by the logins of the README; and what a restored record has forgotten. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import type pg from 'pg';
import { z } from 'zod';
import { projectFolder } from '../../../demo/folders.mts';
import { setUpGate, setUpGateDatabase } from '../../start/database.mts';
import { postgresPrograms } from '../../../test/support/backends.mts';
import {
	claim,
	logins,
	record,
	refused,
	rows,
	schemaText,
	startGateServer,
	type GateDatabase,
	type GateServer,
} from '../support/server.mts';
import { paid } from '../support/work.mts';

const run = promisify(execFile);
const LIMITS = { most_per_day: 1000, most_per_payment: 100 };

const folder = await mkdtemp(join(tmpdir(), 'etb-wallet-backup-'));
after(async () => await rm(folder, { recursive: true, force: true }));

/**
 * A server on which nothing of the gate is; it stops when the tests are over.
 * @param programs of another version of PostgreSQL
 */
async function newServer(programs = process.env.POSTGRES_PROGRAMS): Promise<GateServer> {
	const before = process.env.POSTGRES_PROGRAMS;
	if (programs !== undefined) process.env.POSTGRES_PROGRAMS = programs;
	const server = await startGateServer();
	if (before !== undefined) process.env.POSTGRES_PROGRAMS = before;
	else delete process.env.POSTGRES_PROGRAMS;
	after(async () => await server.stop());
	return server;
}

/** Runs the commands of a block of docs/operating.md, with these names in it. */
async function asDocumented(
	block: RegExp,
	names: Record<string, string>,
	{ host, port }: GateDatabase,
	user: string,
): Promise<void> {
	const text = await readFile(join(projectFolder, 'gate', 'docs', 'operating.md'), 'utf8');
	const [commands] = text.match(/(?<=```\n).*?(?=```)/gs)?.filter((each) => block.test(each)) ?? [];
	assert.ok(commands, `docs/operating.md has no such commands: ${block.source}`);
	const filled = Object.entries(names).reduce(
		(all, [name, own]) => all.replaceAll(name, own),
		commands,
	);
	const env = {
		...process.env,
		...{ PATH: `${await postgresPrograms()}:${process.env.PATH}` },
		...{ PGHOST: host, PGPORT: String(port), PGUSER: user },
	};
	await run('bash', ['-e', '-c', filled], { cwd: folder, env });
}

const tables = ['rules', 'payment', 'spent', 'history', 'version'];

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

/** A gate that the set-up workflow made for the login of the README, with payments in it, and its backup. */
const old = await newServer();
const database = await old.emptyDatabase();
await setUpGateDatabase(
	`postgres://${logins.setup}@${database.host}:${database.port}/${database.database}`,
	LIMITS,
	await schemaText(),
);
const gate = await database.connect(`pay_gate_${database.database}`);
await record(gate, 'main', await claim(gate, 'main', items), answers);
/** Letters and marks of Unicode 14 to 16, of which older servers make other keys, and some that all know. */
const newLetters = [
	...['a\u{1ccd6}', 'a\u{1ccf3}', 'a\ua7f2', 'a\u{10781}', 'a\u{1e030}', '\u0628\u0898\u0650'],
	...['ascii', '\u1230\u120b\u121d', 'caf\u00e9', '\uff21\uff22'],
].map((reference, index) => ({ reference, toUserId: `letter-${index}`, amountEtb: 1 }));
const lettered = await claim(gate, 'main', newLetters);
await record(gate, 'main', lettered, paid(lettered));
await asDocumented(
	/pg_dump/,
	{ YOUR_DATABASE: database.database },
	database,
	`pay_desk_${database.database}`,
);
const superuser = await database.connect('superuser');
const before = await all(superuser);
const since = [{ reference: 'payroll-2026-11-E-1042', toUserId: 'etbw_almaz', amountEtb: 95 }];
await record(gate, 'main', await claim(gate, 'main', since), [
	{ toUserId: 'etbw_almaz', outcome: 'paid', txHash: '0xa1b2' },
]);

test('what the login of the desk backs up, the administrator restores on another server: all of it, and nothing else', async () => {
	// On RESTORE_PROGRAMS, a newer server, and in a database of another name, so of other logins.
	const other = await (await newServer(process.env.RESTORE_PROGRAMS)).emptyDatabase('other_name');
	const person = await other.connect('setup');
	await setUpGate(person, LIMITS, await schemaText());
	await asDocumented(/pg_restore/, { NEW_DATABASE: other.database }, other, logins.setup);
	const [shown] = await setUpGate(person, LIMITS, await schemaText());
	// The number that is compared before anything is published.
	assert.equal(shown?.['Payments in the record'], before.payment?.length);
	const restored = await other.connect('superuser');
	const { version, ...restoredRows } = await all(restored);
	assert.equal(version?.length, 1);
	if (process.env.RESTORE_PROGRAMS === undefined)
		assert.deepEqual({ version, ...restoredRows }, before);
	else assert.deepEqual(restoredRows.spent, before.spent);
	const member =
		"select from pg_auth_members where roleid = 'etb_wallet_owner'::regrole and member = 'setup_person'::regrole";
	const isMember = `${member} and case when to_jsonb(pg_auth_members) ? 'set_option' then (to_jsonb(pg_auth_members) ->> 'set_option')::boolean else true end`;
	assert.deepEqual(await rows(restored, z.unknown(), isMember), []);

	const login = await other.connect(`pay_gate_${other.database}`);
	const told = (await claim(login, 'main', items)).items.map(({ outcome }) => outcome);
	assert.deepEqual(told, ['alreadyPaid', 'unknown', null]);
	const letters = (await claim(login, 'main', newLetters)).items.map(({ outcome }) => outcome);
	assert.deepEqual(
		letters,
		newLetters.map(() => 'alreadyPaid'),
	);
	await refused(login.query('select * from etb_wallet.payment'), /permission denied/);
	await refused(restored.query('delete from etb_wallet.payment'), /keeps every payment/);
	await refused(restored.query('delete from etb_wallet.history'), /is only added to/);

	// It forgot what was paid since. A person writes that down, and it is not sent.
	const desk = await other.connect(`pay_desk_${other.database}`);
	await desk.query('select etb_wallet.write_down_paid($1, $2, $3, $4)', [
		...['main', JSON.stringify(since.map((item) => ({ ...item, txHash: '0xa1b2' })))],
		...['Abebe', 'paid after the backup'],
	]);
	const [known] = (await claim(login, 'main', since)).items;
	assert.deepEqual([known?.outcome, known?.txHash], ['alreadyPaid', '0xa1b2']);
});

test('a gate that was restored before the set-up had made its roles is known as one, and nobody is told to forget it', async () => {
	const other = await (await newServer()).emptyDatabase();
	const programs = await postgresPrograms();
	const args = ['-h', other.host, '-p', String(other.port), '-U', logins.superuser];
	// It ends with errors: the roles are not there.
	await assert.rejects(
		run(join(programs, 'pg_restore'), [
			...args,
			'-d',
			other.database,
			join(folder, 'pay-gate.dump'),
		]),
	);
	// Also an administrator who has no right on it.
	for (const login of ['superuser', 'setup'] as const) {
		const person = await other.connect(login);
		await refused(
			person.query(await schemaText()),
			/^This is a pay gate that was restored before the set-up had made its roles\. Keep it/,
			/^Set the gate up in an empty database of this server, .* docs\/operating\.md, "Backup"/,
		);
	}
	const person = await other.connect('superuser');
	assert.deepEqual((await all(person)).payment?.length, before.payment?.length);
});
