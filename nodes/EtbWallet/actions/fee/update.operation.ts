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
			// As text, because n8n drops what it does not know from a number: "0,25" would become 25.
			type: 'string',
			required: true,
			default: '0.25',
			description: 'The platform fee in percent, from 0 to 100, with a point for decimals',
		},
	],
	request: (read, itemIndex) => ({
		method: 'PUT',
		path: '/fee',
		body: { feePercent: feeInPercent(read('feePercent', itemIndex)) },
	}),
};
