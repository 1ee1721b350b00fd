/** The behaviour of n8n that the trigger relies on, described as in `nodes/shared/n8n.ts`. */
import { operationError } from '../shared/nodeErrors';
import {
	fromParameter,
	webhookDescriptionFields,
	type IExecuteFunctions,
	type IHookFunctions,
	type INode,
	type INodeExecutionData,
	type IWebhookDescription,
	type IWebhookFunctions,
	type WebhookResponseMode,
} from 'n8n-workflow';
import { stopwatch, unlessAborted } from '../shared/time';
import { isObject, property } from '../shared/unknownValues';

/**
 * Takes the moment of n8n's response from the parameter `acknowledge`. Since 2.35 n8n reads such a description
 * without its expression engine. Before 2.35, or if n8n removes this, an expression takes its place, which
 * costs as much as an execution.
 * Noticed by: `test/repository/structure.test.mts`.
 */
export const responseModeFromParameter: Pick<IWebhookDescription, 'responseMode'> =
	typeof webhookDescriptionFields === 'function'
		? webhookDescriptionFields({ responseMode: fromParameter('acknowledge') })
		: { responseMode: '={{ $parameter["acknowledge"] }}' as WebhookResponseMode };

/**
 * The id of the n8n project of the workflow, whose members see the workflow (2.38 and newer). Before 2.38, or
 * if n8n removes it, it is undefined, and the error for a person who publishes another workflow does not name
 * this one.
 * Noticed by: `test/live/n8n/trigger.live.mts`, "is refused with the reason, and with the name".
 */
export function projectOf(context: IHookFunctions): string | undefined {
	const id: unknown = property(property(context, 'additionalData'), 'projectId');
	return typeof id === 'string' ? id : undefined;
}

/**
 * The error that explains why a trigger does not listen. n8n shows only one text of an error: up to 2.16 the
 * description of a `NodeApiError`, otherwise the message. So the message has the reason and the remedy.
 * Noticed by: `test/live/n8n/trigger.live.mts`, "is refused with the reason".
 */
export function listeningError(node: INode, error: Error): Error {
	const description: unknown = property(error, 'description');
	if (typeof description !== 'string' || description === '') return error;
	return operationError(node, `${error.message}. ${description}`, description);
}

/**
 * Whether n8n activates a workflow that was published before, because n8n starts or this process takes the
 * lead. n8n then calls a trigger that has a method `trigger` in one of these modes. If n8n renames them, the
 * URL is set at each start, and if the service does not answer then, the workflow stays unpublished, with the
 * reason.
 * Noticed by: `test/live/n8n/trigger.live.mts`, "a start of n8n calls the service for no workflow".
 */
export const isStarting = (context: IHookFunctions): boolean =>
	['init', 'leadershipChange'].includes(context.getActivationMode());

/** Identifies a trigger by the ids of its workflow and node, which stay when a person renames either. */
export const triggerKeyOf = (context: Pick<IHookFunctions, 'getNode' | 'getWorkflow'>): string =>
	JSON.stringify([context.getWorkflow().id, context.getNode().id]);

/** The time limit in ms for a body that n8n leaves to the node to read. */
const bodyTimeoutMs = 10_000;

/**
 * The raw body. For a node of version 2 n8n reads JSON, text, forms and XML before it calls the node, and
 * keeps the bytes in `rawBody`. It leaves any other type to `readRawBody`, which never ends for a compressed
 * body that is cut off. The service document does not show the type of its events. If n8n removes `rawBody`,
 * the body is empty, and no signature fits it.
 * Noticed by: `test/live/n8n/trigger.live.mts`, which sends each kind of body.
 * @throws {Error} if the body cannot be read in time
 */
export async function loadRawBody(context: IWebhookFunctions): Promise<Buffer> {
	const request = context.getRequestObject();
	if (Buffer.isBuffer(request.rawBody)) return request.rawBody;
	const timeout = AbortSignal.timeout(bodyTimeoutMs);
	await unlessAborted(timeout, request.readRawBody(), () => new Error('The body took too long'));
	return request.rawBody ?? Buffer.alloc(0);
}

