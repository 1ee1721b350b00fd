import { NodeConnectionTypes } from 'n8n-workflow';
import type {
	IDataObject,
	IHookFunctions,
	INodeType,
	INodeTypeDescription,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { loadAccount } from '../shared/account';
import { allEvents, eventOptions, isWanted, parseEvent } from './events';
import { registerUrl } from './registration';
import { isSigned, signatureHeader } from './signature';

/** Starts a workflow for each verified event of the partner service. */
export class EtbWalletTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'ETB Wallet Trigger',
		name: 'etbWalletTrigger',
		icon: {
			light: 'file:../EtbWallet/etbWallet.svg',
			dark: 'file:../EtbWallet/etbWallet.dark.svg',
		},
		group: ['trigger'],
		version: 1,
		subtitle: '={{ $parameter["events"].join(", ").replace("*", "all events") }}',
		description: 'Starts the workflow when the partner service sends a verified event',
		defaults: { name: 'ETB Wallet Trigger' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'etbWalletApi', required: true, testedBy: 'etbWalletApiTest' }],
		webhooks: [
			{
				name: 'default',
				httpMethod: 'POST',
				responseMode: 'onReceived',
				path: 'webhook',
			},
		],
		properties: [
			{
				displayName: 'Events',
				name: 'events',
				type: 'multiOptions',
				required: true,
				options: [
					{ name: 'All Events', value: allEvents, description: 'Also events that are added later' },
					...eventOptions,
				],
				default: [allEvents],
				description: 'The events that start the workflow',
			},
		],
	};

	webhookMethods = {
		default: {
			// The service's URL cannot be read, so it is always registered anew, which heals what else was set.
			checkExists: () => Promise.resolve(false),
			async create(this: IHookFunctions): Promise<boolean> {
				await registerUrl(this);
				return true;
			},
			// The service has no way to remove a URL.
			delete: () => Promise.resolve(true),
		},
	};

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		const { webhookSecret } = await loadAccount(this);
		const request = this.getRequestObject();
		await request.readRawBody();
		const body = request.rawBody ?? Buffer.alloc(0);
		if (!isSigned(body, request.headers[signatureHeader], webhookSecret)) {
			return answer(this, 401, 'The signature is missing or wrong');
		}
		const event = parseEvent(body);
		if (event === undefined) return answer(this, 400, 'The body is not an event');
		if (!isWanted(event, this.getNodeParameter('events', []) as string[])) {
			return answer(this, 200, 'Not asked for');
		}
		return { workflowData: [[{ json: event as IDataObject }]] };
	}
}

/** Answers without starting an execution. */
function answer(context: IWebhookFunctions, status: number, message: string): IWebhookResponseData {
	context.getResponseObject().status(status).json({ message });
	return { noWebhookResponse: true };
}
