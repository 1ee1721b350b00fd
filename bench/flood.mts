import { setTimeout as sleep } from 'node:timers/promises';
import { forged, newEvent } from './deliveries.mts';
import type { Receiver, Receivers } from './events.mts';
import { Sender, type Answer, type Delivery } from './load.mts';
import { cpuMs } from './process-usage.mts';
import type { Section, Sizes, Target } from './section.mts';
import type { Stack } from './stack.mts';
import { quantile, ratios, shown, spread, table } from './statistics.mts';

const FLOOD_PER_SECOND = 200;
const REAL_PER_SECOND = 4;
/** Slow enough that each execution ends before the next one starts. */
const ALONE_PER_SECOND = 8;

const make = (count: number, delivery: () => Delivery) => Array.from({ length: count }, delivery);

/** Resolves to n8n's CPU time in ms while `work` runs and all executions it starts end. */
async function cpuOf({ n8n, executions }: Stack, work: () => Promise<void>): Promise<number> {
	const newest = executions.newest();
	const before = cpuMs(n8n.pid);
	await work();
	while (executions.unfinished(newest) > 0) await sleep(50);
	return cpuMs(n8n.pid) - before;
}

/** CPU of n8n for one delivery of each kind: refused ones, and for comparison those that start an execution. */
async function measureEach(
	stack: Stack,
	{ trigger, handWired }: Receivers,
	{ rounds, each }: Sizes['flood'],
	print: (line: string) => void,
): Promise<{ text: string; targets: Target[] }> {
	const secret = stack.service.events.webhookSecret;
	const known = newEvent(secret);
	const refused: Array<[string, () => Delivery]> = [
		['without a signature', () => ({ ...newEvent(secret), signature: '' })],
		['forged', forged],
		['duplicate', () => known],
		['unselected', () => newEvent(secret, 'deposit.mint_queued')],
	];
	const kinds: Array<{
		name: string;
		receiver: Receiver;
		perSecond: number;
		count: number;
		delivery: () => Delivery;
	}> = [
		...refused.map(([name, delivery]) => ({
			name: `${trigger.name}: ${name}`,
			receiver: trigger,
			perSecond: FLOOD_PER_SECOND,
			count: each,
			delivery,
		})),
		...[trigger, handWired].map((receiver) => ({
			name: `${receiver.name}: starts an execution`,
			receiver,
			perSecond: ALONE_PER_SECOND,
			count: Math.ceil(each / 25),
			delivery: () => newEvent(secret),
		})),
	];
	await new Sender(trigger.url).send(known);
	const cpu = new Map(kinds.map(({ name }): [string, number[]] => [name, []]));
	for (let round = 0; round < rounds; round++) {
		const idleMs = 2_000;
		const idle = (await cpuOf(stack, async () => void (await sleep(idleMs)))) / idleMs;
		for (const { name, receiver, perSecond, count, delivery } of kinds) {
			const sender = new Sender(receiver.url);
			const deliveries = make(count, delivery);
			const startedAt = Date.now();
			const used = await cpuOf(stack, async () => {
				await sender.sendAtRate(deliveries, perSecond);
			});
			cpu.get(name)?.push((used - idle * (Date.now() - startedAt)) / count);
			await sender.close();
		}
	}
	const started = cpu.get(`${trigger.name}: starts an execution`) ?? [];
	const rows = [...cpu].map(([name, ms]) => [name, shown(spread(ms)), shown(ratios(ms, started))]);
	for (const row of rows) print(row.join(' | '));
	const targets = refused.map(([name]): Target => {
		const ratio = ratios(cpu.get(`${trigger.name}: ${name}`) ?? [], started);
		return {
			wanted: `A delivery that is ${name} costs at most a tenth of the CPU of one that starts an execution`,
			measured: shown(ratio),
			met: ratio.median <= 0.1,
		};
	});
	return { text: table(['delivery', 'CPU of n8n, ms', '× one that starts'], rows), targets };
}

interface FloodRun {
	sent: number;
	answered: number;
	/** Until the last answer and the last execution, in s. */
	seconds: number;
	/** n8n's, for the whole flood and the real events. */
	cpuSeconds: number;
	executions: number;
	realP50: number;
	realP99: number;
}

