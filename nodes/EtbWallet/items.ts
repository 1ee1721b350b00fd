import type { INodeExecutionData } from 'n8n-workflow';
import { failureError, invalidValueError } from '../shared/serviceError';
import type { ServiceResult } from '../shared/transport';
import { callService } from '../shared/transport';
import { asInvalidValue } from '../shared/validation';
import type { ItemOperation } from './actions/operation';
import { retryMemory } from './retryMemory';
import type { Run } from './run';
import { errorItem } from './run';

/**
 * Calls an endpoint once for each item, in order.
 * @throws {NodeApiError | NodeOperationError} for the first item that fails, unless the node continues on fail
 */
export async function callForEachItem(
	operation: ItemOperation,
	run: Run,
): Promise<INodeExecutionData[]> {
	const { context, account, read, itemCount } = run;
	const signal = context.getExecutionCancelSignal();
	const memory = retryMemory<ServiceResult>(context, isServiceResult);
	const output: INodeExecutionData[] = [];
	for (let itemIndex = 0; itemIndex < itemCount && signal?.aborted !== true; itemIndex++) {
		const result = await callOnce(itemIndex);
		if (result.ok) {
			output.push({ json: result.output, pairedItem: { item: itemIndex } });
		} else if (context.continueOnFail()) {
			const { outcome, ...error } = result.failure;
			output.push(errorItem(outcome === 'unknown' ? { ...error, outcome } : error, itemIndex));
		} else {
			throw failureError(context.getNode(), result.failure, itemIndex);
		}
	}
	if (!output.some(({ json }) => 'error' in json)) memory?.forget();
	return output;

	async function callOnce(itemIndex: number): Promise<ServiceResult> {
		const recalled = memory?.recall(itemIndex);
		if (recalled !== undefined) return recalled;
		let request;
		try {
			request = operation.request(read, itemIndex, account);
		} catch (error) {
			if (!context.continueOnFail()) throw invalidValueError(context.getNode(), error, itemIndex);
			const { message, remedy: description } = asInvalidValue(error);
			return { ok: false, failure: { outcome: 'notDone', message, description } };
		}
		const result = await callService(context, account, request, { signal });
		// A POST that was or may have been carried out must not be repeated by "Retry On Fail".
		if (request.method === 'POST' && (result.ok || result.failure.outcome === 'unknown')) {
			memory?.remember(itemIndex, result);
		}
		return result;
	}
}

function isServiceResult(value: unknown): value is ServiceResult {
	return typeof value === 'object' && value !== null && 'ok' in value;
}
