// The cost of a payment: the ETB Wallet node beside the HTTP Request node, and by the size of the record.
import { randomBytes } from 'node:crypto';
import { readExample } from '../demo/examples.mts';
import {
	PAY,
	callOf,
	node,
	payNode,
	postedRows,
	webhook,
	workflow,
	type NodeFile,
} from '../test/support/n8n/workflow.mts';
import { pay, payroll } from '../test/support/payroll.mts';
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
/** The number of payments in an execution: against the HTTP Request node, and by the size of the record. */
const ITEMS = isQuick ? 50 : 2_000;
const FEW = isQuick ? 20 : 200;
/** The number of payments in the record. */
const KEPT = isQuick ? [0, 500] : [0, 10_000, 100_000];
/** The latency of the service, in ms. */
const SLOW = 50;
/** The marks of a paid reference in the record. */
const MARKS_OF_PAID = 4;

/** A published workflow that pays. */
interface Way {
	name: string;
	path: string;
	workflowId: string;
	/** The number of executions of one run. */
	executions: number;
}

interface PayRun {
	/** The time of the node that pays, in ms. */
	nodeMs: number;
	/** The CPU time of n8n, in ms. */
	cpuMs: number;
}

const bench = await Bench.start({ sandbox: { treasuryBalance: 1e9, keepRequests: 100 } });
const { lab } = bench;

let published = 0;
async function publish(name: string, pays: NodeFile, executions = 1): Promise<Way> {
	const path = `way-${++published}`;
	const nodes = [
		webhook(path, { responseMode: 'lastNode', responseData: 'noData' }),
		postedRows(),
		{ ...pays, name: PAY },
	];
	const workflowId = await lab.add(workflow(name, nodes));
	await lab.api.activate(workflowId);
	return { name, path, workflowId, executions };
}

/** The HTTP Request node with the service's two fields by expression and the key in a header credential. */
async function httpRequest(): Promise<NodeFile> {
	const id = await lab.api.createCredential('Service key', 'httpHeaderAuth', {
		name: 'Authorization',
		value: `Bearer ${lab.sandbox.apiKey}`,
	});
	const parameters = ['toUserId', 'amountEtb'].map((name) => ({
		name,
		value: `={{ $json.${name} }}`,
	}));
	return node(
		PAY,
		'httpRequest',
		{
			method: 'POST',
			url: `${lab.sandbox.url}/api/v1/partners/disburse`,
			authentication: 'genericCredentialType',
			genericAuthType: 'httpHeaderAuth',
			sendBody: true,
			specifyBody: 'keypair',
			bodyParameters: { parameters },
			options: {},
		},
		{ typeVersion: 4.2, credentials: { httpHeaderAuth: { id, name: 'Service key' } } },
	);
}

let runs = 0;
/** Pays new people once, and measures it. Throws unless each was paid. */
async function run(way: Way, items: number, latencyMs = 0): Promise<PayRun> {
	const rows = payroll(lab, `run-${++runs}`, items);
	const executions = bench.executions() + way.executions;
	const booked = lab.sandbox.books.totals().disbursements;
	lab.sandbox.setLatency(latencyMs);
	const cpu = bench.cpuMs();
	await pay(lab, way.path, rows);
	const used = bench.cpuMs() - cpu;
	const paid = lab.sandbox.books.totals().disbursements - booked;
	if (paid !== items) throw new Error(`${way.name}: ${paid} of ${items} were paid`);
	const executionId = await bench.ended(way.workflowId, executions);
	return { nodeMs: bench.nodeMs(executionId, PAY), cpuMs: used };
}

/** Compares with the HTTP Request node, which sends up to 50 at once. */
async function measureWays(wallets: Record<'ten' | 'fifty', Way>): Promise<string> {
	const http = await publish('HTTP Request', await httpRequest());
	const { ten, fifty } = wallets;
	const cases = [
		{ way: http, latencyMs: 0, runs: [] as PayRun[] },
		{ way: ten, latencyMs: 0, runs: [] as PayRun[] },
		{ way: fifty, latencyMs: 0, runs: [] as PayRun[] },
		{ way: http, latencyMs: SLOW, runs: [] as PayRun[] },
		{ way: fifty, latencyMs: SLOW, runs: [] as PayRun[] },
	];
	// The first run compiles the code.
	for (const { way } of cases) await run(way, Math.min(ITEMS, 500));
	for (let round = 0; round < ROUNDS; round++)
		for (const each of cases) each.runs.push(await run(each.way, ITEMS, each.latencyMs));
	const rows = cases.map(({ way, latencyMs, runs: done }) => [
		`${way.name}, service answers after ${latencyMs} ms`,
		shown(done.map(({ nodeMs }) => (ITEMS / nodeMs) * 1000)),
		shown(done.map(({ cpuMs: cpu }) => cpu / ITEMS)),
	]);
	return table([`${digits(ITEMS)} payments`, 'payments/s', 'CPU of n8n for one, ms'], rows);
}

/** A workflow that calls one that pays. */
async function publishShared(): Promise<{ way: Way; recordedIn: string }> {
	const recordedIn = await lab.add(await readExample('one-workflow-that-pays.json'));
	await lab.api.activate(recordedIn);
	const call = callOf(PAY, recordedIn, {
		reference: '={{ $json.reference }}',
		toUserId: '={{ $json.toUserId }}',
		amountEtb: '={{ $json.amountEtb }}',
	});
	return { way: await publish('one workflow that pays', call, 2), recordedIn };
}

/** The time of one payment by the size of the record. Medians in ms; all alternate within each round. */
async function measureKept(wallets: Record<'ten' | 'fifty', Way>): Promise<string> {
	const { ten, fifty } = wallets;
	const shared = await publishShared();
	const own = [
		{ way: ten, recordedIn: ten.workflowId },
		{ way: fifty, recordedIn: fifty.workflowId },
		shared,
	];
	for (const { way } of own) await run(way, FEW);
	const cases: Array<{ name: string; kept: number; ms: number[]; run(): Promise<PayRun> }> = [];
	for (const kept of KEPT) {
		const marks = Array.from({ length: kept * MARKS_OF_PAID }, () =>
			randomBytes(16).toString('base64'),
		);
		for (const { way, recordedIn } of own)
			cases.push({
				name: way.name,
				kept,
				ms: [],
				async run() {
					bench.setRecord(recordedIn, marks);
					return await run(way, FEW);
				},
			});
	}
	for (let round = 0; round < ROUNDS; round++)
		for (const each of cases) each.ms.push((await each.run()).nodeMs / FEW);
	const names = [...new Set(cases.map(({ name }) => name))];
	const rows = names.map((name) => [
		name,
		...cases.filter((each) => each.name === name).map(({ ms }) => digits(quantile(ms, 0.5))),
	]);
	return table(['payments that are kept', ...KEPT.map(digits)], rows);
}

const measured = origin();
try {
	const wallets = {
		ten: await publish('ETB Wallet, 10 at once', payNode()),
		fifty: await publish('ETB Wallet, 50 at once', payNode({ options: { concurrency: 50 } })),
	};
	writeSection(
		'Paying',
		measured,
		await measureWays(wallets),
		`Time of the node for one payment, in ms, in executions of ${FEW}.`,
		await measureKept(wallets),
	);
} finally {
	await bench.stop();
}
