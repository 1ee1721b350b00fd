/** The data tables of the payroll examples, read and changed as a person does it in the editor. */
import assert from 'node:assert/strict';
import type { Execution, N8nApi } from '../../demo/n8n-api.mts';
import { readExample, tablesOf } from '../../demo/examples.mts';
import { START, list, node, start, workflow, type NodeFile } from './n8n/workflow.mts';

export const PEOPLE = 'ETB people to pay';
export const PAYMENTS = 'ETB payments';

/** The columns that the tables had when people first made them. A person brings them up to date: docs/examples.md. */
export const firstColumns = {
	[PAYMENTS]: [
		...['reference', 'period', 'person', 'employee', 'name', 'phone', 'userId', 'askedEtb'],
		...['amountEtb', 'outcome', 'paidAt', 'txHash', 'approvedBy', 'settledBy'],
	],
	[PEOPLE]: ['person', 'employee', 'name', 'email', 'phone', 'amountEtb', 'payroll', 'userId'],
};
/** The names that some of these columns have now. */
export const renamedColumns = { person: 'employeeKey', askedEtb: 'requestedAmountEtb' };

/** The period that is due, with pay day 25. Addis Ababa is 3 hours ahead of UTC. */
export function duePeriod(): string {
	const [payDay, hourMs] = [25, 3_600_000];
	const ms = Date.now() + 3 * hourMs - (payDay - 1) * 24 * hourMs;
	return new Date(ms).toISOString().slice(0, 'YYYY-MM'.length);
}

type Row = Record<string, unknown>;

/** Runs these nodes, one after the other. */
async function run(api: N8nApi, ...nodes: NodeFile[]): Promise<Execution> {
	const id = await api.createWorkflow(workflow('Data table', [start(), ...nodes]));
	const execution = await api.endedExecution(await api.run(id, START));
	assert.equal(execution.status, 'success', execution.error);
	return execution;
}

const tableNode = (operation: string, table: string, parameters: object): NodeFile => {
	const dataTableId = { __rl: true, mode: 'name', value: table };
	const all = { resource: 'row', operation, dataTableId, ...parameters };
	return node('Table', 'dataTable', all, { typeVersion: 1.1 });
};

/** Makes a data table of the examples, unless there is one. */
export async function makeTable(api: N8nApi, table: string): Promise<void> {
	const columns = tablesOf(await readExample('people-to-pay.json')).get(table);
	assert.ok(columns, table);
	await api.createDataTable(table, columns);
}

export async function clearTable(api: N8nApi, table: string): Promise<void> {
	await makeTable(api, table);
	await run(api, tableNode('clear', table, { resource: 'table' }));
}

export async function addRows(api: N8nApi, table: string, rows: Row[]): Promise<void> {
	await makeTable(api, table);
	const columns = { mappingMode: 'autoMapInputData', value: null, schema: [] };
	await run(api, list(rows), tableNode('insert', table, { columns, options: {} }));
}

/** All rows of a data table, without the columns that n8n adds. */
export async function rowsOf(api: N8nApi, table: string): Promise<Row[]> {
	const { nodes } = await run(api, tableNode('get', table, { returnAll: true }));
	return (nodes['Table']?.[0]?.outputs[0] ?? []).map((row) =>
		Object.fromEntries(
			Object.entries(row).filter(([name]) => !['id', 'createdAt', 'updatedAt'].includes(name)),
		),
	);
}

export async function setPerson(
	api: N8nApi,
	employee: string,
	column: string,
	value: string | number,
	table = PEOPLE,
): Promise<void> {
	const type = typeof value;
	const schema = [{ id: column, displayName: column, type, display: true }];
	const { nodes } = await run(
		api,
		tableNode('update', table, {
			matchType: 'allConditions',
			filters: { conditions: [{ keyName: 'employee', keyValue: employee }] },
			columns: { mappingMode: 'defineBelow', value: { [column]: value }, schema },
		}),
	);
	assert.equal(nodes['Table']?.[0]?.outputs[0]?.[0]?.[column], value);
}
