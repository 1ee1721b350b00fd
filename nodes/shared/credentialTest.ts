import type {
	ICredentialTestFunctions,
	ICredentialsDecrypted,
	INodeCredentialTestResult,
} from 'n8n-workflow';
import type { Account } from './account';
import { parseAccount } from './account';
import type { Attempt } from './retry';
import { judge } from './retry';
import type { ServiceFailure } from './serviceError';
import { describeFailure, describeUnreadable } from './serviceError';
import { answerFrom, flatFields, noAnswerFrom } from './transport';
import { asInvalidValue } from './validation';

/** In ms. */
const timeout = 20_000;

/** The credential test of the editor: reads the balance and shows the service's own reason when that fails. */
export async function testCredential(
	this: ICredentialTestFunctions,
	credential: ICredentialsDecrypted,
): Promise<INodeCredentialTestResult> {
	let account: Account;
	try {
		account = parseAccount(credential.data ?? {});
	} catch (error) {
		const { message, remedy } = asInvalidValue(error);
		return { status: 'Error', message: `${message}. ${remedy}` };
	}
	const attempt = await readBalance(this.helpers, account);
	if (attempt.kind === 'noAnswer' || judge('GET', attempt) !== 'done') {
		return failed(describeFailure(attempt, 'rejected', account));
	}
	// Any web page answers 200.
	if (flatFields(attempt.text) === undefined) return failed(describeUnreadable(attempt, 'GET'));
	return { status: 'OK', message: 'Connection successful' };
}

function failed({ message, description }: ServiceFailure): INodeCredentialTestResult {
	return { status: 'Error', message: `${message.replace(/\.$/, '')}. ${description}` };
}

/** This request function is the only one that n8n gives to a credential test. */
async function readBalance(
	helpers: ICredentialTestFunctions['helpers'],
	account: Account,
): Promise<Attempt> {
	try {
		const response: unknown = await helpers.request({
			method: 'GET',
			uri: `${account.url.href}/balance`,
			headers: { Accept: 'application/json', Authorization: `Bearer ${account.apiKey}` },
			timeout,
			resolveWithFullResponse: true,
			simple: false,
			followRedirect: false,
			followAllRedirects: false,
		});
		return answerFrom(response);
	} catch (error) {
		return noAnswerFrom(error);
	}
}
