/** Setting the pay gate up: by psql or in one query, by a role that is no superuser, again, and over what is there. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import pg from 'pg';
import { z } from 'zod';
import { setUpGateDatabase } from '../../../../lab/n8n/gate-database.mts';
import { postgresPrograms } from '../../../../lab/services.mts';
import {
	claim,
	logins,
	rows,
	schemaFile,
	setRules,
	startGateServer,
	value,
	type GateDatabase,
	type Login,
} from '../../../../lab/gate/server.mts';

const run = promisify(execFile);
const server = await startGateServer();
after(async () => await server.stop());
const schema = await readFile(schemaFile, 'utf8');
/** The version of the tables that it makes. */
const newest = Number(/c_version constant integer := (\d+);/.exec(schema)?.[1]);

const target = ({ host, port, database }: GateDatabase, login: Login) => [
	...['-h', host, '-p', String(port)],
	...['-U', logins[login], '-d', database],
];

/** Runs the file as a person does. */
async function psqlFile(database: GateDatabase, login: Login): Promise<string> {
	const psql = join(await postgresPrograms(), 'psql');
	const { stdout, stderr } = await run(psql, [...target(database, login), '-X', '-f', schemaFile]);
	return stdout + stderr;
}

/** Everything that is in the database, as pg_dump writes it. */
async function dump(database: GateDatabase): Promise<string> {
	const programs = await postgresPrograms();
	const { stdout } = await run(join(programs, 'pg_dump'), target(database, 'superuser'), {
		maxBuffer: 1024 ** 3,
	});
	// Newer versions put a random key around each dump.
	return stdout.replace(/^\\(un)?restrict .*$/gm, '');
}

const ways: Array<[string, (database: GateDatabase, login: Login) => Promise<void>]> = [
	[
		'psql -f',
		async (database, login) => {
			assert.equal(await psqlFile(database, login), 'DO\n');
		},
	],
	[
		'one query',
		async (database, login) => {
			const client = await database.connect(login);
			await client.query(schema);
		},
	],
];

// (From PostgreSQL 16 on, roles are managed by who made them, or by a superuser.)
for (const login of ['setup', 'superuser'] as const) {
	for (const [way, setUp] of ways) {
		test(`set up by ${way} as ${login}, and again without a change`, async () => {
			const database = await server.emptyDatabase();
			await setUp(database, login);
			const desk = await database.connect('superuser');
			await setRules(desk, 'main', {});
			const { send } = await claim(desk, 'main', [{ reference: 'r', toUserId: 'u', amountEtb: 1 }]);
			assert.equal(send.length, 1);
			const before = await dump(database);
			assert.match(before, /CREATE FUNCTION etb_wallet\.claim/);
			await setUp(database, login);
			assert.equal(await dump(database), before);
			await desk.end();
		});
	}
}

test('npm start sets up a database that GATE_DATABASE_URL names, once', async () => {
	const database = await server.emptyDatabase();
	const { host, port } = database;
	const url = `postgres://${logins.superuser}@${host}:${port}/${database.database}`;
	const limits = { most_per_day: 1000, most_per_payment: 100 };
	const credentials = await setUpGateDatabase(url, limits);
	assert.deepEqual(Object.keys(credentials), ['Pay gate', 'Pay gate desk']);
	for (const { user, password } of Object.values(credentials)) {
		const client = new pg.Client({ host, port, database: database.database, user, password });
		await client.connect();
		await client.end();
	}
	const superuser = await database.connect('superuser');
	assert.deepEqual(
		await rows(
			superuser,
			z.unknown(),
			'select budget, most_per_day::int, most_per_payment::int from etb_wallet.rules',
		),
		[{ budget: 'main', ...limits }],
	);
	await assert.rejects(
		setUpGateDatabase(url, limits),
		/has the logins pay_gate_gate_\d+ and pay_desk_gate_\d+ already/,
	);
});

test('two who set up at once take turns', async () => {
	const database = await server.emptyDatabase();
	await Promise.all(Array.from({ length: 4 }, async () => await psqlFile(database, 'setup')));
	const client = await database.connect('superuser');
	assert.equal(
		await value(client, z.number(), 'select max(version) from etb_wallet.version'),
		newest,
	);
});

test('who is in the way of a set-up is named', async () => {
	const database = await server.emptyDatabase();
	const [person, other] = [await database.connect('setup'), await database.connect('superuser')];
	await other.query("select pg_advisory_lock(hashtext('etb_wallet: setting up'))");
	const pid = await value(other, z.number(), 'select pg_backend_pid()');
	await assert.rejects(
		person.query(schema),
		new RegExp(
			`The set-up waited 30 seconds for another connection: ${pid} \\(login ${logins.superuser}\\)$`,
		),
	);
	await other.end();
	await person.query(schema);
});

