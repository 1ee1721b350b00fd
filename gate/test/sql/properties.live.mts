/**
 * Random sequences of claims, answers, releases, a person's words, changed rules and time that goes by, from eight
 * connections, in a real PostgreSQL. GATE_SEED repeats a run's choices, GATE_LIVES sets how many lives are tried.
 */
import { after, test } from 'node:test';
import { startGateServer } from '../support/server.mts';
import { allAtOnce, CONNECTIONS, oneAfterTheOther } from './lives.mts';
import { stage } from './budget-life.mts';

const seed = Number(process.env.GATE_SEED ?? Date.now() % 1_000_000);
const lives = Number(process.env.GATE_LIVES ?? 150);
const server = await startGateServer();
after(async () => await server.stop());
const life = await stage(await server.gate(), CONNECTIONS);

test(`one call after the other, as the model says (seed ${seed})`, async () => {
	await oneAfterTheOther(life, { lives, seed });
});

test(`eight connections at once, as if one after the other (seed ${seed})`, async () => {
	await allAtOnce(life, { lives: Math.ceil(lives / 3), seed });
});
