/**
 * `npm run build` in `gate/`: writes `schema/` and `desk/` into the workflows that people import, the version of the record into the workflow
 * that pays, the characters of the keys into the SQL, and the examples of the gate from those of the package. Run it after each change of such a file, and commit all.
 * With `--check` it writes nothing, and exits 1 when a file is not what the others make of it.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { z } from 'zod';
import { gateFolder, schemaText } from '../start/workflows.mts';
import { charactersOfNodes } from './characters.mts';
import { agentThroughTheGate, payrollThroughTheGate } from './examples.mts';

const read = async (file: string): Promise<string> =>
	(await readFile(join(gateFolder, file), 'utf8')).trimEnd();

/** JSON as prettier writes it. */
async function formatted(value: unknown): Promise<string> {
	const options = { ...(await resolveConfig(import.meta.filename)), parser: 'json' };
	// Without line breaks prettier writes what fits into one line.
	return await format(JSON.stringify(value), options);
}

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });

/** Writes a file, or sees that this is what it has. */
async function make(file: string, text: string): Promise<void> {
	const path = join(gateFolder, file);
	if (!values.check) return await writeFile(path, text);
	if ((await readFile(path, 'utf8')) === text) return;
	console.error(`gate/${file} is not what the other files make of it: npm run build, in gate/`);
	process.exitCode = 1;
}

/** The constants for the characters of the keys, as they stand in the SQL. */
const CONSTANT = /(?<=\bc_(\w+) constant text := )E?'[^']*'/g;

const itemsFile = 'schema/2-items.sql';
const items = await read(itemsFile);
const [unicode] = /(?<=c_unicode constant text := ')[^']*/.exec(items) ?? [];
// Keys are in people's records: a Node.js with another Unicode leaves the characters as they are, until somebody writes its version
// into the file.
if (unicode === process.versions.unicode) {
	const characters: Record<string, string> = charactersOfNodes();
	const written = items.replace(CONSTANT, (old, name: string) =>
		name === 'unicode' ? old : `E'${characters[name]}'`,
	);
	await make(itemsFile, `${written}\n`);
}

const schema = await schemaText();
const version = /c_newest constant integer := (\d+);/.exec(schema)?.[1];

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
			query: (await read('set-up.sql')).replace('\\ir schema/*.sql\n', () => schema),
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
		Claim: { query: `SELECT * FROM etb_wallet.claim($1, $2, $3, $4, ${version}, $5)` },
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

await make(
	'examples/payroll-through-the-gate.json',
	await formatted(await payrollThroughTheGate()),
);
await make('examples/agent-through-the-gate.json', await formatted(await agentThroughTheGate()));
