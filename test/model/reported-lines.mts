// The lines that a try of a run told about each item, in every form in which it tells them.
import { fieldsOf, type Json, type TryResult } from './execution.mts';

/** A line about an item. */
export interface Line {
	item: number;
	outcome: string;
	/** Undefined for what was not attempted. */
	code?: string;
	toUserId?: string;
}

/** Lists of a stopped run, by outcome. */
const listed = ['paid', 'alreadyPaid', 'ready', 'notPaid', 'unknown', 'notAttempted'] as const;

/** @returns undefined when the error says of the whole run that nothing was done */
export function linesOf(result: TryResult): Line[] | undefined {
	if ('output' in result) {
		return result.output.map((each) => {
			const json = fieldsOf(each.json);
			const fields = fieldsOf(json.error ?? json);
			return lineOf(fields, fieldsOf(each.pairedItem).item, fields.outcome);
		});
	}
	const context: unknown = Reflect.get(Object(result.error), 'context');
	const data: unknown = Reflect.get(Object(context), 'data');
	const lines = listed.flatMap((outcome) => {
		const list: unknown = Reflect.get(Object(data), outcome);
		return Array.isArray(list)
			? list.map((each: unknown) => {
					const fields = fieldsOf(each);
					return lineOf(fields, fields.item, outcome);
				})
			: [];
	});
	return lines.length > 0 ? lines : undefined;
}

function lineOf(fields: Json, item: unknown, outcome: unknown): Line {
	const { code, toUserId } = fields;
	return {
		item: typeof item === 'number' ? item : -1,
		outcome: typeof outcome === 'string' ? outcome : 'none',
		...(typeof code === 'string' && { code }),
		...(typeof toUserId === 'string' && { toUserId }),
	};
}

/** The text of a failure, for the log. */
export const messageOf = (error: unknown): string =>
	error instanceof Error ? error.message : String(error);
