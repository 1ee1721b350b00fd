/** The URLs of a trigger, and how one is set at the service. */
import type { IHookFunctions } from 'n8n-workflow';
import type { Account } from '../shared/account';
import { operationError } from '../shared/n8n';
import { failureError, invalidValueError } from '../shared/service/failure';
import { callService } from '../shared/service/call';
import { webhookUrl } from '../shared/url';
import type { AccountUrl, NotSet, Settled } from './accountUrl';
import { settingsOf } from './settings';

/** Waits until the service has the URL that it should have. */
export async function settle(
	context: IHookFunctions,
	account: Account,
	accountUrl: AccountUrl,
): Promise<Settled> {
	return await accountUrl.settle(
		async (url, signal) => await setUrl(context, account, url, signal),
	);
}

/** In ms. n8n gives up on a publication after 84 s; without `Retry-After`, two calls with all their retries take less. */
const timeout = 8_000;

/** Endpoint 4 of the service document. */
async function setUrl(
	context: IHookFunctions,
	account: Account,
	url: string,
	signal: AbortSignal,
): Promise<Error | undefined> {
	const body = { webhookUrl: url };
	const result = await callService(
		context,
		account,
		{ method: 'PUT', path: '/webhook', mayRepeat: true, body, confirms: body },
		// A call that was cut off could still be carried out, after the next one.
		{ timeoutMs: timeout, stop: signal, finishes: true },
	);
	if (!result.ok) return failureError(context.getNode(), result.failure);
	// The document does not show the answer (service document §4), and it may say no with a status that says yes.
	if (result.output.success !== false) return undefined;
	return operationError(
		context.getNode(),
		'The service answered that it did not set the webhook URL',
		'Ask the partner service why, then publish or test again.',
	);
}

/** For what nobody would see in the editor. */
export function logNotSet(context: IHookFunctions, { url, reason, hasIt }: NotSet): void {
	const details = { workflow: context.getWorkflow().name, url, reason: reason.message };
	if (hasIt) {
		context.logger.warn(
			'The partner service did not take the webhook URL again. It has it already, so the trigger listens',
			details,
		);
	} else {
		context.logger.error('The webhook URL could not be set again at the partner service', details);
	}
}

/** @throws {NodeOperationError} in place of what `read` throws */
export function asNodeErrors<Result>(context: IHookFunctions, read: () => Result): Result {
	try {
		return read();
	} catch (error) {
		throw invalidValueError(context.getNode(), error);
	}
}

/** As `webhookUrl` writes it, so that the two can be compared. */
export function ownUrl(context: IHookFunctions): string {
	const url = context.getNodeWebhookUrl('default') ?? '';
	return URL.canParse(url) ? new URL(url).href : url;
}

/** @throws {NodeOperationError} when the service could not reach it */
export const publicUrl = (context: IHookFunctions, account: Account): string =>
	asNodeErrors(context, () =>
		webhookUrl(
			ownUrl(context),
			account,
			'The webhook URL of this n8n',
			'Set the environment variable WEBHOOK_URL of n8n to its public https:// address, then restart n8n.',
		),
	);

/** @throws {NodeOperationError} */
export function urlAfterDeactivation(
	context: IHookFunctions,
	account: Account,
): string | undefined {
	const { urlAfterDeactivation: url } = settingsOf(context.getNode().parameters);
	if (url === '') return undefined;
	return asNodeErrors(context, () => webhookUrl(url, account, 'URL After Deactivation'));
}
