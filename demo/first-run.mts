/** The first run of `npm start`: sets up n8n for a person. */
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { N8nApi, N8nApiError, type Login } from './n8n-api.mts';
import { recordCommunityPackage } from './community-package-record.mts';
import {
	CREDENTIAL_NAME,
	CREDENTIAL_TYPE,
	PUBLISHED_EXAMPLE,
	credentialFor,
	exampleFiles,
	importWorkflow,
	readExample,
	tablesOf,
} from './examples.mts';
import type { Stack } from './stack.mts';

/** The steps that were done in this data folder; saved after each one, so that an interrupted first run goes on. */
const State = z.object({
	email: z.string(),
	password: z.string(),
	credentialId: z.string().optional(),
	sandboxUrl: z.string().optional(),
	/** Workflow ids by example file. A deleted example is not imported again. */
	examples: z.record(z.string()),
});
type State = z.infer<typeof State>;

const newPassword = () => randomBytes(9).toString('base64url');

const newState = (): State => ({
	email: 'owner@example.com',
	// n8n wants a capital letter and a digit.
	password: `Etb1-${newPassword()}`,
	examples: {},
});

async function readState(file: string): Promise<State> {
	const text = await readFile(file, 'utf8').catch(() => undefined);
	return text === undefined ? newState() : State.parse(JSON.parse(text));
}

/** The facts that `npm start` prints for the person. */
export interface Prepared {
	/** Undefined when the person changed it. */
	login?: Login;
	/** Further lines to print. */
	added: string[];
}

/** A further step of preparation, for a program that starts more than `npm start`; resolves to lines to print. */
export type Addition = (place: {
	folder: string;
	/** Logged in. Undefined when the person changed the login. */
	api: N8nApi | undefined;
	/** The credential of the sandbox. */
	credentialId: string | undefined;
	n8nUrl: string;
	print: (line: string) => void;
}) => Promise<string[]>;

/**
 * Prepares a new n8n for a person: owner account, credential for the sandbox, example workflows with
 * their data tables, one of them active. Later starts only add what is new.
 */
export async function prepareForPerson(
	folder: string,
	{ n8n, sandbox, packageChanged }: Stack,
	print: (line: string) => void,
	addition: Addition = async () => await Promise.resolve([]),
): Promise<Prepared> {
	const stateFile = join(folder, 'start.json');
	const state = await readState(stateFile);
	const save = async () =>
		await writeFile(stateFile, JSON.stringify(state, null, '\t') + '\n', { mode: 0o600 });
	const api = new N8nApi(n8n.url);
	const add = async (loggedIn?: N8nApi): Promise<string[]> =>
		await addition({
			folder,
			print,
			api: loggedIn,
			credentialId: state.credentialId,
			n8nUrl: n8n.url,
		});

	if (await api.needsOwner()) {
		await save(); // before the account exists, so that its password cannot be lost
		await api.setUpOwner(state);
	} else {
		try {
			await api.logIn(state);
		} catch (error) {
			if (error instanceof N8nApiError && error.status === 401) return { added: await add() };
			throw error;
		}
	}

	if (packageChanged) await recordCommunityPackage(folder, await api.nodeTypes());

	const data = credentialFor(sandbox);
	if (state.credentialId === undefined) {
		state.credentialId = await api.createCredential(CREDENTIAL_NAME, CREDENTIAL_TYPE, data);
		state.sandboxUrl = sandbox.url;
		await save();
	}
	const sandboxMoved = state.sandboxUrl !== sandbox.url;
	if (sandboxMoved) {
		await api.updateCredential(state.credentialId, CREDENTIAL_NAME, CREDENTIAL_TYPE, data);
		state.sandboxUrl = sandbox.url;
		await save();
	}

	let count = 0;
	for (const file of await exampleFiles()) {
		const workflow = await readExample(file);
		let id = state.examples[file];
		const imported = id === undefined;
		if (id === undefined) {
			for (const [name, columns] of tablesOf(workflow)) await api.createDataTable(name, columns);
			id = await importWorkflow(api, workflow, state.credentialId);
			state.examples[file] = id;
			await save();
			count += 1;
		}
		if (file !== PUBLISHED_EXAMPLE) continue;
		if (imported || (sandboxMoved && (await api.workflowExists(id)))) {
			await api.activate(id);
		}
	}
	if (count > 0) print(`Imported ${count} example workflows`);
	return { login: { email: state.email, password: state.password }, added: await add(api) };
}
