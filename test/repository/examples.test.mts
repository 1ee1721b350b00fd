/** Rules for the files of the examples that need no n8n. */
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { Workflow, type NodeParameterValueType } from 'n8n-workflow';
import { z } from 'zod';
import { comparedColumns } from '../../nodes/EtbWallet/list/columns.ts';
import { optionalColumns, requiredColumns } from '../../nodes/EtbWallet/list/columns.ts';
import { withCode } from '../../scripts/example-code.mts';
import { fileRow } from '../../examples/code/file-row.mts';
import { PUBLISHED_EXAMPLE, exampleFiles, readExample, tablesOf } from '../../demo/examples.mts';
import { firstColumns, renamedColumns } from '../support/people.mts';
import { expectConnected } from './connected.mts';

const files = globSync('examples/*.json').map((path) => basename(path));

const OWN_NODES = /^(?:n8n-nodes-etb-wallet|n8n-nodes-base|@n8n\/n8n-nodes-langchain)\./;
const NOTE = 'n8n-nodes-base.stickyNote';

const NodeParameter = z.custom<NodeParameterValueType>();

const Placed = z.object({
	name: z.string(),
	type: z.string(),
	position: z.tuple([z.number(), z.number()]),
	parameters: z
		.object({ content: z.string(), width: z.number(), height: z.number() })
		.partial()
		.passthrough(),
});
type Placed = z.infer<typeof Placed>;

const placedNodes = async (file: string): Promise<Placed[]> =>
	z.array(Placed).parse((await readExample(file)).nodes);

/** The area of a node with its label on the canvas, in pixels. */
function areaOf({ type, position: [left, top], parameters }: Placed) {
	if (type === NOTE) {
		const { width = 0, height = 0 } = parameters;
		return { left, top, right: left + width, bottom: top + height };
	}
	const width = type.endsWith('.agent') ? 256 : 96;
	return { left: left - 16, top, right: left + width + 16, bottom: top + 160 };
}