test('what it cannot update is refused, and left as it is', async () => {
	// Whatever is in it: it could run with the rights of who sets up.
	for (const inIt of ['', 'create table etb_wallet.version (version integer)']) {
		const foreign = await server.emptyDatabase();
		const person = await foreign.connect('setup');
		await person.query(`create schema etb_wallet; ${inIt}`);
		const message = /There is a schema etb_wallet that this file did not make/;
		await assert.rejects(person.query(schema), message);
	}

	const database = await server.gate();
	const superuser = await database.connect('superuser');
	await superuser.query(`insert into etb_wallet.version values (${newest + 1}, '0.9.0')`);
	const before = await dump(database);
	await assert.rejects(
		superuser.query(schema),
		new RegExp(`version ${newest + 1} of the pay gate, and this file is version ${newest}`),
	);
	assert.equal(await dump(database), before);
	// And a workflow of this version says what to import, instead of paying.
	await setRules(superuser, 'main', {});
	await assert.rejects(claim(superuser, 'main', []), (error: pg.DatabaseError) => {
		assert.match(
			error.message,
			new RegExp(
				`The workflow needs version ${newest} of the pay gate, and this database has version ${newest + 1}`,
			),
		);
		assert.match(error.hint ?? '', /Import pay-gate.json of release 0\.9\.0/);
		return true;
	});
});

test('a role that may not make roles is told so, and nothing is left behind', async () => {
	const database = await server.emptyDatabase();
	const superuser = await database.connect('superuser');
	await superuser.query(
		`create role ${logins.stranger} login; grant create on database ${database.database} to ${logins.stranger}`,
	);
	const stranger = await database.connect('stranger');
	await assert.rejects(
		stranger.query(schema),
		/There is a role etb_wallet_owner, and "stranger" may not act for it/,
	);
	assert.deepEqual(
		await rows(superuser, z.unknown(), "select from pg_namespace where nspname = 'etb_wallet'"),
		[],
	);
});

test('every object has a comment, and the owner of all is nobody who logs in', async () => {
	const database = await server.gate();
	const superuser = await database.connect('superuser');
	const objects = await rows(
		superuser,
		z.object({
			kind: z.string(),
			name: z.string(),
			comment: z.string().nullable(),
			owner: z.string(),
		}),
		`
		with n as (select oid from pg_namespace where nspname = 'etb_wallet')
		select 'relation' as kind, c.relname as name, obj_description(c.oid, 'pg_class') as comment, c.relowner::regrole::text as owner
			from pg_class c where c.relnamespace in (select oid from n) and c.relkind in ('r', 'v', 'i', 'S')
			and not exists (select from pg_constraint k where k.conindid = c.oid)
			and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'i' and c.relkind = 'S')
		union all select 'column', c.relname || '.' || a.attname, col_description(c.oid, a.attnum), c.relowner::regrole::text
			from pg_class c join pg_attribute a on a.attrelid = c.oid
			where c.relnamespace in (select oid from n) and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
		union all select 'function', p.oid::regprocedure::text, obj_description(p.oid, 'pg_proc'), p.proowner::regrole::text
			from pg_proc p where p.pronamespace in (select oid from n)
		union all select 'trigger', t.tgname, obj_description(t.oid, 'pg_trigger'), c.relowner::regrole::text
			from pg_trigger t join pg_class c on c.oid = t.tgrelid where c.relnamespace in (select oid from n) and not t.tgisinternal
		union all select 'domain', t.typname, obj_description(t.oid, 'pg_type'), t.typowner::regrole::text
			from pg_type t where t.typnamespace in (select oid from n) and t.typtype = 'd'
		union all select 'schema', s.nspname, obj_description(s.oid, 'pg_namespace'), s.nspowner::regrole::text
			from pg_namespace s where s.oid in (select oid from n)
		union all select 'role', r.rolname, shobj_description(r.oid, 'pg_authid'), 'etb_wallet_owner'
			from pg_roles r where r.rolname like 'etb\\_wallet\\_%'`,
	);
	assert.ok(objects.length > 100, `${objects.length} objects`);
	assert.deepEqual(
		objects.filter(({ comment, owner }) => (comment ?? '') === '' || owner !== 'etb_wallet_owner'),
		[],
	);
	assert.equal(
		await value(
			superuser,
			z.boolean(),
			"select rolcanlogin from pg_roles where rolname = 'etb_wallet_owner'",
		),
		false,
	);
	assert.equal(
		await value(
			superuser,
			z.string(),
			`select count(*) from pg_proc where pronamespace = 'etb_wallet'::regnamespace
			and (not 'search_path=etb_wallet, pg_temp' = any (proconfig) or proconfig is null or prosrc ~* '\\mexecute\\M')`,
		),
		'0',
		'functions without a pinned search_path, or with dynamic SQL',
	);
	assert.equal(
		await value(
			superuser,
			z.string(),
			`select count(*) from pg_auth_members where roleid = 'etb_wallet_owner'::regrole
			and case when to_jsonb(pg_auth_members) ? 'set_option' then (to_jsonb(pg_auth_members) ->> 'set_option')::boolean else true end`,
		),
		'0',
		'who set up does not stay a member of the owner',
	);
});
