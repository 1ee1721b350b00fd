/**
 * `npm run gate`: writes the plain files of `gate/` into the workflows that people import, and the version of the record into the
 * workflow that pays. Run it after each change of such a file, and commit both. With `--check` it writes nothing, and exits 1 when
 * a workflow is not what the files make of it.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { z } from 'zod';

const read = async (file: string): Promise<string> =>
	(await readFile(join(import.meta.dirname, file), 'utf8')).trimEnd();

const schema = await read('schema.sql');
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
	'gate-set-up.json': {
		'Make the Gate': {
			query: (await read('set-up.sql')).replace('\\ir schema.sql', () => schema),
		},
	},
	'gate-desk.json': {
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
	'pay-gate.json': {
		Claim: { query: `SELECT * FROM etb_wallet.claim($1, $2, $3, $4, ${version})` },
	},
};

const Node = z.object({
	name: z.string(),
	parameters: z.object({ options: z.object({}).passthrough().optional() }).passthrough(),
});

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
for (const [file, parametersOf] of Object.entries(filled)) {
	const path = join(import.meta.dirname, file);
	const text = await readFile(path, 'utf8');
	const workflow: unknown = JSON.parse(text, (_, value: unknown) => {
		const { data: node } = Node.safeParse(value);
		const own = parametersOf[node?.name ?? ''];
		if (node === undefined || own === undefined || typeof value !== 'object') return value;
		const options = own.options && { options: { ...node.parameters.options, ...own.options } };
		return { ...value, parameters: { ...node.parameters, ...own, ...options } };
	});
	// Without line breaks prettier writes what fits into one line.
	const options = { ...(await resolveConfig(path)), filepath: path };
	const made = await format(JSON.stringify(workflow), options);
	if (!values.check) {
		await writeFile(path, made);
	} else if (made !== text) {
		console.error(`gate/${file} is not what its files make: npm run gate`);
		process.exitCode = 1;
	}
}
