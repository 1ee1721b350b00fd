import type { INodeExecutionData } from 'n8n-workflow';
import { failureError, invalidValueError } from '../shared/serviceError';
import type { ServiceRequest, ServiceResult } from '../shared/transport';
import { callService } from '../shared/transport';
import { InvalidValueError, asInvalidValue } from '../shared/validation';
import type { ItemOperation } from './actions/operation';
import { RetryMemory } from './retryMemory';
import type { Run } from './run';
import { errorItem } from './run';

/** What earlier tries of a node run did, or may have done. */
const memory = new RetryMemory<ServiceResult>();

/**
 * Calls an endpoint once for each item, in order. The fields of all items are checked before the first call.
 * @throws {NodeApiError | NodeOperationError} for the first item that fails, unless the node continues on fail
 */
export async function callForEachItem(
	operation: ItemOperation,
	run: Run,
): Promise<INodeExecutionData[]> {
	const { context, account } = run;
	const requests = readRequests(operation, run);
	const signal = context.getExecutionCancelSignal();
	const doneBefore = memory.of(context);
	const output: INodeExecutionData[] = [];
	for (const [itemIndex, request] of requests.entries()) {
		if (signal?.aborted === true) break;
		const result = await callOnce(request, itemIndex);
		if (result.ok) {
			output.push({ json: result.output, pairedItem: { item: itemIndex } });
		} else if (context.continueOnFail()) {
			const { outcome, ...error } = result.failure;
			output.push(errorItem(outcome === 'unknown' ? { ...error, outcome } : error, itemIndex));
		} else {
			throw failureError(context.getNode(), result.failure, itemIndex);
		}
	}
	return output;

	async function callOnce(
		request: ServiceRequest | InvalidValueError,
		itemIndex: number,
	): Promise<ServiceResult> {
		const recalled = doneBefore.get(itemIndex);
		if (recalled !== undefined) return recalled;
		if (request instanceof InvalidValueError) {
			const { message, remedy: description } = request;
			return { ok: false, failure: { outcome: 'notDone', message, description } };
		}
		const result = await callService(context, account, request, { signal });
		// A POST that was or may have been carried out must not be repeated by "Retry On Fail".
		if (request.method === 'POST' && (result.ok || result.failure.outcome === 'unknown')) {
			doneBefore.set(itemIndex, result);
		}
		return result;
	}
}

/** @throws {Error} for the first item with a value that cannot be used, unless the node continues on fail */
function readRequests(
	operation: ItemOperation,
	{ context, account, read, itemCount }: Run,
): (ServiceRequest | InvalidValueError)[] {
	return Array.from({ length: itemCount }, (_, itemIndex) => {
		try {
			return operation.request(read, itemIndex, account);
		} catch (error) {
			if (!context.continueOnFail()) throw invalidValueError(context.getNode(), error, itemIndex);
			return asInvalidValue(error);
		}
	});
}
