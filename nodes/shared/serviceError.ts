import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import type { INode } from 'n8n-workflow';
import type { Account } from './account';
import type { Attempt, Verdict } from './retry';
import { asInvalidValue } from './validation';

/** A call that did not succeed, in words for the user. Holds no secret. */
export interface ServiceFailure {
	/** `notDone`: the service did not do it. `unknown`: it may have done it. */
	outcome: 'notDone' | 'unknown';
	message: string;
	/** What to do about it. */
	description: string;
	httpCode?: string;
}

const longestReason = 300;

/**
 * Removes the account's secrets from a text, should the service repeat them.
 * @param shortest secrets with fewer characters stay, so that ordinary text is not damaged
 */
export function redact(
	text: string,
	account: Pick<Account, 'apiKey' | 'webhookSecret'>,
	shortest = 1,
): string {
	return [account.apiKey, account.webhookSecret.trim()]
		.filter((secret) => secret.length >= shortest)
		.reduce((redacted, secret) => redacted.replaceAll(secret, '[hidden]'), text);
}

/**
 * The reason in an error body, whatever its shape, in one line. Empty when there is none.
 * @param hide removes secrets, before shortening could leave a part of one
 */
export function reasonIn(body: string, hide: (text: string) => string = (text) => text): string {
	const reason = hide(reasonOf(parseJson(body) ?? textOf(body)))
		.replace(/\s+/g, ' ')
		.trim();
	return reason.length > longestReason ? `${reason.slice(0, longestReason)}…` : reason;
}

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

function textOf(body: string): string {
	if (!/<\w+[^>]*>/.test(body)) return body;
	const title = /<title[^>]*>([^<]*)<\/title>/i.exec(body)?.[1];
	return title ?? body.replace(/<(style|script)[\s\S]*?<\/\1>/gi, ' ').replace(/<[^>]+>/g, ' ');
}

const reasonKeys = [
	'message',
	'error',
	'errors',
	'detail',
	'details',
	'title',
	'reason',
	'error_description',
];

function reasonOf(value: unknown, depth = 0): string {
	if (typeof value === 'string') return value;
	if (typeof value !== 'object' || value === null || depth > 4) return '';
	if (Array.isArray(value)) {
		return value
			.map((entry) => reasonOf(entry, depth + 1))
			.filter(Boolean)
			.join('; ');
	}
	const record = new Map<string, unknown>(Object.entries(value));
	for (const key of reasonKeys) {
		const reason = reasonOf(record.get(key), depth + 1);
		if (reason === '') continue;
		const field = record.get('field');
		return typeof field === 'string' ? `${field}: ${reason}` : reason;
	}
	// Such as { errors: { phone: ["is too short"] } }.
	return depth === 0
		? ''
		: [...record]
				.map(([key, entry]) => [key, reasonOf(entry, depth + 1)])
				.filter(([, reason]) => reason)
				.map(([key, reason]) => `${key}: ${reason}`)
				.join('; ');
}

/** What to do about an error status. */
export type Remedies = Readonly<Record<number, string>>;

interface Remedy {
	problem: string;
	remedy: string;
}

const refused = 'The service refused the request';
const failed = 'The service failed';

const remedies: Readonly<Record<number, Remedy>> = {
	400: { problem: refused, remedy: 'Check the values that were sent.' },
	401: {
		problem: 'The service does not accept the API key',
		remedy: 'Check the API key in the ETB Wallet API credential.',
	},
	402: { problem: refused, remedy: 'Check the treasury balance.' },
	403: {
		problem: 'The API key is not allowed to do this',
		remedy: 'Ask the partner service which permissions the API key needs.',
	},
	404: {
		problem: 'The service did not find what was asked for',
		remedy:
			'Check the identifiers that were sent, and the Base URL in the ETB Wallet API credential.',
	},
	409: {
		problem: 'The service reports a conflict',
		remedy: 'It may exist already. Check before sending it again.',
	},
	422: { problem: refused, remedy: 'Check the values that were sent.' },
	429: {
		problem: 'The service is receiving too many requests',
		remedy: 'Wait, then run the workflow again, with fewer items at a time.',
	},
};

function remedyFor(status: number): Remedy {
	const known = remedies[status];
	if (known) return known;
	if (status >= 500)
		return { problem: failed, remedy: 'Wait a while, then run the workflow again.' };
	if (status >= 300 && status < 400) {
		return {
			problem:
				'The service answered with a redirect, which is not followed so that the API key stays with the service',
			remedy: 'Check the Base URL in the ETB Wallet API credential.',
		};
	}
	return { problem: refused, remedy: 'Check the values that were sent.' };
}

