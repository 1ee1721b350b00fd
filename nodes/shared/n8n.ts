/**
 * Every reliance on n8n beyond its documented types, one function each: what n8n does, since which version, what
 * happens should it stop, and which test notices. What is relied on in n8n's record stands in `record/entries.ts`.
 */
import {
	fromParameter,
	NodeApiError,
	NodeOperationError,
	webhookDescriptionFields,
	type IExecuteFunctions,
	type IHookFunctions,
	type IHttpRequestOptions,
	type INode,
	type INodeExecutionData,
	type ITriggerFunctions,
	type IWebhookDescription,
	type IWebhookFunctions,
	type WebhookResponseMode,
} from 'n8n-workflow';
import { credentialType, type Account } from './account';
import { unlessAborted } from './elapsed';
import { InvalidValueError } from './invalidValue';
import { isObject, property } from './unknown';

/** The oldest n8n that this package was run on: docs/compatibility.md, which a test compares with this. */
export const oldestN8n = '2.39.10';

/**
 * Refuses an n8n that lacks what each request is sent with (`requestUntil`), before anything is sent or published.
 * Noticed by: `test/engine/protection.test.mts` and `test/engine/trigger.test.mts`.
 * @throws {InvalidValueError}
 */
export function requireRequests({ helpers }: IExecuteFunctions | IHookFunctions): void {
	if (typeof helpers.httpRequestWithAuthentication === 'function') return;
	throw new InvalidValueError(
		'This version of n8n cannot send requests with a credential',
		`Update n8n to ${oldestN8n} or newer.`,
	);
}

/**
 * Sends a request with the credential, until `signal` is aborted. n8n (2.x) aborts a request by the signal of the
 * context that it is called on, which is that of the execution: Stop would cut off a payment in flight, and nobody would
 * know how it ended. So the context says that its signal is ours. n8n 1.x takes the signal of the request. Should both
 * stop, an attempt still ends by the clock, but its connection stays open.
 * Noticed by: `test/engine/clock.test.mts`, and `test/live/n8n/payments.live.mts` when it stops an execution.
 */
export async function requestUntil(
	context: IExecuteFunctions | IHookFunctions,
	account: Account,
	httpRequest: IHttpRequestOptions,
	signal: AbortSignal,
): Promise<unknown> {
	const untilAborted = Object.create(context, {
		getExecutionCancelSignal: { value: () => signal },
	}) as typeof context;
	return await context.helpers.httpRequestWithAuthentication.call(
		untilAborted,
		credentialType,
		// A copy for each attempt, because n8n's helper writes into it.
		{ ...httpRequest, abortSignal: signal },
		// Else n8n loads and decrypts the credential for each request.
		{ credentialsDecrypted: account.credentialsDecrypted },
	);
}

/**
 * An error of a request and its causes, outermost first: n8n wraps errors, and the code stands somewhere in the chain
 * (all versions). Should that stop, each request without an answer counts as sent.
 * Noticed by: `test/engine/service-answers.test.mts`, "is sent again when it was never sent".
 */
export function errorsIn(error: unknown): unknown[] {
	const errors: unknown[] = [];
	// By `instanceof`, errors of Node itself are not always errors.
	for (let cause = error; isObject(cause) && errors.length < 8; cause = property(cause, 'cause'))
		errors.push(cause);
	return errors;
}

/**
 * Whether n8n's own protection of private addresses (2.x) refused a request, before it connected. Should its errors be
 * renamed: such a payment is unknown.
 * Noticed by: `test/unit/retries.test.mts`.
 */
export function isBlockedByN8n(error: unknown): boolean {
	const name = property(error, 'name');
	return typeof name === 'string' && name.startsWith('SsrfBlocked');
}

/** What an answer was, and the socket that it came on, if it can be seen. */
export interface Answered {
	status: number;
	headers: unknown;
	body: unknown;
	socket?: unknown;
}

/** What n8n's request helpers give with a status (all versions). Only that of a credential test has a socket. */
export const answeredWith = (response: unknown): Answered => ({
	status: Number(property(response, 'statusCode')),
	headers: property(response, 'headers'),
	body: property(response, 'body'),
	socket: property(property(response, 'request'), 'socket'),
});

