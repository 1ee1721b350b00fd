/** Disbursement → Create: the fields of a payment in the editor. `paying/` pays it. */
import type { IDisplayOptions, INodeProperties } from 'n8n-workflow';
import { createDisbursement } from '../../paying/createDisbursement';
import type { Operation } from '../../operation';
import { concurrencyField, optionsField, timeoutField, type OptionField } from './optionFields';

/** The condition for a node that is no tool. */
const asNode: IDisplayOptions = { show: { '@tool': [false] } };

/** The condition for a tool of an AI agent. Its fields have `noDataExpression`, so that no model fills them in. */
const asTool: IDisplayOptions = { show: { '@tool': [true] } };

const modes = {
	dryRun: {
		name: 'Dry Run',
		value: 'dryRun',
		description: 'Check everything and send nothing: what would be paid is ready',
	},
	pay: { name: 'Pay', value: 'pay', description: 'Pay what is not paid yet' },
	settle: {
		name: 'Settle Unknown',
		value: 'settle',
		description:
			'Record what the partner service said about unknown payments. Sends nothing, and ignores the items.',
	},
};

/** A field of a run that settles. */
const referencesField = (
	displayName: string,
	name: string,
	description: string,
): INodeProperties => ({
	displayName,
	name,
	type: 'string',
	typeOptions: { rows: 4 },
	displayOptions: { show: { '@tool': [false], mode: ['settle'] } },
	default: '',
	placeholder: 'e.g. payroll-2026-11-employee-1042',
	hint: 'One reference a line. The fields above do not matter.',
	description,
});

const options: OptionField[] = [
	{
		displayName: 'Check Balance First',
		name: 'checkBalance',
		type: 'boolean',
		// The value when a person adds the option. A node without the option does not check.
		default: true,
		description:
			'Whether to read the treasury balance before the first payment, and pay nobody if it does not cover what is still to be paid',
	},
	concurrencyField,
	{
		displayName: 'Maximum per Payment',
		name: 'maxAmountEtb',
		type: 'string',
		default: '',
		placeholder: 'e.g. 5000',
		hint: 'In ETB',
		description:
			'A larger payment is not made: nobody is paid, or with On Error on Continue only the others',
	},
	{
		displayName: 'Maximum per Run',
		name: 'maxTotalEtb',
		type: 'string',
		default: '',
		placeholder: 'e.g. 100000',
		hint: 'In ETB',
		description: 'If the payments of the run add up to more, nobody is paid',
	},
	timeoutField,
];

/** Endpoint 7 of the service document §4. */
export const createDisbursementOperation: Operation = {
	menuEntry: {
		name: 'Create',
		value: 'create',
		action: 'Pay a user',
		description: 'Pay ETB from the treasury to a user',
	},
	fields: [
		{
			displayName: 'Reference',
			name: 'reference',
			type: 'string',
			required: true,
			default: '',
			placeholder: 'e.g. payroll-2026-11-employee-1042',
			description:
				'What this payment is for: the same whenever the same payment is asked for, and another one for each person and payment. This node never pays the same reference twice, not even in a later execution.',
			hint: 'What this payment is for. The same reference is paid once, in all executions.',
			builderHint: {
				propertyHint:
					'Build it from data that is the same whenever the same payment is run again, such as month and employee number: expr("payroll-{{ $json.month }}-{{ $json.employee }}"). Never from the time, a random value or the ID of the execution of a list: each run would then pay everybody again.',
			},
		},
		{
			displayName: 'To User ID',
			name: 'toUserId',
			type: 'string',
			required: true,
			default: '',
			description: 'The ID that User → Create returned, not your external ID',
			hint: 'The ID that User → Create returned',
		},
		{
			displayName: 'Amount (ETB)',
			name: 'amountEtb',
			// A field for text, because n8n drops characters from a number: "12,50" would become 1250.
			type: 'string',
			required: true,
			default: '',
			placeholder: 'e.g. 1250.50',
			description: 'Amount to pay in ETB, above zero',
		},
		{
			displayName: 'Mode',
			name: 'mode',
			type: 'options',
			displayOptions: asNode,
			options: [modes.dryRun, modes.pay, modes.settle],
			default: 'pay',
			description: 'What this node does: only Pay sends anything',
		},
		{
			displayName: 'Mode',
			name: 'mode',
			type: 'options',
			noDataExpression: true,
			displayOptions: asTool,
			options: [modes.dryRun, modes.pay],
			default: 'pay',
			description: 'What this tool does: only Pay sends anything',
		},
		referencesField(
			'Was Paid',
			'wasPaid',
			'References of which the partner service said so. They are not sent, unless somebody takes that back.',
		),
		referencesField(
			'Was Not Paid',
			'wasNotPaid',
			'References of which the partner service said so. The next run with Mode on Pay sends them, unless a person said before that they were paid: then they are unknown again. An expression can say so once for each reference, or once for each sending that it names.',
		),
		referencesField(
			'Take Back',
			'takeBack',
			'References of payments that somebody settled, perhaps wrongly. They are unknown again, and are not sent until somebody settles them.',
		),
		{
			...optionsField(options),
			builderHint: {
				propertyHint:
					'Set maxAmountEtb and maxTotalEtb to fixed values, and checkBalance to true. Beside the options, set mode to dryRun until a person has tried the list, and never to settle: only a person who asked the partner service can say what became of a payment.',
			},
			displayOptions: asNode,
		},
		{
			...optionsField(options.map((option) => ({ ...option, noDataExpression: true }))),
			displayOptions: asTool,
		},
	],
	execute: createDisbursement,
};
