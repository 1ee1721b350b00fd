/** Disbursement → Check List: its fields in the editor. The rules stand in `list/`. */
import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { checkList as check, type ListSettings } from '../../list/checkList';
import { otherColumns, requiredColumns } from '../../list/headings';
import { readPeriod } from '../../list/period';
import { KnownPeople } from '../../list/wallets';
import { invalid, isAbsent, requiredText } from '../../../shared/invalidValue';
import {
	errorItem,
	hasExpression,
	isRetryExecution,
	isStartedInEditor,
	isStartedByTrigger,
	savedParameter,
} from '../../../shared/n8n';
import { invalidValueError, invalidValueFailure } from '../../../shared/service/failure';
import { sameForAll, type ParameterReader } from '../../parameters';
import type { Operation } from '../../operation';

/** In letters. With the period and the longest employee number it stays below the 200 of a reference. */
const maxPurposeLength = 50;

const bold = (columns: readonly string[]): string =>
	columns.map((column) => `<b>${column}</b>`).join(', ');

/** Calls nobody, and needs no credential. */
export const checkList: Operation = {
	option: {
		name: 'Check List',
		value: 'checkList',
		action: 'Check a list of people to pay',
		description: 'Make payments of the rows of a list, and say which rows cannot be paid',
	},
	fields: [
		{
			displayName: `Reads the columns ${bold(requiredColumns)}, and if there are, ${bold(otherColumns)}. A row with a problem leaves without an amount and a reference, so it cannot be paid.`,
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
			displayName: 'Known People',
			name: 'knownPeople',
			type: 'string',
			default: '',
			placeholder: "e.g. {{ $('People').all() }}",
			description:
				'The rows of your table of people, by an expression, if the list has no wallets: each row gets the userId of its employee. Who is not in the table is a problem. Empty if the list has them.',
		},
	],
	async execute(context, read) {
		try {
			return await Promise.resolve(checkItems(context, read));
		} catch (error) {
			if (!context.continueOnFail()) throw invalidValueError(context.getNode(), error);
			return [errorItem({ ...invalidValueFailure(error) }, 0)];
		}
	},
};

/** @throws {InvalidValueError} */
function checkItems(context: IExecuteFunctions, read: ParameterReader): INodeExecutionData[] {
	const items = context.getInputData().map(({ json }) => json);
	return check(items, readSettings(context, read)).map(({ itemIndex, row, others }) => ({
		json: { ...(others as IDataObject), ...row },
		pairedItem: { item: itemIndex },
	}));
}

function readSettings(context: IExecuteFunctions, read: ParameterReader): ListSettings {
	const now = new Date();
	const ofList = (name: string, displayName: string): unknown =>
		sameForAll(context, name, displayName, (itemIndex) => read(name, itemIndex));
	const purpose = requiredText(
		'Purpose',
		ofList('purpose', 'Purpose'),
		'Enter a word for what the list is for, such as salary.',
	);
	if (purpose.length > maxPurposeLength || !/^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._-]*$/u.test(purpose)) {
		throw invalid(
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
	// Of item 0 only: it is the same for all, and comparing it would take long.
	const known = read('knownPeople', 0);
	return { purpose, period, now, ...(!isAbsent(known) && { people: new KnownPeople(known, now) }) };
}
