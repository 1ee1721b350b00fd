/** One HTTP request to the service, and what came of it. */
import type { IExecuteFunctions, IHookFunctions, IHttpRequestOptions } from 'n8n-workflow';
import type { Account } from '../account';
import { unlessAborted } from '../elapsed';
import { messageOf } from '../invalidValue';
import { property, requestUntil } from '../n8n';

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

/** Codes of our own for what ended an attempt. */
export const tooLate = 'ETIMEDOUT';
export const stopped = 'ERR_CANCELED';
/** An answer that cannot be looked through. */
export const unreadableAnswer = 'UNREADABLE_ANSWER';
/** Its time was over before it began. */
export const notBegun = 'NOT_BEGUN';

/**
 * Makes one attempt, which ends by the clock whatever the service drips, upgrades to or never sends; its connection is
 * closed then.
 * @param timeoutMs from its start to the last byte of the body
 * @param stop aborts it too
 */
export async function makeAttempt(
	context: IExecuteFunctions | IHookFunctions,
	account: Account,
	httpRequest: IHttpRequestOptions,
	timeoutMs: number,
	stop?: AbortSignal,
): Promise<Attempt> {
	if (!(timeoutMs > 0)) return { kind: 'noAnswer', code: notBegun, sent: false };
	const timeout = AbortSignal.timeout(Math.ceil(timeoutMs));
	const signal = stop === undefined ? timeout : AbortSignal.any([timeout, stop]);
	const endedByUs = (): string | undefined =>
		timeout.aborted ? tooLate : signal.aborted ? stopped : undefined;
	try {
		const request = requestUntil(context, account, httpRequest, signal);
		return answerFrom(await unlessAborted(signal, request, () => new Error(endedByUs())));
	} catch (error) {
		return noAnswerFrom(error, endedByUs());
	}
}

/** What an answer of n8n's request helpers holds. */
export function answerFrom(response: unknown): Attempt {
	const body = property(response, 'body');
	const text = typeof body === 'string' ? body : (JSON.stringify(body) ?? '');
	return {
		kind: 'answer',
		status: Number(property(response, 'statusCode')),
		headers: Object(property(response, 'headers')) as Record<string, unknown>,
		text,
		body: parsed(text),
	};
}

function parsed(text: string): unknown {
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
	// TLS speaks before the request does: also when it meets a server that speaks plain http.
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

/** n8n's own protection of private addresses refuses a request before it connects. */
const blockedByN8n = /^SsrfBlocked/;
const notSentSystemCalls = new Set<unknown>(['connect', 'getaddrinfo']);

/**
 * What a network error holds. n8n wraps it; its code and system call are somewhere in the chain of causes.
 * @param endedByUs why we ended the attempt, if we did: then it may have been sent
 */
export function noAnswerFrom(error: unknown, endedByUs?: string): Attempt {
	const chain: unknown[] = [];
	for (let cause = error; cause instanceof Error && chain.length < 8; cause = cause.cause)
		chain.push(cause);
	const codes = chain
		.map((link) => property(link, 'code'))
		.filter((code) => typeof code === 'string');
	return {
		kind: 'noAnswer',
		code: endedByUs ?? codes.at(-1) ?? (chain.length === 0 ? '' : messageOf(chain.at(-1))),
		sent: !chain.some(wasNotSent),
	};
}

function wasNotSent(error: unknown): boolean {
	const name = property(error, 'name');
	const errors = property(error, 'errors');
	return (
		notSentCodes.has(property(error, 'code')) ||
		notSentSystemCalls.has(property(error, 'syscall')) ||
		(typeof name === 'string' && blockedByN8n.test(name)) ||
		// A host with several addresses: one for each that was tried.
		(Array.isArray(errors) && errors.length > 0 && errors.every(wasNotSent))
	);
}
