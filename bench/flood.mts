/** What a flood of deliveries that should start nothing costs n8n, and the real events in between. */
import { setTimeout as sleep } from 'node:timers/promises';
import { forged, newEvent } from './deliveries.mts';
import type { Receiver, Receivers } from './events.mts';
import { Sender, type Answer, type Delivery } from './load.mts';
import { cpuMs } from '../test/support/process-usage.mts';
import type { Section, Sizes, Target } from './section.mts';
import type { Stack } from './stack.mts';
import { quantile, ratios, shown, spread, table } from './statistics.mts';

const FLOOD_PER_SECOND = 200;
const REAL_PER_SECOND = 4;
/** Slow enough that each execution ends before the next one starts. */
const ALONE_PER_SECOND = 8;
const IDLE_MS = 2_000;

/** Deliveries of one kind, and what is to become of each. */
interface Kind {
	name: string;
	delivery: () => Delivery;
	status: number;
}

/** What the trigger refuses. */
function refusedKinds(secret: string, known: Delivery): Kind[] {
	return [
		{
			name: 'without a signature',
			delivery: () => ({ ...newEvent(secret), signature: '' }),
			status: 401,
		},
		{ name: 'forged', delivery: forged, status: 401 },
		{ name: 'duplicate', delivery: () => known, status: 200 },
		{
			name: 'unselected',
			delivery: () => newEvent(secret, 'deposit.mint_queued'),
			status: 200,
		},
	];
}

const make = (count: number, delivery: () => Delivery) => Array.from({ length: count }, delivery);

/** What n8n answers by itself when it is so busy that its database seems lost to it. */
const BUSY = 503;

/** How many n8n turned away because it was busy; throws when it answered anything but that or `status`. */
function turnedAway(answers: Answer[], status: number, name: string): number {
	const others = answers.filter((answer) => answer.status !== status);
	const other = others.find((answer) => answer.status !== BUSY);
	if (other) throw new Error(`${name}: answered ${other.status} and not ${status}`);
	return others.length;
}

/**
 * n8n's CPU time in ms while `work` runs and until the executions that it starts have ended.
 * Rejects when there are not exactly as many of them as `work` says, or one fails.
 */
async function cpuOf(
	stack: Stack,
	{ workflowId = '' }: Receiver,
	work: () => Promise<number>,
): Promise<number> {
	const newest = stack.executions.newest();
	const before = cpuMs(stack.n8n.pid);
	const executions = await work();
	const ended = await stack.executions.ended(workflowId, newest, executions);
	if (ended.length !== executions) {
		throw new Error(`${ended.length} executions where ${executions} were expected`);
	}
	return cpuMs(stack.n8n.pid) - before;
}

/** CPU of n8n for one delivery of each kind: refused ones, and for comparison those that start an execution. */
async function measureEach(
	stack: Stack,
	{ trigger, handWired, refusing }: Receivers,
	{ rounds, refused: refusedCount, starting: startingCount }: Sizes['flood'],
): Promise<{ text: string; targets: Target[] }> {
	const secret = stack.service.events.webhookSecret;
	const known = newEvent(secret);
	await new Sender(trigger.url).send(known);
	const refused = refusedKinds(secret, known);
	const starting = { delivery: () => newEvent(secret), status: 200 };
	const byN8n = { name: refusing.name, delivery: forged, status: 403 };
	const kinds = [
		...[...refused, byN8n].map((kind) => ({
			...kind,
			receiver: kind === byN8n ? refusing : trigger,
			perSecond: FLOOD_PER_SECOND,
			count: refusedCount,
			starts: false,
		})),
		...[trigger, handWired].map((receiver) => {
			const count = startingCount;
			const name = `${receiver.name}: starts an execution`;
			return { ...starting, name, receiver, perSecond: ALONE_PER_SECOND, count, starts: true };
		}),
	];
	const cpu = new Map(kinds.map(({ name }): [string, number[]] => [name, []]));
	for (let round = 0; round < rounds; round++) {
		const idle = await cpuOf(stack, trigger, async () => {
			await sleep(IDLE_MS);
			return 0;
		});
		for (const { name, receiver, perSecond, count, delivery, status, starts } of kinds) {
			const sender = new Sender(receiver.url);
			const deliveries = make(count, delivery);
			const startedAt = Date.now();
			const used = await cpuOf(stack, receiver, async () => {
				const answers = await sender.sendAtRate(deliveries, perSecond);
				if (turnedAway(answers, status, name) > 0) throw new Error(`${name}: n8n was busy`);
				return starts ? count : 0;
			});
			cpu.get(name)?.push((used - (idle * (Date.now() - startedAt)) / IDLE_MS) / count);
			await sender.close();
		}
	}
	const started = cpu.get(`${trigger.name}: starts an execution`) ?? [];
	const rows = [...cpu].map(([name, ms]) => [name, shown(spread(ms)), shown(ratios(ms, started))]);
	const targets = refused.map(({ name }): Target => {
		const ratio = ratios(cpu.get(name) ?? [], started);
		return {
			wanted: `A delivery that is ${name} costs at most a fifth of the CPU of one that starts an execution`,
			measured: shown(ratio),
			met: ratio.median <= 0.2,
		};
	});
	return { text: table(['delivery', 'CPU of n8n, ms', '× one that starts'], rows), targets };
}

