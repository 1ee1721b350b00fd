/** The output schemas that n8n reads: JSON Schema, of which it uses types and properties. */
import { z } from 'zod';

/** The schema of a value. Properties are in the order in which the editor shows them. */
export interface Schema {
	type: string;
	properties?: Record<string, Schema>;
	/** The properties that are always there. */
	required?: string[];
	items?: Schema;
}

const typed = z.object({ type: z.string(), required: z.array(z.string()).optional() });

export const schemaFile: z.ZodType<Schema> = typed.extend({
	properties: z.lazy(() => z.record(schemaFile)).optional(),
	items: z.lazy(() => schemaFile).optional(),
});

function typeOf(value: unknown): string {
	if (value === null) return 'null';
	return Array.isArray(value) ? 'array' : typeof value;
}

const fieldsOf = (value: unknown): Map<string, unknown> =>
	new Map(Object.entries(Object(value) as object));

/**
 * The schema that all samples fit.
 * @throws {Error} when a field has values of several types, which n8n's editor cannot show
 */
export function schemaOf(samples: unknown[], path = 'output'): Schema {
	const types = [...new Set(samples.map(typeOf))];
	const [type] = types;
	if (type === undefined || types.length > 1)
		throw new Error(`${path} is ${types.join(' and ') || 'never given'}`);
	if (type === 'array') {
		const items = samples.flatMap((sample) => (Array.isArray(sample) ? (sample as unknown[]) : []));
		return { type, ...(items.length > 0 && { items: schemaOf(items, `${path}[]`) }) };
	}
	if (type !== 'object') return { type };
	const all = samples.map(fieldsOf);
	const names = [...new Set(all.flatMap((fields) => [...fields.keys()]))];
	const required = names.filter((name) => all.every((fields) => fields.has(name)));
	const properties = names.map((name): [string, Schema] => [
		name,
		schemaOf(
			all.flatMap((fields) => (fields.has(name) ? [fields.get(name)] : [])),
			`${path}.${name}`,
		),
	]);
	return {
		type,
		properties: Object.fromEntries(properties),
		...(required.length > 0 && { required }),
	};
}

/** The differences between a value and a schema. Further fields fit, because the service may add some. */
export function misfits(value: unknown, schema: Schema, path = 'output'): string[] {
	const type = typeOf(value);
	if (type !== schema.type) return [`${path} is ${type}, not ${schema.type}`];
	if (Array.isArray(value)) {
		const { items } = schema;
		return items ? value.flatMap((item) => misfits(item, items, `${path}[]`)) : [];
	}
	const fields = fieldsOf(value);
	const missing = (schema.required ?? []).filter((name) => !fields.has(name));
	return [
		...missing.map((name) => `${path}.${name} is missing`),
		...Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
			fields.has(name) ? misfits(fields.get(name), property, `${path}.${name}`) : [],
		),
	];
}
