/** Objects of others on the same server change nothing: functions in "public", settings of the server, other databases. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { z } from 'zod';
import { setUpGate, setUpGateDatabase } from '../../start/database.mts';
import {
	claim,
	logins,
	record,
	refused,
	schemaText,
	setRules,
	startGateServer,
	value,
	type GateDatabase,
} from '../support/server.mts';

const server = await startGateServer();
after(async () => await server.stop());

const LIMITS = { most_per_day: 1000, most_per_payment: 100 };

/** Sets a gate up with the query of the set-up workflow; resolves to connections of its two logins. */
async function setUp(database: GateDatabase, user: string = logins.superuser) {
	const url = `postgres://${user}@${database.host}:${database.port}/${database.database}`;
	const made = await setUpGateDatabase(url, LIMITS, await schemaText());
	const users = { gate: made['Pay gate']?.user ?? '', desk: made['Pay gate desk']?.user ?? '' };
	const gate = await database.connect(users.gate);
	return { users, gate, desk: await database.connect(users.desk) };
}

/**
 * Functions of PostgreSQL that the gate's SQL could call, once more in "public", with the types of their arguments exactly as they
 * are given: PostgreSQL takes the one that fits better, wherever it stands in the search path.
 */
const CALLED: Array<[name: string, types: string, result?: string, call?: string]> = [
	['pg_advisory_xact_lock', 'integer', 'void'],
	['set_config', 'text, text, boolean'],
	['current_setting', 'text'],
	['format', 'text, text'],
	['format', 'text, text, text'],
	['format', 'text, text, text, text'],
	['format', 'text, name, text'],
	['replace', 'text, text, text'],
	['jsonb_build_object', 'text, text, text, name, text, text, text, text, text, text', 'jsonb'],
	['date_trunc', 'text, date', 'timestamptz'],
	['concat_ws', 'text, text, text'],
	['to_char', 'numeric, text'],
	['same', 'name, text', 'boolean', '$1::text = $2'],
	['over', 'integer, integer', 'boolean', '$1 operator(pg_catalog.<) $2'],
];
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
	${CALLED.map(([name, types, result = 'text', call]) => {
		const given = types.split(', ').map((_, index) => `$${index + 1}`);
		const own = result === 'void' ? '' : `return ${call ?? `pg_catalog.${name}(${given.join()})`};`;
		return `create function public.${name}(${types}) returns ${result} language plpgsql as $f$ begin perform public.note('${name}'); ${own} end $f$;`;
	}).join('\n')}
	create operator public.= (leftarg = name, rightarg = text, function = public.same);
	create type public.version as (v integer);
`;

/** The last trap is of who owns the database: another meaning of "text". (It comes last: until then "text" is PostgreSQL's own.) */
const PLANTED_BY_OWNER = `
	create function public.is_noted(what pg_catalog.text) returns boolean language plpgsql as $f$ begin perform public.note('a text'); return true; end $f$;
	create domain public.text as pg_catalog.text check (public.is_noted(value));
