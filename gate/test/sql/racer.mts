/** A process of its own that claims and settles as fast as it can, for races.live.mts. Takes its work as JSON in its argument. */
import { z } from 'zod';
import { claim, connect, record, type Claimed } from '../support/server.mts';

const work = z
	.object({
		address: z.object({ host: z.string(), port: z.number(), database: z.string() }),
		budget: z.string(),
		name: z.string(),
		connections: z.number(),
		claims: z.number(),
		people: z.number(),
	})
	.parse(JSON.parse(process.argv[2] ?? ''));

/** Amounts that do not fill a budget evenly. */
const AMOUNTS = [7, 11, 3.5, 19.25];

async function race(connection: number): Promise<void> {
	const client = await connect(work.address, 'gate');
	for (let index = 0; index < work.claims / work.connections; index++) {
		// The first ones are asked for most, so that their budgets end before the day's.
		const toUserId = `u${Math.floor(Math.random() ** 2 * work.people)}`;
		const amountEtb = AMOUNTS[Math.floor(Math.random() * AMOUNTS.length)];
		const reference = `${work.name}-${connection}-${index}`;
		const window = await claim(client, work.budget, [{ reference, toUserId, amountEtb }]);
		if (window.send.length > 0) await end(client, window, toUserId);
	}
	await client.end();
}

async function end(client: Awaited<ReturnType<typeof connect>>, window: Claimed, toUserId: string) {
	const chance = Math.random();
	// Some money comes back, some stays reserved.
	if (chance < 0.4) await record(client, work.budget, window, [{ toUserId, outcome: 'notPaid' }]);
	else if (chance < 0.5)
		await record(client, work.budget, window, [{ toUserId, outcome: 'unknown' }]);
	else if (chance < 0.9) await record(client, work.budget, window, [{ toUserId, outcome: 'paid' }]);
}

await Promise.all(Array.from({ length: work.connections }, async (_, index) => await race(index)));
