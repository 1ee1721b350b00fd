/** What `npm start` sets up in n8n when it runs for the first time. */
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { N8nApi, N8nApiError, type Login } from './api.mts';
import { setUpGateDatabase } from './gate-database.mts';
import { callsPayGate, readGateWorkflow, withCredentials } from './gate.mts';
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

/** What was set up in this data folder; saved after each step, so that an interrupted first run goes on. */
const State = z.object({
	email: z.string(),
	password: z.string(),
	credentialId: z.string().optional(),
	sandboxUrl: z.string().optional(),
	/** Workflow ids by example file. A deleted example is not imported again. */
	examples: z.record(z.string()),
	gate: z
		.object({
			/** Ids of the credentials, by their names in the files. */
			credentials: z.record(z.string()),
			/** Workflow ids by file of `gate/`. */
			workflows: z.record(z.string()),
			deskPassword: z.string(),
		})
		.optional(),
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

/** The workflows of the gate, and whether they are published. */
const GATE_WORKFLOWS = {
	'pay-gate.json': true,
	'gate-desk.json': true,
};

/** The user of the desk's login; the password is in the state. */
const DESK_USER = 'bookkeeper';

/** The limits of the account in a new gate, in ETB. The examples' salaries fit into them. */
const LIMITS = { most_per_day: 100_000, most_per_payment: 20_000 };

/**
 * Prepares the pay gate, once: its record in the PostgreSQL at `databaseUrl`, credentials, and workflows.
 * Resolves to the id of the workflow "Pay gate", or to undefined when there is neither gate nor database.
 */
async function prepareGate(
	api: N8nApi,
	state: State,
	save: () => Promise<void>,
	databaseUrl: string | undefined,
	print: (line: string) => void,
): Promise<string | undefined> {
	if (state.gate === undefined && databaseUrl !== undefined) {
		const credentials: Record<string, string> = {};
		const deskPassword = newPassword();
		for (const [name, login] of Object.entries(await setUpGateDatabase(databaseUrl, LIMITS))) {
			credentials[name] = await api.createCredential(name, 'postgres', login);
		}
		const name = 'Pay gate desk login';
		const login = { user: DESK_USER, password: deskPassword };
		credentials[name] = await api.createCredential(name, 'httpBasicAuth', login);
		state.gate = { credentials, workflows: {}, deskPassword };
		await save();
		print('Made the record of the pay gate in PostgreSQL');
	}
	const { gate } = state;
	if (gate === undefined) return undefined;
	const credentials = { ...gate.credentials, 'ETB Wallet account': state.credentialId ?? '' };
	for (const [file, isPublished] of Object.entries(GATE_WORKFLOWS)) {
		if (gate.workflows[file] !== undefined) continue;
		const workflow = await readGateWorkflow(file);
		const id = await api.createWorkflow(withCredentials(workflow, credentials));
		gate.workflows[file] = id;
		await save();
		if (isPublished) await api.activate(id);
	}
	return gate.workflows['pay-gate.json'];
}

const deskLoginOf = ({ gate }: State) => gate && { user: DESK_USER, password: gate.deskPassword };

/** What a person needs to know. */
export interface Prepared {
	/** Undefined when the person changed it. */
	login?: Login;
	/** The login of the pay gate's desk, if there is a gate. */
	deskLogin?: { user: string; password: string };
}

/**
 * Prepares a new n8n for a person: owner account, credential for the sandbox, example workflows with
 * their data tables, one of them active; with a PostgreSQL, the pay gate too. Later starts only add what is new.
 * @param gateDatabaseUrl of the PostgreSQL for the pay gate, if there is one
 */
export async function prepareForPerson(
	folder: string,
	{ n8n, sandbox, packageChanged }: Stack,
	print: (line: string) => void,
	gateDatabaseUrl?: string,
): Promise<Prepared> {
	const stateFile = join(folder, 'start.json');
	const state = await readState(stateFile);
	const save = async () =>
		await writeFile(stateFile, JSON.stringify(state, null, '\t') + '\n', { mode: 0o600 });
	const api = new N8nApi(n8n.url);

	if (await api.needsOwner()) {
		await save(); // before the account exists: its password must never be lost
		await api.setUpOwner(state);
	} else {
		try {
			await api.logIn(state);
		} catch (error) {
			if (error instanceof N8nApiError && error.status === 401)
				return { deskLogin: deskLoginOf(state) };
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

	const payGateId = await prepareGate(api, state, save, gateDatabaseUrl, print);
	let count = 0;
	for (const file of await exampleFiles()) {
		const workflow = await readExample(file);
		if (callsPayGate(workflow) && payGateId === undefined) continue;
		let id = state.examples[file];
		const imported = id === undefined;
		if (id === undefined) {
			for (const [name, columns] of tablesOf(workflow)) await api.createDataTable(name, columns);
			id = await importWorkflow(api, workflow, state.credentialId, payGateId);
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
	return {
		login: { email: state.email, password: state.password },
		deskLogin: deskLoginOf(state),
	};
}
