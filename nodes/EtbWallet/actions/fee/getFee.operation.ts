/** Fee → Get: the platform fee. */
import type { Operation } from '../operation';
import { eachItem } from '../operation';

/** Endpoint 2 of the service document §4. */
export const getFee: Operation = {
	option: {
		name: 'Get',
		value: 'get',
		action: 'Get the platform fee',
		description: 'Read the platform fee in percent',
	},
	fields: [],
	execute: eachItem(() => ({ method: 'GET', path: '/fee', mayRepeat: true })),
};
