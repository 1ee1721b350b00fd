import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WorkflowFile, type N8nApi } from './api.mts';
import { projectFolder } from './folders.mts';

const EXAMPLES = join(projectFolder, 'examples');
const PACKAGE = 'n8n-nodes-etb-wallet';
const TRIGGER = `${PACKAGE}.etbWalletTrigger`;

/** The credential's name in n8n. */
export const CREDENTIAL_NAME = 'ETB Wallet sandbox';
/** The credential's type. */
export const CREDENTIAL_TYPE = 'etbWalletApi';

/** What the credential holds for a sandbox. */
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

/** Reads one file of `examples/`; throws when it is not a workflow. */
export async function readExample(file: string): Promise<WorkflowFile> {
	return WorkflowFile.parse(JSON.parse(await readFile(join(EXAMPLES, file), 'utf8')));
}

/** True when the workflow waits for events, so that it has to be active to do anything. */
export const startsWithEvent = (workflow: WorkflowFile) =>
	workflow.nodes.some(({ type }) => type === TRIGGER);

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
