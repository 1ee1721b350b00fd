/** The credential: the address of the service, the API key, and the secrets of its events. */
import type {
	IAuthenticate,
	ICredentialDataDecryptedObject,
	ICredentialType,
	Icon,
	IHttpRequestOptions,
	INodeProperties,
} from 'n8n-workflow';
import { authenticationHeaders } from '../nodes/shared/account';

/** Access to one partner account of the ETB wallet service (service document §5). */
export class EtbWalletApi implements ICredentialType {
	name = 'etbWalletApi';

	displayName = 'ETB Wallet API';

	icon: Icon = {
		light: 'file:../nodes/EtbWallet/etbWallet.svg',
		dark: 'file:../nodes/EtbWallet/etbWallet.dark.svg',
	};

	documentationUrl = 'https://github.com/n8n-nodes-etb-wallet/n8n-nodes-etb-wallet#credentials';

	properties: INodeProperties[] = [
		{
			displayName: 'Base URL',
			name: 'baseUrl',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'https://partners.example.com',
			description:
				'Address of the partner service. A trailing slash or the path /api/v1/partners may be included or left out.',
		},
		{
			displayName: 'API Key',
			name: 'apiKey',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			required: true,
			description: 'Sent as a bearer token with every request',
		},
		{
			displayName: 'Webhook Secret',
			name: 'webhookSecret',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			hint: 'Only the ETB Wallet Trigger needs it',
			description:
				'Needed by the ETB Wallet Trigger only. It proves that an event was sent by the service: without it the trigger cannot be published.',
		},
		{
			displayName: 'Previous Webhook Secret',
			name: 'previousWebhookSecret',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			hint: 'Only while the secret is being replaced',
			description:
				'While it is filled, events that are signed with it are accepted too. Move the old secret here when you enter a new one, and empty the field once the service signs with the new one.',
		},
		{
			displayName: 'Allow Insecure HTTP',
			name: 'allowInsecureHttp',
			type: 'boolean',
			default: false,
			hint: 'Only for a sandbox in a private network',
			description:
				'Whether to allow http:// addresses outside this machine. Turn this on only for a sandbox in a private network: the API key travels unencrypted.',
		},
	];

	// `authenticate` is a function, because n8n would evaluate the expressions of a declarative block at every
	// request.
	authenticate: IAuthenticate = (
		credentials: ICredentialDataDecryptedObject,
		requestOptions: IHttpRequestOptions,
	): Promise<IHttpRequestOptions> => {
		const headers = { ...requestOptions.headers, ...authenticationHeaders(credentials) };
		return Promise.resolve({ ...requestOptions, headers });
	};
}
