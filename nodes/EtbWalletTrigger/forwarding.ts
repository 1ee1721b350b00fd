/** Forwards deliveries between production and tests: requests of n8n to its own webhook addresses. */
import { randomUUID } from 'node:crypto';
import type { IDataObject, IHookFunctions, IWebhookFunctions } from 'n8n-workflow';
import { messageOf, property } from '../shared/unknown';
import { sign, signingHeaders, type Delivery } from './signedDelivery';

const timeoutMs = 10_000;

/** Marks what this process forwards: a test must not forward back to production what came from there. */
const forwardHeader = 'x-etb-wallet-forwarded';
const ownMark = randomUUID();

export const isForwarded = ({ headers }: Delivery): boolean => headers[forwardHeader] === ownMark;

/** Headers of one connection: a delivery that is forwarded gets those of its new connection. */
const ofConnection =
	/^(?:accept|accept-encoding|connection|content-encoding|content-length|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade)$/;

/** Names of headers that may hold a secret. */
const secret = /auth|cookie|api-?key|password|secret|signature|token/;

/** The headers that may go into an output. */
export function headersToShow({ headers }: Delivery): IDataObject {
	const shown = Object.entries(headers).filter(
		([name]) => !ofConnection.test(name) && !secret.test(name) && name !== forwardHeader,
	);
	return Object.fromEntries(shown) as IDataObject;
}

/** Forwards a delivery, byte for byte, with its signature. @returns the status of the answer, if there is one */
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

/** The field of a probe: a signed request that is no event, by which this process learns who handles a production URL. */
const probeField = 'etbWalletProbe';

const openProbes = new Set<string>();

const probeStatus = { sameProcess: 200, otherProcess: 202 };

/** With which status to answer, if a parsed body is a probe. */
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