/**
 * The answer in an error, which n8n makes of the statuses that a request does not ignore (all versions); there alone
 * the socket can be seen. Should that stop: such an answer counts as none, so a payment that got one is unknown.
 * Noticed by: `test/engine/proxy.test.mts` and `test/engine/service-answers.test.mts`.
 */
export function answeredInError(error: unknown): Answered | undefined {
	for (const link of errorsIn(error)) {
		const response = property(link, 'response');
		const status = property(response, 'status');
		if (typeof status !== 'number') continue;
		const socket = property(property(response, 'request'), 'socket');
		const body = property(response, 'data');
		return { status, headers: property(response, 'headers'), body, socket };
	}
	return undefined;
}

/** A symbol: an update of this package between two tries finds it again, and n8n does not store it. */
const triesSymbol: unique symbol = Symbol.for('n8n-nodes-etb-wallet.tries.1');

/**
 * What the tries of a node run did, by item index; what is added is there for the next try. n8n's "Retry On Fail" runs
 * the whole node again with the same execute data and the same item objects (all versions). Both are needed: the calls
 * of an AI tool share the execute data, and have items of their own. Should n8n copy them, a retry without references
 * would pay again.
 * Noticed by: `test/engine/disbursement.test.mts`, "Retry On Fail".
 */
export function triesOf<Done>(context: IExecuteFunctions): Map<number, Done> {
	const items = context.getInputData();
	const runs = ownTries<Done>(context.getExecuteData());
	const key: object = items[0]?.json ?? items;
	const tries = runs.get(key) ?? new Map<number, Done>();
	runs.set(key, tries);
	return tries;
}

type Tries<Done> = WeakMap<object, Map<number, Done>>;

function ownTries<Done>(executeData: object): Tries<Done> {
	const { [triesSymbol]: known }: { [triesSymbol]?: Tries<Done> } = executeData;
	if (known !== undefined) return known;
	const value: Tries<Done> = new WeakMap();
	Object.defineProperty(executeData, triesSymbol, { value });
	return value;
}

/**
 * A parameter as it is saved, with its expression (all versions). Should n8n hand out evaluated values, an expression is
 * evaluated once for all items.
 * Noticed by: `test/engine/items.test.mts`.
 */
export const savedParameter = (context: IExecuteFunctions, name: string): unknown =>
	property(context.getNode().parameters, name);

/**
 * Whether a person started this execution in the editor. By the name of the execution's mode (all versions): a sub-workflow
 * has another one, and so have schedules, webhooks, "Retry execution" and evaluations; an AI agent's tool is known by its
 * node type. Should modes be renamed: nothing can be settled any more.
 * Noticed by: `test/live/n8n/settling.live.mts`.
 */
export const isRunByPerson = (context: IExecuteFunctions): boolean =>
	context.getMode() === 'manual' && !context.getNode().type.endsWith('Tool');

/**
 * Whether n8n evaluates the workflow: in mode `evaluation`, or with answers that its AI invents for every request (2.3x and
 * newer), while its record of entries is the real one. Should the names change: an invented payment is recorded as paid,
 * and that person is never paid.
 * Noticed by: `test/live/n8n/settling.live.mts`.
 */
export const isSimulation = (context: IExecuteFunctions): boolean =>
	context.getMode() === 'evaluation' ||
	property(property(context, 'additionalData'), 'evalLlmMockHandler') !== undefined;

/**
 * Whether a saved parameter has an expression anywhere in it: n8n marks one with `=` at the beginning of a text (all
 * versions). Should that change, an expression is evaluated once for all items. Noticed by: `test/engine/items.test.mts`.
 */
export function hasExpression(saved: unknown): boolean {
	if (typeof saved === 'string') return saved.startsWith('=');
	return isObject(saved) && Object.values(saved).some(hasExpression);
}

/**
 * Whether `$json` of an expression is the item itself. It is not when an AI agent calls the node as a tool: the
 * items are the model's arguments, while `$json` is the agent's item. Should n8n no longer tell, expressions are
 * evaluated by n8n, which is slower.
 * Noticed by: `test/engine/tool.test.mts`.
 */
