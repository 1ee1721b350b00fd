/** Payments a second: the action node beside the HTTP Request node. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { peakMemoryMb, cpuMs, memoryMb, resetPeakMemory } from '../lab/process-usage.mts';
import type { Section, Sizes, Target } from './section.mts';
import type { Counts } from './service.mts';
import type { Stack } from './stack.mts';
import { digits, ratios, shown, spread, table } from './statistics.mts';
import { PAY, etbWallet, httpRequest, noOperation, payingWorkflow } from './workflows.mts';

/** A published workflow that pays. */
export interface Way {
	name: string;
	url: string;
	workflowId: string;
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
	reference?: string;
}

/** The latency at which the service, and not CPU, is to be the limit, and how many payments at once that takes. */
const SLOW = { latencyMs: 50, concurrency: 50 };

export interface Ways {
	http: Way;
	expressions: Way;
	mapped: Way;
	expressionsSlow: Way;
	mappedSlow: Way;
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
		expressions: await publish('expressions', 'ETB Wallet, expressions', etbWallet('expressions')),
		mapped: await publish('mapped', 'ETB Wallet, Map Automatically', etbWallet('mapped')),
		expressionsSlow: await publish(
			'expressions-slow',
			'ETB Wallet, expressions, 50 at once',
			etbWallet('expressions', slow),
		),
		mappedSlow: await publish(
			'mapped-slow',
			'ETB Wallet, Map Automatically, 50 at once',
			etbWallet('mapped', slow),
		),
		nothing: await publish('nothing', 'No Operation (n8n itself)', noOperation),
	};
}

const READY_EVERY_MS = 500;

let referencesMade = 0;

