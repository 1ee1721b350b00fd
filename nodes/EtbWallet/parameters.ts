import type { IExecuteFunctions } from 'n8n-workflow';

/** Reads a field for an item. */
export type ParameterReader = (name: string, itemIndex: number) => unknown;

/**
 * Reads node parameters through n8n, those without an expression only once: reading them is what costs
 * most per item.
 */
export function parameterReader(context: IExecuteFunctions): ParameterReader {
	const { parameters } = context.getNode();
	const isStatic = (name: string): boolean =>
		!JSON.stringify(parameters[name] ?? '').includes('"=');
	const known = new Map<string, unknown>();
	return (name, itemIndex) => {
		if (known.has(name)) return known.get(name);
		const value: unknown = context.getNodeParameter(name, itemIndex, undefined);
		if (isStatic(name)) known.set(name, value);
		return value;
	};
}

/** Reads the fields straight from the items ("Map Automatically"). */
export function itemReader(context: IExecuteFunctions): ParameterReader {
	const items = context.getInputData();
	return (name, itemIndex) => items[itemIndex]?.json[name];
}
