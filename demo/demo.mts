// `npm run demo`: the main job, unattended, in the real n8n. Ends with an error code when any step fails.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { N8nApi, type Execution, type WorkflowFile } from './n8n-api.mts';
import {
	CREDENTIAL_NAME,
	CREDENTIAL_TYPE,
	credentialFor,
	importWorkflow,
	readExample,
} from './examples.mts';
import { freePort } from './ports.mts';
import { startStack, type Stack } from './stack.mts';
import { stopRequested } from './stop-signal.mts';

/** The failure of a step of the demo; the message says which step and why. */
class DemoFailure extends Error {}

const EVENT_WITHIN_MS = 30_000;
const POLL_EVERY_MS = 200;
const FEE_PERCENT = 1.5;
const AMOUNT_ETB = 250.5;
const START = 'Start';
const TRIGGER = 'ETB Wallet Trigger';
const PAYMENT_EVENT = 'disburse.completed';

type Item = Record<string, unknown>;

interface Step {
	/** The node's name in the workflow, and in what is printed. */
	name: string;
	parameters: Record<string, unknown>;
	/** The difference between the node's output and the expected one; undefined when there is none. */
	problem: (output: Item) => string | undefined;
}

const differs = (output: Item, field: string, expected: unknown) =>
	output[field] === expected
		? undefined
		: `${field} is ${JSON.stringify(output[field])} instead of ${JSON.stringify(expected)}`;

const missing = (output: Item, field: string, pattern: RegExp) =>
	pattern.test(String(output[field])) ? undefined : `${field} is ${JSON.stringify(output[field])}`;

/** All endpoints of the service document §4, in the order a new partner needs them. */
const stepsFor = (webhookUrl: string, externalId: string): Step[] => [
	{
		name: 'Balance: Get',
		parameters: { resource: 'balance', operation: 'get' },
		problem: (output) => differs(output, 'treasuryBalance', 1_000_000),
	},
	{
		name: 'Fee: Update',
		parameters: { resource: 'fee', operation: 'update', feePercent: FEE_PERCENT },
		problem: (output) => differs(output, 'feePercent', FEE_PERCENT),
	},
	{
		name: 'Fee: Get',
		parameters: { resource: 'fee', operation: 'get' },
		problem: (output) => differs(output, 'feePercent', FEE_PERCENT),
	},
	{
		// The service keeps one URL, so this step sets that of the active trigger again.
		name: 'Webhook: Set',
		parameters: { resource: 'webhook', operation: 'set', webhookUrl },
		problem: (output) => differs(output, 'webhookUrl', webhookUrl),
	},
	{
		name: 'Payout Destination: Set',
		parameters: {
			resource: 'payoutDestination',
			operation: 'set',
			type: 'mobile',
			phone: '+251911234567',
		},
		problem: (output) => differs(output, 'phone', '+251911234567'),
	},
	{
		name: 'User: Create',
		parameters: {
			resource: 'user',
			operation: 'create',
			externalId,
			email: 'abebe@example.com',
		},
		problem: (output) =>
			differs(output, 'externalId', externalId) ?? missing(output, 'walletAddress', /^0x/),
	},
	{
		name: 'Disbursement: Create',
		parameters: {
			resource: 'disbursement',
			operation: 'create',
			reference: '={{ $json.externalId }}',
			toUserId: '={{ $json.id }}',
			amountEtb: String(AMOUNT_ETB),
		},
		problem: (output) =>
			differs(output, 'code', 'paid') ??
			differs(output, 'amountEtb', AMOUNT_ETB) ??
			missing(output, 'txHash', /^0x/),
	},
];

/** A manual trigger and the steps behind it, one after the other. */
function workflowOf(steps: Step[]): WorkflowFile {
	const trigger = { name: START, type: 'n8n-nodes-base.manualTrigger', parameters: {} };
	const nodes = [
		trigger,
		...steps.map(({ name, parameters }) => ({
			name,
			parameters,
			type: 'n8n-nodes-etb-wallet.etbWallet',
		})),
	].map((node, index) => ({
		...node,
		id: randomUUID(),
		typeVersion: 1,
		position: [220 * index, 0],
	}));
	const connections = Object.fromEntries(
		steps.map(({ name }, index) => [
			nodes[index]?.name ?? START,
			{ main: [[{ node: name, type: 'main', index: 0 }]] },
		]),
	);
	return { name: 'Demo: every endpoint', nodes, connections, settings: { executionOrder: 'v1' } };
}

const show = (title: string, value: unknown) =>
	console.log(`\n${title}\n  ${JSON.stringify(value, null, 2).replaceAll('\n', '\n  ')}`);

/** The one item of the node's only run; throws a DemoFailure with n8n's reason when there is none. */
function outputOf(execution: Execution, name: string): Item {
	const run = execution.nodes[name]?.[0];
	const output = run?.outputs[0]?.[0];
	if (run?.error !== undefined) throw new DemoFailure(`${name} failed: ${run.error}`);
	if (execution.error !== undefined) throw new DemoFailure(execution.error);
	if (output === undefined) throw new DemoFailure(`${name} gave no output`);
	return output;
}

