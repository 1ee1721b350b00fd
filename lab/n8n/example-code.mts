/** The code and the style of `examples/code/`, and the nodes of the examples that have them. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { projectFolder } from './folders.mts';

/** Which files make up the code of a node, by the node's name: code that several examples share. */
const CODE_OF: Record<string, string[]> = {
	'Check the list': ['amount.js', 'people-list.js'],
	'Check the table': ['amount.js', 'payments.js'],
	Payments: ['amount.js', 'payments.js'],
	Report: ['report.js'],
	Summary: ['summary.js'],
};

/** What nodes of one example share: it comes before their own code. */
const SHARED: Record<string, string[]> = {
	'Page at the end': ['page-words.js'],
	'What came of it': ['page-words.js'],
};

/** What only one example has is in a folder with its name: `<node>.cjs` (in which a `return` ends the whole file), the style of its forms, and its last page. */
const STYLE = 'form.css';
const PAGE = 'page.html';

const codeFolder = join(projectFolder, 'examples', 'code');
const read = (file: string): string => readFileSync(join(codeFolder, file), 'utf8');

/** The text of a file of an example's own folder, or undefined when there is none. */
function ownText(example: string, name: string): string | undefined {
	const file = join(basename(example, '.json'), name);
	return existsSync(join(codeFolder, file)) ? read(file) : undefined;
}

const fileOf = (node: string): string => `${node.toLowerCase().replaceAll(' ', '-')}.cjs`;

/** What a Code node runs: the files, one after the other, the last of which makes `items`. */
export const codeOf = (...files: string[]): string =>
	`${files.map(read).join('\n')}\nreturn items;\n`;

const CodeNode = z
	.object({ name: z.string(), parameters: z.object({ jsCode: z.string() }).passthrough() })
	.passthrough();
const Styled = z.object({ customCss: z.string() }).passthrough();
const LastPage = z.object({ responseText: z.string() }).passthrough();

/**
 * The text of an example with the code and the style of today. Throws when a Code node has no files.
 * @param example name of its file
 */
export function withCode(example: string, text: string): string {
	const codeFor = (node: string): string => {
		const own = ownText(example, fileOf(node));
		if (own !== undefined) return [...(SHARED[node] ?? []).map(read), own].join('\n');
		const files = CODE_OF[node];
		if (files === undefined) throw new Error(`No file of examples/code/ belongs to ${node}`);
		return codeOf(...files);
	};
	const replaced = (_key: string, value: unknown): unknown => {
		const node = CodeNode.safeParse(value);
		if (node.success) {
			const { name, parameters } = node.data;
			return Object.assign({}, value, { parameters: { ...parameters, jsCode: codeFor(name) } });
		}
		const [style, page] = [ownText(example, STYLE), ownText(example, PAGE)];
		if (typeof value !== 'object' || value === null) return value;
		return Object.assign(
			value,
			style !== undefined && Styled.safeParse(value).success && { customCss: style },
			page !== undefined && LastPage.safeParse(value).success && { responseText: `=${page}` },
		);
	};
	return JSON.stringify(JSON.parse(text), replaced, '\t') + '\n';
}
