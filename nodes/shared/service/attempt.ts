/** One HTTP request to the service, and what came of it. */
import { unlessAborted } from '../elapsed';
import { errorsIn, isBlockedByN8n, type RawAnswer } from '../n8n';
import { property } from '../unknown';
import { textOf } from './body';
import { isReachedDirectly } from './ownMachine';

export type Attempt =
	| {
			kind: 'answer';
			status: number;
			headers: Record<string, unknown>;
			text: string;
			/** The body, when it is JSON. */
			body: unknown;
	  }
	/** No complete answer. `sent` is false only when it is certain that the service never got the request. */
	| { kind: 'noAnswer'; code: string; sent: boolean };

/** Codes of our own for what ended an attempt: its time was over, or the execution was stopped. */
export const tooLate = 'ETIMEDOUT';
export const stopped = 'ERR_CANCELED';
/** Its answer could not be read. */
export const unreadableAnswer = 'UNREADABLE_ANSWER';
/** Its answer was longer than what is read. */
export const tooLarge = 'ANSWER_TOO_LARGE';
/** Its time was over before it began. */
export const notBegun = 'NOT_BEGUN';
/** It was for n8n's own machine, and n8n would have handed it to its proxy. */
export const throughProxy = 'THROUGH_PROXY';
/** n8n's proxy did not connect to the service. */
export const proxyRefused = 'PROXY_REFUSED';

/** The requests of an attempt, made with the functions that n8n has for them. */
export interface Requests {
	/** Asks for another address of the same machine, without the API key. */
	look: (url: string, signal: AbortSignal) => Promise<unknown>;
	send: (signal: AbortSignal) => Promise<RawAnswer>;
}

/**
 * Makes one attempt. It ends in time, and its connection is closed, also if the service answers drop by drop, never, or
 * with another protocol. @param timeoutMs from its start to the last byte of the body
 */
export async function makeAttempt(
	url: URL,
	{ look, send }: Requests,
	timeoutMs: number,
	stop?: AbortSignal,
): Promise<Attempt> {
	if (!(timeoutMs > 0)) return notSent(notBegun);
	const timeout = AbortSignal.timeout(Math.ceil(timeoutMs));
	const signal = stop === undefined ? timeout : AbortSignal.any([timeout, stop]);
	const endedByUs = (): string | undefined =>
		timeout.aborted ? tooLate : signal.aborted ? stopped : undefined;
	const attempt = async (): Promise<Attempt> => {
		const isDirect = await isReachedDirectly(url, async (other) => await look(other, signal));
		if (!isDirect) return notSent(throughProxy);
		if (signal.aborted) return notSent(notBegun);
		return await answerFrom(await send(signal), url, signal);
	};
	try {
		return await unlessAborted(signal, attempt(), () => new Error(endedByUs()));
	} catch (error) {
		return noAnswerFrom(error, endedByUs());
	}
}

const notSent = (code: string): Attempt => ({ kind: 'noAnswer', code, sent: false });

/** Reads an answer to its end, or until `signal` is aborted. @throws {Error} when its connection ends first */
async function answerFrom(
	{ status, headers, body, socket }: RawAnswer,
	url: URL,
	signal: AbortSignal,
): Promise<Attempt> {
	if (isOfProxy(url, socket)) {
		await textOf(body, signal).catch(() => undefined);
		return notSent(proxyRefused);
	}
	const text = await textOf(body, signal);
	if (text === undefined) return { kind: 'noAnswer', code: tooLarge, sent: true };
	return {
		kind: 'answer',
		status,
		headers: Object(headers) as Record<string, unknown>,
		text,
		body: parsed(text),
	};
}

/**
 * Whether the answer is of n8n's proxy, which did not connect to the service. n8n gives out such an answer on a socket
 * without TLS that cannot be written to; an answer of the service itself to https never comes on one.
 */
const isOfProxy = (url: URL, socket: unknown): boolean =>
	url.protocol === 'https:' &&
	property(socket, 'writable') === false &&
	property(socket, 'encrypted') !== true;

export function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

// Each of these can only happen before the first byte of the request left.
const notSentCodes = new Set<unknown>([
	'ECONNREFUSED',
	'ENOTFOUND',
	'EAI_AGAIN',
	// TLS begins before the request: also with a server that speaks plain http.
	'EPROTO',
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

/** The message of the agent with which n8n connects through a proxy. */
const proxyEnded = 'Proxy connection ended before receiving CONNECT response';
const notSentSystemCalls = new Set<unknown>(['connect', 'getaddrinfo']);

/** What a network error says of an attempt. @param endedByUs the code, if we ended the attempt */
export function noAnswerFrom(error: unknown, endedByUs?: string): Attempt {
	const chain = errorsIn(error);
	const messages = chain.map((link) => property(link, 'message'));
	const codes = chain.map((link) => property(link, 'code')).filter(isText);
	return {
		kind: 'noAnswer',
		code: endedByUs ?? codes.at(-1) ?? messages.filter(isText).at(-1) ?? '',
		sent: !chain.some(wasNotSent),
	};
}

const isText = (value: unknown): value is string => typeof value === 'string';

function wasNotSent(error: unknown): boolean {
	const errors = property(error, 'errors');
	return (
		notSentCodes.has(property(error, 'code')) ||
		notSentSystemCalls.has(property(error, 'syscall')) ||
		isBlockedByN8n(error) ||
		property(error, 'message') === proxyEnded ||
		// For a host with several addresses, one error for each that was tried.
		(Array.isArray(errors) && errors.length > 0 && errors.every(wasNotSent))
	);
}
