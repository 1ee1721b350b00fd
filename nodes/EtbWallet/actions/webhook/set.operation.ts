/** Webhook → Set: the URL to which the service sends its events. */
import { setWebhookRequest } from '../../../shared/service/request';
import { readWebhookUrl } from '../../../shared/url';
import { callForEachItem, type Operation } from '../../operation';

/** Endpoint 4 of the service document §4. */
export const setWebhookOperation: Operation = {
	menuEntry: {
		name: 'Set',
		value: 'set',
		action: 'Set the webhook URL',
		description: 'Set the one address that receives all events of the account',
	},
	fields: [
		{
			displayName: 'Webhook URL',
			name: 'webhookUrl',
			type: 'string',
			required: true,
			default: '',
			placeholder: 'e.g. https://n8n.example.com/webhook/etb-wallet',
			description: 'Public https address that receives the events',
			hint: 'An account has one. Setting it here takes the events away from a published ETB Wallet Trigger, which sets its own.',
		},
	],
	execute: callForEachItem((read, itemIndex, account) =>
		setWebhookRequest(readWebhookUrl(read('webhookUrl', itemIndex), account)),
	),
};
