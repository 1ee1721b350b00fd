import { table } from './statistics.mts';

/** What `Profiler.stop` of a Node inspector gives. */
export interface CpuProfile {
	nodes: Array<{
		id: number;
		callFrame: { functionName: string; url: string };
		children?: number[];
	}>;
	samples: number[];
	/** Microseconds since the sample before. */
	timeDeltas: number[];
}

/** Whose work a function is, by where its file is; the innermost frame that matches counts. */
const owners: Array<[string, RegExp]> = [
	['this package', /n8n-nodes-etb-wallet/],
	['parameters and expressions', /n8n-workflow|expression-runtime|isolated-vm|tournament|luxon/],
	['database', /typeorm|sqlite|@n8n[/+]db|pg\//],
	[
		'sending requests',
		/axios|follow-redirects|form-data|backend-network|proxy-agent|node:_?(http|net|internal\/(stream|net)|dns)/,
	],
	['credentials', /credentials|cipher|node:crypto|internal\/crypto/],
	['the HTTP Request node', /HttpRequest/],
	['n8n', /\/n8n\/dist|n8n-core|n8n-nodes-base|flatted|express|body-parser/],
];

/** Time by owner in ms; `idle` is left out. */
export function timeByOwner({ nodes, samples, timeDeltas }: CpuProfile): Map<string, number> {
	const byId = new Map(nodes.map((node) => [node.id, node]));
	const parents = new Map(
		nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)),
	);
	const known = new Map<number, string>();
	const ownerOf = (id: number | undefined): string => {
		const node = id === undefined ? undefined : byId.get(id);
		if (id === undefined || node === undefined) return 'Node itself';
		const { functionName, url } = node.callFrame;
		if (functionName === '(garbage collector)') return 'garbage collection';
		if (functionName === '(idle)') return 'idle';
		const owner =
			known.get(id) ??
			owners.find(([, pattern]) => pattern.test(url))?.[0] ??
			ownerOf(parents.get(id));
		known.set(id, owner);
		return owner;
	};
	const times = new Map<string, number>();
	for (const [index, id] of samples.entries()) {
		const owner = ownerOf(id);
		if (owner === 'idle') continue;
		times.set(owner, (times.get(owner) ?? 0) + (timeDeltas[index] ?? 0) / 1000);
	}
	return times;
}

/** Profiles side by side in ms of CPU for each of `count` items. */
export function profileTable(profiles: Map<string, CpuProfile>, count: number): string {
	const times = [...profiles.values()].map(timeByOwner);
	const names = [...new Set(times.flatMap((time) => [...time.keys()]))];
	const total = (time: Map<string, number>) => [...time.values()].reduce((a, b) => a + b, 0);
	const cell = (ms: number) => (ms / count).toFixed(3);
	const rows = names
		.map((name) => ({ name, values: times.map((time) => time.get(name) ?? 0) }))
		.toSorted((a, b) => (b.values[0] ?? 0) - (a.values[0] ?? 0))
		.map(({ name, values }) => [name, ...values.map(cell)]);
	return table(
		['ms of CPU for each', ...profiles.keys()],
		[...rows, ['all', ...times.map((time) => cell(total(time)))]],
	);
}
