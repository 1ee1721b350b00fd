import type {
	IDataObject,
	IExecuteFunctions,
	IHookFunctions,
	IHttpRequestOptions,
} from 'n8n-workflow';
import type { Account } from './account';
import { credentialType } from './account';
import type { Attempt } from './retry';
import { attemptWithRetries } from './retry';
import type { Remedies, ServiceFailure } from './serviceError';
import { describeFailure, describeUnreadable, redact } from './serviceError';

/** One call of an endpoint of the service document §4. */
export interface ServiceRequest {
	method: 'GET' | 'PUT' | 'POST';
	/** Below the partners prefix, such as `/balance`. */
	path: string;
	body?: IDataObject;
	/** Output for the endpoints whose response body is not shown (4 and 5); the body's fields are added to it. */
	confirms?: IDataObject;
	/** For statuses of which this endpoint allows to say more than in general. */
	remedies?: Remedies;
}

export type ServiceResult =
	| { ok: true; output: IDataObject }
	| { ok: false; failure: ServiceFailure };

export interface CallOptions {
	/** In ms. */
	timeout?: number;
	signal?: AbortSignal;
}

const defaultTimeout = 60_000;

/** Secrets shorter than this are not looked for in answers: a match could damage an identifier. */
const shortestSecretInAnswers = 12;

/**
 * Calls an endpoint, with the retries its method allows.
 * @returns flat output, whether or not the service wraps it in `data`; or why there is none. Never throws for
 * what the service or the network does.
 */
export async function callService(
	context: IExecuteFunctions | IHookFunctions,
	account: Account,
	request: ServiceRequest,
	{ timeout = defaultTimeout, signal }: CallOptions = {},
): Promise<ServiceResult> {
	const options: IHttpRequestOptions = {
		method: request.method,
		url: account.url.href + request.path,
		headers: {
			Accept: 'application/json',
			...(request.body && { 'Content-Type': 'application/json' }),
		},
		body: request.body && JSON.stringify(request.body),
		encoding: 'text',
		timeout,
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		// Following would hand the API key to whatever host the answer names.
		disableFollowRedirect: true,
	};
	const { last, verdict, attempts } = await attemptWithRetries(
		request.method,
		async () => await attempt(context, account, options),
		signal,
	);
	if (verdict !== 'done' || last.kind !== 'answer') {
		return {
			ok: false,
			failure: describeFailure(last, verdict, account, attempts, request.remedies),
		};
	}
	const fields = flatFields(last.text, (text) => redact(text, account, shortestSecretInAnswers));
	if (fields === undefined && request.confirms === undefined) {
		return { ok: false, failure: describeUnreadable(last, request.method) };
	}
	return { ok: true, output: { ...request.confirms, ...fields } };
}

async function attempt(
	context: IExecuteFunctions | IHookFunctions,
	account: Account,
	options: IHttpRequestOptions,
): Promise<Attempt> {
	try {
		// A copy for each attempt, because n8n's helper writes into the options.
		const response: unknown = await context.helpers.httpRequestWithAuthentication.call(
			context,
			credentialType,
			{ ...options },
			{ credentialsDecrypted: account.credentialsDecrypted },
		);
		return answerFrom(response);
	} catch (error) {
		return noAnswerFrom(error);
	}
}

/** What an answer of n8n's request helpers holds. */
export function answerFrom(response: unknown): Attempt {
	const { statusCode, headers, body } = Object(response) as Record<string, unknown>;
	return {
		kind: 'answer',
		status: Number(statusCode),
		headers: Object(headers) as Record<string, unknown>,
		text: typeof body === 'string' ? body : (JSON.stringify(body) ?? ''),
	};
}

// Each of these can only happen before the first byte of the request left.
const notSentCodes = new Set<unknown>([
	'ECONNREFUSED',
	'ENOTFOUND',
	'EAI_AGAIN',
	'CERT_HAS_EXPIRED',
	'CERT_NOT_YET_VALID',
	'DEPTH_ZERO_SELF_SIGNED_CERT',
	'SELF_SIGNED_CERT_IN_CHAIN',
	'UNABLE_TO_GET_ISSUER_CERT',
	'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
	'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
	'ERR_TLS_CERT_ALTNAME_INVALID',
	'ERR_INVALID_CHAR',
]);
/** n8n's own protection of private addresses refuses a request before it connects. */
const blockedByN8n = /^SsrfBlocked/;
const notSentSystemCalls = new Set<unknown>(['connect', 'getaddrinfo']);

/** What a network error holds. n8n wraps it; its code and system call are somewhere in the chain of causes. */
export function noAnswerFrom(error: unknown): Attempt {
	const chain: unknown[] = [];
	for (let cause = error; cause instanceof Error && chain.length < 8; cause = cause.cause)
		chain.push(cause);
	const texts = (key: string): string[] =>
		chain.flatMap((link) => {
			const value: unknown = Reflect.get(Object(link), key);
			return typeof value === 'string' ? [value] : [];
		});
	return {
		kind: 'noAnswer',
		code: texts('code').at(-1) ?? texts('message').at(-1) ?? 'no reason given',
		sent: !chain.some(wasNotSent),
	};
}

function wasNotSent(error: unknown): boolean {
	const { code, syscall, name, errors } = Object(error) as Record<string, unknown>;
	return (
		notSentCodes.has(code) ||
		notSentSystemCalls.has(syscall) ||
		(typeof name === 'string' && blockedByN8n.test(name)) ||
		// A host with several addresses: one for each that was tried.
		(Array.isArray(errors) && errors.length > 0 && errors.every(wasNotSent))
	);
}

/**
 * The fields of a body, with those of a `data` object lifted to the top. Undefined when it is no JSON object.
 * @param hide removes secrets from each text; the body as a whole could hold them in escaped form
 */
export function flatFields(
	text: string,
	hide: (text: string) => string = (unchanged) => unchanged,
): IDataObject | undefined {
	let body: unknown;
	try {
		body = JSON.parse(text, (_key, value: unknown) => withHidden(value, hide));
	} catch {
		return undefined;
	}
	if (!isObject(body)) return undefined;
	const { data, ...rest } = body;
	return isObject(data) ? { ...rest, ...data } : body;
}

function withHidden(value: unknown, hide: (text: string) => string): unknown {
	if (typeof value === 'string') return hide(value);
	if (!isObject(value)) return value;
	return Object.fromEntries(Object.entries(value).map(([key, entry]) => [hide(key), entry]));
}

function isObject(value: unknown): value is IDataObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
