/** Breaks the gate's SQL, one rule at a time, and sees it noticed by the test file that a mutation names. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { mutated } from '../../test/support/mutation.mts';
import { schemaText } from '../start/workflows.mts';
import { mutations } from './mistakes.mts';

const schema = await schemaText();
const folder = await mkdtemp(join(tmpdir(), 'etb-wallet-mutations-'));
after(async () => await rm(folder, { recursive: true, force: true }));

/** The tests of a file that fail on a gate with this schema, or undefined. */
async function noticed(file: string, changed: string): Promise<string | undefined> {
	const schemaFile = join(folder, 'schema.sql');
	await writeFile(schemaFile, changed);
	const child = spawn(
		process.execPath,
		['--test', '--test-reporter=spec', join(import.meta.dirname, 'sql', `${file}.live.mts`)],
		// Without NODE_TEST_CONTEXT: it would tell this test's parent what it finds.
		{
			env: {
				...process.env,
				...{ GATE_SCHEMA: schemaFile, GATE_RACE_SECONDS: '5', NODE_TEST_CONTEXT: undefined },
			},
		},
	);
	let said = '';
	child.stdout.on('data', (part: Buffer) => (said += part.toString()));
	await once(child, 'close');
	if (child.exitCode === 0) return undefined;
	return [...new Set(said.match(/(?<=^✖ ).*(?= \()/gm))].join('; ');
}

for (const { noticedBy, ...mutation } of mutations) {
	test(`noticed: ${mutation.breaks} (${mutation.file})`, async (context) => {
		const by = await noticed(noticedBy, mutated(schema, mutation));
		assert.notEqual(by, undefined, 'nothing was noticed');
		context.diagnostic(by ?? '');
	});
}
