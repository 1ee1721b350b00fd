/** Reads the node's parameters for its items. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { hasExpression, isItemInExpressions, savedParameter } from '../../shared/n8n';

/** Reads a parameter for an item; undefined when n8n saved none. @throws {Error} whatever an expression throws */
export type ParameterReader = (name: string, itemIndex: number) => unknown;

/** `{{ $json.field }}` or `{{ $json['field'] }}` and nothing else. */
const itemField = /^=\{\{\s*\$json(?:\.([A-Za-z_]\w*)|\[(['"])([^'"\\]+)\2\])\s*\}\}$/;

/**
 * To read a parameter through n8n costs most of all that is done per item: so one without an expression is read once, and
 * a text or number that an expression only takes from the item is taken from it here.
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
