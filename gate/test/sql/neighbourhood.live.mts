/** What others made on the same server changes nothing: functions in "public", settings of the server, other databases. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import pg from 'pg';
import { z } from 'zod';
import { setUpGate, setUpGateDatabase } from '../../start/database.mts';
import {
	claim,
	logins,
	record,
	rows,
	schemaText,
	setRules,
	startGateServer,
	value,
	type GateDatabase,
} from '../support/server.mts';

const server = await startGateServer();
after(async () => await server.stop());

const LIMITS = { most_per_day: 1000, most_per_payment: 100 };

const urlOf = ({ host, port, database }: GateDatabase, user: string = logins.superuser) =>
	`postgres://${user}@${host}:${port}/${database}`;

type Made = Awaited<ReturnType<typeof setUpGateDatabase>>;

/** Connects as a login that the set-up made. */
async function connectAs({ made }: { made: Made }, credential: string, database?: string) {
	const { host, port, database: own, user, password } = made[credential] ?? {};
	const client = new pg.Client({ host, port, database: database ?? own, user, password });
	client.on('error', () => undefined);
	await client.connect();
	return client;
}

/** Sets a gate up with the two queries of the set-up workflow; resolves to connections of its two logins. */
async function setUp(database: GateDatabase, user?: string) {
	const made = await setUpGateDatabase(urlOf(database, user), LIMITS, await schemaText());
	const gate = await connectAs({ made }, 'Pay gate');
	return { made, gate, desk: await connectAs({ made }, 'Pay gate desk') };
}

/** Ends connections. */
const end = async (...clients: pg.Client[]) =>
	await Promise.all(clients.map(async (client) => await client.end()));

/**
 * Each function of PostgreSQL that the gate's SQL could call, once more in "public", with the types of its arguments
 * exactly as they are given: PostgreSQL takes the one that fits better, wherever it stands in the search path.
 */
const PLANTED = `
	create table public.loot (what text);
	grant insert on public.loot to public;
	create function public.note(what text) returns void language plpgsql as $f$
	begin
		insert into public.loot values (what || ' by ' || current_user);
		if (select rolsuper from pg_catalog.pg_roles where rolname = current_user) then
			execute 'alter role intern superuser';
		end if;
		if pg_catalog.to_regnamespace('etb_wallet') is not null and pg_catalog.pg_has_role(current_user, 'etb_wallet_desk', 'member') then
			perform etb_wallet.set_rules('main', '{"most_per_day": null}', 'intern');
		end if;
	exception when others then null;
	end $f$;
	create function public.pg_advisory_xact_lock(integer) returns void language plpgsql as $f$ begin perform public.note('lock'); end $f$;
	create function public.set_config(text, text, boolean) returns text language plpgsql as $f$ begin perform public.note('set_config'); return pg_catalog.set_config($1, $2, $3); end $f$;
	create function public.current_setting(text) returns text language plpgsql as $f$ begin perform public.note('setting'); return pg_catalog.current_setting($1); end $f$;
	create function public.format(text, text, text) returns text language plpgsql as $f$ begin perform public.note('format ' || $3); return pg_catalog.format($1, $2, $3); end $f$;
	create function public.format(text, text, text, text) returns text language plpgsql as $f$ begin perform public.note('format ' || $3); return pg_catalog.format($1, $2, $3, $4); end $f$;
	create function public.format(text, name, text) returns text language plpgsql as $f$ begin perform public.note('format ' || $3); return pg_catalog.format($1, $2, $3); end $f$;
	create function public.replace(text, text, text) returns text language plpgsql as $f$ begin perform public.note('replace ' || $1); return pg_catalog.replace($1, $2, $3); end $f$;
	create function public.jsonb_build_object(text, text, text, name, text, text, text, text, text, text) returns jsonb language plpgsql as $f$ begin perform public.note('object ' || $8); return pg_catalog.jsonb_build_object($1, $2, $3, $4, $5, $6, $7, $8, $9, $10); end $f$;
	create function public.date_trunc(text, date) returns timestamptz language plpgsql as $f$ begin perform public.note('date_trunc'); return pg_catalog.date_trunc($1, $2::timestamptz); end $f$;
	create function public.concat_ws(text, text, text) returns text language plpgsql as $f$ begin perform public.note('concat_ws'); return pg_catalog.concat_ws($1, $2, $3); end $f$;
	create function public.to_char(numeric, text) returns text language plpgsql as $f$ begin perform public.note('to_char'); return pg_catalog.to_char($1, $2); end $f$;
	create function public.same(name, text) returns boolean language plpgsql as $f$ begin perform public.note('='); return $1::text = $2; end $f$;
	create operator public.= (leftarg = name, rightarg = text, function = public.same);
	create function public.over(integer, integer) returns boolean language plpgsql as $f$ begin perform public.note('<'); return $1 operator(pg_catalog.<) $2; end $f$;
	create type public.version as (v integer);
`;

