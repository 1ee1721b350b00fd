/** Payments a second: the action node beside the HTTP Request node. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { peakMemoryMb, cpuMs, memoryMb, resetPeakMemory } from '../test/support/process-usage.mts';
import type { Section, Sizes, Target } from './section.mts';
import type { Counts } from './service.mts';
import type { Stack } from './stack.mts';
import { digits, ratios, shown, spread, table } from './statistics.mts';
import { PAY } from '../demo/workflow.mts';
import { etbWallet, httpRequest, noOperation, payingWorkflow } from './workflows.mts';

/** A published workflow that pays. */
export interface Way {
	name: string;
	url: string;
	workflowId: string;
	/** The workflow whose node keeps the references, if it is another one. */
	recordedIn?: string;
	/** Whether the service gets a request for each item. */
	pays: boolean;
}

/** One run of a way. */
interface PayRun extends Counts {
	/** Time of the paying node. */
	nodeMs: number;
	/** CPU time of n8n for the whole execution. */
	cpuMs: number;
	/** Peak of n8n's resident memory, and how much that was above what it had before. */
	peakMb: number;
	grownMb: number;
}

interface Row {
	toUserId: string;
	/** ETB */
	amountEtb: number;
	reference: string;
}

/** The latency at which the service, and not CPU, is to be the limit, and how many payments at once that takes. */
const SLOW = { latencyMs: 50, concurrency: 50 };

export interface Ways {
	http: Way;
	wallet: Way;
	walletSlow: Way;
	nothing: Way;
}

export async function publishWays(stack: Stack): Promise<Ways> {
	const { service } = stack;
	const header = await stack.addCredential('Service key', 'httpHeaderAuth', {
		name: 'Authorization',
		value: `Bearer ${service.payments.apiKey}`,
	});
	const publish = async (
		path: string,
		name: string,
		pay: Parameters<typeof payingWorkflow>[1],
	): Promise<Way> => ({
		name,
		url: `${stack.n8n.url}/webhook/${path}`,
		workflowId: await stack.publish(payingWorkflow(path, pay)),
		pays: pay.type !== noOperation.type,
	});
	const slow = { concurrency: SLOW.concurrency };
	return {
		http: await publish('http', 'HTTP Request', httpRequest(service.payments.url, header)),
		wallet: await publish('wallet', 'ETB Wallet', etbWallet()),
		walletSlow: await publish('wallet-slow', 'ETB Wallet, 50 at once', etbWallet(slow)),
		nothing: await publish('nothing', 'No Operation (n8n itself)', noOperation),
	};
}

const READY_EVERY_MS = 500;

let referencesMade = 0;

const rowsFor = ({ userIds }: Stack['service'], items: number): Row[] =>
	Array.from({ length: items }, (_, index) => ({
		toUserId: userIds[index % userIds.length] ?? '',
		amountEtb: 100 + (index % 50),
		reference: `payroll-${++referencesMade}`,
	}));

/** After a big execution n8n can be so busy with its database that it turns requests away. */
async function untilReady({ n8n }: Stack): Promise<void> {
	for (;;) {
		const response = await fetch(`${n8n.url}/healthz/readiness`);
		await response.arrayBuffer();
		if (response.ok) return;
		await sleep(READY_EVERY_MS);
	}
}

/** Starts the workflow and resolves to the execution's id when all is done. */
async function execute({ executions }: Stack, way: Way, rows: Row[]): Promise<number> {
	const before = executions.newest();
	for (;;) {
		const response = await fetch(way.url, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ rows }),
		});
		const text = await response.text();
		if (response.ok) break;
		// Turned away before anything began.
		if (response.status !== 503 || !text.includes('Database is not ready'))
			throw new Error(`${way.name}: n8n answered ${response.status}: ${text}`);
		await sleep(READY_EVERY_MS);
	}
	const [execution] = await executions.ended(way.workflowId, before, 1);
	return execution?.id ?? 0;
}

