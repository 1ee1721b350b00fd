/** Disbursement → Check List: its fields in the editor. `list/` has the rules. */
import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
} from 'n8n-workflow';
import { checkList, type ListSettings } from '../../list/checkList';
import { columnNames, optionalColumns, requiredColumns, type Column } from '../../list/readList';
import { fieldError, isAbsent, requiredText } from '../../../shared/invalidValue';
import { readPeriod } from '../../list/period';
import {
	errorItem,
	hasExpression,
	isRetryExecution,
	isStartedInEditor,
	isStartedByTrigger,
	savedParameter,
} from '../../../shared/n8n';
import { property } from '../../../shared/unknownValues';
import { invalidValueError, invalidValueFailure } from '../../../shared/service/failure';
import { sameForAll, type ParameterReader } from '../../parameters';
import type { Operation } from '../../operation';

/** The longest purpose, in letters: a whole reference has at most 200. */
const maxPurposeLength = 50;

const bold = (columns: readonly string[]): string =>
	columns.map((column) => `<b>${column}</b>`).join(', ');

const ownHeading = (
	displayName: string,
	name: Column,
	example: string,
	what: string,
): INodeProperties => ({
	displayName,
	name,
	type: 'string',
	default: '',
	placeholder: `e.g. ${example}`,
	description: `The heading of the column with ${what}`,
});

/** The operation calls no service, and needs no credential. */
export const checkListOperation: Operation = {
	option: {
		name: 'Check List',
		value: 'checkList',
		action: 'Check a list of people to pay',
		description: 'Make payments of the rows of a list, and say which rows cannot be paid',
	},
	fields: [
		{
			displayName: `Reads the columns ${bold(requiredColumns)}, and if there are, ${bold(optionalColumns)}; if yours have other headings, write them into Columns. Only a row with the status ready has an amount and a reference, so no other one can be paid.`,
			name: 'columnsNotice',
			type: 'notice',
			default: '',
		},
		{
			displayName: 'Purpose',
			name: 'purpose',
			type: 'string',
			required: true,
			default: 'salary',
			description:
				'What the list is for: another one for each kind of payment that a person gets in a period. It is part of each reference, so after a change everybody can be paid again.',
		},
		{
			displayName: 'Pay Day',
			name: 'payDay',
			type: 'number',
			required: true,
			typeOptions: { minValue: 1, maxValue: 28 },
			default: 25,
			description:
				'The day of the month from which on a period is paid, in the time of Addis Ababa. A period lasts until the next pay day.',
		},
		{
			displayName: 'Period',
			name: 'period',
			type: 'string',
			default: '',
			placeholder: 'Empty: the one that is due',
			description:
				'The month whose pay day begins the period, as year and month with a dash. Empty for the one that is due. An execution that starts by itself takes only that one.',
		},
		{
			displayName: 'Columns',
			name: 'columns',
			type: 'collection',
			placeholder: 'Add Column',
			default: {},
			description:
				'The headings in your own list, if they are other ones. Write each as it stands there, once. A column that is not here has the heading that the notice above names.',
			options: [
				ownHeading('Amount', 'amountEtb', 'Net to pay', 'what each person gets, in ETB'),
				ownHeading('Email', 'email', 'E-mail', 'email addresses'),
				ownHeading(
					'Employee',
					'employee',
					'Staff No',
					'employee numbers, or another number that each person keeps',
				),
				ownHeading('Name', 'name', 'Full name', 'names'),
				ownHeading('Phone', 'phone', 'Mobile', 'telephone numbers'),
				ownHeading('User ID', 'userId', 'Wallet', 'wallets, if the list has them'),
			],
		},
		{
			displayName: 'Known People',
			name: 'knownPeople',
			type: 'string',
			default: '',
			placeholder: "e.g. {{ $('People').all() }}",
			description:
				'The rows of your table of people, by an expression, if the list has no wallets: each row gets the userId of its employee. Who is not in the table is a problem. Empty if the list has them.',
		},
		{
			displayName: 'Sets Up People',
			name: 'setsUpPeople',
			type: 'boolean',
			default: false,
			description:
				'Whether a later node of this workflow gives a wallet to whoever has none. Then it is no problem that somebody is not in Known People.',
		},
		{
			displayName: 'Known Payments',
			name: 'knownPayments',
			type: 'string',
			default: '',
			placeholder: "e.g. {{ $('Payments').all() }}",
			description:
				'The rows of your table of payments, by an expression. Who was paid for the same purpose and period, by whichever workflow, has the status paidBefore; the others are compared with the last time.',
		},
	],
	execute(context, read) {
		try {
			return checkItems(context, read);
		} catch (error) {
			if (!context.continueOnFail()) throw invalidValueError(context.getNode(), error);
			return [errorItem({ ...invalidValueFailure(error) }, 0)];
		}
	},
};

/** @throws {InvalidValueError} */
function checkItems(context: IExecuteFunctions, read: ParameterReader): INodeExecutionData[] {
	const items = context.getInputData().map(({ json }) => json);
	return checkList(items, readSettings(context, read)).map(({ itemIndex, row }) => ({
		json: { ...row } as IDataObject,
		pairedItem: { item: itemIndex },
	}));
}

/** Matches an expression that can give another value for each item. */
const namesItem =
	/\$json\b|\$item(?:Index)?\b|\$binary\b|\$data\b|\.item\b|itemMatching|\$thisItem\b/;

function readSettings(context: IExecuteFunctions, read: ParameterReader): ListSettings {
	const now = new Date();
	// Most rows of a sheet are empty, and an expression costs much more than all other work on a row.
	const filled = (): number[] =>
		context.getInputData().flatMap(({ json }, index) => (isEmpty(json) ? [] : [index]));
	const ofList = (name: string, displayName: string): unknown => {
		const saved = savedParameter(context, name);
		const valueOf = (itemIndex: number): unknown => read(name, itemIndex);
		if (typeof saved !== 'string' || !namesItem.test(saved)) return valueOf(0);
		return sameForAll(context, name, displayName, valueOf, filled());
	};
	// Only an empty field means no table. An expression that gives nothing is a mistake, and is refused.
	const table = (name: string): unknown =>
		savedParameter(context, name) ? (read(name, 0) ?? null) : undefined;
	const purpose = requiredText(
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
		hasExpression(savedParameter(context, 'period')) && !isStartedByTrigger(context);
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
		columns: ownHeadings(read('columns', 0)),
		people: table('knownPeople'),
		payments: table('knownPayments'),
		setsUpPeople: read('setsUpPeople', 0) === true,
		workflowId: context.getWorkflow().id,
	};
}

const isEmpty = (json: IDataObject): boolean =>
	[Array.isArray(json.row) ? json.row : Object.values(json)]
		.flat()
		.every((value) => value === '' || isAbsent(value));

/** @throws {InvalidValueError} */
function ownHeadings(given: unknown): ListSettings['columns'] {
	const own: ListSettings['columns'] = {};
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
