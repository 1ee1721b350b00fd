import { NodeConnectionTypes } from 'n8n-workflow';
import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import type { Account } from '../shared/account';
import { loadAccount } from '../shared/account';
import { testCredential } from '../shared/credentialTest';
import { findOperation, operationProperties, resources } from './actions';
import type { Operation } from './actions/operation';
import { callForEachItem } from './items';
import { mappedReader, parameterReader } from './parameters';
import type { Run } from './run';
import { failEachItem } from './run';

/** Every endpoint of the partner service as an operation. */
export class EtbWallet implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'ETB Wallet',
		name: 'etbWallet',
		icon: { light: 'file:etbWallet.svg', dark: 'file:etbWallet.dark.svg' },
		group: ['transform'],
		version: 1,
		subtitle:
			'={{ $parameter["operation"] + ": " + $parameter["resource"].replace(/[A-Z]/g, " $&").toLowerCase() }}',
		description: 'Pay users in Ethiopian birr, provision wallets and manage the partner treasury',
		defaults: { name: 'ETB Wallet' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'etbWalletApi', required: true, testedBy: 'etbWalletApiTest' }],
		properties: [
			{
				displayName: 'Resource',
				name: 'resource',
				type: 'options',
				noDataExpression: true,
				options: resources.map(({ name, value, description }) => ({ name, value, description })),
				default: 'disbursement',
			},
			...operationProperties,
		],
	};

	methods = { credentialTest: { etbWalletApiTest: testCredential } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		let operation: Operation;
		try {
			operation = findOperation(
				this.getNodeParameter('resource', 0),
				this.getNodeParameter('operation', 0),
			);
		} catch (error) {
			return [failEachItem(this, error)];
		}
		let account: Account;
		try {
			account = await loadAccount(this);
		} catch (error) {
			return ['refuse' in operation ? operation.refuse(this, error) : failEachItem(this, error)];
		}
		const mapsItems =
			operation.mappable !== undefined &&
			this.getNodeParameter('mappingMode', 0) === 'autoMapInputData';
		const run: Run = {
			context: this,
			account,
			read: mapsItems ? mappedReader(this) : parameterReader(this),
			itemCount: this.getInputData().length,
		};
		return [
			'execute' in operation ? await operation.execute(run) : await callForEachItem(operation, run),
		];
	}
}
