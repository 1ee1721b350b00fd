/** Versions of n8n. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { n8nFolder } from '../../../demo/folders.mts';

/** The version of the n8n in `n8nFolder`, such as 2.41.1. @throws when it is not installed */
export function n8nVersion(): string {
	const file = join(n8nFolder, 'node_modules', 'n8n', 'package.json');
	return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(file, 'utf8'))).version;
}

/** A number below zero when the first version is older. */
export function compareVersions(one: string, other: string): number {
	const [a, b] = [one, other].map((version) => version.split('.').map(Number));
	const difference = [0, 1, 2].map((part) => (a?.[part] ?? 0) - (b?.[part] ?? 0));
	return difference.find((value) => value !== 0) ?? 0;
}
