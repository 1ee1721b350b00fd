/** What the editor's "Test" of the credential does: it reads the balance, and shows the service's own reason when that fails. */
import type {
	ICredentialTestFunctions,
	ICredentialsDecrypted,
	INodeCredentialTestResult,
} from 'n8n-workflow';
import { parseAccount, type Account } from './account';
import { asInvalidValue } from './invalidValue';
import { rawAnswer } from './n8n';
import { makeAttempt, type Attempt } from './service/attempt';
import { balanceRequest, resultOf } from './service/call';
import { judge } from './service/retries';

const timeoutMs = 20_000;

export async function testCredential(
	this: ICredentialTestFunctions,
	credential: ICredentialsDecrypted,
): Promise<INodeCredentialTestResult> {
	let account: Account;
	try {
		account = parseAccount(credential);
	} catch (error) {
		const { message, remedy } = asInvalidValue(error);
		return { status: 'Error', message: `${message}. ${remedy}` };
	}
	const last = await askForBalance(this.helpers, account);
	const judged = { last, verdict: judge(true, last), attempts: 1 };
	const result = resultOf(account, balanceRequest, judged);
	if (result.ok) return { status: 'OK', message: 'Connection successful' };
	const { message, description } = result.failure;
	return { status: 'Error', message: `${message.replace(/\.$/, '')}. ${description}` };
}

/** With the only request function that n8n gives to a credential test. */
async function askForBalance(
	{ request }: ICredentialTestFunctions['helpers'],
	{ url, apiKey }: Account,
): Promise<Attempt> {
	const common = { timeout: timeoutMs, simple: false, followRedirect: false };
	const look = async (uri: string): Promise<unknown> => await request({ ...common, uri });
	const send = async () => {
		const response: unknown = await request({
			...common,
			method: balanceRequest.method,
			uri: url.href + balanceRequest.path,
			headers: { Accept: 'application/json', Authorization: `Bearer ${apiKey}` },
			resolveWithFullResponse: true,
			followAllRedirects: false,
			useStream: true,
		});
		return rawAnswer(response);
	};
	return await makeAttempt(url, { look, send }, timeoutMs);
}
