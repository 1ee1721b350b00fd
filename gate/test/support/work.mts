/** How much work a call of the gate is for PostgreSQL, counted: no clock, so a busy machine changes nothing. */
import type pg from 'pg';
import { z } from 'zod';
import { claim, record, type Claimed } from './server.mts';

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

/** A step of a plan, as `explain` writes it. */
type Step = Record<string, unknown>;
const Steps = z.array(z.record(z.unknown())).default([]);
const Explained = z.object({ Plan: z.record(z.unknown()) });

/**
 * The steps of all statements that a work runs, those inside the gate's functions too, with what they went through: PostgreSQL's
 * auto_explain tells them.
 */
export async function stepsOf(client: pg.Client, work: () => Promise<unknown>): Promise<Step[]> {
	const steps: Step[] = [];
	const add = (step: Step): void => {
		steps.push(step);
		Steps.parse(step.Plans).forEach(add);
	};
	const read = ({ message = '' }: { message?: string }): void => {
		const [, plan] = /plan:\s*(\{.*\})\s*$/s.exec(message) ?? [];
		if (plan !== undefined) add(Explained.parse(JSON.parse(plan)).Plan);
	};
	await client.query(`load 'auto_explain'; set auto_explain.log_min_duration = 0;
		set auto_explain.log_nested_statements = on; set auto_explain.log_analyze = on; set auto_explain.log_buffers = on;
		set auto_explain.log_timing = off; set auto_explain.log_format = json; set auto_explain.log_level = notice`);
	client.on('notice', read);
	await work();
	client.off('notice', read);
	await client.query('set auto_explain.log_min_duration = -1');
	return steps;
}

/** The tables of which one of these steps read each row. */
export const scannedIn = (steps: Step[]): string[] =>
	steps.flatMap((step) =>
		step['Node Type'] === 'Seq Scan' && Number(step['Actual Loops']) > 0
			? [String(step['Relation Name'])]
			: [],
	);

export interface Work {
	/** Rows that the steps went through, those of lists in memory included. */
	rows: number;
	/** Pages of the database that the steps touched. A page counts once more for each step that contains the one that touched it. */
	pages: number;
}

/** The work of one claim of `count` new payments and of recording that they were paid. */
export async function workOf(client: pg.Client, name: string, count: number): Promise<Work> {
	const steps = await stepsOf(client, async () => {
		const window = await claim(client, 'main', payments(name, count));
		await record(client, 'main', window, paid(window));
	});
	const sum = (names: string[], times = '') =>
		steps.reduce((total, step) => {
			const own = names.reduce((all, each) => all + Number(step[each] ?? 0), 0);
			return total + own * Number(step[times] ?? 1);
		}, 0);
	const removed = ['Filter', 'Index Recheck', 'Join Filter'].map((by) => `Rows Removed by ${by}`);
	return {
		rows: sum(['Actual Rows', ...removed], 'Actual Loops'),
		pages: sum(['Shared Hit Blocks', 'Shared Read Blocks']),
	};
}
