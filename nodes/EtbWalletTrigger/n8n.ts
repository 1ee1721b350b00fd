/** Each reliance of the trigger on n8n beyond its documented types: what n8n does, and what happens should it stop. */
import { fromParameter, webhookDescriptionFields } from 'n8n-workflow';
import type {
	IExecuteFunctions,
	IHookFunctions,
	INodeExecutionData,
	ITriggerResponse,
	IWebhookDescription,
	IWebhookFunctions,
	WebhookResponseMode,
} from 'n8n-workflow';

/**
 * When to answer, from the parameter `acknowledge`. Since 2.35 n8n reads such a description without its expression
 * engine. Before, or should it stop: an expression, which costs as much as an execution.
 * Noticed by: `bench/events.mts`.
 */
export const responseModeFromParameter: Pick<IWebhookDescription, 'responseMode'> =
	typeof webhookDescriptionFields === 'function'
		? webhookDescriptionFields({ responseMode: fromParameter('acknowledge') })
		: { responseMode: '={{ $parameter["acknowledge"] }}' as WebhookResponseMode };

/**
 * The `trigger` method of a node that needs none. When it starts, n8n calls `create` again only for those triggers
 * that live in its memory (2.x), and this makes ours one of them. Should that stop: after a restart the service's
 * URL is not set again, and a test takes it away from a published workflow.
 * Noticed by: `test/real/trigger.real.mts`, "registers the production URL, and again when n8n starts".
 */
export const staysInMemory = (): Promise<ITriggerResponse> => Promise.resolve({});

/**
 * Whether n8n publishes by itself what was published before: it starts, or another of its processes takes the lead.
 * Modes by name, 2.x; 1.x has `init` too. Should they be renamed: a service that does not answer while n8n starts
 * leaves the workflow unpublished, with its reason.
 * Noticed by: `test/real/events.real.mts`, "n8n starts while the service does not answer".
 */
export const isStarting = (context: IHookFunctions): boolean =>
	['init', 'leadershipChange'].includes(context.getActivationMode());

/** In ms. How long a sender may take for a body that n8n leaves to the node to read. */
const bodyWithin = 10_000;

/**
 * The raw body. For a node of version 2 n8n reads JSON, text, forms and XML before the node is called (2.x), keeps the
 * bytes in `rawBody`, and leaves all else to `readRawBody`, which never ends for a compressed body that is cut off.
 * Should `rawBody` stop: each delivery is answered with 400, and the service sends it again.
 * Noticed by: `test/real/events.real.mts`, which sends each kind of body.
 */
export async function rawBodyOf(
	context: IWebhookFunctions,
): Promise<Buffer | 'cutOff' | 'tooSlow' | 'tooLarge'> {
	const request = context.getRequestObject();
	if (Buffer.isBuffer(request.rawBody)) return request.rawBody;
	const cutOff = new Promise<'cutOff'>((resolve) => {
		const look = (): void => {
			if (!request.complete) resolve('cutOff');
		};
		if (request.closed) look();
		else request.once('close', look);
	});
	const time = AbortSignal.timeout(bodyWithin);
	let giveUp = (): void => {};
	const tooSlow = new Promise<'tooSlow'>((resolve) => {
		giveUp = () => resolve('tooSlow');
		time.addEventListener('abort', giveUp);
	});
	try {
		const ended = await Promise.race([request.readRawBody(), cutOff, tooSlow]);
		return typeof ended === 'string' ? ended : (request.rawBody ?? Buffer.alloc(0));
	} catch (error) {
		return Reflect.get(Object(error), 'status') === 413 ? 'tooLarge' : 'cutOff';
	} finally {
		// Node keeps a listener until its time has come, and with it the request and its body.
		time.removeEventListener('abort', giveUp);
	}
}

