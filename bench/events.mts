// The cost of an event: the trigger beside nodes wired by hand, and deliveries that start nothing.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expressionEngine } from '../demo/n8n-process.mts';
import {
	chain,
	node,
	outputs,
	webhook,
	workflow,
	type NodeFile,
} from '../test/support/n8n/workflow.mts';
import type { WorkflowFile } from '../demo/n8n-api.mts';
import { eventWorkflow, signature, transfer } from '../test/support/events.mts';
import {
	Bench,
	digits,
	isQuick,
	origin,
	quantile,
	shown,
	table,
	writeSection,
} from './measure.mts';

const ROUNDS = isQuick ? 1 : 3;
const EVENTS = isQuick ? 10 : 100;
const AT_ONCE = [1, 50];
/** The number of deliveries of each kind that start nothing, and their rate per second. */
const REFUSED = isQuick ? 20 : 400;
const PER_SECOND = 200;

/** A receiver of events. */
interface Receiver {
	name: string;
	url: string;
	workflowId: string;
}

interface Delivery {
	body: string;
	signature: string;
}

const done = () => node('Done', 'noOp');

const rawWebhook = (path: string): NodeFile =>
	webhook(path, { responseMode: 'onReceived', options: { rawBody: true } });

/** The nodes that a builder wires to verify a signature. */
function handWired(secret: { id: string; name: string }): WorkflowFile {
	const received = rawWebhook('hand-wired');
	const crypto = node(
		'Crypto',
		'crypto',
		{
			action: 'hmac',
			binaryData: true,
			binaryPropertyName: 'data',
			type: 'SHA256',
			dataPropertyName: 'hmac',
			encoding: 'hex',
		},
		{ typeVersion: 2, credentials: { crypto: secret } },
	);
	const isSigned = {
		id: randomUUID(),
		leftValue: "={{ 'sha256=' + $json.hmac }}",
		rightValue: "={{ $json.headers['x-webhook-signature'] }}",
		operator: { type: 'string', operation: 'equals' },
	};
	const options = { caseSensitive: true, leftValue: '', typeValidation: 'strict', version: 2 };
	const conditions = { options, combinator: 'and', conditions: [isSigned] };
	const verified = node('IF', 'if', { conditions }, { typeVersion: 2.2 });
	return workflow('Webhook, Crypto and IF', [received, crypto, verified, done()], {
		...chain(received.name, crypto.name, verified.name),
		[verified.name]: outputs(['Done'], []),
	});
}

async function publish({ lab }: Bench): Promise<Receiver[]> {
	const id = await lab.api.createCredential('Webhook secret', 'crypto', {
		hmacSecret: lab.sandbox.webhookSecret,
	});
	const add = async (file: WorkflowFile): Promise<string> => {
		const workflowId = await lab.add(file);
		await lab.api.activate(workflowId);
		return workflowId;
	};
	const url = (path: string): string => `${lab.n8n.url}/webhook/${path}`;
	const trigger = await add(eventWorkflow({ events: ['transfer.completed'] }, done()));
	return [
		{
			name: 'ETB Wallet Trigger',
			workflowId: trigger,
			url: lab.sandbox.books.webhookUrl() ?? '',
		},
		{
			name: 'Webhook alone',
			workflowId: await add(workflow('Webhook alone', [rawWebhook('alone'), done()])),
			url: url('alone'),
		},
		{
			name: 'Webhook, Crypto and IF',
			workflowId: await add(handWired({ id, name: 'Webhook secret' })),
			url: url('hand-wired'),
		},
	];
}

let sent = 0;
const signed = (body: string, secret: string): Delivery => ({
	body,
	signature: signature(body, secret),
});
const newEvent = (secret: string): Delivery => signed(transfer(`event-${++sent}`), secret);

/** @returns how long the response took, in ms */
async function send(url: string, { body, signature: header }: Delivery, status = 200) {
	const startedAt = performance.now();
	const response = await fetch(url, {
		method: 'POST',
		body,
		headers: { 'content-type': 'application/json', 'x-webhook-signature': header },
	});
	await response.arrayBuffer();
	if (response.status !== status) throw new Error(`${url} answered ${response.status}`);
	return performance.now() - startedAt;
}

