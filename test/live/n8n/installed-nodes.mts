/** Holds the examples against the nodes that are installed in a running n8n. */
// The ES modules of n8n-workflow do not load in Node without a bundler.
import { NodeHelpers } from 'n8n-workflow/dist/cjs/index.js';
import type { INode, INodeTypeDescription } from 'n8n-workflow/dist/cjs/index.js';
import { z } from 'zod';
import type { N8nApi } from '../../../demo/n8n-api.mts';
import { exampleFiles, readExample } from '../../../demo/examples.mts';

const Description = z.custom<INodeTypeDescription>(
	(value) =>
		z.object({ name: z.string(), properties: z.array(z.unknown()) }).safeParse(value).success,
);
const ExampleNode = z.custom<INode>(
	(value) =>
		z
			.object({ type: z.string(), typeVersion: z.number(), parameters: z.object({}).passthrough() })
			.safeParse(value).success,
);

/** Paths in `given` that `known` does not have. */
function unknownPaths(given: unknown, known: unknown, path = ''): string[] {
	if (typeof given !== 'object' || given === null) return [];
	return Object.entries(given).flatMap(([key, value]) =>
		typeof known === 'object' && known !== null && Object.hasOwn(known, key)
			? unknownPaths(value, Reflect.get(known, key), `${path}.${key}`)
			: [`${path}.${key}`],
	);
}

/** The problems of a node as the editor would show them. */
function problems(node: INode, types: INodeTypeDescription[]): string[] {
	const type = types.find(
		({ name, version }) => name === node.type && [version].flat().includes(node.typeVersion),
	);
	if (type === undefined) return [`${node.type} ${node.typeVersion} is not installed`];
	// n8n keeps only the parameters that the node has with these settings.
	const known = NodeHelpers.getNodeParameters(
		type.properties,
		node.parameters,
		true,
		false,
		node,
		type,
	);
	const unknown = unknownPaths(node.parameters, known).map((path) => `unknown parameter ${path}`);
	const issues = NodeHelpers.getNodeParametersIssues(type.properties, node, type);
	return [...unknown, ...Object.values(issues?.parameters ?? {}).flat()];
}

const problemsIn = (nodes: unknown[], types: INodeTypeDescription[]): string[] =>
	z
		.array(ExampleNode)
		.parse(nodes)
		.flatMap((node) => problems(node, types).map((problem) => `${node.name}: ${problem}`));

/** The examples with nodes that would show a problem in the editor, and the problems. */
export async function unfitExamples(api: N8nApi): Promise<Map<string, string[]>> {
	const types = z.array(Description).parse(await api.nodeTypes());
	const unfit = new Map<string, string[]>();
	for (const file of await exampleFiles()) {
		const found = problemsIn((await readExample(file)).nodes, types);
		if (found.length > 0) unfit.set(file, found);
	}
	return unfit;
}
