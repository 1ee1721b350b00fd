/**
 * The behaviour of n8n that is relied on beyond its documented types, one function each: how n8n behaves, the consequence
 * should it stop, and the test that notices. It is so in each n8n that was tried (docs/compatibility.md), unless a version is
 * named. `n8nTrigger.ts` has that of the trigger, and `record/marks.ts` that of n8n's record.
 */
import {
	NodeApiError,
	NodeOperationError,
	type IDataObject,
	type IExecuteFunctions,
	type IHookFunctions,
	type IHttpRequestOptions,
	type INode,
	type INodeExecutionData,
} from 'n8n-workflow';
import { credentialType, type Account } from './account';
import { isObject, property } from './unknownValues';

/**
 * Sends a request with the credential, until `signal` is aborted. n8n aborts it by the signal of the execution: Stop would
 * cut off a payment in flight, and nobody would know how it ended. So the context says that its signal is ours. Should
 * that stop, an attempt ends by the clock, but its connection stays open.
 * Noticed by: `test/engine/hostile-service.test.mts`, and `test/live/n8n/payments.live.mts` when it stops an execution.
 */
export async function requestUntil(
	context: IExecuteFunctions | IHookFunctions,
	account: Account,
	httpRequest: IHttpRequestOptions,
	signal: AbortSignal,
): Promise<RawAnswer> {
	const untilAborted = Object.create(context, {
		getExecutionCancelSignal: { value: () => signal },
	}) as typeof context;
	const response: unknown = await context.helpers.httpRequestWithAuthentication.call(
		untilAborted,
		credentialType,
		// A copy for each attempt, because n8n's helper writes into it.
		{ ...httpRequest },
		// So n8n does not load and decrypt the credential for each request.
		{ credentialsDecrypted: account.credentialsDecrypted },
	);
	return rawAnswer(response);
}

/**
 * An error of a request and its causes, outermost first: n8n wraps errors, and the code stands somewhere in the chain.
 * Should that stop, each request without an answer counts as sent.
 * Noticed by: `test/live/n8n/no-answer.live.mts`, and `test/engine/certificates.test.mts`.
 */
export function errorsIn(error: unknown): unknown[] {
	const errors: unknown[] = [];
	// `instanceof Error` can be false for errors of Node itself, so any object counts.
	for (let cause = error; isObject(cause) && errors.length < 8; cause = causeOf(cause))
		errors.push(cause);
	return errors;
}

/**
 * Before 2.35 the error that n8n makes of another one has no cause, only its code and its message. That of a system call
 * begins with the name of the call: "connect EHOSTUNREACH 10.0.0.1:443". Should n8n change that message: a network to
 * which nothing leads makes a payment unknown.
 * Noticed by: `test/live/n8n/no-answer.live.mts`, in each n8n of `npm run test:versions`.
 */
function causeOf(error: unknown): unknown {
	if (!(error instanceof NodeApiError) || error.cause !== undefined)
		return property(error, 'cause');
	const [message] = error.messages;
	return { code: error.httpCode, message, syscall: message?.split(' ', 1)[0] };
}

/**
 * Whether n8n's own protection of private addresses (2.12 and newer) refused a request, before it connected: by the
 * message, which all of them have. Should it be reworded: such a payment is unknown.
 * Noticed by: `test/live/n8n/no-answer.live.mts`.
 */
export function isBlockedByN8n(error: unknown): boolean {
	const message = property(error, 'message');
	return typeof message === 'string' && message.startsWith('The request was blocked because ');
}

/** An answer as n8n hands it over. */
export interface RawAnswer {
	status: number;
	headers: unknown;
	body: unknown;
}

/**
 * The answer that n8n's request helpers give, if they are told to throw at no status. Should `statusCode` stop: each payment
 * is unknown.
 * Noticed by: `test/unit/retries.test.mts`.
 */
export const rawAnswer = (response: unknown): RawAnswer => ({
	status: Number(property(response, 'statusCode')),
	headers: property(response, 'headers'),
	body: property(response, 'body'),
});

/** A symbol: an update of this package between two tries finds it again, and n8n does not store it. */
const triesSymbol: unique symbol = Symbol.for('n8n-nodes-etb-wallet.tries.1');

/** The work of the tries of a node run; an entry that is added is there for the next try. */
export interface Tries<Done> {
	/** By item index, what must not be done again. */
	done: Map<number, Done>;
	/** The error of an earlier try whose mode was Settle Unknown. */
	failure?: { message: string; remedy: string };
}

/**
 * The work of the earlier tries of this node run. n8n's "Retry On Fail" runs the node again with the same execute data and
 * item objects. Both are needed: the calls of an AI tool share the execute data alone. Should n8n copy them, a retry tells
 * what an earlier try paid as paid before, without its transaction.
 * Noticed by: `test/engine/disbursement.test.mts`, "Retry On Fail".
 */
export function triesOf<Done>(context: IExecuteFunctions): Tries<Done> {
	const items = context.getInputData();
	const runs = runsOf<Done>(context.getExecuteData());
	const key: object = items[0]?.json ?? items;
	const tries = runs.get(key) ?? { done: new Map<number, Done>() };
	runs.set(key, tries);
	return tries;
}

type Runs<Done> = WeakMap<object, Tries<Done>>;

function runsOf<Done>(executeData: object): Runs<Done> {
	const { [triesSymbol]: known }: { [triesSymbol]?: Runs<Done> } = executeData;
	if (known !== undefined) return known;
	const value: Runs<Done> = new WeakMap();
	Object.defineProperty(executeData, triesSymbol, { value });
	return value;
}

/**
 * A parameter as it is saved, with its expression. Should n8n hand out evaluated values, an expression is evaluated once
 * for all items.
 * Noticed by: `test/engine/items.test.mts`.
 */
