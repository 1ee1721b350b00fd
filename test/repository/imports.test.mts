/** Import rules: each folder names the folders that it may import from, so that it can be read and moved alone. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

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
	'test/repository': [...shared, 'scripts'],
};

const files = globSync('{bench,demo,sandbox,scripts,test}/**/*.mts', {
	exclude: (name) => name === 'node_modules',
});

test('each folder imports from itself and from what it may', () => {
	expect(files.length).toBeGreaterThan(100);
	const forbidden = files.flatMap((file) => {
		const folder = folderOf(file);
		const allowed = [folder, ...(exceptions[folder] ?? shared)];
		return ts
			.preProcessFile(readFileSync(file, 'utf8'))
			.importedFiles.filter(({ fileName }) => fileName.startsWith('.'))
			.map(({ fileName }) => join(dirname(file), fileName))
			.filter((imported) => !allowed.includes(folderOf(imported)))
			.map((imported) => `${file} imports ${imported}`);
	});
	expect(forbidden).toEqual([]);
});
