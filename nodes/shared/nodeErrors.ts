/** Errors of n8n for values that cannot be used. `service/failure.ts` has those of the service. */
import type { INode } from 'n8n-workflow';
import { asInvalidValue } from './invalidValue';
import { operationError } from './n8n';

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
export function invalidValueNodeError(node: INode, error: unknown, itemIndex?: number): Error {
	const { cause, message, remedy } = asInvalidValue(error);
	if (cause instanceof Error) return cause;
	return operationError(node, withItem(message, itemIndex), remedy, itemIndex);
}