export const savedParameter = (context: IExecuteFunctions, name: string): unknown =>
	property(context.getNode().parameters, name);

/**
 * Whether a person started this execution in the editor, and it has not waited since (a Wait node or a form). By its mode:
 * sub-workflows, schedules, webhooks, "Retry execution" and evaluations have others. An execution that goes on after it
 * waited carries the id with which n8n started it again. Should these be renamed: what a person said before the wait
 * counts, or nothing can be settled from the editor any more.
 * Noticed by: `test/live/n8n/settling.live.mts`.
 */
export const isStartedInEditor = (context: IExecuteFunctions): boolean =>
	context.getMode() === 'manual' &&
	property(property(context, 'additionalData'), 'restartExecutionId') === undefined;

/**
 * Whether the node is a tool of an AI agent: n8n makes a node type of its own for it, named so. Should that change: a
 * model may settle. Noticed by: `test/engine/tool.test.mts`.
 */
export const isTool = (context: IExecuteFunctions): boolean =>
	context.getNode().type.endsWith('Tool');

/**
 * How the execution was started, also of a sub-workflow, which has a mode of its own: n8n hands down that of the first
 * execution (2.12 and newer). Before that a sub-workflow pays in an evaluation, and settles in "Retry execution".
 * Noticed by: `test/live/n8n/settling.live.mts`.
 */
const firstMode = (context: IExecuteFunctions): unknown =>
	property(property(context, 'additionalData'), 'rootExecutionMode') ?? context.getMode();

/**
 * Whether n8n's "Retry execution" repeats this execution, or the one that called it: it begins with the items of the node
 * that failed. Should the mode be renamed: it may settle what a person said before.
 * Noticed by: `test/live/n8n/settling.live.mts`.
 */
export const isRetryExecution = (context: IExecuteFunctions): boolean =>
	firstMode(context) === 'retry';

/**
 * Whether a failed item leaves on the error output, and not as a row among the others ("On Error"). Should the name
 * change: it leaves among the others. Noticed by: `test/engine/items.test.mts`.
 */
export const hasErrorOutput = (context: IExecuteFunctions): boolean =>
	context.getNode().onError === 'continueErrorOutput';

/**
 * Whether a schedule or another trigger that asks by itself started this execution, or the one that called it, so that no
 * person is there: a form or a webhook has another mode. Should the mode be renamed: a month that somebody named in a
 * schedule is taken.
 * Noticed by: `test/live/n8n/payroll.live.mts`.
 */
export const isStartedByTrigger = (context: IExecuteFunctions): boolean =>
	firstMode(context) === 'trigger';

/**
 * Whether n8n evaluates the workflow: in mode `evaluation`, or with answers that its AI invents for every request (2.17
 * and newer), while its record of entries is the real one. Should the names change: an invented payment is recorded as
 * paid, and that person is never paid.
 * Noticed by: `test/live/n8n/settling.live.mts`.
 */
export const isSimulation = (context: IExecuteFunctions): boolean =>
	firstMode(context) === 'evaluation' ||
	property(property(context, 'additionalData'), 'evalLlmMockHandler') !== undefined;

/**
 * Whether a saved parameter has an expression anywhere in it: n8n marks one with `=` at the beginning of a text. Should
 * that change, an expression is evaluated once for all items. Noticed by: `test/engine/items.test.mts`.
 */
export function hasExpression(saved: unknown): boolean {
	if (typeof saved === 'string') return saved.startsWith('=');
	return isObject(saved) && Object.values(saved).some(hasExpression);
}

/**
 * Whether `$json` of an expression is the item itself. In a tool of an AI agent it is the agent's item, while the items
 * are the model's arguments. Should n8n no longer tell, n8n evaluates the expressions, which is slower.
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
 * The n8n error with exactly this message. n8n puts a text of its own in its place when a system error code is anywhere in
 * it, such as "EPERM" in "housePermit".
 * Noticed by: `test/engine/disbursement.test.mts`.
 * @param remedy what to do about it, which n8n calls the description
 * @param data what else a workflow that handles the error can read
 */
export function operationError(
	node: INode,
	message: string,
	remedy: string,
	itemIndex?: number,
	data?: Record<string, unknown>,
): NodeOperationError {
	const error = new NodeOperationError(node, message, { description: remedy, itemIndex });
	error.message = message;
	if (data !== undefined) error.context.data = data;
	return error;
}

/** The n8n error for a failed call, with exactly this message. n8n does with it what it does with `operationError`. */
export function apiError(
	node: INode,
	message: string,
	{ remedy: description, httpCode }: { remedy: string; httpCode?: string },
	itemIndex?: number,
): NodeApiError {
	const error = new NodeApiError(node, { message }, { message, description, httpCode, itemIndex });
	error.message = message;
	return error;
}

/**
 * An item for the error output. By its single key n8n sends it there, and by the object form of `pairedItem` n8n adds the
 * fields of the input item. Should that stop, it leaves as a normal item, with its `error`.
 * Noticed by: `test/engine/bad-input.test.mts`.
 */
export function errorItem(error: IDataObject, itemIndex: number): INodeExecutionData {
	return { json: { error: { ...error } }, pairedItem: { item: itemIndex } };
}

// Documented calls of n8n, in short.

/** Whether a person or n8n stopped the execution. "Retry On Fail" begins another try also after that. */
export const isStopped = (context: IExecuteFunctions): boolean =>
	context.getExecutionCancelSignal()?.aborted === true;

/** Shows a remark beside the output. */
export function addHint(context: IExecuteFunctions, message: string): void {
	context.addExecutionHints({ message, location: 'outputPane' });
}
