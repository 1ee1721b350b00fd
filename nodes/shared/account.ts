/** A partner account: what its credential holds, checked. */
import type {
	ICredentialDataDecryptedObject,
	ICredentialsDecrypted,
	IExecuteFunctions,
	IHookFunctions,
} from 'n8n-workflow';
import { partnersUrl } from './url';
import { InvalidValueError } from './invalidValue';

export const credentialType = 'etbWalletApi';

/** A partner account: the checked content of one credential. */
export interface Account {
	/** Root of all endpoints, without a trailing slash. */
	url: URL;
	apiKey: string;
	/** Empty when the credential has none. */
	webhookSecret: string;
	allowInsecureHttp: boolean;
	/** For n8n's request helper, which would otherwise load and decrypt the credential for each request. */
	credentialsDecrypted: ICredentialsDecrypted;
}

/**
 * Checks the fields of a credential.
 * @throws {InvalidValueError}
 */
export function parseAccount(
	data: ICredentialDataDecryptedObject,
	identity: { id: string; name: string } = { id: '', name: '' },
): Account {
	const allowInsecureHttp = data.allowInsecureHttp === true;
	const url = partnersUrl(data.baseUrl, { allowInsecureHttp });
	const apiKey = typeof data.apiKey === 'string' ? data.apiKey.trim() : '';
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
		webhookSecret: typeof data.webhookSecret === 'string' ? data.webhookSecret : '',
		allowInsecureHttp,
		credentialsDecrypted: { ...identity, type: credentialType, data },
	};
}

/**
 * Loads the node's credential, once per run.
 * @throws {InvalidValueError} when a field of the credential cannot be used
 */
export async function loadAccount(context: IExecuteFunctions | IHookFunctions): Promise<Account> {
	const data = await context.getCredentials(credentialType);
	const reference = context.getNode().credentials?.[credentialType];
	return parseAccount(data, { id: reference?.id ?? '', name: reference?.name ?? '' });
}
