/** The files in which n8n looks for output schemas. */
import { readFileSync } from 'node:fs';
import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import { misfits, schemaFile, type Schema } from './output-schema.mts';

const action = z.object({ resource: z.string(), operation: z.string() });

/** The path of the schema of an operation of the action node, version 1. */
export function actionSchemaFile(parameters: INodeParameters): string {
	const { resource, operation } = action.parse(parameters);
	return `nodes/EtbWallet/__schema__/v1.0.0/${resource}/${operation}.json`;
}

/** The path of the schema of the trigger, which has no operations. */
export const triggerSchemaFile = 'nodes/EtbWalletTrigger/__schema__/v2.0.0/output.json';

export function readSchema(file: string): Schema {
	return schemaFile.parse(JSON.parse(readFileSync(file, 'utf8')));
}

/**
 * @throws {Error} when an item does not fit. Failed items, which are on the output when the node continues, have no
 * schema.
 */
export function checkOutput(file: string, items: INodeExecutionData[]): void {
	const schema = readSchema(file);
	const problems = items
		.filter(({ json }) => !('error' in json))
		.flatMap(({ json }) => misfits(json, schema));
	if (problems.length > 0) throw new Error(`${file}: ${problems.join('; ')}`);
}
