/** All operations, by resource, and what the editor shows of them. */
import { updateDisplayOptions, type INodeProperties } from 'n8n-workflow';
import { InvalidValueError } from '../../shared/invalidValue';
import { getBalanceOperation } from './balance/get.operation';
import { checkListOperation } from './disbursement/checkList.operation';
import { createDisbursementOperation } from './disbursement/create.operation';
import { payClaimsOperation } from './disbursement/payClaims.operation';
import { getFeeOperation } from './fee/get.operation';
import { updateFeeOperation } from './fee/update.operation';
import type { Operation } from '../operation';
import { setPayoutDestinationOperation } from './payoutDestination/set.operation';
import { createUserOperation } from './user/create.operation';
import { setWebhookOperation } from './webhook/set.operation';

interface Resource {
	name: string;
	value: string;
	description: string;
	operations: Operation[];
}

/** The resources, in the order of the editor. */
export const resources: Resource[] = [
	{
		name: 'Balance',
		value: 'balance',
		description: 'What the partner treasury holds',
		operations: [getBalanceOperation],
	},
	{
		name: 'Disbursement',
		value: 'disbursement',
		description: 'Payments of ETB to users',
		operations: [createDisbursementOperation, checkListOperation, payClaimsOperation],
	},
	{
		name: 'Fee',
		value: 'fee',
		description: 'The platform fee in percent',
		operations: [getFeeOperation, updateFeeOperation],
	},
	{
		name: 'Payout Destination',
		value: 'payoutDestination',
		description: 'Where payouts of the partner treasury go',
		operations: [setPayoutDestinationOperation],
	},
	{
		name: 'User',
		value: 'user',
		description: 'Wallets of your users',
		operations: [createUserOperation],
	},
	{
		name: 'Webhook',
		value: 'webhook',
		description: 'The address that receives events',
		operations: [setWebhookOperation],
	},
];

/**
 * Finds an operation by the values that n8n saved.
 * @throws {InvalidValueError} for values that the editor does not offer
 */
export function findOperation(resource: string, operation: string): Operation {
	const found = resources
		.find(({ value }) => value === resource)
		?.operations.find(({ menuEntry }) => menuEntry.value === operation);
	if (found === undefined) {
		throw new InvalidValueError(
			`There is no operation ${operation} of ${resource}`,
			'Choose the operation again in the node, or update this package.',
		);
	}
	return found;
}

export const operationProperties: INodeProperties[] = resources.flatMap((resource) => [
	{
		displayName: 'Operation',
		name: 'operation',
		type: 'options' as const,
		noDataExpression: true,
		displayOptions: { show: { resource: [resource.value] } },
		options: resource.operations.map(({ menuEntry }) => menuEntry),
		default: resource.operations[0]?.menuEntry.value ?? '',
	},
	...resource.operations.flatMap((operation) =>
		updateDisplayOptions(
			{ show: { resource: [resource.value], operation: [operation.menuEntry.value] } },
			operation.fields,
		),
	),
]);
