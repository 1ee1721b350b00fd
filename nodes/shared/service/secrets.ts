/** Keeps the account's secrets out of everything that people or logs get to see. */
import type { Account } from '../account';

type Secrets = Pick<Account, 'apiKey' | 'webhookSecret'> &
	Partial<Pick<Account, 'previousWebhookSecret'>>;

/** Removes the account's secrets from a text, as they are and as a URL writes them. */
export function hideSecrets(text: string, account: Secrets): string {
	const { apiKey, webhookSecret, previousWebhookSecret = '' } = account;
	return [apiKey, webhookSecret, previousWebhookSecret]
		.filter((secret) => secret !== '')
		.sort((one, other) => other.length - one.length)
		.flatMap((secret) => [secret, encodeURIComponent(secret.toWellFormed())])
		.reduce((shown, secret) => shown.replaceAll(secret, '[hidden]'), text);
}
