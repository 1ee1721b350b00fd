/** A PostgreSQL of its own with pay gates in it, each in a database of its own, for tests that call the gate's functions. */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { z } from 'zod';
import { freePort } from '../../../demo/ports.mts';
import { eventually } from '../../../test/support/lab.mts';
import { startPostgres } from '../../../test/support/backends.mts';
import { schemaText as ownSchemaText } from '../../start/workflows.mts';

/** The SQL that sets a database up. GATE_SCHEMA names a file with another one, such as one that gate/test/mutations.mts broke. */
export const schemaText = async (): Promise<string> =>
	process.env.GATE_SCHEMA === undefined
		? await ownSchemaText()
		: await readFile(process.env.GATE_SCHEMA, 'utf8');

/** The logins of these tests: one for each role, and one that sets up without being a superuser. */
export const logins = {
	gate: 'n8n_login',
	desk: 'desk_login',
	setup: 'setup_person',
	superuser: 'n8n',
};

/** Where a test database stands. */
export interface Address {
	host: string;
	port: number;
	database: string;
}

/** One call's item of `claim`. */
export interface Item {
	reference?: unknown;
	toUserId?: unknown;
	amountEtb?: unknown;
	requestedBy?: unknown;
	txHash?: unknown;
}

const told = z.object({
	/** Null where it is still to be sent. */
	outcome: z.enum(['paid', 'alreadyPaid', 'unknown', 'notPaid']).nullable(),
	code: z.string().nullable(),
	message: z.string().nullable(),
	reference: z.string().optional(),
	toUserId: z.string().optional(),
	amountEtb: z.number().optional(),
	txHash: z.string().nullable(),
});
/** What the gate says about one item. */
export type Told = z.infer<typeof told>;

const claimed = z.object({
	items: z.array(told),
	send: z.array(
		z.object({
			reference: z.string(),
			toUserId: z.string(),
			amountEtb: z.string(),
			claim: z.string(),
			notAfter: z.string(),
			execution: z.string().nullable(),
		}),
	),
	claim: z.string(),
	not_after: z.string(),
});
/** What `claim` gives for a window. */
export type Claimed = z.infer<typeof claimed>;

/** The outcome of each item, in order. */
export const outcomes = (told: Array<{ outcome: string | null }>) =>
	told.map(({ outcome }) => outcome);

/** The output of the ETB Wallet node for a payment, as far as the gate reads it. */
export interface Answer {
	toUserId?: string;
	reference?: string;
	outcome?: string;
	txHash?: string;
	code?: string;
	message?: string;
	error?: Answer;
}

/** Anything that runs SQL: a connection, or a pool of them. */
type Runs = Pick<pg.Client, 'query'>;

/** Kills all processes of the PostgreSQL whose files are in a folder, at once. */
async function killPostgres(folder: string): Promise<void> {
	const [line = ''] = (await readFile(join(folder, 'data', 'postmaster.pid'), 'utf8')).split('\n');
	const postmaster = Number(line);
	// A stopped postmaster starts no other children meanwhile.
	process.kill(postmaster, 'SIGSTOP');
	const statusOf = async (pid: string) =>
		await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
	const children: string[] = [];
	for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name)))
		if ((await statusOf(pid)).includes(`\nPPid:\t${postmaster}\n`)) children.push(pid);
	for (const pid of [...children, line]) process.kill(Number(pid), 'SIGKILL');
	// A new PostgreSQL refuses to start while one of them still holds the shared memory.
	for (const pid of [...children, line])
		await eventually(`the end of process ${pid}`, async () =>
			/^State:\t[^ZX]/m.test(await statusOf(pid)) ? undefined : true,
		);
}

/** The rows of a query, as `row` describes them. */
export async function rows<Row>(
	runs: Runs,
	row: z.ZodType<Row>,
	sql: string,
	values: unknown[] = [],
): Promise<Row[]> {
	return z.array(row).parse((await runs.query(sql, values)).rows);
}

/** The one value that a query selects. */
export async function value<Value>(
	runs: Runs,
	type: z.ZodType<Value>,
	sql: string,
	values: unknown[] = [],
): Promise<Value> {
	const [row] = await rows(runs, z.record(z.unknown()), sql, values);
	return type.parse(Object.values(row ?? {})[0]);
}

/** A query is refused with this message, and this hint if one is expected. */
export async function refused(query: Promise<unknown>, message: RegExp, hint = /(?:)/) {
	await assert.rejects(query, (error: pg.DatabaseError) => {
		assert.match(error.message, message);
		assert.match(error.hint ?? '', hint);
		return true;
	});
}

/** Calls `claim` as the gate's workflow does. */
export async function claim(
	runs: Runs,
	budget: string,
	items: unknown[],
	execution = '1',
): Promise<Claimed> {
	const [row] = await rows(runs, claimed, 'select * from etb_wallet.claim($1, $2, $3)', [
		budget,
		JSON.stringify(items),
		execution,
	]);
	if (row === undefined) throw new Error('claim gave no row');
	return row;
}

/** Calls `record` as the gate's workflow does. */
export async function record(
	runs: Runs,
	budget: string,
	window: Pick<Claimed, 'claim' | 'items'>,
	answers: Answer[],
): Promise<Told[]> {
	return await value(runs, z.array(told), 'select * from etb_wallet.record($1, $2, $3, $4, $5)', [
		budget,
		window.claim,
		JSON.stringify(window.items),
		JSON.stringify(answers),
		'1',
	]);
}

