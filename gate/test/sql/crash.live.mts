/** PostgreSQL is killed in the middle of claims, GATE_CRASHES times: what was told is still there, and nobody is paid twice. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type pg from 'pg';
import { z } from 'zod';
import { claim, record, rows, setRules, startGateServer } from '../support/server.mts';
import { paid } from '../support/work.mts';
import { faultsInHistory } from './invariants.mts';

const ROUNDS = Number(process.env.GATE_CRASHES ?? 8);
const CONNECTIONS = 12;

const server = await startGateServer();
after(async () => await server.stop());

test('killed in the middle of claims, with synchronous_commit off by default: nothing that was told is lost, nobody is paid twice', async (context) => {
	const database = await server.gate();
	let superuser = await database.connect('superuser');
	await superuser.query(`alter database ${database.database} set synchronous_commit = off`);
	await superuser.query('alter role all set synchronous_commit = off');
	await setRules(superuser, 'main', {});
	/** What was told last about a reference, and the number of times that the service paid it. */
	const told = new Map<string, string>();
	const times = new Map<string, number>();
	let references = 0;

	const pay = async (client: pg.Client, list: string[]) => {
		const items = list.map((reference) => ({ reference, toUserId: 'u', amountEtb: 1 }));
		const window = await claim(client, 'main', items);
		for (const { reference } of window.send) told.set(reference, 'sending');
		// Now and then n8n dies here.
		if (Math.random() < 0.1) return;
		for (const { reference } of window.send) times.set(reference, (times.get(reference) ?? 0) + 1);
		for (const each of await record(client, 'main', window, paid(window)))
			told.set(each.reference ?? '', each.outcome ?? '');
	};
	/** Pays until its connection ends. */
	const work = async () => {
		const client = await database.connect('gate');
		for (;;) {
			const length = 1 + Math.floor(Math.random() * 10);
			const list = Array.from({ length }, () => `r${references++}`);
			await pay(client, list);
		}
	};

	for (let round = 0; round < ROUNDS; round++) {
		const before = told.size;
		const ended = Promise.allSettled(Array.from({ length: CONNECTIONS }, work));
		// In the middle: a random number of payments further.
		const enough = before + 100 + Math.floor(Math.random() * 400);
		while (told.size < enough) await new Promise((resolve) => setImmediate(resolve));
		await server.kill();
		await ended;
		await superuser.end().catch(() => undefined);
		await server.restart();
		superuser = await database.connect('superuser');
		const row = z.object({ reference: z.string(), state: z.string() });
		const sql = 'select reference, state from etb_wallet.payment';
		const kept = new Map(
			(await rows(superuser, row, sql)).map((own) => [own.reference, own.state]),
		);
		for (const [reference, outcome] of told)
			if (outcome === 'paid') assert.equal(kept.get(reference), 'paid', reference);
			else assert.ok(kept.has(reference), `${reference} was handed out, and is gone`);
		// The caller runs its whole list again.
		const gate = await database.connect('gate');
		await pay(gate, [...told.keys()].slice(-200));
		await gate.end();
	}
	assert.deepEqual(
		[...times].filter(([, count]) => count > 1),
		[],
	);
	assert.deepEqual(await faultsInHistory(superuser, 'main', {}), []);
	context.diagnostic(`${told.size} references, ${times.size} paid`);
});