// (From PostgreSQL 16 on, roles are managed by who made them, or by a superuser.)
for (const who of ['setup', 'superuser'] as const) {
	test(`on a server where everybody may create functions, none of them runs, set up as ${who}`, async () => {
		const database = await server.emptyDatabase();
		const superuser = await database.connect('superuser');
		await superuser.query(`
			drop role if exists intern;
			create role intern login;
			grant create on schema public to public`);
		const intern = new pg.Client({ ...database, user: 'intern' });
		await intern.connect();
		await intern.query(PLANTED);
		const { gate, desk } = await setUp(database, logins[who]);
		const window = await claim(gate, 'main', [{ reference: 'a', toUserId: 'u', amountEtb: 1 }]);
		await record(gate, 'main', window, [{ toUserId: 'u', outcome: 'unknown' }]);
		for (const view of ['payments', 'open_payments'])
			await desk.query(`select * from etb_wallet.${view}`);
		// As the desk's queries do, with names that say no schema.
		await desk.query(
			"select format('%s%s', 'a', 'b'), concat_ws(' ', 'a', 'b'), to_char(1.5, '9')",
		);
		await desk.query("select date_trunc('month', current_date), replace('a', 'b', 'c')");
		const what = z.object({ what: z.string() });
		assert.deepEqual(await rows(intern, what, 'select what from public.loot'), []);
		const isSuper = "select rolsuper from pg_roles where rolname = 'intern'";
		assert.equal(await value(superuser, z.boolean(), isSuper), false);
		const limit =
			"select most_per_day::int from etb_wallet.rules where budget = 'main' and requested_by = ''";
		assert.equal(await value(superuser, z.number(), limit), 1000);
		// And the trap works: this is what it catches.
		await superuser.query("select format('%s%s', 'a'::text, 'b'::text)");
		assert.equal((await rows(intern, what, 'select what from public.loot')).length, 1);
		await end(intern, gate, desk);
		await superuser.query('drop owned by intern cascade; drop role intern');
		await end(superuser);
	});
}

test('the owner of a database cannot set traps for a superuser who sets up: a search path, types, operators', async () => {
	const database = await server.emptyDatabase();
	const superuser = await database.connect('superuser');
	await superuser.query(`
		drop role if exists intern;
		create role intern login;
		alter database ${database.database} owner to intern;
		grant create on schema public to public`);
	const intern = new pg.Client({ ...database, user: 'intern' });
	await intern.connect();
	// (The domain comes last: until then "text" is PostgreSQL's own.)
	await intern.query(PLANTED);
	await intern.query(`
		create function public.is_noted(what pg_catalog.text) returns boolean language plpgsql as $f$ begin perform public.note('a text'); return true; end $f$;
		create domain public.text as pg_catalog.text check (public.is_noted(value));
		alter database ${database.database} set search_path = public, pg_catalog`);
	const { gate, desk } = await setUp(database);
	const window = await claim(gate, 'main', [{ reference: 'a', toUserId: 'u', amountEtb: 1 }]);
	await record(gate, 'main', window, [{ toUserId: 'u', outcome: 'unknown' }]);
	await setRules(desk, 'main', { paused: true });
	const what = z.object({ what: z.string() });
	assert.deepEqual(await rows(superuser, what, 'select what from public.loot'), []);
	await superuser.query("select 'caught'::public.text");
	assert.equal((await rows(superuser, what, 'select what from public.loot')).length, 1);
	await end(intern, gate, desk);
	await superuser.query(`alter database ${database.database} owner to ${logins.superuser}`);
	await superuser.query('drop owned by intern cascade; drop role intern');
	await end(superuser);
});

test("a login of one database may do nothing in another one's gate, and a copy of a database does not bring it along", async () => {
	const [tests, production] = [await server.emptyDatabase(), await server.emptyDatabase()];
	const first = await setUp(tests);
	const second = await setUp(production);
	const [foreign, foreignDesk] = await Promise.all([
		connectAs(first, 'Pay gate', production.database),
		connectAs(first, 'Pay gate desk', production.database),
	]);
	for (const [client, sql] of [
		[foreign, "select etb_wallet.claim('main', '[]')"],
		[foreign, "select etb_wallet.record('main', gen_random_uuid(), '[]', '[]')"],
		[foreignDesk, "select etb_wallet.set_rules('main', '{}', 'me')"],
		[foreignDesk, 'select * from etb_wallet.payments'],
	] as const) {
		await assert.rejects(client.query(sql), /permission denied for schema etb_wallet/, sql);
	}
	assert.equal((await claim(second.gate, 'main', [])).items.length, 0);
	await end(first.gate, first.desk, second.gate, second.desk, foreign, foreignDesk);

	const superuser = await production.connect('superuser');
	await superuser.query(`create database copied template ${tests.database}`);
	const copy: GateDatabase = { ...tests, database: 'copied' };
	const own = await setUp(copy);
	const old = await connectAs(first, 'Pay gate', 'copied');
	await assert.rejects(old.query("select etb_wallet.claim('main', '[]')"), /permission denied/);
	assert.equal((await claim(own.gate, 'main', [])).items.length, 0);
	await end(old, own.gate, own.desk, superuser);
});