const unreachable: Readonly<Record<string, string>> = {
	ECONNREFUSED: 'nothing answers at that address',
	EHOSTUNREACH: 'no network connection leads there',
	ENETUNREACH: 'no network connection leads there',
	ENOTFOUND: 'the host name is not known',
	EAI_AGAIN: 'the host name could not be looked up',
	ECONNABORTED: 'the service took too long to answer',
	ETIMEDOUT: 'the service took too long to answer',
	ECONNRESET: 'the connection was closed before the answer was complete',
	ERR_BAD_RESPONSE: 'the connection was closed before the answer was complete',
	ERR_CANCELED: 'the execution was stopped',
};

const unknownRemedy =
	'It may have been done. Check with the partner service before sending it again.';

/**
 * Words for an attempt that was not `done`.
 * @param ownRemedies of the endpoint; they come before the general ones
 */
export function describeFailure(
	attempt: Attempt,
	verdict: Verdict,
	account: Account,
	attempts = 1,
	ownRemedies: Remedies = {},
): ServiceFailure {
	const outcome = verdict === 'unknown' ? 'unknown' : 'notDone';
	const tried = attempts > 1 ? ` It was tried ${attempts} times.` : '';
	if (attempt.kind === 'noAnswer') {
		const why = unreachable[attempt.code] ?? `the connection failed (${attempt.code})`;
		return {
			outcome,
			message: attempt.sent
				? `No answer from the service at ${account.url.origin}: ${why}`
				: `The service at ${account.url.origin} cannot be reached: ${why}`,
			description:
				outcome === 'unknown'
					? unknownRemedy
					: `Check the Base URL in the ETB Wallet API credential and that the service is running.${tried}`,
		};
	}
	const { problem, remedy } = remedyFor(attempt.status);
	const reason = reasonIn(attempt.text, (text) => redact(text, account));
	return {
		outcome,
		httpCode: String(attempt.status),
		message: `${problem} (${attempt.status})${reason === '' ? '' : `: ${reason}`}`,
		description:
			outcome === 'unknown' ? unknownRemedy : (ownRemedies[attempt.status] ?? remedy) + tried,
	};
}

/** Words for a success status whose body cannot be used. */
export function describeUnreadable(
	attempt: Extract<Attempt, { kind: 'answer' }>,
	method: string,
): ServiceFailure {
	const found = attempt.text.trim() === '' ? 'an empty body' : 'a body that is not a JSON object';
	return {
		outcome: method === 'POST' ? 'unknown' : 'notDone',
		httpCode: String(attempt.status),
		message: `The service answered ${attempt.status} with ${found}`,
		description:
			method === 'POST' ? unknownRemedy : 'Check the Base URL in the ETB Wallet API credential.',
	};
}

/** n8n shows "[item 2]" behind messages; errors that leave on an output need it in the text itself. */
function withItem(message: string, itemIndex?: number): string {
	return itemIndex === undefined ? message : `${message} [item ${itemIndex}]`;
}

/**
 * The n8n error with exactly this message. n8n puts a text of its own in its place when a system error code is
 * anywhere in it, such as "EPERM" in "housePermit".
 * @param description what to do about it
 */
export function operationError(
	node: INode,
	message: string,
	description: string,
	itemIndex?: number,
): NodeOperationError {
	const error = new NodeOperationError(node, message, { description, itemIndex });
	error.message = message;
	return error;
}

/** The n8n error for a failed call. */
export function failureError(
	node: INode,
	failure: ServiceFailure,
	itemIndex?: number,
): NodeApiError {
	const message = withItem(failure.message, itemIndex);
	const error = new NodeApiError(
		node,
		{ message },
		{ message, description: failure.description, httpCode: failure.httpCode, itemIndex },
	);
	// As in `operationError`.
	error.message = message;
	return error;
}

/** The n8n error for a value that cannot be used; other errors, such as those of expressions, stay what they are. */
export function invalidValueError(node: INode, error: unknown, itemIndex?: number): Error {
	const { cause, message, remedy } = asInvalidValue(error);
	if (cause instanceof Error) return cause;
	return operationError(node, withItem(message, itemIndex), remedy, itemIndex);
}
