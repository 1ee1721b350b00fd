/** The files, headings, scripts, commands and operations that documents refer to exist. */
import { existsSync, globSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { resources } from '../../nodes/EtbWallet/actions/index.ts';

const folders = readdirSync('.', { withFileTypes: true })
	.filter((entry) => entry.isDirectory())
	.map(({ name }) => name)
	.filter((name) => !['.git', '.data', 'coverage', 'dist', 'node_modules'].includes(name));

const markdown = globSync(['*.md', `{${folders.join(',')}}/**/*.md`], {
	exclude: (path) => path.includes('node_modules'),
}).sort();

/** The folder of the package that a document is in. */
function packageOf(file: string): string {
	const folder = dirname(file);
	return existsSync(join(folder, 'package.json')) ? folder : packageOf(folder);
}

/** The npm scripts of the package that a document is in. */
function scriptsFor(file: string): string[] {
	const { scripts } = z
		.object({ scripts: z.record(z.string()) })
		.parse(JSON.parse(readFileSync(join(packageOf(file), 'package.json'), 'utf8')));
	return Object.keys(scripts);
}

/** The documents outside of `gate/` that name it. All others read as if it were not there. */
const LINKS_TO_THE_GATE = [
	...['CONTRIBUTING.md', 'README.md', 'docs/one-workflow-that-pays.md', 'docs/operations.md'],
];
const isGate = (path: string): boolean => path.startsWith('gate/');

/** A document without its code blocks and inline code, where brackets mean something else. */
const prose = (file: string): string =>
	readFileSync(file, 'utf8')
		.replaceAll(/^```[\s\S]*?^```/gm, '')
		.replaceAll(/`[^`\n]*`/g, 'code');

/** GitHub's name for a heading. */
const anchorOf = (heading: string): string =>
	heading
		.toLowerCase()
		.replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
		.replaceAll(' ', '-');

const anchorsIn = (file: string): string[] =>
	[...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
		anchorOf(heading ?? ''),
	);

/** Links and images that point nowhere. */
function broken(file: string): string[] {
	const targets = [...prose(file).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target ?? '');
	const sources = [...prose(file).matchAll(/\b(?:src|srcset)="([^"]+)"/g)].map(
		([, source]) => source ?? '',
	);
	return [...targets, ...sources]
		.filter((target) => !/^[a-z]+:/.test(target))
		.filter((target) => {
			const [path = '', anchor] = target.split('#');
			const linked = path === '' ? file : join(dirname(file), path);
			// All tests outside of `gate/` pass without the folder.
			if (isGate(linked) && !existsSync('gate')) return !LINKS_TO_THE_GATE.includes(file);
			if (!existsSync(linked)) return true;
			return anchor !== undefined && !anchorsIn(linked).includes(anchor);
		});
}

/** Paths below this project's folders in code, whole or in a command. */
function pathsIn(file: string): string[] {
	const text = readFileSync(file, 'utf8');
	const code = [...text.matchAll(/^```[\s\S]*?^```|`[^`\n]+`/gm)].map(([match]) => match);
	const path = new RegExp(
		`(?<![\\w./:@~-])(?:${folders.join('|').replaceAll('.', '\\.')})/[\\w./-]*`,
		'g',
	);
	return code.filter((part) => !/[<…*{]/.test(part)).flatMap((part) => part.match(path) ?? []);
}

/** Whether `npx` finds the command here; packages with a scope are fetched. */
const isInstalled = (command: string): boolean =>
	command.startsWith('@') || existsSync(join('node_modules/.bin', command));

test('the gate is named by few documents outside of its folder', () => {
	const naming = markdown.filter(
		(file) => !isGate(file) && /\bgates?\b/i.test(readFileSync(file, 'utf8')),
	);
	expect(naming.filter((file) => !LINKS_TO_THE_GATE.includes(file))).toEqual([
		'docs/architecture.md', // of Pay Claims
	]);
});

test('every document is reached from the README', () => {
	const reached = new Set(['README.md']);
	for (const file of reached) {
		if (!existsSync(file)) continue;
		for (const [, target = ''] of prose(file).matchAll(/\]\(([^)\s#]+\.md)[^)]*\)/g)) {
			if (!/^[a-z]+:/.test(target)) reached.add(join(dirname(file), target));
		}
	}
	expect(markdown.filter((file) => !reached.has(file))).toEqual([]);
});

describe.each(markdown)('%s', (file) => {
	test('links to files, headings and images that exist', () => {
		expect(broken(file)).toEqual([]);
	});

	test('describes its images', () => {
		expect(prose(file)).not.toMatch(/!\[\s*\]/);
	});

	test('mentions npm scripts that exist', () => {
		const text = readFileSync(file, 'utf8');
		const mentioned = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, script]) => script ?? '');
		if (/npm test\b/.test(text)) mentioned.push('test');
		if (/npm start\b/.test(text)) mentioned.push('start');
		expect(mentioned.filter((script) => !scriptsFor(file).includes(script))).toEqual([]);
	});

	test('mentions commands and files of this project that exist', () => {
		const commands = [...readFileSync(file, 'utf8').matchAll(/\bnpx ([\w@/-]+)/g)];
		const names = commands.map(([, name]) => name ?? '');
		expect(names.filter((name) => !isInstalled(name))).toEqual([]);
		// Without the option npm would install n8n's own libraries a second time.
		expect(readFileSync(file, 'utf8')).not.toMatch(
			/npm install (?!--omit=peer).*n8n-nodes-etb-wallet/,
		);
		const exists = (path: string): boolean =>
			existsSync(path) || existsSync(join(packageOf(file), path));
		expect(pathsIn(file).filter((path) => !exists(path))).toEqual([]);
	});
});

