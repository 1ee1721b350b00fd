/** What may import what, so that each folder can be read and moved alone. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

/** A kind of test (`test/engine`, `test/live/n8n`), or the top folder. */
function roomOf(file: string): string {
	return /^(test\/live\/\w+|test\/\w+|\w+)\//.exec(file)?.[1] ?? '';
}

/** Each import of a file of this repository by another one: who, and what. */
const imports = globSync('{bench,demo,sandbox,scripts,test}/**/*.mts', {
	exclude: (name) => name === 'node_modules',
}).flatMap((file) =>
	ts
		.preProcessFile(readFileSync(file, 'utf8'))
		.importedFiles.filter(({ fileName }) => fileName.startsWith('.'))
		.map(({ fileName }) => ({ file, imported: join(dirname(file), fileName) })),
);

/** The imports by files of the folder `from` that lead to none of the folders `to`. */
const beyond = (from: string, to: RegExp): typeof imports =>
	imports.filter(({ file, imported }) => file.startsWith(from) && !to.test(imported));

test('nothing imports from measurements or a kind of test, but what lies beside it', () => {
	expect(imports.length).toBeGreaterThan(100);
	expect(
		imports.filter(
			({ file, imported }) =>
				/^(bench|test\/(?!support\/))/.test(imported) && roomOf(file) !== roomOf(imported),
		),
	).toEqual([]);
});

test('the demo stands on the sandbox alone', () => {
	expect(beyond('demo/', /^(demo|sandbox)\//)).toEqual([]);
});

test('what drives real things stands on the demo, the nodes and the sandbox alone', () => {
	expect(beyond('test/support/', /^(test\/support|demo|nodes|credentials|sandbox)\//)).toEqual([]);
});
