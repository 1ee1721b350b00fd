/** Installs the pinned n8n on first use. */
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { n8nFolder } from './folders.mts';
import { runNpm } from './npm.mts';

/** Written inside node_modules after a complete install: npm removes it when it starts over. */
const markerIn = (folder: string) => join(folder, 'node_modules', '.installed-lock-hash');
const PROGRESS_EVERY_MS = 1_000;
/** The interval of lines where the output is no terminal, and a line cannot be overwritten. */
const LINE_EVERY_MS = 60_000;

const clockText = (seconds: number) =>
	`${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;

async function lockHashIn(folder: string): Promise<string> {
	const lock = await readFile(join(folder, 'package-lock.json'));
	return createHash('sha256').update(lock).digest('hex');
}

/** Whether `node_modules` of the folder is what its `package-lock.json` says. */
export async function isInstalled(folder: string): Promise<boolean> {
	const installedHash = await readFile(markerIn(folder), 'utf8').catch(() => '');
	return installedHash !== '' && installedHash === (await lockHashIn(folder).catch(() => ''));
}

/** Runs `npm ci`, or `npm install` where no lock file is yet, and prints how far it is. */
export async function installN8n(
	folder: string,
	command: 'ci' | 'install',
	print: (line: string) => void,
	signal?: AbortSignal,
): Promise<void> {
	const startedAt = Date.now();
	const elapsed = () => clockText(Math.round((Date.now() - startedAt) / 1000));
	const { isTTY } = process.stdout;
	const told = () => `Installing n8n (once, 3 to 8 minutes, 2.4 GB on disk): ${elapsed()}`;
	if (!isTTY) print(told());
	const progress = setInterval(
		() => (isTTY ? process.stdout.write(`\r${told()}`) : print(told())),
		isTTY ? PROGRESS_EVERY_MS : LINE_EVERY_MS,
	);
	try {
		await runNpm([command, '--no-audit', '--no-fund'], folder, signal);
	} finally {
		clearInterval(progress);
		if (isTTY) process.stdout.write('\n');
	}
	await writeFile(markerIn(folder), await lockHashIn(folder));
	print(`n8n is installed, after ${elapsed()}`);
}

/**
 * Makes sure that `node_modules` of the n8n folder is what its `package-lock.json` says, and prints how far it is.
 * Instant when nothing changed; rejects with npm's own reason when the install fails.
 */
export async function ensureN8nInstalled(
	print: (line: string) => void,
	signal?: AbortSignal,
): Promise<void> {
	if (!(await isInstalled(n8nFolder))) await installN8n(n8nFolder, 'ci', print, signal);
}
