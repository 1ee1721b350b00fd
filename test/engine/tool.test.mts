/** As a tool of an AI agent, values come only from where n8n's own expressions take them. */
import { WorkflowExecute } from 'n8n-core';
import { NodeConnectionTypes, NodeHelpers } from 'n8n-workflow';
import type {
	IDataObject,
	INodeParameters,
	INodeProperties,
	INodeType,
	WorkflowExecuteMode,
} from 'n8n-workflow';
import {
	additionalData,
	credentialFor,
	deduplicator,
	loadPackage,
	nodeTypesOf,
	plainNode,
	workflowOf,
} from '../support/engine/engine.mts';
import { payInEachTest, sandbox, user } from '../support/engine/paying.mts';

payInEachTest();
let runs = 0;

interface Tool {
	invoke(args: object): Promise<unknown>;
}

const { Main: main, AiTool: aiTool } = NodeConnectionTypes;

/** An agent that gets an item, and calls the node once with each of the arguments that its model chose. */
const callAsTool = async (
	parameters: INodeParameters,
	item: IDataObject,
	...calls: IDataObject[]
): Promise<string> => await callIn('manual', parameters, item, calls);

async function callIn(
	mode: WorkflowExecuteMode,
	parameters: INodeParameters,
	item: IDataObject,
	calls: IDataObject[],
): Promise<string> {
	const nodePackage = await loadPackage();
	const node = nodePackage.types.get('n8n-nodes-etb-wallet.etbWallet');
	if (node === undefined) throw new Error('the package has no etbWallet');
	const tool = Object.create(node) as INodeType;
	tool.description = { ...node.description, name: 'etbWalletTool', inputs: [], outputs: [aiTool] };
	const agent: INodeType = {
		description: {
			displayName: 'Agent',
			name: 'agent',
			group: ['transform'],
			version: 1,
			description: '',
			defaults: { name: 'Agent' },
			inputs: [main, aiTool],
			outputs: [main],
			properties: [],
		},
		async execute() {
			const connected = await this.getInputConnectionData(aiTool, 0);
			const [first] = (Array.isArray(connected) ? connected : [connected]) as Tool[];
			const said: unknown[] = [];
			for (const args of calls)
				said.push(await first?.invoke(args).catch((error: unknown) => String(error)));
			return [[{ json: { said: JSON.stringify(said) } }]];
		},
	};
	const types = new Map(nodePackage.types);
	types.set('test.agent', agent);
	types.set('n8n-nodes-etb-wallet.etbWalletTool', tool);
	const start = plainNode('Start', 'n8n-nodes-base.manualTrigger');
	const pay = {
		...plainNode('Pay', 'n8n-nodes-etb-wallet.etbWalletTool'),
		id: `tool-${++runs}`,
		parameters: {
			resource: 'disbursement',
			operation: 'create',
			options: {},
			reference: '=pay-{{ $execution.id }}',
			...parameters,
		},
		credentials: { etbWalletApi: { id: '1', name: 'ETB Wallet account' } },
	};
	const { workflow, data } = workflowOf(
		[start, plainNode('Agent', 'test.agent'), pay],
		{
			Start: { [main]: [[{ node: 'Agent', type: main, index: 0 }]] },
			Pay: { [aiTool]: [[{ node: 'Agent', type: aiTool, index: 0 }]] },
		},
		nodeTypesOf({ ...nodePackage, types }),
		[item],
	);
	const additional = additionalData(nodePackage, credentialFor(sandbox), `tool-${runs}`);
	const run = await new WorkflowExecute(additional, mode, data).processRunExecutionData(workflow);
	return JSON.stringify(run.data.resultData.runData.Agent?.[0]?.data?.main);
}

const paid = (): string[] => sandbox.books.disbursements().map(({ toUserId }) => toUserId);
const fromAi = (name: string): string => `={{ $fromAI('${name}', '', 'string') }}`;

test("an expression takes the workflow's item, although the model has an argument of the same name", async () => {
	const [right, wrong] = [user('right'), user('wrong')];
	for (const userId of ['$json.userId', "$json['userId']", '($json.userId)']) {
		const reference = `=r-${runs}-{{ ${fromAi('userId').slice(4, -3)}.length }}`;
		const fields = { toUserId: `={{ ${userId} }}`, amountEtb: '5', reference };
		await callAsTool(fields, { userId: right }, { userId: wrong });
	}
	expect(paid()).toEqual([right, right, right]);
});

