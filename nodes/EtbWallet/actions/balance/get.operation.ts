/** Balance → Get: the balance of the treasury. */
import { balanceRequest } from '../../../shared/service/request';
import { callForEachItem, type Operation } from '../../operation';

/** Endpoint 1 of the service document §4. */
export const getBalanceOperation: Operation = {
	menuEntry: {
		name: 'Get',
		value: 'get',
		action: 'Get the treasury balance',
		description: 'Read the treasury balance in ETB, its native coin balance and its address',
	},
	fields: [],
	execute: callForEachItem(() => balanceRequest),
};
