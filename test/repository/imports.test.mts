/** What may import what: tests, pictures and measurements share only `lab/`, so that each can be read and moved alone. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

/** The folders that nobody outside imports from, and `lab/` with what it drives. */
function roomOf(file: string): string {
	return /^(test\/live\/\w+|test\/\w+|\w+)\//.exec(file)?.[1] ?? '';
}

/** Each import of a file of this repository by another one: who, and what. */
const imports = globSync('{bench,docs,gate,lab,sandbox,scripts,test}/**/*.mts', {
	exclude: (name) => name === 'node_modules',
}).flatMap((file) =>
	ts
		.preProcessFile(readFileSync(file, 'utf8'))
		.importedFiles.filter(({ fileName }) => fileName.startsWith('.'))
		.map(({ fileName }) => ({ file, imported: join(dirname(file), fileName) })),
);

test('nothing imports from documents, measurements or another kind of test', () => {
	expect(imports.length).toBeGreaterThan(500);
	expect(
		imports.filter(
			({ file, imported }) =>
				/^(bench|docs|test)\//.test(imported) && roomOf(file) !== roomOf(imported),
		),
	).toEqual([]);
});

test('what drives real things stands on the nodes, the gate and the sandbox alone', () => {
	expect(
		imports.filter(
			({ file, imported }) =>
				file.startsWith('lab/') && !/^(lab|nodes|credentials|gate|sandbox)\//.test(imported),
		),
	).toEqual([]);
});
