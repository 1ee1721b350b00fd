/** Requests of n8n to its own webhook addresses, while a test listens. */
import { randomUUID } from 'node:crypto';
import type { IDataObject, IHookFunctions, IWebhookFunctions } from 'n8n-workflow';
import { messageOf } from '../shared/invalidValue';
import { property } from '../shared/n8n';
import type { Delivery } from './signedDelivery';
import { sign, signingHeaders } from './signedDelivery';

const timeoutMs = 10_000;

/** Marks what this process sends on, so that it goes from production to tests, or from a test to production, once. */
const forwardHeader = 'x-etb-wallet-forwarded';
const ownMark = randomUUID();

/** Whether this process sent it on. */
export const isForwarded = ({ headers }: Delivery): boolean => headers[forwardHeader] === ownMark;

/** Headers that belong to one connection, and are another's when a delivery is sent on. */
const ofConnection =
	/^(?:accept|accept-encoding|connection|content-encoding|content-length|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade)$/;

/** Headers that carry what gives access, by their names. */
const secret = /auth|cookie|api-?key|password|secret|signature|token/;

/** The headers of the service, without those of a connection and those that may hold a secret. */
export function headersToShow({ headers }: Delivery): IDataObject {
	const shown = Object.entries(headers).filter(
		([name]) => !ofConnection.test(name) && !secret.test(name) && name !== forwardHeader,
	);
	return Object.fromEntries(shown) as IDataObject;
}

/**
 * Sends a delivery on, byte for byte, with its signature, and with the headers that are shown.
 * @returns the status of the answer, or undefined when there was none
 */
export async function forward(
	context: IHookFunctions | IWebhookFunctions,
	url: string,
	delivery: Delivery,
): Promise<number | undefined> {
	try {
		const response: unknown = await context.helpers.httpRequest({
			method: 'POST',
			url,
			body: delivery.body,
			headers: {
				...headersToShow(delivery),
				...signingHeaders(delivery),
				[forwardHeader]: ownMark,
			},
			encoding: 'text',
			timeout: timeoutMs,
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			disableFollowRedirect: true,
		});
		const status: unknown = property(response, 'statusCode');
		return typeof status === 'number' ? status : undefined;
	} catch (error) {
		context.logger.warn(`A delivery could not be forwarded to ${url}: ${messageOf(error)}`);
		return undefined;
	}
}

/** The field of a body with which n8n asks itself which process handles a production URL. It is no event. */
const probeField = 'etbWalletProbe';

const openProbes = new Set<string>();

/** Statuses that the answer to a probe can have. */
const probeStatus = { sameProcess: 200, otherProcess: 202 };

/** The status with which a parsed body is to be answered, if it is a probe. */
export function probeStatusOf(body: unknown): number | undefined {
	const token = property(body, probeField);
	if (typeof token !== 'string') return undefined;
	return openProbes.has(token) ? probeStatus.sameProcess : probeStatus.otherProcess;
}

/** Which process handles the deliveries of a production URL. `unreachable`: n8n cannot reach its own address. */
export async function probe(
	context: IHookFunctions,
	url: string,
	webhookSecret: string,
): Promise<'sameProcess' | 'otherProcess' | 'unreachable'> {
	const token = randomUUID();
	const body = Buffer.from(JSON.stringify({ [probeField]: token }));
	openProbes.add(token);
	try {
		const headers = { 'content-type': 'application/json', ...sign(body, webhookSecret) };
		const status = await forward(context, url, { headers, body });
		if (status === probeStatus.sameProcess) return 'sameProcess';
		return status === probeStatus.otherProcess ? 'otherProcess' : 'unreachable';
	} finally {
		openProbes.delete(token);
	}
}