/** Pays new items once, and measures it. */
export async function pay(
	stack: Stack,
	way: Way,
	{ items, latencyMs, kept = 0 }: PayOptions,
): Promise<PayRun> {
	const { pid } = stack.n8n;
	stack.executions.setLedger(way.recordedIn ?? way.workflowId, ledgerOf(kept));
	await stack.service.begin(latencyMs);
	await untilReady(stack);
	await stack.inspector.collectGarbage();
	const rows = rowsFor(stack.service, items);
	const memoryBefore = memoryMb(pid);
	resetPeakMemory(pid);
	const cpuBefore = cpuMs(pid);
	const executionId = await execute(stack, way, rows);
	const cpu = cpuMs(pid) - cpuBefore;
	const peakMb = peakMemoryMb(pid);
	const run = stack.executions.nodeRun(executionId, PAY);
	const counts = await stack.service.counts();
	if (run.items !== items || (way.pays && counts.requests !== items)) {
		throw new Error(
			`${way.name}: ${run.items} items and ${counts.requests} requests for ${items} items`,
		);
	}
	return { ...counts, nodeMs: run.ms, cpuMs: cpu, peakMb, grownMb: peakMb - memoryBefore };
}

interface PayOptions {
	items: number;
	latencyMs: number;
	/** References that the node keeps of other payments when the run begins. */
	kept?: number;
}

/** Runs of each way, one of each per round. */
async function alternate(
	stack: Stack,
	ways: Way[],
	rounds: number,
	options: PayOptions,
): Promise<Map<Way, PayRun[]>> {
	const runs = new Map<Way, PayRun[]>(ways.map((way) => [way, []]));
	for (let round = 0; round < rounds; round++) {
		for (const [way, done] of runs) done.push(await pay(stack, way, options));
	}
	return runs;
}

const rates = (runs: PayRun[], items: number) => runs.map(({ nodeMs }) => (items / nodeMs) * 1000);

function rowOf({ name, pays }: Way, runs: PayRun[], items: number, http: PayRun[]): string[] {
	const of = (key: keyof PayRun) => runs.map((run) => run[key]);
	const rate = rates(runs, items);
	return [
		name,
		shown(spread(of('nodeMs').map((ms) => ms / 1000))),
		pays ? shown(spread(rate)) : '-',
		pays ? shown(ratios(rate, rates(http, items))) : '-',
		shown(spread(of('cpuMs').map((ms) => ms / 1000))),
		shown(spread(of('peakMb'))),
		shown(spread(of('grownMb'))),
		shown(spread(of('connections'))),
		shown(spread(of('mostInFlight'))),
	];
}

const HEADER = [
	'',
	'time of the node, s',
	'items/s',
	'× HTTP Request',
	'CPU of n8n, s',
	'peak memory, MB',
	'of it new, MB',
	'connections',
	'in flight',
];

/** Paying, ours against the HTTP Request node. */
export async function measurePaying(
	stack: Stack,
	ways: Ways,
	sizes: Sizes['pay'],
	print: (line: string) => void,
): Promise<Section> {
	const { http, wallet, walletSlow, nothing } = ways;
	const allWays = [http, wallet, walletSlow, nothing];
	// What runs for the first time is compiled first.
	for (const way of allWays) {
		await pay(stack, way, { items: Math.min(1_000, sizes.at(-1)?.items ?? 0), latencyMs: 0 });
	}
	const text: string[] = [];
	const targets: Target[] = [];
	const largest = sizes.at(-1)?.items;
	for (const { items, rounds, slowRounds } of sizes) {
		const fastWays = [http, wallet, nothing];
		const fast = await alternate(stack, fastWays, rounds, { items, latencyMs: 0 });
		const slowWays = [http, walletSlow];
		const slow = await alternate(stack, slowWays, slowRounds, { items, latencyMs: SLOW.latencyMs });
		const of = (runs: Map<Way, PayRun[]>, way: Way) => runs.get(way) ?? [];
		for (const [latencyMs, runs, times] of [
			[0, fast, rounds],
			[SLOW.latencyMs, slow, slowRounds],
		] as const) {
			const rows = [...runs].map(([way, done]) => rowOf(way, done, items, of(runs, http)));
			const heading = `${items.toLocaleString('en-US')} items, service answers after ${latencyMs} ms, ${times} rounds`;
			text.push(`### ${heading}\n\n${table(HEADER, rows)}`);
			print(text.at(-1) ?? '');
		}
		if (items !== largest) continue;
		const ratio = ratios(rates(of(fast, wallet), items), rates(of(fast, http), items));
		const least = 2;
		targets.push({
			wanted: `${items} items at 0 ms: ${wallet.name} at least ${least} × the items/s of HTTP Request`,
			measured: shown(ratio),
			met: ratio.median >= least,
		});
		const ideal = (items * SLOW.latencyMs) / SLOW.concurrency;
		const times = (runs: PayRun[]) => runs.map(({ nodeMs }) => nodeMs);
		const overLimit = ratios(
			times(of(slow, walletSlow)),
			times(of(fast, wallet)).map((ms) => Math.max(ms, ideal)),
		);
		targets.push({
			wanted: `${items} items at ${SLOW.latencyMs} ms: ${walletSlow.name}, at most 1.15 × the limit, which is the larger of N × latency / concurrency and the time at 0 ms`,
			measured: shown(overLimit),
			met: overLimit.median <= 1.15,
		});
		const grown = (runs: PayRun[]) => runs.map(({ grownMb }) => grownMb);
		const memory = ratios(grown(of(fast, wallet)), grown(of(fast, http)));
		targets.push({
			wanted: `${items} items: ${wallet.name} takes at most the memory of HTTP Request`,
			measured: `× ${shown(memory)}`,
			met: memory.median <= 1,
		});
	}
	return { title: 'Paying', text: text.join('\n\n'), targets };
}

