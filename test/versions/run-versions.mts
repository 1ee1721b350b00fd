// `npm run test:versions -- 2.41.1 2.40.7`: installs each n8n, runs the demo and the live tests in it, and
// writes the results into docs/compatibility.md. `latest` is the newest in the registry. The default is all
// versions that passed before.
import { execFileSync, spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { parseArgs } from 'node:util';
import { lacks } from '../support/n8n/version-differences.mts';
import { projectFolder } from '../../demo/folders.mts';
import { compareVersions } from '../support/n8n/version.mts';
import { compatibilityFile, rangeOf, readTable, withRows } from './compatibility.mts';
import type { TriedVersion } from './compatibility.mts';
import { exactVersion, installedN8n } from './other-n8n.mts';

/** The tests that run in each n8n after the demo, unless it lacks `needs`. */
const suites: Array<{ name: string; file: string; needs?: Parameters<typeof lacks>[0] }> = [
	{ name: 'install and operations', file: 'test/live/n8n/install.live.mts' },
	{ name: 'payments', file: 'test/live/n8n/payments.live.mts' },
	{ name: 'settling', file: 'test/live/n8n/settling.live.mts' },
	{ name: 'trigger', file: 'test/live/n8n/trigger.live.mts' },
	{ name: 'stops', file: 'test/live/n8n/stopping.live.mts' },
	{ name: 'no response', file: 'test/live/n8n/no-response.live.mts' },
	{ name: 'examples', file: 'test/live/n8n/examples.live.mts' },
	{ name: 'receipts', file: 'test/live/n8n/receipts.live.mts' },
	{ name: 'payrolls', file: 'test/live/n8n/payroll.live.mts', needs: 'formLogin' },
];

const print = (line: string) => console.log(line);

/** Runs the demo in the n8n in `folder`. @returns whether it succeeded */
async function runDemo(folder: string): Promise<boolean> {
	const env = { ...process.env, N8N_FOLDER: folder };
	const options = { cwd: projectFolder, env, stdio: 'inherit' } as const;
	const demo = spawn(process.execPath, ['demo/demo.mts'], options);
	return (await new Promise((ended) => demo.once('close', ended))) === 0;
}

/**
 * Runs one file of tests in the n8n in `folder`, and prints its report. @returns the number of tests by their
 * result
 */
async function countTests(file: string, folder: string) {
	process.env.N8N_FOLDER = folder;
	const counts = { passed: 0, skipped: 0, failed: 0 };
	const tests = run({ files: [join(projectFolder, file)], concurrency: 1 });
	tests.on('test:summary', (summary) => {
		if (summary.file !== undefined) return;
		const { passed, skipped, tests: all } = summary.counts;
		Object.assign(counts, { passed, skipped, failed: all - passed - skipped });
	});
	await finished(tests.compose(spec).on('data', (text) => process.stdout.write(String(text))));
	return counts;
}

const commit = execFileSync('git', ['describe', '--always', '--dirty'], {
	cwd: projectFolder,
	encoding: 'utf8',
}).trim();

async function tryVersion(version: string): Promise<TriedVersion> {
	let folder: string;
	try {
		folder = await installedN8n(version, print);
	} catch (error) {
		print(String(error));
		return { version, result: 'does not install', commit, run: '' };
	}
	const isDemoRight = await runDemo(folder);
	const sum = { passed: 0, failed: isDemoRight ? 0 : 1, skipped: 0 };
	const without: string[] = [];
	for (const { name, file, needs } of suites) {
		if (needs !== undefined && lacks(needs, version)) {
			without.push(`, no ${name}`);
			continue;
		}
		print(`n8n ${version}: ${name}`);
		const counted = await countTests(file, folder);
		sum.passed += counted.passed;
		sum.failed += counted.failed;
		sum.skipped += counted.skipped;
	}
	const lacking = sum.skipped === 0 ? '' : ` (${sum.skipped} not there)`;
	const failing = sum.failed === 0 ? '' : ` (${sum.failed} failed)`;
	const run = `${isDemoRight ? 'demo' : 'demo (failed)'} and ${sum.passed} tests${failing}${lacking}${without.join('')}`;
	return { version, result: sum.failed === 0 ? 'passes' : 'fails', commit, run };
}

const { positionals } = parseArgs({ allowPositionals: true });
const documentFile = join(projectFolder, compatibilityFile);
const readRows = async () => readTable(await readFile(documentFile, 'utf8'));
const passedBefore = (await readRows()).filter(({ result }) => result === 'passes');
const wantedVersions =
	positionals.length > 0 ? positionals : passedBefore.map(({ version }) => version);
const rows: TriedVersion[] = [];
for (const wanted of wantedVersions) {
	const version = await exactVersion(wanted);
	print(`\n=== n8n ${version}`);
	const row = await tryVersion(version);
	rows.push(row);
	print(`n8n ${version} ${row.result}: ${row.run}`);
	// Written after each version, so that a later failure loses no result.
	const document = await readFile(documentFile, 'utf8');
	await writeFile(documentFile, withRows(document, [row]));
}

const oldest = rangeOf(await readRows())?.oldest ?? '0.0.0';
const missed = rows.filter(
	({ version, result }) => result !== 'passes' && compareVersions(version, oldest) >= 0,
);
print(`\n${rows.map(({ version, result }) => `${version} ${result}`).join(', ')}`);
if (missed.length > 0) process.exitCode = 1;
