/** Puts the examples into n8n, with their credentials filled in. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { WorkflowFile, type DataTableColumn, type N8nApi } from './n8n-api.mts';
import { projectFolder } from './folders.mts';

const EXAMPLES = join(projectFolder, 'examples');
const PACKAGE = 'n8n-nodes-etb-wallet';

/** The one example that `npm start` publishes: only one workflow at a time gets the events of an account. */
export const PUBLISHED_EXAMPLE = 'receive-events.json';

/** The credential's name in n8n. */
export const CREDENTIAL_NAME = 'ETB Wallet sandbox';
/** The credential's type. */
export const CREDENTIAL_TYPE = 'etbWalletApi';

/** The data of a credential for a sandbox. */
export const credentialFor = (sandbox: { url: string; apiKey: string; webhookSecret: string }) => ({
	baseUrl: sandbox.url,
	apiKey: sandbox.apiKey,
	webhookSecret: sandbox.webhookSecret,
	allowInsecureHttp: false,
});

/** File names of the example workflows, in alphabetical order. */
export async function exampleFiles(): Promise<string[]> {
	return (await readdir(EXAMPLES)).filter((file) => file.endsWith('.json')).sort();
}

/** The names in the list of `examples/people.csv`, by employee number. */
export async function exampleNames(): Promise<Map<string, string>> {
	const [, ...rows] = (await readFile(join(EXAMPLES, 'people.csv'), 'utf8')).trim().split('\n');
	return new Map(
		rows.map((row) => row.split(',')).map(([employee = '', name = '']) => [employee, name]),
	);
}

/** Reads one file of `examples/`; throws when it is not a workflow. */
export async function readExample(file: string): Promise<WorkflowFile> {
	return WorkflowFile.parse(JSON.parse(await readFile(join(EXAMPLES, file), 'utf8')));
}

/** Creates the workflow with the credential chosen in each of our nodes; resolves to its id. */
export async function importWorkflow(
	api: N8nApi,
	workflow: WorkflowFile,
	credentialId: string,
): Promise<string> {
	const credentials = { [CREDENTIAL_TYPE]: { id: credentialId, name: CREDENTIAL_NAME } };
	const nodes = workflow.nodes.map((node) =>
		node.type.startsWith(`${PACKAGE}.`) ? { ...node, credentials } : node,
	);
	return await api.createWorkflow({ ...workflow, nodes });
}

const CreateTable = z.object({
	resource: z.literal('table'),
	operation: z.literal('create'),
	tableName: z.string(),
	columns: z.object({ column: z.array(z.object({ name: z.string(), type: z.string() })) }),
});

/** The data tables that a workflow makes when it runs, by name. */
export function tablesOf({ nodes }: WorkflowFile): Map<string, DataTableColumn[]> {
	const tables = nodes.flatMap(({ parameters }) => {
		const { success, data } = CreateTable.safeParse(parameters);
		return success ? [data] : [];
	});
	return new Map(tables.map(({ tableName, columns }) => [tableName, columns.column]));
}
