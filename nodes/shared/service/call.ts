/** Calls an endpoint of the service: with retries where they are safe, a flat output, and words for what went wrong. */
import type {
	IDataObject,
	IExecuteFunctions,
	IHookFunctions,
	IHttpRequestOptions,
} from 'n8n-workflow';
import type { Account } from '../account';
import { requestUntil } from '../n8n';
import { isObject } from '../unknownValues';
import { hasFields } from './answer';
import { makeAttempt, unreadableAnswer, type Attempt } from './attempt';
import { describeFailure, type Remedies, type ServiceFailure } from './failure';
import { attemptWithRetries, type Judged } from './retries';
import { hideSecrets } from './secrets';

/** One call of an endpoint of the service document §4. */
export interface ServiceRequest {
	method: 'GET' | 'PUT' | 'POST';
	/** Below the partners prefix, such as `/balance`. */
	path: string;
	/** Whether the service may be asked twice: doing it again changes nothing. */
	mayRepeat: boolean;
	body?: IDataObject;
	/** Output of endpoints 4 and 5, whose answers the service document does not show. The answer's fields are added to it. */
	confirms?: IDataObject;
	/** A field that the service document (§4) shows in the answer: without it nobody knows what the endpoint did. */
	answersWith?: string;
	/** The answer says by `success` whether it was done (service document §2, Disbursement result). */
	saysSuccess?: true;
	/** Statuses of a refusal that, at this endpoint, may speak of an earlier request. */
	undecided?: readonly number[];
	/** What to do about statuses that mean something more at this endpoint. */
	remedies?: Remedies;
}

/** Endpoint 1 of the service document §4. */
export const balanceRequest: ServiceRequest = {
	method: 'GET',
	path: '/balance',
	mayRepeat: true,
	answersWith: 'treasuryBalance',
};

/** Endpoint 4 of the service document §4. */
export function webhookRequest(url: string): ServiceRequest {
	const body = { webhookUrl: url };
	return { method: 'PUT', path: '/webhook', mayRepeat: true, body, confirms: body };
}

export type ServiceResult =
	| { ok: true; output: IDataObject }
	| { ok: false; failure: ServiceFailure };

interface CallLimits {
	/** Of each attempt, from its start to the last byte of the answer. */
	timeoutMs?: number;
	/** How many ms an attempt may take if it begins now; 0 or less: it is too late. */
	mayTakeMs?: () => number;
	/** Nothing begins after it. It also cuts off what is under way, unless `finishes`. */
	stop?: AbortSignal;
	/** Whether a request under way goes on after `stop`, so that it becomes known how it ended. */
	finishes?: boolean;
}

/** Shorter secrets are not hidden in answers, where they could be a part of an identifier. */
const shortestInAnswers = 12;

/**
 * Calls an endpoint, with the retries that it allows. Whatever the service or the network does, it does not throw.
 * @returns flat output, whether or not the service wraps it in `data`; or why there is none
 */
export async function callService(
	context: IExecuteFunctions | IHookFunctions,
	account: Account,
	request: ServiceRequest,
	{ timeoutMs = 60_000, mayTakeMs = () => Infinity, stop, finishes = false }: CallLimits = {},
): Promise<ServiceResult> {
	const httpRequest: IHttpRequestOptions = {
		method: request.method,
		url: account.url.href + request.path,
		headers: {
			Accept: 'application/json',
			...(request.body && { 'Content-Type': 'application/json' }),
		},
		body: request.body && JSON.stringify(request.body),
		encoding: 'stream',
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		// Following would hand the API key to whatever host the answer names.
		disableFollowRedirect: true,
	};
	const send = async (signal: AbortSignal) =>
		await requestUntil(context, account, httpRequest, signal);
	const cutOff = finishes ? undefined : stop;
	const judged = await attemptWithRetries(
		request,
		async () => await makeAttempt(send, Math.min(timeoutMs, mayTakeMs()), cutOff),
		mayTakeMs,
		stop,
	);
	return resultOf(account, request, judged);
}

/** What a call came to. Whatever the service answered, it does not throw. */
export function resultOf(
	account: Account,
	request: ServiceRequest,
	{ last, judgement, attempts }: Judged,
): ServiceResult {
	try {
		if (judgement.verdict === 'done' && last.kind === 'answer') {
			const fields = flatFields(last.body, (text) => hideSecrets(text, account, shortestInAnswers));
			return { ok: true, output: { ...request.confirms, ...fields } };
		}
		if (judgement.verdict !== 'done') {
			const failure = describeFailure(last, judgement, account, attempts, request.remedies);
			return { ok: false, failure };
		}
	} catch {
		// The answer came, but cannot be read. A payment is then unknown.
	}
	const unreadable: Attempt = { kind: 'noAnswer', code: unreadableAnswer, sent: true };
	const verdict = request.mayRepeat ? 'notDone' : 'unknown';
	const failure = describeFailure(unreadable, { verdict, code: 'unclear' }, account, attempts);
	return { ok: false, failure };
}

/** Deeper bodies are not read: n8n, or a node of the workflow, may go through them by recursion. */
const maxDepth = 64;

/** The fields of a body, with those of a `data` object lifted to the top. @throws {Error} for a body that is too deep */
function flatFields(body: unknown, hide: (text: string) => string): IDataObject {
	const fields = hidden(body, hide, maxDepth);
	if (!hasFields(fields)) return {};
	const { data, ...rest } = fields;
	return hasFields(data) ? { ...rest, ...data } : fields;
}

function hidden(value: unknown, hide: (text: string) => string, levels: number): unknown {
	if (typeof value === 'string') return hide(value);
	if (typeof value === 'number')
		return hide(String(value)) === String(value) ? value : hide(String(value));
	if (!isObject(value)) return value;
	if (levels === 0) throw new Error('The answer has too many levels');
	if (Array.isArray(value)) return value.map((entry) => hidden(entry, hide, levels - 1));
	return Object.fromEntries(
		Object.entries(value).map(([name, entry]) => [hide(name), hidden(entry, hide, levels - 1)]),
	);
}
