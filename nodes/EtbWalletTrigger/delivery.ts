import type { IWebhookFunctions, IWebhookResponseData, INodeExecutionData } from 'n8n-workflow';
import { admit, deliveryKey } from './deduplication';
import { ageOf, eventOutputs, isWanted, outputIndex, parseEvent } from './events';
import type { PartnerEvent } from './events';
import type { Delivery } from './forwarding';
import { forward, isOwnProbe, probeHeader, probeStatus } from './forwarding';
import { option } from './options';
import { registry, triggerKey } from './registry';
import { webhookSecret } from './secret';
import { isSigned, signatureHeader, signatureIn } from './signature';

/** An answer that starts no execution. It says nothing about why a signature was refused. */
interface Refusal {
	status: number;
	message: string;
}

const refusals = {
	notSigned: { status: 401, message: 'The signature is missing or wrong' },
	unreadable: { status: 400, message: 'The request could not be read' },
	tooLarge: { status: 413, message: 'The request is too large' },
	noEvent: { status: 400, message: 'The body is not an event' },
	noTimestamp: { status: 400, message: 'The event has no timestamp' },
	tooOld: { status: 200, message: 'Too old' },
	notWanted: { status: 200, message: 'Not asked for' },
	duplicate: { status: 200, message: 'Received before' },
	failedBefore: { status: 500, message: 'The workflow failed' },
	notForwarded: { status: 502, message: 'The published workflow could not be reached' },
	noCredential: { status: 503, message: 'The credential cannot be used' },
} satisfies Record<string, Refusal>;

/**
 * Handles a request to the trigger's URL. Everything that does not start the workflow is answered here, because
 * an execution is what costs. Only an expression in the trigger's fields that fails throws: n8n then starts a
 * failed execution.
 */
export async function receive(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const delivery = await verifiedDelivery(context);
	if ('status' in delivery) return refuse(context, delivery);

	const probe = context.getRequestObject().headers[probeHeader];
	if (probe !== undefined) {
		const status = isOwnProbe(probe) ? probeStatus.sameProcess : probeStatus.otherProcess;
		return refuse(context, { status, message: 'Probe' });
	}
	const isTest = context.getMode() === 'manual';
	if (isTest && !(await reachedProduction(context, delivery))) {
		return refuse(context, refusals.notForwarded);
	}
	const event = parseEvent(delivery.body);
	if (event === undefined) return refuse(context, refusals.noEvent);
	if (!isTest) copyToTests(context, delivery);
	const unwanted = reasonToIgnore(context, event);
	if (unwanted !== undefined) return refuse(context, unwanted);
	if (!isTest) {
		const repeated = await repetition(context, deliveryKey(event, delivery.body));
		if (repeated !== undefined) return refuse(context, repeated);
	}
	return { workflowData: outputsWith(context, event) };
}

function refuse(context: IWebhookFunctions, { status, message }: Refusal): IWebhookResponseData {
	context.getResponseObject().status(status).json({ message });
	return { noWebhookResponse: true };
}

async function verifiedDelivery(context: IWebhookFunctions): Promise<Delivery | Refusal> {
	const request = context.getRequestObject();
	const signature = request.headers[signatureHeader.toLowerCase()];
	// Before anything is read: what has no signature at all costs next to nothing.
	if (typeof signature !== 'string' || signatureIn(signature) === undefined)
		return refusals.notSigned;
	try {
		if ((await Promise.race([request.readRawBody(), cutOff(context)])) === 'cutOff')
			return refusals.unreadable;
	} catch (error) {
		return Reflect.get(Object(error), 'status') === 413 ? refusals.tooLarge : refusals.unreadable;
	}
	const body = request.rawBody ?? Buffer.alloc(0);
	// After the body, which a sender may take long to send.
	let secret: unknown;
	try {
		secret = await webhookSecret(context);
	} catch (error) {
		context.logger.warn('The credential of the ETB Wallet Trigger cannot be used', {
			workflow: context.getWorkflow().name,
			reason: error instanceof Error ? error.message : String(error),
		});
		return refusals.noCredential;
	}
	if (typeof secret !== 'string' || !isSigned(body, signature, secret)) return refusals.notSigned;
	return { body, signature };
}

/** n8n would wait for ever for the rest of a compressed body that is cut off. */
function cutOff(context: IWebhookFunctions): Promise<'cutOff'> {
	const request = context.getRequestObject();
	return new Promise((resolve) => {
		const look = (): void => {
			if (!request.complete) resolve('cutOff');
		};
		if (request.closed) look();
		else request.once('close', look);
	});
}

/** While a test has the account's URL, production gets each delivery from here; if that fails the service sends it again. */
async function reachedProduction(context: IWebhookFunctions, delivery: Delivery): Promise<boolean> {
	const test = registry.testListener(triggerKey(context));
	// It has ended, or another process knows where production is.
	if (test === undefined) return false;
	if (test.forwardTo === undefined) return true;
	const status = await forward(context, test.forwardTo, delivery);
	return status !== undefined && status >= 200 && status < 300;
}

/** Not awaited: a test must not slow production down, and `forward` never rejects. */
function copyToTests(context: IWebhookFunctions, delivery: Delivery): void {
	for (const url of registry.copiesFor(triggerKey(context))) void forward(context, url, delivery);
}

function wantedEvents(context: IWebhookFunctions): string[] {
	const events: unknown = context.getNodeParameter('events', []);
	return Array.isArray(events) ? events.map(String) : [];
}

function reasonToIgnore(context: IWebhookFunctions, event: PartnerEvent): Refusal | undefined {
	if (!isWanted(event, wantedEvents(context))) return refusals.notWanted;
	const maximumAge = Number(option(context, 'maximumAge'));
	if (!(maximumAge > 0)) return undefined;
	const age = ageOf(event, Date.now());
	if (age === undefined) return refusals.noTimestamp;
	return age > maximumAge * 60_000 ? refusals.tooOld : undefined;
}

/** How to answer a delivery that came before; undefined when it is new, and then its answer decides whether it is remembered. */
async function repetition(context: IWebhookFunctions, key: string): Promise<Refusal | undefined> {
	const afterWorkflow = context.getNodeParameter('acknowledge', 'onReceived') === 'lastNode';
	const admission = await admit(context, key, afterWorkflow);
	if (admission === 'succeeded') return refusals.duplicate;
	if (admission === 'failed') return refusals.failedBefore;
	whenAnswered(context, (status) => admission.end(status >= 200 && status < 300));
	return undefined;
}

/** n8n tells a node nothing about how its execution went, but answers the request accordingly. */
function whenAnswered(context: IWebhookFunctions, answered: (status: number) => void): void {
	const response = context.getResponseObject();
	const end: unknown = response.end.bind(response);
	if (typeof end !== 'function') return;
	// Not the 'finish' event: it does not come when the service has hung up in the meantime.
	Object.defineProperty(response, 'end', {
		configurable: true,
		value: (...answer: unknown[]): unknown => {
			answered(response.statusCode);
			return Reflect.apply(end, response, answer);
		},
	});
}

function outputsWith(context: IWebhookFunctions, event: PartnerEvent): INodeExecutionData[][] {
	const headers =
		option(context, 'includeHeaders') === true ? { headers: context.getHeaderData() } : {};
	const item: INodeExecutionData = { json: { ...event, ...headers } };
	if (context.getNodeParameter('outputPerEvent', false) !== true) return [[item]];
	const wanted = wantedEvents(context);
	const index = outputIndex(event, wanted);
	return eventOutputs(wanted).map((_, position) => (position === index ? [item] : []));
}