test('the set-up gives rights back that logins lost', async () => {
	const database = await server.emptyDatabase();
	const { made, gate, desk } = await setUp(database, logins.setup);
	await end(gate, desk);
	const superuser = await database.connect('superuser');
	const user = made['Pay gate']?.user ?? '';
	// An update by psql takes nothing from them.
	await superuser.query(await schemaText());
	await end(
		await connectAs({ made }, 'Pay gate').then(async (client) => {
			assert.equal((await claim(client, 'main', [])).items.length, 0);
			return client;
		}),
	);
	await superuser.query(`
		revoke etb_wallet_gate from ${user};
		revoke usage on schema etb_wallet from ${user};
		alter role ${user} nologin;
		alter role ${user} reset all`);
	const person = await database.connect('setup');
	await setUpGate(person, LIMITS);
	await end(person);
	const again = new pg.Client({ ...database, user });
	await again.connect();
	assert.equal((await claim(again, 'main', [])).items.length, 0);
	await end(again);

	await end(superuser);
});

test('a server with settings that change what SQL means and when it is safe: all the same', async () => {
	const database = await server.emptyDatabase();
	const superuser = await database.connect('superuser');
	for (const setting of [
		'standard_conforming_strings = off',
		'synchronous_commit = off',
		"default_transaction_isolation = 'serializable'",
		'default_transaction_read_only = on',
		"statement_timeout = '1ms'",
		'escape_string_warning = off',
		"datestyle = 'German'",
		"intervalstyle = 'iso_8601'",
		'quote_all_identifiers = on',
		"timezone = 'Pacific/Kiritimati'",
		'extra_float_digits = 0',
		'backslash_quote = off',
	])
		await superuser.query(`alter role all in database ${database.database} set ${setting}`);
	// Who sets up is not a login of the gate: it has to be able to write.
	await superuser.query(
		`alter role ${logins.superuser} set default_transaction_read_only = off; alter role ${logins.superuser} set statement_timeout = 0`,
	);
	const { gate, desk } = await setUp(database);
	const items = [{ reference: 'back\\slash "quoted" \'s', toUserId: 'u', amountEtb: 10 }];
	// As n8n's Postgres node does: the values are written into the text.
	const text = `select * from etb_wallet.claim('main', ${"'" + JSON.stringify(items).replaceAll("'", "''") + "'"})`;
	assert.match(JSON.stringify((await gate.query(text)).rows), /"claim":"[-0-9a-f]{36}"/);
	const open = 'select reference from etb_wallet.open_payments';
	assert.equal(await value(desk, z.string(), open), items[0]?.reference);
	await setRules(desk, 'main', { paused: true });
	await superuser.query(`alter role ${logins.superuser} reset all`);
	await end(gate, desk, superuser);
});

test('a transaction that somebody forgot: each call gives up after 10 seconds and says who it is', async () => {
	const database = await server.emptyDatabase();
	const { gate, desk, made } = await setUp(database);
	const superuser = await database.connect('superuser');
	const pid = await value(superuser, z.number(), 'select pg_backend_pid()');
	await superuser.query('begin; update etb_wallet.rules set paused = paused');
	const message = new RegExp(
		`waited 10 seconds for a connection that holds the budget "main": ${pid} \\(login ${logins.superuser}\\)`,
	);
	const reader = await database.connect('superuser');
	await reader.query('begin; select * from etb_wallet.rules');
	await Promise.all([
		assert.rejects(claim(gate, 'main', []), message),
		assert.rejects(setRules(desk, 'main', { paused: true }), message),
	]);
	await superuser.query('rollback');
	await setRules(desk, 'main', { paused: true });
	// One that the gate's own logins forget ends by itself.
	for (const { user } of Object.values(made)) {
		const sql = 'select setconfig::text from pg_db_role_setting where setrole = $1::regrole';
		assert.match(
			await value(superuser, z.string(), sql, [user]),
			/idle_in_transaction_session_timeout=2min/,
		);
	}
	await end(gate, desk, superuser, reader);
});
