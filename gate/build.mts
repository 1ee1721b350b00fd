/**
 * `npm run gate`: makes the files of `gate/` that people import or run from the plain sources below it. Run it after each change of
 * a source, and commit both. With `--check` it writes nothing, and exits 1 when a file is not what its source makes.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { deskWorkflow } from './desk/workflow.mts';

const gateFolder = import.meta.dirname;

/** What is made of what, in `gate/`. */
const made: Record<string, string> = {
	'schema.sql': 'record/set-up.sql',
	'gate-set-up.json': 'record/gate-set-up.json',
	'gate-desk.json': 'desk/workflow.mts',
};

/** A line of a source, or a text in JSON, that stands for another file, which is looked for beside it. */
const INCLUDE = /^(\s*)(?:-- )?@file: (\S+)$/;

/** The text of a source with what it includes, indented as the line that includes it. */
async function textOf(path: string): Promise<string> {
	const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
	const whole = lines.map(async (line) => {
		const [, indent = '', file] = INCLUDE.exec(line) ?? [];
		if (file === undefined) return line;
		const text = await textOf(join(dirname(path), file));
		return text.replaceAll(/^(?=.)/gm, indent);
	});
	const text = (await Promise.all(whole)).join('\n');
	return path.endsWith('.sql') ? withComments(text) : text;
}

/** A table, view, function or index, and the comment right above it. */
const OBJECT = /((?:^-- .*\n)+)create (?:or replace )?(table|view|function|index) ([\w.]+)/gm;

/** The SQL with a statement behind it for each comment on a table, column, view, function or index, so that the database has it too. */
function withComments(sql: string): string {
	const comment = (what: string, text: string) =>
		`comment on ${what} is '${text.trim().replaceAll("'", "''")}';`;
	const objects = [...sql.matchAll(OBJECT)].map(([, text = '', kind, name]) =>
		comment(
			`${kind} ${kind === 'index' ? `etb_wallet.${name}` : name}`,
			text.replaceAll(/^-- /gm, '').replaceAll('\n', ' '),
		),
	);
	const columns = [...sql.matchAll(/^create table ([\w.]+) \(\n(.*?)^\)/gms)].flatMap(
		([, table, body = '']) =>
			[...body.matchAll(/^  (\w+) .* -- (.*)$/gm)].map(([, column, text = '']) =>
				comment(`column ${table}.${column}`, text),
			),
	);
	return [sql, ...objects, ...columns].join('\n');
}

/** The value of a workflow's source with the files that its texts include. */
async function withFiles(value: unknown, folder: string): Promise<unknown> {
	if (typeof value === 'string') {
		const file = INCLUDE.exec(value)?.[2];
		return file === undefined ? value : await textOf(join(folder, file));
	}
	if (Array.isArray(value))
		return await Promise.all(value.map(async (element) => await withFiles(element, folder)));
	if (typeof value !== 'object' || value === null) return value;
	const entries = Object.entries(value).map(
		async ([name, own]): Promise<[string, unknown]> => [name, await withFiles(own, folder)],
	);
	return Object.fromEntries(await Promise.all(entries));
}

/** The text that a file of `gate/` has to have. */
async function textOfMade(name: string, from: string): Promise<string> {
	const source = join(gateFolder, from);
	if (!name.endsWith('.json')) return `${await textOf(source)}\n`;
	const path = join(gateFolder, name);
	const workflow = from.endsWith('.mts')
		? await deskWorkflow()
		: await withFiles(JSON.parse(await readFile(source, 'utf8')), dirname(source));
	const text = JSON.stringify(workflow, null, '\t');
	return await format(text, { ...(await resolveConfig(path)), filepath: path });
}

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
for (const [name, from] of Object.entries(made)) {
	const text = await textOfMade(name, from);
	const path = join(gateFolder, name);
	if (!values.check) {
		await writeFile(path, text);
	} else if ((await readFile(path, 'utf8')) !== text) {
		console.error(`gate/${name} is not what gate/${from} makes: npm run gate`);
		process.exitCode = 1;
	}
}
