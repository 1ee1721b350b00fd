/** Calls an endpoint of the service: with retries where they are safe, a flat output, and words for what went wrong. */
import type {
	IDataObject,
	IExecuteFunctions,
	IHookFunctions,
	IHttpRequestOptions,
} from 'n8n-workflow';
import type { Account } from '../account';
import { isAbsent } from '../invalidValue';
import { requestUntil } from '../n8n';
import { isObject } from '../unknown';
import { makeAttempt, unreadableAnswer, type Attempt, type Requests } from './attempt';
import type { Remedies, ServiceFailure } from './failure';
import { describeDisagreement, describeFailure, describeUnreadable } from './failure';
import { attemptWithRetries, type Judged } from './retries';
import { hideSecrets } from './secrets';
import { disagreement, isPlain } from './success';

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
	/** Whether the caller reads from the answer if it was done, as for payments. */
	isJudgedByCaller?: true;
	/** A field that the service document (§4) shows in the answer: without it nobody knows what the endpoint did. */
	answersWith?: string;
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

/** `body` is what the answer's `text` is when it is JSON. */
export type ServiceResult =
	| { ok: true; output: IDataObject; body: unknown; text: string }
	| { ok: false; failure: ServiceFailure };

interface CallLimits {
	/** Of each attempt, from its start to the last byte of the answer. */
	timeoutMs?: number;
	/** For how many more ms an attempt may begin or go on. */
	msLeft?: () => number;
	/** Nothing begins after it. It also cuts off what is under way, unless `finishes`. */
	stop?: AbortSignal;
	/** Whether a request under way goes on after `stop`, so that it becomes known how it ended. */
	finishes?: boolean;
}

/** Statuses with which a proxy answers that does not connect to the service. n8n has to throw them: see `requestUntil`. */
const proxyStatuses = [403, 407, 500, 502, 503, 504];

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
	{ timeoutMs = 60_000, msLeft = () => Infinity, stop, finishes = false }: CallLimits = {},
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
		ignoreHttpStatusErrors: { ignore: true, except: proxyStatuses },
		// Following would hand the API key to whatever host the answer names.
		disableFollowRedirect: true,
	};
	const requests: Requests = {
		look: async (url, abortSignal): Promise<unknown> =>
			await context.helpers.httpRequest({ url, disableFollowRedirect: true, abortSignal }),
		send: async (signal) => await requestUntil(context, account, httpRequest, signal),
	};
	const cutOff = finishes ? undefined : stop;
	const judged = await attemptWithRetries(
		request.mayRepeat,
		async () => await makeAttempt(account.url, requests, Math.min(timeoutMs, msLeft()), cutOff),
		msLeft,
		stop,
	);
	return resultOf(account, request, judged);
}

/** What a call came to. Whatever the service answered, it does not throw. */
export function resultOf(
	account: Account,
	request: ServiceRequest,
	{ last, verdict, attempts }: Judged,
): ServiceResult {
	const failed = (failure: ServiceFailure): ServiceResult => ({ ok: false, failure });
	const ifUnusable = request.mayRepeat ? 'notDone' : 'unknown';
	try {
		if (verdict !== 'done' || last.kind !== 'answer') {
			const outcome = verdict === 'unknown' ? 'unknown' : 'notDone';
			return failed(describeFailure(last, account, outcome, attempts, request.remedies));
		}
		const { body, text } = last;
		const fields = flatFields(body, (shown) => hideSecrets(shown, account, shortestInAnswers));
		const confirms = request.confirms !== undefined && (body !== undefined || isPlain(last));
		if (fields === undefined && !confirms)
			return failed(describeUnreadable(last, account, ifUnusable));
		// What was set or made counts as done only if the answer agrees.
		const sent = request.method === 'PUT' ? request.body : {};
		const isBelieved = request.method === 'GET' || request.isJudgedByCaller === true;
		const disagrees = isBelieved ? undefined : disagreement(last, sent);
		if (disagrees !== undefined)
			return failed(describeDisagreement(last, account, ifUnusable, disagrees));
		const { answersWith } = request;
		if (answersWith !== undefined && isAbsent(fields?.[answersWith]))
			return failed(describeUnreadable(last, account, ifUnusable, answersWith));
		return { ok: true, output: { ...request.confirms, ...fields }, body, text };
	} catch {
		// An answer came, and cannot be read: of a payment that means unknown, and not an error that hides it.
		const unreadable: Attempt = { kind: 'noAnswer', code: unreadableAnswer, sent: true };
		return failed(describeFailure(unreadable, account, ifUnusable, attempts));
	}
}

/** Deeper bodies are not read: n8n, or a node of the workflow, may go through them by recursion. */
const deepest = 64;

/** The fields of a body, with those of a `data` object lifted to the top. Undefined when it is no JSON object. */
export function flatFields(body: unknown, hide: (text: string) => string): IDataObject | undefined {
	if (isDeeper(body, deepest)) return undefined;
	const fields = hidden(body, hide);
	if (!hasFields(fields)) return undefined;
	const { data, ...rest } = fields;
	return hasFields(data) ? { ...rest, ...data } : fields;
}

function isDeeper(value: unknown, levels: number): boolean {
	if (!isObject(value)) return false;
	return levels === 0 || Object.values(value).some((entry) => isDeeper(entry, levels - 1));
}

function hidden(value: unknown, hide: (text: string) => string): unknown {
	if (typeof value === 'string') return hide(value);
	if (typeof value === 'number')
		return hide(String(value)) === String(value) ? value : hide(String(value));
	if (Array.isArray(value)) return value.map((entry) => hidden(entry, hide));
	if (!isObject(value)) return value;
	return Object.fromEntries(
		Object.entries(value).map(([name, entry]) => [hide(name), hidden(entry, hide)]),
	);
}

const hasFields = (body: unknown): body is IDataObject => isObject(body) && !Array.isArray(body);
