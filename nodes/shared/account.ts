/** A partner account: what its credential holds, checked. */
import type {
	ICredentialDataDecryptedObject,
	ICredentialsDecrypted,
	IExecuteFunctions,
	IHookFunctions,
} from 'n8n-workflow';
import { partnersUrl } from './url';
import { InvalidValueError } from './invalidValue';
import { dashes, invisible } from './lookalikes';

export const credentialType = 'etbWalletApi';

export interface Account {
	/** Root of all endpoints, without a trailing slash. */
	url: URL;
	apiKey: string;
	/** Empty when the credential has none. */
	webhookSecret: string;
	/** Accepted too while the secret is being replaced. Empty when there is none. */
	previousWebhookSecret: string;
	allowInsecureHttp: boolean;
	/** For n8n's request helper, which would otherwise load and decrypt the credential for each request. */
	credentialsDecrypted: ICredentialsDecrypted;
}

/** Checks a credential. @throws {InvalidValueError} for a field of it that cannot be used */
export function parseAccount(credential: ICredentialsDecrypted): Account {
	const { data = {} } = credential;
	const allowInsecureHttp = data.allowInsecureHttp === true;
	const url = partnersUrl(data.baseUrl, { allowInsecureHttp });
	const apiKey = trimmed(data.apiKey);
	if (apiKey === '') {
		throw new InvalidValueError(
			'API Key is empty',
			'Enter the API key in the ETB Wallet API credential.',
		);
	}
	if (!/^[\x21-\x7e]+$/.test(apiKey)) {
		throw new InvalidValueError(
			'API Key contains a space, a line break or a character that a key cannot have',
			'Paste the API key again into the ETB Wallet API credential, without anything around it.',
		);
	}
	return {
		url,
		apiKey,
		webhookSecret: trimmed(data.webhookSecret),
		previousWebhookSecret: trimmed(data.previousWebhookSecret),
		allowInsecureHttp,
		credentialsDecrypted: credential,
	};
}

/** Loads the node's credential. @throws {InvalidValueError} for a field of it that cannot be used */
export async function loadAccount(context: IExecuteFunctions | IHookFunctions): Promise<Account> {
	const data = await context.getCredentials(credentialType);
	const { id, name } = context.getNode().credentials?.[credentialType] ?? {};
	return parseAccount({ id: id ?? '', name: name ?? '', type: credentialType, data });
}

/** The header that shows the API key to the service (service document §5). @param data of the credential, whose key need not be checked */
export const authenticationHeaders = ({ apiKey }: ICredentialDataDecryptedObject) => ({
	Authorization: `Bearer ${trimmed(apiKey)}`,
});

const trimmed = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

/**
 * Checks the secrets that events are signed with: one wrong character, and no signature fits. All characters that a person
 * can see are allowed, because the service document does not show the form of a secret. @throws {InvalidValueError}
 */
export function checkWebhookSecrets({ webhookSecret, previousWebhookSecret }: Account): void {
	const secrets = {
		'Webhook Secret': webhookSecret,
		'Previous Webhook Secret': previousWebhookSecret,
	};
	for (const [field, secret] of Object.entries(secrets)) {
		if (![...secret].some(isUnseen) && !/^["'`«‘’“”].*["'`»‘’“”]$/u.test(secret)) continue;
		throw new InvalidValueError(
			`${field} is in quotes, or has a character that cannot be seen or looks like another one`,
			'Copy it again from where the service shows it, and paste it into the ETB Wallet API credential without anything around it.',
		);
	}
}

/** Whether a character of a secret is there by mistake: it cannot be seen, or stands for a space or a hyphen. */
const isUnseen = (character: string): boolean =>
	character !== ' ' &&
	character !== '-' &&
	[invisible, /\p{Z}/u, dashes].some((kind) => character.search(kind) >= 0);

/** The secrets with which an event may be signed: the present one, without which there is none, and the previous one. */
export function webhookSecrets(data: ICredentialDataDecryptedObject): string[] {
	const present = trimmed(data.webhookSecret);
	if (present === '') return [];
	return [present, trimmed(data.previousWebhookSecret)].filter((secret) => secret !== '');
}
