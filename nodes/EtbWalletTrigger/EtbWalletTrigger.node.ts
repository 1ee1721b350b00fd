/** The ETB Wallet Trigger as n8n sees it. */
import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type IHookFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
	type ITriggerFunctions,
	type ITriggerResponse,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { addHint } from '../shared/n8n';
import {
	neverOutputEmptyItem,
	responseModeFromParameter,
	triggerKeyOf,
	withoutEventKey,
} from './n8nTrigger';
import { recordIfNew } from './duplicates';
import { allEvents, eventOptions } from './event';
import { acceptEvents, receive } from './receive';
import { listen, resume, stopListening } from './publishing';
import { readSettings } from './settings';

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
		// The version is 2, because for a trigger of version 1 n8n evaluates an expression at each request.
		version: 2,
		// The canvas has room for the name of one event only.
		subtitle:
			'={{ $parameter["events"].includes("*") ? "all events" : $parameter["events"].length === 1 ? $parameter["events"][0] : $parameter["events"].length + " events" }}',
		// n8n shows it in the list of nodes, for both nodes of this package.
		description:
			'Pays users in Ethiopian birr, or starts a workflow when a payment, a transfer or a deposit happens',
		eventTriggerDescription:
			'Waiting for an event. While a workflow of this account is published, only one that you send to the test URL comes.',
		activationMessage: 'The events of the account now start this workflow.',
		triggerPanel: {
			header: '',
			executionsHelp: {
				inactive:
					'<b>While you build</b>, click the button, then let an event happen, and pin it. It comes only while no workflow of this account is published.<br /><br /><b>When you are done</b>, publish the workflow. Each event then starts an execution, which the <a data-key="executions">executions list</a> shows.',
				active:
					'Each event of the account starts an execution, which the <a data-key="executions">executions list</a> shows. To build with one, click <b>Copy to editor</b> there.<br /><br />The button takes no events from the published workflow: it waits for one that you send to the test URL.',
			},
			activationHint: 'Publish the workflow to let each event of the account start it.',
		},
		defaults: { name: 'ETB Wallet Trigger' },
		// For models that build workflows (n8n 2.9 and newer); older n8n ignore it.
		builderHint: {
			searchHint:
				'Checks signatures and drops events that came before by itself: add no nodes for that. All events of an account go to one published workflow: use one trigger with several events and a Switch behind it, not several workflows.',
		},
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'etbWalletApi', required: true, testedBy: 'etbWalletApiTest' }],
		webhooks: [
			{
				name: 'default',
				httpMethod: 'POST',
				...responseModeFromParameter,
				// The response goes to the service, so it must not carry data of the workflow.
				responseData: 'noData',
				path: 'webhook',
			},
		],
		properties: [
			{
				displayName:
					'The service sends all events of an account to one workflow: the one that is published. A second one cannot be published: unpublish the first. While one is published, a test only gets what you send to its test URL, so copy that first.',
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
		],
	};

	webhookMethods = {
		default: {
			// The service shows no way to read the URL, so this asks it nothing.
			async checkExists(this: IHookFunctions): Promise<boolean> {
				return await resume(this);
			},
			async create(this: IHookFunctions): Promise<boolean> {
				await listen(this);
				return true;
			},
			delete(this: IHookFunctions): Promise<boolean> {
				stopListening(this);
				return Promise.resolve(true);
			},
		},
	};

	/**
	 * Lets the trigger accept events. Because of this method, n8n calls `checkExists` of published triggers when it
	 * starts.
	 */
	trigger(this: ITriggerFunctions): Promise<ITriggerResponse> {
		return Promise.resolve({ closeFunction: acceptEvents(triggerKeyOf(this)) });
	}

	/** Outputs the event that started the execution, unless it was handled before. */
	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const { respondsWhenFinished } = readSettings(this.getNode().parameters);
		const newItems: INodeExecutionData[] = [];
		for (const received of this.getInputData()) {
			const { key, item } = withoutEventKey(received);
			const isNew =
				key === undefined || (await recordIfNew(this, received, key, respondsWhenFinished));
			if (isNew) newItems.push(item);
		}
		if (this.getMode() === 'manual') {
			addHint(
				this,
				'The test has ended. To build with this event, pin it. If no workflow of this account is published, nobody receives the next ones until you publish.',
			);
		}
		neverOutputEmptyItem(this);
		return [newItems];
	}

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await receive(this);
	}
}