export function isItemInExpressions(context: IExecuteFunctions): boolean {
	try {
		return context.getWorkflowDataProxy(0).$json === context.getInputData()[0]?.json;
	} catch {
		return false;
	}
}

/**
 * Shows a remark beside the output (1.79 and newer). Before that there is none; the items tell the same.
 * Noticed by: `test/engine/disbursement.test.mts`, which compares the hints.
 */
export function addHint(context: IExecuteFunctions, message: string): void {
	if (typeof context.addExecutionHints === 'function')
		context.addExecutionHints({ message, location: 'outputPane' });
}

/**
 * The n8n error with exactly this message. n8n (all versions) puts a text of its own in its place when a system error
 * code is anywhere in it, such as "EPERM" in "housePermit".
 * Noticed by: `test/engine/disbursement.test.mts`.
 * @param description what to do about it
 * @param data what else a workflow that handles the error can read
 */
export function operationError(
	node: INode,
	message: string,
	description: string,
	itemIndex?: number,
	data?: Record<string, unknown>,
): NodeOperationError {
	const error = new NodeOperationError(node, message, { description, itemIndex });
	error.message = message;
	if (data !== undefined) error.context.data = data;
	return error;
}

/** The n8n error for a failed call, with exactly this message. n8n does with it what it does with `operationError`. */
export function apiError(
	node: INode,
	message: string,
	{ description, httpCode }: { description: string; httpCode?: string },
	itemIndex?: number,
): NodeApiError {
	const error = new NodeApiError(node, { message }, { message, description, httpCode, itemIndex });
	error.message = message;
	return error;
}

/**
 * An item for the error output (all versions). Its single key is what makes n8n send it there, and the object form of
 * `pairedItem` is what makes n8n add the fields of the input item. Should that stop, it leaves as a normal item, with
 * its `error`.
 * Noticed by: `test/engine/bad-input.test.mts`.
 */
export function errorItem(
	error: Record<string, string | number | undefined>,
	itemIndex: number,
): INodeExecutionData {
	return { json: { error: { ...error } }, pairedItem: { item: itemIndex } };
}

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
 * The project of n8n that the node's workflow belongs to, whose members see the workflow. n8n has it beside the node
 * (2.x). Should that stop: undefined, and no workflow is named to whoever publishes another one.
 * Noticed by: `test/live/n8n/trigger.live.mts`, "names the workflow that holds the account".
 */
export function projectOf(context: IHookFunctions): string | undefined {
	const id: unknown = property(property(context, 'additionalData'), 'projectId');
	return typeof id === 'string' ? id : undefined;
}

/**
 * Puts an error of a published trigger where a person looks, under Executions, and starts the error workflow. The context
 * that n8n gives to `trigger` of a published workflow has a function for it (2.x). Should it stop: n8n's log has the error.
 * Noticed by: `test/live/n8n/events.live.mts`, "n8n starts while the service does not answer".
 */
export function saveFailedExecution(context: ITriggerFunctions, error: NodeOperationError): void {
	if (typeof context.saveFailedExecution === 'function') context.saveFailedExecution(error);
}

/**
 * Whether n8n publishes by itself what was published before: it starts, or another of its processes takes the lead.
 * It does so for triggers that it keeps in memory (2.x), and it keeps those that have a method `trigger`. By the name of
 * the mode. Should it be renamed: a service that does not answer while n8n starts leaves the workflow unpublished, with
 * the reason.
 * Noticed by: `test/live/n8n/events.live.mts`, "n8n starts while the service does not answer".
 */
export const isStarting = (context: IHookFunctions): boolean =>
	['init', 'leadershipChange'].includes(context.getActivationMode());

/**
 * Whether n8n puts a changed trigger in the place of a published one, which it has ended a moment ago. By the name of the
 * mode (all versions). Should it be renamed: a service that does not answer at that moment leaves the workflow without
 * events.
 * Noticed by: `test/live/n8n/trigger.live.mts`, "with a changed trigger, while the service refuses".
 */
