// `npm start` in `gate/`: what `npm start` gives, and the pay gate in the PostgreSQL that GATE_DATABASE_URL names.
import { randomBytes } from 'node:crypto';
import { globSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import type { N8nApi } from '../../demo/n8n-api.mts';
import { importWorkflow, tablesOf } from '../../demo/examples.mts';
import { StartError } from '../../demo/start-error.mts';
import { startForPerson } from '../../demo/start.mts';
import { setUpGateDatabase } from './database.mts';
import {
	gateFolder,
	readGateExample,
	readGateWorkflow,
	withCredentials,
	withPayGate,
} from './workflows.mts';

/** The credentials and workflows that were made in this data folder; saved after each step, so that an interrupted first run goes on. */
const State = z.object({
	/** Ids of the credentials, by their names in the files. */
	credentials: z.record(z.string()),
	/** Workflow ids by file. A deleted one is not imported again. */
	workflows: z.record(z.string()),
	deskPassword: z.string(),
});
type State = z.infer<typeof State>;

/** The workflows that are published. */
const PUBLISHED = ['pay-gate.json', 'gate-desk.json'];

/** The user of the desk's login; the password is in the state. */
const DESK_USER = 'bookkeeper';

/** The limits of the account in a new gate, in ETB. The examples' salaries fit into them. */
const LIMITS = { most_per_day: 100_000, most_per_payment: 20_000 };

async function newState(api: N8nApi): Promise<State> {
	const url = process.env.GATE_DATABASE_URL;
	if (!url)
		throw new StartError(
			'Name an empty PostgreSQL for the pay gate: GATE_DATABASE_URL=postgres://user:password@localhost:5432/database npm start',
		);
	const credentials: Record<string, string> = {};
	for (const [name, login] of Object.entries(await setUpGateDatabase(url, LIMITS)))
		credentials[name] = await api.createCredential(name, 'postgres', login);
	const deskPassword = randomBytes(9).toString('base64url');
	const name = 'Pay gate desk login';
	const login = { user: DESK_USER, password: deskPassword };
	credentials[name] = await api.createCredential(name, 'httpBasicAuth', login);
	return { credentials, workflows: {}, deskPassword };
}

await startForPerson(async ({ folder, api, credentialId, n8nUrl, print }) => {
	const file = join(folder, 'gate.json');
	const saved = await readFile(file, 'utf8').catch(() => undefined);
	let state = saved === undefined ? undefined : State.parse(JSON.parse(saved));
	if (api !== undefined && credentialId !== undefined) {
		const own = state ?? (await newState(api));
		const save = async () =>
			await writeFile(file, JSON.stringify(own, null, '\t') + '\n', { mode: 0o600 });
		await save();
		if (state === undefined) print('Made the record of the pay gate in PostgreSQL');
		state = own;
		const credentials = { ...own.credentials, 'ETB Wallet account': credentialId };
		for (const name of PUBLISHED) {
			if (own.workflows[name] !== undefined) continue;
			const workflow = withCredentials(await readGateWorkflow(name), credentials);
			const id = (own.workflows[name] = await api.createWorkflow(workflow));
			await save();
			await api.activate(id);
		}
		for (const path of globSync('examples/*.json', { cwd: gateFolder })) {
			const name = basename(path);
			if (own.workflows[name] !== undefined) continue;
			const example = await readGateExample(name);
			for (const [table, columns] of tablesOf(example)) await api.createDataTable(table, columns);
			const workflow = withPayGate(example, own.workflows['pay-gate.json'] ?? '');
			own.workflows[name] = await importWorkflow(api, workflow, credentialId);
			await save();
		}
	}
	return state === undefined
		? []
		: [
				`Desk      ${n8nUrl}/form/pay-gate-desk   user: ${DESK_USER}   password: ${state.deskPassword}`,
			];
});
