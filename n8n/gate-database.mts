/** Sets a PostgreSQL up for the pay gate with the queries of `gate/gate-set-up.json`, as that workflow does. */
import pg from 'pg';
import { z } from 'zod';
import { readGateWorkflow, RECORD_NODE } from './gate.mts';
import { StartError } from './start-error.mts';

const LOGINS_NODE = 'Make Account and Logins';
/** What the set-up shows in the place of a password that it did not make. */
const WAS_THERE = /^as before/;

const Query = z.object({ name: z.string(), parameters: z.object({ query: z.string() }) });
const Shown = z.object({
	'Credential to make': z.string(),
	Database: z.string(),
	User: z.string(),
	Password: z.string(),
});

/** What a Postgres credential of n8n holds. */
export interface PostgresLogin {
	host: string;
	port: number;
	database: string;
	user: string;
	password: string;
	ssl: 'disable' | 'allow';
}

/**
 * Makes record, rules and logins in the database at `url`.
 * @param limits of the account `main`, in ETB
 * @returns what the credentials have to hold, by their names
 * @throws StartError when the database cannot be used, or another n8n has its logins
 */
export async function setUpGateDatabase(
	url: string,
	limits: { most_per_day: number; most_per_payment: number },
): Promise<Record<string, PostgresLogin>> {
	const { nodes } = await readGateWorkflow('gate-set-up.json');
	const queryOf = (wanted: string): string => {
		const node = nodes.find(({ name }) => name === wanted);
		return Query.parse(node).parameters.query;
	};
	const client = new pg.Client({ connectionString: url });
	try {
		await client.connect();
		await client.query(queryOf(RECORD_NODE));
		// n8n's Postgres node writes the values into the text as well.
		const newPasswords = 'no';
		const values = ['main', JSON.stringify(limits), 'npm start', newPasswords].map((value) =>
			client.escapeLiteral(value),
		);
		const text = queryOf(LOGINS_NODE).replaceAll(/\$(\d)/g, (_, number: string) => {
			const value = values[Number(number) - 1];
			if (value === undefined) throw new Error(`"${LOGINS_NODE}" has no value for $${number}`);
			return value;
		});
		const results = z
			.array(z.object({ rows: z.array(z.unknown()) }))
			.parse(await client.query(text));
		const shown = z.array(Shown).parse(results.at(-1)?.rows);
		if (shown.some(({ Password }) => WAS_THERE.test(Password))) {
			throw new StartError(
				'The PostgreSQL of GATE_DATABASE_URL has the logins pay_gate and pay_gate_desk already, and their passwords are not known here. ' +
					'If nothing else uses them: drop role pay_gate, pay_gate_desk',
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
