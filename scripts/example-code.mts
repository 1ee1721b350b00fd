/** The code and the style of `examples/code/`, in the form in which the nodes of the examples have them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { z } from 'zod';
import { projectFolder } from '../demo/folders.mts';

const codeFolder = join(projectFolder, 'examples', 'code');

/**
 * One name of a module of `examples/code/`, with the code that it uses.
 * @returns statements, after which the name is defined
 */
function bundled(name: string, module: string): string {
	const { outputFiles } = buildSync({
		stdin: { contents: `export { ${name} } from './${module}.mts'`, resolveDir: codeFolder },
		bundle: true,
		write: false,
		format: 'esm',
		target: 'es2022',
		charset: 'utf8',
	});
	const [{ text = '' } = {}] = outputFiles;
	const exported = `export {\n  ${name}\n};\n`;
	if (!text.endsWith(exported)) throw new Error(`${module}.mts: ${name} has another form`);
	// The comments of esbuild name the files.
	return text.slice(0, -exported.length);
}

/** The code of a Code node: the module with the name of its example. */
const codeOf = (example: string): string =>
	`${bundled('items', example.replace('.json', ''))}return items;\n`;

const settlingFields = ['wasPaid', 'wasNotPaid'];

/**
 * The expression of a field of the node that settles. An expression ends at two closing braces, so its code must
 * not have them.
 */
function settlingExpression(field: string): string {
	const code = bundled(field, 'settling');
	if (code.includes('}}')) throw new Error('settling.mts cannot stand in an expression');
	const isAsked = "$('What is open').isExecuted && $('Ask').last().json.user?.id";
	const given = "$('Ask').last().json, $('Payments').all().map(({ json }) => json)";
	return `={{ ${isAsked} ? (() => {\n${code}return ${field}(${given});\n})() : [] }}`;
}

const Assigned = z.object({ name: z.string(), value: z.string() }).passthrough();
const CodeParameters = z.object({ jsCode: z.string() }).passthrough();
const Styled = z.object({ customCss: z.string() }).passthrough();

/**
 * The text of an example with the code of today in its Code node and in the fields that settle, and the style of
 * today in its forms (`code/form.css`).
 * @param example name of its file
 */
export function withCode(example: string, text: string): string {
	const replaced = (key: string, value: unknown): unknown => {
		if (settlingFields.includes(key) && String(value).includes('What is open'))
			return settlingExpression(key);
		const assigned = Assigned.safeParse(value);
		if (assigned.success && settlingFields.includes(assigned.data.name))
			return Object.assign({}, value, {
				value: settlingExpression(assigned.data.name),
			});
		if (CodeParameters.safeParse(value).success)
			return Object.assign({}, value, { jsCode: codeOf(example) });
		if (Styled.safeParse(value).success)
			return Object.assign({}, value, {
				customCss: readFileSync(join(codeFolder, 'form.css'), 'utf8'),
			});
		return value;
	};
	return JSON.stringify(JSON.parse(text), replaced, '\t') + '\n';
}