/** Real events alone, or while a flood of a third each of forged, duplicate and unselected ones comes in. */
async function receiveDuring(
	stack: Stack,
	receiver: Receiver,
	seconds: number,
	flooded: boolean,
): Promise<FloodRun> {
	const secret = stack.service.events.webhookSecret;
	const sender = new Sender(receiver.url);
	const known = newEvent(secret);
	await sender.send(known);
	const unwanted = [forged, () => known, () => newEvent(secret, 'deposit.mint_queued')];
	const flood = Array.from(
		{ length: flooded ? FLOOD_PER_SECOND * seconds : 0 },
		(_, index) => unwanted[index % unwanted.length]?.() ?? known,
	);
	const real = make(REAL_PER_SECOND * seconds, () => newEvent(secret));
	const before = stack.executions.newest();
	const startedAt = Date.now();
	let answers: [Answer[], Answer[]] = [[], []];
	const cpu = await cpuOf(stack, async () => {
		answers = await Promise.all([
			sender.sendAtRate(flood, FLOOD_PER_SECOND),
			sender.sendAtRate(real, REAL_PER_SECOND),
		]);
	});
	const elapsed = Date.now() - startedAt;
	await sender.close();
	const [toFlood, toReal] = answers;
	const times = toReal.map(({ ms }) => ms);
	return {
		sent: flood.length,
		answered: toFlood.length,
		seconds: elapsed / 1000,
		cpuSeconds: cpu / 1000,
		executions: stack.executions.newest() - before,
		realP50: quantile(times, 0.5),
		realP99: quantile(times, 0.99),
	};
}

/** What deliveries cost that should start nothing, and what they do to those that should. */
export async function measureFlood(
	stack: Stack,
	receivers: Receivers,
	engine: string,
	sizes: Sizes['flood'],
	print: (line: string) => void,
): Promise<Section> {
	const each = await measureEach(stack, receivers, sizes, print);
	const { trigger, handWired } = receivers;
	const runs = new Map<string, FloodRun[]>();
	const add = async (name: string, receiver: Receiver, seconds: number, flooded: boolean) => {
		const run = await receiveDuring(stack, receiver, seconds, flooded);
		runs.set(name, [...(runs.get(name) ?? []), run]);
	};
	const names = {
		quiet: `${trigger.name}, quiet`,
		flooded: `${trigger.name}, flooded`,
		handWiredQuiet: `${handWired.name}, quiet`,
		handWiredFlooded: `${handWired.name}, flooded`,
	};
	for (let round = 0; round < sizes.rounds; round++) {
		await add(names.quiet, trigger, sizes.seconds, false);
		await add(names.flooded, trigger, sizes.seconds, true);
		await add(names.handWiredQuiet, handWired, sizes.handWiredSeconds, false);
		await add(names.handWiredFlooded, handWired, sizes.handWiredSeconds, true);
	}
	const of = (name: string, key: keyof FloodRun) => (runs.get(name) ?? []).map((run) => run[key]);
	const columns: Array<[string, keyof FloodRun]> = [
		['unwanted sent', 'sent'],
		['answered', 'answered'],
		['executions', 'executions'],
		['until all ended, s', 'seconds'],
		['CPU of n8n, s', 'cpuSeconds'],
		['real events p50, ms', 'realP50'],
		['p99, ms', 'realP99'],
	];
	const rows = [...runs.keys()].map((name) => [
		name,
		...columns.map(([, key]) => shown(spread(of(name, key)))),
	]);
	for (const row of rows) print(row.join(' | '));
	const slower = ratios(of(names.flooded, 'realP50'), of(names.quiet, 'realP50'));
	return {
		title: `A flood of deliveries that should start nothing, ${engine} engine`,
		text: [
			`${each.text}`,
			`${FLOOD_PER_SECOND} unwanted deliveries a second, a third each forged, duplicate and unselected, and ${REAL_PER_SECOND} real events a second, for ${sizes.seconds} s (${handWired.name}: ${sizes.handWiredSeconds} s, because n8n needs much longer to work them off). ${sizes.rounds} rounds.`,
			table(['', ...columns.map(([title]) => title)], rows),
		].join('\n\n'),
		targets: [
			...each.targets,
			{
				wanted: 'During the flood, real events at most 2 × their quiet p50',
				measured: shown(slower),
				met: slower.median <= 2,
			},
		].map((target) => ({ ...target, wanted: `${engine} engine: ${target.wanted}` })),
	};
}
