// `npm run test:versions -- 2.41.1 2.40.7`: installs each n8n, runs the demo and the live tests in it, and writes the
// results into docs/compatibility.md. `latest` is the newest in the registry. The default is all versions that passed before.
import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { run } from 'node:test';
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
	{ name: 'restarts', file: 'test/live/n8n/starting.live.mts' },
	{ name: 'stops', file: 'test/live/n8n/stopping.live.mts' },
	{ name: 'no answer', file: 'test/live/n8n/no-answer.live.mts' },
	{ name: 'examples', file: 'test/live/n8n/examples.live.mts' },
	{ name: 'receipts', file: 'test/live/n8n/receipts.live.mts' },
	{ name: 'payrolls', file: 'test/live/n8n/payroll.live.mts', needs: 'formLogin' },
];

const print = (line: string) => console.log(line);

/** The first line of a reason, shortened to a cell of a table. */
const inCell = (reason: string) =>
	(reason.trim().split('\n')[0] ?? '').replaceAll('|', '/').replaceAll(/\s+/g, ' ').slice(0, 200);

/** The lines of npm's output with the reason begin with its error code. */
const reasonOfNpm = (message: string) =>
	/npm error (?!code)(.+)/.exec(message)?.[1] ?? message.split('\n').at(-1) ?? '';

/** Runs the demo; resolves to its last line when it failed. */
async function failureOfDemo(env: NodeJS.ProcessEnv): Promise<string | undefined> {
	const child = spawn(process.execPath, ['demo/demo.mts'], {
		cwd: projectFolder,
		env,
		stdio: ['ignore', 'inherit', 'pipe'],
	});
	const words: string[] = [];
	child.stderr.setEncoding('utf8').on('data', (text: string) => words.push(text));
	const code = await new Promise<number | null>((ended) => child.once('close', ended));
	if (code === 0) return undefined;
	const text = words.join('');
	print(text);
	return /Demo failed: (.+)/.exec(text)?.[1] ?? `exit code ${code}`;
}

interface Counted {
	passed: number;
	/** The number of tests about features that this n8n lacks. */
	skipped: number;
	/** The failed tests, each with its reason. */
	failed: string[];
}

/** Runs one file of tests against the n8n in `folder`. */
async function countTests(file: string, folder: string): Promise<Counted> {
	process.env.N8N_FOLDER = folder;
	const counted: Counted = { passed: 0, skipped: 0, failed: [] };
	const path = join(projectFolder, file);
	// A file has an entry of its own when it fails as a whole.
	const isTest = (type: string | undefined, name: string) => type !== 'suite' && name !== path;
	const tests = run({ files: [path], concurrency: 1 });
	tests.on('test:pass', ({ name, details, skip }) => {
		if (!isTest(details.type, name)) return;
		if (skip !== undefined) {
			counted.skipped++;
			print(`  – ${name}`);
			return;
		}
		counted.passed++;
		print(`  ✔ ${name}`);
	});
	tests.on('test:fail', ({ name, details }) => {
		const hasToldWhy = !isTest(details.type, name) && counted.failed.length > 0;
		if (hasToldWhy) return;
		const reason = String(details.error.cause ?? details.error);
		counted.failed.push(`"${isTest(details.type, name) ? name : file}": ${reason}`);
		print(`  ✖ ${name}\n${reason}`);
	});
	await finished(tests.resume());
	return counted;
}

async function tryVersion(version: string): Promise<TriedVersion> {
	let folder: string;
	try {
		folder = await installedN8n(version, print);
	} catch (error) {
		const reason = inCell(reasonOfNpm(error instanceof Error ? error.message : String(error)));
		return { version, result: 'does not install', run: reason };
	}
	const demo = await failureOfDemo({ ...process.env, N8N_FOLDER: folder });
	if (demo?.startsWith('n8n ended while starting') || demo?.startsWith('n8n did not answer'))
		return { version, result: 'does not start', run: inCell(demo) };

	const failed = demo === undefined ? [] : [`demo: ${demo}`];
	const without: string[] = [];
	let passed = 0;
	let skipped = 0;
	for (const { name, file, needs } of suites) {
		if (needs !== undefined && lacks(needs, version)) {
			without.push(`, no ${name}`);
			continue;
		}
		print(`n8n ${version}: ${name}`);
		const counted = await countTests(file, folder);
		passed += counted.passed;
		skipped += counted.skipped;
		failed.push(...counted.failed);
	}
	const lacking = skipped === 0 ? '' : ` (${skipped} not there)`;
	const summary = `demo and ${passed} tests${lacking}${without.join('')}`;
	const result = failed.length === 0 ? 'passes' : 'fails';
	return { version, result, run: [summary, ...failed.map(inCell)].join('<br>') };
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
	print(`n8n ${version} ${row.result}${row.run === '' ? '' : `: ${row.run}`}`);
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