/**
 * Tells the status with which n8n answers: it tells a node nothing about how its execution went, but answers the
 * request accordingly, by `response.end` (all versions). Not the event `finish`: it does not come when the service has
 * hung up in the meantime. Should `end` be missing: told at once that it failed, so that this process remembers
 * nothing, and only the record in n8n's database tells duplicates.
 * Noticed by: `test/engine/trigger.test.mts`, "an event whose workflow failed is new again".
 */
export function whenAnswered(context: IWebhookFunctions, answered: (status: number) => void): void {
	const response = context.getResponseObject();
	const end: unknown = Reflect.get(response, 'end');
	if (typeof end !== 'function') return answered(500);
	Object.defineProperty(response, 'end', {
		configurable: true,
		value: (...answer: unknown[]): unknown => {
			answered(response.statusCode);
			return Reflect.apply(end, response, answer);
		},
	});
}

/** The field of an item in which its delivery key goes from `webhook` to `execute`. */
const keyField = 'etbWalletDelivery';

/**
 * An item that carries the key of its delivery. n8n keeps fields of an item that it does not know (all versions), in
 * queue mode through its database too, and calls `execute` of a trigger that has it with what `webhook` returned.
 * Should either stop: duplicates are told by the memory of a process only.
 * Noticed by: `test/real/events.real.mts` and `test/queue/events.queue.mts`, after restarts.
 */
export const withDeliveryKey = (item: INodeExecutionData, key: string): INodeExecutionData => ({
	...item,
	[keyField]: key,
});

/** The key of `withDeliveryKey`, and the item without it. */
export function deliveryKeyOf(item: INodeExecutionData): {
	key: string | undefined;
	item: INodeExecutionData;
} {
	const { [keyField]: key, ...rest } = item;
	return { key: typeof key === 'string' ? key : undefined, item: { ...rest, json: item.json } };
}

export type Ending = 'succeeded' | 'failed' | 'stopped';

/**
 * Calls back when this execution ends, before n8n answers the request that waits for it (n8n-core's lifecycle hooks,
 * since 1.8x). An execution that begins to wait has succeeded; one that ran into a timeout has failed; `stopped` is a
 * person's word. Should the hooks change: never called, and with "When the Workflow Finishes" what was handled by
 * another process, or before a restart, runs again when it is sent again.
 * Noticed by: `test/real/events.real.mts`, "When the Workflow Finishes".
 */
export function whenEnded(
	context: IExecuteFunctions,
	ended: (ending: Ending) => Promise<void>,
): void {
	const additionalData: unknown = Reflect.get(context, 'additionalData');
	const hooks: unknown = Reflect.get(Object(additionalData), 'hooks');
	const addHandler: unknown = Reflect.get(Object(hooks), 'addHandler');
	if (typeof addHandler !== 'function') return;
	const deadline: unknown = Reflect.get(Object(additionalData), 'executionTimeoutTimestamp');
	const handler = async (run: unknown): Promise<void> => {
		const status: unknown = Reflect.get(Object(run), 'status');
		const timedOut = typeof deadline === 'number' && Date.now() >= deadline;
		if (status === 'success' || status === 'waiting') await ended('succeeded');
		else await ended(status === 'canceled' && !timedOut ? 'stopped' : 'failed');
	};
	Reflect.apply(addHandler, hooks, ['workflowExecuteAfter', handler]);
}

/**
 * Keeps "Always Output Data" from putting an empty item on the first output when the trigger gives out nothing there: it
 * would run the workflow for an event that never was. n8n reads the setting, after the node, from the node of this
 * execution (all versions). Should that stop: with that setting on, a duplicate runs the workflow with an empty item.
 * Noticed by: `test/engine/trigger.test.mts`, "Always Output Data".
 */
export function neverOutputEmptyItem(context: IExecuteFunctions): void {
	const node: unknown = Reflect.get(context, 'node');
	if (typeof node === 'object' && node !== null) Reflect.set(node, 'alwaysOutputData', false);
}
