import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { n8nFolder } from './folders.mts';
import { runNpm } from './npm.mts';

/** Written inside node_modules after a complete install: npm removes it when it starts over. */
const MARKER = join(n8nFolder, 'node_modules', '.installed-lock-hash');
const PROGRESS_EVERY_MS = 10_000;

const clockText = (seconds: number) =>
	`${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;

/**
 * Makes sure that `n8n/node_modules` is what `n8n/package-lock.json` says, and prints how far it is.
 * Instant when nothing changed; rejects with npm's own reason when the install fails.
 */
export async function ensureN8nInstalled(
	print: (line: string) => void,
	signal?: AbortSignal,
): Promise<void> {
	const lock = await readFile(join(n8nFolder, 'package-lock.json'));
	const lockHash = createHash('sha256').update(lock).digest('hex');
	const installedHash = await readFile(MARKER, 'utf8').catch(() => '');
	if (installedHash === lockHash) return;

	print('Installing n8n (once, about 3 to 5 minutes, 2.4 GB on disk)');
	const startedAt = Date.now();
	const elapsed = () => clockText(Math.round((Date.now() - startedAt) / 1000));
	const progress = setInterval(
		() => print(`  still installing n8n, ${elapsed()} so far`),
		PROGRESS_EVERY_MS,
	);
	try {
		await runNpm(['ci', '--no-audit', '--no-fund'], n8nFolder, signal);
	} finally {
		clearInterval(progress);
	}
	await writeFile(MARKER, lockHash);
	print(`n8n is installed, after ${elapsed()}`);
}
