/** Every operation that the editor offers is complete: registered, described, previewed, documented and tested. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { webhookDescriptionIsNativelyResolvable } from 'n8n-workflow';
import type { INodeProperties, INodeTypeDescription } from 'n8n-workflow';
import { z } from 'zod';
import { findOperation } from '../../nodes/EtbWallet/actions/index.ts';
import { eventOptions } from '../../nodes/EtbWalletTrigger/event.ts';
import { routeNames } from '../../sandbox/partner-api.mts';
import { endpointRows } from '../support/engine/endpoint-table.mts';
import { loadPackage } from '../support/engine/engine.mts';

const packageFile = z.object({
	name: z.string(),
	n8n: z.object({ nodes: z.array(z.string()), credentials: z.array(z.string()) }),
});
const manifest = packageFile.parse(JSON.parse(readFileSync('package.json', 'utf8')));

async function described(name: string): Promise<INodeTypeDescription> {
	const { types } = await loadPackage();
	const type = types.get(`${manifest.name}.${name}`);
	if (type === undefined) throw new Error(`the package has no node ${name}`);
	return type.description;
}

interface Choice {
	name: string;
	value: string;
	action?: string;
	description?: string;
}

function choices({ options = [] }: INodeProperties): Choice[] {
	return options.flatMap((option) =>
		'value' in option ? [{ ...option, value: String(option.value) }] : [],
	);
}

const shows = (property: INodeProperties, field: string, value: string): boolean =>
	property.displayOptions?.show?.[field]?.includes(value) === true;

interface OfferedOperation extends Choice {
	resource: Choice;
	/** The fields that the editor shows for the operation. */
	fields: INodeProperties[];
}

/** The operations that a person can choose in the editor, from the description that n8n loads. */
async function offered(): Promise<OfferedOperation[]> {
	const { properties } = await described('etbWallet');
	const resources = properties.filter(({ name }) => name === 'resource').flatMap(choices);
	return resources.flatMap((resource) =>
		properties
			.filter((property) => property.name === 'operation')
			.filter((property) => shows(property, 'resource', resource.value))
			.flatMap(choices)
			.map((operation) => ({
				...operation,
				resource,
				fields: properties.filter(
					(property) =>
						property.name !== 'operation' &&
						shows(property, 'resource', resource.value) &&
						shows(property, 'operation', operation.value),
				),
			})),
	);
}

/** Applies `check` to each operation, and names the one that it fails for. */
async function forEachOffered(
	check: (operation: OfferedOperation, title: string) => void,
): Promise<void> {
	for (const operation of await offered()) {
		const title = `${operation.resource.name} → ${operation.name}`;
		try {
			check(operation, title);
		} catch (error) {
			const reason = error instanceof Error ? error.message : String(error);
			throw new Error(`${title} is incomplete: ${reason}`, { cause: error });
		}
	}
}

/** Pay Claims sends what Create sends; it takes the reference from the item that the gate gave. */
const rowsOf = ({ resource, value }: OfferedOperation) =>
	endpointRows
		.filter(
			({ parameters }) =>
				parameters.resource === resource.value &&
				parameters.operation === (value === 'payClaims' ? 'create' : value),
		)
		.map((row) => {
			const taken = value === 'payClaims' ? ['reference'] : [];
			const own = Object.entries(row.parameters).filter(([name]) => !taken.includes(name));
			return { ...row, parameters: Object.fromEntries(own) };
		});

describe('each operation that the editor offers', () => {
	test('is registered', async () => {
		expect(await offered()).not.toEqual([]);
		await forEachOffered(({ resource, value }) => {
			expect(findOperation(resource.value, value).option.value).toBe(value);
		});
	});

	test('has an action label of its own and a description', async () => {
		const operations = await offered();
		await forEachOffered(({ action, description, resource }) => {
			expect(action).toMatch(/^[A-Z][a-z]+ (a|an|the|many|where) [a-z]/);
			expect(description).toMatch(/^[A-Z].*[^.]$/);
			expect(resource.description).toMatch(/^[A-Z].*[^.]$/);
		});
		expect(new Set(operations.map(({ action }) => action)).size).toBe(operations.length);
	});

	test('has a row in the contract table, or calls nobody', async () => {
		await forEachOffered((operation) => {
			if (operation.value === 'checkList') expect(rowsOf(operation)).toEqual([]);
			else expect(rowsOf(operation)).not.toEqual([]);
		});
	});

	test('has a field for all that is sent', async () => {
		await forEachOffered((operation) => {
			const fields = operation.fields.map(({ name }) => name);
			for (const { parameters } of rowsOf(operation)) {
				const set = Object.keys(parameters).filter(
					(name) => name !== 'resource' && name !== 'operation',
				);
				expect(fields).toEqual(expect.arrayContaining(set));
			}
		});
	});

	test('has fields with a name, a description and a default', async () => {
		await forEachOffered(({ fields }) => {
			for (const { type, displayName, description, default: preset } of fields) {
				expect(displayName).not.toBe('');
				expect(preset).toBeDefined();
				if (!['notice', 'collection'].includes(type)) expect(description).toBeTruthy();
			}
		});
	});

	test('has an output schema in the built package that fits what it returns', async () => {
		const { nodes } = manifest.n8n;
		const node = nodes.find((file) => file.endsWith('/EtbWallet.node.js')) ?? '';
		const schemaFile = z.object({
			type: z.literal('object'),
			properties: z.record(z.object({ type: z.string() })),
		});
		await forEachOffered((operation) => {
			const file = `__schema__/v1.0.0/${operation.resource.value}/${operation.value}.json`;
			const text = readFileSync(join(dirname(node), file), 'utf8');
			const { properties } = schemaFile.parse(JSON.parse(text));
			expect(Object.keys(properties)).not.toEqual([]);
			const [row] = rowsOf(operation);
			const single = row?.added && row.route.startsWith('PUT') ? row.added : row?.answer;
			const output = row?.items === undefined ? single : row.items[0];
			for (const [name, value] of Object.entries(output ?? {})) {
				expect(properties).toHaveProperty(name, { type: typeof value });
			}
		});
	});

	test('has its section in the documentation', async () => {
		const sections = readFileSync('docs/operations.md', 'utf8').split('\n');
		await forEachOffered((_operation, title) => {
			expect(sections).toContain(`#### ${title}`);
		});
	});
});

