/** A partner account: the checked values of its credential. */
import type {
	ICredentialDataDecryptedObject,
	ICredentialsDecrypted,
	IExecuteFunctions,
	IHookFunctions,
} from 'n8n-workflow';
import { readPartnersUrl } from './url';
import { InvalidValueError } from './invalidValue';
import { dashes, invisible } from './normalizeText';

export const credentialType = 'etbWalletApi';

export interface Account {
	/** The root of all endpoints, without a trailing slash. */
	url: URL;
	apiKey: string;
	/** Empty for a credential without a secret. */
	webhookSecret: string;
	/** The old secret, which is still accepted while a person replaces it. Empty if there is none. */
	previousWebhookSecret: string;
	allowInsecureHttp: boolean;
	/** The decrypted credential, for n8n's request helper. */
	credentialsDecrypted: ICredentialsDecrypted;
}

/**
 * Checks the values of a credential.
 * @throws {InvalidValueError} for a field that cannot be used
 */
export function readAccount(credential: ICredentialsDecrypted): Account {
	const { data = {} } = credential;
	const allowInsecureHttp = data.allowInsecureHttp === true;
	const url = readPartnersUrl(data.baseUrl, { allowInsecureHttp });
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

/**
 * Loads and checks the credential of the node.
 * @throws {InvalidValueError} for a field that cannot be used
 */
export async function loadAccount(context: IExecuteFunctions | IHookFunctions): Promise<Account> {
	const data = await context.getCredentials(credentialType);
	const { id, name } = context.getNode().credentials?.[credentialType] ?? {};
	return readAccount({ id: id ?? '', name: name ?? '', type: credentialType, data });
}

/**
 * The header that carries the API key to the service (service document §5).
 * @param data the fields of the credential, whose key may be unchecked
 */
export const authenticationHeaders = ({ apiKey }: ICredentialDataDecryptedObject) => ({
	Authorization: `Bearer ${trimmed(apiKey)}`,
});

const trimmed = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

/**
 * Checks the webhook secrets, because a secret with one wrong character fits no signature. Quotes around a
 * secret, and characters that are invisible or look like a blank or a hyphen, are mistakes of copying. Any
 * other visible character is allowed, because the service document does not show the form of a secret.
 * @throws {InvalidValueError}
 */
export function assertUsableSecrets({ webhookSecret, previousWebhookSecret }: Account): void {
	const secrets = {
		'Webhook Secret': webhookSecret,
		'Previous Webhook Secret': previousWebhookSecret,
	};
	for (const [field, secret] of Object.entries(secrets)) {
		if (![...secret].some(isMistakenCharacter) && !/^["'`«‘’“”].*["'`»‘’“”]$/u.test(secret))
			continue;
		throw new InvalidValueError(
			`${field} is in quotes, or has a character that cannot be seen or looks like another one`,
			'Copy it again from where the service shows it, and paste it into the ETB Wallet API credential without anything around it.',
		);
	}
}

/** Whether a character of a secret is a mistake: it is invisible, or looks like a space or a hyphen. */
const isMistakenCharacter = (character: string): boolean =>
	character !== ' ' &&
	character !== '-' &&
	[invisible, /\p{Z}/u, dashes].some((kind) => character.search(kind) >= 0);

/** The present and the previous secret, which may sign an event. Without a present one there is none. */
export function webhookSecrets(data: ICredentialDataDecryptedObject): string[] {
	const present = trimmed(data.webhookSecret);
	if (present === '') return [];
	return [present, trimmed(data.previousWebhookSecret)].filter((secret) => secret !== '');
}
