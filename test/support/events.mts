/** Events for the tests in the real n8n: workflows that receive them, deliveries, and a count of executions. */
import { createHmac, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { WorkflowFile } from '../../demo/n8n-api.mts';
import { node, workflow, type NodeFile } from './n8n/workflow.mts';
import type { Sandbox } from '../../sandbox/sandbox.mts';
import { serve } from './engine/served.mts';
import { eventually, type Lab } from './lab.mts';

export const TRIGGER = 'ETB Wallet Trigger';

let created = 0;

/** A trigger, and these nodes behind it, one after the other. */
export const eventWorkflow = (
	parameters: object = {},
	...behind: Array<Omit<NodeFile, 'id' | 'position'>>
): WorkflowFile =>
	workflow(`Received ${++created}`, [
		node(TRIGGER, 'n8n-nodes-etb-wallet.etbWalletTrigger', parameters, {
			typeVersion: 2,
			webhookId: randomUUID(),
		}),
		...behind.map((each): NodeFile => ({ id: randomUUID(), position: [0, 0], ...each })),
	]);

export const registeredUrl = ({ sandbox }: { sandbox: Sandbox }): string =>
	sandbox.books.webhookUrl() ?? '';

/** Publishes a workflow while `use` runs: an account's events go to one workflow. */
export async function whilePublished(
	lab: Pick<Lab, 'add' | 'api' | 'sandbox'>,
	workflow: WorkflowFile,
	use: (published: { id: string; url: string }) => Promise<void>,
): Promise<void> {
	const id = await lab.add(workflow);
	try {
		await lab.api.activate(id);
		await use({ id, url: registeredUrl(lab) });
	} finally {
		await lab.api.deactivate(id);
	}
}

/** Ids for this number of events. */
export const idsOf = (prefix: string, count: number): string[] =>
	Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

/** A workflow with another credential chosen. */
export const withCredential = (
	workflow: WorkflowFile,
	credential: { id: string; name: string },
): WorkflowFile => ({
	...workflow,
	nodes: workflow.nodes.map((node) => ({ ...node, credentials: { etbWalletApi: credential } })),
});

/** A count of executions by the id of their event. */
interface Counter {
	times: Map<string, number>;
	/** A node that counts the event. */
	node: NodeFile;
	/** The status of the response to each count; 0 for no response. */
	statusFor: (id: string) => number;
	/** The ids of the events that wait to be counted. */
	waiting: Set<string>;
	/** Makes each count wait until the returned function is called. */
	hold(): () => void;
	stop(): Promise<void>;
}

export async function startCounter(): Promise<Counter> {
	let until = Promise.resolve();
	const service = await serve(
		createServer((request, response) => {
			const id = decodeURIComponent(request.url?.slice(1) ?? '');
			counter.waiting.add(id);
			void until.then(() => {
				counter.waiting.delete(id);
				const status = counter.statusFor(id);
				if (status === 0) return;
				if (status < 300) counter.times.set(id, (counter.times.get(id) ?? 0) + 1);
				response.writeHead(status).end('{}');
			});
		}),
	);
	const counter: Counter = {
		times: new Map(),
		statusFor: () => 200,
		waiting: new Set(),
		hold() {
			let release = (): void => undefined;
			until = new Promise((resolve) => (release = resolve));
			return release;
		},
		node: node(
			'Count',
			'httpRequest',
			{ url: `=${service.url}/{{ $json.data.id }}`, options: {} },
			{ typeVersion: 4.2 },
		),
		stop: service.close,
	};
	return counter;
}

export const transfer = (id: string): string =>
	JSON.stringify({
		event: 'transfer.completed',
		timestamp: new Date().toISOString(),
		data: { id, amountEtb: 1, txHash: '0x1' },
	});

export const signature = (body: string, secret: string): string =>
	`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

/** Sends a body as the service does; resolves to the status, or undefined when there was no response. */
export async function post(
	url: string,
	body: string,
	secret: string,
	headers: Record<string, string> = {},
	withinMs = 60_000,
): Promise<number | undefined> {
	try {
		const response = await fetch(url, {
			method: 'POST',
			body,
			headers: {
				'content-type': 'application/json',
				'x-webhook-signature': signature(body, secret),
				...headers,
			},
			signal: AbortSignal.timeout(withinMs),
		});
		await response.arrayBuffer();
		return response.status;
	} catch {
		return undefined;
	}
}

/** n8n answers 503, 200 and 404 itself until it has registered its webhooks: resolves when the trigger answers. */
export async function listensAgain(url: string): Promise<void> {
	await eventually('the webhook after the restart', async () =>
		(await post(url, '{}', 'nobody', {}, 3_000)) === 401 ? true : undefined,
	);
}
