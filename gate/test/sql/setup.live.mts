/** Setting the pay gate up: by psql or in one query, by a role that is no superuser, again, and over what is there. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { z } from 'zod';
import { setUpGate, setUpGateDatabase } from '../../start/database.mts';
import { gateFolder } from '../../start/workflows.mts';
import { postgresPrograms } from '../../../test/support/backends.mts';
import {
	claim,
	logins,
	refused,
	rows,
	schemaText,
	setRules,
	startGateServer,
	value,
	type GateDatabase,
} from '../support/server.mts';

const run = promisify(execFile);
const server = await startGateServer();
after(async () => await server.stop());
const schema = await schemaText();
/** The version of the tables that it makes. */
const newest = Number(/c_newest constant integer := (\d+);/.exec(schema)?.[1]);
const LIMITS = { most_per_day: 1000, most_per_payment: 100 };

/** Runs a program of PostgreSQL in a database, as this user; resolves to what it writes. */
async function program(name: string, database: GateDatabase, user: string, ...args: string[]) {
	const { host, port } = database;
	const { stdout, stderr } = await run(
		join(await postgresPrograms(), name),
		['-h', host, '-p', String(port), '-U', user, '-d', database.database, ...args],
		{ maxBuffer: 1024 ** 3 },
	);
	return stdout + stderr;
}

/** Runs the file as a person does. */
const psqlFile = async (database: GateDatabase, user = logins.setup) =>
	await program('psql', database, user, '-X', '-f', join(gateFolder, 'schema.sql'));

/** Everything that is in the database. (Newer versions put a random key around each dump.) */
const dump = async (database: GateDatabase) =>
	(await program('pg_dump', database, logins.superuser)).replace(/^\\(un)?restrict .*$/gm, '');

const ways: Array<[string, (database: GateDatabase, user: string) => Promise<void>]> = [
	[
		'psql -f',
		async (database, user) =>
			assert.match(await psqlFile(database, user), /^BEGIN\n(?:[A-Z ]+\n)+COMMIT\n$/),
	],
	[
		'one query',
		async (database, user) => {
			await (await database.connect(user)).query(schema);
		},
	],
	[
		'the query of the set-up workflow',
		async (database, user) => {
			await setUpGate(await database.connect(user), LIMITS, schema);
		},
	],
];

// (From PostgreSQL 16 on, roles are managed by who made them, or by a superuser.)
for (const user of [logins.setup, logins.superuser]) {
	for (const [way, setUp] of ways) {
		test(`set up by ${way} as ${user}, and again without a change`, async () => {
			const database = await server.emptyDatabase();
			await setUp(database, user);
			const superuser = await database.connect('superuser');
			await setRules(superuser, 'main', {});
			const list = [{ reference: 'r', toUserId: 'u', amountEtb: 1 }];
			assert.equal((await claim(superuser, 'main', list)).send.length, 1);
			const roles = `select rolname, rolpassword, array(select m.roleid from pg_auth_members m where m.member = r.oid order by 1)::text
				from pg_authid r order by 1`;
			const everything = async () => [
				await dump(database),
				await rows(superuser, z.unknown(), roles),
			];
			const before = await everything();
			assert.match(String(before[0]), /CREATE FUNCTION etb_wallet\.claim/);
			await setUp(database, user);
			assert.deepEqual(await everything(), before);
		});
	}
}

test('npm start sets up a database that GATE_DATABASE_URL names, once: two logins with passwords of their own, and the limits', async () => {
	const database = await server.emptyDatabase();
	const { host, port } = database;
	const url = `postgres://${logins.superuser}@${host}:${port}/${database.database}`;
	const made = await setUpGateDatabase(url, LIMITS);
	assert.deepEqual(Object.keys(made), ['Pay gate desk', 'Pay gate']);
	const superuser = await database.connect('superuser');
	const kept =
		'select count(distinct rolpassword)::int from pg_authid where rolcanlogin and rolname like $1';
	const own = `pay\\_%\\_${database.database}`;
	assert.equal(await value(superuser, z.number(), kept, [own]), 2);
	for (const { user, password } of Object.values(made)) {
		assert.match(password, /^[0-9a-f]{64}$/);
		await (await database.connect(user)).query('select 1');
	}
	const limits =
		"select most_per_day::int, most_per_payment::int from etb_wallet.rules where budget = 'main' and requested_by = ''";
	assert.deepEqual(await rows(superuser, z.unknown(), limits), [LIMITS]);
	await refused(
		setUpGateDatabase(url, LIMITS),
		/has the logins pay_desk_gate_\d+ and pay_gate_gate_\d+ already/,
	);
});

