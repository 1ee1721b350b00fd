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
/** The node of a payroll that writes into the register. */
const RegisterNode = z
	.object({ name: z.literal('Row of the register'), parameters: z.object({}).passthrough() })
	.passthrough();
const Styled = z.object({ customCss: z.string() }).passthrough();

// Only of payments of this run: an earlier payment may have had another amount.
const sentAmount =
	"amountEtb: ['paid', 'otherAmount', 'noAnswer', 'unclear'].includes($json.code) ? $json.amountEtb : undefined";
const settledBy =
	"settledBy: $('What did the service say?').isExecuted ? $('What did the service say?').first().json.user?.email : undefined";
const approvedBy =
	"approvedBy: $json.outcome === 'paid' && $('Ask for approval').isExecuted ? $('Ask for approval').last().json.user?.email : undefined";

/** The columns of the register that not all payrolls write, by example. */
const ownColumns: Readonly<Record<string, readonly string[]>> = {
	'payroll.json': [sentAmount, settledBy],
	'payroll-from-a-file.json': [sentAmount, approvedBy, settledBy],
};

/** The expression of an example's row of the register: `code/row-of-the-register.cjs`, with its own columns. */
function registerRow(example: string): string {
	const columns = (ownColumns[example] ?? []).join(',\n\t\t');
	const code = read('row-of-the-register.cjs').trim().replace(/;$/, '');
	return `={{ ${code.replace('OWN_COLUMNS', () => columns)} }}`;
}

/**
 * The text of an example with the code of today in its Code nodes (`code/<example>/<node>.cjs`), the style of today in
 * its forms (`code/form.css`), and its row of the register. Throws when a Code node has no file.
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
		const register = RegisterNode.safeParse(value);
		if (register.success) {
			const parameters = { ...register.data.parameters, jsonOutput: registerRow(example) };
			return Object.assign({}, value, { parameters });
		}
		if (!Styled.safeParse(value).success) return value;
		return Object.assign({}, value, { customCss: read('form.css') });
	};
	return JSON.stringify(JSON.parse(text), replaced, '\t') + '\n';
}
