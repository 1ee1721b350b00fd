/** Fee → Update: sets the platform fee. */
import { decimalText, isAbove } from '../../../shared/decimal';
import { fieldError } from '../../../shared/invalidValue';
import { callForEachItem, type Operation } from '../../operation';

/** Endpoint 3 of the service document §4. */
export const updateFeeOperation: Operation = {
	menuEntry: {
		name: 'Update',
		value: 'update',
		action: 'Update the platform fee',
		description: 'Set the platform fee in percent',
	},
	fields: [
		{
			displayName: 'Fee Percent',
			name: 'feePercent',
			// A field for text, because n8n drops characters from a number: "0,25" would become 25.
			type: 'string',
			required: true,
			default: '0.25',
			description: 'The platform fee in percent, from 0 to 100, with a point for decimals',
		},
	],
	execute: callForEachItem((read, itemIndex) => ({
		method: 'PUT',
		path: '/fee',
		responseField: 'feePercent',
		body: { feePercent: readFee(read('feePercent', itemIndex)) },
	})),
};

/**
 * Reads the platform fee in percent, 0 to 100 (service document §2).
 * @throws {InvalidValueError}
 */
export function readFee(value: unknown): number {
	const remedy = 'Enter a number from 0 to 100 with a point for decimals, for example 0.25.';
	const percent = decimalText(value);
	if (percent === undefined) throw fieldError('Fee Percent', value, 'is not a number', remedy);
	if (percent.startsWith('-') || isAbove(percent, '100'))
		throw fieldError('Fee Percent', value, 'is not between 0 and 100', remedy);
	return Number(percent);
}
