import type { IExecuteFunctions, NodeParameterValueType } from 'n8n-workflow';
import { InvalidValueError, isAbsent, show } from '../shared/validation';

/** Reads a field for an item. */
export type ParameterReader = (name: string, itemIndex: number) => unknown;

/** `{{ $json.field }}` or `{{ $json['field'] }}` and nothing else. */
const itemField = /^=\{\{\s*\$json(?:\.([A-Za-z_]\w*)|\[(['"])([^'"\\]+)\2\])\s*\}\}$/;

/**
 * Reads node parameters through n8n, which is what costs most per item. So those without an expression are read
 * once, and text and numbers that an expression only takes from the item are taken from it here.
 */
export function parameterReader(context: IExecuteFunctions): ParameterReader {
	const { parameters } = context.getNode();
	const items = context.getInputData();
	const readers = new Map<string, (itemIndex: number) => unknown>();

	function readerOf(name: string): (itemIndex: number) => unknown {
		const read = (itemIndex: number): unknown =>
			context.getNodeParameter(name, itemIndex, undefined);
		const field = fieldIn(parameters[name]);
		if (field !== undefined) {
			return (itemIndex) => {
				const value = items[itemIndex]?.json[field];
				return typeof value === 'string' || typeof value === 'number' ? value : read(itemIndex);
			};
		}
		if (JSON.stringify(parameters[name] ?? '').includes('"=')) return read;
		const value = read(0);
		return () => value;
	}

	return (name, itemIndex) => {
		const reader = readers.get(name) ?? readerOf(name);
		readers.set(name, reader);
		return reader(itemIndex);
	};
}

function fieldIn(parameter: NodeParameterValueType | undefined): string | undefined {
	const match = typeof parameter === 'string' ? itemField.exec(parameter) : null;
	return match?.[1] ?? match?.[3];
}

const withoutCase = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/**
 * Reads the fields straight from the items ("Map Automatically"). What is almost the name of a field is refused: a
 * payment whose "Reference" was overlooked would have no protection.
 */
export function mappedReader(context: IExecuteFunctions): ParameterReader {
	const items = context.getInputData();
	return (name, itemIndex) => {
		const { json = {} } = items[itemIndex] ?? {};
		const value = json[name];
		if (!isAbsent(value)) return value;
		const wanted = withoutCase(name);
		const similar = Object.keys(json).find(
			(key) => key !== name && withoutCase(key) === wanted && !isAbsent(json[key]),
		);
		if (similar === undefined) return value;
		throw new InvalidValueError(
			`The item has ${show(similar)} where Map Automatically takes "${name}"`,
			`Rename the field or column to ${name}: upper and lower case matter.`,
		);
	};
}
