/**
 * `npm run build` in `gate/`: joins `gate/schema/` to `gate/schema.sql`, and writes the plain files of `gate/` into the workflows that people
 * import, and the version of the record into the workflow that pays. Run it after each change of such a file, and commit all.
 * With `--check` it writes nothing, and exits 1 when a file is not what the others make of it.
 */
import { globSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { z } from 'zod';
import { Characters, charactersOfNodes } from './characters.mts';

/** The folder `gate/`. */
const folder = join(import.meta.dirname, '..');
const read = async (file: string): Promise<string> =>
	(await readFile(join(folder, file), 'utf8')).trimEnd();

/** JSON as prettier writes it. */
async function formatted(value: unknown): Promise<string> {
	const options = { ...(await resolveConfig(import.meta.filename)), parser: 'json' };
	// Without line breaks prettier writes what fits into one line.
	return await format(JSON.stringify(value), options);
}

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });

/** Writes a file, or sees that this is what it has. */
async function make(file: string, text: string): Promise<void> {
	const path = join(folder, file);
	if (!values.check) return await writeFile(path, text);
	if ((await readFile(path, 'utf8')) === text) return;
	console.error(`gate/${file} is not what the other files make of it: npm run build, in gate/`);
	process.exitCode = 1;
}

const charactersFile = 'schema/characters.json';
let characters = Characters.parse(JSON.parse(await read(charactersFile)));
// Keys are in people's records: a Node.js with another Unicode leaves the characters as they are, until somebody writes its version
// into the file.
if (characters.unicode === process.versions.unicode) characters = charactersOfNodes();
await make(charactersFile, await formatted(characters));

/** The files in order. They write :'quotes' for the characters with this name. */
const sources = globSync('schema/*.sql', { cwd: folder }).sort();
const parts = await Promise.all(
	sources.map(async (file) => `---------- gate/${file}\n\n${await read(file)}`),
);
const named = new RegExp(`:'(${Object.keys(characters).join('|')})'`, 'g');
const schema = [
	'-- Made by `npm run build` of the files in gate/schema: change those, and not this.',
	...parts.map((part) =>
		part.replace(named, (_, name: keyof Characters) => `E'${characters[name]}'`),
	),
].join('\n\n');
await make('schema.sql', `${schema}\n`);
const version = /c_version constant integer := (\d+);/.exec(schema)?.[1];

/** The code of a node of the desk: the file, and what this node does with it. */
const desk = async (lastLine: string) => ({
	jsCode: `${await read('desk/desk.js')}\n\n${lastLine}`,
});
const style = { options: { customCss: await read('desk/page.css') } };

/** The parameters that each workflow gets, by the names of its nodes; those of options beside what is there. */
const filled: Record<
	string,
	Record<string, { query?: string; jsCode?: string; options?: object }>
> = {
	'workflows/gate-set-up.json': {
		'Make the Gate': {
			query: (await read('set-up.sql')).replace('\\ir schema.sql', () => schema),
		},
	},
	'workflows/gate-desk.json': {
		Desk: style,
		'What to Find Out': await desk("return [{ json: ask($('Budget').first().json) }];"),
		'Draw the Page': await desk(
			"const { found, missing: why, message, error } = $input.first().json;\nreturn [{ json: draw({ todo: $('Budget').first().json.todo, isAnswer: $('Page').isExecuted, found, missing: why, error: message ?? error?.message ?? error }) }];",
		),
		Page: style,
		'Read the Answer': await desk(
			"const { found } = $('Draw the Page').first().json;\nreturn [{ json: read({ ...$('Budget').first().json, found, answer: $input.first().json }) }];",
		),
		Result: style,
	},
	'workflows/pay-gate.json': {
		Claim: { query: `SELECT * FROM etb_wallet.claim($1, $2, $3, $4, ${version})` },
	},
};

const Node = z.object({
	name: z.string(),
	parameters: z.object({ options: z.object({}).passthrough().optional() }).passthrough(),
});

for (const [file, parametersOf] of Object.entries(filled)) {
	const workflow: unknown = JSON.parse(await read(file), (_, value: unknown) => {
		const { data: node } = Node.safeParse(value);
		const own = parametersOf[node?.name ?? ''];
		if (node === undefined || own === undefined || typeof value !== 'object') return value;
		const options = own.options && { options: { ...node.parameters.options, ...own.options } };
		return { ...value, parameters: { ...node.parameters, ...own, ...options } };
	});
	await make(file, await formatted(workflow));
}