test('two who set up at once take turns', async () => {
	const database = await server.emptyDatabase();
	await Promise.all(Array.from({ length: 4 }, async () => await psqlFile(database)));
	const client = await database.connect('superuser');
	assert.equal(
		await value(client, z.number(), 'select max(version) from etb_wallet.version'),
		newest,
	);
});

test('what it cannot update is refused, and left as it is', async () => {
	// Its content does not matter: it could run with the rights of who sets up.
	for (const inIt of ['', 'create table etb_wallet.version (version integer)']) {
		const foreign = await server.emptyDatabase();
		const person = await foreign.connect('setup');
		await person.query(`create schema etb_wallet; ${inIt}`);
		await refused(
			person.query(schema),
			/There is a schema etb_wallet that this file did not make/,
			/Use another database/,
		);
	}

	const database = await server.gate();
	const superuser = await database.connect('superuser');
	await superuser.query(`insert into etb_wallet.version values (${newest + 1}, '0.9.0')`);
	const before = await dump(database);
	const there = newest + 1;
	const message = `version ${there} of the pay gate, and these files are version ${newest}`;
	await refused(superuser.query(schema), new RegExp(message));
	assert.equal(await dump(database), before);
	// And a workflow of this version says what to import, instead of paying.
	await setRules(superuser, 'main', {});
	const needs = `The workflow needs version ${newest} of the pay gate, and this database has version ${there}`;
	await refused(
		superuser.query("select * from etb_wallet.claim('main', '[]', null, null, $1)", [newest]),
		new RegExp(needs),
		/Import pay-gate.json of release 0\.9\.0/,
	);
});

test('a role that may not make roles is told so, and nothing is left behind', async () => {
	const database = await server.emptyDatabase();
	const superuser = await database.connect('superuser');
	await superuser.query(
		`create role stranger login; grant create on database ${database.database} to stranger`,
	);
	const stranger = await database.connect('stranger');
	const why = /There is a role etb_wallet_owner, and "stranger" may not act for it/;
	await refused(stranger.query(schema), why);
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
		z.unknown(),
		`select distinct owner::regrole::text, rolcanlogin from (
			select relowner from pg_class where relnamespace = 'etb_wallet'::regnamespace
			union all select proowner from pg_proc where pronamespace = 'etb_wallet'::regnamespace
			union all select typowner from pg_type where typnamespace = 'etb_wallet'::regnamespace
			union all select nspowner from pg_namespace where nspname = 'etb_wallet'
		) x (owner) join pg_roles r on r.oid = owner`,
	);
	assert.deepEqual(owners, [{ owner: 'etb_wallet_owner', rolcanlogin: false }]);
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
	for (const [what, from] of [
		[
			'functions with dynamic SQL, or that have the rights of the owner and a search_path of the caller',
			`pg_proc where pronamespace = 'etb_wallet'::regnamespace and (prosrc ~* '\\mexecute\\M'
			or (prosecdef or prorettype = 'trigger'::regtype)
			and (not 'search_path=etb_wallet, pg_temp' = any (proconfig) or proconfig is null))`,
		],
		[
			'who set up does not stay a member of the owner',
			`pg_auth_members where roleid = 'etb_wallet_owner'::regrole
			and case when to_jsonb(pg_auth_members) ? 'set_option' then (to_jsonb(pg_auth_members) ->> 'set_option')::boolean else true end`,
		],
	] as const)
		assert.equal(await value(superuser, z.string(), `select count(*) from ${from}`), '0', what);
});
