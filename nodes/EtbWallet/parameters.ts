/** Reads the node's parameters for its items. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { InvalidValueError, show } from '../shared/invalidValue';
import {
	hasExpression,
	isItemInExpressions,
	isSameForAllItems,
	savedParameter,
} from '../shared/n8n';

/**
 * Reads a parameter for an item; undefined for a parameter that n8n did not save.
 * @throws {Error} the error of an expression
 */
export type ParameterReader = (name: string, itemIndex: number) => unknown;

/** `{{ $json.field }}` or `{{ $json['field'] }}` and nothing else. */
const itemField = /^=\{\{\s*\$json(?:\.([A-Za-z_]\w*)|\[(['"])([^'"\\]+)\2\])\s*\}\}$/;

/**
 * Makes the reader of a node's parameters. To read a parameter through n8n is the largest cost of an item:
 * about 0.2 ms of CPU for each expression. So a parameter without an expression is read once. If an expression
 * only names a field of the item, its text or number is read from the item directly.
 */
export function parameterReader(context: IExecuteFunctions): ParameterReader {
	const items = context.getInputData();
	const takesFromItem = isItemInExpressions(context);
	const readers = new Map<string, (itemIndex: number) => unknown>();

	function readerOf(name: string): (itemIndex: number) => unknown {
		const saved = savedParameter(context, name);
		if (saved === undefined) return () => undefined;
		const read = (itemIndex: number): unknown =>
			context.getNodeParameter(name, itemIndex, undefined);
		const match = takesFromItem && typeof saved === 'string' ? itemField.exec(saved) : null;
		const field = match?.[1] ?? match?.[3];
		if (field !== undefined) {
			return (itemIndex) => {
				const value = items[itemIndex]?.json[field];
				return typeof value === 'string' || typeof value === 'number' ? value : read(itemIndex);
			};
		}
		if (hasExpression(saved)) return read;
		const value = read(0);
		return () => value;
	}

	return (name, itemIndex) => {
		const reader = readers.get(name) ?? readerOf(name);
		readers.set(name, reader);
		return reader(itemIndex);
	};
}

/**
 * The value of a field that holds for the whole run.
 * @throws {InvalidValueError} if an expression gives another value, or none, for some item
 */
export function readSameForAll<Value>(
	context: IExecuteFunctions,
	name: string,
	displayName: string,
	valueOf: (itemIndex: number) => Value,
	itemIndexes: readonly number[] = [...context.getInputData().keys()],
): Value {
	const [firstIndex = 0] = itemIndexes;
	const first = valueOf(firstIndex);
	if (isSameForAllItems(savedParameter(context, name))) return first;
	const text = JSON.stringify(first);
	for (const itemIndex of itemIndexes) {
		const value = valueOf(itemIndex);
		if (JSON.stringify(value) === text) continue;
		throw new InvalidValueError(
			`${displayName} is ${show(first)} for item ${firstIndex}, and ${show(value)} for item ${itemIndex}`,
			'It holds for the whole run: let its expression give the same for all items.',
		);
	}
	return first;
}