export const isReplacing = (context: IHookFunctions): boolean =>
	context.getActivationMode() === 'update';

/** How long a sender may take for a body that n8n leaves to the node to read. */
const bodyTimeoutMs = 10_000;

/**
 * The raw body. For a node of version 2 n8n reads JSON, text, forms and XML before the node is called (2.x), keeps the
 * bytes in `rawBody`, and leaves all else to `readRawBody`, which never ends for a compressed body that is cut off.
 * Should `rawBody` stop: each delivery is answered with 400, and the service sends it again.
 * Noticed by: `test/live/n8n/events.live.mts`, which sends each kind of body.
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
	const time = AbortSignal.timeout(bodyTimeoutMs);
	try {
		const read = Promise.race([request.readRawBody(), cutOff]);
		const ended = await unlessAborted(time, read, () => new Error('tooSlow'));
		return ended === 'cutOff' ? ended : (request.rawBody ?? Buffer.alloc(0));
	} catch (error) {
		if (time.aborted) return 'tooSlow';
		return property(error, 'status') === 413 ? 'tooLarge' : 'cutOff';
	}
}

/**
 * Calls back with the status with which n8n answers: only by it a node learns in `webhook` how its execution went. n8n
 * answers by `response.end` (all versions), also when the service has hung up, while the event `finish` does not come
 * then. Should `end` be missing: called at once with a failure, so that only the record in n8n's database tells duplicates.
 * Noticed by: `test/engine/trigger.test.mts`, "an event whose workflow failed is new again".
 */
export function whenAnswered(context: IWebhookFunctions, answered: (status: number) => void): void {
	const response = context.getResponseObject();
	const end: unknown = property(response, 'end');
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
 * An item that carries the key of its delivery. n8n keeps fields of an item that it does not know (all versions), also
 * through its database in queue mode, and calls `execute` of a trigger that has it with what `webhook` returned.
 * Should either stop: duplicates are told by the memory of a process only.
 * Noticed by: `test/live/n8n/events.live.mts` and `test/live/queue/queue-events.live.mts`, after restarts.
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

type ExecutionEnd = 'succeeded' | 'failed' | 'stopped';

/**
 * Calls back when this execution ends, before n8n answers the request that waits for it (n8n-core's lifecycle hooks,
 * since 1.8x). An execution that begins to wait has succeeded; one that ran into a timeout has failed; `stopped` is a
 * person's word. Should the hooks change: never called, and with "When the Workflow Finishes" what was handled by
 * another process, or before a restart, runs again when it is sent again.
 * Noticed by: `test/live/n8n/events.live.mts`, "When the Workflow Finishes".
 * @returns whether it will be called
 */
export function whenEnded(
	context: IExecuteFunctions,
	ended: (how: ExecutionEnd) => Promise<void>,
): boolean {
	const additionalData: unknown = property(context, 'additionalData');
	const hooks: unknown = property(additionalData, 'hooks');
	const addHandler: unknown = property(hooks, 'addHandler');
	if (typeof addHandler !== 'function') return false;
	const deadline: unknown = property(additionalData, 'executionTimeoutTimestamp');
	const handler = async (run: unknown): Promise<void> => {
		const status: unknown = property(run, 'status');
		const timedOut = typeof deadline === 'number' && Date.now() >= deadline;
		if (status === 'success' || status === 'waiting') await ended('succeeded');
		else await ended(status === 'canceled' && !timedOut ? 'stopped' : 'failed');
	};
	Reflect.apply(addHandler, hooks, ['workflowExecuteAfter', handler]);
	return true;
}

/**
 * Turns "Always Output Data" off for this execution: for a duplicate it would put an empty item on the first output, and
 * run the workflow. n8n reads the setting after the node has run, from the node of this execution (all versions). Should
 * that stop: with that setting on, a duplicate runs the workflow with an empty item.
 * Noticed by: `test/engine/trigger.test.mts`, "Always Output Data".
 */
export function neverOutputEmptyItem(context: IExecuteFunctions): void {
	const node: unknown = property(context, 'node');
	if (isObject(node)) Reflect.set(node, 'alwaysOutputData', false);
}
