/** Where the values of an item come from: the fields of the node, or ("Map Automatically") the item's own. */
import { updateDisplayOptions, type IExecuteFunctions, type INodeProperties } from 'n8n-workflow';
import { InvalidValueError, isAbsent, show } from '../../shared/invalidValue';
import { hasExpression, isItemInExpressions, savedParameter } from '../../shared/n8n';

/** Names of the fields that can be taken from the item itself. */
export interface Mapping {
	required: string[];
	optional: string[];
}

const fieldNames = ({ required, optional }: Mapping): string[] => [...required, ...optional];

/** The fields of an operation. If it has a mapping, also those that choose and explain it. */
export function withMapping(fields: INodeProperties[], mapping?: Mapping): INodeProperties[] {
	if (mapping === undefined) return fields;
	const names = fieldNames(mapping);
	const definedBelow = fields.filter(({ name }) => names.includes(name));
	return [
		{
			displayName: 'Mapping Mode',
			name: 'mappingMode',
			type: 'options',
			noDataExpression: true,
			options: [
				{
					name: 'Define Below',
					value: 'defineBelow',
					description: 'Set each field here, with fixed values or expressions',
				},
				{
					name: 'Map Automatically',
					value: 'autoMapInputData',
					description: `Take ${names.join(', ')} from the fields of the same name of each item`,
				},
			],
			default: 'defineBelow',
			description: 'Where the values of each item come from',
		},
		{
			displayName: noticeFor(mapping),
			name: 'mappingNotice',
			type: 'notice',
			default: '',
			displayOptions: { show: { mappingMode: ['autoMapInputData'] } },
		},
		...updateDisplayOptions({ show: { mappingMode: ['defineBelow'] } }, definedBelow),
		...fields.filter((field) => !definedBelow.includes(field)),
	];
}

function noticeFor({ required, optional }: Mapping): string {
	const quoted = (names: string[]): string => names.map((name) => `"${name}"`).join(', ');
	const perhaps = optional.length === 0 ? '' : ` and, if there is one, ${quoted(optional)}`;
	return `Takes ${quoted(required)}${perhaps} from each item. Its other fields are not sent.`;
}

/** Reads a field for an item. @throws {Error} whatever an expression throws; {InvalidValueError} for what is almost its name */
export type ParameterReader = (name: string, itemIndex: number) => unknown;

export function readerFor(context: IExecuteFunctions, mapping?: Mapping): ParameterReader {
	const fromParameters = parameterReader(context);
	if (mapping === undefined || !mapsAutomatically(context)) return fromParameters;
	const names = new Set(fieldNames(mapping));
	const items = context.getInputData();
	return (name, itemIndex) =>
		names.has(name)
			? valueInItem(items[itemIndex]?.json ?? {}, name)
			: fromParameters(name, itemIndex);
}

const mapsAutomatically = (context: IExecuteFunctions): boolean =>
	context.getNodeParameter('mappingMode', 0, 'defineBelow') === 'autoMapInputData';

/** `{{ $json.field }}` or `{{ $json['field'] }}` and nothing else. */
const itemField = /^=\{\{\s*\$json(?:\.([A-Za-z_]\w*)|\[(['"])([^'"\\]+)\2\])\s*\}\}$/;

/**
 * Reads node parameters. To read one through n8n costs most of all that is done per item: so one without an expression is
 * read once, and a text or number that an expression only takes from the item is taken from it here.
 */
function parameterReader(context: IExecuteFunctions): ParameterReader {
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

/** The items of a run have mostly the same keys. */
const namesWithoutCase = new Map<string, string>();
const rememberedNames = 1_000;

function withoutCase(name: string): string {
	const known = namesWithoutCase.get(name);
	if (known !== undefined) return known;
	if (namesWithoutCase.size >= rememberedNames) namesWithoutCase.clear();
	const plain = name
		.normalize('NFKC')
		.toLowerCase()
		.replace(/[^a-z0-9]/g, '');
	namesWithoutCase.set(name, plain);
	return plain;
}

/** The keys of an item that are the name of a field, or almost. */
export const similarKeys = (json: object, name: string): string[] =>
	Object.keys(json).filter((key) => withoutCase(key) === withoutCase(name));

/** Refuses a key that is almost the name: without its "Reference" a payment could be made twice. @throws {InvalidValueError} */
export function valueInItem(json: Record<string, unknown>, name: string): unknown {
	const value = json[name];
	if (!isAbsent(value)) return value;
	const similar = similarKeys(json, name).find((key) => !isAbsent(json[key]));
	if (similar === undefined) return value;
	throw new InvalidValueError(
		`The item has ${show(similar)} where this node takes "${name}"`,
		`Rename the field or column to ${name}: upper and lower case matter.`,
	);
}

/** Whether each item should have a value for a field: an expression gives it, or an item has a column of that name. */
export function isMapped(context: IExecuteFunctions, name: string): boolean {
	if (!mapsAutomatically(context)) {
		const saved = savedParameter(context, name);
		return typeof saved === 'string' && /^=\s*\S/.test(saved);
	}
	return context.getInputData().some(({ json }) => similarKeys(json, name).length > 0);
}
