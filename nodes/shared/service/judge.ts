/**
 * The meaning of one attempt: done, not done or unknown, by its status. `responseRules.ts` judges the fields
 * and words of its response, and `retries.ts` the whole call.
 *
 * response | a payment | another request
 * --- | --- | ---
 * none, and the request did not leave | not done | not done
 * none, or an incomplete one | unknown | unknown
 * 2xx but 202 or 207, with `success: true` and a proof, which nothing contradicts | done |
 * 2xx with the fields that the service document shows | | done
 * 2xx but 202 or 207, with `success: false`, and no fields but those of a refusal | not done |
 * a status that refuses, without `success: true`; of a payment with no fields but those of a refusal | not done | not done
 * any other | unknown | unknown
 *
 * A request that only reads is not done where the table says unknown.
 */
import { isAbsent } from '../invalidValue';
import { hasFields } from '../unknownValues';
import {
	certificateCodes,
	endedBy,
	type AttemptResult,
	type NoResponse,
	type ServiceResponse,
} from './attempt';
import { hasRepeatedName, saysSuccess, valuesOf } from './responseBody';
import { findingInRefusal, contradictionInBody, saysOnlyTooManyRequests } from './responseRules';
import { isIdempotent, isReadOnly, type RequestTraits } from './request';
import { isTransactionHash } from './paymentWords';
import {
	paymentRefusalStatuses,
	temporaryStatuses,
	incompleteSuccessStatuses,
	statusesAfterPossibleWork,
} from './statuses';
import type { Finding } from './matching';

/**
 * The code of a failed call. `notReached`: the request did not leave. `refused`: a status or a body refuses
 * it. `noResponse`: the request may have been sent, and no complete response came. `unclear`: the response does
 * not show the result.
 */
export type FailureCode = 'notReached' | 'refused' | 'noResponse' | 'unclear';

/**
 * The verdict on one attempt, with its reason. `notDone`: it was not carried out, or it only reads.
 * `unknown`: it may have been carried out. `mayBeRepeated`: the failure can be temporary, and a repetition is safe.
 * `evidence` follows *The service answered 422*.
 */
export type Judgement =
	| { verdict: 'done' }
	| ({
			verdict: 'notDone' | 'unknown';
			code: FailureCode;
			mayBeRepeated?: boolean;
	  } & Partial<Finding>);

/**
 * Decides the meaning of an attempt, by the table above. A request that the service could carry out twice (service
 * document §4 endpoints 6 and 7) is never repeated once it may have been carried out. The proof of a payment is a
 * `txHash` (§2, Disbursement). The service document does not show the fields of a refusal (§7).
 */
export function judge(request: RequestTraits, attempt: AttemptResult): Judgement {
	if (attempt.kind === 'noResponse') return judgeNoResponse(request, attempt);
	const { status } = attempt;
	const isUnclear = request.movesMoney === true && incompleteSuccessStatuses.has(status);
	if (status >= 200 && status < 300 && !isUnclear) return judgeSuccess(request, attempt);
	const hasRefusalStatus = refuses(request, status);
	const finding = hasRefusalStatus ? findingInRefusal(request, attempt) : undefined;
	const isRefused = hasRefusalStatus && finding === undefined;
	const wasNotDone = isRefused || isReadOnly(request);
	return {
		verdict: wasNotDone ? 'notDone' : 'unknown',
		code: isRefused ? 'refused' : 'unclear',
		mayBeRepeated:
			temporaryStatuses.has(status) &&
			(wasNotDone || isIdempotent(request)) &&
			// A repetition pays again if a refusal was no refusal.
			(request.movesMoney !== true || saysOnlyTooManyRequests(attempt)),
		...finding,
	};
}

/** Whether a status refuses such a request. */
function refuses({ movesMoney }: RequestTraits, status: number): boolean {
	if (movesMoney === true) return paymentRefusalStatuses.has(status);
	return status >= 300 && status < 500 && !statusesAfterPossibleWork.has(status);
}

function judgeNoResponse(
	request: RequestTraits,
	{ errorCode, mayHaveBeenSent }: NoResponse,
): Judgement {
	if (errorCode === endedBy.tooLate) return { verdict: 'notDone', code: 'notReached' };
	if (!mayHaveBeenSent)
		return {
			verdict: 'notDone',
			code: 'notReached',
			mayBeRepeated: !certificateCodes.has(errorCode),
		};
	const verdict = isReadOnly(request) ? 'notDone' : 'unknown';
	if (errorCode === endedBy.size) return { verdict, code: 'unclear' };
	return { verdict, code: 'noResponse', mayBeRepeated: isIdempotent(request) };
}

/** A success status counts only with the fields that the service document (§2, §4) shows in such a response. */
function judgeSuccess(request: RequestTraits, response: ServiceResponse): Judgement {
	if (request.movesMoney === true && saysSuccess(response.body, false))
		return judgeDenial(request, response);
	const finding = findingInSuccess(request, response);
	return finding === undefined ? { verdict: 'done' } : notShown(request, finding);
}

/** Judges a success status with `success: false`, from the endpoint that pays. */
function judgeDenial(request: RequestTraits, response: ServiceResponse): Judgement {
	const finding = findingInRefusal(request, response);
	if (finding !== undefined) return notShown(request, finding);
	const evidence = 'and says that it did not pay';
	return { verdict: 'notDone', code: 'refused', evidence };
}

/** The verdict on a success status that shows no success. */
function notShown(request: RequestTraits, finding: Finding): Judgement {
	const verdict = isReadOnly(request) ? 'notDone' : 'unknown';
	return { verdict, code: 'unclear', ...finding };
}

/** The reason why a success status shows no success. */
function findingInSuccess(request: RequestTraits, response: ServiceResponse): Finding | undefined {
	const { responseField } = request;
	const movesMoney = request.movesMoney === true;
	const { body } = response;
	if (movesMoney && !saysSuccess(body, true)) return { evidence: 'without saying whether it paid' };
	if (!isReadOnly(request) && body !== undefined && hasRepeatedName(response))
		return { evidence: 'with the same name twice in its body' };
	const maySayNothing = request.defaultOutput !== undefined;
	const isReadable =
		hasFields(body) || (maySayNothing && (body !== undefined || isPlain(response)));
	if (!isReadable) {
		const isEmpty = response.text.trim() === '';
		return { evidence: isEmpty ? 'with an empty body' : 'with a body that is not a JSON object' };
	}
	const finding = contradictionInBody(body ?? response.text, request);
	if (finding !== undefined || responseField === undefined) return finding;
	const found = valuesOf(body, responseField).filter((value) => value !== undefined);
	if (found.every(isAbsent)) return { evidence: `with no ${responseField} in its body` };
	const isProof = found.every(isTransactionHash) && new Set(found).size === 1;
	if (!movesMoney || isProof) return undefined;
	const matched = JSON.stringify(found);
	return { evidence: `with a ${responseField} that is no proof`, rule: 'transactionHash', matched };
}

/** Whether a body is empty or plain words, such as OK, and neither a web page nor the beginning of JSON. */
const isPlain = ({ text }: ServiceResponse): boolean => !/^\s*[{[]|<[a-z!/]/i.test(text);
