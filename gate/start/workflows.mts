/** The workflows of the pay gate, and what a person chooses in them after the import: credentials, and the gate that others call. */
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { WorkflowFile } from '../../demo/n8n-api.mts';

export const gateFolder = join(import.meta.dirname, '..');

/** The node of `gate-set-up.json` that has `set-up.sql` and the whole of `schema/` in it. */
export const SET_UP_NODE = 'Make the Gate';

/** The SQL that sets a database up: the files of `schema/`, in their order. */
export async function schemaText(): Promise<string> {
	const files = globSync('schema/*.sql', { cwd: gateFolder }).sort();
	const parts = await Promise.all(
		files.map(async (file) => await readFile(join(gateFolder, file), 'utf8')),
	);
	return parts.map((part, index) => `---------- ${files[index]}\n\n${part}\n`).join('');
}

const read = async (...path: string[]): Promise<WorkflowFile> =>
	WorkflowFile.parse(JSON.parse(await readFile(join(gateFolder, ...path), 'utf8')));

/** Reads one file of `gate/workflows/`; throws when it is not a workflow. */
export const readGateWorkflow = async (file: string): Promise<WorkflowFile> =>
	await read('workflows', file);

/** Reads one file of `gate/examples/`; throws when it is not a workflow. */
export const readGateExample = async (file: string): Promise<WorkflowFile> =>
	await read('examples', file);

interface Credential {
	id: string;
	name: string;
}

const CallsPayGate = z
	.object({ workflowId: z.object({ cachedResultName: z.literal('Pay gate') }).passthrough() })
	.passthrough();

/** The workflow with its calls going to the pay gate with this id. */
export function withPayGate(workflow: WorkflowFile, payGateId: string): WorkflowFile {
	const nodes = workflow.nodes.map((node) => {
		const { success, data } = CallsPayGate.safeParse(node.parameters);
		if (!success) return node;
		const workflowId = { ...data.workflowId, value: payGateId };
		return { ...node, parameters: { ...data, workflowId } };
	});
	return { ...workflow, nodes };
}

/**
 * The workflow with these credentials chosen.
 * @param ids in n8n, by the names that the files of `gate/` give
 */
export function withCredentials(workflow: WorkflowFile, ids: Record<string, string>): WorkflowFile {
	const chosen = ([type, { id, name }]: [string, Credential]): [string, Credential] => [
		type,
		{ id: ids[name] ?? id, name },
	];
	const nodes = workflow.nodes.map((node) => {
		if (node.credentials === undefined) return node;
		const credentials = Object.fromEntries(Object.entries(node.credentials).map(chosen));
		return { ...node, credentials };
	});
	return WorkflowFile.parse({ ...workflow, nodes });
}