interface EventRun {
	perSecond: number;
	/** The time until the response below which 99 % lie, in ms. */
	p99: number;
	/** The CPU time of n8n for each event, in ms. */
	cpu: number;
}

/** Sends events, this number at once, until the last execution has ended. */
async function receive(bench: Bench, receiver: Receiver, atOnce: number): Promise<EventRun> {
	const { sandbox } = bench.lab;
	const executions = bench.executions() + EVENTS;
	const cpu = bench.cpuMs();
	const startedAt = performance.now();
	const times: number[] = [];
	const waiting = Array.from({ length: EVENTS }, () => newEvent(sandbox.webhookSecret)).values();
	await Promise.all(
		Array.from({ length: atOnce }, async () => {
			for (const each of waiting) times.push(await send(receiver.url, each));
		}),
	);
	await bench.ended(receiver.workflowId, executions);
	return {
		perSecond: (EVENTS / (performance.now() - startedAt)) * 1000,
		p99: quantile(times, 0.99),
		cpu: (bench.cpuMs() - cpu) / EVENTS,
	};
}

/** Events a second of each receiver; all alternate within each round. */
async function measureEvents(bench: Bench, receivers: Receiver[]): Promise<string> {
	const cases = AT_ONCE.flatMap((atOnce) =>
		receivers.map((receiver) => ({ receiver, atOnce, runs: [] as EventRun[] })),
	);
	for (const receiver of receivers) await receive(bench, receiver, 10);
	for (let round = 0; round < ROUNDS; round++)
		for (const { receiver, atOnce, runs } of cases)
			runs.push(await receive(bench, receiver, atOnce));
	const rows = cases.map(({ receiver, atOnce, runs }) => [
		`${receiver.name}, ${atOnce} at once`,
		...(['perSecond', 'p99', 'cpu'] as const).map((key) => shown(runs.map((run) => run[key]))),
	]);
	return table(['', 'events/s', 'response, p99, ms', 'CPU for one, ms'], rows);
}

/** CPU of n8n for a delivery that the trigger turns away, in ms. */
async function measureRefused(bench: Bench, [trigger]: Receiver[]): Promise<string> {
	const secret = bench.lab.sandbox.webhookSecret;
	const known = newEvent(secret);
	const url = trigger?.url ?? '';
	await send(url, known);
	const unselected = (): Delivery =>
		signed(transfer(`event-${++sent}`).replace('transfer', 'deposit'), secret);
	const kinds: Array<[string, () => Delivery, number]> = [
		['unsigned', () => ({ ...newEvent(secret), signature: '' }), 401],
		['forged', () => newEvent('another secret'), 401],
		['received before', () => known, 200],
		['not asked for', unselected, 200],
	];
	const rows: string[][] = [];
	for (const [name, delivery, status] of kinds) {
		const rounds: number[] = [];
		for (let round = 0; round < ROUNDS; round++) {
			const executions = bench.executions();
			const cpu = bench.cpuMs();
			const responses: Array<Promise<number>> = [];
			for (let index = 0; index < REFUSED; index++) {
				responses.push(send(url, delivery(), status));
				await sleep(1000 / PER_SECOND);
			}
			await Promise.all(responses);
			rounds.push((bench.cpuMs() - cpu) / REFUSED);
			if (bench.executions() !== executions) throw new Error(`${name}: it started an execution`);
		}
		rows.push([name, shown(rounds)]);
	}
	return table(['delivery', 'CPU for one, ms'], rows);
}

async function measure(title: string, env: Record<string, string | undefined>): Promise<void> {
	const measured = origin();
	const bench = await Bench.start({ env });
	try {
		const receivers = await publish(bench);
		writeSection(
			title,
			`${measured} ${EVENTS} signed events; *Webhook alone* verifies nothing.`,
			await measureEvents(bench, receivers),
			`Deliveries that start nothing, about ${digits(PER_SECOND)} a second:`,
			await measureRefused(bench, receivers),
		);
	} finally {
		await bench.stop();
	}
}

await measure('Events, with the two settings', {});
const unset = Object.keys(expressionEngine).map((name) => [name, undefined] as const);
await measure("Events, with n8n's default settings", Object.fromEntries(unset));
