/** Breaks the gate's SQL, one rule at a time, and sees it noticed: by the random lives, or by the test file that a mutation names. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { schemaText, startGateServer, type GateServer } from './support/server.mts';
import { mutations } from './mistakes.mts';
import { mutated } from '../../test/support/mutation.mts';
import { allAtOnce, CONNECTIONS, oneAfterTheOther } from './sql/lives.mts';
import { stage } from './sql/budget-life.mts';

/** The same lives for all, so that what is caught stays caught. */
const SEED = 14;

let server: GateServer;
let schema: string;
let folder: string;

before(async () => {
	server = await startGateServer();
	schema = await schemaText();
	folder = await mkdtemp(join(tmpdir(), 'etb-wallet-mutations-'));
});
after(async () => {
	await server.stop();
	await rm(folder, { recursive: true, force: true });
});

/** What the lives notice in a gate with this schema, or undefined. */
async function noticedByLives(changed: string): Promise<string | undefined> {
	const life = await stage(await server.gate(changed), CONNECTIONS);
	try {
		await oneAfterTheOther(life, {
			lives: 150,
			seed: SEED,
			endOnFailure: true,
		});
		await allAtOnce(life, { lives: 40, seed: SEED });
		return undefined;
	} catch (error) {
		return error instanceof Error ? error.message : String(error);
	} finally {
		await life.end();
	}
}

/** The tests of a file that fail on a gate with this schema, or undefined. */
async function noticedByFile(file: string, changed: string): Promise<string | undefined> {
	const schemaFile = join(folder, 'schema.sql');
	await writeFile(schemaFile, changed);
	const child = spawn(
		process.execPath,
		['--test', '--test-reporter=spec', join(import.meta.dirname, 'sql', `${file}.live.mts`)],
		// Without NODE_TEST_CONTEXT: it would tell this test's parent what it finds.
		{ env: { ...process.env, GATE_SCHEMA: schemaFile, NODE_TEST_CONTEXT: undefined } },
	);
	let said = '';
	child.stdout.on('data', (part: Buffer) => (said += part.toString()));
	await once(child, 'close');
	if (child.exitCode === 0) return undefined;
	return [...new Set(said.match(/(?<=^✖ ).*(?= \()/gm))].join('; ');
}

for (const { noticedBy, ...mutation } of mutations) {
	test(`noticed: ${mutation.breaks} (${mutation.file})`, async (context) => {
		const changed = mutated(schema, mutation);
		const story = await (noticedBy === undefined
			? noticedByLives(changed)
			: noticedByFile(noticedBy, changed));
		assert.notEqual(story, undefined, 'nothing was noticed');
		context.diagnostic(story?.split('\n').slice(0, 3).join(' ') ?? '');
	});
}
