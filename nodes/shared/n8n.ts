/**
 * Every reliance on n8n beyond its documented types, one function each: what n8n does, since which version, what
 * happens should it stop, and which test notices. Its record of entries has a room of its own: `record/entries.ts`.
 */
import {
	NodeApiError,
	NodeOperationError,
	fromParameter,
	webhookDescriptionFields,
} from 'n8n-workflow';
import type {
	IExecuteFunctions,
	IHookFunctions,
	IHttpRequestOptions,
	INode,
	INodeExecutionData,
	ITriggerFunctions,
	IWebhookDescription,
	IWebhookFunctions,
	WebhookResponseMode,
} from 'n8n-workflow';
import type { Account } from './account';
import { credentialType } from './account';
import { unlessAborted } from './elapsed';
import { InvalidValueError } from './invalidValue';

/** The oldest n8n that this package was run on: docs/compatibility.md, which a test compares with this. */
export const oldestN8n = '2.39.10';

/** A property of whatever n8n or the network hands over. */
export function property(value: unknown, name: string | symbol): unknown {
	return Reflect.get(Object(value) as object, name);
}

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
 * context that it is called on, which is that of the execution: a payment in flight would be cut off by Stop, and how
 * it ended would never be known. n8n 1.x takes the signal of the request. Should both stop, an attempt still ends by
 * the clock, but its connection stays open.
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
 * The errors that came of a request, outermost first: n8n wraps them, and their codes stand somewhere in the chain of
 * causes, or in a list with one for each address of the host (all versions). Should that stop, each failed request may
 * have been sent.
 * Noticed by: `test/engine/service-answers.test.mts`, "is sent again when it was never sent".
 */
export function errorsIn(error: unknown): unknown[] {
	const errors: unknown[] = [];
	for (let cause = error; isError(cause) && errors.length < 8; cause = property(cause, 'cause'))
		errors.push(cause);
	return errors;
}

/** Not only of this realm: Node's own errors are not always. */
const isError = (value: unknown): boolean => typeof value === 'object' && value !== null;

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

/** What n8n's request helpers give (all versions), when it is asked for with its status. Only that of credential tests has a socket. */
export const answeredWith = (response: unknown): Answered => ({
	status: Number(property(response, 'statusCode')),
	headers: property(response, 'headers'),
	body: property(response, 'body'),
	socket: property(property(response, 'request'), 'socket'),
});

/**
 * The answer in an error, which n8n makes of the statuses that a request does not ignore (all versions); there alone
 * the socket can be seen. Should that stop: there is none, so a payment whose answer was such a status is unknown, as
 * before, without the service's reason.
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

/** By symbol, which survives an update of this package between two tries, and which n8n does not store. */
const triesSymbol: unique symbol = Symbol.for('n8n-nodes-etb-wallet.tries.1');

/**
 * What the tries of a node run did, by item index; what is added is there for the next try. n8n's "Retry On Fail" runs
 * the whole node again with the same execute data and the same item objects (all versions). Names and numbers would not
 * do: the calls of an AI tool share the execute data, and their tries differ in run index. Should n8n copy them, a
 * retry without references would pay again.
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
 * The parameter, or the option as `options.name`, as it is saved, with its expression (all versions). Should n8n hand out
 * evaluated values, expressions are read once for all items.
 * Noticed by: `test/engine/items.test.mts`.
 */
export function savedParameter(context: IExecuteFunctions, name: string): unknown {
	return name.split('.').reduce<unknown>(property, context.getNode().parameters);
}

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
 * versions). Should that change, as above. Noticed by: `test/engine/items.test.mts`.
 */
export function hasExpression(saved: unknown): boolean {
	if (typeof saved === 'string') return saved.startsWith('=');
	return typeof saved === 'object' && saved !== null && Object.values(saved).some(hasExpression);
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

/** The n8n error for a failed call, with exactly this message, as above. */
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

interface ItemError {
	message: string;
	description?: string;
	httpCode?: string;
	[detail: string]: string | number | undefined;
}

/**
 * An item for the error output (all versions). Its single key is what makes n8n send it there, and the object form of
 * `pairedItem` is what makes n8n add the fields of the input item. Should that stop, it leaves as a normal item, with
 * its `error`.
 * Noticed by: `test/engine/bad-input.test.mts`.
 */
export function errorItem(error: ItemError, itemIndex: number): INodeExecutionData {
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
 * Puts an error of a published trigger where a person looks, under Executions, and starts the error workflow. n8n calls
 * `trigger` of a node that has it for a published workflow, beside `create`, in the process that publishes (2.x), and
 * its context has this. Should it stop: n8n's log has the error.
 * Noticed by: `test/live/n8n/events.live.mts`, "n8n starts while the service does not answer".
 */
export function saveFailedExecution(context: ITriggerFunctions, error: NodeOperationError): void {
	if (typeof context.saveFailedExecution === 'function') context.saveFailedExecution(error);
}

/**
 * Whether n8n publishes by itself what was published before: it starts, or another of its processes takes the lead.
 * It does so only for triggers that it keeps in memory (2.x), which our `trigger` method makes ours. Modes by name, 2.x;
 * 1.x has `init` too. Should they be renamed: a service that does not answer while n8n starts leaves the workflow
 * unpublished, with its reason.
 * Noticed by: `test/live/n8n/events.live.mts`, "n8n starts while the service does not answer".
 */
export const isStarting = (context: IHookFunctions): boolean =>
	['init', 'leadershipChange'].includes(context.getActivationMode());

/**
 * Whether n8n puts a changed trigger in the place of a published one, which it has ended a moment ago. Mode by name
 * (all versions). Should it be renamed: a service that does not answer at that moment leaves the workflow without its
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
 * Tells the status with which n8n answers: it tells a node nothing about how its execution went, but answers the
 * request accordingly, by `response.end` (all versions). Not the event `finish`: it does not come when the service has
 * hung up in the meantime. Should `end` be missing: told at once that it failed, so that this process remembers
 * nothing, and only the record in n8n's database tells duplicates.
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
 * An item that carries the key of its delivery. n8n keeps fields of an item that it does not know (all versions), in
 * queue mode through its database too, and calls `execute` of a trigger that has it with what `webhook` returned.
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

type Ending = 'succeeded' | 'failed' | 'stopped';

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
	ended: (ending: Ending) => Promise<void>,
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
 * Keeps "Always Output Data" from putting an empty item on the first output when the trigger gives out nothing there: it
 * would run the workflow for an event that never was. n8n reads the setting, after the node, from the node of this
 * execution (all versions). Should that stop: with that setting on, a duplicate runs the workflow with an empty item.
 * Noticed by: `test/engine/trigger.test.mts`, "Always Output Data".
 */
export function neverOutputEmptyItem(context: IExecuteFunctions): void {
	const node: unknown = property(context, 'node');
	if (typeof node === 'object' && node !== null) Reflect.set(node, 'alwaysOutputData', false);
}
