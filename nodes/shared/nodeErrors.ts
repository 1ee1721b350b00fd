/** Errors of n8n. `service/failure.ts` has those of the service. */
import { NodeApiError, NodeOperationError, type INode } from 'n8n-workflow';
import { asInvalidValue } from './invalidValue';

/**
 * Makes an n8n error with exactly this message. n8n replaces a message that contains a system error code
 * anywhere, such as "EPERM" in "housePermit", so the message is set again. If n8n stops replacing messages,
 * that is no longer needed.
 * Noticed by: `test/engine/disbursement.test.mts`.
 * @param remedy the advice for the user, which n8n calls the description
 * @param data further data for a workflow that handles the error
 */
export function operationError(
	node: INode,
	message: string,
	remedy: string,
	itemIndex?: number,
	data?: Record<string, unknown>,
): NodeOperationError {
	const error = new NodeOperationError(node, message, { description: remedy, itemIndex });
	error.message = message;
	if (data !== undefined) error.context.data = data;
	return error;
}

/** Makes the n8n error for a failed call, with exactly this message (see `operationError`). */
export function apiError(
	node: INode,
	message: string,
	{ remedy: description, httpCode }: { remedy: string; httpCode?: string },
	itemIndex?: number,
): NodeApiError {
	const error = new NodeApiError(node, { message }, { message, description, httpCode, itemIndex });
	error.message = message;
	return error;
}

/** Adds the item to an error that stops the workflow. Items of an error output have `pairedItem` instead. */
export function withItem(message: string, itemIndex?: number): string {
	return itemIndex === undefined ? message : `${message} [item ${itemIndex}]`;
}

/** The failure of an item for a value that cannot be used. */
export function invalidValueFailure(error: unknown): {
	code: 'invalid';
	message: string;
	remedy: string;
} {
	const { message, remedy } = asInvalidValue(error);
	return { code: 'invalid', message, remedy };
}

/** The n8n error for a value that cannot be used. An error that n8n threw stays as it is. */
export function toNodeError(node: INode, error: unknown, itemIndex?: number): Error {
	const { cause, message, remedy } = asInvalidValue(error);
	if (cause instanceof Error) return cause;
	return operationError(node, withItem(message, itemIndex), remedy, itemIndex);
}
