import { feeInPercent } from '../../../shared/validation';
import type { Operation } from '../operation';

/** Endpoint 3 of the service document §4. */
export const updateFee: Operation = {
	option: {
		name: 'Update',
		value: 'update',
		action: 'Update the platform fee',
		description: 'Set the platform fee in percent',
	},
	fields: [
		{
			displayName: 'Fee Percent',
			name: 'feePercent',
			type: 'number',
			typeOptions: { minValue: 0, maxValue: 100 },
			required: true,
			default: 0.25,
			description: 'The platform fee in percent, from 0 to 100',
		},
	],
	request: (read, itemIndex) => ({
		method: 'PUT',
		path: '/fee',
		body: { feePercent: feeInPercent(read('feePercent', itemIndex)) },
	}),
};