/**
 * Calls back with the status of n8n's response. In `webhook`, a node can learn only from this status how its
 * execution ended. n8n answers by `response.end`, even when the service has closed the connection and no
 * event `finish` comes. If `end` is missing, the call comes at once with a failure, so that only the record
 * in n8n's database finds duplicates.
 * Noticed by: `test/engine/trigger.test.mts`, "an event whose workflow failed is new again".
 */
export function whenResponded(response: object, responded: (status: number) => void): void {
	const originalEnd: unknown = property(response, 'end');
	if (typeof originalEnd !== 'function') return responded(500);
	Object.defineProperty(response, 'end', {
		configurable: true,
		value: (...args: unknown[]): unknown => {
			responded(Number(property(response, 'statusCode')));
			return Reflect.apply(originalEnd, response, args);
		},
	});
}

/** The field of an item that carries the key of its event from `webhook` to `execute`. */
const keyField = 'etbWalletEvent';

/**
 * An item that carries the key of its event. n8n keeps unknown fields of an item, also through its database
 * in queue mode, and calls `execute` of a trigger with the items that `webhook` returned. If n8n changes
 * either, only the memory of a process finds duplicates.
 * Noticed by: `test/live/n8n/trigger.live.mts` and `test/live/queue/queue-events.live.mts`, after restarts.
 */
export const withEventKey = (item: INodeExecutionData, key: string): INodeExecutionData => ({
	...item,
	[keyField]: key,
});

/** The key that `withEventKey` added, and the item without it. */
export function withoutEventKey(item: INodeExecutionData): {
	key: string | undefined;
	item: INodeExecutionData;
} {
	const { [keyField]: key, ...rest } = item;
	return { key: typeof key === 'string' ? key : undefined, item: { ...rest, json: item.json } };
}

/**
 * Calls back when this execution ends, before n8n answers the request that waits for it (n8n-core's lifecycle
 * hooks). An execution that begins to wait, or that a person stopped, has not failed. An execution that ran
 * into a timeout has failed. If n8n changes the hooks, no call comes. With "When the Workflow Finishes", an
 * event that another process handled, or that was handled before a restart, then starts the workflow again
 * when the service sends it again.
 * Noticed by: `test/live/n8n/trigger.live.mts`, "When the Workflow Finishes".
 * @returns whether the call will come
 */
export function whenEnded(
	context: IExecuteFunctions,
	ended: (hasFailed: boolean) => Promise<void>,
): boolean {
	const additionalData: unknown = property(context, 'additionalData');
	const hooks: unknown = property(additionalData, 'hooks');
	const addHandler: unknown = property(hooks, 'addHandler');
	if (typeof addHandler !== 'function') return false;
	const deadline: unknown = property(additionalData, 'executionTimeoutTimestamp');
	const msLeft = typeof deadline === 'number' ? deadline - Date.now() : Infinity;
	const getPassedMs = stopwatch();
	const handler = async (run: unknown): Promise<void> => {
		const status: unknown = property(run, 'status');
		const wasStopped = status === 'canceled' && getPassedMs() < msLeft;
		await ended(status !== 'success' && status !== 'waiting' && !wasStopped);
	};
	Reflect.apply(addHandler, hooks, ['workflowExecuteAfter', handler]);
	return true;
}

/**
 * Turns "Always Output Data" off for this execution: for a duplicate it would put an empty item on the first
 * output, and run the workflow. n8n reads the setting from the node of this execution after the node has run.
 * If n8n reads it elsewhere, then with that setting on a duplicate runs the workflow with an empty item.
 * Noticed by: `test/engine/trigger.test.mts`, "Always Output Data".
 */
export function neverOutputEmptyItem(context: IExecuteFunctions): void {
	const node: unknown = property(context, 'node');
	if (isObject(node)) Reflect.set(node, 'alwaysOutputData', false);
}