interface FloodRun {
	sent: number;
	/** Until the last answer and the last execution, in s. */
	seconds: number;
	/** n8n's, for the whole flood and the real events. */
	cpuSeconds: number;
	executions: number;
	/** Deliveries that n8n did not hand to the workflow, real ones included. */
	busy: number;
	realP50: number;
	realP99: number;
}

/** Real events alone, or while a flood of a third each of forged, duplicate and unselected ones comes in. */
async function receiveDuring(
	stack: Stack,
	receiver: Receiver,
	seconds: number,
	{ flooded, refuses }: { flooded: boolean; refuses: boolean },
): Promise<FloodRun> {
	const secret = stack.service.events.webhookSecret;
	const sender = new Sender(receiver.url);
	const known = newEvent(secret);
	await cpuOf(stack, receiver, async () => {
		await sender.send(known);
		return 1;
	});
	const kinds = refusedKinds(secret, known).slice(1);
	const perKind = flooded ? Math.round((FLOOD_PER_SECOND * seconds) / kinds.length) : 0;
	const floods = kinds.map((kind) => ({ ...kind, deliveries: make(perKind, kind.delivery) }));
	const sent = perKind * kinds.length;
	const real = make(REAL_PER_SECOND * seconds, () => newEvent(secret));
	let executions = 0;
	let busy = 0;
	const startedAt = Date.now();
	let times: number[] = [];
	const cpu = await cpuOf(stack, receiver, async () => {
		const toReal = sender.sendAtRate(real, REAL_PER_SECOND);
		const toFloods = floods.map(async ({ deliveries, name, status }) => {
			const answers = await sender.sendAtRate(deliveries, FLOOD_PER_SECOND / kinds.length);
			return turnedAway(answers, refuses ? status : 200, `${receiver.name}, ${name}`);
		});
		const answers = await toReal;
		times = answers.map(({ ms }) => ms);
		const busyReal = turnedAway(answers, 200, `${receiver.name}, real events`);
		const busyFlood = (await Promise.all(toFloods)).reduce((sum, count) => sum + count, 0);
		busy = busyReal + busyFlood;
		executions = real.length - busyReal + (refuses ? 0 : sent - busyFlood);
		return executions;
	});
	const elapsed = Date.now() - startedAt;
	await sender.close();
	return {
		sent,
		seconds: elapsed / 1000,
		cpuSeconds: cpu / 1000,
		executions,
		busy,
		realP50: quantile(times, 0.5),
		realP99: quantile(times, 0.99),
	};
}

/** What deliveries cost that should start nothing, and what they do to those that should. */
export async function measureFlood(
	stack: Stack,
	receivers: Receivers,
	settings: string,
	sizes: Sizes['flood'],
): Promise<Section> {
	const each = await measureEach(stack, receivers, sizes);
	const { trigger, handWired } = receivers;
	const ways = [
		{ receiver: trigger, seconds: sizes.seconds, refuses: true },
		{ receiver: handWired, seconds: sizes.handWiredSeconds, refuses: false },
	].flatMap((way) => [
		{ ...way, flooded: false, name: `${way.receiver.name}, quiet` },
		{ ...way, flooded: true, name: `${way.receiver.name}, flooded` },
	]);
	const runs = new Map(ways.map((way): [typeof way, FloodRun[]] => [way, []]));
	for (let round = 0; round < sizes.floods; round++) {
		for (const [way, done] of runs) {
			done.push(await receiveDuring(stack, way.receiver, way.seconds, way));
		}
	}
	const columns: Array<[string, keyof FloodRun]> = [
		['unwanted sent', 'sent'],
		['executions', 'executions'],
		['turned away by n8n', 'busy'],
		['until all ended, s', 'seconds'],
		['CPU of n8n, s', 'cpuSeconds'],
		['real events p50, ms', 'realP50'],
		['p99, ms', 'realP99'],
	];
	const rows = [...runs].map(([{ name }, done]) => [
		name,
		...columns.map(([, key]) => shown(spread(done.map((run) => run[key])))),
	]);
	const p50 = [...runs.values()].map((done) => done.map(({ realP50 }) => realP50));
	const slower = ratios(p50[1] ?? [], p50[0] ?? []);
	return {
		title: `A flood of deliveries that should start nothing, with ${settings}`,
		text: [
			each.text,
			`${FLOOD_PER_SECOND} unwanted deliveries a second, a third each forged, duplicate and unselected, and ${REAL_PER_SECOND} real events a second, for ${sizes.seconds} s (${handWired.name}: ${sizes.handWiredSeconds} s, because n8n needs much longer to work them off). All were answered with the status that was expected, save those that n8n itself turned away as too busy (503). ${sizes.floods} rounds.`,
			table(['', ...columns.map(([title]) => title)], rows),
		].join('\n\n'),
		targets: [
			...each.targets,
			{
				wanted: 'During the flood, real events at most 2 × their quiet p50',
				measured: shown(slower),
				met: slower.median <= 2,
			},
		].map((target) => ({ ...target, wanted: `With ${settings}: ${target.wanted}` })),
	};
}
