/** What is measured, and on which machine. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { n8nFolder, projectFolder } from '../demo/folders.mts';

const git = (...args: string[]) =>
	execFileSync('git', args, { cwd: projectFolder, encoding: 'utf8' }).trim();

/** The commit that is measured, and whether what is published of it was changed since. */
export function commit(): string {
	const changes = git('status', '--porcelain', '--', 'nodes', 'credentials', 'package.json');
	return `${git('rev-parse', '--short', 'HEAD')}${changes === '' ? '' : ', with changes'}`;
}

function versionOf(dependency: string): string {
	const require = createRequire(join(n8nFolder, 'package.json'));
	const manifest: unknown = JSON.parse(readFileSync(require.resolve(dependency), 'utf8'));
	return z.object({ version: z.string() }).parse(manifest).version;
}

/** The machine's size and what runs on it, in one line. */
export const machine = (): string =>
	`${availableParallelism()} cores, ${Math.round(totalmem() / 1024 ** 3)} GB of memory, ${process.platform}, Node ${process.versions.node}, n8n ${versionOf('n8n/package.json')} with SQLite and its default settings`;

/** How many processes want a core at this moment, averaged over a minute. */
export const load = (): number => loadavg()[0] ?? NaN;
