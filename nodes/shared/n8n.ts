/**
 * The behaviour of n8n that this package relies on beyond n8n's documented types. Comments describe each
 * behaviour, the consequence if n8n changes it, and, if there is one, the test that notices. Each version of n8n
 * that was tried (docs/compatibility.md) behaves so, unless a version is named.
 * `nodes/EtbWalletTrigger/n8nTrigger.ts` describes it for the trigger, `record/marks.ts` for n8n's deduplication,
 * which holds our record, `runMemory.ts` for *Retry On Fail*, and `nodeErrors.ts` for errors.
 */
import {
	NodeApiError,
	type IDataObject,
	type IExecuteFunctions,
	type IHookFunctions,
	type IHttpRequestOptions,
	type INodeExecutionData,
} from 'n8n-workflow';
import { credentialType, type Account } from './account';
import { isObject, property } from './unknownValues';

/**
 * Sends a request with the credential, and ends it when `signal` is aborted. By itself n8n ends a request
 * when the execution is stopped. That would interrupt a payment in flight, and its result would be unknown,
 * so the context that n8n gets here has our signal instead. If n8n no longer reads it, an attempt still ends
 * at its timeout, but its connection stays open.
 * Noticed by: `test/engine/hostile-service.test.mts`, and `test/live/n8n/payments.live.mts` when it stops an
 * execution.
 * @throws what n8n's request helper throws when no response comes
 */
export async function requestUntil(
	context: IExecuteFunctions | IHookFunctions,
	account: Account,
	httpRequest: IHttpRequestOptions,
	signal: AbortSignal,
): Promise<RawResponse> {
	const contextWithSignal = Object.create(context, {
		getExecutionCancelSignal: { value: () => signal },
	}) as typeof context;
	const response: unknown = await context.helpers.httpRequestWithAuthentication.call(
		contextWithSignal,
		credentialType,
		// Each attempt gets a copy, because n8n's helper writes into it.
		{ ...httpRequest },
		// Without this n8n loads and decrypts the credential for each request.
		{ credentialsDecrypted: account.credentialsDecrypted },
	);
	return rawResponse(response);
}

/**
 * An error of a request and its causes, the outermost first. n8n wraps errors, and any of them can have the
 * code. If n8n no longer keeps the cause, each request without a response counts as sent.
 * Noticed by: `test/live/n8n/no-response.live.mts`, and `test/engine/certificates.test.mts`.
 */
export function errorsIn(error: unknown): unknown[] {
	const errors: unknown[] = [];
	// `instanceof Error` can be false for errors of Node itself, so any object counts.
	for (let cause = error; isObject(cause) && errors.length < 8; cause = causeOf(cause))
		errors.push(cause);
	return errors;
}

/**
 * The cause of an error. Before 2.35 n8n's own error has no cause, but has the code and the message of the
 * cause. The message of a failed system call begins with the name of the call: "connect EHOSTUNREACH
 * 10.0.0.1:443". If n8n changes that message, a payment for which the network has no route is unknown.
 * Noticed by: `test/live/n8n/no-response.live.mts`, in each n8n of `npm run test:versions`.
 */
function causeOf(error: unknown): unknown {
	if (!(error instanceof NodeApiError) || error.cause !== undefined)
		return property(error, 'cause');
	const [message] = error.messages;
	return { code: error.httpCode, message, syscall: message?.split(' ', 1)[0] };
}

/** Beginnings of messages of n8n's protection of private addresses (2.12 and newer) and of its proxy agent. */
const messagesBeforeSending = [
	'The request was blocked because ',
	'Proxy connection ended before receiving CONNECT response',
];

/**
 * Whether n8n ended a request before it connected to the service. If n8n rewords the message, such a payment
 * is unknown. Noticed by: `test/live/n8n/no-response.live.mts`, `test/engine/proxy.test.mts`.
 */
export function isEndedBeforeSending(error: unknown): boolean {
	const message = String(property(error, 'message'));
	return messagesBeforeSending.some((beginning) => message.startsWith(beginning));
}

/** A response as n8n hands it over. */
export interface RawResponse {
	status: number;
	headers: unknown;
	body: unknown;
}

/**
 * The response of n8n's request helpers, which are told to treat no status as an error. If `statusCode` is
 * missing, each payment is unknown.
 * Noticed by: `test/engine/contract/endpoints.test.mts`.
 */
export const rawResponse = (response: unknown): RawResponse => ({
	status: Number(property(response, 'statusCode')),
	headers: property(response, 'headers'),
	body: property(response, 'body'),
});

/**
 * A parameter as n8n saved it, with its expression. If n8n gives the evaluated value instead, an expression
 * is evaluated once for all items.
 * Noticed by: `test/engine/items.test.mts`.
 */
export const savedParameter = (context: IExecuteFunctions, name: string): unknown =>
	property(context.getNode().parameters, name);

/**
 * Whether a person started this execution in the editor, and it has not waited since (a Wait node or a form).
 * Sub-workflows, schedules, webhooks, "Retry execution" and evaluations have other modes. An execution that
 * continues after a wait has the id with which n8n restarted it. If n8n renames the mode, nothing can be
 * settled from the editor. If it renames the id, the fields of a person from before the wait still count.
 * Noticed by: `test/live/n8n/settling.live.mts`.
 */
export const isStartedInEditor = (context: IExecuteFunctions): boolean =>
	context.getMode() === 'manual' &&
	property(property(context, 'additionalData'), 'restartExecutionId') === undefined;

