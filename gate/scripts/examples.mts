/** The examples of the gate, made of those of the package: each with the gate in the place of the node that pays. */
import { z } from 'zod';
import { WorkflowFile } from '../../demo/n8n-api.mts';
import { readExample } from '../../demo/examples.mts';

const Node = z
	.object({
		...{ name: z.string(), type: z.string(), position: z.tuple([z.number(), z.number()]) },
		parameters: z.record(z.unknown()),
	})
	.passthrough();
type Node = z.infer<typeof Node>;
const nodesOf = ({ nodes }: WorkflowFile): Node[] => z.array(Node).parse(nodes);

const PAY_GATE = { __rl: true, mode: 'list', value: '', cachedResultName: 'Pay gate' };
const URL = 'https://github.com/n8n-nodes-etb-wallet/n8n-nodes-etb-wallet/blob/main/gate/README.md';

/** The one node that fits. @throws when there is none, or another one */
function only(nodes: Node[], what: string, fits: (node: Node) => boolean): Node {
	const [found, other] = nodes.filter(fits);
	if (found === undefined || other !== undefined)
		throw new Error(`The example has ${found === undefined ? 'no' : 'a second'} ${what}`);
	return found;
}

/** The text with a part replaced. @throws when the part is not there */
function replaced(text: unknown, part: string | RegExp, by: string): string {
	if (typeof text !== 'string' || text.search(part) < 0)
		throw new Error(`The example does not say ${String(part)}: ${String(text).slice(0, 80)}`);
	return text.replace(part, () => by);
}

const isPaying = ({ type, parameters }: Node): boolean =>
	type.startsWith('n8n-nodes-etb-wallet.etbWallet') &&
	parameters['resource'] === 'disbursement' &&
	parameters['operation'] === 'create';
const isNote = (name: string) => (node: Node) =>
	node.type === 'n8n-nodes-base.stickyNote' && node.name.startsWith(name);
const withContent = (note: Node, content: string): Node => ({
	...note,
	parameters: { ...note.parameters, content },
});

const Targets = z.record(
	z.record(z.array(z.array(z.object({ node: z.string() }).passthrough()).nullable())),
);

/** A value whose texts do not ask for these nodes: as if they had never run. @throws when a text still asks for one */
function withoutThem(value: unknown, gone: Node[]): unknown {
	const neverRan = (text: string) =>
		gone.reduce((all, { name }) => {
			const node = `\\$\\(['"]${name.replace(/\W/g, '\\$&')}['"]\\)`;
			return all
				.replaceAll(RegExp(`${node}\\.isExecuted`, 'g'), 'false')
				.replaceAll(RegExp(`${node}\\.params`, 'g'), '{ options: {} }')
				.replaceAll(RegExp(`itemsOf\\(\\(\\) => ${node}\\)`, 'g'), '[]');
		}, text);
	const text = JSON.stringify(value, (_, part: unknown) =>
		typeof part === 'string' ? neverRan(part) : part,
	);
	const left = gone.find(({ name }) =>
		[`$('${name}')`, `$(\\"${name}\\")`].some((asks) => text.includes(asks)),
	);
	if (left)
		throw new Error(`Something still asks for the node ${left.name}, which is gone: ${text}`);
	return JSON.parse(text);
}

/** The connections among these nodes alone. */
function among(nodes: Node[], connections: unknown): z.infer<typeof Targets> {
	const names = new Set(nodes.map(({ name }) => name));
	const kept = (outputs: z.infer<typeof Targets>[string][string]) =>
		outputs.map((output) => output?.filter(({ node }) => names.has(node)) ?? null);
	return Object.fromEntries(
		Object.entries(Targets.parse(connections))
			.filter(([name]) => names.has(name))
			.map(([name, types]) => [
				name,
				Object.fromEntries(Object.entries(types).map(([type, outputs]) => [type, kept(outputs)])),
			]),
	);
}

const to = (node: string, type = 'main') => ({ [type]: [[{ node, type, index: 0 }]] });

/** The width on the canvas of the node that names the caller, in pixels. */
const CALL_WIDTH = 220;

