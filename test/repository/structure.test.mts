/**
 * Every operation that the editor offers is complete: registered, described, documented and tested. The linter
 * has n8n's rules for the rest.
 */
import { readFileSync } from 'node:fs';
import { webhookDescriptionIsNativelyResolvable, type INodeProperties } from 'n8n-workflow';
import { EtbWalletApi } from '../../credentials/EtbWalletApi.credentials.ts';
import { findOperation } from '../../nodes/EtbWallet/actions/index.ts';
import { EtbWallet } from '../../nodes/EtbWallet/EtbWallet.node.ts';
import { EtbWalletTrigger } from '../../nodes/EtbWalletTrigger/EtbWalletTrigger.node.ts';
import { everyOperation } from '../support/every-operation.mts';
import { endpointRows } from '../support/engine/endpoint-table.mts';

const { description: action } = new EtbWallet();
const { description: trigger } = new EtbWalletTrigger();

interface Choice {
	name: string;
	value: string;
	action?: string;
	description?: string;
}

const choices = ({ options = [] }: INodeProperties): Choice[] =>
	options.flatMap((option) =>
		'value' in option ? [{ ...option, value: String(option.value) }] : [],
	);

/** The fields that the editor shows when this value is chosen in `field`. */
const shownFor = (properties: INodeProperties[], field: string, { value }: Choice) =>
	properties.filter(({ displayOptions }) => displayOptions?.show?.[field]?.includes(value));

/** The operations that a person can choose in the editor, with the fields that it shows for each. */
const offered = action.properties
	.filter(({ name }) => name === 'resource')
	.flatMap(choices)
	.flatMap((resource) => {
		const shown = shownFor(action.properties, 'resource', resource);
		return shown
			.filter(({ name }) => name === 'operation')
			.flatMap(choices)
			.map((operation) => ({
				resource,
				operation,
				title: `${resource.name} → ${operation.name}`,
				fields: shownFor(shown, 'operation', operation),
			}));
	});

/**
 * The parameters that the contract test sets. Pay Claims sends what Create sends; its reference comes from the
 * item.
 */
function parametersSent(resource: Choice, { value }: Choice): string[][] {
	const tested = value === 'payClaims' ? 'create' : value;
	const others = ['resource', 'operation', ...(value === 'payClaims' ? ['reference'] : [])];
	return endpointRows
		.map(({ parameters }) => parameters)
		.filter((each) => each.resource === resource.value && each.operation === tested)
		.map((each) => Object.keys(each).filter((name) => !others.includes(name)));
}

describe.each(offered)('$title', ({ resource, operation, fields, title }) => {
	test('is registered, described and documented', () => {
		expect(findOperation(resource.value, operation.value).menuEntry.value).toBe(operation.value);
		expect(operation.action).toMatch(/^[A-Z][a-z]+ (a|an|the|many|where) [a-z]/);
		for (const { description } of [operation, resource])
			expect(description).toMatch(/^[A-Z].*[^.]$/);
		expect(readFileSync('docs/operations.md', 'utf8').split('\n')).toContain(`#### ${title}`);
	});

	test('has a described field for all that is sent', () => {
		const sent = parametersSent(resource, operation);
		expect(sent.length > 0).toBe(operation.value !== 'checkList');
		expect(fields.map(({ name }) => name)).toEqual(expect.arrayContaining(sent.flat()));
		const undescribed = fields.filter(({ description }) => !description);
		expect(undescribed.filter(({ type }) => type !== 'notice' && type !== 'collection')).toEqual(
			[],
		);
	});

	test('has the fields for the workflow of the pay gate only as Pay Claims', () => {
		const ofGate = ['claim', 'notAfter', 'execution'];
		const own = fields.map(({ name }) => name).filter((name) => ofGate.includes(name));
		expect(own).toEqual(operation.value === 'payClaims' ? ofGate : []);
	});
});

test('each operation has an action label of its own', () => {
	expect(new Set(offered.map(({ operation }) => operation.action)).size).toBe(offered.length);
});

test('the nodes have the names and versions that saved workflows refer to', () => {
	// For a trigger of version 1, n8n evaluates an expression at each request.
	expect([action, trigger].map(({ name, version }) => [name, version])).toEqual([
		['etbWallet', 1],
		['etbWalletTrigger', 2],
	]);
});

/** All fields, those in collections included. */
const allFields = (properties: INodeProperties[]): INodeProperties[] =>
	properties.flatMap((property) => {
		const inside = (property.options ?? []).flatMap((option) =>
			'type' in option ? [option] : 'values' in option ? option.values : [],
		);
		return [property, ...allFields(inside)];
	});

/** A line for each field, with its values if they are fixed. The same field of two operations is one line. */
function savedNames(node: string, properties: INodeProperties[], path = ''): string[] {
	return properties.flatMap((property) => {
		const { name, type, options = [] } = property;
		if (type === 'notice') return [];
		const own = `${node} ${path}${name}`;
		const values = choices(property).map(({ value }) => `${own}: ${value}`);
		const inside = options.flatMap((option) =>
			'type' in option ? [option] : 'values' in option ? option.values : [],
		);
		return [own, ...values, ...savedNames(node, inside, `${path}${name}.`)];
	});
}

test('saved workflows find each field and value: saved-names.txt has all, and loses none', () => {
	const names = [
		...savedNames(action.name, action.properties),
		...savedNames(trigger.name, trigger.properties),
		...savedNames(new EtbWalletApi().name, new EtbWalletApi().properties),
	];
	const saved = readFileSync('test/repository/saved-names.txt', 'utf8').trimEnd().split('\n');
	const now = new Set(names);
	expect({ lost: saved.filter((name) => !now.has(name)) }).toEqual({ lost: [] });
	expect({ toAdd: [...now].filter((name) => !saved.includes(name)) }).toEqual({ toAdd: [] });
});

test('the workflow with every operation has each of them, with every field', () => {
	const used = JSON.stringify(everyOperation().nodes.map(({ parameters }) => parameters));
	const fields = allFields(action.properties).filter(
		({ type }) => type !== 'notice' && type !== 'hidden',
	);
	const missing = offered.filter(
		({ resource, operation }) =>
			!used.includes(`"resource":"${resource.value}","operation":"${operation.value}"`),
	);
	expect(missing).toEqual([]);
	expect(fields.length).toBeGreaterThan(20);
	expect(fields.filter(({ name }) => !used.includes(`"${name}":`))).toEqual([]);
});

test('README.md names each field of the credential', () => {
	const [, below = ''] = readFileSync('README.md', 'utf8').split('\n## Credentials\n');
	const [section = ''] = below.split('\n## ');
	const named = [...section.matchAll(/^- \*\*(.+?)\*\*/gm)].map(([, name]) => name);
	expect(named).toEqual(new EtbWalletApi().properties.map(({ displayName }) => displayName));
});

test('no field of the trigger takes an expression, which n8n would evaluate for each request', () => {
	const fields = allFields(trigger.properties).filter(
		({ type }) => type !== 'notice' && type !== 'collection',
	);
	expect(fields.filter(({ noDataExpression }) => noDataExpression !== true)).toEqual([]);
	expect(trigger.webhooks?.map(webhookDescriptionIsNativelyResolvable)).toEqual([true]);
});
