/** Events a second: the trigger beside what a builder would wire by hand. */
import { newEvent } from './deliveries.mts';
import { Sender } from './load.mts';
import { cpuMs } from '../test/support/process-usage.mts';
import type { Section, Sizes, Target } from './section.mts';
import type { Stack } from './stack.mts';
import { quantile, ratios, shown, spread, table } from './statistics.mts';
import { DONE, triggerWorkflow, webhookCryptoIfWorkflow, webhookWorkflow } from './workflows.mts';

/** Something that receives events. */
export interface Receiver {
	name: string;
	url: string;
	workflowId: string;
	/** The process whose CPU counts. */
	pid(): number;
}

export interface Receivers {
	trigger: Receiver;
	handWired: Receiver;
	webhook: Receiver;
	/** What any trigger costs in n8n. */
	plainTrigger: Receiver;
	/** Starts nothing: what n8n itself takes for a request that its own node turns away. */
	refusing: Receiver;
}

/** Publishes our trigger and what a builder would wire instead. */
export async function publishReceivers(stack: Stack): Promise<Receivers> {
	const secret = await stack.addCredential('Webhook secret', 'crypto', {
		hmacSecret: stack.service.events.webhookSecret,
	});
	const pid = () => stack.n8n.pid;
	const url = (path: string) => `${stack.n8n.url}/webhook/${path}`;
	const trigger = triggerWorkflow();
	return {
		trigger: {
			name: 'ETB Wallet Trigger',
			workflowId: await stack.publish(trigger.workflow, 'events'),
			url: url(`${trigger.webhookId}/webhook`),
			pid,
		},
		handWired: {
			name: 'Webhook + Crypto + IF',
			workflowId: await stack.publish(webhookCryptoIfWorkflow('hand-wired', secret)),
			url: url('hand-wired'),
			pid,
		},
		webhook: {
			name: 'Webhook alone',
			workflowId: await stack.publish(webhookWorkflow('alone', 2)),
			url: url('alone'),
			pid,
		},
		plainTrigger: {
			name: 'Webhook alone, version 1',
			workflowId: await stack.publish(webhookWorkflow('version-1', 1)),
			url: url('version-1'),
			pid,
		},
		refusing: {
			name: 'Webhook alone, turned away by its IP Whitelist',
			workflowId: await stack.publish(
				webhookWorkflow('refusing', 2, { ipWhitelist: '203.0.113.1' }),
			),
			url: url('refusing'),
			pid,
		},
	};
}

interface EventRun {
	/** Events whose execution ended, each second. */
	perSecond: number;
	p50: number;
	p99: number;
	/** CPU time of the receiver for each event. */
	cpuMs: number;
}

async function receiveAll(
	{ executions, service }: Stack,
	receiver: Receiver,
	concurrency: number,
	count: number,
): Promise<EventRun> {
	const { url, workflowId } = receiver;
	const deliveries = Array.from({ length: count }, () => newEvent(service.events.webhookSecret));
	const sender = new Sender(url);
	const before = executions.newest();
	const cpuBefore = cpuMs(receiver.pid());
	const startedAt = Date.now();
	const answers = await sender.sendInTurn(deliveries, concurrency);
	const refused = answers.find(({ status }) => status !== 200);
	if (refused) throw new Error(`${url} answered ${refused.status}`);
	const ended = await executions.ended(workflowId, before, count);
	const endedAt = Math.max(...ended.map(({ stoppedAt }) => stoppedAt));
	// That the last one was found to be genuine.
	executions.nodeRun(ended.at(-1)?.id ?? 0, DONE);
	const cpu = cpuMs(receiver.pid()) - cpuBefore;
	await sender.close();
	const latencies = answers.map(({ ms }) => ms);
	return {
		perSecond: (count / (endedAt - startedAt)) * 1000,
		p50: quantile(latencies, 0.5),
		p99: quantile(latencies, 0.99),
		cpuMs: cpu / count,
	};
}

/** How many times the events a second of each of these the trigger has to reach. */
export type EventTargets = Partial<Record<'webhook' | 'handWired' | 'plainTrigger', number>>;

/** A way to run n8n, by its name. */
export interface EventSettings {
	name: string;
	/** What has to be reached. */
	least: EventTargets;
	/** A faster n8n needs more deliveries to be measured. */
	deliveryFactor: number;
}

/** Events a second of each receiver, one run of each per round. */
export async function measureEvents(
	stack: Stack,
	receivers: Receivers,
	{ name, least, deliveryFactor }: EventSettings,
	{ before, rounds, loads }: Sizes['events'],
	print: (line: string) => void,
): Promise<Section> {
	const { trigger, handWired, webhook, plainTrigger } = receivers;
	const all = [trigger, handWired, webhook, plainTrigger];
	for (const receiver of all) await receiveAll(stack, receiver, 5, 20);
	await receiveAll(stack, trigger, 50, before);
	const rows: string[][] = [];
	const targets: Target[] = [];
	for (const { concurrency, deliveries } of loads) {
		const runs = new Map(all.map((receiver): [Receiver, EventRun[]] => [receiver, []]));
		for (let round = 0; round < rounds; round++) {
			for (const [receiver, done] of runs) {
				const count = deliveries * deliveryFactor;
				done.push(await receiveAll(stack, receiver, concurrency, count));
			}
		}
		const of = (receiver: Receiver, key: keyof EventRun) =>
			(runs.get(receiver) ?? []).map((run) => run[key]);
		for (const receiver of all) {
			rows.push([
				`${receiver.name}, ${concurrency} at once`,
				shown(spread(of(receiver, 'perSecond'))),
				shown(ratios(of(receiver, 'perSecond'), of(webhook, 'perSecond'))),
				shown(spread(of(receiver, 'p50'))),
				shown(spread(of(receiver, 'p99'))),
				shown(spread(of(receiver, 'cpuMs'))),
			]);
			print(rows.at(-1)?.join(' | ') ?? '');
		}
		for (const [key, factor] of Object.entries(least) as Array<[keyof EventTargets, number]>) {
			const other = receivers[key];
			const ratio = ratios(of(trigger, 'perSecond'), of(other, 'perSecond'));
			targets.push({
				wanted: `${concurrency} at once, with ${name}: the trigger at least ${factor} × the events/s of ${other.name}`,
				measured: shown(ratio),
				met: ratio.median >= factor,
			});
		}
	}
	const header = ['', 'events/s', '× Webhook alone', 'p50, ms', 'p99, ms', 'CPU for each, ms'];
	return {
		title: `Events, with ${name}`,
		text: `Each event is new and correctly signed. Events/s counts until the last execution ended; p50 and p99 are the times to the answer. The trigger has received ${before} events before. n8n handles its Webhook node in version 1 as it handles the trigger of any package. ${rounds} rounds.\n\n${table(header, rows)}`,
		targets,
	};
}
