/** How much work a call of the gate is for PostgreSQL, counted: no clock, so a busy machine changes nothing. */
import type pg from 'pg';
import { z } from 'zod';
import { claim, record, rows, value, type Claimed } from './server.mts';

const tableWork = z.object({
	/** How often an index was asked. */
	lookups: z.coerce.number(),
	/** Rows that were read. */
	read: z.coerce.number(),
	/** Rows that were written. */
	written: z.coerce.number(),
});

/** What PostgreSQL did in the gate's tables, and the pages of the database that it touched. */
export type Work = z.infer<typeof tableWork> & { pages: number };

interface PlanNode {
	'Node Type': string;
	'Relation Name'?: string;
	'Actual Rows': number;
	'Actual Loops': number;
	Plans?: PlanNode[];
}
const planNode: z.ZodType<PlanNode> = z.lazy(() =>
	z.object({
		'Node Type': z.string(),
		'Relation Name': z.string().optional(),
		'Actual Rows': z.number(),
		'Actual Loops': z.number(),
		Plans: z.array(planNode).optional(),
	}),
);
const ran = z.object({ Plan: planNode });

const rowsIn = (node: PlanNode): number =>
	(node.Plans ?? []).reduce(
		(sum, inner) => sum + rowsIn(inner),
		node['Actual Rows'] * node['Actual Loops'],
	);

/** The tables of which a plan read each row. */
export const scannedIn = (node: PlanNode): string[] => [
	...(node['Node Type'] === 'Seq Scan' && node['Actual Loops'] > 0
		? [node['Relation Name'] ?? '']
		: []),
	...(node.Plans ?? []).flatMap(scannedIn),
];

const plan = z.array(
	z.object({
		Plan: z.object({ 'Shared Hit Blocks': z.number(), 'Shared Read Blocks': z.number() }),
	}),
);

/** The pages that a query touches. */
async function pagesOf(client: pg.Client, sql: string, values: unknown[]): Promise<number> {
	const [read] = await value(
		client,
		plan,
		`explain (analyze, buffers, format json) ${sql}`,
		values,
	);
	return (read?.Plan['Shared Hit Blocks'] ?? NaN) + (read?.Plan['Shared Read Blocks'] ?? NaN);
}

async function tablesSoFar(client: pg.Client): Promise<z.infer<typeof tableWork>> {
	const [work] = await rows(
		client,
		tableWork,
		`select sum(coalesce(idx_scan, 0)) as lookups, sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) as read,
			sum(n_tup_ins + n_tup_upd + n_tup_del) as written
		from pg_stat_xact_user_tables where schemaname = 'etb_wallet'`,
	);
	if (work === undefined) throw new Error('PostgreSQL counts nothing');
	return work;
}

/** What `work` does in the gate's tables. */
async function inTables(client: pg.Client, work: () => Promise<unknown>) {
	// (What is counted can be of earlier transactions too, until PostgreSQL takes it away at the end of one.)
	await client.query('begin');
	const before = await tablesSoFar(client);
	await work();
	const after = await tablesSoFar(client);
	await client.query('commit');
	return {
		lookups: after.lookups - before.lookups,
		read: after.read - before.read,
		written: after.written - before.written,
	};
}

/** As many new payments, each to a person of its own. */
export const payments = (name: string, count: number) =>
	Array.from({ length: count }, (_, index) => ({
		...{ reference: `${name}-${index}`, toUserId: `svc_${index}`, amountEtb: 1 },
	}));

/** An answer "paid" to each. */
export const paid = ({ send }: Claimed) =>
	send.map(({ toUserId, reference }) => ({
		...{ toUserId, outcome: 'paid', txHash: `0x${reference}` },
	}));

/** The work of one claim of `count` new payments and of recording that they were paid. */
export async function workOf(client: pg.Client, name: string, count: number): Promise<Work> {
	const ofTables = await inTables(client, async () => {
		const window = await claim(client, 'main', payments(`${name} a`, count));
		await record(client, 'main', window, paid(window));
	});
	const list = JSON.stringify(payments(`${name} b`, count));
	// (It runs the claim, and does not give its answer: that is found by asking once more.)
	const claimed = await pagesOf(client, "select * from etb_wallet.claim('main', $1, '1')", [list]);
	const window = await claim(client, 'main', payments(`${name} c`, count));
	const values = [window.claim, JSON.stringify(window.items), JSON.stringify(paid(window))];
	const sql = "select * from etb_wallet.record('main', $1, $2, $3, '1')";
	return { ...ofTables, pages: claimed + (await pagesOf(client, sql, values)) };
}

/**
 * The plans of all statements that a query runs, those inside the gate's functions too, with what they went through: PostgreSQL's
 * auto_explain tells them.
 */
export async function plansOf(
	client: pg.Client,
	sql: string,
	values: unknown[] = [],
): Promise<PlanNode[]> {
	const plans: PlanNode[] = [];
	const add = ({ message = '' }: { message?: string }): void => {
		const [, found] = /plan:\s*(\{.*\})\s*$/s.exec(message) ?? [];
		if (found !== undefined) plans.push(ran.parse(JSON.parse(found)).Plan);
	};
	await client.query(`load 'auto_explain'; set auto_explain.log_min_duration = 0;
		set auto_explain.log_nested_statements = on; set auto_explain.log_analyze = on;
		set auto_explain.log_timing = off; set auto_explain.log_format = json; set auto_explain.log_level = notice`);
	client.on('notice', add);
	await client.query(sql, values);
	client.off('notice', add);
	await client.query('set auto_explain.log_min_duration = -1');
	return plans;
}

/** The rows that all steps of one claim of `count` new payments went through, those of lists in memory included. */
export async function rowsOf(client: pg.Client, name: string, count: number): Promise<number> {
	const list = JSON.stringify(payments(name, count));
	const plans = await plansOf(client, "select * from etb_wallet.claim('main', $1, '1')", [list]);
	return plans.reduce((sum, plan) => sum + rowsIn(plan), 0);
}
