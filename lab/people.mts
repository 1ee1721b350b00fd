/** The data table of the payroll examples, changed as a person does it in the editor. */
import assert from 'node:assert/strict';
import type { N8nApi } from './n8n/api.mts';

export const PEOPLE = 'ETB people to pay';

/** Changes one value of a person in the table. */
export async function setPerson(
	api: N8nApi,
	employee: string,
	column: string,
	value: string,
): Promise<void> {
	const schema = [{ id: column, displayName: column, type: 'string', display: true }];
	const id = await api.createWorkflow({
		name: 'Change a person',
		nodes: [
			{ id: 'start', name: 'Start', type: 'n8n-nodes-base.manualTrigger', typeVersion: 1 },
			{
				id: 'change',
				name: 'Change',
				type: 'n8n-nodes-base.dataTable',
				typeVersion: 1.1,
				parameters: {
					resource: 'row',
					operation: 'update',
					dataTableId: { __rl: true, mode: 'name', value: PEOPLE },
					matchType: 'allConditions',
					filters: { conditions: [{ keyName: 'employee', keyValue: employee }] },
					columns: { mappingMode: 'defineBelow', value: { [column]: value }, schema },
				},
			},
		].map((node) => ({ parameters: {}, position: [0, 0], ...node })),
		connections: { Start: { main: [[{ node: 'Change', type: 'main', index: 0 }]] } },
	});
	const { nodes, error } = await api.endedExecution(await api.run(id, 'Start'));
	assert.equal(nodes.Change?.[0]?.outputs[0]?.[0]?.[column], value, error);
}
