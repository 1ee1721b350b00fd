/** Import rules: each folder names the folders that it may import from, so that it can be read and moved alone. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

/** The relative imports of the files that match a pattern. */
const importsIn = (pattern: string): { file: string; imported: string }[] =>
	globSync(pattern, { exclude: (name) => name === 'node_modules' }).flatMap((file) =>
		ts
			.preProcessFile(readFileSync(file, 'utf8'))
			.importedFiles.filter(({ fileName }) => fileName.startsWith('.'))
			.map(({ fileName }) => ({ file, imported: join(dirname(file), fileName) })),
	);

/** A kind of test (`test/engine`, `test/live/n8n`), or the top folder. */
const folderOf = (file: string): string =>
	/^(test\/live\/\w+|test\/\w+|\w+)\//.exec(file)?.[1] ?? '';

const published = ['nodes', 'credentials'];
/** The folders that several folders import from. Any other folder is imported by its own files alone. */
const shared = [...published, 'demo', 'sandbox', 'test/support'];

/** The folders that may import from others than the shared ones. */
const exceptions: Record<string, string[]> = {
	sandbox: [],
	demo: ['sandbox'],
	examples: ['nodes'],
	'test/unit': [...shared, 'examples'],
	'test/repository': [...shared, 'examples', 'scripts'],
};

test('each folder imports from itself and from what it may', () => {
	const imports = importsIn('{bench,demo,examples,sandbox,scripts,test}/**/*.mts');
	expect(imports.length).toBeGreaterThan(100);
	const isForbidden = ({ file, imported }: (typeof imports)[number]): boolean => {
		const folder = folderOf(file);
		return ![folder, ...(exceptions[folder] ?? shared)].includes(folderOf(imported));
	};
	expect(imports.filter(isForbidden)).toEqual([]);
});

test('no code outside of the gate names a path in it, but the checks of documents', () => {
	const files = globSync('{bench,credentials,demo,examples,nodes,sandbox,scripts,test}/**/*.*ts', {
		exclude: (name) => name === 'node_modules',
	});
	expect(files.length).toBeGreaterThan(200);
	const naming = files.filter((file) => /["'`/]gate\/\w/.test(readFileSync(file, 'utf8')));
	expect(naming.filter((file) => !file.startsWith('test/repository/'))).toEqual([]);
});

describe('the code of the package', () => {
	/** The layers, lowest first. A file imports from lower layers, and from its own folder. */
	const layers = [
		/^nodes\/shared\/[^/]+$/,
		/^nodes\/shared\/(record|service)\//,
		/^nodes\/EtbWallet\/(codes|operation|parameters)\.ts/,
		/^nodes\/EtbWallet\/(paying|list)\//,
		/^nodes\/EtbWallet\/actions\/\w+\//,
		/^nodes\/EtbWallet\/actions\/index\.ts/,
		/^(nodes\/EtbWallet\/EtbWallet\.node\.ts|nodes\/EtbWalletTrigger\/|credentials\/)/,
	];
	const layerOf = (file: string): number => layers.findIndex((layer) => layer.test(file));

	const code = importsIn('{nodes,credentials}/**/*.ts').map(({ file, imported }) => ({
		file,
		imported:
			[`${imported}.ts`, `${imported}/index.ts`].find((each) => existsSync(each)) ?? imported,
	}));

	test('imports only from lower layers', () => {
		expect(code.length).toBeGreaterThan(100);
		const files = code.flatMap(({ file, imported }) => [file, imported]);
		expect(files.filter((file) => layerOf(file) === -1)).toEqual([]);
		const isUp = ({ file, imported }: (typeof code)[number]): boolean =>
			dirname(file) !== dirname(imported) && layerOf(imported) >= layerOf(file);
		expect(code.filter(isUp)).toEqual([]);
	});
});
