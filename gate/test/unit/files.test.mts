/** What can be seen in the files of the pay gate, without n8n and PostgreSQL. */
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { isSafeObjectProperty } from 'n8n-workflow';
import { z } from 'zod';
import { callsPayGate, readGateWorkflow, SET_UP_NODE } from '../../start/workflows.mts';
import { mutations } from '../mistakes.mts';
import { mutated } from '../../../test/support/mutation.mts';
import { expectConnected } from '../../../test/repository/connected.mts';

const files = globSync('gate/workflows/*.json').map((path) => basename(path));

const QueryNode = z.object({ parameters: z.object({ query: z.string() }) });

test('gate/schema.sql and the workflows are what the files of gate/ make', () => {
	const { status, stderr } = spawnSync('node', ['gate/scripts/build.mts', '--check'], {
		encoding: 'utf8',
	});
	expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test('the set-up workflow has the whole of gate/schema.sql in it', async () => {
	const { nodes } = await readGateWorkflow('gate-set-up.json');
	const record = QueryNode.parse(nodes.find(({ name }) => name === SET_UP_NODE));
	const schema = readFileSync('gate/schema.sql', 'utf8').trimEnd();
	expect(record.parameters.query).toContain(schema);
	// n8n would take these for an expression, and for values that it has to fill in.
	expect(schema).not.toMatch(/\{\{|\$\d/);
});

test('the gate asks for the version of the record that gate/schema.sql makes', async () => {
	const [, version] =
		/c_version constant integer := (\d+);/.exec(readFileSync('gate/schema.sql', 'utf8')) ?? [];
	expect(version).toBeDefined();
	const claim = (await readGateWorkflow('pay-gate.json')).nodes.find(
		({ name }) => name === 'Claim',
	);
	expect(QueryNode.parse(claim).parameters.query).toMatch(new RegExp(`, ${version}\\)$`));
});

test('what a mutation changes stands once in its file, and once in gate/schema.sql', () => {
	const schema = readFileSync('gate/schema.sql', 'utf8');
	for (const mutation of mutations) {
		expect(() => mutated(readFileSync(mutation.file, 'utf8'), mutation)).not.toThrow();
		expect(() => mutated(schema, mutation)).not.toThrow();
	}
	expect(new Set(mutations.map(({ breaks }) => breaks)).size).toBe(mutations.length);
});

const Note = z.object({ parameters: z.object({ content: z.string() }) });
const ToBeChosen = z.object({ value: z.literal('') });

test.each([...globSync('gate/{workflows,examples}/*.json')])(
	'%s: choosing the workflow that a node calls loses nothing',
	(path) => {
		// n8n empties the fields of a node whose workflow a person chooses, also who asks for a payment: so they stand in a node before it.
		const Nodes = z.object({ nodes: z.array(z.object({ parameters: z.record(z.unknown()) })) });
		const { nodes } = Nodes.parse(JSON.parse(readFileSync(path, 'utf8')));
		const toChoose = nodes.filter(
			({ parameters }) => ToBeChosen.safeParse(parameters.workflowId).success,
		);
		for (const { parameters } of toChoose) expect(parameters).not.toHaveProperty('workflowInputs');
	},
);

test('gate/README.md names every file', () => {
	const readme = readFileSync('gate/README.md', 'utf8');
	for (const file of files) expect(readme).toContain(`(workflows/${file})`);
});

describe.each(files)('%s', (file) => {
	test('connects its own nodes only, and reads only from them', async () => {
		expectConnected(await readGateWorkflow(file));
	});

	test('has a note that somebody reads', async () => {
		const { nodes } = await readGateWorkflow(file);
		const notes = nodes.flatMap((node) => {
			const { success, data } = Note.safeParse(node);
			return success ? data.parameters.content.split(/\s+/) : [];
		});
		expect(notes.length).toBeGreaterThan(20);
		expect(notes.length).toBeLessThanOrEqual(90);
	});

	test('has a Code node only at the desk, and credentials by name only', async () => {
		const { nodes } = await readGateWorkflow(file);
		const coded = nodes.filter(({ type }) => type.endsWith('.code')).length;
		expect(coded).toBe(file === 'gate-desk.json' ? 3 : 0);
		const ids = nodes.flatMap(({ credentials }) =>
			Object.values(credentials ?? {}).map(({ id }) => id),
		);
		expect(ids.filter((id) => id !== '')).toEqual([]);
	});

	test('gives its queries values, and never builds a query of text', async () => {
		const { nodes } = await readGateWorkflow(file);
		const queries = nodes.flatMap((node) => {
			const { success, data } = QueryNode.safeParse(node);
			return success ? [data.parameters.query] : [];
		});
		// Those of the desk are constants of its file.
		const built = file === 'gate-desk.json' ? ['={{ $json.query }}', '={{ $json.query }}'] : [];
		expect(queries.filter((query) => query.includes('{{'))).toEqual(built);
	});

	test('reads nothing by a name that n8n refuses in expressions', async () => {
		const text = JSON.stringify((await readGateWorkflow(file)).nodes);
		const expressions = [...text.matchAll(/\{\{.*?\}\}/g)].map(([expression]) => expression);
		const read = expressions.flatMap((expression) => [...expression.matchAll(/\.(\w+)/g)]);
		expect(read.map(([, name = '']) => name).filter((name) => !isSafeObjectProperty(name))).toEqual(
			[],
		);
	});

	test('calls the gate by its name, if it calls it', async () => {
		const workflow = await readGateWorkflow(file);
		expect(callsPayGate(workflow)).toBe(file.startsWith('gate-tools'));
	});
});
