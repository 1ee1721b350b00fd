/**
 * The code of the payroll examples, run in its Code node with n8n's own `$`, and rows to run it with. Amounts are in ETB.
 */
import { readFileSync } from 'node:fs';
import vm from 'node:vm';
import {
	Workflow,
	WorkflowDataProxy,
	createRunExecutionData,
	type INode,
	type INodeExecutionData,
	type IRunData,
} from 'n8n-workflow';
import { z } from 'zod';
import { checkList } from '../../nodes/EtbWallet/list/checkList.ts';

export type Rows = Array<Record<string, unknown>>;

const Nodes = z.object({ nodes: z.array(z.custom<INode>()) });
const Item = z.custom<INodeExecutionData>();
const Output = z.array(z.object({ json: z.record(z.unknown()) }));

/**
 * Runs the Code node of an example, usually *Page and rows*, after other nodes.
 * @param runs the items of the first output in each run of a node, by its name; a node without them did not run
 * @param runIndex the number of earlier runs of *Page and rows*
 */
export function pageAndRows(
	example: string,
	runs: Record<string, Rows[]>,
	runIndex = 0,
	name = 'Page and rows',
): Rows {
	const text = readFileSync(`examples/${example}`, 'utf8');
	const nodes = Nodes.parse(JSON.parse(text)).nodes.map((node) => ({ ...node, id: node.name }));
	const noType = (): never => {
		throw new Error('no node is run');
	};
	const nodeTypes = { getByName: noType, getByNameAndVersion: noType, getKnownTypes: noType };
	const workflow = new Workflow({
		id: 'own',
		name: 'Salaries',
		active: true,
		nodes: [],
		connections: {},
		nodeTypes,
	});
	workflow.setNodes(nodes);
	const runData: IRunData = Object.fromEntries(
		Object.entries(runs).map(([node, all]) => [
			node,
			all.map((rows, executionIndex) => ({
				startTime: 0,
				executionTime: 0,
				executionIndex,
				source: [],
				data: { main: [z.array(Item).parse(rows.map((json) => ({ json })))] },
			})),
		]),
	);
	const data = createRunExecutionData({ resultData: { runData } });
	const resumeUrl = 'http://n8n.test/form-waiting/1';
	const execution = { id: '1', mode: 'production', resumeUrl, resumeFormUrl: resumeUrl } as const;
	const keys = { $execution: execution };
	const proxy = new WorkflowDataProxy(workflow, data, runIndex, 0, name, [], {}, 'trigger', keys);
	const code = z.string().parse(nodes.find((node) => node.name === name)?.parameters['jsCode']);
	const names = ['$', '$workflow', '$execution', 'DateTime', '$runIndex'];
	const input = { all: () => (runs['Check List']?.[0] ?? []).map((json) => ({ json })) };
	const values = [...names.map((each): unknown => proxy.getDataProxy()[each]), input];
	const run: unknown = Reflect.apply(
		vm.compileFunction(code, [...names, '$input']),
		undefined,
		values,
	);
	return Output.parse(run).map(({ json }) => json);
}

export const [period, purpose] = ['2026-10', 'salary'];
export const people = [1, 2, 3].map((number) => ({
	employee: `E-${number}`,
	name: `Person ${number}`,
	userId: `w${number}`,
	amountEtb: 1000 * number,
}));
/** The rows of *Check List*, and those of its dry run, which are ready. */
export function check(payments?: Rows, more: Partial<Parameters<typeof checkList>[1]> = {}) {
	const now = new Date('2026-10-26T08:00:00Z');
	const settings = { purpose, period, now, people, register: payments, workflowId: 'own', ...more };
	const rows = checkList(people, settings).map(({ row }) => ({ ...row }));
	const toPay = rows.filter(({ status }) => status === 'ready');
	return { rows, ready: toPay.map((row) => ({ ...row, mode: 'dryRun', outcome: 'ready' })) };
}
export const referenceOf = (number: number): string => `${purpose}-${period}-E${number}`;
/** A row of the register. */
export const registered = (number: number, outcome: string, more: object = {}) => ({
	id: number,
	reference: referenceOf(number),
	period,
	purpose,
	employeeKey: `E${number}`,
	name: `Person ${number}`,
	requestedAmountEtb: 1000 * number,
	outcome,
	userId: `w${number}`,
	...(outcome === 'paid' && { amountEtb: 1000 * number, paidAt: '2026-10-25T08:00:00Z' }),
	workflow: 'Other (other)',
	updatedAt: '2026-10-25T08:00:00Z',
	...more,
});
export const user = (id: string) => ({
	id,
	firstName: id,
	lastName: 'X',
	email: `${id}@example.com`,
});
export const approved = {
	Ask: [[{ decision: 'Approve: pay', user: user('second') }]],
	Decision: [[{ mode: 'pay' }]],
};
