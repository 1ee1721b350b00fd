/**
 * The output schemas say what the nodes really output; `npm run schemas` writes them by this test. The engine
 * tests hold all of their outputs against them.
 */
import { globSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { schemaOf, type Schema } from '../../support/engine/output-schema.mts';
import { actionSchemaFile, readSchema } from '../../support/engine/schema-files.mts';
import { realOutputs, type Outputs } from './outputs.mts';

let outputs: Outputs;
beforeAll(async () => {
	outputs = await realOutputs();
	if (process.env.npm_lifecycle_event !== 'schemas') return;
	for (const [file, samples] of outputs) {
		mkdirSync(dirname(file), { recursive: true });
		writeFileSync(file, JSON.stringify({ ...schemaOf(samples), version: 1 }, null, '\t'));
	}
});

/** With the properties as a list, because n8n shows them in this order. */
const inOrder = ({ properties, items, ...schema }: Schema): unknown => ({
	...schema,
	properties: Object.entries(properties ?? {}).map(([name, property]) => [name, inOrder(property)]),
	...(items && { items: inOrder(items) }),
});

test('each real output has a schema, which is what "npm run schemas" writes, and there is no other', () => {
	expect(globSync('nodes/**/__schema__/**/*.json').sort()).toEqual([...outputs.keys()].sort());
	for (const [file, samples] of outputs)
		expect([file, inOrder(readSchema(file))]).toEqual([file, inOrder(schemaOf(samples))]);
});

test('a payment shows its outcome first, in every shape', () => {
	const file = actionSchemaFile({ resource: 'disbursement', operation: 'create' });
	expect(Object.keys(readSchema(file).properties ?? {})[0]).toBe('outcome');
	const shapes = new Set((outputs.get(file) ?? []).map(({ outcome }) => outcome));
	expect(shapes).toEqual(new Set(['paid', 'alreadyPaid', 'notPaid', 'unknown', 'ready']));
});