/** How the cost of an item grows with the items of a run, and with the references that the node keeps. */
export async function measureGrowth(
	stack: Stack,
	{ wallet, walletSlow }: Ways,
	{ items, rounds, ledger, ledgers }: Sizes['growth'],
	print: (line: string) => void,
): Promise<Section> {
	const kinds = [
		// Takes minutes for the largest size.
		{ way: wallet, items: items.slice(0, -1) },
		{ way: walletSlow, items },
	];
	const msOf = async (way: Way, options: Omit<PayOptions, 'latencyMs'>): Promise<number> =>
		(await pay(stack, way, { ...options, latencyMs: 0 })).nodeMs / options.items;
	const byItems: string[][] = [];
	const byKept: string[][] = [];
	const targets: Target[] = [];
	for (const kind of kinds) {
		const { way } = kind;
		const costs = new Map(kind.items.map((count): [number, number[]] => [count, []]));
		const costsByKept = new Map(ledgers.sizes.map((kept): [number, number[]] => [kept, []]));
		await msOf(way, { items: 100 });
		for (let round = 0; round < rounds; round++) {
			for (const [count, done] of costs) done.push(await msOf(way, { items: count, kept: ledger }));
			for (const [kept, done] of costsByKept)
				done.push(await msOf(way, { items: ledgers.payments, kept }));
		}
		const [first, last] = [kind.items[0] ?? 0, kind.items.at(-1) ?? 0];
		const growth = ratios(costs.get(last) ?? [], costs.get(first) ?? []);
		const cells = items.map((count) => shown(spread(costs.get(count) ?? [NaN])));
		byItems.push([way.name, ...cells, shown(growth)]);
		byKept.push([way.name, ...[...costsByKept.values()].map((ms) => shown(spread(ms)))]);
		for (const rows of [byItems, byKept]) print(rows.at(-1)?.join(' | ') ?? '');
		targets.push({
			wanted: `${way.name}: an item of ${last} costs at most 1.1 × one of ${first}`,
			measured: shown(growth),
			met: growth.median <= 1.1,
		});
	}
	const text = [
		`Time of the node for one item, in ms. The node keeps ${digits(ledger)} other references at the start of each run. ${rounds} rounds.`,
		table(['', ...items.map((count) => `${digits(count)} items`), 'growth'], byItems),
		`The same by the references that the node keeps at the start of the run; ${digits(ledgers.payments)} items.`,
		table(['', ...ledgers.sizes.map((kept) => `${digits(kept)} references`)], byKept),
	];
	return { title: 'Growth', text: text.join('\n\n'), targets };
}

/** What a paid reference leaves in the record. */
const MARKS_OF_PAID = 4;
/** Entries as n8n keeps them: of other references than any that are paid here. */
const ledgerOf = (references: number): string =>
	JSON.stringify({
		mode: 'entries',
		data: Array.from({ length: references * MARKS_OF_PAID }, () =>
			randomBytes(16).toString('base64'),
		),
	});
