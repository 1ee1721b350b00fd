/** What the editor's "Test" of the credential does: it reads the balance, and shows the service's own reason when that fails. */
import type {
	ICredentialTestFunctions,
	ICredentialsDecrypted,
	INodeCredentialTestResult,
} from 'n8n-workflow';
import { parseAccount, type Account } from './account';
import { unlessAborted } from './elapsed';
import { asInvalidValue } from './invalidValue';
import { answeredWith } from './n8n';
import type { Attempt } from './service/attempt';
import { answerFrom, noAnswerFrom, notSent, throughProxy, tooLate } from './service/attempt';
import { flatFields } from './service/call';
import { describeFailure, describeUnreadable, type ServiceFailure } from './service/failure';
import { isReachedDirectly } from './service/ownMachine';
import { judge } from './service/retries';

const timeoutMs = 20_000;

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
	if (attempt.kind === 'noAnswer' || judge(true, attempt) !== 'done') {
		return failedTest(describeFailure(attempt, 'notDone', account));
	}
	// Any web page answers 200: only the service answers with JSON.
	if (flatFields(attempt.body) === undefined) {
		return failedTest(describeUnreadable(attempt, true, account));
	}
	return { status: 'OK', message: 'Connection successful' };
}

function failedTest({ message, description }: ServiceFailure): INodeCredentialTestResult {
	return { status: 'Error', message: `${message.replace(/\.$/, '')}. ${description}` };
}

/** With the only request function that n8n gives to a credential test. */
async function readBalance(
	{ request }: ICredentialTestFunctions['helpers'],
	account: Account,
): Promise<Attempt> {
	const common = { timeout: timeoutMs, simple: false, followRedirect: false };
	const look = async (uri: string): Promise<unknown> => await request({ ...common, uri });
	// The request's own timeout begins anew with each byte that arrives.
	const signal = AbortSignal.timeout(timeoutMs);
	const attempt = async (): Promise<Attempt> => {
		if (!(await isReachedDirectly(account.url, look))) return notSent(throughProxy);
		const response: unknown = await request({
			...common,
			method: 'GET',
			uri: `${account.url.href}/balance`,
			headers: { Accept: 'application/json', Authorization: `Bearer ${account.apiKey}` },
			resolveWithFullResponse: true,
			followAllRedirects: false,
			useStream: true,
		});
		return await answerFrom(answeredWith(response), account.url, signal);
	};
	try {
		return await unlessAborted(signal, attempt(), () => new Error(tooLate));
	} catch (error) {
		return noAnswerFrom(error);
	}
}
