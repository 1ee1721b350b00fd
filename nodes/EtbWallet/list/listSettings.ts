/** The settings of a list, read from the fields of Check List. */
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { readText } from '../../shared/fields';
import { fieldError, isAbsent } from '../../shared/invalidValue';
import {
	hasExpression,
	isSameForAllItems,
	isRetryExecution,
	isStartedBySchedule,
	isStartedInEditor,
	savedParameter,
} from '../../shared/n8n';
import { property } from '../../shared/unknownValues';
import { readSameForAll, type ParameterReader } from '../parameters';
import { readPeriod, type Period } from './period';
import { columnNames, type Column } from './columns';

export interface ListSettings {
	/** The purpose of the list, such as salary. It begins each reference. */
	purpose: string;
	period: Period;
	now: Date;
	/** The headings in the user's own list, for the columns whose heading is not their name. */
	ownHeadings?: Partial<Record<Column, string>>;
	/** Known People: rows of a table, or n8n's items of them; undefined if the list has the wallets. */
	people?: unknown;
	/** Whether a later node gives a wallet to each person without one. */
	setsUpPeople?: boolean;
	/** Known Payments: the register, in the same forms; undefined if it is not compared. */
	register?: unknown;
}

/** The longest purpose, in characters: a whole reference has at most 200. */
const maxPurposeLength = 50;

/**
 * Reads the fields of Check List.
 * @throws {InvalidValueError}
 */
export function readListSettings(context: IExecuteFunctions, read: ParameterReader): ListSettings {
	const now = new Date();
	// Empty rows are left out: most rows are empty, and an expression costs more than all other work on a row.
	const filled = (): number[] =>
		context.getInputData().flatMap(({ json }, index) => (isEmpty(json) ? [] : [index]));
	const ofList = (name: string, displayName: string): unknown => {
		const saved = savedParameter(context, name);
		const valueOf = (itemIndex: number): unknown => read(name, itemIndex);
		if (isSameForAllItems(saved)) return valueOf(0);
		return readSameForAll(context, name, displayName, valueOf, filled());
	};
	// Only an empty field means no table. An expression that gives nothing is a mistake, and an error.
	const table = (name: string): unknown =>
		savedParameter(context, name) ? (read(name, 0) ?? null) : undefined;
	const purpose = readText(
		'Purpose',
		ofList('purpose', 'Purpose'),
		'Enter a word for what the list is for, such as salary.',
	);
	if (purpose.length > maxPurposeLength || !/^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._-]*$/u.test(purpose)) {
		throw fieldError(
			'Purpose',
			purpose,
			`is not a word of at most ${maxPurposeLength} letters`,
			'Use letters, digits, blanks and dashes.',
		);
	}
	const isChosenByExpression =
		hasExpression(savedParameter(context, 'period')) && !isStartedBySchedule(context);
	const period = readPeriod({
		payDay: ofList('payDay', 'Pay Day'),
		period: ofList('period', 'Period'),
		now,
		isChosen: isStartedInEditor(context) || isChosenByExpression,
		isRetryExecution: isRetryExecution(context),
	});
	return {
		purpose,
		period,
		now,
		ownHeadings: readOwnHeadings(read('columns', 0)),
		people: table('knownPeople'),
		register: table('knownPayments'),
		setsUpPeople: read('setsUpPeople', 0) === true,
	};
}

const isEmpty = (json: IDataObject): boolean =>
	[Array.isArray(json.row) ? json.row : Object.values(json)]
		.flat()
		.every((value) => value === '' || isAbsent(value));

/** @throws {InvalidValueError} */
function readOwnHeadings(given: unknown): ListSettings['ownHeadings'] {
	const own: ListSettings['ownHeadings'] = {};
	for (const column of columnNames) {
		const heading = property(given, column);
		if (isAbsent(heading)) continue;
		if (typeof heading !== 'string') {
			const remedy = 'Write the heading as it stands in your list.';
			throw fieldError(`The heading of ${column} in Columns`, heading, 'is not text', remedy);
		}
		if (heading.trim() !== '') own[column] = heading.trim().replace(/\s+/g, ' ');
	}
	return own;
}
