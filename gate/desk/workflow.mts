/** Makes the workflow of the pay gate's desk from the files beside this one. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import ts from 'typescript';
import { todos } from './words.mts';

const read = async (file: string): Promise<string> =>
	await readFile(join(import.meta.dirname, file), 'utf8');

/** What a person can do: the node that asks, and the node that writes down what was chosen. Their queries are `<key>.sql` and `<key>-save.sql`. */
const nodesOf: Record<keyof typeof todos, [ask: string, save?: string]> = {
	settle: ['What Needs Somebody', 'Settle'],
	spent: ['What Was Spent'],
	find: ['Find', 'Look It Up'],
	stop: ['Stopped or Not', 'Set Stopped'],
	limits: ['Limits Now', 'Set Limits'],
	recipients: ['Recipients Now', 'Set Recipients'],
	callers: ['Callers Now', 'Set Caller'],
	unconfirmed: ['Not Confirmed', 'Take Off the List'],
	happened: ['What Happened'],
};

/**
 * One expression of n8n out of TypeScript files, which ends in this call of one of their functions. n8n does not take everything:
 * methods of objects have to be arrow functions, and names of properties such as "caller" are refused.
 */
async function expression(files: string[], call: string): Promise<string> {
	const sources = await Promise.all(files.map(read));
	const scripts = sources.map((source) => {
		const { outputText } = ts.transpileModule(source, {
			compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
		});
		return outputText.replace(/^import [^;]*;\n/gm, '').replace(/^export /gm, '');
	});
	const script = `(() => {\n${scripts.join('\n')}\nreturn ${call};\n})()`;
	// Two braces in a row would end the expression.
	return `={{ ${script.replaceAll('}}', '} }').replaceAll('}}', '} }').replaceAll('{{', '{ {')} }}`;
}

type Parameters = Record<string, unknown>;

let made = 0;
const node = (
	name: string,
	type: string,
	typeVersion: number,
	position: [x: number, y: number],
	parameters: Parameters,
	more: object = {},
) => ({
	parameters,
	...{ id: `c1a3c0de-0020-4000-8000-${String(++made).padStart(12, '0')}`, name, type, typeVersion },
	...{ position, ...more },
});

const sticky = (
	name: string,
	position: [number, number],
	size: { width: number; height: number; color: number },
	content: string,
) => node(name, 'n8n-nodes-base.stickyNote', 1, position, { content, ...size });

const postgres = (name: string, position: [number, number], query: string, values: string) =>
	node(
		name,
		'n8n-nodes-base.postgres',
		2.6,
		position,
		{ operation: 'executeQuery', query, options: { queryReplacement: values } },
		{
			onError: 'continueRegularOutput',
			credentials: { postgres: { id: '', name: 'Pay gate desk' } },
		},
	);

/** Goes to the output of this name. */
const toOutput = (name: string, leftValue: string, rightValue: string) => ({
	conditions: {
		options: { caseSensitive: true, leftValue: '', typeValidation: 'strict', version: 2 },
		conditions: [
			{
				id: `is-${name}`,
				leftValue,
				rightValue,
				operator: { type: 'string', operation: 'equals' },
			},
		],
		combinator: 'and',
	},
	renameOutput: true,
	outputKey: name,
});

const to = (...names: string[]) => names.map((name) => ({ node: name, type: 'main', index: 0 }));

const text = (id: string, name: string, value: string) => ({ id, name, value, type: 'string' });

