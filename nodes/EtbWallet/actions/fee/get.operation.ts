/** Fee → Get: the platform fee. */
import { callForEachItem, type Operation } from '../../operation';

/** Endpoint 2 of the service document §4. */
export const getFeeOperation: Operation = {
	menuEntry: {
		name: 'Get',
		value: 'get',
		action: 'Get the platform fee',
		description: 'Read the platform fee in percent',
	},
	fields: [],
	execute: callForEachItem(() => ({
		method: 'GET',
		path: '/fee',
		responseField: 'feePercent',
	})),
};
