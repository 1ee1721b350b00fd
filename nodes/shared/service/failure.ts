/** A call that did not succeed, in words for the user. */
import type { INode } from 'n8n-workflow';
import type { Account } from '../account';
import { asInvalidValue } from '../invalidValue';
import { apiError, operationError } from '../n8n';
import type { Attempt } from './attempt';
import * as codes from './attempt';
import { quoted, reasonIn } from './reason';
import { hideSecrets } from './secrets';

/** What went wrong, in words. Holds no secret. */
export interface Failure {
	message: string;
	/** What to do about it. */
	description: string;
	httpCode?: string;
}

export interface ServiceFailure extends Failure {
	/** `notDone`: the service did not do it. `unknown`: it may have done it. */
	outcome: 'notDone' | 'unknown';
}

export type Remedies = Readonly<Record<number, string>>;

interface Explanation {
	problem: string;
	remedy: string;
}

const refused = 'The service refused the request';
const serviceFailed = 'The service failed';

const explanations: Readonly<Record<number, Explanation>> = {
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
	429: {
		problem: 'The service is receiving too many requests',
		remedy: 'Wait, then run the workflow again, with fewer items at a time.',
	},
};

function explanationOf(status: number): Explanation {
	const known = explanations[status];
	if (known) return known;
	if (status >= 500)
		return { problem: serviceFailed, remedy: 'Wait a while, then run the workflow again.' };
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
	EPROTO: 'it does not speak https, or not a version that n8n speaks',
	ECONNABORTED: 'the service took too long to answer',
	[codes.tooLate]: 'the service took too long to answer',
	ECONNRESET: 'the connection was closed before the answer was complete',
	ERR_BAD_RESPONSE: 'the connection was closed before the answer was complete',
	[codes.stopped]: 'the execution was stopped',
	[codes.unreadableAnswer]: 'what it sent cannot be read',
	[codes.tooLarge]: 'its answer is larger than 1 MB',
	[codes.throughProxy]: 'n8n would send the API key to its proxy, and not to its own machine',
	[codes.proxyRefused]: 'the proxy of n8n does not connect to it',
};

/** What to do about a request that may have been carried out. */
export const unknownRemedy =
	'It may have been done. Check with the partner service before sending it again.';

/** Words for an attempt that was not `done`. @param ownRemedies of the endpoint; they come before the general ones */
export function describeFailure(
	attempt: Attempt,
	account: Account,
	outcome: ServiceFailure['outcome'],
	attempts: number,
	ownRemedies: Remedies = {},
): ServiceFailure {
	const tried = attempts > 1 ? ` It was tried ${attempts} times.` : '';
	if (attempt.kind === 'noAnswer' && attempt.code === codes.notBegun) {
		return {
			outcome,
			message: 'Nothing was sent: its time was over before it could be sent',
			description: 'n8n was busy, or its machine stood still. Run the workflow again.',
		};
	}
	if (attempt.kind === 'noAnswer') {
		const code = hideSecrets(attempt.code, account);
		const remedy =
			code === codes.throughProxy
				? `Add ${account.url.hostname} to the environment variable NO_PROXY of n8n, and start n8n again.`
				: `Check the Base URL in the ETB Wallet API credential and that the service is running.${tried}`;
		const why = unreachable[code] ?? `the connection failed (${code})`;
		return {
			outcome,
			message: attempt.sent
				? `No answer from the service at ${account.url.origin}: ${why}`
				: `The service at ${account.url.origin} cannot be reached: ${why}`,
			description: outcome === 'unknown' ? unknownRemedy : remedy,
		};
	}
	const { problem, remedy } = explanationOf(attempt.status);
	return describeAnswer(attempt, account, outcome, {
		problem: `${problem} (${attempt.status})`,
		remedy: (ownRemedies[attempt.status] ?? remedy) + tried,
	});
}

type Answer = Extract<Attempt, { kind: 'answer' }>;

/** What is told of every answer: what it means, the service's own words behind it, and what to do. */
function describeAnswer(
	answer: Answer,
	account: Account,
	outcome: ServiceFailure['outcome'],
	{ problem, remedy }: Explanation,
): ServiceFailure {
	const reason = reasonIn(answer, (text) => hideSecrets(text, account));
	return {
		outcome,
		httpCode: String(answer.status),
		message: problem + quoted(reason),
		description: outcome === 'unknown' ? unknownRemedy : remedy,
	};
}

/** Words for a success status whose body does not agree with what was set or made. @param what as `disagreement` says it */
export function describeDisagreement(
	answer: Answer,
	account: Account,
	outcome: ServiceFailure['outcome'],
	what: string,
): ServiceFailure {
	return describeAnswer(answer, account, outcome, {
		problem: `The service answered ${answer.status}, but ${hideSecrets(what, account)}`,
		remedy: 'Check the values that were sent, and ask the partner service what is set now.',
	});
}

/** @param missing the field that the answer does not have, if it is a JSON object */
export function describeUnreadable(
	answer: Answer,
	account: Account,
	outcome: ServiceFailure['outcome'],
	missing?: string,
): ServiceFailure {
	const found = answer.text.trim() === '' ? 'an empty body' : 'a body that is not a JSON object';
	return describeAnswer(answer, account, outcome, {
		problem:
			missing === undefined
				? `The service answered ${answer.status} with ${found}`
				: `The service answered ${answer.status} with no ${missing} in its body`,
		remedy: 'Check the Base URL in the ETB Wallet API credential.',
	});
}

/** n8n shows "[item 2]" behind the message of an error, but not where the error leaves on an output. So the text has it. */
function withItem(message: string, itemIndex?: number): string {
	return itemIndex === undefined ? message : `${message} [item ${itemIndex}]`;
}

export function failureError(node: INode, failure: ServiceFailure, itemIndex?: number): Error {
	return apiError(node, withItem(failure.message, itemIndex), failure, itemIndex);
}

export function invalidValueFailure(error: unknown): Failure {
	const { message, remedy: description } = asInvalidValue(error);
	return { message, description };
}

/** The n8n error for a value that cannot be used. An error that n8n threw, such as that of an expression, stays as it is. */
export function invalidValueError(node: INode, error: unknown, itemIndex?: number): Error {
	const { cause, message, remedy } = asInvalidValue(error);
	if (cause instanceof Error) return cause;
	return operationError(node, withItem(message, itemIndex), remedy, itemIndex);
}
