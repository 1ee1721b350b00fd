import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { Account } from '../shared/account';
import { invalidValueError } from '../shared/serviceError';
import { asInvalidValue } from '../shared/validation';
import type { ParameterReader } from './parameters';

/** Everything one execution of the node works with. */
export interface Run {
	context: IExecuteFunctions;
	account: Account;
	read: ParameterReader;
	itemCount: number;
}

/** What an error item tells. */
export interface ItemError {
	message: string;
	description?: string;
	httpCode?: string;
	[detail: string]: string | number | undefined;
}

/**
 * An item for the error output. Its single key is what makes n8n send it there, and the object form of
 * `pairedItem` is what makes n8n add the fields of the input item.
 */
export function errorItem(error: ItemError, itemIndex: number): INodeExecutionData {
	return { json: { error: { ...error } }, pairedItem: { item: itemIndex } };
}

/**
 * What cannot be used for the whole run, such as the credential, fails each item alike.
 * @throws {NodeOperationError} unless the node continues on fail
 */
export function failEachItem(context: IExecuteFunctions, error: unknown): INodeExecutionData[] {
	if (!context.continueOnFail()) throw invalidValueError(context.getNode(), error);
	const { message, remedy: description } = asInvalidValue(error);
	return context
		.getInputData()
		.map((_, itemIndex) => errorItem({ message, description }, itemIndex));
}
