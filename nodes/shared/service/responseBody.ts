/** Reads the body of a response: its fields and their values, in whatever shape it comes. */
import { isAbsent } from '../invalidValue';
import { isObject, property } from '../unknownValues';
import type { ServiceResponse } from './attempt';

/** The values of a name at the top of a body and in its `data` (service document §4). */
export const valuesOf = (body: unknown, name: string): unknown[] =>
	[body, property(body, 'data')].map((each) => property(each, name));

/** The same for any spelling of a name, such as `to_user_id` for `toUserId`. */
export const valuesSpelledLike = (body: unknown, name: string): unknown[] =>
	[body, property(body, 'data')].flatMap((each) =>
		Object.keys(isObject(each) ? each : {})
			.filter((own) => spelling(own) === spelling(name))
			.map((own) => property(each, own)),
	);

const spelling = (name: string): string => name.replace(/[_-]/g, '').toLowerCase();

export const saysSuccess = (body: unknown, value: boolean): boolean =>
	valuesOf(body, 'success').includes(value);

/** Whether an object in the text of a response has a name twice. Parsing keeps only the last of the values. */
export const hasRepeatedName = ({ text, body }: ServiceResponse): boolean =>
	countNames(text) !== countNames(JSON.stringify(body));

const countNames = (json: string): number =>
	json.match(/"(?:[^"\\]|\\.)*"(?:\s*:)?/g)?.filter((each) => each.endsWith(':')).length ?? 0;

/**
 * The longest name, in characters. The beginning of a longer one is cut off, so that a hostile response takes
 * linear time.
 */
const maxNameLength = 80;

/** The texts, numbers and booleans of a body, by the names that lead to them. */
type Fields = Map<string, Set<string>>;

/** The values of a body, under names such as `data.status`. A `{ value: … }` in it does not change the name. */
export function fieldsIn(body: unknown): Fields {
	const fields: Fields = new Map();
	const collect = (value: unknown, name: string): void => {
		if (isAbsent(value)) return;
		if (!isObject(value)) {
			const found = fields.get(name);
			if (found === undefined) fields.set(name, new Set([String(value).trim()]));
			else found.add(String(value).trim());
		} else if (Array.isArray(value)) {
			for (const part of value) collect(part, name);
		} else {
			for (const [own, part] of Object.entries(value)) collect(part, nameOfPart(name, own.trim()));
		}
	};
	collect(body, '');
	return fields;
}

function nameOfPart(name: string, own: string): string {
	if (name === '') return own.slice(-maxNameLength);
	return partNames.test(own) ? name : `${name}.${own}`.slice(-maxNameLength);
}

/** Names that are left out of the path, such as in a state that is an object: `{ value: 'failed' }`. */
const partNames = /^(?:value|name|text|type|label|current|key|[#_$](?:text|value)?)$/i;