const projectFiles = globSync(
	'{nodes,credentials,test,sandbox,demo,scripts,bench,docs,examples}/**/*.*',
	{
		exclude: (name) => String(name) === 'node_modules',
	},
);

/** Files of the code that a document names without their folder. */
const withoutFolder = (file: string): string[] =>
	[...readFileSync(file, 'utf8').matchAll(/`([\w.-]+\.(?:ts|mts|sql|js|css))`/g)].map(
		([, name = '']) => name,
	);

test('docs/architecture.md names files that exist', () => {
	const known = new Set(projectFiles.map((path) => basename(path)));
	const named = withoutFolder('docs/architecture.md');
	expect(named.filter((name) => !known.has(name))).toEqual([]);
});

test('CONTRIBUTING.md names each file with its folder, so that a reader can open it', () => {
	expect(withoutFolder('CONTRIBUTING.md')).toEqual([]);
});

/**
 * Files of tests that a document names in code: a path in `test/` without its ending, or a folder of tests with
 * `/*`.
 */
const testFiles = globSync('test/**/*.{test,live}.mts');
const testsNamed = (name: string): string[] =>
	testFiles.filter((path) =>
		name.endsWith('/*')
			? dirname(path) === `test/${name.slice(0, -2)}`
			: [`test/${name}.test.mts`, `test/${name}.live.mts`].includes(path),
	);

test('the names of code in documents for engineers are those of the code', () => {
	const code = globSync(
		'{bench,credentials,demo,examples/code,nodes,sandbox,scripts,test}/**/*.*ts',
		{
			exclude: (path) => path.includes('node_modules') || path.endsWith('docs.test.mts'),
		},
	);
	const words = new Set(
		code.flatMap((path) => readFileSync(path, 'utf8').match(/[A-Za-z]\w+/g) ?? []),
	);
	const quoted = ['CONTRIBUTING.md', 'docs/architecture.md'].flatMap((file) => [
		...readFileSync(file, 'utf8').matchAll(/`([a-z]+[A-Z]\w*)`/g),
	]);
	const names = quoted.map(([, name]) => name ?? '');
	expect(names.length).toBeGreaterThan(20);
	expect(names.filter((name) => !words.has(name))).toEqual([]);
});

test('the table of promises names tests that exist, and each test', () => {
	const [, table = ''] = readFileSync('CONTRIBUTING.md', 'utf8').split('\npromise | test\n');
	const rows = table.split('\n\n')[0]?.split('\n').slice(1) ?? [];
	expect(rows.length).toBeGreaterThan(20);
	const named = rows.flatMap((row) =>
		[...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
	);
	expect(named.filter((name) => testsNamed(name).length === 0)).toEqual([]);
	const tested = new Set(named.flatMap(testsNamed));
	expect(testFiles.filter((path) => !tested.has(path))).toEqual([]);
});

test('the tests that notice a change of n8n exist, under the names in nodes', () => {
	const comments = globSync('nodes/**/*.ts').flatMap((path) => [
		...readFileSync(path, 'utf8')
			.replaceAll('\n * ', ' ')
			.matchAll(/Noticed by: (`[^@*]*?)(?: @| \*\/|\n)/g),
	]);
	expect(comments.length).toBeGreaterThan(20);
	for (const [, text = ''] of comments) {
		const files = [...text.matchAll(/`((?:test|bench)\/[^`]+)`/g)].map(([, path = '']) => path);
		expect(files.filter((path) => !existsSync(path))).toEqual([]);
		const tests = files.map((path) => readFileSync(path, 'utf8')).join();
		for (const [, name = ''] of text.matchAll(/"([^"]+)"/g)) expect(tests).toContain(name);
	}
});

test('every operation that a document names exists', () => {
	const existing = resources.flatMap(({ name, operations }) =>
		operations.map(({ menuEntry }) => `${name} → ${menuEntry.name}`),
	);
	const names = resources.map(({ name }) => name).join('|');
	const pattern = new RegExp(`(?:${names}) → \\p{Lu}\\p{L}*(?: \\p{Lu}\\p{L}*)*`, 'gu');
	const named = markdown.flatMap((file) => readFileSync(file, 'utf8').match(pattern) ?? []);
	expect(named.length).toBeGreaterThanOrEqual(existing.length);
	expect(existing).toEqual(expect.arrayContaining(named));
});

test('every picture is used and light enough to load', () => {
	const all = markdown.map((file) => readFileSync(file, 'utf8')).join('\n');
	const pictures = globSync('docs/images/*');
	expect(pictures.filter((picture) => !all.includes(picture.replace('docs/', '')))).toEqual([]);
	expect(pictures.filter((picture) => statSync(picture).size >= 200_000)).toEqual([]);
});
