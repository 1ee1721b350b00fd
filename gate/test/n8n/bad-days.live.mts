/** Bad days of the pay gate in the real n8n: a PostgreSQL that is not right, gone for a while, or cut off at each step; an n8n that is killed. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { z } from 'zod';
import { freePort } from '../../../demo/ports.mts';
import { eventually } from '../../../test/support/lab.mts';
import { counts, type Payment } from '../../../test/support/callers.mts';
import {
	beginPaying,
	gateWorkflow,
	openOf,
	settleByPerson,
	startGateLab,
	toldIn,
	unpaid,
} from '../support/gate-lab.mts';
import { connect, logins, value } from '../support/server.mts';
import { startWire } from '../support/wire.mts';

const gateLab = await startGateLab();
after(async () => await gateLab.stop());
const wire = await startWire(gateLab.server);
after(async () => await wire.close());
const gateId = await gateLab.addGate({
	address: { ...gateLab.database, host: '127.0.0.1', port: wire.port },
});

const { times } = gateLab;
const once = (payments: Payment[]) => payments.map(() => 1);
const requests = () => gateLab.lab.sandbox.requests.length;

const open = async (payments: Payment[]) => await openOf(gateLab.superuser, payments);

/** Whatever happened: what the gate says of each is true, nothing is free that was paid, and in the end all are paid once. */
async function isTrueAndEndsWell(payments: Payment[]): Promise<Record<string, number>> {
	const before = times(payments);
	assert.ok(
		before.every((count) => count <= 1),
		'nobody is paid twice',
	);
	const { told } = await gateLab.pay(payments, gateId);
	for (const [index, { outcome, message }] of told.entries()) {
		const expected = before[index] === 1 ? ['alreadyPaid', 'unknown'] : ['paid', 'unknown'];
		assert.ok(expected.includes(outcome), `${index}: ${before[index]} ${outcome} ${message}`);
	}
	await settleByPerson(gateLab.superuser, gateLab.lab.sandbox, payments);
	const last = await gateLab.pay(payments, gateId);
	assert.deepEqual(unpaid(last.told), []);
	assert.deepEqual(times(payments), once(payments));
	return counts(told);
}

