/** One HTTP request to the service, and its response or the lack of one. */
import { unlessAborted } from '../time';
import { errorsIn, isEndedBeforeSending, type RawResponse } from '../n8n';
import { isObject, property } from '../unknownValues';

/** The error codes of an attempt that this package ends, or does not begin. */
export const endedBy = {
	timeout: 'ETIMEDOUT',
	/** The execution was stopped. */
	stop: 'ERR_CANCELED',
	/** The response is longer than `maxBodyBytes`. */
	size: 'RESPONSE_TOO_LARGE',
	/** The time was over before it began. */
	tooLate: 'NOT_BEGUN',
} as const;

export type AttemptResult = ServiceResponse | NoResponse;

export interface ServiceResponse {
	kind: 'response';
	status: number;
	headers: Record<string, unknown>;
	text: string;
	/** The value of the text; undefined if it is not JSON, or is nested too deeply. */
	body: unknown;
}

/** No complete response came. `mayHaveBeenSent` is false only if the service certainly got no request. */
export interface NoResponse {
	kind: 'noResponse';
	errorCode: string;
	mayHaveBeenSent: boolean;
}

/**
 * Makes one attempt. The timeout ends it even if the body arrives slowly, never ends, or is not HTTP.
 * @param timeoutMs the time in ms from its start to the last byte of the body
 */
export async function makeAttempt(
	send: (signal: AbortSignal) => Promise<RawResponse>,
	timeoutMs: number,
	stop?: AbortSignal,
): Promise<AttemptResult> {
	if (!(timeoutMs > 0))
		return { kind: 'noResponse', errorCode: endedBy.tooLate, mayHaveBeenSent: false };
	const timeout = AbortSignal.timeout(Math.ceil(timeoutMs));
	const signal = stop === undefined ? timeout : AbortSignal.any([timeout, stop]);
	const endedByUs = (): string | undefined =>
		timeout.aborted ? endedBy.timeout : signal.aborted ? endedBy.stop : undefined;
	const attempt = async (): Promise<AttemptResult> =>
		await responseFrom(await send(signal), signal);
	try {
		return await unlessAborted(signal, attempt(), () => new Error(endedByUs()));
	} catch (error) {
		return noResponseFrom(error, endedByUs());
	}
}

/**
 * Reads a response to its end, or until `signal` is aborted.
 * @throws {Error} when its connection ends first
 */
async function responseFrom(
	{ status, headers, body }: RawResponse,
	signal: AbortSignal,
): Promise<AttemptResult> {
	const text = await bodyText(body, signal);
	if (text === undefined)
		return { kind: 'noResponse', errorCode: endedBy.size, mayHaveBeenSent: true };
	const headerFields = Object(headers) as Record<string, unknown>;
	return { kind: 'response', status, headers: headerFields, text, body: parsed(text) };
}

/** The deepest nesting that is read, because n8n or a later node may go through a body by recursion. */
const maxDepth = 64;

function parsed(text: string): unknown {
	try {
		const body: unknown = JSON.parse(text);
		return isDeeper(body, maxDepth) ? undefined : body;
	} catch {
		return undefined;
	}
}

const isDeeper = (value: unknown, levels: number): boolean =>
	isObject(value) &&
	(levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1)));

/** The longest body that is read, in bytes after decompression. n8n itself has no limit. */
const maxBodyBytes = 1_048_576;

interface Stream extends AsyncIterable<unknown> {
	destroy(): void;
}

const isStream = (body: unknown): body is Stream =>
	typeof property(body, Symbol.asyncIterator) === 'function' &&
	typeof property(body, 'destroy') === 'function';

/**
 * The text of a body; undefined if it comes as a stream that is longer than 1 MB. A stream is closed at the
 * end, or when `signal` is aborted.
 * @throws {Error} when the connection ends before the body does
 */
async function bodyText(body: unknown, signal: AbortSignal): Promise<string | undefined> {
	if (!isStream(body)) return typeof body === 'string' ? body : (JSON.stringify(body) ?? '');
	const close = (): void => body.destroy();
	signal.addEventListener('abort', close, { once: true });
	try {
		const chunks: Buffer[] = [];
		let length = 0;
		for await (const chunk of body) {
			if (!Buffer.isBuffer(chunk)) continue;
			length += chunk.length;
			if (length > maxBodyBytes) return undefined;
			chunks.push(chunk);
		}
		return new TextDecoder().decode(Buffer.concat(chunks));
	} finally {
		signal.removeEventListener('abort', close);
		close();
	}
}

/** The codes for a certificate that is not trusted. A repetition would get the same certificate. */
export const certificateCodes: ReadonlySet<unknown> = new Set([
	'CERT_HAS_EXPIRED',
	'CERT_NOT_YET_VALID',
	'ERR_TLS_CERT_ALTNAME_INVALID',
	'DEPTH_ZERO_SELF_SIGNED_CERT',
	'SELF_SIGNED_CERT_IN_CHAIN',
	'UNABLE_TO_GET_ISSUER_CERT',
	'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
	'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/**
 * Codes of errors that come before the first byte of the request: no address, no connection, or a TLS
 * handshake that fails (EPROTO). A failure of TLS after the handshake has a code ERR_SSL_….
 */
const codesBeforeSending: ReadonlySet<unknown> = new Set([
	'ECONNREFUSED',
	'ENOTFOUND',
	'EAI_AGAIN',
	'EPROTO',
	...certificateCodes,
]);

const notSentSystemCalls = new Set<unknown>(['connect', 'getaddrinfo']);

/**
 * Describes an attempt that ended with an error.
 * @param endedByUs the code, if we ended the attempt
 */
export function noResponseFrom(error: unknown, endedByUs?: string): NoResponse {
	const chain = errorsIn(error);
	const messages = chain.map((link) => property(link, 'message'));
	const codes = chain.map((link) => property(link, 'code')).filter(isText);
	return {
		kind: 'noResponse',
		errorCode: endedByUs ?? codes.at(-1) ?? messages.filter(isText).at(-1) ?? '',
		mayHaveBeenSent: !chain.some(wasNotSent),
	};
}

const isText = (value: unknown): value is string => typeof value === 'string';

function wasNotSent(error: unknown): boolean {
	const errors = property(error, 'errors');
	return (
		codesBeforeSending.has(property(error, 'code')) ||
		notSentSystemCalls.has(property(error, 'syscall')) ||
		isEndedBeforeSending(error) ||
		// For a host with several addresses there is one error for each address that was tried.
		(Array.isArray(errors) && errors.length > 0 && errors.every(wasNotSent))
	);
}
