/** Disbursement → Create: the fields of a payment in the editor. What it does with them stands in `disbursement/`. */
import { disburse } from '../../disbursement/disburse';
import type { Operation } from '../operation';

const onlyWithGate = { show: { record: ['gate'] } };

/** Endpoint 7 of the service document §4. */
export const createDisbursement: Operation = {
	option: {
		name: 'Create',
		value: 'create',
		action: 'Pay a user',
		description: 'Pay ETB from the treasury to a user',
	},
	mapping: { required: ['toUserId', 'amountEtb'], optional: ['reference'] },
	fields: [
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
			// As text, because n8n drops what it does not know from a number: "12,50" would become 1250.
			type: 'string',
			required: true,
			default: '',
			placeholder: 'e.g. 1250.50',
			description: 'Amount to pay in ETB, above zero, with a point for decimals',
		},
		{
			displayName: 'Record',
			name: 'record',
			type: 'options',
			noDataExpression: true,
			options: [
				{
					name: 'Pay Gate',
					value: 'gate',
					description: 'The pay gate in your PostgreSQL, which handed these payments out',
				},
				{
					name: 'This Node',
					value: 'node',
					description: 'References that this node keeps in the database of n8n',
				},
			],
			default: 'node',
			description: 'Who remembers what was paid, so that nobody is paid twice',
		},
		{
			displayName: 'Claim',
			name: 'claim',
			type: 'string',
			required: true,
			displayOptions: onlyWithGate,
			default: '={{ $json.claim }}',
			description: 'What the pay gate gave with this payment. It counts once.',
		},
		{
			displayName: 'Not After',
			name: 'notAfter',
			type: 'string',
			required: true,
			displayOptions: onlyWithGate,
			default: '={{ $json.notAfter }}',
			description: 'Until when the pay gate lets this payment begin',
		},
		{
			displayName: 'Claimed by Execution',
			name: 'execution',
			type: 'string',
			required: true,
			displayOptions: onlyWithGate,
			default: '={{ $json.execution }}',
			description:
				'The workflow and execution that asked the pay gate, as it wrote them down. In another one nothing is sent.',
		},
		{
			displayName: 'Reference',
			name: 'reference',
			type: 'string',
			displayOptions: { show: { record: ['node'] } },
			default: '',
			placeholder: 'e.g. payroll-2026-11-employee-1042',
			description:
				'Your own unique key for this payment, different for each person and payment. With a reference, this node never pays the same one twice, not even in a later execution.',
			hint: 'Your own key, different for each payment. Without it, a later run can pay it again.',
			builderHint: {
				propertyHint:
					'Always fill it in, from data that is the same whenever the same payment is run again, such as month and employee number: expr("payroll-{{ $json.month }}-{{ $json.employee }}"). Never from the time, a random value or the ID of the execution of a list: each run would then pay everybody again.',
			},
		},
		{
			displayName: 'Options',
			name: 'options',
			type: 'collection',
			placeholder: 'Add Option',
			default: {},
			builderHint: {
				propertyHint:
					'Set maxAmountEtb and maxTotalEtb to fixed values, and checkBalance to true. Set dryRun to true until a person has tried the list. Leave ifUnknown out: only a person who asked the partner service can say what became of a payment.',
			},
			options: [
				{
					displayName: 'Check Balance First',
					name: 'checkBalance',
					type: 'boolean',
					default: true,
					description:
						'Whether to read the treasury balance before the first payment, and pay nobody if it does not cover what is still to be paid',
				},
				{
					displayName: 'Concurrency',
					name: 'concurrency',
					type: 'number',
					typeOptions: { minValue: 1, maxValue: 100 },
					default: 10,
					description:
						'How many payments may be under way at once. After a crash, at most this many references are reported as unknown.',
				},
				{
					displayName: 'Dry Run',
					name: 'dryRun',
					type: 'boolean',
					default: true,
					description:
						'Whether to check everything and send nothing: each payment that would be made gets the outcome ready',
				},
				{
					displayName: 'If Outcome Is Unknown',
					name: 'ifUnknown',
					type: 'options',
					displayOptions: { show: { '/record': ['node'] } },
					options: [
						{
							name: 'It Was Not Paid',
							value: 'notPaid',
							description: 'You asked the partner service: it is sent now',
						},
						{
							name: 'It Was Paid',
							value: 'paid',
							description: 'You asked the partner service: it is recorded, and nothing is sent',
						},
						{
							name: 'Report It',
							value: 'report',
							description: 'Pass the item on with the outcome unknown. Nothing is sent for it.',
						},
					],
					default: 'report',
					description:
						'What you found out about a reference whose outcome is unknown. Ask the partner service first, and take it back after that run. It has no effect on other references.',
				},
				{
					displayName: 'If Reference Was Used',
					name: 'ifReferenceUsed',
					type: 'options',
					displayOptions: { show: { '/record': ['node'] } },
					options: [
						{
							name: 'Fail',
							value: 'fail',
							description: 'Treat the item as an error. Nothing is sent for it.',
						},
						{
							name: 'Skip',
							value: 'skip',
							description:
								'Pass the item on with the outcome alreadyPaid or unknown. Nothing is sent for it.',
						},
					],
					default: 'skip',
					description: 'What to do with an item whose reference was sent before',
				},
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
				{
					displayName: 'Timeout (Ms)',
					name: 'timeout',
					type: 'number',
					typeOptions: { minValue: 1000 },
					default: 60000,
					description:
						'How long to wait for the answer to one payment, in milliseconds. A payment without an answer is reported as unknown and not sent again.',
				},
			],
		},
	],
	execute: disburse,
};
