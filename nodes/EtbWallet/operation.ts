/** The interface of an operation, and the plain kind of operation: one call of an endpoint for each item. */
import type { IExecuteFunctions, INodeExecutionData, INodeProperties } from 'n8n-workflow';
import { loadAccount, type Account } from '../shared/account';
import { errorItem } from '../shared/n8n';
import { runMemoryOf } from '../shared/runMemory';
import { callService, type ServiceResult } from '../shared/service/call';
import { invalidValueFailure, toNodeError } from '../shared/nodeErrors';
import { serviceNodeError, type CallFailure } from '../shared/service/failure';
import { isIdempotent, type ServiceRequest } from '../shared/service/request';
import { hideSecrets } from '../shared/service/secrets';
import type { ParameterReader } from './parameters';

/** One operation, as the editor offers it. */
export interface Operation {
	menuEntry: { name: string; value: string; action: string; description: string };
	/** The fields that are shown when the operation is selected; `index.ts` adds the conditions for that. */
	fields: INodeProperties[];
	/** @returns output items in input order, each paired with its input item */
	execute(
		context: IExecuteFunctions,
		read: ParameterReader,
	): INodeExecutionData[] | Promise<INodeExecutionData[]>;
}

/**
 * Fails all items with the same error, for example because of the credential.
 * @returns items for the error output
 * @throws {NodeOperationError} unless the node continues on fail
 */
export function failEachItem(context: IExecuteFunctions, error: unknown): INodeExecutionData[] {
	if (!context.continueOnFail()) throw toNodeError(context.getNode(), error);
	const failure = { ...invalidValueFailure(error), code: 'settings' };
	return context.getInputData().map((_, itemIndex) => errorItem(failure, itemIndex));
}

/**
 * Makes the request for an item.
 * @throws {InvalidValueError} for a field that cannot be used
 */
type ItemRequest = (read: ParameterReader, itemIndex: number, account: Account) => ServiceRequest;

/**
 * Makes an operation that calls an endpoint once for each item, in order. The fields of all items are checked
 * before the first call.
 * @throws {NodeApiError | NodeOperationError} for the first item that fails, unless the node continues on fail
 */
export function callForEachItem(requestFor: ItemRequest): Operation['execute'] {
	return async (context, read) => {
		let account: Account;
		try {
			account = await loadAccount(context);
		} catch (error) {
			return failEachItem(context, error);
		}
		const prepared = context.getInputData().map((_, itemIndex): Prepared => {
			try {
				return { request: requestFor(read, itemIndex, account) };
			} catch (error) {
				if (!context.continueOnFail()) throw toNodeError(context.getNode(), error, itemIndex);
				return { failure: { verdict: 'notDone', ...invalidValueFailure(error) } };
			}
		});
		const stop = context.getExecutionCancelSignal();
		const { kept: keptResults } = runMemoryOf<ServiceResult>(context);
		const output: INodeExecutionData[] = [];
		for (const [itemIndex, { request, failure }] of prepared.entries()) {
			if (stop?.aborted === true) break;
			const result =
				keptResults.get(itemIndex) ??
				(request === undefined
					? { ok: false, failure }
					: await callService(context, account, request, { stop }));
			if (request !== undefined && mustNotBeRepeated(request, result))
				keptResults.set(itemIndex, result);
			if (!result.ok && !context.continueOnFail()) {
				const { remedy } = result.failure;
				const steps = [remedy, describeCompletedItems(keptResults, account)].filter(Boolean);
				const error = { ...result.failure, remedy: steps.join('<br/>') };
				throw serviceNodeError(context.getNode(), error, itemIndex);
			}
			output.push(outputItem(result, itemIndex));
		}
		return output;
	};
}

/** The request for an item, or the reason why a value of the item cannot be used. */
type Prepared =
	| { request: ServiceRequest; failure?: undefined }
	| { request?: undefined; failure: CallFailure };

function outputItem(result: ServiceResult, itemIndex: number): INodeExecutionData {
	if (result.ok) return { json: result.output, pairedItem: { item: itemIndex } };
	const { verdict, ...error } = result.failure;
	return errorItem({ ...error, ...(verdict === 'unknown' && { outcome: 'unknown' }) }, itemIndex);
}

/**
 * The kept results of earlier items, for the error: only those of POST requests are kept. n8n drops the output
 * when the node fails, and the service shows no way to list users (service document §4), so their `id` would be
 * lost.
 */
function describeCompletedItems(
	results: ReadonlyMap<number, ServiceResult>,
	account: Account,
): string {
	const made = [...results].flatMap(([itemIndex, result]) =>
		result.ok ? [`item ${itemIndex}: ${JSON.stringify(result.output)}`] : [],
	);
	return made.length === 0 ? '' : `Done before: ${hideSecrets(made.join(', '), account)}`;
}

/** Whether the call was carried out, or may have been, and a second call would do it twice. */
const mustNotBeRepeated = (request: ServiceRequest, result: ServiceResult): boolean =>
	!isIdempotent(request) && (result.ok || result.failure.verdict === 'unknown');
