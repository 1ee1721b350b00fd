/** Payout Destination → Set: the destination of payouts of the treasury. */
import { readChoice, readText } from '../../../shared/fields';
import { fieldError, show } from '../../../shared/invalidValue';
import { property } from '../../../shared/unknownValues';
import { callForEachItem, type Operation } from '../../operation';

/** Endpoint 5 of the service document §4. The document does not show the fields of a bank account. */
export const setPayoutDestinationOperation: Operation = {
	menuEntry: {
		name: 'Set',
		value: 'set',
		action: 'Set where treasury payouts go',
		description: 'Set where payouts of the partner treasury go',
	},
	fields: [
		{
			displayName: 'Type',
			name: 'type',
			type: 'options',
			options: [
				{ name: 'Bank Account', value: 'bank' },
				{ name: 'Mobile Money', value: 'mobile' },
			],
			default: 'mobile',
			description: 'The kind of account that receives the payouts',
		},
		{
			displayName: 'Phone',
			name: 'phone',
			type: 'string',
			required: true,
			default: '',
			placeholder: 'e.g. +251911234567',
			description: 'Telephone number of the mobile-money wallet, in international format',
			displayOptions: { show: { type: ['mobile'] } },
		},
		{
			displayName: 'Bank Fields',
			name: 'bankFields',
			type: 'fixedCollection',
			typeOptions: { multipleValues: true },
			default: {},
			placeholder: 'Add Bank Field',
			description:
				'The fields that your partner service asks for, for example an account number. They are sent as they are.',
			hint: 'Ask your partner service which fields a bank account needs, and write their names exactly as it spells them',
			displayOptions: { show: { type: ['bank'] } },
			options: [
				{
					displayName: 'Bank Field',
					name: 'field',
					values: [
						{
							displayName: 'Name',
							name: 'name',
							type: 'string',
							default: '',
							placeholder: 'e.g. accountNumber',
							description: 'Name of the field as the partner service spells it',
						},
						{
							displayName: 'Value',
							name: 'value',
							type: 'string',
							default: '',
							description: 'Value of the field',
						},
					],
				},
			],
		},
	],
	execute: callForEachItem((read, itemIndex) => {
		const type = readChoice('Type', read('type', itemIndex), ['mobile', 'bank']);
		const body =
			type === 'mobile'
				? { type, phone: readPhone(read('phone', itemIndex)) }
				: { ...readBankFields(read('bankFields', itemIndex)), type };
		return {
			method: 'PUT',
			path: '/treasury/payout-destination',
			body,
			defaultOutput: body,
		};
	}),
};

const nameRemedy = 'Enter the name of the field, or remove the row.';
const valueRemedy = 'Enter a value, or remove the row.';

function readBankFields(value: unknown): Record<string, string> {
	const rows = property(value, 'field');
	const fields = new Map<string, string>();
	for (const row of Array.isArray(rows) ? rows : []) {
		const key = readText('Name of a bank field', property(row, 'name'), nameRemedy);
		if (key === 'type' || fields.has(key)) {
			const reason = key === 'type' ? 'is the payout type itself' : 'is used twice';
			throw fieldError('Name of a bank field', key, reason, 'Give each bank field its own name.');
		}
		const text = readText(`Bank field ${show(key)}`, property(row, 'value'), valueRemedy);
		fields.set(key, text);
	}
	return Object.fromEntries(fields);
}

/**
 * Reads a telephone number in international format with a leading plus sign (service document §2).
 * @throws {InvalidValueError}
 */
export function readPhone(value: unknown): string {
	const remedy =
		'Enter the number in international format: a plus sign, the country code and 7 to 15 digits in all, without spaces, for example +251911234567.';
	const phone = typeof value === 'string' ? value.trim() : value;
	if (typeof phone === 'string' && /^\+[1-9]\d{6,14}$/.test(phone)) return phone;
	throw fieldError('Phone', value, 'is not an international telephone number', remedy);
}
