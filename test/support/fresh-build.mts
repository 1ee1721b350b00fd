/** Keeps tests from running an old build: those of the engine, the model and the real n8n load `dist/`. */
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname ?? __dirname, '../..');

const sources = globSync(['{nodes,credentials}/**/*.ts', 'nodes/**/*.{svg,json}'], { cwd: root });

/** Compiled code is compared by time. Copied assets are compared by content. */
function isStale(source: string): boolean {
	const from = join(root, source);
	const built = join(root, 'dist', source.replace(/\.ts$/, '.js'));
	if (!existsSync(built)) return true;
	return source.endsWith('.ts')
		? statSync(from).mtimeMs > statSync(built).mtimeMs
		: !readFileSync(from).equals(readFileSync(built));
}

/** @throws {Error} if a source of the package was changed after the last build */
export function requireFreshBuild(): void {
	const stale = sources.find(isStale);
	if (stale !== undefined)
		throw new Error(`${stale} was changed after the last build: run "npm run build" first`);
}
