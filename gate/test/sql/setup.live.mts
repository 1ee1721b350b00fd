/** Setting the pay gate up: by psql or in one query, by a role that is no superuser, again, and over what is there. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import pg from 'pg';
import { z } from 'zod';
import { setUpGateDatabase } from '../../start/database.mts';
import { gateFolder } from '../../start/workflows.mts';
import { postgresPrograms } from '../../../test/support/services.mts';
import {
	claim,
	logins,
	rows,
	schemaText,
	setRules,
	startGateServer,
	value,
	type GateDatabase,
	type Login,
} from '../support/server.mts';

const run = promisify(execFile);
const server = await startGateServer();
after(async () => await server.stop());
const schema = await schemaText();
/** The version of the tables that it makes. */
const newest = Number(/c_newest constant integer := (\d+);/.exec(schema)?.[1]);

const target = ({ host, port, database }: GateDatabase, login: Login) => [
	...['-h', host, '-p', String(port)],
	...['-U', logins[login], '-d', database],
];

/** Runs the file as a person does. */
async function psqlFile(database: GateDatabase, login: Login): Promise<string> {
	const psql = join(await postgresPrograms(), 'psql');
	const file = join(gateFolder, 'schema.sql');
	const { stdout, stderr } = await run(psql, [...target(database, login), '-X', '-f', file]);
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
			assert.match(await psqlFile(database, login), /^BEGIN\n(?:[A-Z ]+\n)+COMMIT\n$/);
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
	assert.deepEqual(Object.keys(credentials), ['Pay gate desk', 'Pay gate']);
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
			"select budget, most_per_day::int, most_per_payment::int from etb_wallet.rules where requested_by = ''",
		),
		[{ budget: 'main', ...limits }],
	);
	await assert.rejects(
		setUpGateDatabase(url, limits),
		/has the logins pay_desk_gate_\d+ and pay_gate_gate_\d+ already/,
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

test('what it cannot update is refused, and left as it is', async () => {
	// Whatever is in it: it could run with the rights of who sets up.
	for (const inIt of ['', 'create table etb_wallet.version (version integer)']) {
		const foreign = await server.emptyDatabase();
		const person = await foreign.connect('setup');
		await person.query(`create schema etb_wallet; ${inIt}`);
		await assert.rejects(person.query(schema), (error: pg.DatabaseError) => {
			assert.match(error.message, /There is a schema etb_wallet that this file did not make/);
			assert.match(error.hint ?? '', /Use another database/);
			return true;
		});
	}

	const database = await server.gate();
	const superuser = await database.connect('superuser');
	await superuser.query(`insert into etb_wallet.version values (${newest + 1}, '0.9.0')`);
	const before = await dump(database);
	await assert.rejects(
		superuser.query(schema),
		new RegExp(`version ${newest + 1} of the pay gate, and these files are version ${newest}`),
	);
	assert.equal(await dump(database), before);
	// And a workflow of this version says what to import, instead of paying.
	await setRules(superuser, 'main', {});
	const asked = "select * from etb_wallet.claim('main', '[]', null, null, $1)";
	await assert.rejects(superuser.query(asked, [newest]), (error: pg.DatabaseError) => {
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

test('the owner of all is nobody who logs in, every function with its rights is pinned, and all text has the order of its bytes', async () => {
	const database = await server.gate();
	const superuser = await database.connect('superuser');
	const owners = await rows(
		superuser,
		z.object({ owner: z.string(), count: z.coerce.number() }),
		`select owner::regrole::text as owner, count(*) from (
			select relowner from pg_class where relnamespace = 'etb_wallet'::regnamespace
			union all select proowner from pg_proc where pronamespace = 'etb_wallet'::regnamespace
			union all select typowner from pg_type where typnamespace = 'etb_wallet'::regnamespace
			union all select nspowner from pg_namespace where nspname = 'etb_wallet'
		) x (owner) group by 1`,
	);
	assert.deepEqual(
		owners.map(({ owner }) => owner),
		['etb_wallet_owner'],
	);
	// An order of a language may change under the data.
	const ordered = await rows(
		superuser,
		z.unknown(),
		`select attrelid::regclass::text, attname from pg_attribute join pg_class c on c.oid = attrelid
		where c.relnamespace = 'etb_wallet'::regnamespace and c.relkind in ('r', 'i') and attnum > 0
		and attcollation not in (0, (select oid from pg_collation where collname = 'C' and collnamespace = 'pg_catalog'::regnamespace))
		and not (c.relname = 'version' and attname = 'release')`,
	);
	assert.deepEqual(ordered, []);
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
			`select count(*) from pg_proc where pronamespace = 'etb_wallet'::regnamespace and (prosrc ~* '\\mexecute\\M'
			or (prosecdef or prorettype = 'trigger'::regtype)
			and (not 'search_path=etb_wallet, pg_temp' = any (proconfig) or proconfig is null))`,
		),
		'0',
		'functions with dynamic SQL, or that have the rights of the owner and a search_path of the caller',
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
