/** Disbursement → Check List: its fields in the editor. `list/` has the rules. */
import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
} from 'n8n-workflow';
import { checkList } from '../../list/checkList';
import { readListSettings } from '../../list/listSettings';
import { personColumns, optionalColumns, requiredColumns } from '../../list/columns';
import { errorItem } from '../../../shared/n8n';
import { toNodeError, invalidValueFailure } from '../../../shared/nodeErrors';
import type { ParameterReader } from '../../parameters';
import type { Operation } from '../../operation';

const bold = (columns: readonly string[]): string =>
	columns.map((column) => `<b>${column}</b>`).join(', ');

const ownHeadings: INodeProperties[] = personColumns
	.map(
		({ displayName, name, example, contents }): INodeProperties => ({
			displayName,
			name,
			type: 'string',
			default: '',
			placeholder: `e.g. ${example}`,
			description: `The heading of the column with ${contents}`,
		}),
	)
	.sort((one, other) => (one.displayName < other.displayName ? -1 : 1));

/** The operation calls no service, and needs no credential. */
export const checkListOperation: Operation = {
	menuEntry: {
		name: 'Check List',
		value: 'checkList',
		action: 'Check a list of people to pay',
		description: 'Turn the rows of a list into items to pay, without sending anything',
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
			options: ownHeadings,
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
			if (!context.continueOnFail()) throw toNodeError(context.getNode(), error);
			return [errorItem({ ...invalidValueFailure(error) }, 0)];
		}
	},
};

/** @throws {InvalidValueError} */
function checkItems(context: IExecuteFunctions, read: ParameterReader): INodeExecutionData[] {
	const items = context.getInputData().map(({ json }) => json);
	return checkList(items, readListSettings(context, read)).map(({ itemIndex, row }) => ({
		json: { ...row } as IDataObject,
		pairedItem: { item: itemIndex },
	}));
}
