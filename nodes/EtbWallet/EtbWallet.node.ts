/** The action node: finds the operation that a person chose, and runs it. */
import { NodeConnectionTypes } from 'n8n-workflow';
import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { testCredential } from '../shared/service/credentialTest';
import { findOperation, operationProperties, resources } from './actions';
import { parameterReader } from './parameters';
import { failEachItem, type Operation } from './operation';

/** The ETB Wallet node as n8n sees it: the endpoints of the partner service, Check List and Pay Claims. */
export class EtbWallet implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'ETB Wallet',
		name: 'etbWallet',
		icon: { light: 'file:etbWallet.svg', dark: 'file:etbWallet.dark.svg' },
		group: ['transform'],
		version: 1,
		// The canvas shows which node does not pay. The value of a mode by expression is not shown, because it can
		// differ in each run. n8n's linter wants one text.
		subtitle:
			'={{ $parameter["operation"] === "create" && String($rawParameter["mode"]).startsWith("=") ? "Mode by expression" : $parameter["operation"] === "create" && $parameter["mode"] === "dryRun" ? "DRY RUN: pays nobody" : $parameter["operation"] === "create" && $parameter["mode"] === "settle" ? "SETTLE: pays nobody" : $parameter["operation"] + ": " + $parameter["resource"].replace(/[A-Z]/g, " $&").toLowerCase() }}',
		description: 'Pay users in Ethiopian birr, provision wallets and manage the partner treasury',
		defaults: { name: 'ETB Wallet' },
		usableAsTool: true,
		// For models that build workflows (n8n 2.9 and newer); older n8n ignore it.
		builderHint: {
			searchHint:
				'To pay people: disbursement, create. Give each payment a stable reference, and set the maximums. Each item ends with the field outcome: paid, alreadyPaid, notPaid or unknown (ready in a dry run). Never send unknown again: a person has to ask the partner service. Follow it with an If node on outcome before anything that may only happen for people who were paid. toUserId is the id that user, create returned: keep it.',
		},
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [
			{
				name: 'etbWalletApi',
				required: true,
				// Check List calls no service.
				displayOptions: { hide: { operation: ['checkList'] } },
				testedBy: 'etbWalletApiTest',
			},
		],
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
		return [await operation.execute(this, parameterReader(this))];
	}
}
