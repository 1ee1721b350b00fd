/** Payrolls for the real n8n: rows, the workflow that pays them, and what came of it. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import type { Execution, WorkflowFile } from '../../../lab/n8n/api.mts';
import type { Fault, PresetName } from '../../../sandbox/faults.mts';
import type { Lab } from '../../../lab/lab.mts';
import { eventually, executionsOf } from '../../../lab/lab.mts';

export const PAY = 'Pay';
export const PAID = 'Paid';
export const FAILED = 'Failed';

/** One row of a payroll. */
export interface Row {
	toUserId: string;
	/** ETB */
	amountEtb: number;
	reference?: string;
}

/** New users of the sandbox with one payment each. */
export function payroll(
	{ sandbox }: Lab,
	name: string,
	count: number,
	{ references }: { references: boolean },
): Row[] {
	return Array.from({ length: count }, (_, index) => {
		const { id: toUserId } = sandbox.books.addUser({ externalId: `${name}-${index}` });
		return { toUserId, amountEtb: 1, ...(references && { reference: `pay-${name}-${index}` }) };
	});
}

export const rowAt = (rows: Row[], index: number): Row => {
	const row = rows[index];
	assert.ok(row);
	return row;
};

const node = (name: string, type: string, typeVersion: number, parameters: object) => ({
	id: randomUUID(),
	name,
	type,
	typeVersion,
	position: [0, 0],
	parameters,
});

/** Notes the row that n8n takes for the source of each item. */
const sourceNode = (name: string) =>
	node(name, 'n8n-nodes-base.set', 3.4, {
		includeOtherFields: true,
		assignments: {
			assignments: [
				{
					id: randomUUID(),
					name: 'source',
					type: 'string',
					value: "={{ $('Rows').item.json.toUserId }}",
				},
			],
		},
		options: {},
	});

/** Pays the rows that are posted to its webhook, and looks at what leaves on both outputs. */
function payrollWorkflow(path: string, settings: object, options: object): WorkflowFile {
	const to = (name: string) => ({ node: name, type: 'main', index: 0 });
	const webhook = node('Webhook', 'n8n-nodes-base.webhook', 2, { path, httpMethod: 'POST' });
	return {
		name: `Payroll ${path}`,
		nodes: [
			{ ...webhook, webhookId: randomUUID() },
			node('Rows', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'body.rows' }),
			{
				...node(PAY, 'n8n-nodes-etb-wallet.etbWallet', 1, {
					resource: 'disbursement',
					operation: 'create',
					mappingMode: 'autoMapInputData',
					options,
				}),
				...settings,
			},
			sourceNode(PAID),
			sourceNode(FAILED),
		],
		connections: {
			Webhook: { main: [[to('Rows')]] },
			Rows: { main: [[to(PAY)]] },
			[PAY]: { main: [[to(PAID)], [to(FAILED)]] },
		},
		settings: { executionOrder: 'v1' },
	};
}

/** Pays these rows when a person starts it in the editor. */
export const payrollOnce = (rows: Row[]): WorkflowFile => ({
	name: 'Payroll',
	nodes: [
		node('Start', 'n8n-nodes-base.manualTrigger', 1, {}),
		node('Rows', 'n8n-nodes-base.code', 2, {
			jsCode: `return ${JSON.stringify(rows)}.map((json) => ({ json }))`,
		}),
		{
			...node(PAY, 'n8n-nodes-etb-wallet.etbWallet', 1, {
				resource: 'disbursement',
				operation: 'create',
				mappingMode: 'autoMapInputData',
			}),
			onError: 'continueRegularOutput',
		},
	],
	connections: {
		Start: { main: [[{ node: 'Rows', type: 'main', index: 0 }]] },
		Rows: { main: [[{ node: PAY, type: 'main', index: 0 }]] },
	},
	settings: { executionOrder: 'v1' },
});

/** Publishes a workflow that pays; resolves to its id. */
export async function publish(
	lab: Lab,
	path: string,
	settings: object = {},
	options: object = {},
): Promise<string> {
	const id = await lab.add(payrollWorkflow(path, settings, options));
	await lab.api.activate(id);
	return id;
}

const WithParameters = z.object({ parameters: z.record(z.unknown()) });

/** Changes the Options of the node that pays, as a person does in the editor who then publishes. */
export async function setOptions({ api }: Lab, id: string, options: object): Promise<void> {
	await api.changeWorkflow(id, ({ nodes }) => ({
		nodes: nodes.map((each) => {
			if (each.name !== PAY) return each;
			const { parameters } = WithParameters.parse(each);
			return { ...each, parameters: { ...parameters, options } };
		}),
	}));
	await api.activate(id);
}

/** Starts the workflow of this path, also while n8n is still registering its webhooks. */
export async function pay({ n8n }: Lab, path: string, rows: Row[]): Promise<void> {
	await eventually(`webhook ${path}`, async () => {
		const response = await fetch(`${n8n.url}/webhook/${path}`, {
			method: 'POST',
			// n8n closes an idle connection just when it may be used again.
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

export const itemsOf = (execution: Execution, name: string, output = 0): Item[] =>
	execution.nodes[name]?.[0]?.outputs[output] ?? [];
export const detailsOf = (item: Item): Item => ({ ...(Object(item.error) as Item) });

/** The outcome of each item of an execution, also of those that failed under On Error: Continue. */
export const outcomesOf = (execution: Execution): unknown[] =>
	itemsOf(execution, PAY).map((item) => item.outcome ?? detailsOf(item).outcome);

export const sum = (numbers: number[]): number =>
	numbers.reduce((total, number) => total + number, 0);
export const countOf = (values: unknown[]): Record<string, number> => {
	const counts: Record<string, number> = {};
	for (const value of values) counts[String(value)] = (counts[String(value)] ?? 0) + 1;
	return counts;
};

/** The next payment to the user of a row meets a fault. */
export function faultFor({ sandbox }: Lab, faults: Map<string, Fault | PresetName>): void {
	const left = new Map(faults);
	sandbox.faults.plan('POST /disburse', ({ body }) => {
		const toUserId = String(new Map(Object.entries(Object(body) as object)).get('toUserId'));
		const fault = left.get(toUserId);
		left.delete(toUserId);
		return fault;
	});
}

/** Rejects the first `times` payments to a user. */
export function rejectFor({ sandbox }: Lab, { toUserId }: Row, times: number): void {
	const rejection: Fault = {
		process: 'never',
		answer: { status: 422, body: '{"message":"The wallet is closed"}' },
	};
	let left = times;
	sandbox.faults.plan('POST /disburse', ({ bodyText }) =>
		bodyText.includes(`"${toUserId}"`) && left-- > 0 ? rejection : undefined,
	);
}

/** What n8n's database holds of the references of a workflow's node; undefined when it never had any. */
export function recordOf({ n8n }: Lab, workflowId: string): string | undefined {
	const file = join(n8n.userFolder, '.n8n', 'database.sqlite');
	const database = new DatabaseSync(file, { readOnly: true, timeout: 20_000 });
	try {
		const row = database
			.prepare("SELECT value FROM processed_data WHERE workflowId = ? AND context <> ''")
			.get(workflowId);
		return row && z.object({ value: z.string() }).parse(row).value;
	} finally {
		database.close();
	}
}