const rowsFor = ({ userIds }: Stack['service'], items: number, withReferences: boolean): Row[] =>
	Array.from({ length: items }, (_, index) => ({
		toUserId: userIds[index % userIds.length] ?? '',
		amountEtb: 100 + (index % 50),
		...(withReferences && { reference: `payroll-${++referencesMade}` }),
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
	{ items, latencyMs, withReferences = false }: PayOptions,
): Promise<PayRun> {
	const { pid } = stack.n8n;
	await stack.service.begin(latencyMs);
	await untilReady(stack);
	await stack.inspector.collectGarbage();
	const rows = rowsFor(stack.service, items, withReferences);
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
	withReferences?: boolean;
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
	const { http, expressions, mapped, expressionsSlow, mappedSlow, nothing } = ways;
	const allWays = [http, expressions, mapped, expressionsSlow, mappedSlow, nothing];
	// What runs for the first time is compiled first.
	for (const way of allWays) {
		await pay(stack, way, { items: Math.min(1_000, sizes.at(-1)?.items ?? 0), latencyMs: 0 });
	}
	const text: string[] = [];
	const targets: Target[] = [];
	const largest = sizes.at(-1)?.items;
	for (const { items, rounds, slowRounds } of sizes) {
		const fastWays = [http, expressions, mapped, nothing];
		const fast = await alternate(stack, fastWays, rounds, { items, latencyMs: 0 });
		const slowWays = [http, expressionsSlow, mappedSlow];
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
		for (const [way, least] of [
			[expressions, 2],
			[mapped, 5],
		] as const) {
			const ratio = ratios(rates(of(fast, way), items), rates(of(fast, http), items));
			targets.push({
				wanted: `${items} items at 0 ms: ${way.name} at least ${least} × the items/s of HTTP Request`,
				measured: shown(ratio),
				met: ratio.median >= least,
			});
		}
		for (const [way, atOnce] of [
			[expressions, expressionsSlow],
			[mapped, mappedSlow],
		] as const) {
			const ideal = (items * SLOW.latencyMs) / SLOW.concurrency;
			const limits = of(fast, way).map(({ nodeMs }) => Math.max(nodeMs, ideal));
			const ratio = ratios(
				of(slow, atOnce).map(({ nodeMs }) => nodeMs),
				limits,
			);
			targets.push({
				wanted: `${items} items at ${SLOW.latencyMs} ms: ${atOnce.name}, at most 1.15 × the limit, which is the larger of N × latency / concurrency and the time at 0 ms`,
				measured: shown(ratio),
				met: ratio.median <= 1.15,
			});
		}
		for (const way of [expressions, mapped]) {
			const grown = (runs: PayRun[]) => runs.map(({ grownMb }) => grownMb);
			const ratio = ratios(grown(of(fast, way)), grown(of(fast, http)));
			targets.push({
				wanted: `${items} items: ${way.name} takes at most the memory of HTTP Request`,
				measured: `× ${shown(ratio)}`,
				met: ratio.median <= 1,
			});
		}
	}
	return { title: 'Paying', text: text.join('\n\n'), targets };
}

/** What a paid reference leaves there. */
const MARKS_OF_PAID = 4;
/** Entries as n8n keeps them: of other references than any that are paid here. */
export const ledgerOf = (references: number): string =>
	JSON.stringify({
		mode: 'entries',
		data: Array.from({ length: references * MARKS_OF_PAID }, () =>
			randomBytes(16).toString('base64'),
		),
	});

/** What a payment with a reference costs by what the ledger holds already. Both ways have paid before. */
async function measureLedgers(
	stack: Stack,
	{ mapped, mappedSlow }: Ways,
	{ sizes, payments }: Sizes['growth']['ledgers'],
	rounds: number,
	print: (line: string) => void,
): Promise<string> {
	const rows: string[][] = [];
	for (const way of [mapped, mappedSlow]) {
		const costs = new Map(sizes.map((size): [number, number[]] => [size, []]));
		for (let round = 0; round < rounds; round++) {
			for (const [size, done] of costs) {
				stack.executions.setLedger(way.workflowId, ledgerOf(size));
				const options = { items: payments, latencyMs: 0, withReferences: true };
				done.push((await pay(stack, way, options)).nodeMs / payments);
			}
		}
		rows.push([`${way.name}, references`, ...[...costs.values()].map((ms) => shown(spread(ms)))]);
		print(rows.at(-1)?.join(' | ') ?? '');
	}
	const heading = `Time of the node for one item with a reference, in ms, by the references that its ledger holds at the start of the run; ${digits(payments)} items, ${rounds} rounds.`;
	const header = ['', ...sizes.map((size) => `${digits(size)} references`)];
	return `${heading}\n\n${table(header, rows)}`;
}

/** How the cost of an item grows with the items of a run, and with what the ledger of references holds. */
export async function measureGrowth(
	stack: Stack,
	ways: Ways,
	{ items, rounds, ledger, roundsWithReferences, ledgers }: Sizes['growth'],
	print: (line: string) => void,
): Promise<Section> {
	const { expressions, mapped, mappedSlow } = ways;
	const fill = async (way: Way, count: number) => {
		await stack.service.begin(0);
		await execute(stack, way, rowsFor(stack.service, count, true));
	};
	await fill(mapped, 1);
	await fill(mappedSlow, ledger);
	const filled = stack.executions.ledger(mappedSlow.workflowId);
	const without = { items, rounds, withReferences: false };
	const withThem = { items, rounds: roundsWithReferences, withReferences: true };
	const kinds = [
		{ ...without, name: expressions.name, way: expressions },
		{ ...without, name: mapped.name, way: mapped },
		// Takes minutes for the largest size.
		{ ...withThem, name: `${mapped.name}, references`, way: mapped, items: items.slice(0, -1) },
		{ ...withThem, name: `${mappedSlow.name}, references`, way: mappedSlow },
	];
	const rows: string[][] = [];
	const targets: Target[] = [];
	for (const kind of kinds) {
		const { name, way, withReferences } = kind;
		const costs = new Map(kind.items.map((count): [number, number[]] => [count, []]));
		for (let round = 0; round < kind.rounds; round++) {
			for (const [count, done] of costs) {
				if (withReferences) stack.executions.setLedger(way.workflowId, filled);
				const run = await pay(stack, way, { items: count, latencyMs: 0, withReferences });
				done.push(run.nodeMs / count);
			}
		}
		const [first, last] = [kind.items[0] ?? 0, kind.items.at(-1) ?? 0];
		const growth = ratios(costs.get(last) ?? [], costs.get(first) ?? []);
		const cells = items.map((count) => shown(spread(costs.get(count) ?? [NaN])));
		rows.push([name, ...cells, shown(growth)]);
		print(rows.at(-1)?.join(' | ') ?? '');
		targets.push({
			wanted: `${name}: an item of ${last} costs at most 1.1 × one of ${first}`,
			measured: shown(growth),
			met: growth.median <= 1.1,
		});
	}
	const heading = `Time of the node for one item, in ms. Where references are given, the ledger holds ${digits(ledger)} others at the start of each run. ${rounds} rounds, with references ${roundsWithReferences}.`;
	const header = ['', ...items.map((count) => `${digits(count)} items`), 'growth'];
	const byLedger = await measureLedgers(stack, ways, ledgers, roundsWithReferences, print);
	return { title: 'Growth', text: `${heading}\n\n${table(header, rows)}\n\n${byLedger}`, targets };
}
