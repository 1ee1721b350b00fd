/**
 * Two processes race against a daily budget, recipients' budgets and a pause, with 4,000 claims. The history, which is
 * in the order in which things happened, tells whether each was decided as it had to be: never above, never less than fits.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { z } from 'zod';
import { moveClock, rows, setRules, startGateServer, value } from '../support/server.mts';

const run = promisify(execFile);
const CLAIMS = 4_000;
const PEOPLE = 8;
/** In ETB. People's budgets together are above the day's, so that neither hides the other. */
const PER_DAY = 8_000;
const PER_PERSON = 1_120;

const server = await startGateServer();
after(async () => await server.stop());

const line = z.object({
	event: z.string(),
	reference: z.string().nullable(),
	to: z.string().nullable(),
	amount: z.coerce.number(),
	detail: z.string().nullable(),
});

/** Goes through the history; amounts in hundredths of ETB, so that sums are exact. */
function judge(history: Array<z.infer<typeof line>>) {
	const counts = { send: 0, refused: 0, day: 0, person: 0, paused: 0, pauses: 0, back: 0 };
	const people = new Map<string, number>();
	let spent = 0;
	let most = 0;
	let isPaused = false;
	for (const [index, { event, to, amount, detail, reference }] of history.entries()) {
		const person = people.get(to ?? '') ?? 0;
		const fitsDay = spent + amount <= PER_DAY * 100;
		const fitsPerson = person + amount <= PER_PERSON * 100;
		const what = `${index}: ${event} ${reference} ${amount} to ${to}, spent ${spent} and ${person}, ${detail}`;
		if (event === 'rules') {
			isPaused =
				/"paused": true/.test(detail ?? '') || (isPaused && !/"paused"/.test(detail ?? ''));
			if (isPaused) counts.pauses++;
		} else if (event === 'send') {
			assert.ok(!isPaused && fitsDay && fitsPerson, what);
			counts.send++;
			spent += amount;
			people.set(to ?? '', person + amount);
			most = Math.max(most, spent);
		} else if (event === 'refused') {
			counts.refused++;
			if (isPaused) {
				assert.match(detail ?? '', /^Payments are paused/, what);
				counts.paused++;
			} else if (!fitsPerson) {
				assert.match(detail ?? '', /^Above the most for one recipient and day/, what);
				counts.person++;
			} else {
				assert.ok(!fitsDay, `it fits: ${what}`);
				assert.match(detail ?? '', /^Above the most for one day/, what);
				counts.day++;
			}
		} else if (event === 'notPaid') {
			counts.back++;
			spent -= amount;
			people.set(to ?? '', person - amount);
		} else {
			assert.ok(event === 'paid' || event === 'unknown', what);
		}
	}
	return { ...counts, spent, most };
}

test('4,000 claims of two processes: no budget exceeded, nothing refused that fits, nothing while paused', async (context) => {
	const database = await server.gate();
	await moveClock(database);
	const client = await database.connect('superuser');
	const budget = 'main';
	const rules = { most_per_day: PER_DAY, most_per_recipient_per_day: PER_PERSON };
	await setRules(client, budget, rules);
	const { host, port } = database;
	const work = {
		address: { host, port, database: database.database },
		budget,
		connections: 4,
		claims: CLAIMS / 2,
		people: PEOPLE,
	};
	let isRacing = true;
	const racers = Promise.all(
		['one', 'two'].map(
			async (name) =>
				await run(process.execPath, [
					join(import.meta.dirname, 'racer.mts'),
					JSON.stringify({ ...work, name }),
				]),
		),
	).finally(() => (isRacing = false));
	// Meanwhile a person pauses and goes on, and everybody who looks sees budgets that hold.
	const looker = await database.connect('desk');
	let looks = 0;
	while (isRacing) {
		await setRules(client, budget, { paused: looks % 20 < 3 });
		const sql = `select coalesce(max(case scope when 'budget' then amount_etb / ${PER_DAY} when 'recipient' then amount_etb / ${PER_PERSON} end), 0)
			from etb_wallet.spent where period = 'day'`;
		assert.ok((await value(looker, z.coerce.number(), sql)) <= 1);
		looks++;
	}
	await racers;
	const history = await rows(
		client,
		line,
		`select event, reference, to_user_id as "to", coalesce(amount_etb, 0) * 100 as amount, detail from etb_wallet.history order by id`,
	);
	const judged = judge(history);
	context.diagnostic(`${JSON.stringify(judged)} in hundredths of ETB, ${looks} looks`);
	assert.equal(judged.send + judged.refused, CLAIMS);
	for (const kind of ['send', 'day', 'person', 'paused', 'pauses', 'back'] as const)
		assert.ok(judged[kind] > 0, `the race met no "${kind}"`);
	assert.equal(
		await value(
			client,
			z.coerce.number(),
			"select amount_etb * 100 from etb_wallet.spent where scope = 'budget' and period = 'day'",
		),
		judged.spent,
	);
});