void describe('a PostgreSQL that is not right: one error that names what to do, and nothing is sent', () => {
	/** What a person finds in the failed execution. */
	async function failure(id: string): Promise<string> {
		const before = requests();
		const { execution, told } = await gateLab.pay(gateLab.payroll(`bad ${randomUUID()}`, 2), id);
		assert.equal(execution.status, 'error');
		assert.deepEqual(told, []);
		assert.equal(requests(), before);
		return execution.error ?? '';
	}

	const said = (why: RegExp, whatToDo: RegExp) =>
		new RegExp(`${why.source}.*\\. Nothing was sent\\. What to do: ${whatToDo.source}`);

	const wrongAddresses = [
		[
			'no PostgreSQL',
			async () => ({ host: '127.0.0.1', port: await freePort(), database: 'gate' }),
			said(/Connection refused/, /see that PostgreSQL runs and that n8n reaches it: Host and Port/),
		],
		[
			'no such database',
			() => ({ ...gateLab.database, database: 'gone' }),
			said(/database "gone" does not exist/, /correct the credential of Claim and Record/),
		],
		[
			'no schema',
			async () => await gateLab.server.emptyDatabase(),
			said(/schema "etb_wallet" does not exist/, /.*Run the workflow "Pay gate set-up" in it/),
		],
		[
			'no rules for the budget',
			async () => await gateLab.server.gate(),
			said(
				/The pay gate has no rules for the budget "main", so nobody is paid/,
				/run the workflow "Pay gate set-up", or save limits at the desk/,
			),
		],
	] as const;
	for (const [what, address, expected] of wrongAddresses) {
		test(what, async () => {
			const id = await gateLab.addGate({ address: await address() });
			assert.match(await failure(id), expected);
		});
	}

	test('a credential that is gone', async () => {
		const { lab, account } = gateLab;
		const id = await lab.api.createWorkflow(
			await gateWorkflow({ id: 'gone', name: 'gone' }, account),
		);
		await lab.api.activate(id);
		assert.match(
			await failure(id),
			said(/n8n did not get as far as asking it/, /open Claim in this execution/),
		);
	});

	test('a schema of another version', async () => {
		const { superuser } = gateLab;
		await superuser.query('update etb_wallet.version set version = version - 100');
		try {
			assert.match(
				await failure(gateId),
				said(
					/The workflow needs version \d+ of the pay gate, and this database has version -\d+/,
					/take gate-set-up\.json and pay-gate\.json of the same release/,
				),
			);
		} finally {
			await superuser.query('update etb_wallet.version set version = version + 100');
		}
	});

	test('a schema whose functions are others', async () => {
		const claim = 'etb_wallet.claim(text, json, text, timestamptz, integer)';
		await gateLab.superuser.query(`alter function ${claim} rename to claim_of_old`);
		try {
			assert.match(
				await failure(gateId),
				said(
					/function etb_wallet\.claim\(.*\) does not exist/,
					/take gate-set-up\.json and pay-gate\.json of the same release/,
				),
			);
		} finally {
			await gateLab.superuser.query(
				`alter function ${claim.replace('claim', 'claim_of_old')} rename to claim`,
			);
		}
	});

	for (const login of ['stranger', 'desk'] as const) {
		test(`a login without the role: ${login}`, async () => {
			if (login === 'stranger')
				await gateLab.superuser.query(`create role ${logins.stranger} login`);
			assert.match(
				await failure(await gateLab.addGate({ login })),
				said(
					login === 'desk'
						? /permission denied for function claim/
						: /permission denied for schema etb_wallet/,
					/this login may not pay\. In Claim and Record choose the credential "Pay gate"/,
				),
			);
		});
	}

	/** What the gate says while its login has this default. */
	async function failureWith(setting: string): Promise<string> {
		const { superuser } = gateLab;
		// n8n keeps connections, and a default holds from the next one on.
		const endConnections = `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${logins.gate}'`;
		await superuser.query(`alter role ${logins.gate} set ${setting}; ${endConnections}`);
		try {
			return await failure(gateId);
		} finally {
			await superuser.query(`alter role ${logins.gate} reset all; ${endConnections}`);
		}
	}
	const runSetUp =
		/a default of the server, the database or the login is in the way\. Run "Pay gate set-up" again/;

	const defaults = [
		[
			'a default isolation level that does not see what others wrote',
			`default_transaction_isolation = 'serializable'`,
			/needs the isolation level READ COMMITTED, and this transaction is SERIALIZABLE/,
		],
		[
			'a login that only reads by default',
			'default_transaction_read_only = on',
			/read-only transaction/,
		],
	] as const;
	for (const [what, setting, why] of defaults) {
		test(what, async () => {
			assert.match(await failureWith(setting), said(why, runSetUp));
		});
	}

	/** A person's transaction that changed a limit, and that nobody ended. */
	async function withForgotten<Result>(run: (pid: number) => Promise<Result>): Promise<Result> {
		const forgotten = await gateLab.database.connect('superuser');
		try {
			await forgotten.query('begin; update etb_wallet.rules set most_per_month = 5');
			return await run(await value(forgotten, z.number(), 'select pg_backend_pid()'));
		} finally {
			await forgotten.end();
		}
	}

	test('a small statement_timeout', async () => {
		assert.match(
			await withForgotten(async () => await failureWith(`statement_timeout = '500ms'`)),
			said(/canceling statement due to statement timeout/, runSetUp),
		);
	});

	test('a transaction that somebody forgot', async () => {
		await withForgotten(async (pid) => {
			assert.match(
				await failure(gateId),
				said(
					new RegExp(`waited 10 seconds for a connection that holds the budget "main": ${pid} `),
					/somebody forgot a transaction that is open/,
				),
			);
		});
	});

	/** A connection without rights, to another database of the server. */
	const neighbour = async () =>
		await connect({ ...gateLab.server, database: 'postgres' }, 'stranger');
	const ofItsOwn = /other logins of this server have used up .* a PostgreSQL server of its own/;

	test('a login without rights that takes all locks of the server', async () => {
		const stranger = await neighbour();
		// A hundred at once, then one by one.
		for (const [step, from] of [
			[100, 0],
			[1, 1_000_000],
		] as const) {
			const lock = `select count(pg_advisory_lock_shared(i)) from generate_series($1::int, $1::int + ${step - 1}) i`;
			let next: number = from;
			while (await stranger.query(lock, [next]).then(Boolean, () => false)) next += step;
		}
		try {
			assert.match(await failure(gateId), said(/out of shared memory/, ofItsOwn));
		} finally {
			await stranger.end();
		}
	});

	test('a login without rights that takes all connections of the server', async () => {
		const strangers: Array<Awaited<ReturnType<typeof neighbour>>> = [];
		await gateLab.superuser.query(
			`select pg_terminate_backend(pid) from pg_stat_activity where usename = '${logins.gate}'`,
		);
		try {
			for (;;) strangers.push(await neighbour());
		} catch (error) {
			assert.match(String(error), /too many clients|connection slots/);
		}
		try {
			assert.match(await failure(gateId), said(/too many clients|connection slots/, ofItsOwn));
		} finally {
			await Promise.all(strangers.map(async (stranger) => await stranger.end()));
		}
	});

	test('a disk that is full', async () => {
		const { superuser } = gateLab;
		await superuser.query(`
			create function public.is_full() returns trigger language plpgsql as $f$ begin
				raise exception 'could not extend file "base/5/16446": No space left on device' using errcode = 'disk_full';
			end $f$;
			create trigger is_full before insert on etb_wallet.payment for each row execute function public.is_full()`);
		try {
			assert.match(
				await failure(gateId),
				said(/No space left on device/, /the disk of PostgreSQL is full\. Make room/),
			);
		} finally {
			await superuser.query('drop function public.is_full cascade');
		}
	});
});

