/** Sets a PostgreSQL up for the pay gate with the query of `gate-set-up.json`, as that workflow does. */
import pg from 'pg';
import { z } from 'zod';
import { readGateWorkflow, schemaText, SET_UP_NODE } from './workflows.mts';
import { StartError } from '../../demo/start-error.mts';

/** The set-up shows this in the place of a password that it did not make. */
const WAS_THERE = /^as before/;

const Query = z.object({ name: z.string(), parameters: z.object({ query: z.string() }) });
const Shown = z.object({
	'Credential to make': z.string(),
	Database: z.string(),
	User: z.string(),
	Password: z.string(),
	'Payments in the record': z.coerce.number(),
});

/** The fields of a Postgres credential of n8n. */
interface PostgresLogin {
	host: string;
	port: number;
	database: string;
	user: string;
	password: string;
	ssl: 'disable' | 'allow';
}

/**
 * Runs the query of the set-up workflow.
 * @param limits of the budget `main`, in ETB
 * @param schema another than that of the workflow
 * @returns what it shows
 */
export async function setUpGate(
	client: pg.Client,
	limits: { most_per_day: number; most_per_payment: number },
	schema?: string,
): Promise<Array<z.infer<typeof Shown>>> {
	const { nodes } = await readGateWorkflow('gate-set-up.json');
	const { query } = Query.parse(nodes.find(({ name }) => name === SET_UP_NODE)).parameters;
	const own = await schemaText();
	const given = {
		...{ budget: 'main', limits, person: 'npm start', newPasswords: 'no' },
		callers: { mcp: { most_per_day: 2000, most_per_payment: 500 } },
	};
	// n8n's Postgres node writes the value into the text as well.
	const value = client.escapeLiteral(JSON.stringify(given));
	const text = query.replace('$1', () => value).replace(own, (same) => schema ?? same);
	const results = z.array(z.object({ rows: z.array(z.unknown()) })).parse(await client.query(text));
	return z.array(Shown).parse(results.at(-1)?.rows);
}

/**
 * Makes record, rules and logins in the database at `url`.
 * @param limits of the budget `main`, in ETB
 * @param schema another than that of the workflow
 * @returns what the credentials have to hold, by their names
 * @throws StartError when the database cannot be used, or another n8n has its logins
 */
export async function setUpGateDatabase(
	url: string,
	limits: { most_per_day: number; most_per_payment: number },
	schema?: string,
): Promise<Record<string, PostgresLogin>> {
	const client = new pg.Client({ connectionString: url });
	try {
		await client.connect();
		const shown = await setUpGate(client, limits, schema);
		if (shown.some(({ Password }) => WAS_THERE.test(Password))) {
			const users = shown.map(({ User }) => User);
			throw new StartError(
				`The PostgreSQL of GATE_DATABASE_URL has the logins ${users.join(' and ')} already, and their passwords are not known here. ` +
					`If nothing else uses them: drop owned by ${users.join(', ')}; drop role ${users.join(', ')}`,
			);
		}
		const { host, port } = client;
		const ssl = client.ssl ? 'allow' : 'disable';
		return Object.fromEntries(
			shown.map((login) => [
				login['Credential to make'],
				{ host, port, database: login.Database, user: login.User, password: login.Password, ssl },
			]),
		);
	} catch (error) {
		if (error instanceof StartError) throw error;
		const reason = error instanceof Error ? error.message : String(error);
		throw new StartError(`The PostgreSQL of GATE_DATABASE_URL cannot be used: ${reason}`);
	} finally {
		await client.end();
	}
}
