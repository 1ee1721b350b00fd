/** The ETB Wallet Trigger as n8n sees it. */
import type {
	IExecuteFunctions,
	IHookFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
	ITriggerFunctions,
	ITriggerResponse,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { addHint } from '../shared/n8n';
import {
	deliveryKeyOf,
	neverOutputEmptyItem,
	responseModeFromParameter,
} from '../shared/n8nTrigger';
import { keep } from './accounts';
import { isToBeHandled } from './duplicates';
import { allEvents, eventOptions } from './event';
import { outputsExpression, outputsWith } from './outputs';
import { register, unregister } from './publishing';
import { receive } from './receive';
import { settingsOf } from './settings';

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
		// For a trigger of version 1 n8n evaluates an expression for each request.
		version: 2,
		// The canvas has room for the name of one event only.
		subtitle:
			'={{ $parameter["events"].includes("*") ? "all events" : $parameter["events"].length === 1 ? $parameter["events"][0] : $parameter["events"].length + " events" }}',
		// n8n shows it in the list of nodes, for both nodes of this package.
		description:
			'Pays users in Ethiopian birr, or starts a workflow when a payment, a transfer or a deposit happens',
		eventTriggerDescription: 'Waiting for the partner service to send an event',
		activationMessage: 'The events of the account now start this workflow.',
		defaults: { name: 'ETB Wallet Trigger' },
		// For models that build workflows (n8n 2.x); older n8n ignore it.
		builderHint: {
			searchHint:
				'Checks signatures and drops events that came before by itself: add no nodes for that. All events of an account go to one published workflow: use one trigger with several events and outputPerEvent, not several workflows.',
		},
		inputs: [],
		outputs: outputsExpression,
		credentials: [{ name: 'etbWalletApi', required: true, testedBy: 'etbWalletApiTest' }],
		webhooks: [
			{
				name: 'default',
				httpMethod: 'POST',
				...responseModeFromParameter,
				// The answer goes to the service: it must not carry what the workflow made.
				responseData: 'noData',
				path: 'webhook',
			},
		],
		properties: [
			{
				displayName:
					'The service sends all events of an account to one workflow: the one that is published. Testing takes no events away from it.',
				name: 'urlNotice',
				type: 'notice',
				default: '',
			},
			{
				displayName: 'Events',
				name: 'events',
				type: 'multiOptions',
				noDataExpression: true,
				required: true,
				options: [
					{
						name: 'All Events',
						value: allEvents,
						description: 'Every event, also those that are added later',
					},
					...eventOptions,
				],
				default: [allEvents],
				description: 'The events that start the workflow',
			},
			{
				displayName: 'Acknowledge',
				name: 'acknowledge',
				type: 'options',
				noDataExpression: true,
				options: [
					{
						name: 'Immediately',
						value: 'onReceived',
						description: 'Tell the service that the event arrived, then run the workflow',
					},
					{
						name: 'When the Workflow Finishes',
						value: 'lastNode',
						description:
							'If the workflow fails, tell the service: it sends the event again after 30 seconds, 2 minutes and 8 minutes',
					},
				],
				default: 'onReceived',
				description: 'When to tell the service that the event was handled',
			},
			{
				displayName: 'One Output per Event',
				name: 'outputPerEvent',
				type: 'boolean',
				noDataExpression: true,
				default: false,
				description: 'Whether each event leaves on an output of its own',
			},
			{
				displayName: 'Options',
				name: 'additionalOptions',
				type: 'collection',
				placeholder: 'Add Option',
				default: {},
				options: [
					{
						displayName: 'Include Headers',
						name: 'includeHeaders',
						type: 'boolean',
						noDataExpression: true,
						default: false,
						description: 'Whether to add the headers of the request to the output, for auditing',
					},
					{
						displayName: 'Maximum Age (Minutes)',
						name: 'maximumAge',
						type: 'number',
						noDataExpression: true,
						typeOptions: { minValue: 1 },
						default: 15,
						description:
							'Older events, by their timestamp, do not start the workflow. The service sends an event again until 10.5 minutes later.',
					},
					{
						displayName: 'While Testing',
						name: 'whileTesting',
						type: 'options',
						noDataExpression: true,
						options: [
							{
								name: 'Leave the URL Alone',
								value: 'leaveUrl',
								description: 'Listen at the test URL only, for events that you send yourself',
							},
							{
								name: 'Share',
								value: 'share',
								description:
									'Get the events that a published workflow receives as well. It misses nothing.',
							},
						],
						default: 'share',
						description:
							'What a test does when a published workflow receives the events of the account',
					},
				],
			},
		],
	};

	webhookMethods = {
		default: {
			// The service's URL cannot be read (service document §4), so it is set each time.
			checkExists: () => Promise.resolve(false),
			async create(this: IHookFunctions): Promise<boolean> {
				await register(this);
				return true;
			},
			async delete(this: IHookFunctions): Promise<boolean> {
				await unregister(this);
				return true;
			},
		},
	};

	/** Starts nothing. Because there is this method, n8n keeps a published trigger in memory: see `isStarting`. */
	async trigger(this: ITriggerFunctions): Promise<ITriggerResponse> {
		return await Promise.resolve(keep(this));
	}

	/** Gives out the event that started the execution, unless it was handled before. */
	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const settings = settingsOf(this.getNode().parameters);
		const items: INodeExecutionData[] = [];
		for (const { key, item } of this.getInputData().map(deliveryKeyOf)) {
			if (key === undefined || (await isToBeHandled(this, key, settings.answersWhenFinished)))
				items.push(item);
		}
		if (this.getMode() === 'manual') {
			addHint(
				this,
				'The test has ended. The events of this account go to the workflow that is published for it. If none is, nobody receives them until you publish one.',
			);
		}
		neverOutputEmptyItem(this);
		return outputsWith(items, settings);
	}

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await receive(this);
	}
}
