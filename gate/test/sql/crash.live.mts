/** PostgreSQL is killed in the middle of claims, GATE_CRASHES times: what an answer told is still there, and nobody is paid twice. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type pg from 'pg';
import { z } from 'zod';
import { claim, record, rows, setRules, startGateServer } from '../support/server.mts';
import { faultsInHistory } from './invariants.mts';

const ROUNDS = Number(process.env.GATE_CRASHES ?? 8);
const CONNECTIONS = 12;

const server = await startGateServer();
after(async () => await server.stop());

test('killed in the middle of claims, with synchronous_commit off by default: no told answer is lost, nobody is paid twice', async (context) => {
	const database = await server.gate();
	let superuser = await database.connect('superuser');
	await superuser.query(`alter database ${database.database} set synchronous_commit = off`);
	await superuser.query('alter role all set synchronous_commit = off');
	await setRules(superuser, 'main', {});
	/** What the last answer about a reference told, and how often the service paid it. */
	const told = new Map<string, string>();
	const paid = new Map<string, number>();
	let references = 0;
	let isKilled = false;

	const pay = async (client: pg.Client, list: string[]) => {
		const items = list.map((reference) => ({ reference, toUserId: 'u', amountEtb: 1 }));
		const window = await claim(client, 'main', items);
		for (const { reference } of window.send) told.set(reference, 'sending');
		// Now and then n8n dies here.
		if (Math.random() < 0.1) return;
		for (const { reference } of window.send) paid.set(reference, (paid.get(reference) ?? 0) + 1);
		const answers = window.send.map(({ toUserId, reference }) => ({
			...{ toUserId, outcome: 'paid', txHash: `0x${reference}` },
		}));
		for (const { reference = '', outcome } of await record(client, 'main', window, answers))
			told.set(reference, outcome ?? '');
	};
	const work = async () => {
		const client = await database.connect('gate').catch(() => undefined);
		while (client !== undefined && !isKilled) {
			const list = Array.from(
				{ length: 1 + Math.floor(Math.random() * 10) },
				() => `r${references++}`,
			);
			if (
				await pay(client, list).then(
					() => false,
					() => true,
				)
			)
				break;
		}
		await client?.end().catch(() => undefined);
	};

	for (let round = 0; round < ROUNDS; round++) {
		isKilled = false;
		const before = told.size;
		const working = Array.from({ length: CONNECTIONS }, work);
		// In the middle: a random number of payments further.
		const enough = before + 100 + Math.floor(Math.random() * 400);
		while (told.size < enough) await new Promise((resolve) => setImmediate(resolve));
		isKilled = true;
		await server.kill();
		await Promise.all(working);
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
		[...paid].filter(([, times]) => times > 1),
		[],
	);
	assert.deepEqual(await faultsInHistory(superuser, 'main', {}), []);
	context.diagnostic(`${told.size} references, ${paid.size} paid`);
});