/** A person settles an attempt: this one, as the desk gives it, or the last one. */
export async function settle(
	runs: Runs,
	budget: string,
	reference: string,
	wasPaid: boolean,
	attempt?: number,
): Promise<string> {
	const last = 'select max(attempt) from etb_wallet.payment where budget = $1 and reference = $2';
	return await value(
		runs,
		z.string(),
		`select etb_wallet.settle($1, $2, coalesce($3, (${last})), $4, $5, $6)`,
		[budget, reference, attempt, wasPaid, 'Abebe', 'asked the service'],
	);
}

/** Ends the leases of all payments in this state, as if their time were over. */
export async function endLeases(runs: Runs, state: 'sending' | 'unknown'): Promise<void> {
	await runs.query(
		'update etb_wallet.payment set lease_until = etb_wallet.clock() where state = $1',
		[state],
	);
}

/** Changes rules of a budget or of one of its callers, or sets a budget up, by `set_rules`. */
export async function setRules(
	runs: Runs,
	budget: string,
	rules: object,
	caller = '',
): Promise<void> {
	const values = [budget, JSON.stringify(rules), 'Abebe', caller];
	await runs.query('select etb_wallet.set_rules($1, $2, $3, $4)', values);
}

/** A database with a pay gate in it. */
export interface GateDatabase extends Address {
	/** A connection of one of `logins` or of this user, which ends with the server, if nobody ends it before. */
	connect(login: string): Promise<pg.Client>;
}

/** Connects to a test database as one of `logins` or as this user. */
export async function connect(address: Address, login: string): Promise<pg.Client> {
	const { [login]: user = login }: Record<string, string> = logins;
	const client = new pg.Client({ ...address, user });
	// The server's end ends what is still open then; a query that it meets fails by itself.
	client.on('error', () => undefined);
	await client.connect();
	return client;
}

/** Starts a PostgreSQL that holds nothing but what these tests make. */
export async function startGateServer() {
	const folder = await mkdtemp(join(tmpdir(), 'etb-wallet-gate-'));
	// PostgreSQL runs as another user.
	await chmod(folder, 0o755);
	const postgres = await startPostgres(join(folder, 'postgres'), await freePort());
	const { host, port } = postgres;
	const connectAdmin = async () => await connect({ host, port, database: 'postgres' }, 'superuser');
	let admin = await connectAdmin();
	await admin.query(`create role ${logins.setup} login createrole nosuperuser`);
	const clients: pg.Client[] = [];
	let databases = 0;
	let hasLogins = false;
	const server = {
		host,
		port,
		/** A database of this name, which is there. */
		database(database: string): GateDatabase {
			const address = { host, port, database };
			return {
				...address,
				async connect(login) {
					const client = await connect(address, login);
					clients.push(client);
					return client;
				},
			};
		},
		/** Makes an empty database that `setup_person` owns. */
		async emptyDatabase(name = `gate_${++databases}`, options = ''): Promise<GateDatabase> {
			await admin.query(`create database ${name} owner ${logins.setup} ${options}`);
			return server.database(name);
		},
		/** Makes a database and runs `schema` in it, as it is or changed. */
		async gate(schema?: string): Promise<GateDatabase> {
			const database = await server.emptyDatabase();
			const person = await database.connect('setup');
			await person.query(schema ?? (await schemaText()));
			if (!hasLogins)
				for (const role of ['gate', 'desk'] as const)
					await person.query(`create role ${logins[role]} login in role etb_wallet_${role}`);
			hasLogins = true;
			const superuser = await database.connect('superuser');
			await superuser.query(`grant usage on schema etb_wallet to ${logins.gate}, ${logins.desk}`);
			return database;
		},
		/** Stops PostgreSQL, which ends all connections, and starts it again. */
		async restart(): Promise<void> {
			await admin.end().catch(() => undefined);
			await postgres.restart();
			admin = await connectAdmin();
		},
		/** Kills PostgreSQL, as a crash does; `restart` starts it again. */
		kill: async () => await killPostgres(join(folder, 'postgres')),
		async stop(): Promise<void> {
			await Promise.allSettled(clients.map(async (client) => await client.end()));
			await admin.end();
			await postgres.stop();
			await rm(folder, { recursive: true, force: true });
		},
	};
	return server;
}
export type GateServer = Awaited<ReturnType<typeof startGateServer>>;

/**
 * Puts a clock in the place of the gate's: it goes on from 12:00:30 in Addis Ababa on the day before a month ends, and can
 * be set forward. Minutes are whole, so that no test stands on the edge of an hour, a day or a lease.
 */
export async function moveClock(database: GateDatabase): Promise<void> {
	const superuser = await database.connect('superuser');
	await superuser.query(`
		create table etb_wallet.test_clock (started_at timestamptz, moved interval);
		insert into etb_wallet.test_clock values (clock_timestamp(), '0');
		grant select on etb_wallet.test_clock to public;
		create or replace function etb_wallet.clock() returns timestamptz language sql volatile as $f$
			select timestamptz '2026-03-30 12:00:30+03' + (clock_timestamp() - started_at) + moved from etb_wallet.test_clock
		$f$;
	`);
	await superuser.end();
}
