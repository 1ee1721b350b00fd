/**
 * Every reliance on n8n beyond its documented types, one function each: what n8n does, since which version, what
 * happens should it stop, and which test notices.
 */
import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import type { IExecuteFunctions, IHookFunctions, IHttpRequestOptions, INode } from 'n8n-workflow';
import type { Account } from './account';
import { credentialType } from './account';
import { InvalidValueError } from './invalidValue';

/** A property of whatever n8n or the network hands over. */
export function property(value: unknown, name: string): unknown {
	return Reflect.get(Object(value) as object, name);
}

/**
 * Sends a request with the credential, until `signal` is aborted. n8n (2.x) aborts a request by the signal of the
 * context that it is called on, which is that of the execution: a payment in flight would be cut off by Stop, and how
 * it ended would never be known. n8n 1.x takes the signal of the options. Should both stop, an attempt still ends by
 * the clock, but its connection stays open. Noticed by test/engine/clock and test/real/payments (Stop).
 */
export async function requestUntil(
	context: IExecuteFunctions | IHookFunctions,
	account: Account,
	options: IHttpRequestOptions,
	signal: AbortSignal,
): Promise<unknown> {
	const untilAborted = Object.create(context, {
		getExecutionCancelSignal: { value: () => signal },
	}) as typeof context;
	return await context.helpers.httpRequestWithAuthentication.call(
		untilAborted,
		credentialType,
		// A copy for each attempt, because n8n's helper writes into the options.
		{ ...options, abortSignal: signal },
		// Else n8n loads and decrypts the credential for each request.
		{ credentialsDecrypted: account.credentialsDecrypted },
	);
}

/** By symbol, which survives an update of this package between two tries, and which n8n does not store. */
const triesSymbol: unique symbol = Symbol.for('n8n-nodes-etb-wallet.tries.1');

/**
 * What the tries of a node run did, by item index; what is added is there for the next try. n8n's "Retry On Fail" runs
 * the whole node again with the same execute data and the same item objects (all versions). Names and numbers would not
 * do: the calls of an AI tool share the execute data, and their tries differ in run index. Should n8n copy them, a
 * retry without references would pay again. Noticed by test/engine/disbursement (Retry On Fail).
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
 * The parameter, or the option as `options.name`, as it is saved, with its expression (all versions). Should n8n hand out evaluated values, expressions
 * are read once for all items. Noticed by test/engine/items.
 */
export function savedParameter(context: IExecuteFunctions, name: string): unknown {
	return name.split('.').reduce<unknown>(property, context.getNode().parameters);
}

/** Whether a saved parameter has an expression anywhere in it: n8n marks one with `=` at the beginning of a text. */
export function hasExpression(saved: unknown): boolean {
	if (typeof saved === 'string') return saved.startsWith('=');
	return typeof saved === 'object' && saved !== null && Object.values(saved).some(hasExpression);
}

/**
 * Whether `$json` of an expression is the item itself. It is not when an AI agent calls the node as a tool: the
 * items are the model's arguments, while `$json` is the agent's item. Should n8n no longer tell, expressions are
 * evaluated by n8n, which is slower. Noticed by test/engine/tool.
 */
export function isItemInExpressions(context: IExecuteFunctions): boolean {
	try {
		return context.getWorkflowDataProxy(0).$json === context.getInputData()[0]?.json;
	} catch {
		return false;
	}
}

const entriesHelpers = [
	'checkProcessedAndRecord',
	'removeProcessed',
	'clearAllProcessedItems',
	'getProcessedDataCount',
] as const;

/**
 * The helpers that keep entries for a node in n8n's database (1.64 and newer).
 * @throws {InvalidValueError} when this n8n lacks one; asked for before anything is sent
 */
export function entriesHelpersOf({
	helpers,
}: IExecuteFunctions): Pick<IExecuteFunctions['helpers'], (typeof entriesHelpers)[number]> {
	const missing = entriesHelpers.find((name) => typeof helpers[name] !== 'function');
	if (missing === undefined) return helpers;
	throw new InvalidValueError(
		'This version of n8n cannot keep references',
		'Update n8n to 1.64 or newer, or leave Reference empty: then nothing protects from paying twice.',
	);
}

/** Shows a remark beside the output (1.79 and newer). Before that there is none; the items tell the same. */
export function addHint(context: IExecuteFunctions, message: string): void {
	if (typeof context.addExecutionHints === 'function')
		context.addExecutionHints({ message, location: 'outputPane' });
}

/**
 * The n8n error with exactly this message. n8n (all versions) puts a text of its own in its place when a system error
 * code is anywhere in it, such as "EPERM" in "housePermit". Noticed by test/engine/disbursement.
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
