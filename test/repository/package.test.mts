/**
 * The package as it would be published. It needs `npm run build`. The linter has n8n's rules for package.json:
 * it registers each node, and has no dependencies.
 */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { z } from 'zod';

const builtOf = (source: string): string => `dist/${source.replace(/\.ts$/, '.js')}`;
const built = globSync([
	'{nodes,credentials}/**/*.ts',
	'nodes/**/*.{svg,node.json}',
	'nodes/**/__schema__/**/*.json',
]).map(builtOf);

test('the tarball holds what is built of each source, and package.json, README, LICENSE and CHANGELOG', () => {
	const text = execFileSync('npm', ['pack', '--dry-run', '--json'], {
		encoding: 'utf8',
		stdio: ['ignore', 'pipe', 'ignore'],
	});
	const [packed] = z
		.array(z.object({ files: z.array(z.object({ path: z.string() })) }))
		.parse(JSON.parse(text));
	expect(packed?.files.map(({ path }) => path).sort()).toEqual(
		['CHANGELOG.md', 'LICENSE.md', 'README.md', 'package.json', ...built].sort(),
	);
});

const builtCode = built
	.filter((file) => file.endsWith('.js'))
	.map((file) => readFileSync(file, 'utf8'))
	.join('\n');

test('the published code imports n8n-workflow, node:crypto and its own files, nothing else', () => {
	const calls = builtCode.matchAll(/\b(?:require|import)\s*\(\s*([^)]*?)\s*\)/g);
	const imported = [...calls].map(([, target = '']) => target);
	expect(imported.length).toBeGreaterThan(0);
	const allowed = /^(['"])(n8n-workflow|node:crypto|\.\.?(\/[\w.-]+)+)\1$/;
	expect(imported.filter((target) => !allowed.test(target))).toEqual([]);
});

test('the published code holds no path of the machine that built it', () => {
	expect(builtCode).not.toContain(process.cwd());
	expect(builtCode).not.toContain('file:///');
});