/** The nodes that name the caller and call the gate, the latter under the name of the node that paid. */
function gateNodes(
	name: string,
	id: string,
	caller: string,
	[x, y]: [number, number],
): [Node, Node] {
	const assignments = [
		{ id: 'caller-1', name: 'requestedBy', value: caller, type: 'string' },
		{ id: 'caller-2', name: 'mode', value: 'pay', type: 'string' },
	];
	const set: Node = {
		...{ id: `${id}a`.slice(1), name: 'Caller', type: 'n8n-nodes-base.set', typeVersion: 3.4 },
		position: [x, y],
		parameters: { assignments: { assignments }, includeOtherFields: true, options: {} },
	};
	const call: Node = {
		...{ id, name, type: 'n8n-nodes-base.executeWorkflow', typeVersion: 1.1 },
		position: [x + CALL_WIDTH, y],
		parameters: { workflowId: PAY_GATE, options: {} },
	};
	return [set, call];
}

/** The node that lets only rows through which can be paid: the gate takes no others. */
const readyNode = (position: [number, number]): Node => ({
	id: 'c1a3c0de-0003-4000-8000-00000000000a',
	name: 'Ready',
	type: 'n8n-nodes-base.filter',
	typeVersion: 2.2,
	position,
	alwaysOutputData: true,
	parameters: {
		conditions: {
			options: { caseSensitive: true, leftValue: '', typeValidation: 'strict', version: 2 },
			conditions: [
				{
					id: 'ready',
					leftValue: "={{ $json.status === 'ready' }}",
					rightValue: '',
					operator: { type: 'boolean', operation: 'true', singleValue: true },
				},
			],
			combinator: 'and',
		},
		options: {},
	},
});

const Id = z.object({ id: z.string() });

/**
 * The example with the two nodes that call the gate in the place of the one that pays. The nodes to the right of it make room
 * for one more. @param changed nodes for others of the example; none for those that go
 * @throws when another number of nodes than one leads to the node that pays
 */
function withGate(
	example: WorkflowFile,
	pay: Node,
	[caller, call]: [Node, Node],
	changed: Map<Node, Node[]>,
	width = CALL_WIDTH,
): Pick<WorkflowFile, 'nodes' | 'connections'> {
	const all = new Map(changed).set(pay, [caller, call]);
	const gone = [...changed].flatMap(([node, nodes]) => (nodes.length === 0 ? [node] : []));
	const [x] = pay.position;
	const nodes = nodesOf(example)
		.flatMap((node) => [...all].find(([{ name }]) => name === node.name)?.[1] ?? [node])
		.map((node) => {
			const [left, top] = node.position;
			const isBehind = left > x && node !== call && node !== caller && !isNote('')(node);
			const position = [left + (isBehind ? width : 0), top];
			return Node.parse(withoutThem({ ...node, position }, gone));
		});
	const links = among(nodes, example.connections);
	const into = Object.values(links)
		.flatMap(({ main }) => main?.flat() ?? [])
		.filter((target) => target?.node === pay.name);
	if (into.length !== 1) throw new Error(`${into.length} nodes lead to "${pay.name}"`);
	for (const target of into) if (target) target.node = caller.name;
	return { nodes, connections: { ...links, [caller.name]: to(call.name) } };
}

