/** Runs the code of a Code node of an example, exactly as it is in the file, with what n8n would hand to it. */
// n8n's own; it hands it to the code of a node.
import { DateTime } from 'luxon';
import { z } from 'zod';
import { readExample } from '../../lab/n8n/examples.mts';

export type Json = Record<string, unknown>;

type Run = (...globals: unknown[]) => unknown;
const AsyncFunction = z
	.custom<new (...code: string[]) => Run>()
	.parse((async () => {}).constructor);
const Items = z.array(z.object({ json: z.record(z.unknown()) }));

export interface Given {
	/** Items of the node's input. */
	input?: Json[];
	/** Items of the other nodes that have run, by name. */
	nodes?: Record<string, Json[]>;
	/** ISO. */
	now?: string;
}

/** Resolves to the node's items, or rejects with what it throws. */
export async function runCode(
	file: string,
	name: string,
	{ input = [], nodes = {}, now = '2026-10-26' }: Given,
): Promise<Json[]> {
	const node = (await readExample(file)).nodes.find((each) => each.name === name);
	const { jsCode } = z.object({ jsCode: z.string() }).parse(node?.['parameters']);
	const asItems = (items: Json[]) => ({
		isExecuted: true,
		all: () => items.map((json) => ({ json })),
		first: () => ({ json: items[0] }),
	});
	const globals = {
		$: (other: string) => (nodes[other] ? asItems(nodes[other]) : { isExecuted: false }),
		$input: asItems(input),
		$now: DateTime.fromISO(now, { zone: 'Africa/Addis_Ababa' }),
		$execution: { id: '1' },
		DateTime,
	};
	const run = new AsyncFunction(...Object.keys(globals), jsCode);
	return Items.parse(await run(...Object.values(globals))).map(({ json }) => json);
}