/** The first execution of the event workflow whose trigger emitted the payment's event. */
async function receivedPayment(api: N8nApi, workflowId: string): Promise<Item> {
	const deadline = Date.now() + EVENT_WITHIN_MS;
	for (;;) {
		for (const id of await api.executionIds(workflowId)) {
			const execution = await api.endedExecution(id);
			const event = outputOf(execution, TRIGGER);
			if (execution.error !== undefined) throw new DemoFailure(execution.error);
			if (event.event === PAYMENT_EVENT) return event;
		}
		if (Date.now() > deadline) {
			throw new DemoFailure(
				`The event was delivered, but no execution came of it within ${EVENT_WITHIN_MS / 1000} s`,
			);
		}
		await sleep(POLL_EVERY_MS);
	}
}

/** Waits until the payment's event was accepted; throws a DemoFailure with the receiver's response else. */
async function paymentEventDelivered(sandbox: Stack['sandbox']): Promise<void> {
	const queued = sandbox.books.deliveries().find(({ event }) => event === PAYMENT_EVENT);
	if (!queued) throw new DemoFailure(`The service queued no ${PAYMENT_EVENT}`);
	const lastAttempt = () => {
		const attempts = sandbox.books.deliveries().find(({ id }) => id === queued.id)?.attempts;
		return JSON.stringify(attempts?.at(-1) ?? 'no attempt yet');
	};
	const settled = await Promise.race([
		sandbox.deliveryEnded(queued.id),
		sleep(EVENT_WITHIN_MS, undefined, { ref: false }),
	]);
	if (settled?.state !== 'delivered') {
		throw new DemoFailure(`${PAYMENT_EVENT} was not accepted by n8n: ${lastAttempt()}`);
	}
}

async function demo({ n8n, sandbox }: Stack): Promise<void> {
	const api = new N8nApi(n8n.url);
	await api.setUpOwner({ email: 'owner@example.com', password: 'Etb-demo-1' });

	const credential = credentialFor(sandbox);
	const credentialId = await api.createCredential(CREDENTIAL_NAME, CREDENTIAL_TYPE, credential);
	const test = await api.testCredential(credentialId, CREDENTIAL_NAME, CREDENTIAL_TYPE, credential);
	show('Credential test', test);
	if (!test.ok) throw new DemoFailure(`The credential test failed: ${test.message}`);

	const receiverId = await importWorkflow(
		api,
		await readExample('receive-events.json'),
		credentialId,
	);
	await api.activate(receiverId);
	const webhookUrl = sandbox.books.webhookUrl();
	if (!webhookUrl) throw new DemoFailure('The active trigger registered no webhook URL');
	show('Trigger is active, and registered its URL', { webhookUrl });

	const steps = stepsFor(webhookUrl, `demo-${Date.now()}`);
	const payerId = await importWorkflow(api, workflowOf(steps), credentialId);
	const paid = await api.endedExecution(await api.run(payerId, START));
	for (const { name, problem } of steps) {
		const output = outputOf(paid, name);
		show(name, output);
		const wrong = problem(output);
		if (wrong !== undefined) throw new DemoFailure(`${name} gave a wrong result: ${wrong}`);
	}

	await paymentEventDelivered(sandbox);
	const event = await receivedPayment(api, receiverId);
	show('Received and verified by the active workflow', event);
	const { txHash } = outputOf(paid, 'Disbursement: Create');
	const received: unknown = Reflect.get(Object(event.data), 'txHash');
	if (received !== txHash) {
		throw new DemoFailure(
			`The event is about ${String(received)}, the payment about ${String(txHash)}`,
		);
	}
	const payments = sandbox.books.disbursements().length;
	if (payments !== 1) throw new DemoFailure(`The service made ${payments} payments instead of 1`);
}

const { values: options } = parseArgs({ options: { 'refuse-api-key': { type: 'boolean' } } });
const stopping = stopRequested();
const folder = await mkdtemp(join(tmpdir(), 'etb-wallet-demo-'));
let stack: Stack | undefined;
try {
	stack = await startStack({
		folder,
		n8nPort: await freePort(),
		print: (line) => console.log(line),
		signal: stopping,
	});
	if (options['refuse-api-key']) stack.sandbox.refuseApiKey(true);
	const interrupted = new Promise<never>((_resolve, reject) => {
		stopping.addEventListener('abort', () => reject(new DemoFailure('Interrupted')));
	});
	await Promise.race([demo(stack), interrupted]);
	console.log('\nDemo done: 7 results and 1 verified event, all from the real n8n.');
} catch (error) {
	console.error(`\nDemo failed: ${error instanceof Error ? error.message : String(error)}`);
	process.exitCode = 1;
} finally {
	await stack?.stop();
	await rm(folder, { recursive: true, force: true });
}