/**
 * Whether the node runs for the first time in this execution. In a loop, or behind two branches, it runs again with the
 * same fields. If n8n renames the number, no run is the first, and each statement counts once.
 * Noticed by: `test/live/n8n/settling.live.mts`.
 */
export const isFirstRun = (context: IExecuteFunctions): boolean =>
	property(context.getWorkflowDataProxy(0), '$runIndex') === 0;

/**
 * Whether the node is a tool of an AI agent. n8n makes a separate node type for a tool, whose name ends with
 * `Tool`. If n8n renames it, a model may settle.
 * Noticed by: `test/engine/tool.test.mts`.
 */
export const isTool = (context: IExecuteFunctions): boolean =>
	context.getNode().type.endsWith('Tool');

/**
 * The mode in which the execution was started. For a sub-workflow it is the mode of the outermost execution
 * (2.12 and newer). Without this field, as before 2.12, a sub-workflow pays even in an evaluation, and
 * settles even in "Retry execution".
 * Noticed by: `test/live/n8n/settling.live.mts`.
 */
const firstMode = (context: IExecuteFunctions): unknown =>
	property(property(context, 'additionalData'), 'rootExecutionMode') ?? context.getMode();

/**
 * Whether n8n's "Retry execution" repeats this execution, or the execution that called it, with the items of
 * the node that failed. If n8n renames the mode, such an execution may settle a second time.
 * Noticed by: `test/live/n8n/settling.live.mts`.
 */
export const isRetryExecution = (context: IExecuteFunctions): boolean =>
	firstMode(context) === 'retry';

/**
 * Whether "On Error" sends a failed item to the error output, and not among the other items. If n8n renames
 * the setting, the item goes among the others.
 * Noticed by: `test/engine/items.test.mts`.
 */
export const hasErrorOutput = (context: IExecuteFunctions): boolean =>
	context.getNode().onError === 'continueErrorOutput';

/**
 * Whether a schedule or a polling trigger started this execution, or the execution that called it, so that no
 * person is there. A form or a webhook has another mode. If n8n renames the mode, a period that somebody left
 * in a scheduled workflow is accepted.
 * Noticed by: `test/live/n8n/payroll.live.mts`.
 */
export const isStartedBySchedule = (context: IExecuteFunctions): boolean =>
	firstMode(context) === 'trigger';

/**
 * Whether n8n evaluates the workflow, in mode `evaluation` or with invented responses for every request. The
 * code for invented responses is in n8n since 2.17. The first version that was tried and could run a workflow
 * with them is 2.37.5. Even in an evaluation n8n's deduplication stores real marks. If n8n renames these, an
 * invented payment is recorded as paid, and the person is never paid.
 * Noticed by: `test/live/n8n/settling.live.mts`.
 */
export const isSimulation = (context: IExecuteFunctions): boolean =>
	firstMode(context) === 'evaluation' ||
	property(property(context, 'additionalData'), 'evalLlmMockHandler') !== undefined;

/**
 * Whether a saved parameter has an expression anywhere in it: a text that begins with `=`. If n8n marks
 * expressions in another way, an expression is evaluated once for all items.
 * Noticed by: `test/engine/items.test.mts`.
 */
export function hasExpression(saved: unknown): boolean {
	if (typeof saved === 'string') return saved.startsWith('=');
	return isObject(saved) && Object.values(saved).some(hasExpression);
}

/**
 * Whether a saved parameter certainly has one value for all items: it has no expression, or one that reads only the first,
 * the last or all items of named nodes, or facts about the execution.
 * Noticed by: `test/engine/disbursement.test.mts`, "a mode by expression".
 */
export function isSameForAllItems(saved: unknown): boolean {
	if (isObject(saved)) return Object.values(saved).every(isSameForAllItems);
	if (!hasExpression(saved)) return true;
	const ofAllItems =
		/\$\((['"])[^'"\\]*\1\)\.(?:first\(|last\(|all\(|isExecuted\b)|\$(?:execution|workflow|vars|now|today)\b|\$\{/g;
	return !String(saved).replace(ofAllItems, '').includes('$');
}

/**
 * Whether `$json` of an expression is the item itself. In a tool of an AI agent `$json` is the agent's item,
 * and the items are the model's arguments. If n8n no longer has the data proxy, it evaluates all expressions,
 * which is slower.
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
 * Makes an item for the error output. n8n sends an item whose only key is `error` there, and adds the fields
 * of the input item to it, because `pairedItem` is an object. If n8n changes that, the item goes to the
 * normal output, with its `error`.
 * Noticed by: `test/engine/bad-input.test.mts`.
 */
export function errorItem(error: IDataObject, itemIndex: number): INodeExecutionData {
	return { json: { error: { ...error } }, pairedItem: { item: itemIndex } };
}

// The functions below are short forms of documented calls.

/** Whether a person or n8n stopped the execution. "Retry On Fail" starts another try even then. */
export const isStopped = (context: IExecuteFunctions): boolean =>
	context.getExecutionCancelSignal()?.aborted === true;

/** Shows a hint beside the output. */
export function addHint(context: IExecuteFunctions, message: string): void {
	context.addExecutionHints({ message, location: 'outputPane' });
}

/** The workflow and node that a log line names. */
export function describeExecution(context: IExecuteFunctions): string {
	const { id, name } = context.getWorkflow();
	return `Workflow ${name ?? ''} (${id ?? 'not saved'}), node ${context.getNode().name}, execution ${context.getExecutionId()}`;
}
