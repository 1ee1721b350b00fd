/** Requests of n8n to its own webhook addresses, while a test listens. */
import { randomUUID } from 'node:crypto';
import type { IDataObject, IHookFunctions, IWebhookFunctions } from 'n8n-workflow';
import { messageOf } from '../shared/invalidValue';
import { property } from '../shared/n8n';
import type { Delivery } from './signedDelivery';
import { sign, signingHeaders } from './signedDelivery';

const timeoutMs = 10_000;

/** Marks what this process sends on, so that it goes from production to tests, or from a test to production, once. */
const relayHeader = 'x-etb-wallet-relayed';
const ownRelay = randomUUID();

/** Whether this process sent it on. */
export const isRelayed = ({ headers }: Delivery): boolean => headers[relayHeader] === ownRelay;

/** The headers as the service sent them. */
export function ownHeaders(context: IWebhookFunctions): IDataObject {
	const headers: IDataObject = { ...context.getHeaderData() };
	delete headers[relayHeader];
	return headers;
}

/**
 * Sends a delivery on, byte for byte and with its signature.
 * @returns the status of the answer, or undefined when there was none
 */
export async function forward(
	context: IHookFunctions | IWebhookFunctions,
	url: string,
	delivery: Delivery,
	headers: Record<string, string> = { [relayHeader]: ownRelay },
): Promise<number | undefined> {
	try {
		const response: unknown = await context.helpers.httpRequest({
			method: 'POST',
			url,
			body: delivery.body,
			headers: {
				'Content-Type': 'application/json',
				...signingHeaders(delivery),
				...headers,
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
		context.logger.warn('A delivery could not be forwarded', {
			url,
			reason: messageOf(error),
		});
		return undefined;
	}
}

/** Marks a request with which n8n asks itself which process handles a production URL. */
export const probeHeader = 'x-etb-wallet-probe';

const openProbes = new Set<string>();

/** Whether a probe was sent by this process. */
export function isOwnProbe(value: unknown): boolean {
	return typeof value === 'string' && openProbes.has(value);
}

/** Statuses that the answer to a probe can have. */
export const probeStatus = { sameProcess: 200, otherProcess: 202 };

/** Which process handles the deliveries of a production URL. `unreachable`: n8n cannot reach its own address. */
export async function probe(
	context: IHookFunctions,
	url: string,
	secret: string,
): Promise<'sameProcess' | 'otherProcess' | 'unreachable'> {
	const token = randomUUID();
	const body = Buffer.from(JSON.stringify({ event: 'n8n.probe', token }));
	openProbes.add(token);
	try {
		const delivery = { headers: sign(body, secret), body };
		const status = await forward(context, url, delivery, { [probeHeader]: token });
		if (status === probeStatus.sameProcess) return 'sameProcess';
		return status === probeStatus.otherProcess ? 'otherProcess' : 'unreachable';
	} finally {
		openProbes.delete(token);
	}
}