`;

// (From PostgreSQL 16 on, roles are managed by who made them, or by a superuser.)
for (const [where, who, isOwner] of [
	['where everybody may create functions', logins.setup, false],
	['where everybody may create functions', logins.superuser, false],
	['whose owner sets traps: a search path, types, operators', logins.superuser, true],
] as const) {
	test(`in a database ${where}, none of them runs, set up as ${who}`, async () => {
		const database = await server.emptyDatabase();
		const superuser = await database.connect('superuser');
		await superuser.query('create role intern login; grant create on schema public to public');
		const intern = await database.connect('intern');
		await intern.query(PLANTED);
		if (isOwner) {
			await superuser.query(`alter database ${database.database} owner to intern`);
			await intern.query(PLANTED_BY_OWNER);
			const path = 'set search_path = public, pg_catalog';
			await intern.query(`alter database ${database.database} ${path}`);
		}
		const { gate, desk } = await setUp(database, who);
		const window = await claim(gate, 'main', [{ reference: 'a', toUserId: 'u', amountEtb: 1 }]);
		await record(gate, 'main', window, [{ toUserId: 'u', outcome: 'unknown' }]);
		for (const view of ['payments', 'open_payments'])
			await desk.query(`select * from etb_wallet.${view}`);
		// As the desk's queries do, with names that say no schema.
		await desk.query(
			`select format('%s%s', 'a', 'b'), concat_ws(' ', 'a', 'b'), to_char(1.5, '9'), date_trunc('month', current_date), replace('a', 'b', 'c')`,
		);
		const caught = async () =>
			await value(superuser, z.coerce.number(), 'select count(*) from public.loot');
		assert.equal(await caught(), 0);
		const isSuper = "select rolsuper from pg_roles where rolname = 'intern'";
		assert.equal(await value(superuser, z.boolean(), isSuper), false);
		const limit =
			"select most_per_day::int from etb_wallet.rules where budget = 'main' and requested_by = ''";
		assert.equal(await value(superuser, z.number(), limit), 1000);
		// And the trap works: this is what it catches.
		const trap = isOwner ? "'caught'::public.text" : "format('%s%s', 'a'::text, 'b'::text)";
		await superuser.query(`select ${trap}`);
		assert.equal(await caught(), 1);
		await intern.end();
		await superuser.query(
			`alter database ${database.database} owner to ${logins.superuser}; drop owned by intern cascade; drop role intern`,
		);
	});
}

test("a login of one database may do nothing in another one's gate, and a copy of a database does not bring it along", async () => {
	const [tests, production] = [await server.emptyDatabase(), await server.emptyDatabase()];
	const first = await setUp(tests);
	const second = await setUp(production);
	const foreign = await production.connect(first.users.gate);
	const foreignDesk = await production.connect(first.users.desk);
	for (const [client, sql] of [
		[foreign, "select etb_wallet.claim('main', '[]')"],
		[foreign, "select etb_wallet.record('main', gen_random_uuid(), '[]', '[]')"],
		[foreignDesk, "select etb_wallet.set_rules('main', '{}', 'me')"],
		[foreignDesk, 'select * from etb_wallet.payments'],
	] as const)
		await refused(client.query(sql), /permission denied for schema etb_wallet/);
	assert.equal((await claim(second.gate, 'main', [])).items.length, 0);

	// A database that somebody is connected to cannot be copied.
	await Promise.all([first.gate.end(), first.desk.end()]);
	const superuser = await production.connect('superuser');
	await superuser.query(`create database copied template ${tests.database}`);
	const copy = server.database('copied');
	const own = await setUp(copy);
	const old = await copy.connect(first.users.gate);
	await refused(old.query("select etb_wallet.claim('main', '[]')"), /permission denied/);
	assert.equal((await claim(own.gate, 'main', [])).items.length, 0);
});

test('the set-up gives rights and settings back that logins lost; an update by psql takes nothing from them', async () => {
	const database = await server.emptyDatabase();
	const { users, gate, desk } = await setUp(database, logins.setup);
	const superuser = await database.connect('superuser');
	await superuser.query(await schemaText());
	assert.equal((await claim(gate, 'main', [])).items.length, 0);
	await Promise.all([gate.end(), desk.end()]);
	await superuser.query(`
		revoke etb_wallet_gate from ${users.gate};
		revoke usage on schema etb_wallet from ${users.gate};
		alter role ${users.gate} nologin;
		alter role ${users.gate} reset all`);
	await setUpGate(await database.connect('setup'), LIMITS, await schemaText());
	const again = await database.connect(users.gate);
	assert.equal((await claim(again, 'main', [])).items.length, 0);
	// A transaction that a login forgets ends by itself.
	for (const login of [again, await database.connect(users.desk)])
		assert.equal(
			await value(login, z.string(), 'show idle_in_transaction_session_timeout'),
			'2min',
		);
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
	// The login that sets up is not one of the gate: it has to be able to write.
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
});

test('a transaction that somebody forgot: each call gives up after 10 seconds and says who it is', async () => {
	const database = await server.emptyDatabase();
	const { gate, desk } = await setUp(database);
	const superuser = await database.connect('superuser');
	const pid = await value(superuser, z.number(), 'select pg_backend_pid()');
	await superuser.query('begin; update etb_wallet.rules set paused = paused');
	const message = new RegExp(
		`waited 10 seconds for a connection that holds the budget "main": ${pid} \\(login ${logins.superuser}\\)`,
	);
	const reader = await database.connect('superuser');
	await reader.query('begin; select * from etb_wallet.rules');
	await Promise.all([
		refused(claim(gate, 'main', []), message),
		refused(setRules(desk, 'main', { paused: true }), message),
	]);
	await superuser.query('rollback');
	await setRules(desk, 'main', { paused: true });
});