function overlap(one: Placed, other: Placed): boolean {
	const [a, b] = [areaOf(one), areaOf(other)];
	return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

test('all files are examples, and one of them is published by npm start', async () => {
	expect(await exampleFiles()).toEqual(files.sort());
	expect(files).toContain(PUBLISHED_EXAMPLE);
	const names = await Promise.all(files.map(async (file) => (await readExample(file)).name));
	expect(new Set(names).size).toBe(names.length);
});

test('docs/examples.md describes every example, by the name of its file and of its workflow', async () => {
	const text = readFileSync('docs/examples.md', 'utf8');
	for (const file of files) {
		expect(text).toContain(`../examples/${file}`);
		expect(text).toContain((await readExample(file)).name);
	}
});

test.each(files)('%s keeps on reading a node that somebody renames', async (file) => {
	const noType = (): never => {
		throw new Error('no node is run');
	};
	const nodeTypes = { getByName: noType, getByNameAndVersion: noType, getKnownTypes: noType };
	const workflow = new Workflow({ nodes: [], connections: {}, active: false, nodeTypes });
	const nodes = (await placedNodes(file)).filter(({ type }) => type !== NOTE);
	for (const { name } of nodes) {
		for (const { type, parameters } of nodes) {
			const hasRenamableContent = type === 'n8n-nodes-base.code';
			const texts = Object.values(parameters).map((value) =>
				JSON.stringify(
					workflow.renameNodeInParameterValue(NodeParameter.parse(value), name, 'Renamed', {
						hasRenamableContent,
					}),
				),
			);
			expect(texts.join('\n')).not.toMatch(
				RegExp(`[$\\w]\\(\\\\?['"]${name.replace(/\W/g, '\\$&')}\\\\?['"]`),
			);
		}
	}
});

test('the code and the style of the nodes are those of examples/code', () => {
	for (const file of files) {
		const text = readFileSync(`examples/${file}`, 'utf8');
		expect(JSON.parse(withCode(file, text))).toEqual(JSON.parse(text));
	}
});

const Connected = z.record(
	z.record(z.array(z.array(z.object({ node: z.string() })).nullable())).optional(),
);

/** The nodes behind a node, up to the next form: a form outputs the person's answers, and not its input. */
async function nodesAfter(file: string, name: string): Promise<Set<string>> {
	const { nodes, connections } = await readExample(file);
	const isForm = new Set(
		nodes.filter(({ type }) => type === 'n8n-nodes-base.form').map(({ name: form }) => form),
	);
	const from = Connected.parse(connections);
	const found = new Set<string>();
	const follow = (node: string): void => {
		for (const next of Object.values(from[node] ?? {}).flatMap(
			(outputs) => outputs?.flat() ?? [],
		)) {
			if (next === null || found.has(next.node)) continue;
			found.add(next.node);
			if (!isForm.has(next.node)) follow(next.node);
		}
	};
	follow(name);
	return found;
}

describe.each(files)('%s', (file) => {
	test('says what a copy of it does, if it pays', async () => {
		const nodes = await placedNodes(file);
		const pays = nodes.some(
			({ type, parameters }) =>
				type.startsWith('n8n-nodes-etb-wallet.') &&
				parameters['resource'] === 'disbursement' &&
				parameters['operation'] === 'create',
		);
		const says = nodes.some(({ name, type }) => type === NOTE && name.startsWith('A copy '));
		expect(says).toBe(pays);
	});

	test('has no Code before a node that pays: what is paid is decided by the package', async () => {
		const { nodes } = await readExample(file);
		const ours = nodes.filter(({ type }) => type.startsWith('n8n-nodes-etb-wallet.'));
		for (const code of nodes.filter(({ type }) => type === 'n8n-nodes-base.code')) {
			const after = await nodesAfter(file, code.name);
			expect(ours.filter(({ name }) => after.has(name))).toEqual([]);
		}
	});

	test('decides by outcome and code, and never by a sentence of the node', () => {
		const text = readFileSync(`examples/${file}`, 'utf8');
		const judged =
			/(?:message|remedy|problem|reason)\b[)\s?]*(?:\.(?:includes|match|test|search|startsWith|endsWith)\b|[!=]==\s*['"`][^'"`])/;
		expect(text).not.toMatch(judged);
		expect(text).not.toMatch(/\.test\([^)]*(?:message|remedy|problem|reason)/);
	});

	test('connects its own nodes only', async () => {
		expectConnected(await readExample(file));
	});

	test('uses our nodes and those that come with n8n, and at least one of ours', async () => {
		const types = (await readExample(file)).nodes.map(({ type }) => type);
		expect(types.filter((type) => !OWN_NODES.test(type))).toEqual([]);
		const isOurs = types.some((type) => type.startsWith('n8n-nodes-etb-wallet.'));
		const isOfRegister = tablesOf(await readExample(file)).has('ETB payments');
		expect(isOurs || isOfRegister).toBe(true);
	});

	test('holds no credential, no secret and nothing of the n8n that it was made in', async () => {
		const workflow = await readExample(file);
		expect(Object.keys(workflow).sort()).toEqual(['connections', 'name', 'nodes', 'settings']);
		expect(workflow.nodes.filter((node) => 'credentials' in node)).toEqual([]);
		expect(JSON.stringify(workflow)).not.toMatch(
			/bearer|api.?key"|webhook-secret|sandbox-|password|instanceId|127\.0\.0\.1|localhost/i,
		);
	});

	test('explains itself in notes that cover neither nodes nor each other', async () => {
		const nodes = await placedNodes(file);
		const notes = nodes.filter(({ type }) => type === NOTE);
		expect(notes.map(({ name }) => name)).toContain('About this workflow');
		const overlapping = notes.flatMap((note) =>
			nodes
				.filter((node) => node !== note && overlap(note, node))
				.map(({ name }) => [note.name, name]),
		);
		expect(overlapping).toEqual([]);
	});
});

/** The newest versions of nodes that n8n 2.8.4 has, the oldest n8n that the package runs on. */
const VERSIONS: Record<string, number> = {
	code: 2,
	convertToFile: 1.1,
	dataTable: 1.1,
	emailSend: 2.1,
	executeWorkflow: 1.3,
	executeWorkflowTrigger: 1.1,
	extractFromFile: 1.1,
	filter: 2.3,
	form: 2.5,
	formTrigger: 2.5,
	if: 2.3,
	manualTrigger: 1,
	merge: 3.2,
	noOp: 1,
	scheduleTrigger: 1.3,
	set: 3.4,
	stickyNote: 1,
	stopAndError: 1,
	switch: 3.4,
};

test('the nodes are of versions that the oldest n8n has, but for forms with a login, which refuse there', async () => {
	const Version = z.object({
		typeVersion: z.number(),
		parameters: z.object({ authentication: z.string() }).partial(),
	});
	const newer: string[] = [];
	const withLogin: string[] = [];
	for (const file of files) {
		for (const node of (await readExample(file)).nodes) {
			const { typeVersion, parameters } = Version.parse(node);
			const known = VERSIONS[/^n8n-nodes-base\.(.*)/.exec(node.type)?.[1] ?? ''];
			if (parameters.authentication === 'n8nUserAuth') withLogin.push(file);
			else if (known !== undefined && typeVersion > known) newer.push(`${file}: ${node.name}`);
		}
	}
	expect(newer).toEqual([]);
	expect(new Set(withLogin)).toEqual(
		new Set([
			...['payments-of-a-period.json', 'payroll-from-a-file.json'],
			...['payroll.json', 'people-to-pay.json'],
		]),
	);
});

test('each table has the same columns in every workflow that makes it', async () => {
	const columns = new Map<string, unknown>();
	for (const file of files) {
		for (const [table, made] of tablesOf(await readExample(file))) {
			expect(made).toEqual(columns.get(table) ?? made);
			columns.set(table, made);
		}
	}
	expect(columns.size).toBeGreaterThan(3);
});

test('the files of the payrolls have each column of the register', async () => {
	const own = tablesOf(await readExample('people-to-pay.json')).get('ETB payments') ?? [];
	const read = new Set<string>();
	fileRow(new Proxy({}, { get: (_row, name) => void read.add(String(name)) }));
	// The cell of the amount is read of who was paid. The file has the number as people write it.
	const notRead = ['employeeKey', 'amountEtb'];
	const columns = own.map(({ name }) => name);
	expect(columns.filter((name) => !read.has(name)).toSorted()).toEqual(notRead.toSorted());
});

/** A node that adds or changes rows of a data table with values of its own. */
const WritesRows = z.object({
	name: z.string(),
	parameters: z.object({
		dataTableId: z.object({ value: z.string() }),
		columns: z.object({
			mappingMode: z.literal('defineBelow'),
			value: z.record(z.unknown()),
			schema: z.array(z.object({ id: z.string() })),
		}),
	}),
});

test('a node that writes into a table knows its columns', async () => {
	let checked = 0;
	for (const file of files) {
		const workflow = await readExample(file);
		const tables = tablesOf(workflow);
		for (const node of workflow.nodes) {
			const { success, data } = WritesRows.safeParse(node);
			const columns = success && tables.get(data.parameters.dataTableId.value);
			if (!success || !columns) continue;
			const known = data.parameters.columns.schema.map(({ id }) => id);
			const names = columns.map(({ name }) => name);
			expect(names).toEqual(expect.arrayContaining(Object.keys(data.parameters.columns.value)));
			if (known.length > 0) expect(known.toSorted()).toEqual(names.toSorted());
			checked++;
		}
	}
	expect(checked).toBeGreaterThan(3);
});

test('each column of a list is kept, of who is new and of who changed, and stands in the register', async () => {
	const nodes = (await readExample('people-to-pay.json')).nodes.flatMap((node) => {
		const { success, data } = WritesRows.safeParse(node);
		return success ? [data] : [];
	});
	const cellsOf = (name: string): [column: string, cell: unknown][] =>
		Object.entries(nodes.find((node) => node.name === name)?.parameters.columns.value ?? {});
	const valuesOf = (name: string): string[] =>
		cellsOf(name)
			.map(([column]) => column)
			.sort();
	const tables = tablesOf(await readExample('people-to-pay.json'));
	const columnsOf = (table: string): string[] =>
		(tables.get(table) ?? []).map(({ name }) => name).sort();
	const ofList = [...requiredColumns, ...optionalColumns];
	expect(columnsOf('ETB people to pay')).toEqual([...ofList, 'payroll', 'employeeKey'].sort());
	expect(valuesOf('Keep')).toEqual(columnsOf('ETB people to pay'));
	// A person keeps the number and the wallet.
	const fixed = ['employee', 'userId'];
	expect(valuesOf('Change')).toEqual(ofList.filter((name) => !fixed.includes(name)).sort());
	// A change that is not compared is never written.
	const compared = ['amountEtb', ...comparedColumns.map(({ name }) => name)];
	expect(compared).toEqual(expect.arrayContaining(valuesOf('Change')));
	for (const [column, cell] of ['Keep', 'Change'].flatMap(cellsOf))
		if (column !== 'userId') expect(cell).toContain(`json.${column}`);
	const notKept = ['email'];
	expect(columnsOf('ETB payments')).toEqual(
		expect.arrayContaining(ofList.filter((name) => !notKept.includes(name))),
	);
});

test.each(Object.entries(firstColumns))(
	'docs/examples.md brings an older %s up to date',
	async (table, first) => {
		const columns = tablesOf(await readExample('people-to-pay.json')).get(table) ?? [];
		const renamed = Object.entries(renamedColumns).filter(([from]) => first.includes(from));
		const known = [...first, ...renamed.map(([, to]) => to)];
		const added = columns.map(({ name }) => name).filter((name) => !known.includes(name));
		const step = new RegExp(`^- \\*\\*An older \\*${table}\\*(.*\n(?:  .*\n)*)`, 'm');
		const [, text = ''] = step.exec(readFileSync('docs/examples.md', 'utf8')) ?? [];
		for (const [from, to] of renamed) expect(text).toContain(`\`${from}\` to \`${to}\``);
		const [, named = ''] = /\badd (.*?),? (?:each )?as/s.exec(text) ?? [];
		const names = [...named.matchAll(/`(\w+)`/g)].map(([, name]) => name);
		expect(names.sort()).toEqual(added.sort());
	},
);