test('what the model is asked for comes from the model', async () => {
	const [right, wrong] = [user('right'), user('wrong')];
	const fields = { toUserId: fromAi('toUserId'), amountEtb: fromAi('amountEtb') };
	await callAsTool(fields, { toUserId: wrong }, { amountEtb: '4', toUserId: right });
	expect(paid()).toEqual([right]);
});

test('a call in an evaluation of n8n pays nobody', async () => {
	const parameters = { toUserId: user('right'), amountEtb: '5' };
	expect(await callIn('evaluation', parameters, {}, [{}])).toContain('dryRun');
	expect(paid()).toEqual([]);
});

test('a maximum holds for each call of the agent, and a reference for all of them', async () => {
	const right = user('right');
	const parameters = { toUserId: right, amountEtb: fromAi('amountEtb') };
	const options = { maxTotalEtb: '500' };
	const calls = [{ amountEtb: '400' }, { amountEtb: '400' }, { amountEtb: '501' }];
	const ofEach = "=pay-{{ $fromAI('amountEtb', '', 'string') }}-{{ Math.random() }}";
	const random = jest.spyOn(Math, 'random');
	for (const value of [0.1, 0.2, 0.3]) random.mockReturnValueOnce(value);
	await callAsTool({ ...parameters, options, reference: ofEach }, {}, ...calls);
	expect(paid()).toEqual([right, right]);
	await callAsTool({ ...parameters, options }, {}, ...calls);
	expect(paid()).toEqual([right, right, right]);
});

test.each(['', '  ', '={{ $json.invoice }}', fromAi('reference')])(
	'without a reference (%p) nothing is sent, and the model is told what to write',
	async (reference) => {
		const fields = { toUserId: user('right'), amountEtb: '4', reference };
		const said = await callAsTool(fields, {}, { reference: '' });
		expect(said).toMatch(/Reference is (empty|..."  ...").*Write what this payment is for/);
		expect(paid()).toEqual([]);
	},
);

test.each([
	['settle', 'Mode is on Settle Unknown'],
	// Mode takes no expression in a tool.
	["={{ 'settle' }}", 'Mode is '],
])('Mode as %p settles nothing', async (mode, problem) => {
	const fields = { toUserId: user('right'), amountEtb: '4', mode, wasPaid: 'x', wasNotPaid: '' };
	expect(await callAsTool(fields, {}, {})).toContain(problem);
	expect(paid()).toEqual([]);
	expect([...deduplicator.rows.keys()].filter((key) => key.includes(`tool-${runs}`))).toEqual([]);
});

test('a model may choose whom to pay, how much and under which reference, and nothing else', async () => {
	const { types } = await loadPackage();
	const node = types.get('n8n-nodes-etb-wallet.etbWallet');
	if (node === undefined) throw new Error('the package has no etbWallet');
	const parameters = { resource: 'disbursement', operation: 'create' };
	const version = { typeVersion: 1 };
	const shownIn = (name: string): INodeProperties[] =>
		node.description.properties.filter((field) =>
			NodeHelpers.displayParameter(parameters, field, version, { ...node.description, name }),
		);
	const open = shownIn('etbWalletTool').flatMap((field): string[] => {
		const inner = field.type === 'collection' ? (field.options ?? []) : [];
		if (inner.length > 0)
			return inner.filter((one) => !('noDataExpression' in one)).map(({ name }) => name);
		return field.noDataExpression === true ? [] : [field.name];
	});
	expect(open).toEqual(['reference', 'toUserId', 'amountEtb']);
	const modesIn = (name: string) =>
		shownIn(name)
			.filter((field) => field.name === 'mode')
			.map(({ options }) => options?.map((option) => option.name));
	expect(modesIn('etbWalletTool')).toEqual([['Dry Run', 'Pay']]);
	expect(modesIn('etbWallet')).toEqual([['Dry Run', 'Pay', 'Settle Unknown']]);
	expect(shownIn('etbWallet').filter(({ name }) => name === 'options')).toHaveLength(1);
	const reference = shownIn('etbWalletTool').find(({ name }) => name === 'reference');
	expect(reference?.description).toContain('the same whenever the same payment is asked for');
});
