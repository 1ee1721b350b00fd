/** Values of an unknown type: thrown errors, and values from n8n or the network. */
import type { IDataObject } from 'n8n-workflow';

/** A property of any value; undefined for null, undefined and missing properties. */
export function property(value: unknown, name: string | symbol): unknown {
	return Reflect.get(Object(value) as object, name);
}

export const isObject = (value: unknown): value is object =>
	typeof value === 'object' && value !== null;

/** Whether a value is an object with named fields, and not an array. */
export const hasFields = (value: unknown): value is IDataObject =>
	isObject(value) && !Array.isArray(value);

export const asError = (thrown: unknown): Error =>
	thrown instanceof Error ? thrown : new Error(String(thrown));

/** The message of an error, also of one that n8n gives as data. */
export function messageOf(thrown: unknown): string {
	const message = property(thrown, 'message');
	return typeof message === 'string' ? message : asError(thrown).message;
}
