/** The data table of the payroll examples, changed as a person does it in the editor. */
import assert from 'node:assert/strict';
import type { N8nApi } from './n8n/api.mts';
import { START, node, start, workflow } from './workflow.mts';

export const PEOPLE = 'ETB people to pay';

/** Changes one value of a person in the table. */
export async function setPerson(
	api: N8nApi,
	employee: string,
	column: string,
	value: string,
): Promise<void> {
	const schema = [{ id: column, displayName: column, type: 'string', display: true }];
	const change = node(
		'Change',
		'dataTable',
		{
			resource: 'row',
			operation: 'update',
			dataTableId: { __rl: true, mode: 'name', value: PEOPLE },
			matchType: 'allConditions',
			filters: { conditions: [{ keyName: 'employee', keyValue: employee }] },
			columns: { mappingMode: 'defineBelow', value: { [column]: value }, schema },
		},
		{ typeVersion: 1.1 },
	);
	const id = await api.createWorkflow(workflow('Change a person', [start(), change]));
	const { nodes, error } = await api.endedExecution(await api.run(id, START));
	assert.equal(nodes.Change?.[0]?.outputs[0]?.[0]?.[column], value, error);
}