void describe('a connection that is cut', () => {
	const places = [
		['when claim is sent', 'etb_wallet.claim(', 'asked'],
		['when claim is answered', 'etb_wallet.claim(', 'answered'],
		['when record is sent', 'etb_wallet.record(', 'asked'],
		['when record is answered', 'etb_wallet.record(', 'answered'],
	] as const;
	for (const [where, query, at] of places) {
		test(where, async (context) => {
			const payments = gateLab.payroll(`cut ${where}`, 60);
			const cut = wire.cutAt({ query, at });
			const { told, execution } = await gateLab.pay(payments, gateId);
			await cut;
			context.diagnostic(`told ${JSON.stringify(counts(told))} ${execution.error ?? ''}`);
			if (query.includes('record')) {
				assert.deepEqual(counts(told), { paid: 60 });
				assert.deepEqual(await open(payments), []);
			} else {
				assert.deepEqual(new Set(times(payments)), new Set([0]));
				assert.equal((await open(payments)).length, at === 'asked' ? 0 : 50);
			}
			await isTrueAndEndsWell(payments);
		});
	}

	test('while it pays', async (context) => {
		const { sandbox } = gateLab.lab;
		const payments = gateLab.payroll('cut while it pays', 60);
		let isCut = false;
		sandbox.faults.plan('POST /disburse', () => {
			if (!isCut) wire.cutAll();
			isCut = true;
			return undefined;
		});
		const { told, execution } = await gateLab.pay(payments, gateId);
		sandbox.faults.clear();
		assert.ok(isCut);
		context.diagnostic(`told ${JSON.stringify(counts(told))} ${execution.error ?? ''}`);
		assert.deepEqual(counts(told), { paid: 60 });
		await isTrueAndEndsWell(payments);
	});
});

async function untilPaid(payments: Payment[], count: number): Promise<void> {
	await eventually(`${count} payments`, () =>
		times(payments).filter((each) => each > 0).length >= count ? true : undefined,
	);
}

test('PostgreSQL stops and starts again in the middle: nobody is paid twice, and all is told truly', async (context) => {
	const { lab } = gateLab;
	const payments = gateLab.payroll('restart', 200);
	lab.sandbox.setLatency(20);
	const running = await beginPaying(lab.api, gateId, payments);
	await untilPaid(payments, 60);
	await gateLab.restartPostgres();
	const execution = await lab.api.endedExecution(running, 120_000);
	lab.sandbox.setLatency(0);
	context.diagnostic(
		`${execution.status}: ${JSON.stringify(counts(toldIn(execution)))} ${execution.error ?? ''}`,
	);
	context.diagnostic(`then ${JSON.stringify(await isTrueAndEndsWell(payments))}`);
});

test('n8n is killed in the middle: nobody is paid twice, and what it was sending is not free', async (context) => {
	const { lab } = gateLab;
	const payments = gateLab.payroll('killed', 200);
	lab.sandbox.setLatency(20);
	await beginPaying(lab.api, gateId, payments);
	await untilPaid(payments, 70);
	lab.n8n.kill();
	await lab.n8n.exited;
	lab.sandbox.setLatency(0);
	assert.equal((await open(payments)).length, 50);
	await lab.restartN8n();
	context.diagnostic(`then ${JSON.stringify(await isTrueAndEndsWell(payments))}`);
});
