/** Calls an endpoint of the service: retries if it is safe, flattens the output, and describes failures. */
import type {
	IDataObject,
	IExecuteFunctions,
	IHookFunctions,
	IHttpRequestOptions,
} from 'n8n-workflow';
import type { Account } from '../account';
import { requestUntil } from '../n8n';
import { hasFields } from '../unknownValues';
import { makeAttempt } from './attempt';
import { describeFailure, type CallFailure } from './failure';
import type { ServiceRequest } from './request';
import { attemptWithRetries, type JudgedCall } from './retries';

export type ServiceResult = { ok: true; output: IDataObject } | { ok: false; failure: CallFailure };

interface CallOptions {
	/** The time in ms of each attempt, from its start to the last byte of the response. */
	timeoutMs?: number;
	/** The time in ms that an attempt may take if it begins now; 0 or less if it is too late. */
	getAllowedMs?: () => number;
	/** The signal after which no further attempt begins. It cuts off an attempt under way, unless `finishesAfterStop`. */
	stop?: AbortSignal;
	/** Whether a request under way goes on after `stop`, so that it becomes known how it ended. */
	finishesAfterStop?: boolean;
}

/**
 * Calls an endpoint, with the retries that it allows. It never throws because of the service or the network.
 * @returns flat output, whether or not the service wraps it in `data`; or the failure
 */
export async function callService(
	context: IExecuteFunctions | IHookFunctions,
	account: Account,
	request: ServiceRequest,
	{
		timeoutMs = 60_000,
		getAllowedMs = () => Infinity,
		stop,
		finishesAfterStop = false,
	}: CallOptions = {},
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
		// Following a redirect would send the API key to any host that the response names.
		disableFollowRedirect: true,
	};
	const send = async (signal: AbortSignal) =>
		await requestUntil(context, account, httpRequest, signal);
	const cutOff = finishesAfterStop ? undefined : stop;
	const judged = await attemptWithRetries(
		request,
		async () => await makeAttempt(send, Math.min(timeoutMs, getAllowedMs()), cutOff),
		getAllowedMs,
		stop,
	);
	return resultOf(account, request, judged);
}

/** The result of a call. The fields of a `data` object are lifted to the top of the output. */
export function resultOf(
	account: Account,
	request: ServiceRequest,
	{ last, judgement, attempts }: JudgedCall,
): ServiceResult {
	if (judgement.verdict !== 'done')
		return { ok: false, failure: describeFailure(request, last, judgement, account, attempts) };
	const body = last.kind === 'response' ? last.body : undefined;
	const { data, ...rest } = hasFields(body) ? body : {};
	const fields = hasFields(data) ? { ...rest, ...data } : hasFields(body) ? body : {};
	return { ok: true, output: { ...request.defaultOutput, ...fields } };
}
