/** What a trigger is published or tested with: its account, its settings and its URLs, read and checked once. */
import type { IHookFunctions } from 'n8n-workflow';
import type { Account } from '../shared/account';
import { accountKeys, loadAccount } from '../shared/account';
import { InvalidValueError } from '../shared/invalidValue';
import { requireRequests } from '../shared/n8n';
import { webhookUrl } from '../shared/url';
import type { AccountKeys } from './holders';
import type { Settings } from './settings';
import { checkSettings, settingsOf } from './settings';
import { triggerKey } from './state';

export interface Registration {
	trigger: string;
	account: Account;
	keys: AccountKeys;
	settings: Settings;
	/** The address at which n8n listens for this trigger. */
	url: string;
	/** The same, once it is sure that the service can reach it. @throws {InvalidValueError} */
	publicUrl(): string;
	/** URL After Deactivation. */
	urlAfter?: string;
}

/** @throws {InvalidValueError} for what has to be corrected before the trigger can listen */
export async function readRegistration(context: IHookFunctions): Promise<Registration> {
	requireRequests(context);
	const account = await loadAccount(context);
	if (account.webhookSecret === '') {
		throw new InvalidValueError(
			'The credential has no Webhook Secret',
			'Enter the Webhook Secret in the ETB Wallet API credential. Without it nobody could tell real events from forged ones.',
		);
	}
	const { parameters } = context.getNode();
	checkSettings(parameters);
	const settings = settingsOf(parameters);
	const { urlAfterDeactivation } = settings;
	const url = ownUrl(context);
	return {
		trigger: triggerKey(context),
		account,
		keys: accountKeys(account),
		settings,
		url,
		publicUrl: () => webhookUrl(url, account, ownUrlField, ownUrlRemedy),
		urlAfter:
			urlAfterDeactivation === ''
				? undefined
				: webhookUrl(urlAfterDeactivation, account, 'URL After Deactivation'),
	};
}

const ownUrlField = 'The webhook URL of this n8n';
const ownUrlRemedy =
	'Set the environment variable WEBHOOK_URL of n8n to its public https:// address, then restart n8n.';

/** As `webhookUrl` writes it, so that the two can be compared. */
export function ownUrl(context: IHookFunctions): string {
	const url = context.getNodeWebhookUrl('default') ?? '';
	return URL.canParse(url) ? new URL(url).href : url;
}
