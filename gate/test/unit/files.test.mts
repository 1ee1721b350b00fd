/** Rules for the files of the pay gate, without n8n and PostgreSQL. */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { runInNewContext } from 'node:vm';
import { isSafeObjectProperty } from 'n8n-workflow';
import { z } from 'zod';
import { readGateWorkflow, schemaText } from '../../start/workflows.mts';
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

test('the SQL can be read by each database and by n8n', async () => {
	const schema = await schemaText();
	// A database that is not UTF8 has to understand it, up to the sentence that refuses it.
	expect(schema).toMatch(/^[\t\n\x20-\x7e]*$/);
	// n8n would take these for an expression, and for values that it has to fill in.
	expect(schema).not.toMatch(/\{\{|\$\d/);
});

test('what a mutation changes stands once in its file, and once in all', async () => {
	const schema = await schemaText();
	for (const mutation of mutations) {
		expect(existsSync(`gate/test/sql/${mutation.noticedBy}.live.mts`)).toBe(true);
		expect(() => mutated(readFileSync(mutation.file, 'utf8'), mutation)).not.toThrow();
		expect(() => mutated(schema, mutation)).not.toThrow();
	}
	expect(new Set(mutations.map(({ breaks }) => breaks)).size).toBe(mutations.length);
	expect(mutations.length).toBeGreaterThanOrEqual(75);
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
});

test('schema.sql, for psql, runs every file of schema/ in order', () => {
	const named = [...readFileSync('gate/schema.sql', 'utf8').matchAll(/^\\ir (.*)$/gm)].map(
		([, file]) => `gate/${file}`,
	);
	expect(named).toEqual(globSync('gate/schema/*.sql').sort());
	expect(named).toHaveLength(8);
});

test('a list that goes into SQL is rid of what PostgreSQL does not take in a text', async () => {
	for (const file of files) {
		const text = readFileSync(`gate/workflows/${file}`, 'utf8');
		const lists = [...text.matchAll(/JSON\.stringify\(\$json\.\w+[^)]*/g)].map(([list]) => list);
		for (const list of lists) expect(list).toContain('(key, value');
	}
	const cleaner = /value\.replace\((.*?), '(.*?)'\)/;
	for (const file of ['pay-gate.json', 'gate-paid-before.json']) {
		const [, pattern] = cleaner.exec(JSON.stringify(await readGateWorkflow(file))) ?? [];
		expect(pattern).toBe('/[\\\\0\\\\p{Cs}]/gu');
	}
});

test('CONTRIBUTING names files that exist, and each test with its promise', () => {
	const text = readFileSync('gate/CONTRIBUTING.md', 'utf8');
	const named = [...text.matchAll(/`(?:test\/)?([\w.-]+\.(?:mts|sql|js|css|txt))`/g)];
	const known = new Set(globSync('gate/**/*.*').map((path) => basename(path)));
	expect(named.map(([, name = '']) => name).filter((name) => !known.has(name))).toEqual([]);
	expect(named.length).toBeGreaterThan(5);
	const promised = [...text.matchAll(/`((?:sql|n8n|unit)\/[\w-]+)`/g)].map(([, name]) => name);
	const tests = globSync('{sql,n8n,unit}/*.mts', { cwd: 'gate/test' });
	const names = tests.map((path) => path.replace(/(\.live|\.test)?\.mts$/, ''));
	expect([...new Set(promised)].sort()).toEqual(names.sort());
});

test('every picture is used and light enough to load', () => {
	const all = ['README.md', 'docs/operating.md'].map((file) =>
		readFileSync(`gate/${file}`, 'utf8'),
	);
	for (const picture of globSync('gate/docs/images/*')) {
		expect(all.join()).toContain(basename(picture));
		expect(statSync(picture).size).toBeLessThan(200_000);
	}
});

describe('What to Do names the way out of each error of PostgreSQL', () => {
	test.each([
		['schema "etb_wallet" does not exist', /Run the workflow "Pay gate set-up" in it/],
		['The workflow needs version 2 of the pay gate', /of the same release/],
		['function etb_wallet.claim(unknown, json) does not exist', /of the same release/],
		[
			'The record was set up on PostgreSQL 13, and this is 18.4: run',
			/Run the workflow "Pay gate set-up" in it/,
		],
		[
			'needs the isolation level READ COMMITTED, and this is SERIALIZABLE',
			/Run "Pay gate set-up" again/,
		],
		['cannot execute INSERT in a read-only transaction', /Run "Pay gate set-up" again/],
		['canceling statement due to statement timeout', /Run "Pay gate set-up" again/],
		[
			'The pay gate waited 10 seconds for a connection that holds the budget',
			/somebody forgot a transaction/,
		],
		['out of shared memory', /a PostgreSQL server of its own/],
		['sorry, too many clients already', /a PostgreSQL server of its own/],
		['could not extend file: No space left on device', /the disk of PostgreSQL is full/],
		['The pay gate has no rules for the budget "main"', /or save limits at the desk/],
		['permission denied for function claim', /choose the credential "Pay gate"/],
		['database "gone" does not exist', /correct the credential of Claim and Record/],
		['Connection refused', /see that PostgreSQL runs and that n8n reaches it/],
		[undefined, /open Claim in this execution/],
	])('%s', async (message, remedy) => {
		const { nodes } = await readGateWorkflow('pay-gate.json');
		const { errorMessage } = z
			.object({ errorMessage: z.string() })
			.parse(nodes.find(({ name }) => name === 'What to Do')?.parameters);
		const known = { $json: { message }, $: () => ({ isExecuted: false }) };
		const said = errorMessage.replace(/\{\{([^]*?)\}\}/g, (_, code: string) =>
			String(runInNewContext(code, known)),
		);
		expect(said).toMatch(/\. Nothing was sent\. What to do: /);
		expect(said).toMatch(remedy);
	});
});
