/** The code and the style of `examples/code/`, and the nodes of the examples that have them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { projectFolder } from '../demo/folders.mts';

const codeFolder = join(projectFolder, 'examples', 'code');
const read = (name: string): string => readFileSync(join(codeFolder, name), 'utf8');

const ofPayroll = ['common.cjs', 'settling.cjs', 'results.cjs', 'register.cjs', 'open-page.cjs'];

/**
 * The files of the code of each node, by the name of the example and of the node. They are joined in this order, so
 * a file uses the names of those before it.
 */
const filesOf: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
	'payroll.json': {
		'Page and rows': [...ofPayroll, 'payroll-end.cjs'],
	},
	'payroll-from-a-file.json': {
		'Page and rows': [...ofPayroll, 'payroll-doubts.cjs', 'payroll-page.cjs'],
	},
	'people-to-pay.json': { Page: ['common.cjs', 'people-page.cjs'] },
	'payments-of-a-period.json': { 'One row for each payment': ['common.cjs', 'period-page.cjs'] },
};

/** The answer of a person whose references each field of a node that settles has, and the form in which it has them. */
const answers: Readonly<Record<string, { said: string; form: string }>> = {
	wasPaid: { said: 'It was paid', form: 'map(({ reference }) => reference)' },
	wasNotPaid: {
		said: 'It was not paid',
		form: 'map(({ reference, updatedAt }) => ({ reference, sentAt: new Date(updatedAt).toISOString() }))',
	},
};

/**
 * The expression that names the references with an answer, of those that `settling.cjs` lets record. An expression ends
 * at two closing braces, so the function must not have them.
 */
function settledAs({ said, form }: { said: string; form: string }): string {
	const [, recorded = ''] = /^const whyNotRecorded = (.*);\n$/ms.exec(read('settling.cjs')) ?? [];
	if (recorded === '' || recorded.includes('}}'))
		throw new Error('settling.cjs cannot stand in an expression');
	// A register can have several rows of a reference: any of them names the payment that the page showed as unknown.
	const references = [
		'payments',
		"filter(({ outcome }) => outcome === 'unknown')",
		'filter(({ reference }, index, all) => all.findIndex((row) => row.reference === reference) === index)',
		`filter(({ reference }) => answers[encodeURIComponent(reference)] === '${said}')`,
		'filter(({ reference }) => !whyNotRecorded(reference, answers, payments))',
		form,
	].join('.');
	const isAsked = "$('What is open').isExecuted && $('Ask').last().json.user?.id";
	const given = "$('Ask').last().json, $('Payments').all().map(({ json }) => json)";
	return `={{ ${isAsked} ? ((whyNotRecorded, answers, payments) => ${references})(${recorded}, ${given}) : [] }}`;
}

const Assigned = z.object({ name: z.string(), value: z.string() }).passthrough();
const Named = z.object({ name: z.string(), parameters: z.record(z.unknown()) }).passthrough();
const Styled = z.object({ customCss: z.string() }).passthrough();

/**
 * The text of an example with the code of today in the nodes of `filesOf` and in the fields of `answers`, and the style of
 * today in its forms (`code/form.css`). Throws when a Code node has no files.
 * @param example name of its file
 */
export function withCode(example: string, text: string): string {
	const replaced = (key: string, value: unknown): unknown => {
		const answer = answers[key];
		if (answer !== undefined && String(value).includes('What is open')) return settledAs(answer);
		const assigned = Assigned.safeParse(value);
		const assignedAnswer = answers[assigned.data?.name ?? ''];
		if (assigned.success && assignedAnswer !== undefined)
			return Object.assign({}, value, { value: settledAs(assignedAnswer) });
		const node = Named.safeParse(value);
		if (node.success) {
			const { name, parameters } = node.data;
			const files = filesOf[example]?.[name];
			if ('jsCode' in parameters && files === undefined)
				throw new Error(`${example}: the node "${name}" has no code in examples/code`);
			if (files !== undefined) {
				const jsCode = files.map(read).join('');
				return Object.assign({}, value, { parameters: { ...parameters, jsCode } });
			}
		}
		if (!Styled.safeParse(value).success) return value;
		return Object.assign({}, value, { customCss: read('form.css') });
	};
	return JSON.stringify(JSON.parse(text), replaced, '\t') + '\n';
}