/** `payroll.json`, without what settles: that is done at the desk. @throws when it is no longer made as this expects */
export async function payrollThroughTheGate(): Promise<WorkflowFile> {
	const example = await readExample('payroll.json');
	const nodes = nodesOf(example);
	const pay = only(nodes, 'node that pays', isPaying);
	const settles = nodes.filter(
		({ name, type }) => /^n8n-nodes-base\.form(Trigger)?$/.test(type) || name === 'Payments now',
	);
	if (settles.length === 0) throw new Error('The example has no form that settles');
	const [left, top] = pay.position;
	const [caller, call] = gateNodes(pay.name, Id.parse(pay).id, 'payroll', [left + CALL_WIDTH, top]);
	const ready = readyNode(pay.position);
	const about = only(nodes, 'note about it', isNote('About this workflow'));
	const copies = only(nodes, 'note about copies', isNote('A copy '));
	const people = only(nodes, 'node that reads the people', ({ name }) => name === 'People');
	const checks = only(nodes, 'node that checks the list', ({ name }) => name === 'Check List');
	const ends = only(nodes, 'end in red', ({ type }) => type === 'n8n-nodes-base.stopAndError');
	const changed = new Map<Node, Node[]>([
		...settles.map((node): [Node, Node[]] => [node, []]),
		[
			about,
			[
				withContent(
					about,
					`## Pay salaries through the pay gate\n\n*Pay salaries every month* with the [pay gate](${URL}) in the place of the node that pays. It pays the payroll \`other\`.\n\n**Before you start:** choose your workflow *Pay gate* in *${pay.name}*, and run *Set up people to pay*.\n\n**Make it yours:** set the pay day in *Every 25th* and in *Check List*, and limits at the desk. Publish.`,
				),
			],
		],
		[
			copies,
			[
				{
					...withContent(copies, '### A copy pays nobody again\nThe gate remembers who was paid.'),
					name: 'A copy pays nobody again',
				},
			],
		],
		[
			people,
			[
				{
					...people,
					parameters: {
						...people.parameters,
						filters: { conditions: [{ keyName: 'payroll', keyValue: 'other' }] },
					},
				},
			],
		],
		[
			checks,
			[
				{
					...checks,
					parameters: {
						...checks.parameters,
						// The gate knows what was settled at the desk, and the register does not.
						knownPayments: replaced(
							checks.parameters['knownPayments'],
							/^=\{\{ \$\('Payments'\)\.all\(\) \}\}$/,
							`={{ $('Payments').all().filter(({ json }) => json.outcome !== 'unknown' || !String(json.workflow).endsWith('(' + $workflow.id + ')')) }}`,
						),
					},
				},
				ready,
			],
		],
		[
			ends,
			[
				{
					...ends,
					parameters: {
						...ends.parameters,
						errorMessage: replaced(
							ends.parameters['errorMessage'],
							/\{\{ \$input\.all\(\)\.some\([^]*$/,
							'Unknown: ask the partner service, and settle it at the desk. Then run this workflow again.',
						),
					},
				},
			],
		],
	]);
	const { connections, ...made } = withGate(example, pay, [caller, call], changed, 2 * CALL_WIDTH);
	return {
		name: 'Pay salaries through the pay gate',
		...made,
		connections: {
			...connections,
			[checks.name]: to(ready.name),
			[ready.name]: to(caller.name),
		},
		settings: example['settings'],
	};
}

/** `agent-with-approval.json`, whose payment calls the gate. @throws when it is no longer made as this expects */
export async function agentThroughTheGate(): Promise<WorkflowFile> {
	// Its forms and chats are others than those of the workflow it is made of.
	const text = JSON.stringify(await readExample('agent-with-approval.json'));
	const example = WorkflowFile.parse(
		JSON.parse(text.replaceAll('c1a3c0de-0008-', 'c1a3c0de-0010-')),
	);
	const nodes = nodesOf(example);
	const pay = only(nodes, 'node that pays', isPaying);
	const tool = only(nodes, 'tool that pays', ({ type }) => type.endsWith('.toolWorkflow'));
	const about = only(nodes, 'note about it', isNote('About this workflow'));
	const agent = only(nodes, 'agent', ({ type }) => type.endsWith('.agent'));
	const { systemMessage } = z
		.object({ systemMessage: z.string() })
		.parse(agent.parameters['options']);
	const told = replaced(
		systemMessage,
		/(?<=\n- alreadyPaid: .*\n)/,
		'- inFlight: it is being sent by somebody else; say that, and do not try again.\n',
	);
	const description = replaced(tool.parameters['description'], '.', ', through the pay gate.');
	const changed = new Map<Node, Node[]>([
		[tool, [{ ...tool, parameters: { ...tool.parameters, description } }]],
		[agent, [{ ...agent, parameters: { ...agent.parameters, options: { systemMessage: told } } }]],
		[
			about,
			[
				withContent(
					about,
					`## An agent that pays through the gate\n\n*An agent that asks before it pays*, with the limits of a [pay gate](${URL}).\n\n**Before you start:** choose your credential in *Chat model* and your workflow *Pay gate* in *Pay*, publish, and give the caller \`agent\` limits at the desk.\n\n**Try it:** *Open chat*, and ask it to pay somebody.\n\nNever ask by a link in an email: virus scanners open it, which approves.`,
				),
			],
		],
	]);
	const call = gateNodes(pay.name, Id.parse(pay).id, 'agent', pay.position);
	return {
		name: 'An agent that pays through the gate',
		...withGate(example, pay, call, changed),
		settings: example['settings'],
	};
}
