/** Values of which nothing is known: what was thrown, and what n8n or the network hands over. */

/** Reads a property of any value; undefined for null, undefined and missing properties. */
export function property(value: unknown, name: string | symbol): unknown {
	return Reflect.get(Object(value) as object, name);
}

export const isObject = (value: unknown): value is object =>
	typeof value === 'object' && value !== null;

export const asError = (thrown: unknown): Error =>
	thrown instanceof Error ? thrown : new Error(String(thrown));

export const messageOf = (thrown: unknown): string => asError(thrown).message;
