/** The package as it would be published. It needs `npm run build`. */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { z } from 'zod';

const manifest = z
	.object({
		files: z.array(z.string()),
		n8n: z.object({
			n8nNodesApiVersion: z.literal(1),
			strict: z.literal(true),
			nodes: z.array(z.string()),
			credentials: z.array(z.string()),
		}),
		peerDependencies: z.record(z.string()),
		scripts: z.record(z.string()),
	})
	.passthrough()
	.parse(JSON.parse(readFileSync('package.json', 'utf8')));

const built = globSync('dist/**/*', { withFileTypes: true })
	.filter((entry) => entry.isFile())
	.map(({ parentPath, name }) => `${parentPath}/${name}`);

describe('the tarball', () => {
	const packResult = z.array(z.object({ files: z.array(z.object({ path: z.string() })) }));
	const packed = (): string[] => {
		const text = execFileSync('npm', ['pack', '--dry-run', '--json'], {
			encoding: 'utf8',
			stdio: ['ignore', 'pipe', 'ignore'],
		});
		return packResult.parse(JSON.parse(text)).flatMap(({ files }) => files.map(({ path }) => path));
	};

	test('holds dist, package.json, README, LICENSE and CHANGELOG, and nothing else', () => {
		const files = packed();
		expect(files.filter((path) => !path.startsWith('dist/')).sort()).toEqual([
			'CHANGELOG.md',
			'LICENSE.md',
			'README.md',
			'package.json',
		]);
		expect(files.filter((path) => path.startsWith('dist/')).sort()).toEqual([...built].sort());
	});

	test('has every file that n8n is told to load', () => {
		const { nodes, credentials } = manifest.n8n;
		expect(nodes).toHaveLength(globSync('nodes/**/*.node.ts').length);
		expect(credentials).toHaveLength(globSync('credentials/**/*.credentials.ts').length);
		for (const file of [...nodes, ...credentials]) expect(built).toContain(file);
	});

	test('has nothing left over from earlier builds', () => {
		const sourceOf = (file: string): string => file.replace(/^dist\//, '').replace(/\.js$/, '.ts');
		expect(built.filter((file) => !existsSync(sourceOf(file)))).toEqual([]);
	});

	test('has all that was built from the source, with icons and schemas', () => {
		const sources = globSync([
			'{nodes,credentials}/**/*.ts',
			'nodes/**/*.svg',
			'nodes/**/*.node.json',
			'nodes/**/__schema__/**/*.json',
		]);
		const builtOf = (file: string): string => `dist/${file.replace(/\.ts$/, '.js')}`;
		expect(sources.map(builtOf).filter((file) => !built.includes(file))).toEqual([]);
	});
});

describe('package.json', () => {
	test('has no dependencies but the peer n8n-workflow of any version', () => {
		const { peerDependencies } = manifest;
		expect(peerDependencies).toEqual({ 'n8n-workflow': '*' });
		for (const field of [
			'dependencies',
			'optionalDependencies',
			'bundleDependencies',
			'bundledDependencies',
			'overrides',
			'peerDependenciesMeta',
		]) {
			expect(manifest).not.toHaveProperty(field);
		}
	});

	test('has no script that runs when the package is installed, packed or published', () => {
		const lifecycle = [
			...['preinstall', 'install', 'postinstall', 'preuninstall', 'uninstall', 'postuninstall'],
			...['prepare', 'preprepare', 'postprepare', 'prepack', 'postpack'],
			...['prepublish', 'prepublishOnly', 'publish', 'postpublish', 'dependencies'],
		];
		expect(Object.keys(manifest.scripts).filter((name) => lifecycle.includes(name))).toEqual([]);
	});
});

test('the published code imports n8n-workflow, node:crypto and its own files, nothing else', () => {
	const imported = built
		.filter((file) => file.endsWith('.js'))
		.flatMap((file) => [
			...readFileSync(file, 'utf8').matchAll(/\b(?:require|import)\s*\(\s*([^)]*?)\s*\)/g),
		])
		.map(([, target = '']) => target);
	expect(imported.length).toBeGreaterThan(0);
	const allowed = /^(['"])(n8n-workflow|node:crypto|\.\.?(\/[\w.-]+)+)\1$/;
	expect(imported.filter((target) => !allowed.test(target))).toEqual([]);
});

test('the published code holds no path of the machine that built it', () => {
	for (const file of built) {
		const text = readFileSync(file, 'utf8');
		expect(text).not.toContain(process.cwd());
		expect(text).not.toContain('file:///');
	}
});
