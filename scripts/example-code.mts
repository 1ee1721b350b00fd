/** The code and the style of `examples/code/`, and the nodes of the examples that have them. */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { projectFolder } from '../demo/folders.mts';

const codeFolder = join(projectFolder, 'examples', 'code');
const read = (...path: string[]): string => readFileSync(join(codeFolder, ...path), 'utf8');

const CodeNode = z
	.object({ name: z.string(), parameters: z.object({ jsCode: z.string() }).passthrough() })
	.passthrough();
const Styled = z.object({ customCss: z.string() }).passthrough();

/**
 * The text of an example with the code of today in its Code nodes (`code/<example>/<node>.cjs`) and the style of today in
 * its forms (`code/form.css`). Throws when a Code node has no file.
 * @param example name of its file
 */
export function withCode(example: string, text: string): string {
	const replaced = (_key: string, value: unknown): unknown => {
		const node = CodeNode.safeParse(value);
		if (node.success) {
			const { name, parameters } = node.data;
			const jsCode = read(basename(example, '.json'), `${name.toLowerCase()}.cjs`);
			return Object.assign({}, value, { parameters: { ...parameters, jsCode } });
		}
		if (!Styled.safeParse(value).success) return value;
		return Object.assign({}, value, { customCss: read('form.css') });
	};
	return JSON.stringify(JSON.parse(text), replaced, '\t') + '\n';
}