/** The whole workflow, as n8n imports it. */
export async function deskWorkflow() {
	made = 0;
	const customCss = await read('page.css');
	const entries = await Promise.all(
		Object.entries(nodesOf).map(async ([key, [ask, save]], index) => ({
			...{ ask, save, y: index * 160 },
			words: Object.entries(todos).find(([todo]) => todo === key)?.[1] ?? '',
			query: await read(`${key}.sql`),
			saveQuery: save === undefined ? '' : await read(`${key}-save.sql`),
		})),
	);
	const saving = entries.flatMap(({ save, ...entry }) =>
		save === undefined ? [] : [{ ...entry, save }],
	);
	const middle = (entries.length - 1) * 80;
	const page = {
		formTitle: '={{ $json.title }}',
		formDescription:
			'={{ $json.text }}{{ $json.html }}<p><a href="{{ $(\'Budget\').first().json.back }}">Back to the desk</a></p>',
	};
	const nodes = [
		sticky(
			'Read Me First',
			[-520, middle - 300],
			{ width: 460, height: 520, color: 4 },
			await read('read-me-first.txt'),
		),
		sticky(
			'About the pages',
			[-520, middle + 240],
			{ width: 460, height: 180, color: 5 },
			"### Made from plain sources\nThis workflow is made from `gate/desk/` of the node's repository. The rules are not here: the database decides, whatever this workflow sends.",
		),
		node(
			'Desk',
			'n8n-nodes-base.formTrigger',
			2.5,
			[0, middle],
			{
				authentication: 'basicAuth',
				formTitle: 'Pay gate desk',
				formDescription: 'What your workflows paid through the pay gate, and what they may pay.',
				formFields: {
					values: [
						{
							...{
								fieldLabel: 'What would you like to do?',
								fieldName: 'todo',
								fieldType: 'radio',
							},
							fieldOptions: { values: entries.map(({ words }) => ({ option: words })) },
							requiredField: true,
						},
						{
							...{ fieldLabel: 'Your name', fieldName: 'name', fieldType: 'text' },
							placeholder: 'It is written down with what you do',
							requiredField: true,
						},
					],
				},
				options: {
					...{
						appendAttribution: false,
						buttonLabel: 'Continue',
						path: 'pay-gate-desk',
						customCss,
					},
				},
			},
			{
				webhookId: 'c1a3c0de-0020-4000-8000-0000000000ff',
				credentials: { httpBasicAuth: { id: '', name: 'Pay gate desk login' } },
			},
		),
		node('Budget', 'n8n-nodes-base.set', 3.4, [220, middle], {
			assignments: {
				assignments: [
					text('budget-1', 'budget', 'main'),
					text('budget-2', 'by', '={{ $json.name }}'),
					text('budget-3', 'todo', '={{ $json.todo }}'),
					text(
						'budget-4',
						'back',
						"=../{{ $json.formMode === 'test' ? 'form-test' : 'form' }}/pay-gate-desk?name={{ encodeURIComponent($json.name) }}",
					),
				],
			},
			options: {},
		}),
		node('What to Do?', 'n8n-nodes-base.switch', 3.2, [440, middle], {
			rules: { values: entries.map(({ words }) => toOutput(words, '={{ $json.todo }}', words)) },
			options: {},
		}),
		...entries.map(({ ask, query, y }) => postgres(ask, [720, y], query, '={{ [$json.budget] }}')),
		node(
			'Draw the Page',
			'n8n-nodes-base.set',
			3.4,
			[980, middle],
			{
				mode: 'raw',
				jsonOutput: await expression(
					['words.mts', 'page.mts'],
					"draw({ todo: $('Budget').first().json.todo, isAnswer: $('Page').isExecuted, found: $json.found, missing: $json.missing, error: $json.message ?? $json.error?.message ?? $json.error })",
				),
				options: {},
			},
			{
				notes:
					'What the database gives is shown as text, never as a part of the page. Without an answer of the database the page says so.',
				notesInFlow: false,
			},
		),
		node('Anything to Ask?', 'n8n-nodes-base.if', 2.2, [1200, middle], {
			conditions: {
				options: { caseSensitive: true, leftValue: '', typeValidation: 'strict', version: 2 },
				conditions: [
					{
						...{ id: 'fields', leftValue: '={{ $json.fields }}', rightValue: '' },
						operator: { type: 'string', operation: 'notEmpty', singleValue: true },
					},
				],
				combinator: 'and',
			},
			options: {},
		}),
		node(
			'Page',
			'n8n-nodes-base.form',
			2.5,
			[1420, middle - 120],
			{
				defineForm: 'json',
				jsonOutput: '={{ $json.fields }}',
				options: { ...page, buttonLabel: '={{ $json.button }}', customCss },
			},
			{ webhookId: 'c1a3c0de-0020-4000-8000-0000000000f0' },
		),
		node(
			'Read the Answer',
			'n8n-nodes-base.set',
			3.4,
			[1640, middle - 120],
			{
				mode: 'raw',
				jsonOutput: await expression(
					['words.mts', 'answer.mts'],
					"read({ todo: $('Budget').first().json.todo, answer: $json, found: $('Draw the Page').first().json.found, budget: $('Budget').first().json.budget, by: $('Budget').first().json.by })",
				),
				options: {},
			},
			{ notes: 'What was not answered changes nothing.', notesInFlow: false },
		),
		node('What to Save?', 'n8n-nodes-base.switch', 3.2, [1860, middle - 120], {
			rules: {
				values: saving.map(({ words }) =>
					toOutput(words, "={{ $json.values ? $('Budget').first().json.todo : '' }}", words),
				),
			},
			options: { fallbackOutput: 'extra', renameFallbackOutput: 'Nothing' },
		}),
		...saving.map(({ save, saveQuery, y }) =>
			postgres(save, [2140, y], saveQuery, '={{ $json.values }}'),
		),
		node(
			'Result',
			'n8n-nodes-base.form',
			2.5,
			[1420, middle + 120],
			{
				operation: 'completion',
				completionTitle: page.formTitle,
				completionMessage: page.formDescription,
				options: { formTitle: page.formTitle, customCss, appendAttribution: false },
			},
			{ webhookId: 'c1a3c0de-0020-4000-8000-0000000000f8' },
		),
	];
	const toDraw = [...entries.map(({ ask }) => ask), ...saving.map(({ save }) => save)].map(
		(name) => [name, { main: [to('Draw the Page')] }] as const,
	);
	const connections = {
		Desk: { main: [to('Budget')] },
		Budget: { main: [to('What to Do?')] },
		'What to Do?': { main: entries.map(({ ask }) => to(ask)) },
		...Object.fromEntries(toDraw),
		'Draw the Page': { main: [to('Anything to Ask?')] },
		'Anything to Ask?': { main: [to('Page'), to('Result')] },
		Page: { main: [to('Read the Answer')] },
		'Read the Answer': { main: [to('What to Save?')] },
		'What to Save?': { main: [...saving.map(({ save }) => to(save)), to('Draw the Page')] },
	};
	return {
		...{ name: 'Pay gate desk', nodes, connections },
		settings: { executionOrder: 'v1', timezone: 'Africa/Addis_Ababa' },
	};
}
