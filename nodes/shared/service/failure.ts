/** A call that did not succeed, in words for the user. */
import type { INode } from 'n8n-workflow';
import type { Account } from '../account';
import { withItem, apiError } from '../nodeErrors';
import type { FailureCode, Judgement } from './judge';
import { endedBy, type AttemptResult, type NoResponse } from './attempt';
import { serviceSaid, reasonIn, shortLine } from './reason';
import { isIdempotent, type ServiceRequest } from './request';
import { hideSecrets } from './secrets';
import { causesByErrorCode } from './errorCauses';

/** A failed call in words. It has no secret in it. */
export interface CallFailure {
	message: string;
	/** The steps to take. */
	remedy: string;
	httpCode?: string;
	/** The verdict on the call. */
	verdict: 'notDone' | 'unknown';
	/** `invalid`: a field of the item cannot be used, so the service was not called. */
	code: FailureCode | 'invalid';
}

interface Explanation {
	cause: string;
	remedy: string;
}

const refused = 'The service refused the request';
const serviceFailed = 'The service failed';
const runLater = 'Wait a while, then run the workflow again.';
const stoppedWaiting: Explanation = {
	cause: 'The service, or a proxy before it, stopped waiting',
	remedy: runLater,
};

const explanations: Readonly<Record<number, Explanation>> = {
	401: {
		cause: 'The service does not accept the API key',
		remedy: 'Check the API key in the ETB Wallet API credential.',
	},
	402: { cause: refused, remedy: 'Check the treasury balance.' },
	403: {
		cause: 'The API key is not allowed to do this',
		remedy: 'Ask the partner service which permissions the API key needs.',
	},
	404: {
		cause: 'The service did not find what was asked for',
		remedy:
			'Check the identifiers that were sent, and the Base URL in the ETB Wallet API credential.',
	},
	408: stoppedWaiting,
	409: {
		cause: 'The service reports a conflict',
		remedy: 'It may exist already. Check before sending it again.',
	},
	429: {
		cause: 'The service is receiving too many requests',
		remedy: 'Wait, then run the workflow again, with fewer items at a time.',
	},
	499: stoppedWaiting,
};

function explanationOf(status: number, verdict: CallFailure['verdict']): Explanation {
	const known = explanations[status];
	if (known) return known;
	if (status >= 500) return { cause: serviceFailed, remedy: runLater };
	if (status >= 300 && status < 400) {
		return {
			cause:
				'The service answered with a redirect, which is not followed so that the API key stays with the service',
			remedy: 'Check the Base URL in the ETB Wallet API credential.',
		};
	}
	if (verdict === 'unknown')
		return { cause: 'The response leaves open whether it was done', remedy: runLater };
	return { cause: refused, remedy: 'Check the values that were sent.' };
}

const checkAddress =
	'Check the Base URL in the ETB Wallet API credential and that the service is running.';

/** Describes a call that was not carried out, or may not have been. */
export function describeFailure(
	request: ServiceRequest,
	attempt: AttemptResult,
	{ verdict, code, evidence }: Exclude<Judgement, { verdict: 'done' }>,
	account: Account,
	attempts: number,
): CallFailure {
	const tried = attempts > 1 ? ` It was tried ${attempts} times.` : '';
	const remedyOf = (remedy: string): string => {
		if (verdict === 'notDone') return remedy + tried;
		if (!isIdempotent(request))
			return 'It may have been done. Check with the partner service before sending it again.';
		return `It may have been set: ask the partner service what is set now. ${remedy}${tried}`;
	};
	if (attempt.kind === 'noResponse') {
		const { message, remedy } = describeNoResponse(attempt, account);
		return { verdict, code, message, remedy: remedyOf(remedy) };
	}
	const { status } = attempt;
	const explanation = explanationOf(status, verdict);
	const hide = (text: string): string => hideSecrets(text, account);
	const shown =
		evidence === undefined
			? `${explanation.cause} (${status})`
			: shortLine(`The service answered ${status} ${evidence}`, hide);
	const remedy =
		request.remedies?.[status] ?? (evidence === undefined ? explanation.remedy : checkRequest);
	return {
		verdict,
		code,
		httpCode: String(status),
		message: shown + serviceSaid(reasonIn(attempt, hide)),
		remedy: remedyOf(remedy),
	};
}

const checkRequest =
	'Check the values that were sent, and the Base URL in the ETB Wallet API credential.';

function describeNoResponse(
	{ errorCode, mayHaveBeenSent }: NoResponse,
	account: Account,
): { message: string; remedy: string } {
	if (errorCode === endedBy.tooLate) {
		return {
			message: 'Nothing was sent: its time was over before it could be sent',
			remedy: 'n8n was busy, or its machine stood still. Run the workflow again.',
		};
	}
	const [cause, remedy = checkAddress] = causesByErrorCode.get(errorCode) ?? [
		`the connection failed (${hideSecrets(errorCode, account)})`,
	];
	const { origin } = account.url;
	return {
		message: mayHaveBeenSent
			? `No response from the service at ${origin}: ${cause}`
			: `The service at ${origin} cannot be reached: ${cause}`,
		remedy,
	};
}

export function serviceNodeError(node: INode, failure: CallFailure, itemIndex?: number): Error {
	return apiError(node, withItem(failure.message, itemIndex), failure, itemIndex);
}