test('every endpoint of the service is reached by an operation', () => {
	expect(new Set(endpointRows.map(({ route }) => route))).toEqual(new Set(routeNames));
});

/** The categories of n8n's own node creator. */
const categories = [
	'Analytics',
	'Communication',
	'Core Nodes',
	'Data & Storage',
	'Development',
	'Finance & Accounting',
	'Marketing',
	'Miscellaneous',
	'Productivity',
	'Sales',
	'Utility',
];

describe.each([
	['etbWallet', 1],
	// For a trigger of version 1, n8n evaluates an expression at each request.
	['etbWalletTrigger', 2],
])('the node %s', (name, version) => {
	test('has a codex with valid categories and other words to find it by', async () => {
		const { codex } = await described(name);
		expect(codex?.categories?.length).toBeGreaterThan(0);
		expect(categories).toEqual(expect.arrayContaining(codex?.categories ?? []));
		expect(codex?.alias).toEqual(expect.arrayContaining(['ETB', 'birr']));
		const file = manifest.n8n.nodes.find((path) =>
			path.toLowerCase().includes(`/${name}.node.js`.toLowerCase()),
		);
		const text = readFileSync(String(file).replace(/\.js$/, '.json'), 'utf8');
		expect(JSON.parse(text)).toMatchObject({ node: `${manifest.name}.${name}` });
	});

	test('has icons for light and dark', async () => {
		expectIcons((await described(name)).iconUrl);
	});

	test('has the name and version that saved workflows refer to', async () => {
		expect(await described(name)).toMatchObject({ name, version });
	});
});

function expectIcons(iconUrl: INodeTypeDescription['iconUrl']): void {
	const { light, dark } = z.object({ light: z.string(), dark: z.string() }).parse(iconUrl);
	expect(light).not.toBe(dark);
	for (const url of [light, dark]) {
		const file = url.replace(`icons/${manifest.name}/`, '');
		expect(existsSync(file)).toBe(true);
		expect(readFileSync(file, 'utf8')).toMatch(/^<svg [\s\S]*viewBox/);
	}
}

test('the action node is a tool for AI agents and its subtitle names the operation', async () => {
	const { usableAsTool, subtitle } = await described('etbWallet');
	expect(usableAsTool).toBe(true);
	expect(subtitle).toMatch(/\$parameter\["operation"\].*\$parameter\["resource"\]/);
});

test('Pay Claims alone has the fields for the workflow of the pay gate', async () => {
	const ofGate = ['claim', 'notAfter', 'execution'];
	await forEachOffered(({ value, fields }) => {
		const names = fields
			.map(({ name }) => name)
			.filter((name) => [...ofGate, 'record'].includes(name));
		expect(names).toEqual(value === 'payClaims' ? ofGate : []);
	});
});

test('a line in the log says everything in its message: n8n shows nothing else of it', () => {
	const calls = globSync('nodes/**/*.ts').flatMap((file) => {
		const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
		const found: Array<{ call: string; given: number }> = [];
		const look = (node: ts.Node): void => {
			if (ts.isCallExpression(node)) {
				const call = node.expression.getText(source);
				if (/\blogger\.\w+$/.test(call)) found.push({ call, given: node.arguments.length });
			}
			ts.forEachChild(node, look);
		};
		look(source);
		return found;
	});
	expect(calls.length).toBeGreaterThan(5);
	expect(calls.filter(({ given }) => given !== 1)).toEqual([]);
});

test('the trigger offers the events of the service document, and all', async () => {
	const { properties, subtitle } = await described('etbWalletTrigger');
	const events = properties.filter(({ name }) => name === 'events').flatMap(choices);
	expect(events.map(({ value }) => value)).toEqual([
		'*',
		...eventOptions.map(({ value }) => value),
	]);
	expect(subtitle).toMatch(/\$parameter\["events"\]/);
});

/** All fields, those in collections included. */
const allFields = (properties: INodeProperties[]): INodeProperties[] =>
	properties.flatMap((property) => {
		const inside = (property.options ?? []).filter((option) => 'type' in option);
		return [property, ...allFields(inside)];
	});

test('no field of the trigger takes an expression, which n8n would evaluate for each request', async () => {
	const { properties, webhooks } = await described('etbWalletTrigger');
	const fields = allFields(properties).filter(
		({ type }) => type !== 'notice' && type !== 'collection',
	);
	expect(fields.filter(({ noDataExpression }) => noDataExpression !== true)).toEqual([]);
	const [webhook] = webhooks ?? [];
	if (webhook === undefined) throw new Error('the trigger has no webhook');
	expect(webhookDescriptionIsNativelyResolvable(webhook)).toBe(true);
});

test('the credential masks each key and secret', async () => {
	const { credential } = await loadPackage();
	const secret = credential.properties.filter(({ name }) => /key|secret/i.test(name));
	expect(secret.map(({ name }) => name)).toContain('apiKey');
	expect(secret.filter(({ typeOptions }) => typeOptions?.password !== true)).toEqual([]);
	expectIcons(credential.iconUrl);
});
