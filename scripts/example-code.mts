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

interface Expression {
	/** The value of the field if `condition` holds. */
	call: string;
	module: string;
	condition: string;
	/** The value if it does not. */
	otherwise: string;
}

const settling = {
	module: 'settling',
	condition: "$('What is open').isExecuted && $('Ask').last().json.user?.id",
	otherwise: '[]',
};
const itemsOf = (node: string): string => `$('${node}').all().map(({ json }) => json)`;
const asked = "$('Page and rows').first().json.asked";
/** The register as the page had it, and after the page was answered. */
const registers = `${itemsOf('Payments')}, ${itemsOf('Payments now')}`;
const uploadedBy = "$('Upload a list').first().json.user";

/** The fields that a function of `examples/code/` fills by an expression, by the name of the function. */
const expressions: Readonly<Record<string, Expression>> = {
	wasPaid: {
		...settling,
		call: `wasPaid($('Ask').last().json, ${asked}, ${registers})`,
	},
	wasNotPaid: {
		...settling,
		call: `wasNotPaid($('Ask').last().json, ${asked}, ${registers})`,
	},
	takeBack: {
		...settling,
		call: `takeBack($('Ask').last().json, ${asked}, ${registers})`,
	},
	modeAfter: {
		module: 'approval',
		condition: "!$('What is open').isExecuted",
		// The last run of the node before the answer is that of the page.
		call: `modeAfter($('Ask').last().json, ${uploadedBy}, $('Page and rows').first().json.approve, { dryRun: ${itemsOf('Pay salaries')}, before: ${itemsOf('Payments')}, now: ${itemsOf('Payments now')} })`,
		otherwise: "'settle'",
	},
};

/** An expression ends at two closing braces, so its code must not have them. */
function expressionOf(name: string, { module, condition, call, otherwise }: Expression): string {
	const code = bundled(name, module);
	if (code.includes('}}')) throw new Error(`${module}.mts cannot stand in an expression`);
	return `={{ ${condition} ? (() => {\n${code}return ${call};\n})() : ${otherwise} }}`;
}

const CodeParameters = z.object({ jsCode: z.string() }).passthrough();
const Styled = z.object({ customCss: z.string() }).passthrough();

/**
 * The text of an example with the code of today in its Code node and in its expressions, and the style of today in its
 * forms (`code/form.css`).
 * @param example name of its file
 */
export function withCode(example: string, text: string): string {
	const replaced = (_key: string, value: unknown): unknown => {
		if (typeof value === 'string') {
			const [, name = ''] =
				/^=.* \? \(\(\) => \{\n[^]*return (\w+)\([^]*\n\}\)\(\) : /.exec(value) ?? [];
			const expression = expressions[name];
			return expression === undefined ? value : expressionOf(name, expression);
		}
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
