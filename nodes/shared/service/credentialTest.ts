/** The editor's "Test" of the credential: it reads the balance, and shows the reason if that fails. */
import type {
	ICredentialTestFunctions,
	ICredentialsDecrypted,
	INodeCredentialTestResult,
} from 'n8n-workflow';
import { authenticationHeaders, assertUsableSecrets, readAccount, type Account } from '../account';
import { asInvalidValue } from '../invalidValue';
import { rawResponse } from '../n8n';
import { judge } from './judge';
import { makeAttempt } from './attempt';
import { resultOf } from './call';
import { balanceRequest } from './request';

const timeoutMs = 20_000;

export async function testCredential(
	this: ICredentialTestFunctions,
	credential: ICredentialsDecrypted,
): Promise<INodeCredentialTestResult> {
	let account: Account;
	try {
		account = readAccount(credential);
		assertUsableSecrets(account);
	} catch (error) {
		const { message, remedy } = asInvalidValue(error);
		return { status: 'Error', message: `${message}. ${remedy}` };
	}
	const { url, credentialsDecrypted } = account;
	// n8n gives no other request function to a credential test.
	const { request } = this.helpers;
	const send = async () =>
		rawResponse(
			await request({
				method: balanceRequest.method,
				uri: url.href + balanceRequest.path,
				headers: {
					Accept: 'application/json',
					...authenticationHeaders(credentialsDecrypted.data ?? {}),
				},
				timeout: timeoutMs,
				simple: false,
				resolveWithFullResponse: true,
				followRedirect: false,
				followAllRedirects: false,
				useStream: true,
			}),
		);
	const last = await makeAttempt(send, timeoutMs);
	const judgement = judge(balanceRequest, last);
	const result = resultOf(account, balanceRequest, { last, judgement, attempts: 1 });
	if (result.ok) return { status: 'OK', message: 'Connection successful' };
	const { message, remedy } = result.failure;
	return { status: 'Error', message: `${message.replace(/\.$/, '')}. ${remedy}` };
}
