/** Payrolls for the real n8n: rows, the workflow that pays them, and its results. */
import assert from 'node:assert/strict';
import type { Execution } from '../../demo/n8n-api.mts';
import { PAY, payNode, postedRows, webhook, workflow } from './n8n/workflow.mts';
import type { Fault, PresetName } from '../../sandbox/faults.mts';
import type { Lab } from './lab.mts';
import { eventually, executionsOf } from './lab.mts';

export interface Row {
	toUserId: string;
	amountEtb: number;
	reference: string;
}

/** New users of the sandbox with one payment each. */
export function payroll({ sandbox }: Pick<Lab, 'sandbox'>, name: string, count: number): Row[] {
	return Array.from({ length: count }, (_, index) => {
		const { id: toUserId } = sandbox.books.addUser({ externalId: `${name}-${index}` });
		return { toUserId, amountEtb: 1, reference: `pay-${name}-${index}` };
	});
}

export const rowAt = (rows: Row[], index: number): Row => {
	const row = rows[index];
	assert.ok(row);
	return row;
};

export const once = (rows: Row[]): number[] => Array<number>(rows.length).fill(1);

/** Publishes a workflow that pays the rows that are posted to its webhook; resolves to its id. */
export async function publish(
	lab: Pick<Lab, 'add' | 'api'>,
	path: string,
	settings: object = {},
	options: object = {},
): Promise<string> {
	const nodes = [webhook(path), postedRows(), payNode({ options }, settings)];
	const id = await lab.add(workflow(`Payroll ${path}`, nodes));
	await lab.api.activate(id);
	return id;
}

/** Starts the workflow of this path, also while n8n is still registering its webhooks. */
export async function pay(
	{ n8n }: { n8n: { url: string } },
	path: string,
	rows: object[],
): Promise<void> {
	await eventually(`webhook ${path}`, async () => {
		const response = await fetch(`${n8n.url}/webhook/${path}`, {
			method: 'POST',
			// n8n may close an idle connection at the moment when it is used again.
			headers: { 'content-type': 'application/json', connection: 'close' },
			body: JSON.stringify({ rows }),
		});
		await response.text();
		return response.ok ? true : undefined;
	});
}

/** The newest of `count` executions, ended. */
export async function newest(lab: Lab, workflowId: string, count: number): Promise<Execution> {
	const execution = (await executionsOf(lab, workflowId, count, 120_000)).at(-1);
	assert.ok(execution);
	return execution;
}

export type Item = Record<string, unknown>;

export const itemsOf = (execution: Execution, name = PAY, output = 0): Item[] =>
	execution.nodes[name]?.[0]?.outputs[output] ?? [];

/** A field of each item in the first output of the node that pays. */
export const valuesOf = (execution: Execution, field: string): unknown[] =>
	itemsOf(execution).map((item) => item[field]);
export const outcomesOf = (execution: Execution): unknown[] => valuesOf(execution, 'outcome');
export const codesOf = (execution: Execution): unknown[] => valuesOf(execution, 'code');

export const sum = (numbers: number[]): number =>
	numbers.reduce((total, number) => total + number, 0);
export const countOf = (values: unknown[]): Record<string, number> => {
	const counts: Record<string, number> = {};
	for (const value of values) counts[String(value)] = (counts[String(value)] ?? 0) + 1;
	return counts;
};

/** Plans a fault for the next payment to the user of a row. */
export function faultFor(
	{ sandbox }: Pick<Lab, 'sandbox'>,
	faults: Map<string, Fault | PresetName>,
): void {
	const left = new Map(faults);
	sandbox.faults.plan('POST /disburse', ({ body }) => {
		const toUserId = String(new Map(Object.entries(Object(body) as object)).get('toUserId'));
		const fault = left.get(toUserId);
		left.delete(toUserId);
		return fault;
	});
}
