/** The package as it would be published. It needs `npm run build`. The linter has n8n's rules for package.json. */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { z } from 'zod';

const manifest = z
	.object({ n8n: z.object({ nodes: z.array(z.string()), credentials: z.array(z.string()) }) })
	.passthrough()
	.parse(JSON.parse(readFileSync('package.json', 'utf8')));

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

test('n8n is told to load each node and credential', () => {
	const { nodes, credentials } = manifest.n8n;
	const sources = globSync(['nodes/**/*.node.ts', 'credentials/**/*.credentials.ts']);
	expect([...nodes, ...credentials].sort()).toEqual(sources.map(builtOf).sort());
});

test('the package has no dependencies but the peer n8n-workflow', () => {
	const kinds = Object.keys(manifest).filter((name) => /dependencies/i.test(name));
	expect(kinds.sort()).toEqual(['devDependencies', 'peerDependencies']);
	expect(manifest.peerDependencies).toEqual({ 'n8n-workflow': '*' });
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
